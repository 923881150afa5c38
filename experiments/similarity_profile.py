"""The distances and similarities of one point's neighbours, by label: Figures 2 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne.labels import encode_column
from ctsne.pl import figures
from ctsne.pl.figures import Entry
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 40
# Histograms of more labels than this would hide each other and are stacked instead.
MOST_OVERLAID = 8
# Height of the small histogram above the similarities, as a share of theirs.
STRIP = 0.16


def similarity_profile(
    distances: ArrayLike,
    similarities: ArrayLike | None,
    labels: object,
    *,
    cut: float | None = None,
    palette: Mapping[Any, Any] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distances and similarities of one point's neighbours by their label.

    With similarities, each neighbour is a dot at its distance, below a small histogram of the
    neighbours of each label. Without, only this histogram is drawn. Beyond the distance ``cut``,
    drawn as a dashed line, neighbours have no weight.
    """
    far, near = np.asarray(distances), None if similarities is None else np.asarray(similarities)
    column = encode_column(labels, n=len(far))
    colors = label_colors(column, palette)
    own, ax = ax is None, figures.chart_axes(ax, width=5.2)
    codes = [*range(column.n_labels), *[-1] * bool(column.n_missing)]
    groups, inks = [far[column.codes == code] for code in codes], [colors[c] for c in codes]
    edges = np.histogram_bin_edges(far, bins=BINS).tolist()
    stacked = ax
    if near is not None:
        stacked = ax.inset_axes((0.0, 1.0, 1.0, STRIP), sharex=ax)
        stacked.set_yticks([])
        stacked.tick_params(axis="x", length=0, labelbottom=False, labelsize=figures.SMALL_SIZE)
        for side, spine in stacked.spines.items():
            spine.set_visible(side == "bottom")
            spine.set_color(figures.GREY)
        order = np.random.default_rng(0).permutation(len(far))
        chosen = np.array(colors)[column.codes[order]].tolist()
        ax.vlines(far[order], 0, near[order], colors=chosen, alpha=0.4, linewidth=0.8)
        ax.scatter(far[order], near[order], s=16, c=chosen, linewidths=0, zorder=2.5)
    if near is not None or column.n_labels > MOST_OVERLAID:
        stacked.hist(groups, edges, stacked=True, color=inks)
    else:
        for group, color in zip(groups, inks, strict=True):
            # Filled and outlined: labels that overlap stay visible.
            ax.hist(group, edges, histtype="stepfilled", color=color, alpha=0.35)
            ax.hist(group, edges, histtype="step", color=color, linewidth=1.4)
    entries = figures.label_entries(column, colors)
    if cut is not None:
        ax.axvline(cut, color=figures.INK, linestyle="--", linewidth=1.4)
        entries.append(Entry("no weight beyond", figures.INK, "", "--"))
    ax.set_ylim(bottom=0)
    # The strip leaves no room for a common factor above the axis.
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    if title is not None:
        figures.set_title(ax, title)
    ylabel = "points" if near is None else "similarity"
    figures.finish_chart(ax, xlabel="distance", ylabel=ylabel)
    room = figures.add_legend(ax, entries)
    if own:
        figures.widen(ax, room)
    return ax
