"""Figure 4: two bandwidths, one perplexity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from similarity_profile import similarity_profile

from ctsne.affinity import revised_affinities
from ctsne.evaluate import expected_laplacian
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors, paper_lengths

# The picture shows a point with several bandwidths at this beta. With the paper's 1e-4, hardly any
# of the synthetic points has several (see the table).
BETA = 1e-10
BETAS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-20, 1e-30)
# Solutions are searched between consecutive values. Below the first only the nearest points count;
# beyond the last, distance does not matter.
SIGMAS = np.geomspace(0.2, 20, 400)

Floats = NDArray[np.float64]


def run(output: Path) -> None:
    """Count the bandwidths of every point at every beta, and draw those of one point."""
    data = common.load_paper()
    labels = encode_labels(data.known)
    lengths = paper_lengths((0, 1), common.PERPLEXITY)
    neighbors = find_neighbors(data.X, labels, lengths=lengths)
    squared = neighbors.distances.astype(np.float64) ** 2
    across = data.known[neighbors.indices] != data.known[:, None]

    several, rows = {}, []
    for beta in BETAS:
        weights = _log_weights(data.known, across, beta)
        found = [_solutions(d2, w) for d2, w in zip(squared, weights, strict=True)]
        several[beta] = np.array([len(each) > 1 for each in found])
        taken = revised_affinities(
            neighbors, labels, perplexity=common.PERPLEXITY, beta=[np.full(2, beta)], bandwidth="r"
        ).diagnostics.sigma
        widest = [
            np.argmin(np.abs(np.log(found[i] / taken[i]))) == len(found[i]) - 1
            for i in np.flatnonzero(several[beta])
        ]
        rows.append(
            [
                f"{beta:.0e}",
                int((~several[beta]).sum()),
                int(several[beta].sum()),
                f"{100 * np.mean(widest):.0f} %" if widest else "–",
            ]
        )

    point = int(
        np.random.default_rng(0).choice(np.flatnonzero(several[BETA] & (data.known == "blue")))
    )
    weights = _log_weights(data.known, across, BETA)[point]
    sigmas = _solutions(squared[point], weights)
    profiles = {sigma: _similarities(squared[point], weights, sigma) for sigma in sigmas}
    figure = _draw(squared[point], weights, profiles, data.known[neighbors.indices[point]])
    image = common.picture(
        output, "figure4", figure, "Perplexity over bandwidth, and similarities at two bandwidths"
    )
    least, most = (float(profiles[sigma][across[point]].sum()) for sigma in sigmas[[0, -1]])
    richest = max(BETAS, key=lambda beta: several[beta].sum())
    common.write_section(
        output,
        "figure4",
        "## Figure 4: two bandwidths, one perplexity",
        "With the bandwidth on r, σ is chosen so that the conditioned row has perplexity u. "
        f"Row {point} of the synthetic data (a blue point picked at random among those with "
        f"several solutions), β = {BETA:.0e}, u = {common.PERPLEXITY}: the perplexity is not "
        f"monotone in σ, so {len(sigmas)} values of σ reach it.",
        image,
        f"The smallest, σ = {sigmas[0]:.3f}, gives {common.number(least, 2)} of the row to the "
        f"other colour, the largest, σ = {sigmas[-1]:.3f}, {common.number(most, 2)}: "
        + ("" if least < 0.5 < most else "**not** ")
        + "the “opposite characteristics” of the paper. The "
        f"table counts the {len(data.X)} points with one solution and with several. `ctsne` "
        "searches like the authors' program, from a kernel as wide as the data, and does not "
        "always reach the same solution: the last column shows how often it is the largest.",
        common.table(["β", "one σ", "several", "the largest is taken"], rows),
        "**Where this differs from the paper.** Its example is a cell of the pancreas data, at "
        "perplexity 50 and β = 1e-4; those data are not part of this reproduction. On the "
        f"synthetic data, {int(several[1e-4].sum())} of {len(data.X)} points have several σ at "
        f"β = 1e-4, and {int(several[richest].sum())} at β = {richest:.0e}, the most in the table. "
        "The authors give no numbers for this figure.",
    )


def _log_weights(known: NDArray[np.str_], across: NDArray[np.bool_], beta: float) -> Floats:
    """Return log α for pairs of different labels, log β for others (section 2 of the paper)."""
    rho = 1 - expected_laplacian(known)
    return np.where(across, np.log1p(-beta * rho) - np.log1p(-rho), np.log(beta))


def _similarities(d2: Floats, log_weights: Floats, sigma: float) -> Floats:
    """Return the row r (section 3 of the paper)."""
    logits = log_weights - d2 / (2 * sigma**2)
    row = np.exp(logits - logits.max())
    return row / row.sum()


def _perplexities(d2: Floats, log_weights: Floats, sigmas: Floats) -> Floats:
    """Return the perplexity of that row for many bandwidths at once."""
    logits = log_weights - d2 / (2 * sigmas[:, None] ** 2)
    logits -= logits.max(axis=1, keepdims=True)
    row = np.exp(logits)
    total = row.sum(axis=1)
    return np.exp(np.log(total) - (row * logits).sum(axis=1) / total)


def _solutions(d2: Floats, log_weights: Floats) -> Floats:
    """Return all bandwidths with the target perplexity, interpolated on the grid."""
    excess = _perplexities(d2, log_weights, SIGMAS) - common.PERPLEXITY
    at = np.flatnonzero((excess[1:] >= 0) != (excess[:-1] >= 0))
    share = excess[at] / (excess[at] - excess[at + 1])
    return SIGMAS[at] * (SIGMAS[at + 1] / SIGMAS[at]) ** share


def _draw(d2: Floats, log_weights: Floats, profiles: dict[float, Floats], labels: Any) -> Any:
    from matplotlib import pyplot as plt

    figure, (over, *beside) = plt.subplots(1, 3, figsize=(13, 3.6), width_ratios=(1.1, 1, 1))
    sigmas = sorted(profiles)
    low, high = np.searchsorted(SIGMAS, [sigmas[0] / 2, 4 * sigmas[-1]])
    over.plot(SIGMAS[low:high], _perplexities(d2, log_weights, SIGMAS[low:high]), color="black")
    over.axhline(common.PERPLEXITY, color="grey", linestyle=":")
    over.plot(sigmas, _perplexities(d2, log_weights, np.array(sigmas)), "o", color="#D55E00")
    over.set(xscale="log", xlabel="bandwidth σ", ylabel="perplexity of r")
    over.minorticks_off()
    over.set_xticks([0.3, 0.5, 1, 2], ["0.3", "0.5", "1", "2"])
    over.spines[["top", "right"]].set_visible(False)
    for ax, sigma in zip(beside, (sigmas[0], sigmas[-1]), strict=True):
        similarity_profile(np.sqrt(d2), profiles[sigma], labels, title=f"σ = {sigma:.3f}", ax=ax)
    beside[0].get_legend().remove()
    figure.subplots_adjust(wspace=0.28)
    return figure
