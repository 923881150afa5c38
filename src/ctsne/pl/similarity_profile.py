"""The neighbours of one point: their distances and their similarities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne.labels import encode_labels
from ctsne.pl import figures
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["similarity_profile"]

_BINS = 40
# Histograms of more labels than this would hide each other and are stacked instead.
_MOST_OVERLAID = 8
# Height of the small histogram above the similarities, as a share of theirs.
_STRIP = 0.16


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

    With similarities, each neighbour is a dot at its distance, as in Figure 4 of the paper, below a
    small histogram of the neighbours of each label. Without, only this histogram is drawn, as in
    Figure 2 (stacked for more than eight labels).

    Parameters
    ----------
    distances : array-like of shape (k,)
        From the point to its neighbours (or to all other points).
    similarities : array-like of shape (k,) or None
        Weight of each neighbour, such as the ``r_{j|i}`` of the paper.
    labels : array-like of shape (k,)
        The labels of the neighbours.
    cut : float, optional
        Largest distance of a neighbour with weight, drawn as a dashed line.
    palette : mapping of label to colour, optional
        By default that of :func:`ctsne.pl.palette`.
    title : str, optional
        Title above the chart.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> ax = pl.similarity_profile([1.0, 1.5, 3.0], [0.5, 0.3, 0.2], ["a", "a", "b"])
    >>> ax.get_ylabel()
    'similarity'
    """
    far = _check_list(distances, argument="distances")
    near = None if similarities is None else _check_list(similarities, argument="similarities")
    if near is not None and len(near) != len(far):
        raise ValueError(
            f"similarities must have one entry for each of the {len(far)} distances, "
            f"got {len(near)}"
        )
    column = encode_labels(labels, n=len(far))
    colors = label_colors(column, palette)
    if cut is not None:
        cut = check_number(cut, "cut", low=0)
    own = ax is None
    ax = figures.chart_axes(ax, width=5.2, height=3.8)
    codes = [*range(column.n_labels), *([-1] if column.n_missing else [])]
    parts = [(far[column.codes == code], colors[code]) for code in codes]
    edges = np.histogram_bin_edges(far, bins=_BINS).tolist()
    if near is not None:
        strip = ax.inset_axes((0.0, 1.0, 1.0, _STRIP), sharex=ax)
        _stack(strip, parts, edges)
        strip.set_yticks([])
        strip.tick_params(axis="x", length=0, labelbottom=False)
        for side, spine in strip.spines.items():
            spine.set_visible(side == "bottom")
            spine.set_color(figures.GREY)
        order = np.random.default_rng(0).permutation(len(far))
        chosen = np.array(colors)[column.codes[order]].tolist()
        ax.vlines(far[order], 0, near[order], colors=chosen, alpha=0.4, linewidth=0.8)
        ax.scatter(far[order], near[order], s=16, c=chosen, linewidths=0, zorder=2.5)
    elif column.n_labels > _MOST_OVERLAID:
        _stack(ax, parts, edges)
    else:
        for part, color in parts:
            # Filled and outlined: labels that overlap stay visible.
            ax.hist(part, edges, histtype="stepfilled", color=color, alpha=0.35)
            ax.hist(part, edges, histtype="step", color=color, linewidth=1.4)
    entries = figures.color_entries(column, colors)
    if cut is not None:
        ax.axvline(cut, color=figures.INK, linestyle="--", linewidth=1.4)
        entries.append(figures.Entry("no weight beyond", figures.INK, "", "--"))
    ax.set_ylim(bottom=0)
    # The strip leaves no room for a common factor above the axis.
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    ylabel = "points" if near is None else "similarity"
    figures.finish_chart(
        ax, xlabel="distance", ylabel=ylabel, title=title, entries=entries, widen=own
    )
    return ax


def _check_list(values: Any, *, argument: str) -> NDArray[np.float64]:
    numbers = np.asarray(as_numbers(values, argument=argument), np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError(
            f"{argument} must be a list with an entry for each neighbour of one point, got an "
            f"array of shape {numbers.shape}"
        )
    check_finite(numbers, argument=argument)
    if numbers.min() < 0:
        raise ValueError(f"{argument} must not be negative, got {numbers.min():g}")
    return numbers


def _stack(ax: Axes, parts: list[tuple[NDArray[np.float64], str]], edges: list[float]) -> None:
    values, colors = zip(*parts, strict=True)
    ax.hist(values, edges, stacked=True, color=colors)
