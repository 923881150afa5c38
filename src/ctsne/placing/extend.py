"""A finished map that takes in new points and moves on, all points free."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import procrustes

from ctsne._core.messages import warn
from ctsne._core.vocabulary import TREND
from ctsne.fit.fit import Fit, StageLog
from ctsne.fit.memory import explained_memory, map_need, require_memory
from ctsne.labels import Column, Labels, encode_labels, join_columns
from ctsne.labels.column import as_values
from ctsne.placing.place import Placement, new_features
from ctsne.placing.reference import Reference
from ctsne.placing.request import Request, check_new_labels, matching_columns
from ctsne.settings import check_settings

# Parameters that may have an entry per point or per label.
_PER_ENTRY = ("init", "align", "strength", "beta", "odds", "beta_low")


def start_extended(
    model: Any,
    reference: Reference,
    request: Request,
    labels: Any,
    placed: Placement,
    n_iter: int,
    n_jobs: int,
) -> tuple[Fit, Labels | None, dict[str, Any], StageLog]:
    """Return a map of all points, ready to run, their labels, and parameters per entry."""
    assert reference.features is not None
    new = new_features(reference, request.matrix, n_jobs)
    features = np.concatenate([reference.features, new.astype(reference.features.dtype)])
    known = _all_labels(model.labels_, labels, len(new))
    given = model.get_params(deep=False)
    longer = [name for name in _PER_ENTRY if not isinstance(given[name], str | Real | None)]
    given |= {
        "mixing": None,
        "pca": None,
        "n_iter": n_iter,
        "early_exaggeration_iter": 0,
        "init": np.concatenate([reference.embedding, placed.embedding]),
        "align": _alignment(reference, request, given["align"]),
        "strength": _for_new_labels(model.strength_, known),
        "beta": _for_new_labels(model.beta_, known),
        "odds": _for_new_labels(given["odds"], known),
        "beta_low": _for_new_labels(given["beta_low"], known),
    }
    log = StageLog(given)
    settings = check_settings(given, features, known)
    for message in settings.warnings:
        warn(message)
    log.stage("memory", require_memory(*map_need(features, settings)))
    with explained_memory(*map_need(features, settings)):
        return Fit(features, settings, log), known, {name: given[name] for name in longer}, log


def moved_distance(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Return the Procrustes distance of two maps: 0 if they differ by position, turn and scale."""
    if not (np.ptp(before, axis=0).any() and np.ptp(after, axis=0).any()):
        return 0.0
    return float(procrustes(before.astype(np.float64), after.astype(np.float64))[2])


def _alignment(reference: Reference, request: Request, given: Any) -> Any:
    alignment = reference.alignment
    if alignment.name != "array":
        return given if alignment.name == TREND else alignment.name
    assert alignment.points is not None and request.aligned is not None
    return np.concatenate([alignment.points, request.aligned]) / alignment.factor


def _all_labels(known: Labels | None, given: Any, m: int) -> Labels | None:
    if known is None:
        return None
    columns = []
    for place, column in enumerate(known.columns):
        codes, names = check_new_labels(given, known, (place,), m)
        every = np.concatenate([column.codes, codes[:, 0]])
        counts = np.bincount(every[every >= 0], minlength=column.n_labels + len(names))
        values = None
        if column.numbers is not None:
            values = np.full(m, np.nan)
            if given is not None:
                new = matching_columns(encode_labels(given, n=m), known)[place]
                values = as_values(new, "numbers")
            values = np.concatenate([column.numbers, values])
        counts = counts.astype(np.int64)
        columns.append(Column(every, (*column.names, *names), counts, values, column.period))
    return join_columns(known.names, columns)


def _for_new_labels(value: Any, labels: Labels | None) -> Any:
    """Give labels that a mapping does not name the mean of the others."""
    if labels is None or not isinstance(value, Mapping):
        return value
    if labels.maps_labels(value):
        return _with_new_labels(value, labels.columns[0])
    return {
        name: _with_new_labels(numbers, labels.by_name[name])
        for name, numbers in labels.per_column(value, argument="the numbers per label").items()
    }


def _with_new_labels(numbers: Any, column: Column) -> Any:
    if not isinstance(numbers, Mapping):
        return numbers
    named = column.names[: len(numbers)]  # new labels come after those of the fit
    mean = float(np.mean([float(number) for number in numbers.values()]))
    return {**numbers, **{name: mean for name in column.names if name not in named}}
