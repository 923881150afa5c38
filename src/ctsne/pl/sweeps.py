"""The maps and measures of a sweep, in the form that the pictures take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import unknown
from ctsne.sweep import Line, SweepResult, SweptMap


@dataclass(frozen=True, eq=False)
class SweptCurve:
    """A measure of settings that differ only in strength and seed.

    ``steering`` is the parameter that sets the strength, ``settings`` are its values, the weakest
    first, and ``values`` has shape (seeds, settings), NaN where there is no such map.
    """

    steering: str | None
    settings: list[Any]
    values: NDArray[np.float64]


def swept_maps(result: SweepResult) -> dict[str, NDArray[np.float32]]:
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


def swept_curves(result: SweepResult, measure: object) -> dict[str, SweptCurve]:
    """Return a measure along each line of a sweep; lines that differ in their seed are one."""
    known = list(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(unknown(measure, known, what="measure", where="the sweep"))
    groups: dict[str, list[Line]] = {}
    for line in result.lines():
        common = {name: line.parameters[name] for name in line.parameters if name != "random_state"}
        seedless = replace(line, parameters=common)
        groups.setdefault(f"{seedless.title}\0{line.steering}", []).append(seedless)
    curves: dict[str, SweptCurve] = {}
    for lines in groups.values():
        title = lines[0].title
        if title in curves:  # the same method with another parameter for its strength
            title += f", by {lines[0].steering}"
        curves[title] = _curve(lines, measure)
    return curves


def mean_of_seeds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    present = ~np.isnan(values)
    mean = np.full(values.shape[1], np.nan)
    total = np.where(present, values, 0).sum(axis=0)
    np.divide(total, present.sum(axis=0), out=mean, where=present.any(axis=0))
    return mean


def _curve(lines: list[Line], measure: str) -> SweptCurve:
    steering = lines[0].steering
    by_seed = [{_setting(swept, steering): swept.measures for swept in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for maps in by_seed for key in maps))
    if all(isinstance(key, Real) for key in settings):
        settings.sort(reverse=steering != "strength")
    values = [[maps.get(key, {}).get(measure, np.nan) for key in settings] for maps in by_seed]
    return SweptCurve(steering, settings, np.array(values, dtype=np.float64))


def _setting(swept: SweptMap, steering: str | None) -> Any:
    """Return the strength as a key: a number, or a text where each label has its own."""
    value = None if steering is None else swept.parameters[steering]
    return float(value) if isinstance(value, Real) else str(value)
