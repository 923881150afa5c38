"""The Laplacian score: how much an embedding mixes a label (paper, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._validation import check_features
from ctsne.evaluate._inputs import check_k
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors

__all__ = ["expected_laplacian", "laplacian"]


def laplacian(embedding: ArrayLike, labels: object, *, k: int = 30, n_jobs: int = -1) -> float:
    """Mean share of different labels among the k nearest neighbours in the map.

    0 means that every neighbourhood is of one label. Random labels give `expected_laplacian`.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
        Positions in the map.
    labels : array-like of shape (n,)
        Any label column. Points without a label count neither as points nor as neighbours.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float
        The score, between 0 and 1; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> from ctsne.evaluate import laplacian
    >>> laplacian([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    0.25
    """
    points = check_features(embedding, argument="embedding")
    n = len(points)
    k = check_k(k, n=n)
    codes = encode_labels(labels, n=n).codes
    near = codes[find_neighbors(points, k_same=k, n_jobs=n_jobs).indices]
    counted = near >= 0
    different = (near != codes[:, None]) & counted
    total = counted.sum(axis=1)
    used = (codes >= 0) & (total > 0)
    if not used.any():
        return float("nan")
    return float(np.mean(different.sum(axis=1)[used] / total[used]))


def expected_laplacian(labels: object) -> float:
    """Laplacian score expected when the labels are assigned at random.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column; missing labels are left out.

    Returns
    -------
    float
        ``Σ n_l (m - n_l) / (m (m - 1))`` over the m labelled points; nan if there are not two.

    Examples
    --------
    >>> from ctsne.evaluate import expected_laplacian
    >>> round(expected_laplacian(["a", "a", "b", "b"]), 3)
    0.667
    """
    counts = encode_labels(labels).counts.astype(np.float64)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")
