"""Neighbourhood preservation R_NX, adjusted for labels (paper, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._validation import check_features
from ctsne.evaluate._inputs import check_k
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import find_neighbors

__all__ = ["adjusted_rnx"]

# Entries sorted at a time: bounds the memory beside the neighbour lists.
_CHUNK_ENTRIES = 2**22


def adjusted_rnx(
    embedding: ArrayLike, X: ArrayLike, labels: object = None, *, k: int = 30, n_jobs: int = -1
) -> float:
    """Share of neighbours in the data that the map keeps, above chance.

    With labels, the neighbours in the map are compared with equally many nearest points of the
    same and of different labels in the data, so that mixing labels is not held against the map.

    Parameters
    ----------
    embedding : array-like of shape (n, d')
        Positions in the map.
    X : array-like of shape (n, d)
        The data.
    labels : array-like of shape (n,), optional
        Any label column. A point without a label, or a pair with one, is never different.
        Without labels this is the usual R_NX.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float
        ``R_NX(k)``: 1 if all neighbourhoods are kept; 0 is what chance gives without labels.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_rnx
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_rnx(X, X, ["a", "b", "a", "b"], k=1)
    1.0
    """
    low = check_features(embedding, argument="embedding")
    high = check_features(X)
    n = len(low)
    if len(high) != n:
        raise ValueError(f"X and embedding must be of the same points, got {len(high)} and {n}")
    k = check_k(k, n=n)
    encoded = None if labels is None else encode_labels(labels, n=n)
    found = find_neighbors(low, k_same=k, n_jobs=n_jobs).indices
    if encoded is None:
        overlap = _overlap(found, find_neighbors(high, k_same=k, n_jobs=n_jobs).indices)
    else:
        overlap = _adjusted_overlap(found, high, encoded, n_jobs)
    return float(((n - 1) * overlap / (n * k) - k) / (n - 1 - k))


def _adjusted_overlap(
    found: NDArray[np.int32], high: NDArray[np.floating], labels: Labels, n_jobs: int
) -> int:
    n, k = found.shape
    # k of each kind, where there are as many, is enough whatever the map's neighbours are.
    lists = find_neighbors(high, labels, k_same=k, k_other=k, n_jobs=n_jobs)
    position = np.arange(lists.indices.shape[1])
    step = max(1, _CHUNK_ENTRIES // (2 * k))
    overlap = 0
    for start in range(0, n, step):
        rows = slice(start, start + step)
        n_other = _count_different(found[rows], labels.codes, labels.codes[rows])[:, None]
        n_same = lists.n_same[rows, None]
        is_other = position >= n_same
        taken = position < np.where(is_other, n_same + n_other, k - n_other)
        overlap += _overlap(found[rows], lists.indices[rows][taken].reshape(-1, k))
    return overlap


def _count_different(
    found: NDArray[np.int32], codes: NDArray[np.int32], own: NDArray[np.int32]
) -> NDArray[np.intp]:
    near = codes[found]
    different = (near != own[:, None]) & (near >= 0) & (own >= 0)[:, None]
    return np.asarray(different.sum(axis=1))


def _overlap(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Count the entries that two tables share row by row; no row repeats an entry."""
    step = max(1, _CHUNK_ENTRIES // (a.shape[1] + b.shape[1]))
    total = 0
    for start in range(0, len(a), step):
        both = np.sort(np.hstack([a[start : start + step], b[start : start + step]]), axis=1)
        total += int((both[:, 1:] == both[:, :-1]).sum())
    return total
