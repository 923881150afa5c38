"""Model files: a fitted model as plain data and back; files from outside are checked in full."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import check_directions, check_jobs, check_path
from ctsne._core.components import Projection
from ctsne._core.files import reading
from ctsne._core.vocabulary import ALIGNMENTS, METRICS
from ctsne.affinity.new_rows import FittedColumn
from ctsne.affinity.result import Diagnostics
from ctsne.io.paths import MODEL_SUFFIX, check_input, check_output
from ctsne.labels import Column, encode_labels
from ctsne.layout.fields import Fields, Places
from ctsne.layout.repulsion import check_dof
from ctsne.methods import METHODS
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.index import SearchIndex
from ctsne.placing.build import LazyReference
from ctsne.placing.reference import Reference, aligned_points, stacked
from ctsne.settings import DEFAULTS, check_settings
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import (
    Record,
    columns_from,
    fit_results,
    parameter_arrays,
    plain_columns,
    record_of,
    with_arrays,
)
from ctsne.storage.schema import (
    COUNT,
    POSITIVE,
    Array,
    Number,
    check_arrays,
    check_plain,
    require,
    stored_arrays,
)

NOT_KEPT = "it was loaded from a file, which does not keep the similarities; fit again to get them"
_KIND = "model"
# The numbers of a reference, and those of its fields.
_NUMBERS = ("exaggeration", "scale", "perplexity", "far_distance")
_OF_FIELDS = ("spacing", "dof", "usual")
_PROJECTION = ("origin", "mean", "axes")
_PER_POINT = ("sigma", "sigma_other", "perplexity", "other_share", "largest_weight", "reached")
_PER_COLUMN = ("column_shares", "column_matched")
_CONTENT = {
    "record": object,
    "columns": object,
    "features": {"count": Number(1, COUNT.high, whole=True), "names": (None, [str])},
    "alignment_scores": {str: Number()},
    "reference": {
        "method": set(METHODS),
        "metric": set(METRICS),
        "used": [COUNT],
        "alignment": {*ALIGNMENTS, "array"},
        "factor": Number(0),
        "nodes": [COUNT],
        "spacing": POSITIVE,
        "dof": POSITIVE,
        "usual": POSITIVE,
        "exaggeration": POSITIVE,
        "scale": POSITIVE,
        "perplexity": Number(1),
        "far_distance": Number(0),
    },
}
# What the record of a model must say about the fit, besides what depends on the method.
_RESULTS = {"kl_divergence": Number(), "n_iter": COUNT, "recall": Number(0, 1), "alignment": str}


@dataclass(frozen=True, eq=False)
class ModelState:
    """Everything of a fitted model that its file keeps."""

    record: Record  # the parameters, with their arrays, and what the fit has found
    columns: Mapping[str, Column]  # the label columns by name
    diagnostics: Diagnostics
    reference: Reference
    n_features: int
    feature_names: tuple[str, ...] | None  # of the data frame that it was fitted to


def check_model_output(path: object) -> Path:
    """Return the path of a model file that can be written, or raise an error."""
    return check_output(check_path(path, "path"), (MODEL_SUFFIX,))


def check_model_input(path: object) -> Path:
    """Return the path of a model file that exists, or raise an error."""
    return check_input(check_path(path, "path"), (MODEL_SUFFIX,))


def write_model(path: str | os.PathLike[str], state: ModelState) -> None:
    """Write a model file, whole or not at all; equal models give equal bytes."""
    target = check_model_output(path)
    _check_parameters(state.record.parameters, state)
    write_archive(target, _KIND, *_stored(state))


def read_model(path: str | os.PathLike[str]) -> ModelState:
    """Read a model file; its arrays stay in the file."""
    source = check_model_input(path)
    file = read_archive(source, _KIND)
    with reading(source, "a valid ctsne model"):
        return _read(file.content, file.arrays)


def save_model(model: Any, path: object, *, record: Record | None = None) -> None:
    """Write a fitted estimator to a model file, with a record of how it was made."""
    target = check_model_output(path)
    made = record_of(model) if record is None else record
    parameters, names = model.get_params(deep=False), getattr(model, "feature_names_in_", None)
    labels = model.labels_
    state = ModelState(
        replace(made, parameters=parameters, results=fit_results(model)),
        {} if labels is None else labels.by_name,
        model.diagnostics_,
        model._reference,  # made if no point was placed yet
        int(model.n_features_in_),
        None if names is None else tuple(map(str, names)),
    )
    write_model(target, state)


def restore_model(model: Any, path: object) -> None:
    """Give an estimator the parameters and the fit of a model file."""
    state = read_model(check_path(path, "path"))
    found = state.record.results
    model.set_params(**state.record.parameters)
    model.embedding_, model.diagnostics_ = state.reference.embedding, state.diagnostics
    model.labels_ = encode_labels(dict(state.columns)) if state.columns else None
    model.kl_divergence_, model.n_iter_ = found["kl_divergence"], found["n_iter"]
    for name in ("strength", "beta", "mixing"):
        setattr(model, f"{name}_", found.get(name))
    if "procrustes" in found:
        model.procrustes_ = found["procrustes"]
    model.n_features_in_ = state.n_features
    if state.feature_names is not None:
        model.feature_names_in_ = np.array(state.feature_names, object)
    model._lazy_reference, model._record = LazyReference(None, state.reference), state.record


# What a model keeps of every label column that has an effect.
_OF_COLUMN = ("knob", "share", "matched", "alpha", "beta")


def _schema(n_columns: int, n_used: int, dims: int) -> dict[str, Array]:
    """Return the arrays of a model with so many label columns, of which some have an effect."""
    per_point = Array("float64", ("n",))
    share = replace(per_point, low=0, high=1 + 1e-6)
    schema = {
        "parameters/align": Array("floating", ("n", "given"), optional=True),
        "parameters/init": Array("floating", ("n", "dims"), optional=True),
        # Infinite if all neighbours have the same weight.
        **{f"diagnostics/{name}": replace(per_point, high=np.inf) for name in _PER_POINT[:2]},
        **{f"diagnostics/{name}": per_point for name in _PER_POINT[2:5]},
        "diagnostics/reached": Array("bool", ("n",)),
        "diagnostics/matched": replace(per_point, optional=True),
        "reference/embedding": Array("float32", ("n", "dims")),
        "reference/features": Array("floating", ("n", "d"), optional=True),
        "reference/combined": Array("int32", ("n",), low=-1),
        "reference/shifts": Array("float64", ("combinations", "d"), optional=True),
        "reference/aligned": Array("floating", ("n", "aligned"), optional=True),
        "reference/projection/origin": Array("float64", ("given features",), optional=True),
        "reference/projection/mean": Array("float64", ("given features",), optional=True),
        "reference/projection/axes": Array("float64", ("given features", "d"), optional=True),
        "reference/fields/grids": Array("float32", ("grids", *(f"axis {k}" for k in range(dims)))),
        "reference/fields/offset": Array("float64", ("grids",)),
        "reference/fields/origin": Array("float64", ("dims",)),
        "reference/fields/grid_of": Array("int32", ("felt",), low=0, below="grids"),
        "reference/fields/share": Array("float32", ("felt",)),
        "reference/fields/own": Array("float32", ("felt",)),
        "reference/fields/ranges": Array("int64", ("felt", 2), low=0),
        "reference/fields/summed": Array("float32", ("dims", "summed")),
    }
    for c in range(n_columns):
        for name in _PER_COLUMN:
            schema[f"diagnostics/{name}/{c}"] = replace(per_point, optional=True)
    for c in range(n_used):
        schema[f"reference/knob/{c}"] = replace(share, shape=(f"used {c}",))
        schema[f"reference/alpha/{c}"] = Array("float64", (f"used {c}",), low=0)
        schema[f"reference/beta/{c}"] = Array("float64", (f"used {c}",), low=0, high=1)
        schema[f"reference/share/{c}"] = schema[f"reference/matched/{c}"] = share
        schema[f"reference/weights/{c}"] = Array("float64", (f"used {c}",), optional=True)
    return schema


def _stored(state: ModelState) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the text and the arrays of a model file."""
    found, reference, names = state.diagnostics, state.reference, state.columns
    fields = reference.fields
    columns, codes = plain_columns(state.columns)
    content = {
        "record": state.record.to_dict(),
        "columns": columns,
        "features": {
            "count": state.n_features,
            "names": None if state.feature_names is None else list(state.feature_names),
        },
        "alignment_scores": {name: float(score) for name, score in found.alignment_scores.items()},
        "reference": {
            "method": reference.method,
            "metric": reference.metric,
            "used": list(reference.used),
            "alignment": reference.alignment.name,
            "factor": float(reference.alignment.factor),
            "nodes": list(fields.nodes),
            **{name: float(getattr(fields, name)) for name in _OF_FIELDS},
            **{name: float(getattr(reference, name)) for name in _NUMBERS},
        },
    }
    values: dict[str, Any] = {
        **{f"diagnostics/{name}": getattr(found, name) for name in (*_PER_POINT, "matched")},
        **{f"reference/fields/{name}": array for name, array in fields.arrays().items()},
        "reference/shifts": reference.alignment.shifts,
        "reference/aligned": reference.alignment.points,
    }
    for name, array in parameter_arrays(state.record.parameters).items():
        values[f"parameters/{name}"] = array
    for name in ("embedding", "features", "combined"):
        values[f"reference/{name}"] = getattr(reference, name)
    for name in _PROJECTION:
        values[f"reference/projection/{name}"] = getattr(reference.projection, name, None)
    for name in _PER_COLUMN:
        by_column = getattr(found, name)
        values |= {f"diagnostics/{name}/{c}": by_column.get(own) for c, own in enumerate(names)}
    for c, column in enumerate(reference.columns):
        for name in _OF_COLUMN:
            values[f"reference/{name}/{c}"] = getattr(column, name)
    # Weights for other perplexities are found again when they are needed.
    for c, weights in enumerate(reference.calibrated.get(reference.perplexity, [])):
        values[f"reference/weights/{c}"] = weights
    schema = _schema(len(names), len(reference.used), len(fields.nodes))
    arrays = codes | stored_arrays(values, schema)
    if reference.index is not None:
        index = reference.index.arrays()
        arrays |= {f"reference/index/{name}": array for name, array in index.items()}
    return content, arrays


