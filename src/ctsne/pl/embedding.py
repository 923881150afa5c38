"""One map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ctsne._io.anndata import category_colors, columns_of, is_anndata, map_of
from ctsne.pl._look import add_key, make_look
from ctsne.pl._matplotlib import PanelGrid, check_axes, new_figure, set_title
from ctsne.pl._points import check_drawing, check_positions, draw_points

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["embedding"]

# Inches.
SIDE = 4.8


def embedding(
    positions: ArrayLike | AnnData,
    color: object = None,
    *,
    shape: object = None,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    title: str | None = None,
    legend: bool = True,
    size: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map: one dot a point, its colour and shape from label columns.

    The dots are drawn in a fixed shuffled order, so that no label hides another; those without a
    label are grey and lie below the others. Above 100,000 points the map becomes a density: the
    more points a pixel has, the more opaque it is (on a logarithmic scale), in the mix of their
    colours.

    Parameters
    ----------
    positions : array-like of shape (n, 2) or (n, 1), or AnnData
        Where the points are. One column is drawn as a strip, spread out at random across it. Of an
        AnnData object the map ``basis`` is drawn; ``color`` and ``shape`` may then be names of
        columns of its ``obs``, and colours that scanpy has given a column are kept.
    color : array-like of shape (n,), optional
        A label column, or floats for a colour bar. Whole numbers are labels.
    shape : array-like of shape (n,), optional
        A second label column with at most ten labels. Where both columns have names, as those of
        pandas do, the legend tells them.
    basis : str, default="ctsne"
        The map of an AnnData object: ``obsm[basis]``, or ``obsm["X_" + basis]``.
    palette : mapping of label to colour, optional
        The colours of the labels, as :func:`ctsne.pl.palette` makes them by default.
    title : str, optional
        Written above the map.
    legend : bool, default=True
        Whether to say beside the map what the colours and shapes mean.
    size : float, optional
        Area of the dots in square points; by default it follows from how many there are. If given,
        dots are drawn for any number of points.
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
    >>> ax = pl.embedding([[0, 0], [1, 0], [0, 2]], ["a", "b", None], title="a map")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b', 'missing']
    """
    if is_anndata(positions):
        adata: Any = positions
        positions = map_of(adata, basis)
        palette = category_colors(adata, color) if palette is None else palette
        color, shape = columns_of(adata, color=color, shape=shape)
    points = check_positions(positions)
    look = make_look(color, shape, palette, n=len(points))
    dot_size = check_drawing(look, size)
    if ax is None:
        grid = PanelGrid(1, 1, SIDE, header=0.14 if title is None else 0.34)
        figure = new_figure()
        (panel,) = grid.make(figure)
    else:
        check_axes(ax)
        panel = ax
    draw_points(panel, points, look, dot_size)
    if title is not None:
        set_title(panel, title)
    if legend:
        wide, high = add_key(panel, look)
        if ax is None:
            grid.place(figure, right=wide, least_height=high + grid.header)
    return panel
