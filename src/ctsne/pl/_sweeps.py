"""The maps and measures of a sweep, in the form that the charts take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import unknown
from ctsne.sweep import Line, SweepResult, SweptMap

__all__ = ["SweptCurve", "measure_text", "swept_curves", "swept_maps"]

_WORDS = {
    "rnx": "R_NX",
    "adjusted_rnx": "adjusted R_NX",
    "adjusted_jaccard": "adjusted Jaccard",
    "laplacian": "Laplacian score",
    "ilisi": "LISI",
    "other_laplacian": "Laplacian score of the other label",
    "other_clisi": "LISI of the other label",
    "other_knn_accuracy": "accuracy of the other label's neighbours",
    "kl_divergence": "KL divergence",
    "n_iter": "iterations",
}


@dataclass(frozen=True, eq=False)
class SweptCurve:
    """Settings of a sweep that differ in their strength and seed alone.

    Attributes
    ----------
    steering : str or None
        The parameter that sets the strength.
    settings : list
        Its values, the weakest first.
    values : ndarray of shape (seeds, settings)
        The measure; NaN where there is no such map.
    """

    steering: str | None
    settings: list[Any]
    values: NDArray[np.float64]

    def mean(self) -> NDArray[np.float64]:
        """Return the measure at each setting, over all seeds that have one."""
        present = ~np.isnan(self.values)
        total = np.where(present, self.values, 0).sum(axis=0)
        mean = np.full(len(self.settings), np.nan)
        np.divide(total, present.sum(axis=0), out=mean, where=present.any(axis=0))
        return mean


def swept_maps(result: SweepResult) -> dict[str, NDArray[np.float32]]:
    """Return the finished maps by their titles."""
    maps: dict[str, NDArray[np.float32]] = {}
    for swept in result.maps:
        if swept.embedding is not None:
            # Two starts that are arrays have one title.
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
        if title in curves:  # the same method, steered by another parameter
            title += f", by {lines[0].steering}"
        curves[title] = _curve(lines, measure)
    return curves


def measure_text(name: str) -> str:
    """Return what an axis shows, in words."""
    return _WORDS.get(name, name.replace("_", " "))


def _curve(lines: list[Line], measure: str) -> SweptCurve:
    steering = lines[0].steering
    by_seed = [{_setting(swept, steering): swept for swept in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for maps in by_seed for key in maps))
    if all(isinstance(key, Real) for key in settings):
        settings.sort(reverse=steering != "strength")
    nothing: Mapping[str, float] = {}
    values = [
        [(maps[key].measures if key in maps else nothing).get(measure, np.nan) for key in settings]
        for maps in by_seed
    ]
    return SweptCurve(steering, settings, np.array(values, dtype=np.float64))


def _setting(swept: SweptMap, steering: str | None) -> Any:
    """Return the strength as a key: a number, or the text of one for each label."""
    value = None if steering is None else swept.parameters[steering]
    return float(value) if isinstance(value, Real) else str(value)