def _read(content: Any, arrays: dict[str, NDArray[Any]]) -> ModelState:
    """Return the state that a file describes, or refuse it."""
    check_plain(content, _CONTENT, "content")
    record = Record.from_dict(content["record"])
    settings, d = content["reference"], content["features"]["count"]
    used, dims = settings["used"], len(settings["nodes"])
    groups: dict[str, dict[str, NDArray[Any]]] = {"labels/": {}, "reference/index/": {}, "": {}}
    for name, array in arrays.items():
        groups[next(prefix for prefix in groups if name.startswith(prefix))][name] = array
    codes, index, plain = groups.values()
    n = len(next(iter(codes.values()), plain.get("reference/combined", ())))
    columns = columns_from(content["columns"], codes, n)
    names, labels = list(columns), list(columns.values())
    occur = all((column.counts > 0).all() for column in labels)
    known = used == sorted({*used}) and all(c < len(names) for c in used)
    require(occur and known and 1 <= dims <= 3 and n >= 2, "labels and map", "complete", names)
    sizes = {"n": n, "dims": dims}
    sizes |= {f"used {place}": labels[c].n_labels for place, c in enumerate(used)}
    check_arrays(plain, _schema(len(names), len(used), dims), sizes)
    given = {name: plain.get(f"parameters/{name}") for name in ("align", "init")}
    parameters = {**DEFAULTS, **with_arrays(record.parameters, given)}
    require(set(parameters) == set(DEFAULTS), "parameters", "those of a model", sorted(parameters))
    record = replace(record, parameters=parameters)
    found = record.results
    check_plain({name: found.get(name) for name in _RESULTS}, _RESULTS, "results of the fit")
    for name in ("strength", "beta", "mixing", "procrustes"):
        fits = isinstance(found.get(name), float | int | dict | None)
        require(fits, name, "a number, or one by label or column", found.get(name))
    feature_names = content["features"]["names"]
    for own in (feature_names, record.features):
        require(own is None or len(own) == d, "names of features", f"{d} texts", own)
    state = ModelState(
        record,
        columns,
        _diagnostics(record, content["alignment_scores"], names, plain),
        _reference(settings, labels, plain, index, parameters, d),
        d,
        None if feature_names is None else tuple(feature_names),
    )
    _check_parameters(parameters, state)
    again, kept = _stored(state)
    if again != content or kept.keys() != arrays.keys():
        raise ValueError("it has values or arrays that are not those of a model")
    return state


