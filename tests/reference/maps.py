"""A map: kernel, loss, gradient, and the measures of its quality."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import neighbors
from .neighbors import Floats, Integers


def _pair_weights(n: int, weights: Floats | None) -> Floats:
    return (np.ones((n, n)) if weights is None else weights) * (1 - np.eye(n))


def kernel(d2: ArrayLike, dof: float = 1.0) -> Floats:
    """Evaluate the low-dimensional kernel ``(1 + d²/ν)^(-(ν+1)/2)``."""
    return np.asarray((1 + np.asarray(d2, dtype=np.float64) / dof) ** (-(dof + 1) / 2))


def normalizer(Y: ArrayLike, weights: Floats | None = None, dof: float = 1.0) -> float:
    """Return ``U``, the sum of all weighted kernel values (``Z`` without weights)."""
    D2 = neighbors.squared_distances(Y)
    return float((_pair_weights(len(D2), weights) * kernel(D2, dof)).sum())


def gradient(P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0) -> Floats:
    """Return the gradient of `kl_divergence` for any ν (paper, section 2); P sums to 1."""
    Y = np.asarray(Y, dtype=np.float64)
    D2 = neighbors.squared_distances(Y)
    Q = _pair_weights(len(D2), weights) * kernel(D2, dof)
    pull = (P - Q / Q.sum()) / (1 + D2 / dof)
    return 2 * (dof + 1) / dof * np.array([pull[i] @ (y - Y) for i, y in enumerate(Y)])


def kl_divergence(
    P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0
) -> float:
    """Return ``Σ p log(p / q)`` with ``q = c K / U``, over the pairs with p > 0."""
    D2, some = neighbors.squared_distances(Y), P > 0
    p = P[some]
    log_q = np.log(_pair_weights(len(D2), weights)[some]) + np.log(kernel(D2, dof)[some])
    return float((p * (np.log(p) - log_q + np.log(normalizer(Y, weights, dof)))).sum())


def _nearest_points(A: ArrayLike) -> Integers:
    """Return all other points of each point, nearest first."""
    D2 = neighbors.squared_distances(A)
    np.fill_diagonal(D2, np.inf)
    return np.argsort(D2, axis=1, kind="stable")[:, :-1]


def _mean(values: Floats) -> float:
    """Return the mean over the points that have a value."""
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def adjusted_sets(
    embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int
) -> list[tuple[set[int], set[int]]]:
    """Return per point its k nearest in the map, and the nearest in the data to compare with.

    As many of these have a different label as in the map (paper, section 4.1).
    """
    low, high = _nearest_points(embedding), _nearest_points(X)
    different = neighbors.are_different(np.full(len(low), -1) if codes is None else codes)
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
    """Return the label-adjusted ``R_NX(k)`` per point."""
    sets = adjusted_sets(embedding, X, codes, k)
    n = len(sets)
    different = np.zeros((n, n), bool) if codes is None else neighbors.are_different(codes)
    values = np.full(n, np.nan)
    for i, (found, expected) in enumerate(sets):
        # Per kind of neighbour (same, different): how many in the map, how many there are.
        other = sum(bool(different[i, j]) for j in found)
        counts = [(k - other, int((~different[i]).sum()) - 1), (other, int(different[i].sum()))]
        forced = [own == there > 0 for own, there in counts]  # all of a kind: nothing to choose
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
    """Return the mean label-adjusted ``R_NX(k)`` (paper, section 4.1)."""
    return _mean(adjusted_rnx_values(embedding, X, codes, k))


def rnx_within(
    embedding: ArrayLike, X: ArrayLike, codes: Integers | None, types: Integers, k: int
) -> float:
    """Return the mean label-adjusted ``R_NX`` among points of the same type.

    A neighbourhood holds at most half of the other points of its type.
    """
    embedding, X, values = np.asarray(embedding), np.asarray(X), []
    for kind in range(types.max(initial=-1) + 1):
        own = types == kind
        size = min(k, (own.sum() - 1) // 2)
        if size > 0:
            labels = None if codes is None else codes[own]
            values += adjusted_rnx_values(embedding[own], X[own], labels, size).tolist()
    return _mean(np.array(values))


def rnx_area(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, largest: int) -> float:
    """Return the area under ``R_NX`` over log k, ``Σ R(k)/k / Σ 1/k`` (Lee et al. 2015)."""
    values = {k: adjusted_rnx(embedding, X, codes, k) for k in range(1, largest + 1)}
    there = {k: value for k, value in values.items() if not np.isnan(value)}
    return sum(value / k for k, value in there.items()) / sum(1 / k for k in there)


def adjusted_jaccard(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int) -> float:
    """Return the mean Jaccard index of the sets in `adjusted_sets`."""
    sets = adjusted_sets(embedding, X, codes, k)
    return float(np.mean([len(a & b) / len(a | b) for a, b in sets]))


def laplacian_values(embedding: ArrayLike, codes: Integers, k: int) -> Floats:
    """Return per point the share of different labels among its labelled neighbours, or nan."""
    values = np.full(len(codes), np.nan)
    for i, row in enumerate(_nearest_points(embedding)[:, :k]):
        labels = codes[row][codes[row] >= 0]
        if codes[i] >= 0 and len(labels):
            values[i] = (labels != codes[i]).mean()
    return values


def laplacian(embedding: ArrayLike, codes: Integers, k: int) -> float:
    """Return the mean of `laplacian_values`; nan if no labelled point has a labelled neighbour."""
    return _mean(laplacian_values(embedding, codes, k))


def expected_laplacian(codes: Integers) -> float:
    """Return the Laplacian score expected of random labels; nan below two labelled points."""
    counts = neighbors.label_counts(codes)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")


def knn_hits(embedding: ArrayLike, codes: Integers, k: int) -> Floats:
    """Return per point whether its label is the commonest of its labelled neighbours, or nan."""
    values = np.full(len(codes), np.nan)
    for i, row in enumerate(_nearest_points(embedding)[:, :k]):
        votes = [int(code) for code in codes[row] if code >= 0]
        if codes[i] >= 0 and votes:
            values[i] = max(votes, key=votes.count) == codes[i]  # the nearest decides ties
    return values


def trust(P: Floats, Y: ArrayLike, again: ArrayLike) -> Floats:
    """Return how far the place of each point can be believed (docs/trust.md), without ties.

    ``P`` holds similarities, and ``again`` where each point lands if it is placed as a new one.
    """
    Y, again, n = np.asarray(Y, np.float64), np.asarray(again, np.float64), len(P)
    scales = [max(1, min(k, (n - 1) // 2)) for k in (15, 30, 60)]
    W = np.zeros((n, n))
    for i in range(n):
        strongest = np.argsort(-P[i], kind="stable")[:30]
        W[i, strongest] = P[i, strongest] / P[i, strongest].sum()
    support = W + W @ W
    np.fill_diagonal(support, 0)
    near = _nearest_points(Y)
    kept, found = np.zeros(n), np.zeros(n)
    for i in range(n):
        there = np.argsort(((Y - again[i]) ** 2).sum(axis=1), kind="stable")
        there = there[there != i]
        supported = np.flatnonzero(support[i])
        best = supported[np.argsort(-support[i, supported], kind="stable")]
        for k in scales:
            own = set(near[i, :k].tolist())
            kept[i] += len(own & set(best[:k].tolist())) / min(k, len(best)) / len(scales)
            found[i] += len(own & set(there[:k].tolist())) / k / len(scales)
    around = np.array([kept[near[i, : scales[1]]].mean() for i in range(n)])
    return np.asarray(0.6 * kept + 0.3 * around + 0.1 * found)
