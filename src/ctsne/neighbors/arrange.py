"""Points as the searches scan them: single precision, in another order, packed in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.labels import Labels

# Numbers brought to double precision at once, so that no whole copy of the data is.
_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Arranged:
    """Points in a new order; a position counts in that order, an id in the order of the data.

    Attributes
    ----------
    rows : ndarray of float32, shape (n, d)
        Centred and scaled points, by position.
    packed : ndarray of float32, shape (blocks, d, BLOCK)
        The same in blocks, dimensions outside and points inside; NaN fills the last one.
    ids : ndarray of uint32, shape (n,)
    codes : ndarray of int32, shape (blocks * BLOCK,)
        Label of each position, -1 where missing.
    """

    rows: NDArray[np.float32]
    packed: NDArray[np.float32]
    ids: NDArray[np.uint32]
    codes: NDArray[np.int32]


def arranged(
    rows: NDArray[np.float32],
    order: NDArray[np.uint32],
    ids: NDArray[np.uint32],
    codes: NDArray[np.int32],
    n_jobs: int,
) -> Arranged:
    """Bring rows in an order; ``ids`` and ``codes`` are those of the rows as they stand."""
    n, dims = len(order), rows.shape[1]
    blocks = -(-n // _native.BLOCK)
    new = np.empty((n, dims), np.float32)
    packed = np.empty((blocks, dims, _native.BLOCK), np.float32)
    _native.arrange(rows, order, n_jobs, new, packed)
    padded = np.full(blocks * _native.BLOCK, -1, np.int32)
    padded[:n] = codes[order]
    return Arranged(new, packed, ids[order], padded)


def by_label(
    points: NDArray[np.floating], labels: Labels | None, n_jobs: int
) -> tuple[Arranged, NDArray[np.int64], float]:
    """Order points by label, unlabelled ones last.

    Returns the points, where each label begins (and the last one ends), and the scale taken off
    the coordinates. Without labels all points have one.
    """
    n = len(points)
    scaled, scale = _centred_and_scaled(points)
    if labels is None or labels.n_labels == 0:
        codes, counts = np.zeros(n, np.int32), np.array([n])
    else:
        codes, counts = labels.codes, labels.counts
    keys = np.where(codes < 0, len(counts), codes)
    order = np.argsort(keys, kind="stable").astype(np.uint32)
    bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return arranged(scaled, order, np.arange(n, dtype=np.uint32), codes, n_jobs), bounds, scale


def unit_rows(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale rows to length one, in double precision: near-parallel ones differ by little."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / largest.astype(np.float64)  # so that squares neither overflow nor vanish
    unit: NDArray[np.float64] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def _centred_and_scaled(X: NDArray[np.floating]) -> tuple[NDArray[np.float32], float]:
    """Give float32 data with its digits where the differences are, and the scale taken off it."""
    first = X[0].astype(np.float64)  # first by one of them: identical points become zeros

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
    return scaled, scale
