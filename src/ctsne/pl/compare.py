"""Maps next to each other, by every label in a row of its own: before and after, and a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_choice, check_kind
from ctsne._core.messages import shown
from ctsne._core.vocabulary import (
    MEASURED_POINTS,
    NEIGHBORHOOD,
    SUGGESTED_MIXING,
    measure_title,
    mixings_of,
    of_column,
)
from ctsne.evaluate import DataNeighbors, data_neighbors, measure_map
from ctsne.evaluate import mixing as mixing_of
from ctsne.io.anndata import (
    category_colors,
    choose_representation,
    column_names,
    column_of,
    is_anndata,
    map_of,
)
from ctsne.labels.columns import UNNAMED, encode_mixed
from ctsne.pl import figures
from ctsne.pl import points as dots
from ctsne.pl.maps import PLACES, named_at, place_keys
from ctsne.pl.names import add_names, places_of
from ctsne.sweep import SweepResult, SweptMap

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

# Inches: the sides of a map among two and among four, a line of measures, and the space above.
_PAIR_SIDE, _STRIP_SIDE, _NOTE_LINE, _NOTE_GAP = 3.4, 2.6, 0.17, 0.07
# Names of columns are cut to this length under a map; width of the frame of a suggestion.
_NAME, _MARKED = 18, 1.8


def before_after(
    before: ArrayLike | AnnData,
    after: ArrayLike | None = None,
    known: object = None,
    other: object = None,
    *,
    data: object = None,
    basis: tuple[str, str] = ("tsne", "ctsne"),
    titles: Sequence[str] | None = None,
    legend_loc: str | None = "auto",
    size: float | None = None,
    width: str | float | None = None,
    n_jobs: int = -1,
) -> NDArray[np.object_]:
    """Draw a map before and after a label was factored out, once by each label.

    The first row is coloured by the label that was factored out, the second by the label to look
    for. Mixing and neighbours kept are written under each map.

    Parameters
    ----------
    before, after : array-like of shape (n, 2)
        The t-SNE and the map of the same points. Or an AnnData object alone, in which ``basis``
        names both maps, and ``known`` and ``other`` name columns of ``obs``.
    known : array-like of shape (n,) or mapping of name to array-like
        The label that was factored out, or several, or a number.
    other : array-like of shape (n,) or mapping of name to array-like, optional
        The label to look for. Without it there is one row.
    data : array-like of shape (n, d), DataNeighbors or str, optional
        The data that both maps show, to measure the neighbours kept; without them only mixing is
        measured. For an AnnData object the name of a representation, by default that of
        :func:`ctsne.tl.ctsne`. Or what :func:`ctsne.evaluate.data_neighbors` found, for other
        metrics.
    basis : tuple of str, default=("tsne", "ctsne")
        The maps of an AnnData object, with or without ``"X_"``.
    titles : sequence of two str, optional
        By default "t-SNE" and "without batch", with the name of the label.
    legend_loc, size, width
        As in :func:`ctsne.pl.embedding`.
    n_jobs : int, default=-1
        Number of threads for the measures; -1 uses all.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of labels, 2)

    Examples
    --------
    >>> from ctsne import pl
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(100, random_state=0)
    >>> maps = data.X[:, :2], data.X[:, 2:4]
    >>> axes = pl.before_after(*maps, {"batch": data.known}, {"type": data.hidden}, data=data.X)
    >>> [ax.get_title(loc="left") for ax in axes[0]]
    ['t-SNE', 'without batch']
    """
    if legend_loc is not None:
        check_choice(legend_loc, "legend_loc", PLACES)
    palettes: dict[Any, Any] = {}
    if is_anndata(before):
        adata: Any = before
        if after is not None or len(basis) != 2:
            raise TypeError("an AnnData object holds both maps; name two of them with basis")
        before, after = (map_of(adata, name) for name in basis)
        names = [*column_names(adata, known), *column_names(adata, other)]
        palettes = {name: category_colors(adata, name) for name in names}
        known, other = (_columns_of(adata, each) for each in (known, other))
        if not isinstance(data, DataNeighbors):
            data = choose_representation(adata, use_rep=data).X  # type: ignore[arg-type]
    if after is None or known is None:
        raise TypeError("before_after needs both maps and known, the label that was factored out")
    maps = [
        dots.check_positions(positions, argument=name)
        for name, positions in (("before", before), ("after", after))
    ]
    n = len(maps[0])
    if len(maps[1]) != n:
        raise ValueError(f"before has {n} points, but after has {len(maps[1])}")
    factored, hidden = _by_name(known), {} if other is None else _by_name(other)
    looks = _looks(factored, maps[0], palettes, size=size, argument="known")
    looks += _looks(hidden, maps[0], palettes, size=size, argument="other")
    measures = _measure(maps, factored, data, n_jobs)
    name = _title_of(factored)
    usual = ("t-SNE", "label factored out" if name is None else f"without {name}")
    texts = usual if titles is None else tuple(titles)
    if len(texts) != 2:
        raise ValueError(f"titles must hold two texts, got {shown(titles)}")
    notes = [_note(found, name) for found in measures]
    return _draw_rows(
        maps, texts, looks, notes, side=_PAIR_SIDE, width=width, legend_loc=legend_loc
    )


def _columns_of(adata: Any, columns: Any) -> Any:
    """Return the named columns of an AnnData object, or labels as given."""
    names = column_names(adata, columns)
    if not names:
        return column_of(adata, columns, argument="known")
    return {name: column_of(adata, name, argument="known") for name in names}


def _by_name(columns: Any) -> dict[Any, Any]:
    """Return columns by name; one without a name has the name of such."""
    if isinstance(columns, Mapping):
        return dict(columns)
    name, values = dots.named(columns)
    return {UNNAMED if name is None else name: values}


def _title_of(columns: Mapping[Any, Any]) -> str | None:
    """Return the names of columns in words; None if they have none."""
    return " and ".join(map(str, columns)) if {*columns} - {UNNAMED} else None


def _looks(
    columns: Mapping[Any, Any],
    points: NDArray[np.floating],
    palettes: Mapping[Any, Any] | None = None,
    *,
    size: Any,
    argument: str = "color",
) -> list[dots.Look]:
    """Return a look per column, whose name heads its legend."""
    looks = []
    for name, column in columns.items():
        given = column if str(name).endswith(UNNAMED) else {name: column}
        colors = (palettes or {}).get(name)
        look = dots.make_look(given, None, colors, points=points, size=size, argument=argument)
        looks.append(look)
    return looks


def _measure(
    maps: Sequence[NDArray[Any]], columns: Mapping[Any, Any], data: Any, n_jobs: int
) -> list[dict[str, float]]:
    """Measure mixing and, with the data, neighbours kept; nothing for fewer than four points."""
    n = len(maps[0])
    numbers = [name for name, column in columns.items() if dots.is_continuous(column)]
    labels: Any = encode_mixed(columns, numbers)
    k = min(NEIGHBORHOOD, n - 2)
    if k < 2:
        return [{} for _ in maps]
    if data is None:
        several = len(labels.by_name) > 1
        return [
            {
                of_column("mixing", name) if several else "mixing": mixing_of(
                    positions, column, k=k, n_jobs=n_jobs
                )
                for name, column in labels.by_name.items()
            }
            for positions in maps
        ]
    if not isinstance(data, DataNeighbors):
        data = data_neighbors(data, labels, k=k, sample=min(n, MEASURED_POINTS), n_jobs=n_jobs)
    return [measure_map(positions, data, n_jobs=n_jobs) for positions in maps]


def _note(measures: Mapping[str, float], name: str | None) -> list[str]:
    """Return the lines of measures under a map."""
    known = "the label" if name is None else name
    known = known if len(known) <= _NAME else f"{known[: _NAME - 1]}…"
    return [
        f"{measure_title(measure, known)} {measures[measure]:.2f}"
        for measure in (*mixings_of(measures), "adjusted_rnx")
        if np.isfinite(measures.get(measure, np.nan))
    ]


def strip(
    result: SweepResult,
    *,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING,
    size: float | None = None,
    width: str | float | None = None,
) -> NDArray[np.object_]:
    """Draw a sweep as a strip of four maps: t-SNE, a weak, the suggested and a strong setting.

    Every label has a row: those factored out, and the one to look for. Mixing and neighbours kept
    are written under each map, and the suggested one has a dark frame. :func:`ctsne.pl.maps` draws
    all maps of a sweep.

    Parameters
    ----------
    result : SweepResult
    mixing : float or mapping of column to float, default=0.8
        The target of the suggestion, as in :meth:`ctsne.sweep.SweepResult.suggest`.
    size, width
        As in :func:`ctsne.pl.embedding`.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of labels, number of maps)

    Examples
    --------
    >>> from ctsne import ConditionalTSNE, pl
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import sweep
    >>> data = make_synthetic(200, random_state=0)
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.3, 1]}]
    >>> result = sweep(data.X, data.known, grid, estimator=small, progress=False)
    >>> [ax.get_title(loc="left") for ax in pl.strip(result)[0]]
    ['t-SNE', 'joint, strength 0.3', 'joint, strength 1']
    """
    check_kind(result, SweepResult, "result")
    try:
        suggested = result.suggest(mixing).map
    except ValueError as error:
        if not any(swept.error is None for swept in result.maps):
            raise ValueError("the sweep has no finished map to draw") from error
        suggested = None  # mixing cannot be measured
    chosen = _chosen(result, suggested)
    maps = [dots.check_positions(np.asarray(swept.embedding)[:, :2]) for swept in chosen]
    columns = {} if result.labels is None else dict(result.labels.by_name)
    known = _title_of(columns)
    if result.other is not None:
        columns |= dict([*result.other.by_name.items()][:1])
    drawn = {
        name: column if column.numbers is None else column.numbers
        for name, column in columns.items()
    }
    looks = _looks(drawn, maps[0], size=size)
    notes = [_note(swept.measures, known) for swept in chosen]
    titles = [swept.title for swept in chosen]
    marked = next((i for i, swept in enumerate(chosen) if swept is suggested), None)
    return _draw_rows(maps, titles, looks, notes, side=_STRIP_SIDE, width=width, marked=marked)


def _chosen(result: SweepResult, suggested: SweptMap | None) -> list[SweptMap]:
    """Choose t-SNE, the suggestion, and the ends and the middle of its line, at most four."""
    plain = [swept for swept in result.find(method="tsne") if swept.error is None][:1]
    lines = [line.maps for line in result.lines() if line.parameters["method"] != "tsne"]
    # A suggested t-SNE is compared with the first method.
    line = next((maps for maps in lines if suggested in maps), (lines or [()])[0])
    ends = [line[0], line[-1], line[len(line) // 2]] if line else []
    wanted = [*plain, *([] if suggested is None else [suggested]), *ends]
    some = {id(swept) for swept in dict.fromkeys(wanted)}
    while len(some) > 4:  # not the middle
        some.discard(id(ends.pop()))
    return [swept for swept in (*plain, *line) if id(swept) in some]


def _draw_rows(
    maps: Sequence[NDArray[np.floating]],
    titles: Sequence[str],
    looks: Sequence[dots.Look],
    notes: Sequence[Sequence[str]],
    *,
    side: float,
    width: str | float | None,
    legend_loc: str | None = "auto",
    marked: int | None = None,
) -> NDArray[np.object_]:
    """Draw maps side by side, one row per look with a legend each, and notes under the last row."""
    wide, ncols = figures.check_width(width), len(maps)
    lines = max(len(note) + (i == marked) for i, note in enumerate(notes))
    grid = figures.PanelGrid(
        len(looks) * ncols,
        ncols,
        side,
        width=wide,
        shape=max(map(dots.frame_shape, maps)),
        later=0.0,
        foot=lines * _NOTE_LINE + _NOTE_GAP,
    )
    named = [named_at(look, maps[-1], legend_loc) for look in looks]
    last = {row * ncols + ncols - 1: look for row, look in enumerate(looks)}
    place_keys(grid, last, named, by_row=True)
    axes = np.array(grid.panels, dtype=object).reshape(len(looks), ncols)
    for row, look, where in zip(axes, looks, named, strict=True):
        for ax, positions in zip(row, maps, strict=True):
            dots.draw_points(ax, positions, look)
            if look.labels is not None and where in ("on data", "both"):
                places = places_of(look.labels, positions)
                add_names(ax, look.labels, places, only=where == "on data")
    for ax, title in zip(axes[0], titles, strict=True):
        figures.set_title(ax, figures.shown_text(title), **figures.LITERAL)
    for i, note in enumerate(notes):
        _write_below(axes[-1, i], note, marked=i == marked)
    if marked is not None:
        for ax in axes[:, marked]:
            for spine in ax.spines.values():
                spine.set(color=figures.INK, linewidth=_MARKED * figures.scale_of(ax))
    return axes


def _write_below(ax: Axes, lines: Sequence[str], *, marked: bool) -> None:
    """Write measures under a map, and below them that it is suggested."""
    scale = figures.scale_of(ax)
    texts = [(line, figures.GREY, "normal") for line in lines]
    texts += [("suggested", figures.INK, "bold")] * marked
    for i, (text, ink, weight) in enumerate(texts):
        down = -72 * (_NOTE_GAP + i * _NOTE_LINE) * scale
        look: dict[str, Any] = {"color": ink, "fontweight": weight, "va": "top"}
        look |= {"fontsize": figures.SMALL_SIZE * scale, **figures.text_properties(text)}
        look |= {"xycoords": "axes fraction", "textcoords": "offset points", **figures.LITERAL}
        ax.annotate(look.pop("text"), (0, 0), (0, down), annotation_clip=False, **look)
