"""Neighbours from features: checks, and the choice of the search."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._validation import check_features, check_jobs, check_metric
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors.exact import exact_neighbors
from ctsne.neighbors.lists import Neighbors, fill_lists


def find_neighbors(
    X: ArrayLike,
    labels: object = None,
    *,
    k_same: int | NDArray[np.int32],
    k_other: int | NDArray[np.int32] = 0,
    metric: str = "euclidean",
    n_jobs: int | None = -1,
) -> Neighbors:
    """Find the nearest points with the same and with another label.

    The search is exact. Single-precision distances (of centred and scaled data, by differences)
    choose a few more candidates than needed; double precision on the data as given orders them.
    Ties are broken by index.

    Parameters
    ----------
    X : array-like, shape (n, d)
        Dense features. float32 and float64 are used as they are, others become float64.
    labels : array-like of length n or Labels, optional
        Without labels there is one list.
    k_same, k_other : int or ndarray of shape (n,)
        Length of each list. Where one has too few candidates, the other takes the rest, so every
        row holds ``min(k_same + k_other, n - 1)`` neighbours. Arrays must have a constant sum.
    metric : {"euclidean", "cosine"}
    n_jobs : int, default=-1
        Threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> from ctsne.neighbors import find_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [2.0], [4.0]], ["a", "b", "a", "b"], k_same=1, k_other=1)
    >>> found.indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    features = check_features(X)
    n = len(features)
    encoded = _as_labels(labels, n)
    same = np.broadcast_to(np.asarray(k_same, np.int64), (n,))
    sums = same + np.asarray(k_other, np.int64)
    if same.min() < 0 or np.min(k_other) < 0 or sums.min() < 1:
        raise ValueError("k_same and k_other must not be negative, and at least one of them positive")
    if sums.min() != sums.max():
        raise ValueError("k_same + k_other must be the same for all points")
    lengths = fill_lists(same, int(sums[0]), encoded)
    return exact_neighbors(
        features, encoded, *lengths, metric=check_metric(metric), n_jobs=check_jobs(n_jobs)
    )


def _as_labels(labels: object, n: int) -> Labels | None:
    if labels is None or isinstance(labels, Labels):
        return labels
    return encode_labels(labels, n=n)
