"""Draw the pictures of the pages about ``joint`` and alignment, from made-up data.

Example: python docs/tools/method_pictures.py some-folder
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from pictures import DPI, GRID, INK, Cells, made_up, style_chart

from ctsne import pl
from ctsne.affinity import joint_affinities, joint_odds
from ctsne.affinity.shares import natural_log_shares
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors, joint_lengths
from ctsne.neighbors.alignment import choose_alignment
from ctsne.pl.palette import METHOD_COLORS

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PERPLEXITY = 20
STRENGTHS = (0.0, 0.6, 1.0)
ALONE = "plasma cell"
MARKERS = {"T cell": "o", "B cell": "s", "monocyte": "D", ALONE: "^"}


def write(folder: Path) -> None:
    """Draw every picture and save it to a folder."""
    for name, draw in PICTURES.items():
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def joint_shares() -> Any:
    """Draw the shares of all points, and the two laws of the strength."""
    cells = made_up(
        {"T cell": (0.0, 0.0), "B cell": (5.0, 0.0), "monocyte": (2.0, 5.0), ALONE: (7.0, 1.5)},
        {"batch 1": (0.0, 0.0), "batch 2": (0.0, 1.5)},
        without=("batch 2", ALONE),
    )
    labels = encode_labels(cells.batch)
    lengths = joint_lengths((0, 1), PERPLEXITY)
    found = find_neighbors(cells.X, labels, lengths=lengths)
    figure, axes = plt.subplots(1, 4, figsize=(9.2, 3.0), layout="constrained")
    shares = natural_log_shares(found, labels, perplexity=lengths[0], n_jobs=1)
    natural = np.exp(shares[:, 1])
    for ax, strength in zip(axes, STRENGTHS, strict=False):
        result = joint_affinities(
            found, labels, perplexity=PERPLEXITY, strength=[np.full(2, strength)]
        )
        for kind, marker in MARKERS.items():
            own = cells.type == kind
            points = ax.scatter(
                natural[own],
                result.diagnostics.other_share[own],
                s=14,
                c=result.diagnostics.matched[own],
                marker=marker,
                vmin=0,
                vmax=1,
                cmap="viridis",
                linewidths=0,
            )
        ax.plot([0, 1], [0, 1], color=GRID, zorder=0)
        ax.axhline(result.diagnostics.other_share.mean(), color=INK, linewidth=0.8, linestyle=":")
        style_chart(ax, f"strength {strength:g}")
        ax.set(xlim=(-0.03, 0.7), ylim=(-0.03, 1), xlabel="natural share")
    axes[0].set_ylabel("share (dotted: mean)")
    figure.colorbar(points, ax=axes[2], label="matched", shrink=0.8)
    s = np.linspace(0, 1, 101)
    style_chart(axes[3], "over the strength")
    axes[3].plot(s, s, color=METHOD_COLORS["joint"])
    axes[3].set(xlabel="strength", ylim=(0, 1))
    axes[3].set_ylabel("way of the mean share to random", color=METHOD_COLORS["joint"])
    right = axes[3].twinx()
    right.plot(s, joint_odds(s), color=METHOD_COLORS["original"])
    right.set_yscale("log")
    right.set_ylabel("odds of the repulsion", color=METHOD_COLORS["original"])
    right.spines[["top", "left"]].set_visible(False)
    return figure


def alignment_moves() -> Any:
    """Draw two batches before and after every alignment, with how many counterparts are right."""
    cells = _two_batches()
    known, colors = encode_labels(cells.batch), pl.palette(cells.batch)
    labels = known.combined
    kinds = {"none": "as they are", "mutual": "mutual", "local": "local", "mean": "mean"}
    figure, axes = plt.subplots(
        1, len(kinds), figsize=(9.2, 3.0), layout="constrained", sharex=True, sharey=True
    )
    for ax, (how, title) in zip(axes, kinds.items(), strict=True):
        found = choose_alignment(cells.X, known, how, metric="euclidean", n_jobs=1)
        places = cells.X if found.points is None else found.points
        for kind, marker in MARKERS.items():
            for batch, color in colors.items():
                own = (cells.type == kind) & (cells.batch == batch)
                ax.scatter(
                    *places[own].T, s=11, marker=marker, color=color, linewidths=0, alpha=0.7
                )
        shared = cells.type != ALONE
        near = find_neighbors(places, labels, lengths=(0, 25)).indices
        right = (cells.type[near] == cells.type[:, None]).mean(axis=1)[shared].mean()
        ax.set_title(
            f"{title}: {right:.2f} right", loc="left", fontsize="medium", fontweight="bold"
        )
        ax.set_axis_off()
    for batch, color in colors.items():
        axes[0].scatter([], [], s=20, color=color, label=batch)
    axes[0].legend(frameon=False, loc="lower right", fontsize="small")
    return figure


def _two_batches() -> Cells:
    """Make two batches that differ by a shift, one of which has more of one type, and its own."""
    shared = {"T cell": (0.0, 0.0), "B cell": (4.0, 0.0), "monocyte": (1.5, 4.0)}
    centres = {**shared, ALONE: (8.0, 5.0)}
    cells = made_up(
        centres, {"batch 1": (0.0, 0.0), "batch 2": (1.3, 1.0)}, without=("batch 2", ALONE)
    )
    few = (cells.batch == "batch 2") & (cells.type == "monocyte")
    kept = ~few | (np.cumsum(few) % 4 == 0)
    return Cells(cells.X[kept], cells.batch[kept], cells.type[kept])


PICTURES: dict[str, Callable[[], Any]] = {
    "joint_shares": joint_shares,
    "alignment_moves": alignment_moves,
}

if __name__ == "__main__":
    write(Path(sys.argv[1]))
