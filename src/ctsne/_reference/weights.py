"""Weights of pairs by their labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._reference._shared import Floats, Integers, label_counts


def rho(codes: Integers) -> float:
    """Chance that two labelled points drawn at random share their label (1 if there are not two).

    Examples
    --------
    >>> round(rho(np.array([0, 0, 1, -1])), 3)
    0.333
    """
    counts = label_counts(codes)
    m = counts.sum()
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def high_weights(codes: Integers, beta: ArrayLike) -> tuple[Floats, Floats]:
    """Logarithms of β and α for each label: ``α = (1 - βρ) / (1 - ρ)``.

    With one label there is nothing to factor out, and both weights are 1.

    Examples
    --------
    >>> log_beta, log_alpha = high_weights(np.array([0, 0, 1, 1]), 0.5)
    >>> np.exp(log_alpha).round(3).tolist()
    [1.25, 1.25]
    """
    beta = np.broadcast_to(np.asarray(beta, dtype=np.float64), label_counts(codes).shape)
    share = rho(codes)
    if share == 1:
        return np.zeros(beta.shape), np.zeros(beta.shape)
    return np.log(beta), np.log1p(-beta * share) - np.log1p(-share)


def low_weights(codes: Integers, beta: ArrayLike) -> Floats:
    """Pair weights of low-dimensional conditioning (paper, section 2), n × n.

    Same label: ``α = (1 - β(1 - ρ)) / ρ``; labels a and b: ``sqrt(β_a β_b)``; with an unlabelled
    point: 1; on the diagonal: 0. Where no two points share a label, ρ = 0 leaves nothing to weigh
    against, and all pairs weigh 1.

    Examples
    --------
    >>> low_weights(np.array([0, 0, 1, 1]), 0.25)[0].round(3).tolist()
    [0.0, 2.5, 0.25, 0.25]
    """
    beta = np.broadcast_to(np.asarray(beta, dtype=np.float64), label_counts(codes).shape)
    share = rho(codes)
    weights = np.ones((len(codes), len(codes)))
    if share == 0:
        beta = np.ones(beta.shape)
    alpha = (1 - beta * (1 - share)) / share if share > 0 else np.ones(beta.shape)
    for a in range(len(beta)):
        for b in range(len(beta)):
            # Logarithms: the product of two small betas can underflow.
            pair = alpha[a] if a == b else np.exp((np.log(beta[a]) + np.log(beta[b])) / 2)
            weights[np.ix_(codes == a, codes == b)] = pair
    np.fill_diagonal(weights, 0.0)
    return weights


def other_shares(codes: Integers, strength: ArrayLike) -> Floats:
    """Share of row mass that ``balanced`` gives to other labels, for each point.

    ``w_i = t (m - n_l) / (n - 1)`` with m labelled points of n; 0 without a label.

    Examples
    --------
    >>> other_shares(np.array([0, 0, 1, -1, -1]), 1.0).tolist()
    [0.25, 0.25, 0.5, 0.0, 0.0]
    """
    counts = label_counts(codes)
    strength = np.broadcast_to(np.asarray(strength, dtype=np.float64), counts.shape)
    shares = np.append(strength * (counts.sum() - counts) / (len(codes) - 1), 0.0)
    return np.asarray(shares[codes])
