"""Pictures of one map, and of several maps of the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import check_choice, check_count
from ctsne._core.messages import shown
from ctsne.affinity.result import TRUST
from ctsne.estimator import ConditionalTSNE
from ctsne.io.anndata import category_colors, column_names, column_of, is_anndata, map_name, map_of
from ctsne.labels import Column
from ctsne.pl import figures
from ctsne.pl import points as dots
from ctsne.pl.names import add_names, places_of
from ctsne.pl.palette import palette as label_palette
from ctsne.pl.points import Look
from ctsne.placing.place import Placement
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

# Inches: the side of a single map, of one in several colours and of one among several.
_SINGLE_SIDE, _SEVERAL_SIDE, _SIDE = 4.8, 4.2, 3.1
# Maximum number of panels in a row, when one map is drawn in several colours.
_MOST_IN_ROW = 3
# Legends that would take a larger share of a fixed width lie below the maps.
_MOST_BESIDE = 0.42
# Where labels are named: in the margin, on the map, or both; scanpy's words where it has them.
PLACES = ("auto", "right margin", "on data", "both")
# More labels than this are also named on the map, where a reader need not compare colours.
_MOST_BY_COLOR = 20


def embedding(
    positions: ArrayLike | Placement | AnnData,
    color: object = None,
    *,
    shape: object = None,
    reference: object = None,
    basis: str = "ctsne",
    palette: Any = None,
    title: str | Sequence[str] | None = None,
    legend_loc: str | None = "auto",
    trust: object = None,
    size: float | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a map as one dot per point, coloured and shaped by label columns.

    Dots are drawn in a fixed shuffled order, so that no label hides another; those without a label
    are grey and lie below the others. More than 100,000 points are shaded: smooth where points lie
    dense, as dots where they are few, with those of rare labels on top.

    Parameters
    ----------
    positions : array-like of shape (n, 2) or (n, 1), Placement or AnnData
        Positions of the points, or points placed by :meth:`ctsne.ConditionalTSNE.place`, of which
        those far from the reference have a marker of their own. One column is drawn as a strip,
        with random heights. For an AnnData object, ``basis`` names the map, ``color`` and ``shape``
        may name columns of ``obs``, and colours that scanpy has given a column are kept.
    color : array-like of shape (n,) or mapping of name to array-like, optional
        A label column, or floats for a colour bar. Whole numbers are labels. Several columns in a
        mapping, or several names of an AnnData object, have a panel each.
    shape : array-like of shape (n,), optional
        A second label column with at most ten labels. If both columns have names, as those of
        pandas do or as ``{"batch": column}`` gives, they head the legend.
    reference : ConditionalTSNE, AnnData or array-like, optional
        The map in which the points were placed, drawn below them in light grey: a fitted model, an
        AnnData object with the map ``basis``, or positions.
    basis : str, default="ctsne"
        The map of an AnnData object, with or without ``"X_"``.
    palette : mapping of label to colour, list of colours or str, optional
        By default that of :func:`ctsne.pl.palette`; an AnnData object keeps it in ``uns``, where
        scanpy looks for it. A list gives colours in the order of the labels, a str names a colour
        map of matplotlib, as in scanpy.
    title : str or list of str, optional
        By default the name of the column, if it has one and the figure is new. Several columns take
        a title each. Names that the title does not say head the legend.
    legend_loc : {"auto", "right margin", "on data", "both"} or None, default="auto"
        Where labels are named: next to the map, on the map where their points are, or not at all
        with None. ``"auto"`` takes the margin, and both for more than 20 labels. Names on the map
        are moved apart; those that find no room, or whose points lie all over, are left out.
    trust : array-like of shape (n,), or True, optional
        How far the place of each point can be believed, as :meth:`ctsne.ConditionalTSNE.trust`
        returns it: points with trust below about 0.3 are drawn faint. For an AnnData object, True
        takes the column that ``ctsne.tl.ctsne(..., trust=True)`` has stored.
    size : float, optional
        Area of the dots in square points, which are then drawn for any number of points.
    width : {"single", "double"} or float, optional
        Width of the new figure for print: of one (89 mm) or both (183 mm) columns of a journal, or
        in mm. Texts then have 6 to 8 points.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes, or ndarray of them if ``color`` has several columns

    Examples
    --------
    >>> ax = pl.embedding([[0, 0], [1, 0], [0, 2]], ["a", "b", None], title="a map")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b', 'missing']
    """
    if legend_loc is not None:
        check_choice(legend_loc, "legend_loc", PLACES)
    wide = figures.check_width(width, ax)
    several = isinstance(color, Mapping) and len(color) > 1
    columns = {key: {key: values} for key, values in color.items()} if several else {None: color}  # type: ignore[attr-defined]
    palettes: dict[Any, Any] = {}
    if is_anndata(positions):
        adata: Any = positions
        names, positions = column_names(adata, color), map_of(adata, basis)
        several = len(names) > 1
        chosen = {name: name for name in names} if several else {None: color}
        palettes = {key: category_colors(adata, x, label_palette) for key, x in chosen.items()}
        columns = {key: column_of(adata, name, argument="color") for key, name in chosen.items()}
        shape = column_of(adata, shape, argument="shape")
        if trust is True:
            trust = adata.obs.get(f"{map_name(basis)}_{TRUST}")
            if trust is None:
                how = "make it with ctsne.tl.ctsne(..., trust=True)"
                raise ValueError(f"trust: the map {shown(basis)} has none; {how}")
    elif isinstance(positions, Placement):
        if shape is None and positions.far.any() and len(positions.far) <= dots.MOST_DOTS:
            codes = positions.far.astype(np.int32)
            near = ("near the reference", "far from the reference")
            shape = Column(codes, near, np.bincount(codes, minlength=2))
        positions = positions.embedding
    map_under = None if reference is None else _reference_map(reference, basis)
    points = dots.check_positions(positions, least=2 if map_under is None else 1)
    if several and ax is not None:
        raise ValueError("several colours have a panel each; leave out ax")
    # The names of two columns head the legend, where it is clear which is which.
    by_name = several or (ax is None and dots.named(shape)[0] is None)
    titles = _titles(title, list(columns.values()), by_name=by_name)
    given = palettes if palette is None else dict.fromkeys(columns, palette)
    looks = [
        dots.make_look(column, shape, given.get(name), points=points, size=size, title=heading)
        for (name, column), heading in zip(columns.items(), titles, strict=True)
    ]
    if trust is True:
        raise TypeError("trust=True is for AnnData objects; pass the values, trust=model.trust()")
    if trust is not None and trust is not False:
        looks = [dots.trusted_look(look, trust, len(points)) for look in looks]
    named = [named_at(look, legend_loc) for look in looks]
    if map_under is not None:
        looks = [dots.above_reference(look) for look in looks]
    if ax is None:
        header = figures.GAP if titles == [None] else figures.HEADER
        side = _SINGLE_SIDE if len(looks) == 1 else _SEVERAL_SIDE
        whole = points if map_under is None else np.concatenate([map_under, points])
        grid = figures.PanelGrid(
            len(looks), _MOST_IN_ROW, side, header, wide, shape=dots.frame_shape(whole)
        )
        place_keys(grid, dict(enumerate(looks)), named)
        panels = grid.panels
    else:
        figures.check_axes(ax)
        panels = [ax]
        if legend_loc is not None:
            dots.add_key(ax, looks[0], names=named[0] == "on data")
    for panel, look, heading, where in zip(panels, looks, titles, named, strict=True):
        dots.draw_points(panel, points, look, reference=map_under)
        if heading is not None:
            figures.set_title(panel, heading, **figures.LITERAL if title is None else {})
        draw_names(panel, look, points, where)
    return np.array(panels, dtype=object) if several else panels[0]


