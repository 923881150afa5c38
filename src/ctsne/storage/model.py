"""Model files: a fitted model as plain data and back; files from outside are checked in full."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import check_directions, check_jobs, check_path, check_seed
from ctsne._core.components import Projection
from ctsne._core.files import reading
from ctsne._core.messages import quoted
from ctsne._core.vocabulary import ALIGNMENTS, METRICS, TREND
from ctsne.affinity.new_rows import FittedColumn
from ctsne.affinity.result import Diagnostics
from ctsne.io.paths import MODEL_SUFFIX, check_input, check_output
from ctsne.labels import Labels, join_columns
from ctsne.layout.fields import Fields, Places, are_fields_of
from ctsne.layout.repulsion import check_dof
from ctsne.methods import METHODS
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.index import SearchIndex
from ctsne.placing.reference import Reference, aligned_points, stacked
from ctsne.settings import DEFAULTS, check_settings
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import COLUMNS, Record, columns_from, fit_results, plain_columns
from ctsne.storage.schema import COUNT, POSITIONS, POSITIVE, TINY, Array, Number, check, require

_POINT = Array("float64", "n")
_SHARE = Array("float64", "n", low=0, high=1 + 1e-6)
_WEIGHT = Array("float64", "labels", low=TINY)
_DIAGNOSTICS = {
    # Infinite if all neighbours have the same weight.
    **dict.fromkeys(("sigma", "sigma_other"), replace(_POINT, high=np.inf)),
    **dict.fromkeys(("perplexity", "other_share", "largest_weight"), _POINT),
    "reached": Array("bool", "n"),
    "matched": (None, _POINT),
    "alignment_scores": {str: Number()},
    "column_shares": {str: _POINT},
    "column_matched": {str: _POINT},
}
_COLUMN = {
    "knob": replace(_SHARE, shape="labels"),
    "share": _SHARE,
    "matched": _SHARE,
    "alpha": _WEIGHT,
    "beta": replace(_WEIGHT, high=1),
    "weights": (None, Array("float64", "labels")),  # calibrated for the usual perplexity
}
_FIELDS = {
    "grids": Array("float32", "grids ..."),
    "offset": Array("float64", "grids"),
    "origin": Array("float64", "dims"),
    "grid_of": Array("int32", "felt", low=0, below="grids"),
    "share": Array("float32", "felt"),
    "own": Array("float32", "felt"),
    "ranges": Array("int64", "felt 2", low=0),
    "summed": Array("float32", "dims summed"),
    "nodes": [COUNT],
    **dict.fromkeys(("spacing", "dof", "usual"), POSITIVE),
}
_PROJECTION = {
    "origin": Array("float64", "given"),
    "mean": Array("float64", "given"),
    "axes": Array("float64", "given d"),
}
_ALIGNMENT = {
    "name": {*ALIGNMENTS, TREND, "array"},
    "points": (None, Array("floating", "n aligned")),
    "shifts": (None, Array("float64", "combinations d")),
    "factor": Number(0),
}
_REFERENCE = {
    "embedding": POSITIONS,
    "features": (None, Array("floating", "n d")),
    "combined": Array("int32", "n", low=-1),
    "method": set(METHODS),
    "metric": set(METRICS),
    "exaggeration": POSITIVE,
    "scale": POSITIVE,
    "perplexity": Number(1),
    "far_distance": Number(0),
}
_MODEL = {
    "record": object,
    "features": {"count": Number(1, COUNT.high, whole=True), "names": (None, [str])},
    "diagnostics": _DIAGNOSTICS,
    "columns": COLUMNS,
    "reference": {
        **_REFERENCE,
        "used": [COUNT],
        "columns": [_COLUMN],
        "fields": _FIELDS,
        "projection": (None, _PROJECTION),
        "alignment": _ALIGNMENT,
        "index": (None, {str: object}),  # checked by the index
    },
}
# Results in the record that are attributes of a model.
_FOUND = ("kl_divergence", "n_iter", "strength", "beta", "mixing")
# What the record of a model must say about the fit, besides what depends on the method.
_RESULTS = {"kl_divergence": Number(), "n_iter": COUNT, "recall": Number(0, 1), "alignment": str}


def check_model_output(path: object) -> Path:
    """Return the path of a model file that can be written, or raise an error."""
    return check_output(check_path(path, "path"), (MODEL_SUFFIX,))


def check_model_input(path: object) -> Path:
    """Return the path of a model file that exists, or raise an error."""
    return check_input(check_path(path, "path"), (MODEL_SUFFIX,))


def write_model(path: object, model: Any, reference: Reference, record: Record) -> None:
    """Write a fitted estimator, whole or not at all; equal models give equal bytes."""
    target = check_model_output(path)
    parameters, n_features = model.get_params(deep=False), int(model.n_features_in_)
    _check_parameters(parameters, model.labels_, (len(reference.embedding), n_features))
    record = replace(record, parameters=parameters, results=fit_results(model))
    names = getattr(model, "feature_names_in_", None)  # of a data frame
    names = None if names is None else [*map(str, names)]
    found = _parts(model.diagnostics_, _DIAGNOSTICS)
    columns = {} if model.labels_ is None else model.labels_.by_name
    for name in ("column_shares", "column_matched"):
        found[name] = {str(c): found[name][x] for c, x in enumerate(columns) if x in found[name]}
    # Weights for other perplexities are found again when they are needed.
    weights = reference.calibrated.get(reference.perplexity, [None] * len(reference.columns))
    fitted = [
        {**_parts(column, _COLUMN, without="weights"), "weights": own}
        for column, own in zip(reference.columns, weights, strict=True)
    ]
    tree = {
        "record": record.to_tree(),
        "features": {"count": n_features, "names": names},
        "diagnostics": found,
        "columns": plain_columns(columns),
        "reference": {
            **_parts(reference, _REFERENCE),
            "used": list(reference.used),
            "columns": fitted,
            "fields": _parts(reference.fields, _FIELDS),
            "projection": reference.projection and _parts(reference.projection, _PROJECTION),
            "alignment": _parts(reference.alignment, _ALIGNMENT),
            "index": reference.index and reference.index.arrays(),
        },
    }
    write_archive(target, "model", tree)


def _parts(whole: Any, schema: Mapping[str, Any], *, without: str = "") -> dict[str, Any]:
    """Return the attributes of an object that a schema names, as a file holds them."""
    found = {name: getattr(whole, name) for name in schema if name != without}
    return {name: list(x) if isinstance(x, tuple) else x for name, x in found.items()}


def read_model(path: object) -> tuple[Record, Reference, dict[str, Any]]:
    """Read a model file: record, reference and attributes of a fit; its arrays stay in the file."""
    source = check_model_input(path)
    tree = read_archive(source, "model")
    with reading(source, "a valid ctsne model"):
        return _state(tree)


def _state(tree: dict[str, Any]) -> tuple[Record, Reference, dict[str, Any]]:
    check(tree, _MODEL)
    record = Record.from_dict(tree["record"])
    found, n_features = record.results, tree["features"]["count"]
    check({name: found.get(name) for name in _RESULTS}, _RESULTS, "results of the fit")
    check(found.get("procrustes"), (None, Number()), "procrustes")
    record = replace(record, parameters={**DEFAULTS, **record.parameters})
    known = set(record.parameters) == set(DEFAULTS)
    require(known, "parameters", "those of a model", sorted(record.parameters))
    columns = columns_from(tree["columns"])
    occur = all((column.counts > 0).all() for column in columns.values())
    require(occur, "labels", "those of points", list(columns))
    labels = join_columns(tuple(columns), list(columns.values())) if columns else None
    for name in ("strength", "beta", "mixing"):
        value, wanted = found.get(name), "a number, or one per label"
        fits = isinstance(value, float | int | dict | None)
        if len(columns) > 1 and value is not None:
            wanted = f"given by label column ({quoted(columns)})"
            # Columns without an effect have a strength, but no mixing.
            fits = isinstance(value, dict) and value.keys() <= columns.keys()
            if fits and name == "mixing":
                fits = not any(isinstance(own, dict) for own in value.values())
            elif fits:
                fits = len(value) == len(columns)
        require(fits, name, wanted, value)
    names = tree["features"]["names"]
    for given in (names, record.features):
        require(given is None or len(given) == n_features, "features", f"{n_features} texts", given)
    by_column = {
        name: {list(columns)[int(c)]: array for c, array in tree["diagnostics"][name].items()}
        for name in ("column_shares", "column_matched")
    }
    facts = {name: found[name] for name in ("recall", "alignment")}
    reference = _reference(tree["reference"], labels, record.parameters, n_features)
    _check_parameters(record.parameters, labels, (len(reference.embedding), n_features))
    attributes = {
        "embedding_": reference.embedding,
        "labels_": labels,
        "diagnostics_": Diagnostics(**{**tree["diagnostics"], **by_column, **facts}),
        "n_features_in_": n_features,
        **{f"{name}_": found.get(name) for name in _FOUND},
    }
    if "procrustes" in found:
        attributes["procrustes_"] = found["procrustes"]
    if names is not None:
        attributes["feature_names_in_"] = np.array(names, object)
    return record, reference, attributes


def _check_parameters(
    parameters: Mapping[str, Any], labels: Labels | None, shape: tuple[int, int]
) -> None:
    """Check parameters as a fit does, on data that no check of values refuses."""
    rows = np.arange(shape[0])
    points = sp.csr_array((np.ones(len(rows)), (rows, rows % shape[1])), shape=shape)
    check_seed(parameters["random_state"])  # not used: saving and loading draw no random numbers
    plain = {"metric": "euclidean"} if parameters["metric"] == "precomputed" else {}
    check_settings({**parameters, **plain, "random_state": 0}, points, labels)


def _reference(
    tree: Mapping[str, Any], labels: Labels | None, parameters: Mapping[str, Any], n_features: int
) -> Reference:
    """Return the reference that checked values describe, if they belong together."""
    embedding, metric, combined = tree["embedding"], tree["metric"], tree["combined"]
    n, dims = embedding.shape
    fits = parameters["metric"] == metric and parameters["n_components"] == dims
    require(fits and n >= 2, "reference", "one of its parameters", (metric, embedding.shape))
    columns = _fitted_columns(tree, labels)
    codes = stacked(columns, n)
    _check_combined(combined, codes)
    n_combined = int(combined.max(initial=-1)) + 1
    splits = METHODS[tree["method"]].splits_neighbors and bool(columns)
    alignment, features = Alignment(**tree["alignment"]), tree["features"]
    shifts, shifted = alignment.shifts, alignment.name in ("mutual", "mean")
    complete = (shifts is not None) == shifted
    complete &= (alignment.points is None) == (shifted or alignment.name == "none")
    complete &= shifts is None or len(shifts) == n_combined
    if alignment.name == "array" and alignment.points is not None:
        complete &= alignment.points.shape == np.shape(parameters["align"])
    require(complete, "alignment", "complete", alignment.name)
    there = {features is not None, tree["index"] is not None, metric != "precomputed"}
    require(len(there) == 1, "features", "given with an index, or not at all", metric)
    index = projection = None
    width = n
    if features is not None:
        width = features.shape[1]
        if metric == "cosine":
            check_directions(features, argument="its array features")
        index = SearchIndex.from_arrays(
            features,
            codes if splits else codes[:, :0],
            tree["index"],
            metric=metric,
            n_jobs=check_jobs(parameters["n_jobs"]),
            aligned=aligned_points(features, combined, alignment, metric),
        )
        same = index.arrays().keys() == tree["index"].keys()
        require(same, "index", "one of these features", sorted(tree["index"]))
        if tree["projection"] is not None:
            projection = Projection(**tree["projection"])
            width = len(projection.axes)
    require(width == n_features, "number of features", str(n_features), width)
    weights = [column["weights"] for column in tree["columns"] if column["weights"] is not None]
    reference = Reference(
        **{name: tree[name] for name in _REFERENCE},
        columns=columns,
        used=tuple(tree["used"]),
        splits_neighbors=splits,
        projection=projection,
        alignment=alignment,
        fields=_fields(tree["fields"], dims, n_combined),
        index=index,
        calibrated={tree["perplexity"]: weights} if weights else {},
    )
    complete = len(weights) in (0, len(columns))
    complete &= not reference.maker(1).calibrated or bool(weights)
    require(complete, "weights", "given for all columns", len(weights))
    Places(embedding, reference.fields, exaggeration=reference.exaggeration)  # checks the mesh
    # A mesh for positions far outside would take seconds and gigabytes.
    extent = embedding.min(), embedding.max()
    require(are_fields_of(reference.fields, embedding), "embedding", "inside its mesh", extent)
    return reference


def _fitted_columns(tree: Mapping[str, Any], labels: Labels | None) -> tuple[FittedColumn, ...]:
    known, used = () if labels is None else labels.columns, tree["used"]
    fits = used == sorted({*used}) and all(c < len(known) for c in used)
    fits = fits and len(used) == len(tree["columns"])
    require(fits, "reference", "one of its labels", used)
    columns = []
    for c, entry in zip(used, tree["columns"], strict=True):
        own = {name: array for name, array in entry.items() if name != "weights"}
        require(len(own["knob"]) == known[c].n_labels, "reference", "one of its labels", c)
        columns.append(FittedColumn(known[c].codes, known[c].counts, **own))
    return tuple(columns)


def _check_combined(combined: NDArray[np.int32], codes: NDArray[np.int32]) -> None:
    """Refuse numbers that are not the combinations of labels, -1 where all are missing."""
    values, first, place = np.unique(combined, return_index=True, return_inverse=True)
    low = -1 if (combined < 0).any() else 0
    fits = np.array_equal(values, np.arange(low, low + len(values)))
    fits &= np.array_equal(codes[first][place.reshape(-1)], codes)
    fits &= np.array_equal(combined < 0, (codes < 0).all(axis=1))
    require(fits, "combinations of labels", "those of its labels", values[:3])


def _fields(tree: Mapping[str, Any], dims: int, n_combined: int) -> Fields:
    ranges, n_summed = tree["ranges"], tree["summed"].shape[1]
    fits = (ranges[:, 0] <= ranges[:, 1]).all() and (ranges <= n_summed).all()
    fits &= len(ranges) - 1 in (0, n_combined) and tree["grids"].ndim == dims + 1
    require(fits and len(tree["nodes"]) == dims, "fields", "those of its labels", ranges.shape)
    return Fields(**{**tree, "nodes": tuple(tree["nodes"]), "dof": check_dof(tree["dof"])})
