"""Maps next to each other, by every label in a row of its own: before and after, and a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core import vocabulary
from ctsne._core.checks import check_choice, check_kind
from ctsne.evaluate import DataNeighbors, data_neighbors, measure_map
from ctsne.io import anndata as ad
from ctsne.labels.columns import UNNAMED, encode_mixed
from ctsne.pl import figures
from ctsne.pl import points as dots
from ctsne.pl.maps import PLACES, draw_names, named_at, place_keys
from ctsne.pl.palette import palette as label_palette
from ctsne.sweep import SweepResult, SweptMap

if TYPE_CHECKING:
    from anndata import AnnData

# Inches: the sides of a map among two and among four, and a line of measures.
_PAIR_SIDE, _STRIP_SIDE, _NOTE_LINE = 3.4, 2.6, 0.17
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
    known, other : array-like of shape (n,) or mapping of name to array-like
        The label that was factored out, or several, or a number; and the label to look for.
        Without ``other`` there is one row.
    data : array-like of shape (n, d), DataNeighbors or str, optional
        The data that both maps show, or their neighbours from
        :func:`ctsne.evaluate.data_neighbors`. Without them only mixing is measured. Of an AnnData
        object the name of a representation, by default as in :func:`ctsne.tl.ctsne`.
    basis, legend_loc, size, width, n_jobs
        As in :func:`ctsne.pl.maps`, :func:`ctsne.pl.embedding` and
        :func:`ctsne.evaluate.measure_map`.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (number of labels, 2)

    Examples
    --------
    >>> data = make_synthetic(100, random_state=0)
    >>> maps = data.X[:, :2], data.X[:, 2:4]
    >>> axes = pl.before_after(*maps, {"batch": data.known}, {"type": data.hidden}, data=data.X)
    >>> [ax.get_title(loc="left") for ax in axes[0]]
    ['t-SNE', 'batch factored out']
    """
    if legend_loc is not None:
        check_choice(legend_loc, "legend_loc", PLACES)
    palettes: dict[Any, Any] = {}
    if ad.is_anndata(before):
        adata: Any = before
        if after is not None or len(basis) != 2:
            raise TypeError("an AnnData object holds both maps; name two of them with basis")
        before, after = (ad.map_of(adata, name) for name in basis)
        names = [*ad.column_names(adata, known), *ad.column_names(adata, other)]
        palettes = {name: ad.category_colors(adata, name, label_palette) for name in names}
        known, other = ad.labels_of(adata, known, "known"), ad.labels_of(adata, other, "other")
        if not isinstance(data, DataNeighbors):
            data = ad.choose_representation(adata, use_rep=data).X  # type: ignore[arg-type]
    if after is None or known is None:
        raise TypeError("before_after needs both maps and known, the label that was factored out")
    maps = [
        dots.check_positions(before, argument="before"),
        dots.check_positions(after, argument="after"),
    ]
    n, m = map(len, maps)
    if n != m:
        raise ValueError(f"before has {n} points, but after has {m}")
    factored, hidden = _by_name(known), {} if other is None else _by_name(other)
    looks = [
        dots.make_look(
            values if name == UNNAMED else {name: values},
            None,
            palettes.get(name),
            points=maps[0],
            size=size,
            argument=argument,
        )
        for argument, columns in (("known", factored), ("other", hidden))
        for name, values in columns.items()
    ]
    measures: list[dict[str, float]] = [{}, {}]
    if (k := min(vocabulary.NEIGHBORHOOD, n - 2)) >= 2:
        numbers = [name for name, values in factored.items() if dots.is_continuous(values)]
        near: Any = data
        if not isinstance(data, DataNeighbors):  # without data, the mixing is still measured
            features, sample = maps[0] if data is None else data, vocabulary.MEASURED_POINTS
            labels = encode_mixed(factored, numbers)
            near = data_neighbors(features, labels, k=k, sample=min(n, sample), n_jobs=n_jobs)
        measures = [measure_map(positions, near, n_jobs=n_jobs) for positions in maps]
    title = _title_of(factored)
    titles = ["t-SNE", f"{title or 'label'} factored out"]
    notes = [_note(found, title, kept=data is not None) for found in measures]
    return _draw_rows(maps, titles, looks, notes, _PAIR_SIDE, width, legend_loc=legend_loc)


def _by_name(columns: Any) -> dict[Any, Any]:
    if isinstance(columns, Mapping):
        return dict(columns)
    name, values = dots.named(columns)
    return {UNNAMED if name is None else name: values}


def _title_of(columns: Mapping[Any, Any]) -> str | None:
    return " and ".join(map(str, columns)) if {*columns} - {UNNAMED} else None


