"""All bandwidths with which a conditioned row reaches a perplexity, and their picture: Figure 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from similarity_profile import similarity_profile

from ctsne.evaluate.mixing import expected_laplacian

Floats = NDArray[np.float64]


def log_weights(known: NDArray[Any], across: NDArray[np.bool_], beta: float) -> Floats:
    """Return log α for pairs of different labels, log β for others (section 2 of the paper)."""
    rho = 1 - expected_laplacian(known)
    return np.asarray(np.where(across, np.log1p(-beta * rho) - np.log1p(-rho), np.log(beta)))


def similarities(d2: Floats, weights: Floats, sigma: float | Floats) -> Floats:
    """Return rows of r (section 3 of the paper), given squared distances and log weights."""
    logits = weights - d2 / (2 * np.square(sigma))
    rows = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


def perplexities(d2: Floats, weights: Floats, sigmas: Floats) -> Floats:
    """Return the perplexity of one row for many bandwidths at once."""
    logits = weights - d2 / (2 * sigmas[:, None] ** 2)
    logits -= logits.max(axis=1, keepdims=True)
    row = np.exp(logits)
    total = row.sum(axis=1)
    return np.asarray(np.exp(np.log(total) - (row * logits).sum(axis=1) / total))


def solutions(d2: Floats, weights: Floats, sigmas: Floats, perplexity: float) -> Floats:
    """Return all bandwidths with the target perplexity, interpolated on the grid ``sigmas``."""
    excess = perplexities(d2, weights, sigmas) - perplexity
    at = np.flatnonzero((excess[1:] >= 0) != (excess[:-1] >= 0))
    share = excess[at] / (excess[at] - excess[at + 1])
    return np.asarray(sigmas[at] * (sigmas[at + 1] / sigmas[at]) ** share)


def draw_solutions(
    d2: Floats,
    weights: Floats,
    found: Floats,
    labels: NDArray[Any],
    *,
    sigmas: Floats,
    perplexity: float,
    ticks: tuple[float, ...],
    palette: Mapping[Any, str] | None = None,
) -> Any:
    """Draw perplexity over bandwidth, and the row at the smallest and the largest solution."""
    from matplotlib import pyplot as plt

    figure, (over, *beside) = plt.subplots(1, 3, figsize=(13, 3.6), width_ratios=(1.1, 1, 1))
    low, high = np.searchsorted(sigmas, [found[0] / 2, 4 * found[-1]])
    over.plot(sigmas[low:high], perplexities(d2, weights, sigmas[low:high]), color="black")
    over.axhline(perplexity, color="grey", linestyle=":")
    over.plot(found, perplexities(d2, weights, found), "o", color="#D55E00")
    over.set(xscale="log", xlabel="bandwidth σ", ylabel="perplexity of r")
    over.minorticks_off()
    over.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    over.spines[["top", "right"]].set_visible(False)
    for ax, sigma in zip(beside, (found[0], found[-1]), strict=True):
        row = similarities(d2, weights, sigma)
        similarity_profile(
            np.sqrt(d2), row, labels, title=f"σ = {sigma:.3f}", palette=palette, ax=ax
        )
    beside[0].get_legend().remove()
    figure.subplots_adjust(wspace=0.28)
    return figure