def _check_parameters(parameters: Mapping[str, Any], state: ModelState) -> None:
    """Check parameters as a fit does, on data that no check of values refuses."""
    n, d = len(state.reference.embedding), state.n_features
    rows = np.arange(n)
    points = sp.csr_array((np.ones(n), (rows, rows % d)), shape=(n, d))
    given = dict(parameters)
    if given["metric"] == "precomputed":
        given["metric"] = "euclidean"
    check_settings(given, points, encode_labels(dict(state.columns)) if state.columns else None)


def _diagnostics(
    record: Record, scores: dict[str, float], names: list[str], arrays: Mapping[str, Any]
) -> Diagnostics:
    by_column: dict[str, Any] = {
        name: {
            own: arrays[f"diagnostics/{name}/{c}"]
            for c, own in enumerate(names)
            if f"diagnostics/{name}/{c}" in arrays
        }
        for name in _PER_COLUMN
    }
    return Diagnostics(
        **{name: arrays[f"diagnostics/{name}"] for name in _PER_POINT},
        **by_column,
        matched=arrays.get("diagnostics/matched"),
        recall=record.results["recall"],
        alignment=record.results["alignment"],
        alignment_scores=scores,
    )


def _reference(
    settings: Mapping[str, Any],
    labels: list[Column],
    arrays: Mapping[str, NDArray[Any]],
    index: Mapping[str, NDArray[Any]],
    parameters: Mapping[str, Any],
    n_features: int,
) -> Reference:
    """Return the reference that checked arrays and settings describe, if they belong together."""
    given = {name.removeprefix("reference/"): array for name, array in arrays.items()}
    embedding, metric = given["embedding"], settings["metric"]
    n, dims = embedding.shape
    same = parameters["metric"] == metric and parameters["n_components"] == dims and n >= 2
    require(same, "reference", "one of its parameters", (metric, embedding.shape))
    columns = tuple(
        FittedColumn(
            labels[own].codes,
            labels[own].counts,
            *(given[f"{name}/{c}"] for name in _OF_COLUMN),
        )
        for c, own in enumerate(settings["used"])
    )
    codes, combined = stacked(columns, n), given["combined"]
    _check_combined(combined, codes)
    n_combined = int(combined.max(initial=-1)) + 1
    name = settings["alignment"]
    splits = METHODS[settings["method"]].splits_neighbors and bool(columns)
    shifts, aligned, features = (given.get(name) for name in ("shifts", "aligned", "features"))
    shifted = name in ("mutual", "mean")
    fits = (shifts is not None) == shifted and (aligned is None) == (shifted or name == "none")
    fits &= shifts is None or len(shifts) == n_combined
    require(fits, "alignment", "complete", name)
    alignment = Alignment(name, aligned, shifts=shifts, factor=settings["factor"])
    search = projection = None
    width = n
    require((features is None) == (metric == "precomputed"), "features", "given", metric)
    if features is not None:
        width = features.shape[1]
        if metric == "cosine":
            check_directions(features, argument="its array features")
        search = SearchIndex.from_arrays(
            features,
            codes if splits else codes[:, :0],
            {name.removeprefix("reference/index/"): array for name, array in index.items()},
            metric=metric,
            n_jobs=check_jobs(parameters["n_jobs"]),
            aligned=aligned_points(features, combined, alignment, metric),
        )
        axes: list[Any] = [given.get(f"projection/{name}") for name in _PROJECTION]
        if any(array is not None for array in axes):
            require(all(array is not None for array in axes), "projection", "complete", width)
            projection = Projection(*axes)
            width = len(projection.axes)
    require(width == n_features, "number of features", str(n_features), width)
    weights = [given[f"weights/{c}"] for c in range(len(columns)) if f"weights/{c}" in given]
    reference = Reference(
        embedding=embedding,
        features=features,
        columns=columns,
        combined=combined,
        used=tuple(settings["used"]),
        splits_neighbors=splits,
        projection=projection,
        alignment=alignment,
        fields=_fields(settings, given, n_combined),
        index=search,
        method=settings["method"],
        metric=metric,
        calibrated={settings["perplexity"]: weights} if weights else {},
        **{name: settings[name] for name in _NUMBERS},
    )
    complete = len(weights) in (0, len(columns))
    complete &= not reference.maker(1).calibrated or bool(weights)
    require(complete, "weights", "given for all columns", len(weights))
    Places(embedding, reference.fields, exaggeration=reference.exaggeration)  # checks the mesh
    return reference


