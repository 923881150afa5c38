"""The neighbours of one point: how far they are and how much they pull."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne.labels import Labels, encode_labels
from ctsne.pl._legend import Entry, add_legend, color_entries, make_room
from ctsne.pl._matplotlib import GREY, INK, chart_axes, dress_chart
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

    With similarities, each neighbour is a dot at its distance, as in Figure 4 of the paper, and a
    small histogram above shows how many neighbours of each label lie where. Without, there are
    only the numbers of points by distance and label, as in Figure 2 (stacked for more than eight
    labels).

    Parameters
    ----------
    distances : array-like of shape (k,)
        From the point to its neighbours (or to all other points).
    similarities : array-like of shape (k,) or None
        How much each neighbour pulls, such as the ``r_{j|i}`` of the paper.
    labels : array-like of shape (k,)
        The labels of the neighbours.
    cut : float, optional
        The distance up to which neighbours pull, drawn as a dashed line.
    palette : mapping of label to colour, optional
        The colours of the labels, as :func:`ctsne.pl.palette` makes them by default.
    title : str, optional
        Written above.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from ctsne import pl
    >>> ax = pl.similarity_profile([1.0, 1.5, 3.0], [0.5, 0.3, 0.2], ["a", "a", "b"])
    >>> ax.get_ylabel()
    'similarity'
    """
    far = _check_lengths(distances, argument="distances")
    pull = None
    if similarities is not None:
        pull = _check_lengths(similarities, argument="similarities")
        if len(pull) != len(far):
            raise ValueError(
                f"similarities must have one entry for each of the {len(far)} distances, "
                f"got {len(pull)}"
            )
    column = encode_labels(labels, n=len(far))
    colors = label_colors(column, palette)
    if cut is not None:
        cut = check_number(cut, "cut", low=0)
    own = ax is None
    ax = chart_axes(ax, width=5.2, height=3.8)
    entries = color_entries(column, colors)
    if pull is None:
        _draw_counts(ax, far, column, colors)
        ylabel = "points"
    else:
        strip = ax.inset_axes((0.0, 1.0, 1.0, _STRIP), sharex=ax)
        _draw_strip(strip, far, column, colors)
        _draw_similarities(ax, far, pull, column, colors)
        ylabel = "similarity"
    if cut is not None:
        ax.axvline(cut, color=INK, linestyle="--", linewidth=1.4)
        entries.append(Entry("neighbours up to here pull", INK, "", "--"))
    ax.set_ylim(bottom=0)
    # A common factor would stand where the strip is.
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    dress_chart(ax, xlabel="distance", ylabel=ylabel, title=title)
    legend = add_legend(ax, entries)
    if own:
        make_room(legend)
    return ax


def _check_lengths(values: Any, *, argument: str) -> NDArray[np.float64]:
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


def _by_label(
    far: NDArray[np.float64], column: Labels, colors: list[str]
) -> list[tuple[NDArray[np.float64], str]]:
    """Return the distances of each label with its colour, missing labels last."""
    codes = [*range(column.n_labels), *([-1] if column.n_missing else [])]
    return [(far[column.codes == code], colors[code]) for code in codes]


def _edges(far: NDArray[np.float64]) -> list[float]:
    return [float(edge) for edge in np.histogram_bin_edges(far, bins=_BINS)]


def _draw_counts(ax: Axes, far: NDArray[np.float64], column: Labels, colors: list[str]) -> None:
    if column.n_labels > _MOST_OVERLAID:
        _stack(ax, far, column, colors)
        return
    for part, color in _by_label(far, column, colors):
        # Filled and outlined: labels that overlap stay visible.
        ax.hist(part, _edges(far), histtype="stepfilled", color=color, alpha=0.35)
        ax.hist(part, _edges(far), histtype="step", color=color, linewidth=1.4)


def _draw_strip(strip: Axes, far: NDArray[np.float64], column: Labels, colors: list[str]) -> None:
    _stack(strip, far, column, colors)
    strip.set_yticks([])
    strip.tick_params(axis="x", length=0, labelbottom=False)
    for side, spine in strip.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GREY)


def _stack(ax: Axes, far: NDArray[np.float64], column: Labels, colors: list[str]) -> None:
    parts = _by_label(far, column, colors)
    ax.hist(
        [part for part, _ in parts],
        _edges(far),
        stacked=True,
        color=[color for _, color in parts],
    )


def _draw_similarities(
    ax: Axes,
    far: NDArray[np.float64],
    pull: NDArray[np.float64],
    column: Labels,
    colors: list[str],
) -> None:
    order = np.random.default_rng(0).permutation(len(far))
    chosen = np.array(colors)[column.codes[order]].tolist()
    ax.vlines(far[order], 0, pull[order], colors=chosen, alpha=0.4, linewidth=0.8)
    ax.scatter(far[order], pull[order], s=16, c=chosen, linewidths=0, zorder=2.5)
