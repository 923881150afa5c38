"""All points in order of distance, for some of them: what whole curves and ranks need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne.evaluate.neighborhoods import DataNeighbors
from ctsne.labels import Labels
from ctsne.neighbors.lists import different_labels

# Neighbourhoods of more than this share of the points are faster read off a ranking of all points
# than searched.
RANKED_SHARE = 1 / 16
_BLOCK_ENTRIES = 2**18


def ranking(X: NDArray[np.float64], points: NDArray[np.int64]) -> NDArray[np.int32]:
    """All other points of some points, nearest first; ties by index."""
    return _in_order(X, points, None)


def ranked_data(
    X: NDArray[np.float64], labels: Labels | None, points: NDArray[np.int64]
) -> DataNeighbors:
    """Form the lists of a search for the largest neighbourhoods, without the distances."""
    n = len(X)
    other = different_labels(labels, points[:, None], np.arange(n))
    n_same = (n - 1 - other.sum(axis=1)).astype(np.int32)
    none = np.empty((len(points), 0), np.float32)
    return DataNeighbors(points, n, labels, n - 1, _in_order(X, points, other), none, n_same)


def _in_order(
    X: NDArray[np.float64], points: NDArray[np.int64], last: NDArray[np.bool_] | None
) -> NDArray[np.int32]:
    """Order all other points by distance, those marked after the rest."""
    distances = cdist(X[points], X, "sqeuclidean")
    distances /= distances.max() or 1.0  # so that single precision has the range
    # One whole number orders by kind, distance and index, and such numbers are sorted fastest.
    # Rankings of all points can do with distances of seven digits; they were formed with more.
    keys = distances.astype(np.float32).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(len(X), dtype=np.uint64)
    if last is not None:
        keys |= last.astype(np.uint64) << np.uint64(63)
    keys[np.arange(len(points)), points] = np.iinfo(np.uint64).max  # itself at the end
    keys.sort(axis=1)
    return keys[:, :-1].astype(np.uint32).astype(np.int32)


def blocks(points: NDArray[np.int64], n: int) -> Iterator[NDArray[np.int64]]:
    """Divide points so that a row of all n points for each of a block stays in the cache."""
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, len(points), step):
        yield points[start : start + step]
