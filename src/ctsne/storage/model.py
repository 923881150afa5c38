"""A fitted estimator as a model file, and back; a file from outside is checked in full."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import as_numbers, check_jobs, check_path
from ctsne._core.files import reading
from ctsne._core.messages import listed, shown
from ctsne.affinity.result import Diagnostics
from ctsne.io.dataset import Source
from ctsne.labels import Column, Labels, encode_labels
from ctsne.placing.new_points import Kept
from ctsne.placing.reference import Reference
from ctsne.settings import DEFAULTS, check_settings
from ctsne.storage.archive import WHAT, check_model_output, read_model, write_model
from ctsne.storage.checks import (
    as_count,
    as_mapping,
    as_number,
    check_codes,
    check_names,
    checked_reference,
    take_array,
)
from ctsne.storage.parts import reference_arrays, reference_settings
from ctsne.storage.provenance import Provenance
from ctsne.storage.record import labels_from, plain_labels, plain_value, value_from

NOT_KEPT = "it was loaded from a file, which does not keep the similarities; fit again to get them"
# Parameters that may be arrays, which are members of the file.
_ARRAYS = ("align", "init")
# The diagnostics with one entry per point; the last may be missing.
_PER_POINT = (
    "sigma",
    "sigma_other",
    "perplexity",
    "other_share",
    "largest_weight",
    "reached",
    "matched",
)
_FITTED = (
    "kl_divergence",
    "n_iter",
    "strength",
    "beta",
    "mixing",
    "n_features_in",
    "feature_names_in",
    "recall",
    "alignment",
    "alignment_scores",
    "procrustes",
)


class Saved:
    """What an estimator gains from model files."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, to place new points later or elsewhere.

        The file is not a pickle, so it is safe to load one from others. It holds the parameters,
        the map, labels and diagnostics, and everything that :meth:`place` needs, but not the
        similarities and the data as they were given. It is about as large as the features (reduced
        ones if there is a PCA) in memory. Equal models give equal bytes.

        Parameters
        ----------
        path : path-like
            A file whose name ends in ``.ctsne``; replaced if it exists, whole or not at all.

        Notes
        -----
        Labels that are text, numbers, booleans or dates keep their type; others become text. A
        callback and a ``RandomState`` are not stored.

        See Also
        --------
        ctsne.load

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import ctsne
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ctsne.ConditionalTSNE(n_iter=100).fit(data.X, labels=data.known)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "model.ctsne")
        ...     again = ctsne.load(Path(folder) / "model.ctsne")
        ...     again.transform(data.X[:50], data.known[:50]).shape
        (50, 2)
        """
        check_is_fitted(self)
        save_model(self, path)

    def __getattr__(self, name: str) -> Any:
        if name == "affinities_" and "embedding_" in self.__dict__:
            raise AttributeError(f"this model has no affinities_: {NOT_KEPT}")
        return object.__getattribute__(self, name)  # raises the usual error


@dataclass(frozen=True)
class Origin:
    """Where the data of a model came from, if the command line made it."""

    provenance: Provenance
    source: Source
    features: tuple[str, ...] | None  # names of the columns, if the file has them

    def part(self) -> tuple[str | None, str | None]:
        """Return the representation or the layer of an .h5ad file that the map was made of."""
        layer = self.source.layer
        return (self.source.use_rep or "X", None) if layer is None else (None, layer)


def save_model(model: Any, path: object, *, origin: Origin | None = None) -> None:
    """Write a fitted estimator to a model file."""
    target = check_model_output(check_path(path, "path"))
    arrays: dict[str, NDArray[Any]] = {}
    parameters = model.get_params(deep=False)
    _check_parameters(parameters, len(model.embedding_), model.n_features_in_, model.labels_)
    plain = {}
    for name, value in parameters.items():
        if name in _ARRAYS and not isinstance(value, str):
            arrays[f"parameters/{name}"] = as_numbers(value, argument=name)
        elif name not in ("callback", "random_state") or isinstance(value, Real):
            plain[name] = plain_value(value)
    labels, codes = _stored_labels(model.labels_, label_name(model))
    for name in _PER_POINT:
        values = getattr(model.diagnostics_, name)
        if values is not None:
            arrays[f"diagnostics/{name}"] = values
    reference: Reference = model._reference  # made if no point was placed yet
    parts = reference_arrays(reference)
    arrays |= codes | {f"reference/{name}": each for name, each in parts.items()}
    content = {
        "parameters": plain,
        "labels": labels,
        "fitted": _fitted_values(model),
        "reference": reference_settings(reference),
        "origin": _stored_origin(origin or origin_of(model)),
    }
    write_model(target, content, arrays)


def origin_of(model: Any) -> Origin | None:
    """Return where the data of a loaded model came from, if the file says so."""
    origin: Origin | None = getattr(model, "_origin", None)
    return origin


def label_name(model: Any) -> str | None:
    """Return the name of a model's single label column, if it came with one."""
    name: str | None = getattr(model, "_label_name", None)
    return name


