"""Draw maps of cells, and boxes of who is near whom in the data (Figures 6, S1, S2, S4 to S7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from cell_scores import JOINT, STRENGTH, Scored
from figure5_setup import COMMON, RANDOM
from numpy.typing import NDArray

from ctsne import pl
from ctsne.evaluate.sampling import sample_points

# Dots of more cells are too small to tell their colours.
MOST_DRAWN = 4000


def shown_maps(scored: Scored, beta: float) -> dict[str, NDArray[np.float32]]:
    """Return the maps of the paper's figures and one of joint, by their line and setting.

    t-SNE is the original at beta 1.
    """
    return {
        "t-SNE": scored.positions(COMMON, 1),
        f"original, β = {beta:g}": scored.positions(RANDOM, beta),
        f"revised r, β = {beta:g}": scored.positions("revised r", beta),
        f"revised p, β = {beta:g}": scored.positions("revised p", beta),
        f"joint, strength {STRENGTH:g}": scored.positions(JOINT, STRENGTH),
    }


def draw_maps(shown: dict[str, NDArray[np.float32]], labels: NDArray[Any]) -> Any:
    """Draw maps side by side, coloured by a label; of many cells a sample, with larger dots."""
    n = len(labels)
    points = sample_points(n, min(n, MOST_DRAWN))
    drawn = {title: positions[points] for title, positions in shown.items()}
    note = f"{len(points):,} of {n:,} cells drawn" if len(points) < n else ""
    notes = [note, *[""] * (len(shown) - 1)]
    colors = pl.palette(labels)
    return pl.maps(drawn, labels[points], ncols=3, notes=notes, palette=colors)[0].figure


def draw_boxes(
    shares: NDArray[np.float64], groups: NDArray[Any], colored: NDArray[Any], ylabel: str
) -> Any:
    """Draw boxes of shares by group, one per colour in it; whiskers as in the paper."""
    from matplotlib import pyplot as plt

    names = sorted(np.unique(groups), key=lambda name: -int((groups == name).sum()))
    colors = pl.palette(colored)
    boxes = [
        (place, name, color)
        for place, name in enumerate(names)
        for color in sorted(np.unique(colored[groups == name]))
    ]
    figure, ax = plt.subplots(figsize=(13, 3.9))
    counts = {name: len(np.unique(colored[groups == name])) for name in names}
    width = 0.85 / max(counts.values())
    seen: dict[int, int] = {}
    for place, name, color in boxes:
        at = seen.setdefault(place, 0)
        seen[place] += 1
        offset = (at - (counts[name] - 1) / 2) * width
        drawn = ax.boxplot(
            100 * shares[(groups == name) & (colored == color)],
            positions=[place + offset],
            widths=0.85 * width,
            whis=1.5,
            showfliers=False,
            patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.2},
            boxprops={"linewidth": 0.7},
            whiskerprops={"linewidth": 0.7},
            capprops={"linewidth": 0.7},
        )
        drawn["boxes"][0].set_facecolor(colors[color])
    ax.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize="small")
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(-3, 103))
    for place in range(1, len(names)):
        ax.axvline(place - 0.5, color="#dddddd", linewidth=0.8, zorder=0)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    for name, color in colors.items():
        ax.bar(0, 0, color=color, edgecolor="black", linewidth=0.5, label=str(name))
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.005, 1.02),
        frameon=False,
        fontsize="small",
    )
    return figure
