"""A reference, a new study placed on it, and all studies fitted together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from common import N_ITER, PERPLEXITY, Data, load
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from ctsne import ConditionalTSNE, pl

DATASET, NEW = "pancreas3", "wang"
GREY = "#d9d9d9"


def draw() -> Any:
    """Draw the maps, the new study once placed and once fitted with the others."""
    from matplotlib import pyplot as plt

    data = load(DATASET)
    new = data.known == NEW
    placed, fitted = maps(data, new)
    colors = pl.palette(data.hidden)
    of_point = np.array([colors[name] for name in data.hidden])
    old = " and ".join(sorted(set(data.known[~new])))
    figure, axes = plt.subplots(
        2, 2, figsize=(9, 8), sharex="row", sharey="row", layout="constrained"
    )
    panels = [
        (placed, ~new, f"Reference: {old}"),
        (placed, new, f"{NEW}, placed on it"),
        (fitted, np.ones_like(new), "All three fitted together"),
        (fitted, new, f"{NEW}, fitted with the others"),
    ]
    for ax, (positions, shown, title) in zip(axes.flat, panels, strict=True):
        if not shown.all():
            ax.scatter(*positions[~new].T, s=4, color=GREY, linewidths=0)
        ax.scatter(*positions[shown].T, s=5, c=of_point[shown], linewidths=0)
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        ax.set_axis_off()
        ax.set_aspect("equal")
    for name, color in colors.items():
        axes[0, 0].scatter([], [], s=20, color=color, label=name)
    figure.legend(loc="outside right", frameon=False, fontsize="small")
    return figure


def maps(data: Data, new: NDArray[np.bool_]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return all points with the new ones placed, and fitted, turned to match the first."""
    model = ConditionalTSNE(perplexity=PERPLEXITY, n_iter=N_ITER, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types that only one study has
        fitted = model.fit_transform(data.X, labels=data.known)
        placed = np.empty_like(fitted)
        placed[~new] = model.fit_transform(data.X[~new], labels=data.known[~new])
        placed[new] = model.transform(data.X[new], labels=data.known[new])
    a, b = (each - each[~new].mean(axis=0) for each in (fitted, placed))
    turn, _ = orthogonal_procrustes(a[~new], b[~new])
    return placed, a @ turn
