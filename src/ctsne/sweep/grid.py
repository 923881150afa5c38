"""The settings of a sweep, and their order of strength."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from ctsne._core.arrays import content_checksum
from ctsne._core.checks import check_choice
from ctsne._core.messages import did_you_mean, shown
from ctsne._core.vocabulary import NO_EFFECT
from ctsne.methods import METHODS, SWEPT_METHODS, is_used, swept_grid, users_of
from ctsne.settings import knob_value

Grid = Mapping[str, Any] | Iterable[Mapping[str, Any]]

# Parameters that do not change a map of a sweep.
IRRELEVANT = (*NO_EFFECT, "mixing")
_NO_GRID = "grid must map parameters to values, or be a list of such mappings, got {}"
_REFUSED = {
    "n_components": "maps of different dimensions cannot be compared",
    "metric": "neighbours are searched once for all settings",
    **dict.fromkeys(NO_EFFECT, "it does not change the map"),
    "n_jobs": "it does not change the map; pass it to sweep itself",
    "mixing": "a sweep has its own settings; pass a mixing to suggest()",
}


@dataclass(frozen=True)
class GridPoint:
    """One setting: the parameters that the grid names and the method uses."""

    parameters: dict[str, Any]
    line: str  # the same for settings that differ only in their strength
    seedless_line: str  # the same for settings that differ only in their strength and their seed
    knob: str | None  # the parameter that varies along the line


def default_grid() -> list[dict[str, Any]]:
    """Return the settings of a sweep without a grid: t-SNE, the default method and the paper's."""
    return swept_grid("tsne", *SWEPT_METHODS, short=True)


def expand_grid(grid: Grid, given: Mapping[str, Any]) -> list[GridPoint]:
    """List every combination of the grids, which override the given parameters."""
    entries = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(entries, Iterable):
        raise TypeError(_NO_GRID.format(shown(grid)))
    points: dict[str, GridPoint] = {}
    for entry in entries:
        values = _check_entry(entry, given)
        idle = [name for name in values if users_of(name)]
        for combination in product(*values.values()):
            named = dict(zip(values, combination, strict=True))
            whole = {**given, **named}
            check_choice(whole["method"], "method", tuple(METHODS))
            used = {name: value for name, value in whole.items() if is_used(name, whole)}
            idle = [name for name in idle if name not in used]
            knob = _varied_knob(whole, values)
            rest = {name: value for name, value in used.items() if name != knob}
            seedless = {name: value for name, value in rest.items() if name != "random_state"}
            kept = {name: value for name, value in named.items() if name in used}
            point = GridPoint(kept, identity(rest), identity(seedless), knob)
            points.setdefault(identity(_effective(used)), point)  # each map only once
        for name in idle:
            example = f'{{"method": "{users_of(name)[0]}", "{name}": ...}}'
            what = f"grid names {name!r}, which the method ignores; name one that uses it"
            raise ValueError(f"{what}, for example {example}")
    if not points:
        raise ValueError('grid has no settings; pass for example {"strength": [0, 0.5, 1]}')
    return list(points.values())


def _effective(used: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a map depends on, so that none is made twice."""
    effective = dict(used)
    method = METHODS[used["method"]]
    if method.knob is None or method.knob not in used:
        return effective
    effective[method.knob] = knob_value(used)
    if effective[method.knob] == 1 and method.knob == "beta":  # all weights are 1
        effective.pop("bandwidth", None)
        if not method.splits_neighbors:
            effective["method"] = "tsne"
            del effective["beta"]
    return effective


def weakest_first(points: Sequence[GridPoint], indices: Iterable[int]) -> list[int]:
    """Order the settings of a line by strength; strengths per label keep their order."""
    chosen = list(indices)
    knob = points[chosen[0]].knob or ""
    values = [points[index].parameters.get(knob) for index in chosen]
    if not all(isinstance(value, Real) for value in values):
        return chosen
    sign = 1 if knob in ("strength", "odds") else -1
    order = np.argsort(sign * np.array(values, np.float64), kind="stable")
    return [chosen[place] for place in order]


def grouped_lines(points: Sequence[GridPoint], *, seedless: bool = False) -> list[list[int]]:
    """Return the positions of the settings on each line, the weakest first."""
    lines: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        lines.setdefault(point.seedless_line if seedless else point.line, []).append(index)
    return [weakest_first(points, line) for line in lines.values()]


def plain_value(value: Any) -> Any:
    """Return a parameter's value as JSON can hold it; arrays become a checksum."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        return float(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return sorted([str(key), plain_value(number)] for key, number in value.items())
    return content_checksum(np.asarray(value))


def identity(parameters: Mapping[str, Any]) -> str:
    """Return the parameters that change the map as text."""
    relevant = sorted(set(parameters) - set(IRRELEVANT))
    return json.dumps([(name, plain_value(parameters[name])) for name in relevant])


def _check_entry(entry: Any, known: Mapping[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(entry, Mapping):
        raise TypeError(_NO_GRID.format(shown(entry)))
    values = {}
    for name, value in entry.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"grid names {shown(name)}, not a parameter of the estimator{hint}")
        if name in _REFUSED:
            raise ValueError(f"grid must not vary {name!r}: {_REFUSED[name]}")
        values[name] = _listed(name, value)
        if not values[name]:
            raise ValueError(f"grid has no value for {name!r}")
    return values


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, Mapping) and any(isinstance(x, list | tuple) for x in value.values()):
        return column_products(name, value)
    if name in ("init", "align") and _is_matrix(value):
        return [value]
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return [value]
    return list(value.tolist()) if isinstance(value, np.ndarray) else list(value)


def column_products(name: str, values: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """Return all combinations of values listed per label column, the weakest first."""
    lists = [x if isinstance(x, list | tuple) else [x] for x in values.values()]
    combined = [dict(zip(values, chosen, strict=True)) for chosen in product(*lists)]
    if not all(isinstance(x, int | float) and x >= 0 for listed in lists for x in listed):
        return combined  # the estimator refuses these
    if name in ("strength", "odds"):
        return sorted(combined, key=lambda chosen: sum(chosen.values()))
    return sorted(combined, key=lambda chosen: -math.prod(chosen.values()))


def _is_matrix(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(not isinstance(row, str) and np.ndim(row) == 1 for row in value)
    return getattr(value, "ndim", 0) == 2


def _varied_knob(whole: Mapping[str, Any], values: Mapping[str, list[Any]]) -> str | None:
    own = METHODS[whole["method"]].knob
    names = [name for name in (own, "odds", "beta_low") if name in values]
    candidates = [name for name in names if name is not None and is_used(name, whole)]
    varied = [name for name in candidates if len(values[name]) > 1]
    return next(iter(varied or candidates), None)
