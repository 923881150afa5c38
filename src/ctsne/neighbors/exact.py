"""Exact neighbours: every pair of points, in one fused native pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.labels import Labels
from ctsne.neighbors.lists import Neighbors

# Coordinate differences one thread forms in about a tenth of a second: the search returns to Python
# that often, so that Ctrl-C is heard.
_SLICE_WORK = 5e8


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
    n, dims = X.shape
    points = _unit_rows(X) if metric == "cosine" else X
    wanted = np.ones(n, np.bool_)
    if rows is not None:
        wanted[:] = False
        wanted[rows] = True
    order, own_begin, own_end, free_begin = _label_ranges(labels, wanted)
    scaled, scale = _centred_and_scaled(points)
    ordered = scaled[order]
    packed = _pack(ordered)
    ids = order.astype(np.uint32)
    same, other = k_same[order], k_other[order]
    length = int(k_same[0] + k_other[0])
    indices = np.empty((n, length), np.int32)
    distances = np.empty((n, length), np.float32)
    step = max(256, int(_SLICE_WORK * n_jobs / (n * (dims + 8))))
    for first, last in _runs(wanted[order]):
        for begin in range(first, last, step):
            _native.find_neighbors(
                packed, ordered, points, ids, own_begin, own_end, free_begin, same, other, scale,
                begin, min(last, begin + step), n_jobs, indices, distances,
            )  # fmt: skip
    if rows is not None:
        indices, distances, k_same = indices[rows], distances[rows], k_same[rows]
    if metric == "cosine":  # between unit vectors, |a - b|² / 2 is one minus their cosine
        distances, scale = (0.5 * distances.astype(np.float64) ** 2).astype(np.float32), 1.0
    return Neighbors(indices, distances, k_same, scale)


def _label_ranges(
    labels: Labels | None, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Order points by label, unlabelled last, and give each its own label's range in that order.

    Inside a label the wanted points come first, so that they are one run of queries.
    """
    n = len(wanted)
    if labels is None or labels.n_labels == 0:
        order = np.argsort(~wanted, kind="stable")
        return order, np.zeros(n, np.int64), np.full(n, n, np.int64), n
    keys = np.where(labels.codes < 0, labels.n_labels, labels.codes)
    order = np.lexsort((~wanted, keys))
    ends = np.cumsum(labels.counts)
    labelled = int(ends[-1])
    codes = labels.codes[order[:labelled]]
    begin = np.zeros(n, np.int64)
    end = np.full(n, n, np.int64)
    begin[:labelled] = (ends - labels.counts)[codes]
    end[:labelled] = ends[codes]
    return order, begin, end, labelled


def _runs(wanted: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """List where runs of wanted positions begin and end."""
    edges = np.flatnonzero(np.diff(wanted, prepend=False, append=False))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _unit_rows(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale rows to length one, in double precision: near-parallel ones differ by little."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / largest.astype(np.float64)  # so that squares neither overflow nor vanish
    unit: NDArray[np.float64] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def _centred_and_scaled(X: NDArray[np.floating]) -> tuple[NDArray[np.float32], float]:
    """Give float32 data with its digits where the differences are, and the scale taken off it."""
    centred = X - X[0].astype(np.float64)  # first by one of them: identical points become zeros
    centred -= centred.mean(axis=0)
    scale = float(np.abs(centred).max()) or 1.0
    return (centred / scale).astype(np.float32), scale


def _pack(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Form blocks of points, dimensions outside and points inside; NaN fills the last one."""
    n, dims = rows.shape
    blocks = -(-n // _native.BLOCK)
    padded = np.full((blocks * _native.BLOCK, dims), np.nan, np.float32)
    padded[:n] = rows
    return np.ascontiguousarray(padded.reshape(blocks, _native.BLOCK, dims).transpose(0, 2, 1))
