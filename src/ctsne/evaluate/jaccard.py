"""The Jaccard index of neighbourhoods in map and data, adjusted for labels."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.evaluate._inputs import Options
from ctsne.evaluate._overlap import shared_neighbors
from ctsne.evaluate.neighborhoods import DataNeighbors, MapNeighbors

__all__ = ["adjusted_jaccard"]


@overload
def adjusted_jaccard(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def adjusted_jaccard(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def adjusted_jaccard(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Mean Jaccard index ``|v ∩ n| / |v ∪ n|`` of the neighbourhoods in data and map.

    The neighbourhood ``v`` in the data has as many points of the same label as the one in the map,
    as for :func:`ctsne.evaluate.adjusted_rnx`. This is the second measure in the tables that the
    paper's authors publish; unlike R_NX it is not corrected for chance.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like of shape (n, d) or DataNeighbors
        The data, or its neighbours with the labels to adjust for.
    labels : array-like of shape (n,), optional
        Any label column. A point without a label, or a pair with one, is never different.
        Without labels this is the usual Jaccard index.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
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
        From 0 to 1.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_jaccard
    >>> X = [[0], [1], [2], [3]]
    >>> adjusted_jaccard([[0], [2], [1], [3]], X, k=2, pointwise=True).round(3).tolist()
    [1.0, 0.333, 0.333, 1.0]
    """
    shared, _, _ = shared_neighbors(
        embedding, X, labels, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    values = shared / (2 * k - shared)  # two sets of k with this many in common
    return values if pointwise else float(values.mean())
