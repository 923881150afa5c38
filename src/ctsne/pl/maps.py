"""Pictures of one map, and of several maps of the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import check_count
from ctsne._core.messages import shown
from ctsne._fit.placing import Placement
from ctsne._io.anndata import category_colors, column_names, columns_of, is_anndata, map_of
from ctsne.estimator import ConditionalTSNE
from ctsne.labels import Labels
from ctsne.pl import figures
from ctsne.pl.points import (
    MOST_DOTS,
    above_reference,
    add_key,
    check_positions,
    draw_points,
    make_look,
)
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

# Inches: the side of a single map and of one among several, and a further line above a panel.
_SINGLE_SIDE, _SIDE, _TITLE_LINE = 4.8, 3.1, 0.18
# Inches for a map with its legend, beside others.
_WIDE = 6.7


def embedding(
    positions: ArrayLike | Placement | AnnData,
    color: object = None,
    *,
    shape: object = None,
    reference: object = None,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    title: str | None = None,
    legend: bool = True,
    size: float | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a map as one dot per point, coloured and shaped by label columns.

    Dots are drawn in a fixed shuffled order, so that no label hides another; those without a label
    are grey and lie below the others. More than 100,000 points are drawn as a density: the more
    points a pixel has, the more opaque it is (on a logarithmic scale), in their mean colour.

    Parameters
    ----------
    positions : array-like of shape (n, 2) or (n, 1), Placement or AnnData
        Positions of the points, or points placed by :meth:`ctsne.ConditionalTSNE.place`, of which
        those far from the reference have a marker of their own. One column is drawn as a strip,
        with random heights. For an AnnData object, ``basis`` names the map, ``color`` and ``shape``
        may name columns of ``obs``, and colours that scanpy has given a column are kept. Several
        names in ``color`` give one panel for each.
    color : array-like of shape (n,), optional
        A label column, or floats for a colour bar. Whole numbers are labels.
    shape : array-like of shape (n,), optional
        A second label column with at most ten labels. If both columns have names, as those of
        pandas do or as ``{"batch": column}`` gives, they head the legend.
    reference : ConditionalTSNE, AnnData or array-like, optional
        The map in which the points were placed, drawn below them in light grey: a fitted model, an
        AnnData object with the map ``basis``, or positions.
    basis : str, default="ctsne"
        The map of an AnnData object, with or without ``"X_"``.
    palette : mapping of label to colour, optional
        By default that of :func:`ctsne.pl.palette`.
    title : str, optional
    legend : bool, default=True
        Whether to explain colours and shapes next to the map.
    size : float, optional
        Area of the dots in square points, which are then drawn for any number of points.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes, or ndarray of them if ``color`` names several columns

    Examples
    --------
    >>> from ctsne import pl
    >>> ax = pl.embedding([[0, 0], [1, 0], [0, 2]], ["a", "b", None], title="a map")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b', 'missing']
    """
    if is_anndata(positions):
        adata: Any = positions
        names = column_names(adata, color)
        if len(names) > 1:
            given = {"shape": shape, "basis": basis, "palette": palette, "legend": legend,
                     "reference": reference}  # fmt: skip
            return _panels(adata, names, ax, title, size=size, **given)
        positions = map_of(adata, basis)
        palette = category_colors(adata, color) if palette is None else palette
        color, shape = columns_of(adata, color=color, shape=shape)
    elif isinstance(positions, Placement):
        if shape is None and positions.far.any() and len(positions.far) <= MOST_DOTS:
            codes = positions.far.astype(np.int32)
            near = ("near the reference", "far from the reference")
            shape = Labels(codes, near, np.bincount(codes, minlength=2))
        positions = positions.embedding
    below = None if reference is None else _reference_map(reference, basis)
    points = check_positions(positions, least=2 if below is None else 1)
    look = make_look(color, shape, palette, points=points, size=size)
    if below is not None:
        look = above_reference(look)
    grid = None
    if ax is None:
        header = 0.14 if title is None else figures.HEADER
        grid = figures.PanelGrid(1, 1, _SINGLE_SIDE, header)
        (ax,) = grid.panels
    figures.check_axes(ax)
    draw_points(ax, points, look, below=below)
    if title is not None:
        figures.set_title(ax, title)
    if legend:
        room = add_key(ax, look)
        if grid is not None:
            grid.place(*room)
    return ax


def _reference_map(reference: Any, basis: str) -> NDArray[np.floating]:
    """Return the positions of a fitted model, of an AnnData object, or as given."""
    if is_anndata(reference):
        reference = map_of(reference, basis)
    elif isinstance(reference, ConditionalTSNE):
        check_is_fitted(reference)
        reference = reference.embedding_
    return check_positions(reference, argument="reference")


def _panels(
    adata: AnnData, names: list[str], ax: object, title: object, **options: Any
) -> NDArray[np.object_]:
    """Draw a map once for each column to colour it by."""
    if ax is not None or title is not None:
        raise ValueError("several colours have a panel and a title each; leave out ax and title")
    columns_of(adata, color=names)  # all are checked before the first is drawn
    figure = figures.load("pyplot").figure(
        facecolor="white", layout="compressed", figsize=(_WIDE * len(names), _SINGLE_SIDE)
    )
    axes = figure.subplots(1, len(names), squeeze=False).ravel()
    for panel, name in zip(axes, names, strict=True):
        embedding(adata, name, ax=panel, title=name, **options)
    return np.array(list(axes), dtype=object)


