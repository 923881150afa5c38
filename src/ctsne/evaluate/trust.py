"""Trustworthiness: whether neighbours in the map were near in the data."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features, check_jobs
from ctsne.evaluate._inputs import Options
from ctsne.evaluate._ranking import blocks, ranking
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, resolve_map

__all__ = ["trustworthiness"]


@overload
def trustworthiness(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def trustworthiness(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def trustworthiness(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Whether the neighbours in the map were near in the data.

    The same number as :func:`sklearn.manifold.trustworthiness`, but on a sample if wanted (whose
    neighbours are among all points), in bounded memory and by threads. It ranks all points by
    their distance from each one measured; for more than some ten thousand points take a sample.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like of shape (n, d)
        The data.
    k : int, default=30
        Neighbourhood size, less than n / 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return the value of each (sampled) point instead of their mean.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        1 if no point has a neighbour in the map that is none in the data; 0 is the worst mean.

    Examples
    --------
    >>> from ctsne.evaluate import trustworthiness
    >>> X = [[0.0], [1.0], [3.0], [7.0], [15.0]]
    >>> trustworthiness(X, X, k=2), round(trustworthiness([[0], [2], [4], [1], [3]], X, k=2), 3)
    (1.0, 0.467)
    """
    given, n = checked_map(embedding)
    high = check_features(X)
    if len(high) != n:
        raise ValueError(f"X and embedding must be of the same points, got {len(high)} and {n}")
    if isinstance(k, int) and 2 * k >= n > 2:
        raise ValueError(f"k must be less than half of the {n} points, got {k}")
    data = high.astype(np.float64)
    found = resolve_map(given, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs)

    def intrusions(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """By how much the neighbours of a point in the map are too far in the data, together."""
        order = ranking(data, found.points[rows])
        ranks = np.empty((len(rows), n), np.int32)
        np.put_along_axis(ranks, order, np.arange(1, n, dtype=np.int32)[None, :], axis=1)
        near = np.take_along_axis(ranks, found.indices[rows], axis=1)
        return np.asarray(np.maximum(near - k, 0).sum(axis=1, dtype=np.int64))

    run = joblib.Parallel(check_jobs(n_jobs), require="sharedmem")
    parts = run(
        joblib.delayed(intrusions)(rows) for rows in blocks(np.arange(len(found.points)), n)
    )
    values = 1 - 2 / (k * (2 * n - 3 * k - 1)) * np.concatenate(parts)
    return values if pointwise else float(values.mean())
