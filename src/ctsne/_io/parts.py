"""What the readers of all formats return, and the checks that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.messages import listed, unknown

__all__ = ["Parts", "check_labels", "check_numbers", "feature_values", "numbered", "selected"]


@dataclass(frozen=True, eq=False)
class Parts:
    """The content of a file: a matrix (not in a file of labels), columns and row names.

    ``called`` is the name of the column that the row names stood in, if it had one.
    """

    X: Any
    features: tuple[str, ...]
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    source: str
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())
    called: str | None = None


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Name features that have no names."""
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


def selected(X: Any, features: tuple[str, ...], chosen: Sequence[str]) -> Any:
    """Return the chosen columns of a matrix; the matrix itself if they are all of them."""
    if len(chosen) == len(features):
        return X
    kept = set(chosen)
    return X[:, [position for position, name in enumerate(features) if name in kept]]


def feature_values(X: Any, features: Sequence[str], name: str) -> NDArray[Any]:
    """Return one column of a matrix, dense, by its name."""
    values = X[:, [features.index(name)]]
    return np.asarray(values.toarray() if is_sparse(values) else values).ravel()


def check_labels(labels: Sequence[str], known: Sequence[str], *, where: str) -> None:
    """Refuse names of labels that are not columns of the file."""
    for name in labels:
        if name not in known:
            raise ValueError(unknown(name, known, what="column", where=where))


def check_numbers(
    X: Any, features: Sequence[str], names: NDArray[np.str_] | None, *, path: Path
) -> Any:
    """Return the matrix with real, finite values, sparse ones as CSR; refuse any other."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path} must hold real numbers in its matrix, got {X.dtype}")
    if len(X.shape) != 2:
        raise ValueError(
            f"{path} must hold a matrix with a row for each point and a column for each feature, "
            f"got an array of shape {X.shape}"
        )
    if 0 in X.shape:
        raise ValueError(f"{path} holds no data: {X.shape[0]} rows, {X.shape[1]} features")
    if is_sparse(X):
        X = X.tocsr()
    values = X.data if is_sparse(X) else X
    if X.dtype.kind != "f" or not values.size or np.isfinite([values.min(), values.max()]).all():
        return X
    bad = ~np.isfinite(values)
    if is_sparse(X):
        entries = np.flatnonzero(bad)
        rows = np.searchsorted(X.indptr, entries, side="right") - 1
        columns = X.indices[entries]
    else:
        rows, columns = np.nonzero(bad)
    row, column = int(rows[0]), int(columns[0])
    what = "a missing" if np.isnan(X[row, column]) else "an infinite"
    named = "" if names is None else f" ({str(names[row])!r:.40})"
    affected = [features[position] for position in np.unique(columns)]
    raise ValueError(
        f"{path} has {what} number in row {row + 1}{named}, column {features[column]!r:.60} "
        f"({len(rows)} missing or infinite in all, in {len(affected)} of {len(features)} "
        f"columns: {listed(affected, most=5)}); remove those rows, fill the gaps, or leave the "
        "columns out with --features"
    )
