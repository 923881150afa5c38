"""Checks of sweeps that are read from files, which may be damaged or made by someone else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import chosen_by
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.methods import METHODS
from ctsne.settings import DEFAULTS
from ctsne.sweep.grid import GridPoint
from ctsne.sweep.result import SweptMap

_MOST_DIMENSIONS = 3
# Every map has these; the other diagnostics are missing where the method ignores labels.
_ALWAYS = ("perplexity", "largest_weight")


def check_positions(embedding: Any, diagnostics: Mapping[str, NDArray[Any]]) -> None:
    """Refuse a map that is not finite, or whose diagnostics are not those of its points."""
    flat = embedding.ndim == 2 and 1 <= embedding.shape[1] <= _MOST_DIMENSIONS
    require(flat, "map", f"have the shape (points, 1 to {_MOST_DIMENSIONS})")
    finite = embedding.dtype == np.float32 and np.isfinite(embedding).all()
    require(finite, "positions", "be finite numbers in single precision")
    named = set(_ALWAYS) <= set(diagnostics) <= set(KEPT_DIAGNOSTICS)
    require(named, "names of diagnostics", f"include {' and '.join(_ALWAYS)}, and no unknown ones")
    for name, values in diagnostics.items():
        fits = values.shape == embedding.shape[:1] and values.dtype == np.float32
        finite = name not in _ALWAYS or np.isfinite(values).all()
        require(fits and finite, name, "be one number in single precision for each point")


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse measures and other facts about a map that are not of their type."""
    require(_are_numbers(facts["measures"]), "measures", "be numbers by name")
    require(_are_numbers(facts["alignment_scores"]), "alignment scores", "be numbers by name")
    require(isinstance(facts["alignment"], str), "alignment", "be text")
    require(_is_number(facts["seconds"]), "seconds", "be a number")


def check_sweep(
    maps: Sequence[SweptMap],
    points: Sequence[GridPoint],
    estimator: Mapping[str, Any],
    sampled_from: Any,
) -> None:
    """Refuse a sweep whose maps do not belong together."""
    known = set(DEFAULTS)
    require(set(estimator) == known, "parameters of the estimator", "be those of this version")
    for parameters in (estimator, *(swept.parameters for swept in maps)):
        require(set(parameters) <= known, "names of parameters", "be those of the estimator")
        valid = all(map(_is_value, parameters.values()))
        require(valid, "values of parameters", "be numbers, text, arrays, or numbers by name")
        method = parameters.get("method", estimator["method"])
        require(method in METHODS, "method", f"be one of {', '.join(METHODS)}")
    for point in points:
        steering = point.steering
        named = steering is None or steering in point.parameters
        require(named, "steering parameter", "be one of the parameters of its map")
        texts = isinstance(point.line, str) and isinstance(point.seedless_line, str)
        require(texts, "lines", "be text")
    finished = [swept for swept in maps if swept.error is None]
    texts = all(isinstance(each.error, str | None) for each in maps)
    require(texts, "errors", "be text")
    shapes = {each.embedding.shape for each in finished if each.embedding is not None}
    require(len(shapes) <= 1, "maps", "have the same shape")
    measured = [tuple(chosen_by(each.measures)) for each in finished]
    mixed = all("mixing" in each.measures for each in finished)
    require(mixed and len(set(measured)) <= 1, "measures", "be the same for all maps")
    whole = isinstance(sampled_from, int) and not isinstance(sampled_from, bool)
    n = max((shape[0] for shape in shapes), default=0)
    enough = sampled_from is None or (whole and sampled_from >= n)
    require(enough, "number of points", f"be a whole number, at least the {n} of a map")


def require(fits: object, what: str, wanted: str) -> None:
    """Refuse a sweep one of whose parts does not fit."""
    if not fits:
        raise ValueError(f"its {what} must {wanted}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_numbers(values: object) -> bool:
    return isinstance(values, dict) and all(map(_is_number, values.values()))


def _is_value(value: object) -> bool:
    """Return whether a parameter can have this value: one for all, or one per label or column."""
    if isinstance(value, dict):
        return all(map(_is_number, value.values()))
    return value is None or isinstance(value, str | int | float | np.ndarray)
