"""What a page shows, as plain data; and a sweep or a model turned into it."""

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ctsne._core.messages import did_you_mean, quoted, shown, value_text
from ctsne._core.vocabulary import of_column
from ctsne.estimator import ConditionalTSNE
from ctsne.fit.advice import Advice, along_path, find_apart, neighbors_in_map
from ctsne.fit.summary import point_diagnostics
from ctsne.labels import Column, encode_column
from ctsne.methods import METHODS, is_used
from ctsne.report.columns import MATCHED, PageColumn, matched_column, read_column, read_feature
from ctsne.report.features import (
    MOST_FEATURE_BYTES,
    MOST_JOINED,
    NEIGHBORS,
    feature_room,
    first_map,
    informative,
    model_rows,
)
from ctsne.settings import DEFAULTS
from ctsne.sweep import Line, SweepResult, SweptMap
from ctsne.sweep.choice import choose_maps
from ctsne.sweep.grid import IRRELEVANT, plain_value


@dataclass(frozen=True, eq=False)
class PageMap:
    """One map, or why there is none."""

    title: str
    embedding: NDArray[np.float32] | None  # of shape (n, 1) or (n, 2); None if it failed
    method: str = "tsne"
    setting: str = ""  # the value of its knob in words
    value: float | None = None  # the same as a number, if it is one
    measures: Mapping[str, float] = field(default_factory=dict)
    diagnostics: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    seconds: float | None = None
    error: str | None = None
    command: str = ""  # what makes this map, to copy
    advice: str = ""  # which labels stay apart, and what to do about it


@dataclass(frozen=True, eq=False)
class PageLine:
    """Maps that differ only in the value of a knob, the weakest first, by their numbers."""

    title: str
    method: str
    maps: Sequence[int]
    knob: str | None = None
    family: str = ""  # the title without the seed


