"""LISI: how many labels a neighbourhood in the map holds, effectively."""

from __future__ import annotations

from typing import Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_number
from ctsne.evaluate._groups import same_label
from ctsne.evaluate._inputs import mean
from ctsne.evaluate._overlap import chunks
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, resolve_map
from ctsne.labels import encode_labels

__all__ = ["expected_lisi", "lisi"]

# How exactly the logarithm of a perplexity is met. Some six steps do; more are needed where no
# precision has it.
_TOLERANCE = 1e-9
_MOST_STEPS = 60


class Options(TypedDict, total=False):
    """Arguments of :func:`lisi`, for the signatures with and without ``pointwise``."""

    perplexity: float
    sample: float | None
    random_state: object
    n_jobs: int


@overload
def lisi(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def lisi(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def lisi(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    perplexity: float = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Local inverse Simpson's index: the effective number of labels around a point of the map.

    For the label that is factored out this is *iLISI*, and more is better, up to
    :func:`ctsne.evaluate.expected_lisi`; for the label to be seen it is *cLISI*, and 1 is best.

    As Harmony defines it (Korsunsky et al. 2019): the three times ``perplexity`` nearest
    neighbours weigh ``exp(-τ d)`` (by distance, not its square), with τ such that the weights have
    that perplexity; the index is ``1 / Σ_l p_l²`` for the summed weights ``p_l`` of the labels.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours, three times ``perplexity`` at least.
    labels : array-like of shape (n,)
        Any label column. Points without a label count neither as points nor as neighbours; the
        weights are those of the neighbours that are left.
    perplexity : float, default=30
        Effective number of neighbours, at least 1 and at most (n - 2) / 3.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return the index of each (sampled) point instead of their mean; nan where there is none.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        From 1 to the number of labels; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import lisi
    >>> embedding = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(lisi(embedding, np.arange(200) % 2), 1), lisi(embedding, ["a"] * 200)
    (1.9, 1.0)
    """
    given, n = checked_map(embedding)
    if n < 5:
        raise ValueError(f"LISI needs at least 5 points, got {n}")
    hint = f"there are {n} points"
    target = check_number(perplexity, "perplexity", low=1, high=(n - 2) / 3, hint=hint)
    codes = encode_labels(labels, n=n).codes
    found = resolve_map(
        given, k=round(3 * target), sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    values = np.concatenate([
        _index(codes, found.points[rows], found.indices[rows], found.distances[rows], target)
        for rows in chunks(len(found.points), 4 * found.k)
    ])  # fmt: skip
    return values if pointwise else mean(values)


def expected_lisi(labels: object) -> float:
    """LISI of a large neighbourhood in which all labels are mixed as in the whole data.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column; missing labels are left out.

    Returns
    -------
    float
        ``1 / Σ_l (n_l / m)²`` over the m labelled points; nan if there are none. Random labels
        give a little less, because a neighbourhood is not large.

    Examples
    --------
    >>> from ctsne.evaluate import expected_lisi
    >>> expected_lisi(["a", "a", "b", "b"]), round(expected_lisi(["a", "a", "a", "b"]), 3)
    (2.0, 1.6)
    """
    counts = encode_labels(labels).counts.astype(np.float64)
    m = counts.sum()
    return float(m**2 / (counts**2).sum()) if m else float("nan")


def _index(
    codes: NDArray[np.int32],
    points: NDArray[np.int64],
    near: NDArray[np.int32],
    distances: NDArray[np.float32],
    perplexity: float,
) -> NDArray[np.float64]:
    labels = codes[near]
    counted = (labels >= 0) & (codes[points] >= 0)[:, None]
    weights = _weights(distances.astype(np.float64), counted, perplexity)
    # Σ_l p_l² is Σ_j w_j p_l(j): the weight of each neighbour's label as the neighbour sees it.
    simpson = (weights * same_label(labels, weights)).sum(axis=1)
    result = np.full(len(near), np.nan)
    np.divide(1.0, simpson, out=result, where=simpson > 0)
    return result


def _weights(
    distances: NDArray[np.float64], counted: NDArray[np.bool_], perplexity: float
) -> NDArray[np.float64]:
    """Weights ``exp(-τ d)`` of a perplexity, or as near to it as the neighbours allow.

    Those that do not count weigh nothing; rows without any that count are zero.
    """
    nearest = distances.min(axis=1, keepdims=True, where=counted, initial=np.inf)
    x = np.where(counted, distances - nearest, 0.0)
    scale = x.max(axis=1, keepdims=True)
    x /= np.where(scale > 0, scale, 1.0)
    weights = np.exp(-_precisions(x, counted, perplexity)[:, None] * x) * counted
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def _precisions(
    x: NDArray[np.float64], counted: NDArray[np.bool_], perplexity: float
) -> NDArray[np.float64]:
    """Solve for τ in units of the farthest neighbour, by Newton's method on its logarithm.

    Entropy falls with τ, so every step narrows a bracket; steps that leave it halve it instead.
    """
    n = len(x)
    low, high = np.full(n, np.log(1e-6)), np.full(n, np.log(1e12))
    guess = np.full(n, np.log(perplexity))
    open_rows = np.flatnonzero(counted.any(axis=1))
    for _ in range(_MOST_STEPS):
        if len(open_rows) == 0:
            break
        at, tau = x[open_rows], np.exp(guess[open_rows])
        weights = np.exp(-tau[:, None] * at) * counted[open_rows]
        total = weights.sum(axis=1)
        first = np.einsum("ij,ij->i", weights, at) / total
        second = np.einsum("ij,ij,ij->i", weights, at, at) / total
        excess = np.log(total) + tau * first - np.log(perplexity)
        too_wide = excess > 0
        low[open_rows] = np.where(too_wide, guess[open_rows], low[open_rows])
        high[open_rows] = np.where(too_wide, high[open_rows], guess[open_rows])
        # The entropy's slope in the logarithm of τ is -τ² times the variance of x.
        slope = np.maximum(tau**2 * (second - first**2), 1e-30)
        step = guess[open_rows] + excess / slope
        inside = (step > low[open_rows]) & (step < high[open_rows])
        halved = (low[open_rows] + high[open_rows]) / 2
        unsolved = (np.abs(excess) > _TOLERANCE) & (high[open_rows] - low[open_rows] > _TOLERANCE)
        open_rows = open_rows[unsolved]
        guess[open_rows] = np.where(inside, step, halved)[unsolved]
    return np.asarray(np.exp(guess))
