"""Which settings a sweep goes through, and in which order of strength."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from ctsne.sweep.store import IRRELEVANT, plain_value

__all__ = ["Grid", "GridPoint", "default_grid", "expand_grid", "is_used", "weakest_first"]

Grid = Mapping[str, Any] | Iterable[Mapping[str, Any]]

# What sets the strength of each method, apart from ``beta_low``, which goes with any.
STEERED_BY = {"revised": "beta", "original": "beta", "balanced": "strength", "joint": "strength"}
# From nothing to all there is. Large steps in beta change little at the far end; there it matters
# for data whose labels lie far apart only.
BETAS = (
    1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-13, 1e-16, 1e-20, 1e-30,
)  # fmt: skip
ORIGINAL_BETAS = (1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.06, 0.03, 1e-2, 1e-3, 1e-4, 1e-8)
STRENGTHS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
_DEFAULTS: dict[str, tuple[float, ...]] = {
    "revised": BETAS,
    "original": ORIGINAL_BETAS,
    "balanced": STRENGTHS,
    "joint": STRENGTHS,
}
# Parameters that only some methods look at.
USED_BY = {
    "beta": ("original", "revised"),
    "bandwidth": ("revised",),
    "strength": ("balanced", "joint"),
}
_NO_GRID = (
    "grid must be a mapping of parameters to values, or a list of such mappings, got {!r:.60}"
)
_REFUSED = {
    "n_components": "maps of different dimensions cannot be compared",
    "metric": "neighbours are searched once for all settings",
    "n_jobs": "it does not change the map; give it to sweep itself",
    "mixing": "it does not change the map; give it to best()",
    "verbose": "it does not change the map",
    "callback": "it does not change the map",
    "callback_every": "it does not change the map",
}


@dataclass(frozen=True)
class GridPoint:
    """One setting.

    Attributes
    ----------
    parameters : dict
        What differs from the estimator, as far as the method makes use of it.
    line : str
        Settings of one line differ in their strength alone.
    seedless_line : str
        The same, but with all seeds on one line.
    steering : str or None
        The parameter that is varied along the line.
    """

    parameters: dict[str, Any]
    line: str
    seedless_line: str
    steering: str | None


def default_grid(method: str) -> dict[str, Any]:
    """All strengths of a method."""
    steering = STEERED_BY.get(method)
    return {} if steering is None else {steering: _DEFAULTS[method]}


def expand_grid(grid: Grid, estimator: Any) -> list[GridPoint]:
    """List every combination of a grid, or of each of several ones.

    Raises
    ------
    TypeError, ValueError
        For what is no grid of the estimator's parameters.
    """
    given = estimator.get_params(deep=False)
    entries = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(entries, Iterable):
        raise TypeError(_NO_GRID.format(grid))
    points: dict[str, GridPoint] = {}
    for entry in entries:
        values = _check_entry(entry, given)
        idle = dict.fromkeys(name for name in values if name in USED_BY)
        for combination in product(*values.values()):
            named = dict(zip(values, combination, strict=True))
            whole = {**given, **named}
            used = {name: value for name, value in whole.items() if is_used(name, whole)}
            _check_no_auto(used)
            for name in set(idle) & set(used):
                del idle[name]
            steering = _steering(whole, values)
            rest = {name: value for name, value in used.items() if name != steering}
            line = _identity(rest)
            rest.pop("random_state")
            point = GridPoint(
                {name: value for name, value in named.items() if name in used},
                line,
                _identity(rest),
                steering,
            )
            points.setdefault(_identity(used), point)  # what gives the same map is made once
        for name in idle:
            raise ValueError(
                f"grid names {name!r}, of which the method makes no use; name one that does, for "
                f'example {{"method": "{USED_BY[name][-1]}", "{name}": ...}}'
            )
    if not points:
        raise ValueError('grid holds no setting; give for example {"beta": [1, 0.1, 1e-2]}')
    return list(points.values())


def is_used(name: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a parameter has any say, given all of them."""
    method = parameters["method"]
    if name == "beta" and method == "original" and parameters["beta_low"] is not None:
        return False
    return method in USED_BY.get(name, (method,))


def weakest_first(points: list[GridPoint], indices: Iterable[int]) -> list[int]:
    """Order the settings of a line by strength; strengths per label stay in the order given."""
    chosen = list(indices)
    steering = points[chosen[0]].steering
    if steering is None:
        return chosen
    values = [points[index].parameters.get(steering) for index in chosen]
    numbers = [float(value) for value in values if isinstance(value, Real)]
    if len(numbers) < len(values):
        return chosen
    sign = 1 if steering == "strength" else -1
    order = np.argsort(sign * np.array(numbers), kind="stable")
    return [chosen[place] for place in order]


def _identity(parameters: Mapping[str, Any]) -> str:
    plain = [
        (name, plain_value(value)) for name, value in parameters.items() if name not in IRRELEVANT
    ]
    return json.dumps(sorted(plain))


def _check_no_auto(used: Mapping[str, Any]) -> None:
    for name in ("beta", "strength"):
        if isinstance(used.get(name), str) and used[name] == "auto":
            raise ValueError(
                f'a sweep needs the values of {name}, not "auto": name them in the grid, for '
                f"example {{{name!r}: {list(_DEFAULTS[used['method']][:4])}}}"
            )


def _check_entry(entry: Any, known: Mapping[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(entry, Mapping):
        raise TypeError(_NO_GRID.format(entry))
    for name in entry:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"grid names {name!r}, which is no parameter of the estimator{hint}")
        if name in _REFUSED:
            raise ValueError(f"grid must not vary {name!r}: {_REFUSED[name]}")
    values = {name: _listed(name, value) for name, value in entry.items()}
    for name, listed in values.items():
        if not listed:
            raise ValueError(f"grid holds no value for {name!r}")
    return values


def _listed(name: str, value: Any) -> list[Any]:
    """Values of one parameter; a single one stands for itself."""
    if name == "init" and _is_start(value):
        return [value]
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return [value]
    return list(value.tolist()) if isinstance(value, np.ndarray) else list(value)


def _is_start(value: Any) -> bool:
    """Tell a matrix of positions, or a list of their rows, from a list of starts."""
    if isinstance(value, list | tuple):
        return all(not isinstance(row, str) and np.ndim(row) == 1 for row in value)
    return getattr(value, "ndim", 0) == 2


def _steering(whole: Mapping[str, Any], values: Mapping[str, list[Any]]) -> str | None:
    """Return the parameter that is varied to change the strength."""
    own = STEERED_BY.get(str(whole["method"]), "beta_low")
    candidates = [name for name in (own, "beta_low") if name in values and is_used(name, whole)]
    varied = [name for name in candidates if len(values[name]) > 1]
    return next(iter(varied or candidates), None)
