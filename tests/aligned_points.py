"""The points that an alignment gives, for tests."""

from __future__ import annotations

from typing import Any

from ctsne.labels import Column, join_columns
from ctsne.neighbors.alignment import choose_alignment


def align_points(
    X: Any, labels: Column, how: str, *, metric: str = "euclidean", n_jobs: int = -1
) -> Any:
    """Move the points of each label; X itself is returned if nothing moves."""
    known = join_columns(["label"], [labels])
    aligned = choose_alignment(X, known, how, metric=metric, n_jobs=n_jobs).points
    return X if aligned is None else aligned
