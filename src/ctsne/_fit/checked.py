"""Parts of a model file, checked before anything is computed from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import LARGEST_VALUE, MOST_POINTS, check_choice, check_directions
from ctsne._core.messages import listed, shown
from ctsne._core.vocabulary import ALIGNMENTS, BANDWIDTHS, METRICS
from ctsne._fit.reference import Reference
from ctsne.labels import LabelColumns, Labels
from ctsne.layout.repulsion import check_dof
from ctsne.methods import METHODS

Arrays = dict[str, NDArray[Any]]
_FLOATS = (np.float32, np.float64)
# Perplexities for which weights may be stored.
_MOST_PERPLEXITIES = 100


def take_array(
    arrays: Arrays, name: str, dtypes: Any, shape: tuple[int | None, ...], *,
    infinite: bool = False,
) -> NDArray[Any]:  # fmt: skip
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


_SETTINGS = ("method", "bandwidth", "metric", "exaggeration", "scale", "far_distance", "n_columns",
             "projected", "alignment", "factor", "fields", "perplexities")  # fmt: skip


def checked_reference(
    arrays: Mapping[str, NDArray[Any]], settings: Any, *, d: int, dimensions: int,
    labels: Labels | LabelColumns | None, metric: str, n_jobs: int,
) -> Reference:  # fmt: skip
    """Return the reference of a file, with every array and setting checked against the others."""
    left = dict(arrays)
    check_names(as_mapping(settings), _SETTINGS, "the settings of its reference")
    check_choice(settings["method"], "method", tuple(METHODS))
    check_choice(settings["bandwidth"], "bandwidth", BANDWIDTHS)
    if check_choice(settings["metric"], "metric", METRICS) != metric:
        raise ValueError("its reference has another metric than its parameters")
    check_choice(settings["alignment"], "alignment", (*ALIGNMENTS, "array"))
    for name in ("exaggeration", "scale", "factor"):
        as_number(settings[name], name, positive=True)
    as_number(settings["far_distance"], "far_distance", low=0)
    if not isinstance(settings["projected"], bool):
        raise ValueError(f"projected must be true or false, got {shown(settings['projected'])}")
    embedding = take_array(left, "embedding", np.float32, (None, dimensions))
    n = as_count(len(embedding), "number of points", low=2)
    columns = (labels,) if isinstance(labels, Labels) else labels.columns if labels else ()
    count = as_count(settings["n_columns"], "n_columns", low=0, high=len(columns))
    if (settings["method"] == "tsne") != (count == 0):
        raise ValueError("its reference has label columns that its method does not use")
    sizes = [_check_column(left, number, n) for number in range(count)]
    width = None if metric == "precomputed" else _check_features(left, settings, n, d)
    _check_alignment(left, settings, n, sizes, width)
    _check_fields(left, as_mapping(settings["fields"]), embedding)
    for number, perplexity in enumerate(_perplexities(settings["perplexities"])):
        as_number(perplexity, "perplexity", low=1)
        for place, size in enumerate(sizes):
            take_array(left, f"weights_{number}_{place}", np.float64, (size,))
    unknown = [name for name in left if not name.startswith("index_")]
    if unknown or (left and metric == "precomputed"):
        raise ValueError(f"its reference has other arrays: {listed(unknown or left, most=3)}")
    reference = Reference.from_parts(arrays, settings, n_jobs=n_jobs)
    check_names(arrays, tuple(reference.arrays()), "the arrays of its reference")
    return reference


def _perplexities(values: Any) -> list[Any]:
    if not isinstance(values, list) or len(values) > _MOST_PERPLEXITIES:
        raise ValueError(f"its perplexities must be a short list, got {shown(values)}")
    return values


def _check_column(left: Arrays, number: int, n: int) -> int:
    """Check a label column of the reference, and return its number of labels."""
    name = f"column_{number}"
    counts = take_array(left, f"{name}_counts", np.int64, (None,))
    codes = take_array(left, f"{name}_codes", np.int32, (n,))
    check_codes(codes, len(counts))
    if not np.array_equal(np.bincount(codes[codes >= 0], minlength=len(counts)), counts):
        raise ValueError(f"its array {name}_counts does not count its codes")
    knob = take_array(left, f"{name}_knob", np.float64, (len(counts),))
    shares = [take_array(left, f"{name}_{part}", np.float64, (n,)) for part in ("share", "matched")]
    for part in (knob, *shares):
        if part.size and not (part.min() >= 0 and part.max() <= 1 + 1e-6):
            raise ValueError(f"its arrays of {name} must lie between 0 and 1")
    return len(counts)


def check_codes(codes: NDArray[np.int32], n_labels: int) -> None:
    """Refuse codes that are neither labels nor missing."""
    if codes.min() < -1 or codes.max() >= n_labels:
        raise ValueError("its labels have codes out of range")


def _check_features(left: Arrays, settings: Mapping[str, Any], n: int, d: int) -> int:
    """Check the features and how new ones are projected, and return their number."""
    features = take_array(left, "features", _FLOATS, (n, None))
    width = features.shape[1]
    if settings["projected"]:
        for name in ("origin", "mean"):
            take_array(left, f"projection_{name}", np.float64, (d,))
        take_array(left, "projection_axes", np.float64, (d, width))
    elif width != d:
        raise ValueError(f"its features have {width} columns instead of {d}")
    if settings["metric"] == "cosine":
        check_directions(features, argument="its array features")
    return width


def _check_alignment(
    left: Arrays, settings: Mapping[str, Any], n: int, sizes: list[int], width: int | None
) -> None:
    """Check shifts of labels, or aligned points."""
    named = settings["alignment"] != "none"
    if named and (width is None or not sizes):
        raise ValueError("its reference is aligned, but has no features or labels")
    if ("shifts" in left) + ("aligned" in left) != named:
        raise ValueError("its reference has shifts or aligned points if and only if aligned")
    if "shifts" in left:
        take_array(left, "shifts", _FLOATS, (sizes[0] if sizes else 0, width))
    if "aligned" in left:
        aligned = take_array(left, "aligned", _FLOATS, (n, None))
        if aligned.shape[1] == 0:
            raise ValueError("its aligned points have no columns")
        if settings["metric"] == "cosine":
            check_directions(aligned, argument="its array aligned")


def _check_fields(left: Arrays, settings: dict[str, Any], embedding: NDArray[np.float32]) -> None:
    """Check the potentials of the map: the mesh must cover it, and numbers must exist."""
    check_names(settings, ("nodes", "spacing", "dof"), "the settings of its fields")
    dimensions = embedding.shape[1]
    nodes = settings["nodes"]
    if not isinstance(nodes, list) or len(nodes) != dimensions:
        raise ValueError(f"its mesh must have {dimensions} numbers of nodes, got {shown(nodes)}")
    for each in nodes:
        as_count(each, "number of nodes", low=1)
    spacing = as_number(settings["spacing"], "spacing", positive=True)
    check_dof(settings["dof"])
    grids = take_array(left, "field_grids", np.float32, (None,) * (1 + dimensions))
    origin = take_array(left, "field_origin", np.float64, (dimensions,))
    take_array(left, "field_offset", np.float64, (len(grids),))
    if any(size < count for size, count in zip(grids.shape[1:], nodes, strict=True)):
        raise ValueError("its grids have fewer nodes than they declare")
    end = origin + spacing * np.array(nodes, np.float64)
    if not ((embedding >= origin) & (embedding <= end)).all():
        raise ValueError("its mesh does not cover the map")
    grid_of = take_array(left, "field_grid_of", np.int32, (None,))
    labels = len(grid_of)
    if not labels or grid_of.min() < 0 or grid_of.max() >= len(grids):
        raise ValueError("its array field_grid_of names a grid that does not exist")
    for name in ("share", "own"):
        take_array(left, f"field_{name}", np.float32, (labels,))
    ranges = take_array(left, "field_ranges", np.int64, (labels, 2))
    summed = take_array(left, "field_summed", np.float32, (dimensions, None))
    if not (ranges >= 0).all() or not (ranges[:, 0] <= ranges[:, 1]).all():
        raise ValueError("its array field_ranges holds ranges that end before they begin")
    if ranges.max() > summed.shape[1]:
        raise ValueError("its array field_ranges holds ranges past the end")
