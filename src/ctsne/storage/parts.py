"""A reference as named arrays and settings, and back: what a model file holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_finite
from ctsne._core.components import Projection
from ctsne._core.vocabulary import ALIGNMENTS, METRICS
from ctsne.affinity.new_rows import FittedColumn
from ctsne.layout.fields import Fields, Places
from ctsne.layout.repulsion import check_dof
from ctsne.methods import METHODS
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.index import SearchIndex, check_array
from ctsne.placing.reference import Reference, aligned_points, stacked

_Arrays = Mapping[str, NDArray[Any]]

_OF_COLUMN = ("codes", "counts", "knob", "share", "matched")
_OF_PCA = ("origin", "mean", "axes")
_NUMBERS = ("exaggeration", "scale", "perplexity", "far_distance")


def reference_arrays(reference: Reference) -> dict[str, NDArray[Any]]:
    """Return all arrays of a reference by name."""
    made: dict[str, Any] = {
        "embedding": reference.embedding,
        "features": reference.features,
        "combined": reference.combined,
        "alpha": reference.alpha,
        "beta": reference.beta,
        "shifts": reference.alignment.shifts,
        "aligned": reference.alignment.points,
    }
    for number, column in enumerate(reference.columns):
        made |= {f"column_{number}_{name}": getattr(column, name) for name in _OF_COLUMN}
    if reference.projection is not None:
        made |= {f"projection_{name}": getattr(reference.projection, name) for name in _OF_PCA}
    made |= {f"field_{name}": each for name, each in reference.fields.arrays().items()}
    if reference.index is not None:
        made |= {f"index_{name}": each for name, each in reference.index.arrays().items()}
    # Weights for other perplexities are found again when they are needed.
    weights = reference.calibrated.get(reference.perplexity, [])
    made |= {f"weights_{c}": each for c, each in enumerate(weights)}
    return {name: np.ascontiguousarray(each) for name, each in made.items() if each is not None}


def reference_settings(reference: Reference) -> dict[str, Any]:
    """Return all of a reference that is not an array, as JSON can hold it."""
    return {
        "method": reference.method,
        "metric": reference.metric,
        "listed": reference.listed,
        "used": list(reference.used),
        "projected": reference.projection is not None,
        "alignment": reference.alignment.name,
        "factor": reference.alignment.factor,
        "fields": reference.fields.settings(),
        **{name: getattr(reference, name) for name in _NUMBERS},
    }


def reference_from_parts(
    arrays: _Arrays, settings: Mapping[str, Any], *, n_jobs: int = -1
) -> Reference:
    """Return the reference that its arrays and settings describe.

    Raises
    ------
    ValueError
        If they are not those of a reference.
    """
    try:
        return _read(arrays, settings, n_jobs)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"these are not the parts of a reference: {error!r}") from None


def _read(arrays: _Arrays, settings: Mapping[str, Any], n_jobs: int) -> Reference:
    _require(settings["method"] in METHODS and settings["metric"] in METRICS, "method or metric")
    for name in (*_NUMBERS, "factor"):
        _require(_is_number(settings[name]) and settings[name] >= 0, name)
    _require(settings["exaggeration"] > 0 and settings["scale"] > 0, "scale")
    embedding = _array(arrays, "embedding", np.float32, (None, None))
    n, dims = embedding.shape
    _require(n >= 2 and 1 <= dims <= 3, "embedding")
    columns = tuple(_column(arrays, number, n) for number in range(len(settings["used"])))
    listed = METHODS[settings["method"]].two_lists and bool(columns)
    _require(settings["listed"] is listed, "lists")
    combined = _combined(arrays, columns, n)
    alignment = _alignment(arrays, settings, n, int(combined.max(initial=-1)) + 1)
    features = index = projection = None
    if settings["metric"] != "precomputed":
        features = _floats(arrays, "features", (n, None))
        codes = stacked(columns if listed else (), n)
        _require(alignment.shifts is None or alignment.shifts.shape[1] == features.shape[1])
        index = SearchIndex.from_arrays(
            features,
            codes,
            _named(arrays, "index_"),
            metric=settings["metric"],
            n_jobs=n_jobs,
            aligned=aligned_points(features, combined, alignment, settings["metric"]),
        )
        if settings["projected"]:
            axes = _array(arrays, "projection_axes", np.float64, (None, features.shape[1]))
            origin, mean = (
                _array(arrays, f"projection_{name}", np.float64, (len(axes),))
                for name in ("origin", "mean")
            )
            projection = Projection(origin, mean, axes)
    several = len(columns) if "alpha" in arrays and len(arrays["alpha"]) else 0
    weights = [
        _array(arrays, f"weights_{c}", np.float64, column.counts.shape)
        for c, column in enumerate(columns)
        if f"weights_{c}" in arrays
    ]
    _require(len(weights) in (0, len(columns)) and settings["perplexity"] >= 1, "weights")
    reference = Reference(
        embedding=embedding,
        features=features,
        columns=columns,
        combined=combined,
        used=tuple(int(place) for place in settings["used"]),
        listed=listed,
        alpha=_array(arrays, "alpha", np.float64, (several,)),
        beta=_array(arrays, "beta", np.float64, (several,)),
        projection=projection,
        alignment=alignment,
        fields=_fields(arrays, settings["fields"], dims),
        index=index,
        method=str(settings["method"]),
        metric=str(settings["metric"]),
        calibrated={float(settings["perplexity"]): weights} if weights else {},
        **{name: float(settings[name]) for name in _NUMBERS},
    )
    known = len(reference.fields.grid_of) - 1
    _require(known in (0, int(combined.max(initial=-1)) + 1), "fields")
    _require(not reference.maker(1).calibrated or bool(reference.calibrated), "weights")
    Places(embedding, reference.fields, exaggeration=reference.exaggeration)  # checks the mesh
    return reference


def _column(arrays: _Arrays, number: int, n: int) -> FittedColumn:
    codes = _array(arrays, f"column_{number}_codes", np.int32, (n,))
    counts = _array(arrays, f"column_{number}_counts", np.int64, (None,))
    _require(codes.min() >= -1 and codes.max() < len(counts), "labels")
    found = np.bincount(codes[codes >= 0], minlength=len(counts))
    _require(np.array_equal(found, counts) and bool((counts > 0).all()), "counts of labels")
    knob = _array(arrays, f"column_{number}_knob", np.float64, counts.shape)
    share, matched = (
        _array(arrays, f"column_{number}_{name}", np.float64, (n,)) for name in ("share", "matched")
    )
    for values in (knob, share, matched):
        _require(bool((values >= 0).all() and (values <= 1 + 1e-6).all()), "shares")
    return FittedColumn(codes, counts, knob, share, matched)


def _combined(arrays: _Arrays, columns: tuple[FittedColumn, ...], n: int) -> NDArray[np.int32]:
    combined = _array(arrays, "combined", np.int32, (n,))
    labels = stacked(columns, n)
    values, first, place = np.unique(combined, return_index=True, return_inverse=True)
    wanted = np.arange(-1, len(values) - 1) if (combined < 0).any() else np.arange(len(values))
    _require(np.array_equal(values, wanted), "combinations of labels")
    _require(np.array_equal(labels[first][place.reshape(-1)], labels), "combinations of labels")
    _require(np.array_equal(combined < 0, (labels < 0).all(axis=1)), "combinations of labels")
    return combined


def _alignment(arrays: _Arrays, settings: Mapping[str, Any], n: int, n_labels: int) -> Alignment:
    name = settings["alignment"]
    _require(name in (*ALIGNMENTS, "array"), "alignment")
    points = shifts = None
    if name in ("mutual", "mean"):
        shifts = _array(arrays, "shifts", np.float64, (n_labels, None))
    elif name != "none":
        points = _floats(arrays, "aligned", (n, None))
    return Alignment(str(name), points, shifts=shifts, factor=float(settings["factor"]))


def _fields(arrays: _Arrays, settings: Mapping[str, Any], dims: int) -> Fields:
    given = _named(arrays, "field_")
    grids = _array(given, "grids", np.float32, (None,) * (dims + 1))
    offset = _array(given, "offset", np.float64, (len(grids),))
    origin = _array(given, "origin", np.float64, (dims,))
    grid_of = _array(given, "grid_of", np.int32, (None,))
    share, own = (_array(given, name, np.float32, grid_of.shape) for name in ("share", "own"))
    ranges = _array(given, "ranges", np.int64, (len(grid_of), 2))
    summed = _array(given, "summed", np.float32, (dims, None))
    _require(len(grid_of) > 0 and grid_of.min() >= 0 and grid_of.max() < len(grids), "fields")
    inside = (ranges >= 0).all() and (ranges <= summed.shape[1]).all()
    _require(bool(inside and (ranges[:, 0] <= ranges[:, 1]).all()), "fields")
    spacing, usual = settings["spacing"], settings["usual"]
    _require(all(_is_number(each) and each > 0 for each in (spacing, usual)), "fields")
    return Fields(
        grids=grids,
        offset=offset,
        origin=origin,
        grid_of=grid_of,
        share=share,
        own=own,
        ranges=ranges,
        summed=summed,
        nodes=tuple(int(count) for count in settings["nodes"]),
        spacing=float(spacing),
        dof=check_dof(settings["dof"]),
        usual=float(usual),
    )


def _array(arrays: _Arrays, name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    try:
        array = check_array(arrays, name, dtype, shape)
    except ValueError:
        raise ValueError(f"{name} is missing, or has another type or shape") from None
    if np.dtype(dtype).kind == "f":
        check_finite(array, argument=name)
    return array


def _floats(arrays: _Arrays, name: str, shape: tuple[int | None, ...]) -> NDArray[np.floating]:
    dtype = np.float32 if arrays[name].dtype == np.float32 else np.float64
    return _array(arrays, name, dtype, shape)


def _named(arrays: _Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): each for name, each in arrays.items() if name.startswith(prefix)
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require(holds: bool, what: str = "alignment") -> None:
    if not holds:
        raise ValueError(f"these are not the parts of a reference: {what} cannot be used")
