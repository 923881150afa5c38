"""Measures of a map."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._reference._shared import Floats, Integers, are_different, label_counts
from ctsne._reference.bandwidths import solve_precision
from ctsne._reference.neighbors import neighbor_lists, squared_distances


def _nearest_points(A: ArrayLike) -> Integers:
    """All other points of each point, nearest first."""
    D2 = squared_distances(A)
    n = len(D2)
    unlabelled = np.full(n, -1)
    return neighbor_lists(D2, unlabelled, np.full(n, n - 1), np.zeros(n, dtype=int))[0]


def _mean(values: Floats) -> float:
    """Mean over the points that have a value."""
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def adjusted_sets(
    embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int
) -> list[tuple[set[int], set[int]]]:
    """For each point its k nearest in the map, and the neighbourhood in the data to compare with.

    That one has as many points with a different label (paper, section 4.1); without labels it is
    the k nearest.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_sets([[0.0], [3.0], [2.0], [1.0]], X, np.array([0, 0, 1, 1]), 1)[0]
    ({3}, {2})
    """
    low, high = _nearest_points(embedding), _nearest_points(X)
    different = are_different(np.full(len(low), -1) if codes is None else codes)
    sets = []
    for i in range(len(low)):
        found = low[i, :k]
        n_other = int(different[i, found].sum())
        other = different[i, high[i]]
        expected = [*high[i][~other][: k - n_other], *high[i][other][:n_other]]
        sets.append(({int(j) for j in found}, {int(j) for j in expected}))
    return sets


def adjusted_rnx_values(
    embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int
) -> Floats:
    """Label-adjusted ``R_NX(k)`` of each point.

    Examples
    --------
    >>> adjusted_rnx_values([[0], [2], [1], [3]], [[0], [1], [2], [3]], None, 2).round(6).tolist()
    [1.0, -0.5, -0.5, 1.0]
    """
    sets = adjusted_sets(embedding, X, codes, k)
    n = len(sets)
    different = np.zeros((n, n), bool) if codes is None else are_different(codes)
    values = np.full(n, np.nan)
    for i, (found, expected) in enumerate(sets):
        # The two kinds of neighbours: how many the map has, and how many there are.
        other = sum(bool(different[i, j]) for j in found)
        counts = [
            (k - other, int((~different[i]).sum()) - 1),
            (other, int(different[i].sum())),
        ]
        forced = [own == there > 0 for own, there in counts]
        shared, size, chance = len(found & expected), k, k**2 / (n - 1)
        if codes is not None and any(forced):
            free = [kind for kind, is_forced in zip(counts, forced, strict=True) if not is_forced]
            size = sum(own for own, _ in free)
            shared -= k - size
            chance = sum(own**2 / there for own, there in free if there)
        if size > chance:
            values[i] = (shared - chance) / (size - chance)
    return values


def adjusted_rnx(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int) -> float:
    """Label-adjusted ``R_NX(k)`` (paper, section 4.1); without labels the usual one.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_rnx(X, X, None, 1)
    1.0
    """
    return _mean(adjusted_rnx_values(embedding, X, codes, k))


def rnx_area(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, largest: int) -> float:
    """Area under ``R_NX`` over the logarithm of k, ``Σ R(k)/k / Σ 1/k`` (Lee et al. 2015).

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> rnx_area(X, X, None, 2)
    1.0
    """
    values = {k: adjusted_rnx(embedding, X, codes, k) for k in range(1, largest + 1)}
    there = {k: value for k, value in values.items() if not np.isnan(value)}
    return sum(value / k for k, value in there.items()) / sum(1 / k for k in there)


def adjusted_jaccard(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int) -> float:
    """Mean Jaccard index of the neighbourhoods in the map and in the data, adjusted for labels.

    Examples
    --------
    >>> round(adjusted_jaccard([[0], [2], [1], [3]], [[0], [1], [2], [3]], None, 2), 3)
    0.667
    """
    sets = adjusted_sets(embedding, X, codes, k)
    return float(np.mean([len(a & b) / len(a | b) for a, b in sets]))


def laplacian_values(embedding: ArrayLike, codes: Integers, k: int) -> Floats:
    """Share of different labels among the k nearest neighbours of each point in the map.

    Unlabelled neighbours do not count; nan for unlabelled points, or if no neighbour counts.

    Examples
    --------
    >>> laplacian_values([[0.0], [1.0], [3.0], [7.0]], np.array([0, 0, 1, 1]), 2).tolist()
    [0.5, 0.5, 1.0, 0.5]
    """
    values = np.full(len(codes), np.nan)
    for i, row in enumerate(_nearest_points(embedding)[:, :k]):
        labels = codes[row][codes[row] >= 0]
        if codes[i] >= 0 and len(labels):
            values[i] = (labels != codes[i]).mean()
    return values


def laplacian(embedding: ArrayLike, codes: Integers, k: int) -> float:
    """Mean share of different labels among the k nearest neighbours in the map.

    Unlabelled points and neighbours do not count; nan if no labelled point has a labelled
    neighbour.

    Examples
    --------
    >>> laplacian([[0.0], [1.0], [3.0], [7.0]], np.array([0, 0, 1, 1]), 1)
    0.25
    """
    return _mean(laplacian_values(embedding, codes, k))


def expected_laplacian(codes: Integers) -> float:
    """Laplacian score expected of randomly assigned labels; nan below two labelled points.

    Examples
    --------
    >>> round(expected_laplacian(np.array([0, 0, 1, 1])), 3)
    0.667
    """
    counts = label_counts(codes)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")


def lisi_values(embedding: ArrayLike, codes: Integers, perplexity: float) -> Floats:
    """Inverse Simpson's index of the labels around each point of the map (Harmony's LISI).

    The ``3 perplexity`` nearest neighbours weigh ``exp(-τ d)``. Unlabelled neighbours do not
    count; nan for unlabelled points, or if no neighbour counts.

    Examples
    --------
    >>> lisi_values(np.zeros((4, 1)), np.array([0, 0, 0, 1]), 1).round(6).tolist()
    [1.8, 1.8, 1.8, 1.0]
    """
    D = np.sqrt(squared_distances(embedding))
    values = np.full(len(codes), np.nan)
    for i, row in enumerate(_nearest_points(embedding)[:, : round(3 * perplexity)]):
        row = row[codes[row] >= 0]
        if codes[i] >= 0 and len(row):
            tau, _ = solve_precision(D[i, row], np.zeros(len(row)), perplexity)
            weights = np.exp(-tau * (D[i, row] - D[i, row].min()))
            p = [weights[codes[row] == label].sum() / weights.sum() for label in set(codes[row])]
            values[i] = 1 / np.square(p).sum()
    return values


def knn_hits(embedding: ArrayLike, codes: Integers, k: int) -> Floats:
    """Whether the most frequent label among the k nearest in the map is that of the point.

    Of equally frequent ones the label of the nearest neighbour counts. Unlabelled neighbours do
    not vote; nan for unlabelled points, or if nobody votes.

    Examples
    --------
    >>> knn_hits([[0.0], [1.0], [3.0], [7.0]], np.array([0, 0, 1, 1]), 1).tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    values = np.full(len(codes), np.nan)
    for i, row in enumerate(_nearest_points(embedding)[:, :k]):
        votes = [int(code) for code in codes[row] if code >= 0]
        if codes[i] >= 0 and votes:
            values[i] = max(votes, key=votes.count) == codes[i]  # the first of several
    return values


def trustworthiness(embedding: ArrayLike, X: ArrayLike, k: int) -> float:
    """One minus the ranks in the data by which neighbours in the map are none there, scaled.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0], [15.0]]
    >>> trustworthiness(X, X, 2)
    1.0
    """
    low, high = _nearest_points(embedding), _nearest_points(X)
    n = len(low)
    total = 0
    for i in range(n):
        ranks = {int(j): rank for rank, j in enumerate(high[i], start=1)}
        total += sum(max(0, ranks[int(j)] - k) for j in low[i, :k])
    return 1 - 2 * total / (n * k * (2 * n - 3 * k - 1))
