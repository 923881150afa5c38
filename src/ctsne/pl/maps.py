"""Several maps of the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_count
from ctsne._io.anndata import category_colors, columns_of, is_anndata, map_of
from ctsne.pl._look import add_key, make_look
from ctsne.pl._matplotlib import HEADER, PanelGrid, check_axes, new_figure, set_title
from ctsne.pl._points import check_drawing, check_positions, draw_points
from ctsne.pl._sweeps import swept_maps
from ctsne.pl._text import LITERAL, shown_text
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["maps"]

# Inches: a panel's side and a further line of its title.
SIDE, TITLE_LINE = 3.1, 0.18


def maps(
    embeddings: Mapping[Any, ArrayLike] | SweepResult | AnnData,
    color: object = None,
    *,
    shape: object = None,
    basis: str | Sequence[str] = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    ncols: int = 4,
    axes: object = None,
) -> NDArray[np.object_]:
    """Draw several maps of the same points side by side, with one legend for all.

    Parameters
    ----------
    embeddings : mapping of title to array-like of shape (n, 2), SweepResult or AnnData
        The maps; each one is drawn as :func:`ctsne.pl.embedding` does. Of a sweep all finished maps
        are drawn, of an AnnData object those that ``basis`` names; ``color`` and ``shape`` may then
        be names of columns of its ``obs``.
    color : array-like of shape (n,), optional
        A label column, or floats for a colour bar.
    shape : array-like of shape (n,), optional
        A second label column with at most ten labels.
    basis : str or list of str, default="ctsne"
        The maps of an AnnData object: ``obsm[basis]``, or ``obsm["X_" + basis]``.
    palette : mapping of label to colour, optional
        The colours of the labels, as :func:`ctsne.pl.palette` makes them by default.
    ncols : int, default=4
        Most panels in a row.
    axes : sequence or array of matplotlib.axes.Axes, optional
        Where to draw, at least one for each map; a new figure if not given.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of maps,)
        The Axes of each map, in the order they were given. The legend is to the right of the
        first row.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from ctsne import pl
    >>> before, after = [[0, 0], [1, 0], [0, 2]], [[0, 0], [1, 1], [0, 1]]
    >>> axes = pl.maps({"before": before, "after": after}, ["a", "b", "a"])
    >>> [ax.get_title(loc="left") for ax in axes]
    ['before', 'after']
    """
    if isinstance(embeddings, SweepResult):
        embeddings = swept_maps(embeddings)
    elif is_anndata(embeddings):
        adata: Any = embeddings
        names = [basis] if isinstance(basis, str) else basis
        embeddings = {name: map_of(adata, name) for name in names}
        palette = category_colors(adata, color) if palette is None else palette
        color, shape = columns_of(adata, color=color, shape=shape)
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise TypeError(
            "embeddings must be a mapping from titles to positions, such as "
            "{'t-SNE': Y0, 'joint': Y1}, with at least one, a sweep or an AnnData object; got "
            f"{type(embeddings).__name__}"
        )
    columns = check_count(ncols, "ncols", low=1)
    points = {
        title: check_positions(positions, argument=f"embeddings[{title!r}]")
        for title, positions in embeddings.items()
    }
    sizes = {len(positions) for positions in points.values()}
    if len(sizes) > 1:
        raise ValueError(
            "embeddings must all be of the same points, got maps of "
            f"{', '.join(map(str, sorted(sizes)))} points"
        )
    look = make_look(color, shape, palette, n=sizes.pop())
    check_drawing(look, None)
    titles = [shown_text(title) for title in points]
    lines = max(title.count("\n") for title in titles)
    grid = PanelGrid(len(points), columns, SIDE, header=HEADER + lines * TITLE_LINE)
    if axes is None:
        figure = new_figure()
        panels = grid.make(figure)
    else:
        panels = _given_axes(axes, len(points))
    for title, positions, panel in zip(titles, points.values(), panels, strict=True):
        draw_points(panel, positions, look)
        set_title(panel, title, **LITERAL)
    # The last panel of the first row, also among Axes that somebody else has placed.
    places = [panel.get_position() for panel in panels]
    beside = panels[max(range(len(panels)), key=lambda i: (round(places[i].y1, 3), places[i].x1))]
    if axes is None:
        wide, high = add_key(beside, look, height=grid.height - grid.header)
        grid.place(figure, right=wide, least_height=high + grid.header)
    else:
        add_key(beside, look)
    return np.array(panels, dtype=object)


def _given_axes(axes: Any, needed: int) -> list[Axes]:
    panels = list(np.asarray(axes, dtype=object).ravel())
    if len(panels) < needed:
        raise ValueError(f"axes must hold one Axes for each of {needed} maps, got {len(panels)}")
    for panel in panels:
        check_axes(panel, argument="axes")
    return panels[:needed]
