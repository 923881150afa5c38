"""Exact neighbours over all pairs, and the points in the form that searches scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.progress import Report, in_parts, within
from ctsne.labels import Column
from ctsne.neighbors.lists import Neighbors

# Numbers converted to double precision at a time, so that the data are never copied as a whole.
_NUMBERS_AT_ONCE = 1 << 20


def exact_neighbors(
    X: NDArray[np.floating],
    labels: Column | None,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    *,
    metric: str,
    n_jobs: int,
    rows: NDArray[np.integer] | None = None,
    aligned: NDArray[np.floating] | None = None,
    after_part: Report | None = None,
) -> Neighbors:
    """Search all pairs, with arguments as :func:`ctsne.neighbors.find_neighbors` checked them."""
    searched = searched_points(X, aligned, labels, metric=metric, n_jobs=n_jobs)
    lists = _native.NeighborLists(k_same, int(k_same[0] + k_other[0]))
    # Each list takes as long as it has candidates: all pairs with equal labels, or the others.
    sizes = np.diff(searched[0].bounds) / len(X)
    halves = (0.0, float((sizes**2).sum())), (float((sizes**2).sum()), 1.0)
    for other, lengths in enumerate((k_same, k_other)):
        if lengths.any():
            part = within(after_part, *halves[other])
            scan_all(searched[other], lists, rows, other=bool(other), after_part=part)
    indices, distances = lists.indices, lists.distances
    if rows is not None:
        indices, distances, k_same = indices[rows], distances[rows], k_same[rows]
    return as_metric(Neighbors(indices, distances, k_same, searched[0].scale), metric)


class Searched(NamedTuple):
    """Points sorted by label, unlabelled ones last: the candidates of one of the two lists."""

    points: _native.SearchPoints
    bounds: NDArray[np.int64]  # where each label begins, and where the last one ends
    scale: float


def searched_points(
    X: NDArray[np.floating],
    aligned: NDArray[np.floating] | None,
    labels: Column | None,
    *,
    metric: str,
    n_jobs: int,
) -> tuple[Searched, Searched]:
    """Prepare the points of the same-label lists, and those of the other-label lists."""
    prepared = [
        _by_label(unit_rows(given) if metric == "cosine" else given, labels, n_jobs)
        for given in (X, aligned)
        if given is not None
    ]
    return prepared[0], prepared[-1]


def scan_all(
    searched: Searched,
    lists: _native.NeighborLists,
    rows: NDArray[np.integer] | None,
    *,
    other: bool,
    after_part: Report | None = None,
) -> None:
    """Fill one list of all points, or of some, by scanning all candidates."""
    ids = searched.points.ids
    wanted = np.full(len(ids), rows is None)
    if rows is not None:
        wanted[rows] = True
    for queries in in_parts(np.flatnonzero(wanted[ids]), after_part):
        searched.points.find_exact(lists, queries, other)


def as_metric(found: Neighbors, metric: str) -> Neighbors:
    """Turn distances between unit vectors into cosine distances, for that metric."""
    if metric != "cosine":
        return found
    # Between unit vectors, |a - b|² / 2 is one minus their cosine.
    distances = (0.5 * found.distances.astype(np.float64) ** 2).astype(np.float32)
    return Neighbors(found.indices, distances, found.n_same, 1.0, found.recall)


def unit_rows(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale rows to length one, in double precision because near-parallel ones hardly differ."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / largest.astype(np.float64)  # so that squares neither overflow nor vanish
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def _by_label(points: NDArray[np.floating], labels: Column | None, n_jobs: int) -> Searched:
    """Sort points by label; without labels all points have the same one."""
    n = len(points)
    if labels is None or labels.n_labels == 0:
        codes, counts = np.zeros(n, np.int32), np.array([n])
    else:
        codes, counts = labels.codes, labels.counts
    order = np.argsort(np.where(codes < 0, len(counts), codes), kind="stable").astype(np.uint32)
    bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    original: Any = points
    scaled, scaling = centred_and_scaled(points)
    scale = scaling.scale
    arranged = _native.SearchPoints(original, scaled, order, codes, scale=scale, n_jobs=n_jobs)
    return Searched(arranged, bounds, scale)


class Scaling(NamedTuple):
    """How points were centred and scaled: less ``first``, less ``mean``, divided by ``scale``."""

    first: NDArray[np.float64]  # subtracted first, so that identical points become zeros
    mean: NDArray[np.float64]
    scale: float


def centred_and_scaled(X: NDArray[np.floating]) -> tuple[NDArray[np.float32], Scaling]:
    """Return float32 data whose digits hold the differences, and how they were scaled."""
    first = X[0].astype(np.float64)
    step = max(1, _NUMBERS_AT_ONCE // X.shape[1])

    def centred() -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for begin in range(0, len(X), step):
            part = slice(begin, begin + step)
            yield part, X[part] - first

    mean = sum(part.sum(axis=0) for _, part in centred()) / len(X)
    scale = max(float(np.abs(part - mean).max()) for _, part in centred()) or 1.0
    scaled = np.empty(X.shape, np.float32)
    for part, values in centred():
        scaled[part] = (values - mean) / scale
    return scaled, Scaling(first, mean, scale)
