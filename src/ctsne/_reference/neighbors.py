"""The two lists of neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._reference._shared import Floats, Integers, Metric, are_different, label_counts
from ctsne._reference.weights import other_shares


def squared_distances(X: ArrayLike, *, metric: Metric = "euclidean") -> Floats:
    """Squared distances between all pairs, from differences so that no digits cancel.

    The cosine distance is ``1 - cos``, here ``|a - b|² / 2`` of the rows scaled to length one.

    Examples
    --------
    >>> squared_distances([[0.0], [3.0]]).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    rows = np.asarray(X, dtype=np.float64)
    if metric == "euclidean":
        return np.array([((rows - row) ** 2).sum(axis=1) for row in rows])
    if metric != "cosine":
        raise ValueError(f"metric must be 'euclidean' or 'cosine', got {metric!r}")
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    if (norms == 0).any():
        raise ValueError("metric='cosine' needs a direction for every row, got a row of zeros")
    return (squared_distances(rows / norms) / 2) ** 2


def _fill_lists(codes: Integers, total: int, wanted_other: Integers) -> tuple[Integers, Integers]:
    """Give what a short list lacks to the other one."""
    available_other = are_different(codes).sum(axis=1)
    available_same = len(codes) - 1 - available_other
    k_other = np.minimum(wanted_other, available_other)
    k_same = np.minimum(total - k_other, available_same)
    return k_same, total - k_same


def total_length(n: int, perplexity: float) -> int:
    """Length of both lists together."""
    return min(int(np.ceil(3 * perplexity)), n - 1)


def list_lengths(codes: Integers, perplexity: float) -> tuple[Integers, Integers]:
    """Lengths of the two neighbour lists in the paper's methods: 1.5 u each.

    They sum to ``min(ceil(3u), n - 1)`` in every row.

    Examples
    --------
    >>> same, other = list_lengths(np.array([0, 0, 0, 0, 1]), 1.0)
    >>> same.tolist(), other.tolist()
    ([2, 2, 2, 2, 0], [1, 1, 1, 1, 3])
    """
    total = total_length(len(codes), perplexity)
    return _fill_lists(codes, total, np.full(len(codes), total // 2))


def list_lengths_balanced(
    codes: Integers, perplexity: float, strength: ArrayLike
) -> tuple[Integers, Integers]:
    """Lengths of the two neighbour lists in ``balanced``: of ``3u``, from half to the share.

    The rounding leaves the own label one point at least.

    Examples
    --------
    >>> same, other = list_lengths_balanced(np.array([0, 0, 0, 1, 1]), 1.0, 1.0)
    >>> same.tolist(), other.tolist()
    ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2])
    """
    total = total_length(len(codes), perplexity)
    counts = label_counts(codes)
    strengths = np.broadcast_to(np.asarray(strength, np.float64), counts.shape)
    halves = np.append((1 - strengths) / 2, 0.0)[codes]
    wanted = np.ceil((other_shares(codes, strength) + halves) * 3 * perplexity).astype(np.intp)
    return _fill_lists(codes, total, np.minimum(wanted, total - 1))


def list_lengths_joint(codes: Integers, perplexity: float) -> tuple[Integers, Integers]:
    """Lengths of the two neighbour lists in ``joint`` before they are shortened: 5/3 u each.

    Examples
    --------
    >>> same, other = list_lengths_joint(np.array([0, 1] * 5), 1.5)
    >>> same.tolist() == other.tolist() == [3] * 10
    True
    """
    total = min(2 * int(np.ceil(5 / 3 * perplexity)), len(codes) - 1)
    return _fill_lists(codes, total, np.full(len(codes), total // 2))


def neighbor_lists(
    D2: Floats, codes: Integers, k_same: Integers, k_other: Integers
) -> tuple[Integers, Integers]:
    """List the nearest points of both kinds, each list ordered by distance, then index.

    Row i holds ``k_same[i]`` points that are not different, then ``k_other[i]`` that are.
    Returns the rows and where the second list starts.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [2.0], [4.0]])
    >>> one = np.ones(4, dtype=int)
    >>> neighbor_lists(D2, np.array([0, 1, 0, 1]), one, one)[0].tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    different = are_different(codes)
    rows = []
    for i in range(len(codes)):
        order = np.argsort(D2[i], kind="stable")
        order = order[order != i]
        other = different[i, order]
        rows.append(np.concatenate([order[~other][: k_same[i]], order[other][: k_other[i]]]))
    return np.array(rows), np.asarray(k_same)
