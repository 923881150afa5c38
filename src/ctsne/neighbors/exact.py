"""Exact neighbours: every pair of points, each looked at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.labels import Labels
from ctsne.neighbors.arrange import Arranged, by_label, unit_rows
from ctsne.neighbors.lists import Neighbors

# Coordinate differences one thread forms in about a tenth of a second: the search returns to Python
# that often, so that Ctrl-C is heard.
_SLICE_WORK = 1e9


def exact_neighbors(
    X: NDArray[np.floating],
    labels: Labels | None,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    *,
    metric: str,
    n_jobs: int,
    rows: NDArray[np.integer] | None = None,
) -> Neighbors:
    """Search all pairs, with arguments as :func:`ctsne.neighbors.find_neighbors` checked them."""
    points = unit_rows(X) if metric == "cosine" else X
    arranged, bounds, scale = by_label(points, labels, n_jobs)
    n, length = len(points), int(k_same[0] + k_other[0])
    indices = np.empty((n, length), np.int32)
    distances = np.empty((n, length), np.float32)
    scan_all(arranged, bounds, points, scale, k_same, k_other, n_jobs, rows, (indices, distances))
    if rows is not None:
        indices, distances, k_same = indices[rows], distances[rows], k_same[rows]
    return as_metric(Neighbors(indices, distances, k_same, scale), metric)


def scan_all(
    arranged: Arranged,
    bounds: NDArray[np.int64],
    points: NDArray[np.floating],
    scale: float,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    n_jobs: int,
    rows: NDArray[np.integer] | None,
    out: tuple[NDArray[np.int32], NDArray[np.float32]],
) -> None:
    """Write both lists of all points, or of some, into ``out``, a row for each of all points."""
    n, dims = points.shape
    queries = np.arange(n)
    if rows is not None:
        wanted = np.zeros(n, np.bool_)
        wanted[rows] = True
        queries = np.flatnonzero(wanted[arranged.ids])
    step = max(64 * n_jobs, int(_SLICE_WORK * n_jobs / (n * (dims + 8))))
    for begin in range(0, len(queries), step):
        for other, k in ((False, k_same), (True, k_other)):
            if k.any():
                _native.find_exact(
                    arranged.packed, arranged.rows, arranged.ids, arranged.codes, points, scale,
                    bounds, other, queries[begin : begin + step], k_same, k_other, n_jobs, *out,
                )  # fmt: skip


def as_metric(found: Neighbors, metric: str) -> Neighbors:
    """Turn distances between unit vectors into cosine distances, if those were asked for."""
    if metric != "cosine":
        return found
    # between unit vectors, |a - b|² / 2 is one minus their cosine
    distances = (0.5 * found.distances.astype(np.float64) ** 2).astype(np.float32)
    return Neighbors(found.indices, distances, found.n_same, 1.0, found.recall)
