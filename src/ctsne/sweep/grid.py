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

from ctsne.sweep.store import plain_value

__all__ = ["Grid", "GridPoint", "default_grid", "expand_grid", "weakest_first"]

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
_REFUSED = {
    "n_components": "maps of different dimensions cannot be compared",
    "metric": "neighbours are searched once for all settings",
    "n_jobs": "it does not change the map; give it to sweep itself",
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
        What differs from the estimator.
    line : int
        Settings of one line differ in their strength alone.
    seedless_line : int
        The same, but with all seeds on one line.
    steering : str or None
        The parameter that is varied along the line.
    """

    parameters: dict[str, Any]
    line: int
    seedless_line: int
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
    known = estimator.get_params()
    points: list[GridPoint] = []
    lines: dict[str, int] = {}
    for number, entry in enumerate([grid] if isinstance(grid, Mapping) else grid):
        values = _check_entry(entry, known)
        for combination in product(*values.values()):
            parameters = dict(zip(values, combination, strict=True))
            steering = _steering(parameters.get("method", known["method"]), values)
            rest = {name: value for name, value in parameters.items() if name != steering}
            line = lines.setdefault(_identity(number, "line", rest), len(lines))
            rest.pop("random_state", None)
            seedless = lines.setdefault(_identity(number, "seedless", rest), len(lines))
            points.append(GridPoint(parameters, line, seedless, steering))
    if not points:
        raise ValueError('grid holds no setting; give for example {"beta": [1, 0.1, 1e-2]}')
    return points


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


def _identity(number: int, kind: str, parameters: Mapping[str, Any]) -> str:
    plain = sorted((name, plain_value(value)) for name, value in parameters.items())
    return json.dumps([number, kind, plain])


def _check_entry(entry: Any, known: Mapping[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(entry, Mapping):
        raise TypeError(
            "grid must be a mapping of parameters to values, or a list of such mappings, got "
            f"{entry!r:.60}"
        )
    for name in entry:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"grid names {name!r}, which is no parameter of the estimator{hint}")
        if name in _REFUSED:
            raise ValueError(f"grid must not vary {name!r}: {_REFUSED[name]}")
    values = {name: _listed(value) for name, value in entry.items()}
    for name, listed in values.items():
        if not listed:
            raise ValueError(f"grid holds no value for {name!r}")
    return values


def _listed(value: Any) -> list[Any]:
    """Values of one parameter; a single one stands for itself, a matrix is a single start."""
    if isinstance(value, np.ndarray):
        return list(value.tolist()) if value.ndim == 1 else [value]
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _steering(method: object, values: Mapping[str, list[Any]]) -> str | None:
    """Return the parameter that is varied to change the strength."""
    own = STEERED_BY.get(str(method))
    varied = [name for name in (own, "beta_low") if name and len(values.get(name, ())) > 1]
    if varied:
        return varied[0]
    return own if own in values else None