def _note(measures: Mapping[str, float], name: str | None, *, kept: bool = True) -> list[str]:
    """Return the lines of measures under a map: mixing and, if they are known, neighbours kept."""
    found = [*vocabulary.mixings_of(measures), *["adjusted_rnx"] * kept]
    lines = []
    for measure in (x for x in found if np.isfinite(measures.get(x, np.nan))):
        base, column = vocabulary.split_measure(measure)
        known = column or name or "the label"
        known = known if len(known) <= _NAME else f"{known[: _NAME - 1]}…"
        lines.append(f"{vocabulary.measure_title(base, known)} {measures[measure]:.2f}")
    return lines


def strip(
    result: SweepResult,
    *,
    mixing: float | Mapping[str, float] = vocabulary.SUGGESTED_MIXING,
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
    >>> grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.3, 1]}]
    >>> result = sweep(data.X, data.known, grid, estimator=small, progress=False)
    >>> [ax.get_title(loc="left") for ax in pl.strip(result)[0]]
    ['t-SNE', 'joint, strength 0.3', 'joint, strength 1']
    """
    check_kind(result, SweepResult, "result")
    if all(swept.error is not None for swept in result.maps):
        raise ValueError("the sweep has no finished map to draw")
    result.targets(mixing)  # refuses wrong ones
    try:
        suggested = result.suggest(mixing).map
    except ValueError:  # mixing cannot be measured
        suggested = None
    chosen = _chosen(result, suggested)
    maps = [dots.check_positions(np.asarray(swept.embedding)[:, :2]) for swept in chosen]
    columns = {} if result.labels is None else dict(result.labels.by_name)
    known = _title_of(columns)
    if result.other is not None:
        columns |= dict([*result.other.by_name.items()][:1])
    looks = []
    for name, column in columns.items():
        values: Any = column if column.numbers is None else column.numbers
        given = values if name.endswith(UNNAMED) else {name: values}
        looks.append(dots.make_look(given, None, None, points=maps[0], size=size))
    notes = [_note(swept.measures, known) for swept in chosen]
    titles = [swept.title for swept in chosen]
    marked = next((i for i, swept in enumerate(chosen) if swept is suggested), None)
    return _draw_rows(maps, titles, looks, notes, _STRIP_SIDE, width, marked=marked)


def _chosen(result: SweepResult, suggested: SweptMap | None) -> list[SweptMap]:
    """Choose t-SNE, the suggestion, and the ends and the middle of its line, at most four."""
    plain = [swept for swept in result.find(method="tsne") if swept.error is None][:1]
    lines = [line.maps for line in result.lines() if line.parameters["method"] != "tsne"]
    # A suggested t-SNE is compared with the first method.
    line = next((maps for maps in lines if suggested in maps), (lines or [()])[0])
    wanted = [*plain, *([] if suggested is None else [suggested]), *line[:1], *line[-1:]]
    wanted += line[len(line) // 2 :][:1]
    some = [*dict.fromkeys(map(id, wanted))][:4]
    return [swept for swept in (*plain, *line) if id(swept) in some]


def _draw_rows(
    maps: Sequence[NDArray[np.floating]],
    titles: Sequence[str],
    looks: Sequence[dots.Look],
    notes: Sequence[list[str]],
    side: float,
    width: str | float | None,
    *,
    legend_loc: str | None = "auto",
    marked: int | None = None,
) -> NDArray[np.object_]:
    wide, ncols, shape = figures.check_width(width), len(maps), max(map(dots.frame_shape, maps))
    foot = _NOTE_LINE * (0.4 + max(len(note) + (i == marked) for i, note in enumerate(notes)))
    count = len(looks) * ncols
    titles = [figures.shown_text(title) for title in titles]
    head = figures.HEADER + figures.TITLE_LINE * max(title.count("\n") for title in titles)
    grid = figures.PanelGrid(count, ncols, side, head, wide, shape=shape, later=0.0, foot=foot)
    named = [named_at(look, legend_loc) for look in looks]
    last = {row * ncols + ncols - 1: look for row, look in enumerate(looks)}
    place_keys(grid, last, named, by_row=True)
    axes = np.array(grid.panels, dtype=object).reshape(len(looks), ncols)
    for row, look, where in zip(axes, looks, named, strict=True):
        for ax, positions in zip(row, maps, strict=True):
            dots.draw_points(ax, positions, look)
            draw_names(ax, look, positions, where)
    for i, (title, note) in enumerate(zip(titles, notes, strict=True)):
        figures.set_title(axes[0, i], title, **figures.LITERAL)
        scale = figures.scale_of(axes[0, i])
        if note:
            figures.write_below(axes[-1, i], "\n".join(note))
        if i == marked:
            down = _NOTE_LINE * len(note) * scale
            figures.write_below(axes[-1, i], "suggested", down, color=figures.INK, weight="bold")
            for spine in (spine for ax in axes[:, i] for spine in ax.spines.values()):
                spine.set(color=figures.INK, linewidth=_MARKED * scale)
    return axes