def _titles(title: Any, columns: list[Any], *, by_name: bool) -> list[str | None]:
    """Return a title per panel: the given ones or, ``by_name``, the names of the columns."""
    if title is None:
        names = [dots.named(column)[0] if by_name else None for column in columns]
        return [None if name is None else figures.shown_text(name) for name in names]
    titles = [title] if isinstance(title, str) else list(title)
    if len(titles) != len(columns):
        raise ValueError(f"title must hold one text per panel, {len(columns)}, got {len(titles)}")
    return titles


def draw_names(ax: Axes, look: Look, points: NDArray[np.floating], where: str | None) -> None:
    """Write the labels on a map, if they are named there."""
    if look.labels is not None and where in ("on data", "both"):
        add_names(ax, look.labels, places_of(look.labels, points), only=where == "on data")


def named_at(look: Look, legend_loc: str | None) -> str | None:
    """Return where labels are named: many also on the map, those that lie together there."""
    if legend_loc != "auto":
        return legend_loc
    many = look.labels is not None and look.labels.n_labels > _MOST_BY_COLOR
    return "both" if many else "right margin"


def place_keys(
    grid: figures.PanelGrid,
    looks: Mapping[int, Look],
    named: Sequence[str | None],
    *,
    shared: bool = False,
    by_row: bool = False,
) -> None:
    """Add colour bars and legends to panels; a ``shared`` one may be as high as all rows.

    Legends that are too wide for the right margin lie below their panel or, if there is one legend
    for all panels or ``by_row``, below all of a row.
    """
    if None in named:
        return

    def add(room_under: float | None = None) -> tuple[dict[int, float], dict[int, float]]:
        """Add the keys, instead of those before; return their widths and heights."""
        for ax in grid.panels:
            dots.remove_key(ax)
        height = grid.height if shared else grid.panel_height
        widths, heights = {}, {}
        for (panel, look), where in zip(looks.items(), named, strict=True):
            rest = where == "on data"
            widths[panel], heights[panel] = dots.add_key(
                grid.panels[panel], look, names=rest, height=height, room_under=room_under
            )
            if room_under is not None:
                grid.lower_legend(panel)
        return widths, heights

    right, heights = add()
    if grid.width is not None and sum(right.values()) > _MOST_BESIDE * grid.width:
        grid.place({})
        if shared:  # below the first map of the last row, where all the width is free
            looks = {(grid.nrows - 1) * grid.ncols: next(iter(looks.values()))}
        elif by_row:
            looks = {panel - panel % grid.ncols: look for panel, look in looks.items()}
        grid.place(*add(grid.width - 2 * grid.gap if shared or by_row else grid.side))
        return
    if grid.width is not None:
        grid.place(right)
        right, heights = add()
    grid.place(right)
    if shared:
        grid.place(right, whole=max(heights.values()) + grid.gap)
    else:  # a legend that is higher than its panel makes the row higher
        beyond = {key: high + grid.gap - grid.panel_height for key, high in heights.items()}
        grid.place(right, beyond)