@dataclass(frozen=True, eq=False)
class PageData:
    """Everything that a page shows."""

    maps: Sequence[PageMap]
    lines: Sequence[PageLine]
    title: str = ""
    columns: Sequence[PageColumn] = ()
    known: Sequence[str] = ()  # names of the columns that were factored out
    other: Sequence[str] = ()  # names of the columns to look for
    names: Any = None  # of the points
    targets: Mapping[str, float] = field(default_factory=dict)  # mixing to reach
    # Lists of targets by column, and for each of their products the suggested map and the reason;
    # None if there is nothing to choose by.
    suggestions: tuple[list[list[float]], list[tuple[int, str]]] | None = None
    single: bool = True  # one map, so nothing to choose
    sampled_from: int | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    neighbors: NDArray[np.integer] | None = None  # rows nearest in the data, the nearest first

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points, and the dimensions of their maps."""
        shapes = [made.embedding.shape for made in self.maps if made.embedding is not None]
        if not shapes:
            raise ValueError("result has no finished map to show")
        n, dimensions = shapes[0]
        if dimensions > 2:
            raise ValueError(
                f"result has maps of {dimensions} dimensions; a page needs n_components=2"
            )
        return n, dimensions


def read_page(
    result: SweepResult | ConditionalTSNE,
    columns: Any,
    known: str | Sequence[str] | None,
    other: str | Sequence[str] | None,
    features: Any,
    mixing: float | Mapping[str, float],
    names: Any,
    title: str | None,
    palette: Any = None,
    *,
    commands: Sequence[str] | None = None,
    provenance: Any = None,
    neighbors: Any = None,
    feature_bytes: int = MOST_FEATURE_BYTES,
    most_joined: int = MOST_JOINED,
) -> PageData:
    """Turn a sweep or a fitted model into a page, with the columns and texts asked for."""
    if isinstance(result, ConditionalTSNE):
        page, labels = _read_model(result)
    elif isinstance(result, SweepResult):
        page, labels = _read_sweep(result, mixing)
    else:
        what = "result must be the result of ctsne.sweep.sweep or a fitted ConditionalTSNE"
        raise TypeError(f"{what}, got {type(result).__name__}")
    page, chosen = _choose_columns(page, labels, _by_name(columns, "columns"), known, other)
    if title is None:
        what = "Map" if page.single else "Maps"
        title = f"{what} with {' and '.join(page.known)} factored out" if page.known else what
    maps = _with_commands(page.maps, commands)
    advice = _advise(result, page.targets, {name: chosen[name] for name in page.other})
    maps = [replace(made, advice=advice.get(place, "")) for place, made in enumerate(maps)]
    n, _ = page.shape
    _check_names(names, n, f"the maps have {n} points")
    numbers = {name for name, column in labels.items() if column.numbers is not None}
    colors = {} if palette is None else palette
    if not isinstance(colors, Mapping) or not chosen.keys() >= colors.keys():
        what = "palette must be a mapping from columns to colours of their labels"
        raise ValueError(f"{what}; the columns are {quoted(chosen)}, got {shown(palette)}")
    read = [
        read_column(
            name,
            labels[name] if name in numbers else values,
            n=n,
            as_labels=name in {*page.known, *page.other} - numbers,
            colors=colors.get(name),
        )
        for name, values in chosen.items()
    ]
    if hasattr(features, "var_names"):  # an AnnData object; anndata is never imported here
        shown_first = first_map(result, mixing)
        features = informative(features, shown_first, feature_room(n, feature_bytes))
    read += [read_feature(*item, n=n) for item in _by_name(features, "features").items()]
    near = model_rows(result, most_joined) if neighbors is None else check_rows(neighbors, n)
    found = (made.diagnostics["matched"] for made in page.maps if "matched" in made.diagnostics)
    matched = next(found, None)  # the same in all maps
    if matched is not None and MATCHED not in chosen:
        read.append(matched_column(matched))
    plain = _plain_provenance(provenance)
    more = {"columns": read, "names": names, "provenance": plain, "neighbors": near}
    return replace(page, title=title, maps=maps, **more)


def _read_sweep(
    result: SweepResult, mixing: float | Mapping[str, float]
) -> tuple[PageData, dict[str, Any]]:
    """Return the maps of a sweep along its lines, those to choose from, and its labels by name."""
    place = {id(swept): index for index, swept in enumerate(result.maps)}

    def indices(line: Line) -> list[int]:
        return [place[id(swept)] for swept in line.maps]

    def family(line: Line) -> str:
        kept = {name: value for name, value in line.parameters.items() if name != "random_state"}
        return replace(line, parameters=kept).title

    lines = result.lines()
    line_of = {id(swept): line for line in lines for swept in line.maps}
    targets, suggestions = result.targets(mixing), None
    with contextlib.suppress(ValueError):  # mixing cannot be measured: a single label
        axes, chosen = choose_maps(result.candidates(), targets, result.hidden)
        suggestions = axes, [(place[id(found.map)], found.reason) for found in chosen]
    page = PageData(
        [_swept_map(swept, line_of.get(id(swept)), result.estimator) for swept in result.maps],
        [
            PageLine(line.title, line.parameters["method"], indices(line), line.knob, family(line))
            for line in lines
        ],
        known=() if result.labels is None else result.labels.names,
        other=() if result.other is None else result.other.names,
        targets=targets,
        suggestions=suggestions,
        single=False,
        sampled_from=result.sampled_from,
    )
    given = [labels for labels in (result.labels, result.other) if labels is not None]
    return page, {name: column for labels in given for name, column in labels.by_name.items()}


def _swept_map(swept: SweptMap, line: Line | None, estimator: Mapping[str, Any]) -> PageMap:
    title, setting, value = swept.title, "", None
    if line is not None:
        if line.knob in swept.parameters:
            value = swept.parameters[line.knob]
            setting = replace(line, parameters={line.knob: value}).title
        title = ", ".join(filter(None, [line.title, setting]))
    return PageMap(
        title,
        swept.embedding,
        {**estimator, **swept.parameters}["method"],
        setting,
        float(value) if isinstance(value, Real) else None,
        {name: float(x) for name, x in swept.measures.items() if math.isfinite(x)},
        swept.diagnostics,
        swept.seconds if math.isfinite(swept.seconds) else None,
        swept.error,
        _constructor_call(estimator, swept.parameters),
    )


def _read_model(model: ConditionalTSNE) -> tuple[PageData, dict[str, Column]]:
    """Return the map of a fitted model with its setting, and its labels by name."""
    check_is_fitted(model)
    knob = METHODS[model.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    parameters = {"method": model.method} | ({} if value is None else {str(knob): value})
    measures: dict[str, float] = {}
    if isinstance(model.mixing_, dict):
        measures = {of_column("mixing", name): mixed for name, mixed in model.mixing_.items()}
    elif model.mixing_ is not None:
        measures = {"mixing": float(model.mixing_)}
    title = Line(parameters, None, ()).title
    made = PageMap(
        title,
        model.embedding_,
        model.method,
        measures=measures,
        diagnostics=point_diagnostics(model),
        command=_constructor_call(model.get_params(deep=False), parameters),
    )
    labels = {} if model.labels_ is None else model.labels_.by_name
    return PageData([made], [PageLine(title, model.method, [0])], known=tuple(labels)), labels


def _advise(
    result: SweepResult | ConditionalTSNE, targets: Mapping[str, float], other: Mapping[str, Any]
) -> dict[int, str]:
    """Return what to do next with each map; of a sweep, its stronger maps show what they reach."""
    if isinstance(result, ConditionalTSNE):
        with contextlib.suppress(ValueError):  # a loaded model, which does not keep its data
            return {0: _sentences(result.advise(other=other or None))}
        return {}
    if result.labels is None or any(column.n_labels < 2 for column in result.labels.columns):
        return {}
    names, texts = result.labels.names, {}
    least = dict(zip(names, targets.values(), strict=True))
    place_of = {id(swept): place for place, swept in enumerate(result.maps)}
    for line in result.lines():
        if line.parameters["method"] == "tsne":
            continue
        knob = line.knob or ""
        values = [swept.parameters.get(knob) for swept in line.maps]
        near = [neighbors_in_map(np.asarray(swept.embedding)) for swept in line.maps]
        path = list(zip(values, near, strict=True))
        for place, swept in enumerate(line.maps):
            matched = swept.diagnostics.get("matched")
            by_name = {} if matched is None else dict.fromkeys(names, matched)
            found = find_apart(near[place], result.labels, by_name, other, least)
            found = along_path(found, result.labels, knob, path[place + 1 :])
            texts[place_of[id(swept)]] = _sentences(found)
    return texts


def _sentences(advice: Advice | None) -> str:
    lines = (
        [] if advice is None else advice.lines(lambda name, value: f"{name} {value_text(value)}")
    )
    return " ".join(f"{line[0].upper()}{line[1:].removesuffix('.')}." for line in lines)


def _choose_columns(
    page: PageData,
    labels: Mapping[str, Column],
    given: dict[str, Any],
    known: str | Sequence[str] | None,
    other: str | Sequence[str] | None,
) -> tuple[PageData, dict[str, Any]]:
    """Name the columns that were factored out and those to look for; return all to show."""
    hidden = [other] if isinstance(other, str) else list(other or ())
    if known is None:
        alias = _names_given(page, labels, given)
        factored = [alias.get(name, name) for name in page.known]
        if not factored and not page.single:
            raise ValueError("known must name the columns that were factored out, got None")
        hidden = hidden or [alias.get(name, name) for name in page.other]
        given = {**{alias.get(name, name): column for name, column in labels.items()}, **given}
    else:
        factored = [known] if isinstance(known, str) else list(known)
        if not factored:
            raise ValueError("known must name at least one of the columns, got an empty list")
    wanted = [("known", name) for name in factored]
    for argument, name in [*wanted, *(("other", name) for name in hidden)]:
        if name in labels and name not in given:
            given[name] = labels[name]
        if name not in given:
            what = f"{argument} must be one of the columns ({quoted(given)}), got {shown(name)}"
            raise ValueError(f"{what}{did_you_mean(name, given)}")
    return replace(page, known=factored, other=hidden), given


def _names_given(
    page: PageData, labels: Mapping[str, Column], given: Mapping[str, Any]
) -> dict[str, str]:
    # Measures have the names of several.
    ones = {names[0] for names in (page.known, page.other) if len(names) == 1}
    found = {}
    for own in labels.keys() & ones - given.keys():
        name = next((name for name in given if _is_same(labels[own], given[name])), None)
        if name is not None:
            found[own] = name
    return found


def _is_same(labels: Column, values: object) -> bool:
    try:
        other = encode_column(values)
    except (TypeError, ValueError):  # not labels
        return False
    return labels.names == other.names and np.array_equal(labels.codes, other.codes)


def _check_names(names: Any, n: int, there: str) -> None:
    """Refuse anything but a list with a name for each of ``n`` points, or None."""
    if isinstance(names, str | bytes) or not (names is None or hasattr(names, "__len__")):
        raise TypeError(f"names must be a list with one name per point, got {type(names).__name__}")
    if names is not None and len(names) != n:
        raise ValueError(f"names has {len(names)} entries but {there}")


def check_rows(neighbors: Any, n: int, name: object = "neighbors") -> NDArray[np.integer]:
    """Return the rows that are nearest to each of n rows, as many as a page shows."""
    rows = np.asarray(neighbors)
    if rows.ndim != 2 or len(rows) != n or not rows.shape[1] or rows.dtype.kind not in "iu":
        raise ValueError(f"{name} must be rows of shape ({n}, k), got {rows.dtype} {rows.shape}")
    if (low := rows.min()) < 0 or rows.max() >= n:
        raise ValueError(f"{name} must be rows from 0 to {n - 1}, got {low} to {rows.max()}")
    return rows[:, :NEIGHBORS]


def _by_name(values: Any, argument: str) -> dict[str, Any]:
    if values is None:
        return {}
    if not hasattr(values, "items"):  # a data frame has columns, but is not a mapping
        raise TypeError(f"{argument} must be a mapping from names, got {type(values).__name__}")
    named = dict(values.items())
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"names of {argument} must be text, got {shown(name)}")
    return named


def _with_commands(maps: Sequence[PageMap], commands: Any) -> list[PageMap]:
    if commands is None:
        return list(maps)
    if not isinstance(commands, list | tuple) or not all(isinstance(c, str) for c in commands):
        kind = type(commands).__name__
        raise TypeError(f"commands must be a list with one text per map, got {kind}")
    if len(commands) != len(maps):
        raise ValueError(f"commands has {len(commands)} entries but result has {len(maps)} maps")
    return [replace(made, command=text) for made, text in zip(maps, commands, strict=True)]


def _plain_provenance(provenance: object) -> dict[str, Any]:
    """Return the settings behind a page as JSON can hold them."""
    if provenance is not None and not isinstance(provenance, Mapping):
        raise TypeError(f"provenance must be a mapping, got {type(provenance).__name__}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(provenance or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"provenance must hold values that JSON can hold: {error}") from None
    return plain


def _constructor_call(estimator: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """Write the estimator of a map in Python, without defaults and unused parameters."""
    whole = {**estimator, **parameters}
    changed = {
        name: value
        for name, value in estimator.items()
        if name not in (*IRRELEVANT, *parameters)
        and plain_value(value) != plain_value(DEFAULTS[name])
        and is_used(name, whole)
    }
    arguments = (f"{name}={_typed(value)}" for name, value in {**parameters, **changed}.items())
    return f"ConditionalTSNE({', '.join(arguments)})"


def _typed(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = (f"{_typed(label)}: {_typed(number)}" for label, number in value.items())
        return f"{{{', '.join(pairs)}}}"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return f"<array of shape {np.shape(value)}>"  # a start or an alignment, too long to show
