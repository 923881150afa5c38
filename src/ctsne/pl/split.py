"""One small map per value of a column: its points in colour, all others light grey below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_count
from ctsne.io.anndata import category_colors, column_of, is_anndata, map_of
from ctsne.labels import encode_column
from ctsne.pl import figures
from ctsne.pl import points as dots
from ctsne.pl.maps import place_keys
from ctsne.pl.palette import palette as label_palette

if TYPE_CHECKING:
    from anndata import AnnData

# Inches: the side of a panel, and a line of text under all of them; the area of coloured dots in
# units of the grey ones.
_SIDE, _NOTE_LINE, _LARGER = 2.4, 0.24, 1.8


def split(
    positions: ArrayLike | AnnData,
    by: object,
    color: object = None,
    *,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    most: int = 20,
    ncols: int = 5,
    size: float | None = None,
    width: str | float | None = None,
) -> NDArray[np.object_]:
    """Draw one small map per value of a column: its points in colour, all others grey.

    Parameters
    ----------
    positions : array-like of shape (n, 2) or (n, 1), or AnnData
        As in :func:`ctsne.pl.embedding`; ``by`` and ``color`` may name columns of ``obs``.
    by : array-like of shape (n,)
        The label column, such as the batch. Titles have its values and their numbers of points.
    color : array-like of shape (n,), optional
        Another column to colour by, such as the cell type, with one legend for all panels. By
        default each value of ``by`` has its own colour.
    basis, palette, size, width
        As in :func:`ctsne.pl.embedding`; ``palette`` is of what colours the points.
    most : int, default=20
        Maximum number of panels. The values with most points are drawn, and a line under the
        panels says how many are left out.
    ncols : int, default=5
        Maximum number of panels in a row.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of panels,)
        In the order of the values.

    Examples
    --------
    >>> axes = pl.split([[0, 0], [1, 0], [0, 2]], ["a", "b", "a"])
    >>> [ax.get_title(loc="left") for ax in axes]
    ['a (2)', 'b (1)']
    """
    if is_anndata(positions):
        adata: Any = positions
        positions = map_of(adata, basis)
        shown = by if color is None else color
        palette = category_colors(adata, shown, label_palette) if palette is None else palette
        by, color = (
            column_of(adata, column, argument=name)
            for name, column in (("by", by), ("color", color))
        )
    most, ncols = check_count(most, "most", low=1), check_count(ncols, "ncols", low=1)
    wide, points = figures.check_width(width), dots.check_positions(positions)
    labels = encode_column(dots.named(by)[1], n=len(points), argument="by")
    if not labels.n_labels:
        raise ValueError("by must have at least one value, but all are missing")
    largest = np.argsort(-labels.counts, kind="stable")[:most]
    drawn = np.sort(largest[labels.counts[largest] > 0])
    look = dots.make_look(by if color is None else color, None, palette, points=points, size=size)
    left = int((labels.counts > 0).sum()) - len(drawn)
    notes = [f"{left:,} more value{'s' * (left > 1)} not shown"] * bool(left)
    notes += [f"{labels.n_missing:,} points have no value"] * bool(labels.n_missing)
    shape, foot = dots.frame_shape(points), _NOTE_LINE * bool(notes)
    grid = figures.PanelGrid(len(drawn), ncols, _SIDE, width=wide, shape=shape, foot=foot)
    if color is not None:
        place_keys(grid, {grid.ncols - 1: look}, ["right margin"], shared=True)
    if look.size is None:  # the same in every panel, and larger than those of all points below
        look = replace(look, size=_LARGER * dots.dot_size(len(points), grid.side))
    for panel, code in zip(grid.panels, drawn, strict=True):
        rows = np.flatnonzero(labels.codes == code)
        own = replace(look, rgb=look.rgb[rows], groups=look.groups[rows])
        dots.draw_points(panel, points[rows], own, reference=points)
        title = f"{figures.shown_text(labels.names[code])} ({labels.counts[code]:,})"
        figures.set_title(panel, title, **figures.LITERAL)
    if notes:
        figures.write_below(grid.panels[(grid.nrows - 1) * grid.ncols], "; ".join(notes))
    return np.array(grid.panels, dtype=object)