def maps(
    embeddings: Mapping[Any, ArrayLike] | SweepResult | AnnData,
    color: object = None,
    *,
    shape: object = None,
    basis: str | Sequence[str] = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    notes: Sequence[str] | None = None,
    ncols: int = 4,
    axes: object = None,
) -> NDArray[np.object_]:
    """Draw several maps of the same points side by side, with one legend for all.

    Parameters
    ----------
    embeddings : mapping of title to array-like of shape (n, 2), SweepResult or AnnData
        The maps, each drawn as by :func:`ctsne.pl.embedding`: all finished maps of a sweep, or
        those of an AnnData object that ``basis`` names.
    color, shape, palette
        As in :func:`ctsne.pl.embedding`.
    basis : str or list of str, default="ctsne"
        The maps of an AnnData object, with or without ``"X_"``.
    notes : sequence of str, optional
        A line of text per map, such as its measures, written under the title.
    ncols : int, default=4
        Maximum number of panels in a row.
    axes : sequence or array of matplotlib.axes.Axes, optional
        Axes to draw into, at least one per map; a new figure by default.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of maps,)
        The Axes of the maps in the given order. The legend is to the right of the first row.

    Examples
    --------
    >>> from ctsne import pl
    >>> before, after = [[0, 0], [1, 0], [0, 2]], [[0, 0], [1, 1], [0, 1]]
    >>> axes = pl.maps({"before": before, "after": after}, ["a", "b", "a"])
    >>> [ax.get_title(loc="left") for ax in axes]
    ['before', 'after']
    """
    if isinstance(embeddings, SweepResult):
        embeddings = _swept_maps(embeddings)
    elif is_anndata(embeddings):
        adata: Any = embeddings
        names = [basis] if isinstance(basis, str) else basis
        embeddings = {name: map_of(adata, name) for name in names}
        palette = category_colors(adata, color) if palette is None else palette
        color, shape = columns_of(adata, color=color, shape=shape)
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise TypeError(
            "embeddings must be a sweep, an AnnData object or a mapping from titles to at least "
            f"one map, such as {{'t-SNE': Y0, 'joint': Y1}}; got {type(embeddings).__name__}"
        )
    ncols = check_count(ncols, "ncols", low=1)
    points = {
        title: check_positions(positions, argument=f"embeddings[{title!r}]")
        for title, positions in embeddings.items()
    }
    n, *others = sorted({len(positions) for positions in points.values()})
    if others:
        sizes = ", ".join(map(str, (n, *others)))
        raise ValueError(f"embeddings must all be of the same points, got maps of {sizes} points")
    look = make_look(color, shape, palette, points=next(iter(points.values())))
    titles = [figures.shown_text(title) for title in points]
    count = len(points)
    if notes is not None and (isinstance(notes, str) or len(notes) != count):
        raise ValueError(f"notes must hold one text for each of {count} maps, got {shown(notes)}")
    if axes is None:
        lines = max(title.count("\n") for title in titles) + (notes is not None)
        grid = figures.PanelGrid(count, ncols, _SIDE, figures.HEADER + lines * _TITLE_LINE)
        panels = grid.panels
    else:
        panels = _given_axes(axes, count)
    for title, positions, panel in zip(titles, points.values(), panels, strict=True):
        draw_points(panel, positions, look)
        figures.set_title(panel, title, pad=6 if notes is None else 19, **figures.LITERAL)
    for note, panel in zip(() if notes is None else notes, panels, strict=False):
        panel.annotate(
            str(note), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
            fontsize=figures.SMALL_SIZE, color=figures.INK, **figures.LITERAL,
        )  # fmt: skip
    # The last panel of the first row, also among given Axes.
    places = [panel.get_position() for panel in panels]
    beside = panels[max(range(len(panels)), key=lambda i: (round(places[i].y1, 3), places[i].x1))]
    if axes is None:
        grid.place(*add_key(beside, look, height=grid.height - grid.header))
    else:
        add_key(beside, look)
    return np.array(panels, dtype=object)


def _swept_maps(result: SweepResult) -> dict[str, NDArray[np.float32]]:
    """Return the finished maps by their titles."""
    maps: dict[str, NDArray[np.float32]] = {}
    for swept in result.maps:
        if swept.embedding is not None:
            # Starts given as arrays all have the same title.
            again = f"{swept.title} ({len(maps) + 1})"
            maps[again if swept.title in maps else swept.title] = swept.embedding
    if not maps:
        raise ValueError("the sweep has no finished map to draw")
    return maps


def _given_axes(axes: Any, needed: int) -> list[Axes]:
    panels = list(np.asarray(axes, dtype=object).ravel())
    if len(panels) < needed:
        raise ValueError(f"axes must hold one Axes for each of {needed} maps, got {len(panels)}")
    for panel in panels:
        figures.check_axes(panel, argument="axes")
    return panels[:needed]
