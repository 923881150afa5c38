"""New points as they are given: checked against the map they go into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ctsne._core import checks
from ctsne._core.messages import NoLabelsWarning, label_text, quoted, warn
from ctsne.affinity.new_rows import Codes
from ctsne.labels import UNNAMED, Column, Labels, combine_columns, encode_labels
from ctsne.labels.column import as_values
from ctsne.labels.columns import given_columns
from ctsne.placing.reference import LARGEST_SHARE, Reference, ReferenceSource

_Known = ReferenceSource | Reference  # of a map


@dataclass(frozen=True, eq=False)
class Request:
    """New points as they were checked."""

    matrix: Any
    codes: Codes  # labels of all columns: -1 where missing, beyond those of the map where new
    names: tuple[Any, ...]  # of new labels, if there is one column
    aligned: NDArray[np.floating] | None
    perplexity: float


def check_request(
    model: Any, source: _Known, X: Any, labels: Any, aligned: Any = None, perplexity: Any = None
) -> Request:
    """Check new points for a fitted model, and for the map that it has."""
    matrix = checks.check_matrix(X, least=1)
    checks.check_names(X)
    validate_data(model, X, reset=False, skip_check_array=True)
    for column in given_columns(labels):
        checks.check_same_rows(X, column)
    checks.check_same_rows(X, aligned, argument="aligned")
    if source.metric == "cosine":
        checks.check_directions(matrix)
    if source.metric == "precomputed":
        _check_distances(matrix, source.n_points)
    m = matrix.shape[0]
    codes, names = check_new_labels(labels, model.labels_, source.used, m)
    number = source.perplexity
    if perplexity is not None:
        number = checks.check_number(perplexity, "perplexity", low=1)
    number = min(number, max(1.0, LARGEST_SHARE * source.n_points))
    near = _check_aligned(aligned, m, source)
    if labels is None and source.used:
        warn(
            "no labels given, so the new points are placed next to their nearest points of any "
            "label; pass labels=... to factor theirs out",
            NoLabelsWarning,
        )
    return Request(matrix, codes, names, near, number)


def _check_distances(matrix: Any, n: int) -> None:
    if matrix.shape[1] != n:
        raise ValueError(
            f'with metric="precomputed", X must hold the distances of new points to all {n} points '
            f"of the map, one column each, got shape {matrix.shape}"
        )
    if matrix.min() < 0:
        must = 'with metric="precomputed", X must hold distances, which are not negative'
        raise ValueError(f"{must}, got {matrix.min()}; turn similarities into distances first")
    if checks.is_sparse(matrix) and not np.diff(matrix.indptr).all():
        first = int(np.flatnonzero(np.diff(matrix.indptr) == 0)[0])
        raise ValueError(f"X has no distances for the new point in row {first}; it needs some")


def _check_aligned(aligned: Any, m: int, source: _Known) -> NDArray[np.floating] | None:
    """Return the new points in the representation that the map was aligned by."""
    alignment = source.alignment
    if alignment.name != "array":
        if aligned is not None:
            what = "aligned is only for models that were fitted with an array as align"
            raise ValueError(f'{what}, but this one has align="{alignment.name}"; leave it out')
        return None
    assert alignment.points is not None
    width = alignment.points.shape[1]
    if aligned is None:
        raise ValueError(
            "the model was fitted with an array as align, so the new points are needed in the same "
            f"representation: pass aligned=..., an array of shape ({m}, {width})"
        )
    if checks.is_sparse(aligned):
        raise TypeError("aligned must be a dense array with a row for each point, got a sparse one")
    points = checks.check_matrix(aligned, argument="aligned", least=1)
    if points.shape != (m, width):
        what = "aligned must have a row for each new point and the columns of the fit"
        raise ValueError(f"{what}, of shape ({m}, {width}); got shape {points.shape}")
    if source.metric == "cosine":
        checks.check_directions(points, argument="aligned")
    return np.asarray(points * alignment.factor, alignment.points.dtype)


def check_new_labels(
    labels: Any, known: Labels | None, used: tuple[int, ...], m: int
) -> tuple[Codes, tuple[Any, ...]]:
    """Return codes of new points in the columns that have an effect, and names of new labels."""
    # Labels that the map does not have get further codes; their names only if it has one column.
    given = None if labels is None else encode_labels(labels, n=m).without_unused()
    if given is None or known is None or not used:
        return np.full((m, len(used)), -1, np.int32), ()
    columns = matching_columns(given, known)
    made = [_codes(columns[place], known.columns[place]) for place in used]
    codes = np.ascontiguousarray(np.stack([codes for codes, _ in made], axis=1))
    return codes, made[0][1] if len(made) == 1 else ()


def labels_for(known: Labels | None, columns: Sequence[Any]) -> dict[str, Any] | None:
    """Return label columns as a model takes them: several may be one that was combined."""
    if not columns:
        return None
    names = (UNNAMED,) if known is None else known.names
    if len(names) == 1 and len(columns) > 1:
        columns = [combine_columns(columns)]
    if len(columns) != len(names):
        count = f"{len(names)} label columns ({quoted(names)})"
        raise ValueError(f"labels: the model has {count}, got {len(columns)}")
    return dict(zip(names, columns, strict=True))


def in_order(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names of label columns in the order of the map's, if they are the same."""
    return list(known if set(names) == set(known) else names)


def matching_columns(given: Labels, known: Labels) -> tuple[Column, ...]:
    """Return the columns given in the order of the map's."""
    wanted = f"the model was fitted with {known.n_columns} ({quoted(known.names)})"
    if given.n_columns != known.n_columns:
        plural = "s" if given.n_columns > 1 else ""
        raise ValueError(f"labels has {given.n_columns} column{plural}, but {wanted}")
    if set(given.names) == set(known.names):
        return tuple(given.by_name[name] for name in known.names)
    unnamed = tuple(str(place + 1) for place in range(known.n_columns))
    if known.n_columns == 1 or unnamed in (given.names, known.names):
        return given.columns  # in the order of the fit
    raise ValueError(f"labels has the columns {quoted(given.names)}, but {wanted}")


def _codes(given: Column, known: Column) -> tuple[Codes, tuple[Any, ...]]:
    """Find each label by its value or, if unambiguous, by its text; a number by its group."""
    if known.numbers is not None:
        return known.groups_of(as_values(given, "numbers")), ()
    by_value = {name: code for code, name in enumerate(known.names)}
    by_text: dict[str, list[int]] = {}
    for code, name in enumerate(known.names):
        by_text.setdefault(label_text(name), []).append(code)
    codes: list[int] = []
    new: list[Any] = []
    for name in given.names:
        found = [by_value[name]] if name in by_value else by_text.get(label_text(name), [])
        new += [name] * (len(found) != 1)
        codes.append(found[0] if len(found) == 1 else known.n_labels + len(new) - 1)
    return np.append(np.array(codes, np.int32), np.int32(-1))[given.codes], tuple(new)
