"""Neighbours from features: check the arguments and choose the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import (
    check_directions,
    check_features,
    check_jobs,
    check_metric,
    check_number,
    check_rows,
)
from ctsne._core.progress import Report
from ctsne.labels import encode_column
from ctsne.neighbors.approximate import approximate_neighbors
from ctsne.neighbors.exact import exact_neighbors
from ctsne.neighbors.lists import Neighbors, Unaligned, available, check_lengths, fill_lists

# Up to this many points the exact search is no slower, or takes less than a second.
EXACT_UP_TO = 30_000
# Points that are also searched without alignment, to know the natural share of other labels.
UNALIGNED_POINTS = 1000


def is_approximate(n: int, recall: float) -> bool:
    """Return whether this many points are searched approximately at a recall."""
    return recall < 1 and n > EXACT_UP_TO


def find_neighbors(
    X: ArrayLike,
    labels: object = None,
    *,
    k_same: ArrayLike,
    k_other: ArrayLike = 0,
    metric: str = "euclidean",
    n_jobs: int | None = -1,
    rows: NDArray[np.integer] | None = None,
    recall: float = 1.0,
    aligned: ArrayLike | None = None,
    after_part: Report | None = None,
) -> Neighbors:
    """Find the nearest points with the same label and with other labels.

    The search is exact, unless a lower recall is allowed and there are many points. Distances in
    single precision, between centred and scaled points, select a few more candidates than needed;
    distances in double precision order them. Where rounding could hide a neighbour, the exact
    search repeats the scan in double precision. Ties are broken by index.

    Parameters
    ----------
    X : array-like, shape (n, d)
        Dense features. float32 and float64 are used as they are; other types become float64.
    labels : array-like of length n or Column, optional
        Without labels there is one list.
    k_same, k_other : int or ndarray of shape (n,)
        Length of each list. If one has too few candidates, the other takes the rest, so every row
        holds ``min(k_same + k_other, n - 1)`` neighbours. Arrays must have a constant sum.
    metric : {"euclidean", "cosine"}
    n_jobs : int, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    rows : ndarray of int, optional
        Search only for these points, each listed once; the result has one row for each of them, in
        this order. Their neighbours can be any points.
    recall : float, default=1
        Share of the true neighbours to find. Below 1, data of more than 30,000 points are searched
        by cells of nearby points, which is several times faster; the result reports the measured
        recall, and its distances are exact. With ``rows`` the search is exact.
    aligned : array-like, shape (n, d'), optional
        Points among which other labels are searched, instead of ``X``.
    after_part : callable, optional
        Called with the share of the search that is done, after each of some fifty parts.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> from ctsne.neighbors import find_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [2.0], [4.0]], list("abab"), k_same=1, k_other=1)
    >>> found.indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    features = check_features(X)
    n = len(features)
    known = None if labels is None else encode_column(labels, n=n)
    same, other = fill_lists(*check_lengths(k_same, k_other, n), *available(known, n))
    if check_metric(metric) == "cosine":
        check_directions(features)
    n_jobs = check_jobs(n_jobs)
    enough = check_number(recall, "recall", low=0.5, high=1)
    if rows is not None:
        rows = check_rows(rows, n)
    moved = None if aligned is None else check_features(aligned, argument="aligned")
    if moved is not None and len(moved) != n:
        raise ValueError(f"aligned has {len(moved)} rows but X has {n}")
    if moved is not None and metric == "cosine":
        check_directions(moved, argument="aligned")
    if is_approximate(n, enough) and rows is None:
        found = approximate_neighbors(
            features,
            known,
            same,
            other,
            metric=metric,
            n_jobs=n_jobs,
            recall=enough,
            aligned=moved,
            after_part=after_part,
        )
    else:
        found = exact_neighbors(
            features,
            known,
            same,
            other,
            metric=metric,
            n_jobs=n_jobs,
            rows=rows,
            aligned=moved,
            after_part=after_part,
        )
    if moved is None or rows is not None:
        return found
    some = np.sort(np.random.default_rng(0).permutation(n)[:UNALIGNED_POINTS])
    plain = exact_neighbors(features, known, same, other, metric=metric, n_jobs=n_jobs, rows=some)
    return replace(found, unaligned=Unaligned(some, plain))
