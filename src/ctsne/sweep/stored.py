"""Checks of sweeps that are read from files, which may be damaged or made by someone else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import CHOSEN_BY
from ctsne._fit.settings import DEFAULTS
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.methods import METHODS
from ctsne.sweep.grid import GridPoint
from ctsne.sweep.result import SweptMap

_MOST_DIMENSIONS = 3
# Every map has these; the other diagnostics are missing where the method ignores labels.
_ALWAYS = ("perplexity", "largest_weight")


def check_positions(embedding: Any, diagnostics: Mapping[str, NDArray[Any]]) -> None:
    """Refuse a map that is not finite, or whose diagnostics are not those of its points."""
    _require(embedding.ndim == 2 and 1 <= embedding.shape[1] <= _MOST_DIMENSIONS, "shape")
    _require(embedding.dtype == np.float32 and np.isfinite(embedding).all(), "positions")
    _require(set(_ALWAYS) <= set(diagnostics) <= set(KEPT_DIAGNOSTICS), "names of diagnostics")
    for name, values in diagnostics.items():
        fits = values.shape == embedding.shape[:1] and values.dtype == np.float32
        _require(fits and (name not in _ALWAYS or np.isfinite(values).all()), name)


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse measures and other facts about a map that are not of their type."""
    _require(_are_numbers(facts["measures"]), "measures")
    _require(_are_numbers(facts["alignment_scores"]), "alignment scores")
    _require(isinstance(facts["alignment"], str) and _is_number(facts["seconds"]), "facts")


def check_sweep(
    maps: Sequence[SweptMap], points: Sequence[GridPoint], estimator: Mapping[str, Any],
    sampled_from: Any,
) -> None:  # fmt: skip
    """Refuse a sweep whose maps do not belong together."""
    _require(set(estimator) == set(DEFAULTS), "parameters of the estimator")
    for parameters in (estimator, *(swept.parameters for swept in maps)):
        _require(set(parameters) <= set(DEFAULTS), "names of parameters")
        _require(all(map(_is_value, parameters.values())), "values of parameters")
        _require(parameters.get("method", estimator["method"]) in METHODS, "method")
    for point in points:
        steering = point.steering
        _require(steering is None or steering in point.parameters, "steering parameter")
        _require(isinstance(point.line, str) and isinstance(point.seedless_line, str), "lines")
    finished = [swept for swept in maps if swept.error is None]
    _require(all(isinstance(each.error, str | None) for each in maps), "errors")
    shapes = {each.embedding.shape for each in finished if each.embedding is not None}
    _require(len(shapes) <= 1, "shapes of the maps")
    _require(all("mixing" in each.measures for each in finished), "measures")
    chosen_by = {tuple(name for name in CHOSEN_BY if name in each.measures) for each in finished}
    _require(len(chosen_by) <= 1, "measures")
    whole = isinstance(sampled_from, int) and not isinstance(sampled_from, bool)
    n = max((shape[0] for shape in shapes), default=0)
    _require(sampled_from is None or (whole and sampled_from >= n), "number of points")


def _require(fits: object, what: str) -> None:
    if not fits:
        raise ValueError(f"invalid {what}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_numbers(values: object) -> bool:
    return isinstance(values, dict) and all(map(_is_number, values.values()))


def _is_value(value: object) -> bool:
    """Return whether a parameter can have this value: one for all labels, or one for each."""
    if isinstance(value, dict):
        return all(map(_is_number, value.values()))
    return value is None or isinstance(value, str | int | float | np.ndarray)