def _reference_map(reference: Any, basis: str) -> NDArray[np.floating]:
    """Return the positions of a fitted model, of an AnnData object, or as given."""
    if is_anndata(reference):
        reference = map_of(reference, basis)
    elif isinstance(reference, ConditionalTSNE):
        check_is_fitted(reference)
        reference = reference.embedding_
    return dots.check_positions(reference, argument="reference")


def maps(
    embeddings: Mapping[Any, ArrayLike] | SweepResult | AnnData,
    color: object = None,
    *,
    shape: object = None,
    basis: str | Sequence[str] = "ctsne",
    palette: Any = None,
    notes: Sequence[str] | None = None,
    ncols: int = 4,
    width: str | float | None = None,
) -> NDArray[np.object_]:
    """Draw several maps of the same points side by side, with one legend for all.

    Parameters
    ----------
    embeddings : mapping of title to array-like of shape (n, 2), SweepResult or AnnData
        The maps, each drawn as by :func:`ctsne.pl.embedding`: all finished maps of a sweep, or
        those of an AnnData object that ``basis`` names.
    color, shape, palette, width
        As in :func:`ctsne.pl.embedding`.
    basis : str or list of str, default="ctsne"
        The maps of an AnnData object, with or without ``"X_"``.
    notes : sequence of str, optional
        A line of text per map, such as its measures, written under the title.
    ncols : int, default=4
        Maximum number of panels in a row.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of maps,)
        The Axes of the maps in the given order. The legend is to the right of the first row.

    Examples
    --------
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
        palette = category_colors(adata, color, label_palette) if palette is None else palette
        color = column_of(adata, color, argument="color")
        shape = column_of(adata, shape, argument="shape")
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise TypeError(
            "embeddings must be a sweep, an AnnData object or a mapping from titles to at least "
            f"one map, such as {{'t-SNE': Y0, 'joint': Y1}}; got {type(embeddings).__name__}"
        )
    ncols, wide = check_count(ncols, "ncols", low=1), figures.check_width(width)
    points = {
        title: dots.check_positions(positions, argument=f"embeddings[{title!r}]")
        for title, positions in embeddings.items()
    }
    n, *others = sorted({len(positions) for positions in points.values()})
    if others:
        sizes = ", ".join(map(str, (n, *others)))
        raise ValueError(f"embeddings must all be of the same points, got maps of {sizes} points")
    look = dots.make_look(color, shape, palette, points=next(iter(points.values())))
    titles = [figures.shown_text(title) for title in points]
    count = len(points)
    if notes is not None and (isinstance(notes, str) or len(notes) != count):
        raise ValueError(f"notes must hold one text for each of {count} maps, got {shown(notes)}")
    lines = max(title.count("\n") for title in titles) + (notes is not None)
    grid = figures.PanelGrid(count, ncols, _SIDE, figures.HEADER + lines * figures.TITLE_LINE, wide)
    panels = grid.panels
    place_keys(grid, {grid.ncols - 1: look}, ["right margin"], shared=True)
    scale = figures.scale_of(panels[0])
    for title, positions, panel in zip(titles, points.values(), panels, strict=True):
        dots.draw_points(panel, positions, look)
        figures.set_title(panel, title, pad=6 if notes is None else 19, **figures.LITERAL)
    look_of_note: dict[str, Any] = {"fontsize": figures.SMALL_SIZE * scale, "color": figures.INK}
    look_of_note |= {"xycoords": "axes fraction", "textcoords": "offset points"}
    for note, panel in zip(notes or (), panels, strict=False):
        panel.annotate(str(note), (0, 1), (0, 6 * scale), **look_of_note, **figures.LITERAL)
    return np.array(panels, dtype=object)


def _swept_maps(result: SweepResult) -> dict[str, NDArray[np.float32]]:
    maps: dict[str, NDArray[np.float32]] = {}
    for swept in result.maps:
        if swept.embedding is not None:
            # Starts given as arrays all have the same title.
            again = f"{swept.title} ({len(maps) + 1})"
            maps[again if swept.title in maps else swept.title] = swept.embedding
    if not maps:
        raise ValueError("the sweep has no finished map to draw")
    return maps
