"""Labels, distances and the two lists of neighbours."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Metric = Literal["euclidean", "cosine"]


def are_different(codes: Integers) -> NDArray[np.bool_]:
    """Return which pairs have two labels that differ."""
    labelled = np.asarray(codes >= 0)
    unequal = np.asarray(codes[:, None] != codes[None, :])
    return unequal & labelled[:, None] & labelled[None, :]


def label_counts(codes: Integers) -> NDArray[np.intp]:
    """Count the points of each label."""
    return np.bincount(codes[codes >= 0])


def per_label(value: ArrayLike, codes: Integers) -> Floats:
    """Spread a value over the labels, unless there is one per label already."""
    return np.broadcast_to(np.asarray(value, np.float64), label_counts(codes).shape)


def rho(codes: Integers) -> float:
    """Return ρ, the chance that two labelled points share their label (1 below two points)."""
    counts = label_counts(codes)
    m = counts.sum()
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def high_weights(codes: Integers, beta: ArrayLike) -> tuple[Floats, Floats]:
    """Return log β and log α per label, ``α = (1 - βρ) / (1 - ρ)``; zeros with one label only."""
    beta, share = per_label(beta, codes), rho(codes)
    if share == 1:
        return np.zeros(beta.shape), np.zeros(beta.shape)
    return np.log(beta), np.log1p(-beta * share) - np.log1p(-share)


def low_weights(codes: Integers, *betas: ArrayLike) -> Floats:
    """Return the pair weights of low-dimensional conditioning (paper, section 2), n × n.

    Same label: ``α = (1 - β(1 - ρ)) / ρ``; labels a and b: ``sqrt(β_a β_b)``; otherwise 1. With
    several columns, the product of all.
    """
    n = len(codes)
    weights = 1 - np.eye(n)
    for column, value in zip(codes.reshape(n, -1).T, betas, strict=True):
        beta, share = per_label(value, column), rho(column)
        if share == 0:  # no two points share a label
            beta = np.ones(beta.shape)
        alpha = (1 - beta * (1 - share)) / share if share > 0 else beta
        for a in range(len(beta)):
            for b in range(len(beta)):
                # Logarithms: the product of two small betas can underflow.
                pair = alpha[a] if a == b else np.exp((np.log(beta[a]) + np.log(beta[b])) / 2)
                weights[np.ix_(column == a, column == b)] *= pair
    return weights


def beta_from_odds(codes: Integers, odds: ArrayLike) -> Floats:
    """Return the paper's β for odds ``ω = α / β``, ``1 / (ρω + 1 - ρ)``."""
    share = rho(codes)
    return np.asarray(1 / (share * np.asarray(odds, dtype=np.float64) + 1 - share))


def joint_odds(strength: ArrayLike) -> Floats:
    """Return the odds of low-dimensional conditioning in ``joint``, ``ω = 10^(2 s²)``."""
    return np.asarray(10.0 ** (2 * np.asarray(strength, dtype=np.float64) ** 2))


def other_shares(codes: Integers, strength: ArrayLike) -> Floats:
    """Return the share of other labels per point in ``balanced``, ``t (m - n_l) / (n - 1)``."""
    counts = label_counts(codes)
    shares = per_label(strength, codes) * (counts.sum() - counts) / (len(codes) - 1)
    return np.asarray(np.append(shares, 0.0)[codes])


def squared_distances(X: ArrayLike, *, metric: Metric = "euclidean") -> Floats:
    """Return squared distances between all pairs, from differences so that no digits cancel."""
    rows = np.asarray(X, dtype=np.float64)
    if metric == "euclidean":
        return np.array([((rows - row) ** 2).sum(axis=1) for row in rows])
    if metric != "cosine":
        raise ValueError(f"metric must be 'euclidean' or 'cosine', got {metric!r}")
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    if (norms == 0).any():
        raise ValueError("metric='cosine' needs a direction for every row, got a row of zeros")
    return (squared_distances(rows / norms) / 2) ** 2  # 1 - cos is |a - b|² / 2 of unit rows


def _fill_lists(codes: Integers, total: int, wanted_other: Integers) -> tuple[Integers, Integers]:
    """Fill the rows from the other list where one list is too short."""
    available_other = are_different(codes).sum(axis=1)
    available_same = len(codes) - 1 - available_other
    k_other = np.minimum(wanted_other, available_other)
    k_same = np.minimum(total - k_other, available_same)
    return k_same, total - k_same


def total_length(n: int, perplexity: float) -> int:
    """Return the length of both lists together."""
    return min(int(np.ceil(3 * perplexity)), n - 1)


def list_lengths(codes: Integers, perplexity: float) -> tuple[Integers, Integers]:
    """Return the lengths of both lists in the paper's methods: 1.5 u each."""
    total = total_length(len(codes), perplexity)
    return _fill_lists(codes, total, np.full(len(codes), total // 2))


def list_lengths_balanced(
    codes: Integers, perplexity: float, strength: ArrayLike
) -> tuple[Integers, Integers]:
    """Return the lengths of both lists in ``balanced``: of ``3u``, from half to the share w."""
    total = total_length(len(codes), perplexity)
    halves = np.append((1 - per_label(strength, codes)) / 2, 0.0)[codes]
    wanted = np.ceil((other_shares(codes, strength) + halves) * 3 * perplexity).astype(np.intp)
    return _fill_lists(codes, total, np.minimum(wanted, total - 1))  # one for the own label


def list_lengths_joint(codes: Integers, perplexity: float) -> tuple[Integers, Integers]:
    """Return the lengths of both lists in ``joint`` before they are shortened: 5/3 u each."""
    total = min(2 * int(np.ceil(5 / 3 * perplexity)), len(codes) - 1)
    return _fill_lists(codes, total, np.full(len(codes), total // 2))


def neighbor_lists(
    D2: Floats, codes: Integers, k_same: Integers, k_other: Integers
) -> tuple[Integers, Integers]:
    """Return rows of the nearest points that are not different, then of those that are.

    Each list is ordered by distance, then index. The second result is where the second one starts.
    """
    different = are_different(codes)
    rows = []
    for i in range(len(codes)):
        order = np.argsort(D2[i], kind="stable")
        order = order[order != i]
        other = different[i, order]
        rows.append(np.concatenate([order[~other][: k_same[i]], order[other][: k_other[i]]]))
    return np.array(rows), np.asarray(k_same)


def matched_shares(indices: Integers, n_same: Integers, codes: Integers) -> Floats:
    """Return how often a point and its 30 nearest same-label neighbours are counterparts.

    That is, among the 15 nearest of another label; as a share of what random labels give, or 1.
    """
    n, counts = len(codes), label_counts(codes)
    m = counts.sum()
    named, given = np.zeros(n), np.zeros(len(counts))
    for i in np.flatnonzero(codes >= 0).tolist():
        counterparts = indices[i, n_same[i] : n_same[i] + 15]
        named[counterparts] += 1
        given[codes[i]] += len(counterparts)
    for i in range(n):
        expected = sum(
            given[label] / (m - counts[label])
            for label in range(len(counts))
            if codes[i] >= 0 and label != codes[i] and counts[label] < m
        )
        named[i] = named[i] / expected if expected > 0 else 0.0
    matched = np.ones(n)
    for i in range(n):
        if codes[i] >= 0:
            near = [j for j in indices[i, : min(n_same[i], 30)] if codes[j] >= 0]
            matched[i] = min(1.0, float(np.mean(named[[i, *near]])))
    return matched