def _stored_origin(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    features = None if origin.features is None else list(origin.features)
    made = origin.provenance.to_dict()
    return {"provenance": made, "source": asdict(origin.source), "features": features}


def _restored_origin(plain: Any, d: int) -> Origin | None:
    if plain is None:
        return None
    check_names(as_mapping(plain), ("provenance", "source", "features"), "its origin")
    made = Provenance.from_json(json.dumps(plain["provenance"]))
    return Origin(made, _restored_source(plain["source"]), _texts(plain["features"], d))


def _restored_source(plain: Any) -> Source:
    check_names(as_mapping(plain), tuple(field.name for field in fields(Source)), "its source")
    if not isinstance(plain["kind"], str) or not isinstance(plain["key"], str | None):
        raise ValueError(f"the source of its data must be named, got {shown(plain)}")
    counts = [plain[name] for name in ("n_columns", "n_variable", "n_selected")]
    if not isinstance(counts[0], int) or not all(isinstance(x, int | None) for x in counts):
        raise ValueError(f"the source of its data must have numbers of columns, got {shown(plain)}")
    return Source(**plain)


def _texts(names: Any, d: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(names, list) or [type(name) for name in names] != [str] * d:
        raise ValueError(f"its names of columns must be {d} texts")
    return tuple(names)


def _fitted_values(model: Any) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    found = model.diagnostics_
    return {
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": int(model.n_iter_),
        "strength": plain_value(model.strength_),
        "beta": plain_value(model.beta_),
        "mixing": plain_value(model.mixing_),
        "n_features_in": int(model.n_features_in_),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "recall": float(found.recall),
        "alignment": found.alignment,
        "alignment_scores": {name: float(each) for name, each in found.alignment_scores.items()},
        "procrustes": plain_value(getattr(model, "procrustes_", None)),
    }


def _stored_labels(
    labels: Column | Labels | None, name: str | None
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the labels as plain values and arrays of codes."""
    if labels is None:
        return None, {}
    columns = (labels,) if isinstance(labels, Column) else labels.columns
    own = None if name is None else [name]
    names = own if isinstance(labels, Column) else list(labels.names)
    plain = {"names": names, "columns": [plain_labels(column.names) for column in columns]}
    return plain, {f"labels/{place}": column.codes for place, column in enumerate(columns)}


def restore_model(model: Any, path: object) -> None:
    """Give an estimator the parameters and the fit of a model file."""
    source = check_path(path, "path")
    file = read_model(source)
    with reading(source, WHAT):
        _restore(model, file.content, file.arrays)


def _restore(model: Any, content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    parts = ("parameters", "labels", "fitted", "reference", "origin")
    check_names(content, parts, "its parts")
    given, fitted = as_mapping(content["parameters"]), as_mapping(content["fitted"])
    check_names(fitted, _FITTED, "its facts about the fit")
    stored = {
        name.partition("/")[2]: arrays.pop(name)
        for name in list(arrays)
        if name.startswith("reference/")
    }
    n = len(np.atleast_1d(stored.get("embedding", ())))
    as_count(n, "number of points", low=2)
    labels, label = _restored_labels(content["labels"], arrays, n)
    parameters = {**DEFAULTS, **{name: value_from(value) for name, value in given.items()}}
    for name in [each for each in _ARRAYS if f"parameters/{each}" in arrays]:
        parameters[name] = arrays.pop(f"parameters/{name}")
    check_names(parameters, tuple(DEFAULTS), "its parameters")
    d = as_count(fitted["n_features_in"], "n_features_in", low=1)
    _check_parameters(parameters, n, d, labels)
    diagnostics = _restored_diagnostics(fitted, arrays, n)
    if arrays:
        raise ValueError(f"it has arrays that models do not have: {listed(arrays, most=3)}")
    reference = checked_reference(
        stored,
        content["reference"],
        d=d,
        dimensions=parameters["n_components"],
        labels=labels,
        metric=parameters["metric"],
        n_jobs=check_jobs(parameters["n_jobs"]),
    )
    names = _texts(fitted["feature_names_in"], d)
    origin = _restored_origin(content["origin"], d)
    model.set_params(**parameters)
    model.embedding_, model.labels_, model.diagnostics_ = reference.embedding, labels, diagnostics
    model.kl_divergence_ = as_number(fitted["kl_divergence"], "kl_divergence")
    model.n_iter_ = as_count(fitted["n_iter"], "n_iter", low=0)
    for name in ("strength", "beta", "mixing"):
        setattr(model, f"{name}_", _knob(fitted[name], name))
    if fitted["procrustes"] is not None:
        model.procrustes_ = as_number(fitted["procrustes"], "procrustes")
    model.n_features_in_ = d
    if names is not None:
        model.feature_names_in_ = np.array(names, object)
    model._kept, model._label_name, model._origin = Kept(None, reference), label, origin


def _check_parameters(
    given: Mapping[str, Any], n: int, d: int, labels: Column | Labels | None
) -> None:
    """Check parameters as a fit does, on data that no check of values refuses."""
    rows = np.arange(n)
    points = sp.csr_array((np.ones(n), (rows, rows % d)), shape=(n, d))
    features = given["metric"] == "precomputed"
    check_settings({**given, "metric": "euclidean"} if features else given, points, labels)


def _restored_labels(
    plain: Any, arrays: dict[str, NDArray[Any]], n: int
) -> tuple[Column | Labels | None, str | None]:
    """Return the labels, and the name of a single column if it has one."""
    if plain is None:
        return None, None
    check_names(as_mapping(plain), ("names", "columns"), "its labels")
    columns = plain["columns"]
    if not isinstance(columns, list) or not columns:
        raise ValueError(f"its label columns must be a list, got {shown(columns)}")
    restored = []
    for place, values in enumerate(columns):
        names = labels_from(values)
        codes = take_array(arrays, f"labels/{place}", np.int32, (n,))
        check_codes(codes, len(names))
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.int64)
        if len(names) and counts.min() == 0:
            raise ValueError("it has labels without points")
        restored.append(Column(codes, names, counts))
    names = plain["names"]
    if names is None and len(restored) == 1:
        return restored[0], None
    texts = isinstance(names, list) and [type(name) for name in names] == [str] * len(restored)
    if not texts or len(set(names)) < len(names):
        raise ValueError("its label columns must have a name each")
    labels = encode_labels(dict(zip(names, restored, strict=True)))
    return labels, names[0] if isinstance(labels, Column) else None


def _restored_diagnostics(
    fitted: Mapping[str, Any], arrays: dict[str, NDArray[Any]], n: int
) -> Diagnostics:
    found: dict[str, Any] = {}
    for name in _PER_POINT:
        key = f"diagnostics/{name}"
        if name == "matched" and key not in arrays:
            continue
        dtype = np.bool_ if name == "reached" else np.float64
        infinite = name.startswith("sigma")  # all neighbours have the same weight
        found[name] = take_array(arrays, key, dtype, (n,), infinite=infinite)
    scores = as_mapping(fitted["alignment_scores"])
    if not isinstance(fitted["alignment"], str):
        raise ValueError("its alignment must be a name")
    return Diagnostics(
        **found,
        recall=as_number(fitted["recall"], "recall"),
        alignment=fitted["alignment"],
        alignment_scores={name: as_number(each, "a score") for name, each in scores.items()},
    )


def _knob(plain: Any, what: str) -> Any:
    value = value_from(plain)
    return value if value is None or isinstance(value, dict) else as_number(value, what)
