"""Exact neighbours: every pair of points, each looked at once."""

from __future__ import annotations

from dataclasses import dataclass

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
    aligned: NDArray[np.floating] | None = None,
) -> Neighbors:
    """Search all pairs, with arguments as :func:`ctsne.neighbors.find_neighbors` checked them."""
    searched = searched_points(X, aligned, labels, metric=metric, n_jobs=n_jobs)
    n, length = len(X), int(k_same[0] + k_other[0])
    out = np.empty((n, length), np.int32), np.empty((n, length), np.float32)
    for other, points in enumerate(searched):
        scan_all(points, k_same, k_other, n_jobs, rows, out, other=bool(other))
    (indices, distances), scale = out, searched[0].scale
    if rows is not None:
        indices, distances, k_same = indices[rows], distances[rows], k_same[rows]
    return as_metric(Neighbors(indices, distances, k_same, scale), metric)


@dataclass(frozen=True, eq=False)
class Searched:
    """Points that one of the two lists is searched among, as they are and as they are scanned."""

    points: NDArray[np.floating]
    arranged: Arranged
    bounds: NDArray[np.int64]
    scale: float


def searched_points(
    X: NDArray[np.floating],
    aligned: NDArray[np.floating] | None,
    labels: Labels | None,
    *,
    metric: str,
    n_jobs: int,
) -> tuple[Searched, Searched]:
    """Prepare the points of the list of the same label, and those of the list of other labels."""
    prepared = []
    for given in (X, aligned):
        if given is not None:
            points = unit_rows(given) if metric == "cosine" else given
            prepared.append(Searched(points, *by_label(points, labels, n_jobs)))
    return prepared[0], prepared[-1]


def scan_all(
    searched: Searched,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    n_jobs: int,
    rows: NDArray[np.integer] | None,
    out: tuple[NDArray[np.int32], NDArray[np.float32]],
    *,
    other: bool,
) -> None:
    """Write one list of all points, or of some, into ``out``, a row for each of all points."""
    if not (k_other if other else k_same).any():
        return
    arranged, points = searched.arranged, searched.points
    n, dims = points.shape
    queries = np.arange(n)
    if rows is not None:
        wanted = np.zeros(n, np.bool_)
        wanted[rows] = True
        queries = np.flatnonzero(wanted[arranged.ids])
    step = max(64 * n_jobs, int(_SLICE_WORK * n_jobs / (n * (dims + 8))))
    for begin in range(0, len(queries), step):
        _native.find_exact(
            arranged.packed, arranged.rows, arranged.ids, arranged.codes, points, searched.scale,
            searched.bounds, other, queries[begin : begin + step], k_same, k_other, n_jobs, *out,
        )  # fmt: skip


def as_metric(found: Neighbors, metric: str) -> Neighbors:
    """Turn distances between unit vectors into cosine distances, if those were asked for."""
    if metric != "cosine":
        return found
    # between unit vectors, |a - b|² / 2 is one minus their cosine
    distances = (0.5 * found.distances.astype(np.float64) ** 2).astype(np.float32)
    return Neighbors(found.indices, distances, found.n_same, 1.0, found.recall)
