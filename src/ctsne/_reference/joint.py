"""Similarities of ``joint``, and the conditioning of the map that goes with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ctsne._reference._shared import Floats, Integers, Metric, label_counts
from ctsne._reference.neighbors import list_lengths_joint, neighbor_lists, squared_distances
from ctsne._reference.similarities import natural_log_odds, split_rows
from ctsne._reference.weights import other_shares, rho

# The largest weight on other labels, as a logarithm: exp(700) is nearly the largest float64. The
# same bound serves all implementations.
MAX_LOG_WEIGHT = 700.0


def joint_odds(strength: ArrayLike) -> Floats:
    """Give the odds of low-dimensional conditioning in ``joint``: ``10^(2 s²)``.

    Examples
    --------
    >>> joint_odds([0.0, 1.0]).tolist()
    [1.0, 100.0]
    """
    return np.asarray(10.0 ** (2 * np.asarray(strength, dtype=np.float64) ** 2))


def beta_from_odds(codes: Integers, odds: ArrayLike) -> Floats:
    """Give the paper's β for odds ``ω = α / β``: ``1 / (ρω + 1 - ρ)``.

    Examples
    --------
    >>> beta_from_odds(np.array([0, 0, 1, 1]), 4.0).round(6).item()
    0.5
    """
    share = rho(codes)
    return np.asarray(1 / (share * np.asarray(odds, dtype=np.float64) + 1 - share))


def matched_shares(indices: Integers, n_same: Integers, codes: Integers) -> Floats:
    """How often each point and its 30 nearest same-label neighbours are named as counterparts.

    A point is named by those that have it among the 15 nearest of their second list. Counts are
    shares of what random labels would give, at most 1; a point without a label has 1.

    Examples
    --------
    >>> indices = np.array([[2], [2], [0], [0]])
    >>> matched_shares(indices, np.zeros(4, dtype=int), np.array([0, 0, 1, 1])).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    n, counts = len(codes), label_counts(codes)
    m = counts.sum()
    named, given = np.zeros(n), np.zeros(len(counts))
    for i in range(n):
        for j in indices[i, n_same[i] : n_same[i] + 15]:
            named[j] += 1
            given[codes[i]] += 1
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


def solve_joint_weight(log_odds: Floats, target: float) -> float:
    """λ that brings the mean share of other labels to a target.

    Examples
    --------
    >>> abs(solve_joint_weight(np.zeros(3), 0.5)) < 1e-9
    True
    """
    low, high = -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(log_odds + middle).mean() < target else (low, middle)
    return (low + high) / 2


def joint_shares(log_odds: Floats, matched: Floats, codes: Integers, strength: ArrayLike) -> Floats:
    """Share of other labels in each row: one λ for each strength, over all labelled points.

    ``w_i = expit(log_odds_i + log max(matched_i, .02) + λ)`` with a mean of
    ``w0 + .65 s^.75 (w1 - w0)``, from natural to random.

    Examples
    --------
    >>> joint_shares(np.zeros(4), np.ones(4), np.array([0, 0, 1, 1]), 1.0).round(2).tolist()
    [0.61, 0.61, 0.61, 0.61]
    """
    labelled = codes >= 0
    if not labelled.any():
        return np.zeros(len(codes))
    strengths = np.broadcast_to(np.asarray(strength, np.float64), label_counts(codes).shape)
    w0 = expit(log_odds[labelled]).mean()
    w1 = other_shares(codes, 1.0)[labelled].mean()
    odds = log_odds + np.log(np.maximum(matched, 0.02))
    weights = {
        s: solve_joint_weight(odds[labelled], w0 + 0.65 * s**0.75 * (w1 - w0))
        for s in set(strengths)
    }
    added = np.append([weights[s] for s in strengths], 0.0)[codes]
    return np.where(labelled, expit(odds + added), 0.0)


def joint_rows(
    D2: Floats,
    indices: Integers,
    n_same: Integers,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
) -> Floats:
    """Conditional rows of ``joint``, n × n: both lists shortened to their shares of half the row.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0], [0.0]])
    >>> indices = np.array([[3, 1, 2], [2, 0, 3], [1, 0, 3], [0, 1, 2]])
    >>> codes, n_same = np.array([0, 1, 1, 0]), np.ones(4, dtype=int)
    >>> joint_rows(D2, indices, n_same, codes, 1.8, 0.0).sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    n, length = indices.shape
    matched = matched_shares(indices, n_same, codes)
    shares = joint_shares(natural_log_odds(D2, indices, n_same), matched, codes, strength)
    total = (length + 1) // 2
    dense = np.zeros((len(codes), len(codes)))
    for i in range(n):
        wanted = min(int(np.ceil(total * shares[i] - 1e-6)), total - 1) if n_same[i] else total
        k_other = min(wanted, length - n_same[i])
        k_same = min(total - k_other, n_same[i])
        members = np.concatenate(
            [indices[i, :k_same], indices[i, n_same[i] : n_same[i] + total - k_same]]
        )
        row = split_rows(
            D2[i : i + 1], members[None], np.array([k_same]), shares[i : i + 1], perplexity
        )
        dense[i, members] = row[0]
    return dense


def joint_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of ``joint``, n × n.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(joint_affinities(X, codes, 1.0, 0.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    indices, n_same = neighbor_lists(D2, codes, *list_lengths_joint(codes, perplexity))
    rows = joint_rows(D2, indices, n_same, codes, perplexity, strength)
    return np.asarray((rows + rows.T) / (2 * len(codes)))