def _check_combined(combined: NDArray[np.int32], codes: NDArray[np.int32]) -> None:
    """Refuse numbers that are not the combinations of labels, -1 where all are missing."""
    values, first, place = np.unique(combined, return_index=True, return_inverse=True)
    low = -1 if (combined < 0).any() else 0
    fits = np.array_equal(values, np.arange(low, low + len(values)))
    fits &= np.array_equal(codes[first][place.reshape(-1)], codes)
    fits &= np.array_equal(combined < 0, (codes < 0).all(axis=1))
    require(fits, "combinations of labels", "those of its labels", values[:3])


def _fields(
    settings: Mapping[str, Any], given: Mapping[str, NDArray[Any]], n_combined: int
) -> Fields:
    arrays: dict[str, Any] = {
        name.removeprefix("fields/"): array
        for name, array in given.items()
        if name.startswith("fields/")
    }
    ranges, summed = arrays["ranges"], arrays["summed"]
    inside = (ranges[:, 0] <= ranges[:, 1]).all() and (ranges <= summed.shape[1]).all()
    inside &= len(ranges) - 1 in (0, n_combined)
    require(inside, "fields", "those of its labels", ranges.shape)
    dof = check_dof(settings["dof"])
    numbers = {name: settings[name] for name in ("spacing", "usual")}
    return Fields(**arrays, nodes=tuple(settings["nodes"]), dof=dof, **numbers)
