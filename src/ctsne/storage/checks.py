"""Parts of a model file, checked before anything is computed from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import LARGEST_VALUE, MOST_POINTS, check_directions
from ctsne._core.messages import listed, shown
from ctsne.labels import Column, Labels
from ctsne.placing.reference import Reference
from ctsne.storage.parts import reference_arrays, reference_from_parts, reference_settings

Arrays = dict[str, NDArray[Any]]


def take_array(
    arrays: Arrays,
    name: str,
    dtypes: Any,
    shape: tuple[int | None, ...],
    *,
    infinite: bool = False,
) -> NDArray[Any]:
    """Take an array out; refuse a missing one, another type or shape, and values not finite."""
    if name not in arrays:
        raise ValueError(f"its array {name} is missing")
    array = arrays.pop(name)
    kinds = dtypes if isinstance(dtypes, tuple) else (dtypes,)
    fits = array.ndim == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype not in [np.dtype(kind) for kind in kinds]:
        raise ValueError(f"its array {name} is {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "f" and array.size:
        low, high = float(array.min()), float(array.max())
        most = np.inf if infinite else LARGEST_VALUE
        if not -LARGEST_VALUE <= low <= high <= most:  # false for NaN too
            raise ValueError(f"its array {name} has values that are not finite, or too large")
    return array


def check_names(found: Mapping[str, Any], wanted: tuple[str, ...], what: str) -> None:
    """Refuse names that are missing, and others."""
    if set(found) != set(wanted):
        different = sorted(set(found) ^ set(wanted))
        raise ValueError(f"{what} are not those of a model: {listed(different, most=3)}")


def as_mapping(value: Any) -> dict[str, Any]:
    """Return names with values; refuse anything else."""
    if not isinstance(value, dict):
        raise ValueError(f"it has {shown(value)} instead of names with values")
    return value


def as_number(value: Any, what: str, *, low: float = -math.inf, positive: bool = False) -> float:
    """Return a finite number; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"its {what} must be a number, got {shown(value)}")
    if not low <= value <= LARGEST_VALUE or (positive and value <= 0):
        raise ValueError(f"its {what} is out of range: {shown(value)}")
    return float(value)


def as_count(value: Any, what: str, *, low: int, high: int = MOST_POINTS) -> int:
    """Return a whole number in a range; refuse anything else."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"its {what} must be a whole number of at least {low}, got {shown(value)}")
    return value


def checked_reference(
    arrays: Mapping[str, NDArray[Any]],
    settings: Any,
    *,
    d: int,
    dimensions: int,
    labels: Column | Labels | None,
    metric: str,
    n_jobs: int,
) -> Reference:
    """Return the reference of a file, which must fit the other parts of the model."""
    reference = reference_from_parts(arrays, as_mapping(settings), n_jobs=n_jobs)
    check_names(arrays, tuple(reference_arrays(reference)), "the arrays of its reference")
    if reference_settings(reference) != settings:
        raise ValueError("the settings of its reference are not those of a model")
    if reference.metric != metric or reference.embedding.shape[1] != dimensions:
        raise ValueError("its reference has another metric or map than its parameters")
    features = reference.features
    width = reference.n_points if features is None else features.shape[1]
    if reference.projection is not None:
        width = len(reference.projection.axes)
    if width != d:
        raise ValueError(f"its reference has {width} features instead of {d}")
    if metric == "cosine":
        check_directions(features, argument="its array features")
    columns = (labels,) if isinstance(labels, Column) else labels.columns if labels else ()
    for place, column in zip(reference.used, reference.columns, strict=True):
        same = 0 <= place < len(columns) and np.array_equal(columns[place].codes, column.codes)
        if not same:
            raise ValueError("its reference has other labels than the map")
    return reference


def check_codes(codes: NDArray[np.int32], n_labels: int) -> None:
    """Refuse codes that are neither labels nor missing."""
    if codes.min() < -1 or codes.max() >= n_labels:
        raise ValueError("its labels have codes out of range")
