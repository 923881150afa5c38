"""Rows of similarities, conditioned on labels or not."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ctsne._reference._shared import Floats, Integers, Metric, are_different, label_counts
from ctsne._reference.bandwidths import log_softmax, search_precision, solve_precision
from ctsne._reference.neighbors import (
    list_lengths,
    list_lengths_balanced,
    neighbor_lists,
    squared_distances,
    total_length,
)
from ctsne._reference.weights import high_weights, other_shares


def _row(d2: Floats, log_weights: Floats, tau: float) -> Floats:
    return np.exp(log_softmax(log_weights - tau * (d2 - d2.min())))


def _precisions(D2: Floats, indices: Integers, perplexity: float) -> Floats:
    """Precisions without weights, over the given neighbours."""
    zeros = np.zeros(indices.shape[1])
    return np.array(
        [solve_precision(D2[i, row], zeros, perplexity)[0] for i, row in enumerate(indices)]
    )


def symmetrize(indices: Integers, rows: Floats) -> Floats:
    """Dense ``r_ij = (r_{j|i} + r_{i|j}) / 2n`` from conditional rows over neighbour lists.

    Examples
    --------
    >>> symmetrize(np.array([[1], [0]]), np.ones((2, 1))).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    n = len(indices)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, indices, rows, axis=1)
    return (dense + dense.T) / (2 * n)


def tsne_rows(D2: Floats, indices: Integers, perplexity: float) -> Floats:
    """Conditional ``p_{j|i}`` over the given neighbours.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [2.0]])
    >>> tsne_rows(D2, np.array([[1, 2], [0, 2], [1, 0]]), 2.0)[0].round(6).tolist()
    [0.5, 0.5]
    """
    taus = _precisions(D2, indices, perplexity)
    zeros = np.zeros(indices.shape[1])
    return np.array([_row(D2[i, row], zeros, taus[i]) for i, row in enumerate(indices)])


def tsne_affinities(X: ArrayLike, perplexity: float, *, metric: Metric = "euclidean") -> Floats:
    """Symmetric similarities of plain t-SNE over ``3u`` neighbours, n × n.

    Examples
    --------
    >>> round(float(tsne_affinities([[0.0], [1.0], [3.0]], 1.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    k = np.full(len(D2), total_length(len(D2), perplexity))
    indices, _ = neighbor_lists(D2, np.full(len(D2), -1), k, np.zeros_like(k))
    return symmetrize(indices, tsne_rows(D2, indices, perplexity))


def _high_weight_matrix(codes: Integers, beta: ArrayLike) -> Floats:
    log_beta, log_alpha = (np.append(w, 0.0)[codes][:, None] for w in high_weights(codes, beta))
    return np.where(are_different(codes), log_alpha, log_beta)


def revised_rows(
    D2: Floats,
    indices: Integers,
    codes: Integers,
    perplexity: float,
    beta: ArrayLike,
    *,
    bandwidth: Literal["r", "p"] = "r",
    scale: float = 1.0,
) -> Floats:
    """Conditional ``r_{j|i}`` of revised conditional t-SNE (paper, section 3).

    Same-label and unlabelled neighbours are weighted by β, those of different label by α.
    ``bandwidth`` says whether the weighted row (r) or the unweighted one (p) has the perplexity;
    for r, ``scale`` is where `search_precision` starts.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0], [0.0]])
    >>> indices = np.array([[3, 1], [2, 0], [1, 0], [0, 1]])
    >>> revised_rows(D2, indices, np.array([0, 1, 1, 0]), 2.0, 0.5, bandwidth="p")[0].round(3)
    array([0.286, 0.714])
    """
    if bandwidth not in ("r", "p"):
        raise ValueError(f"bandwidth must be 'r' or 'p', got {bandwidth!r}")
    weights = _high_weight_matrix(codes, beta)
    rows = []
    for i, row in enumerate(indices):
        d2, log_weights = D2[i, row], weights[i, row]
        if bandwidth == "r":
            tau, _ = search_precision(d2, log_weights, perplexity, scale)
        else:
            tau, _ = solve_precision(d2, np.zeros(len(row)), perplexity)
        rows.append(_row(d2, log_weights, tau))
    return np.array(rows)


def revised_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    beta: ArrayLike,
    *,
    bandwidth: Literal["r", "p"] = "r",
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of revised conditional t-SNE, n × n.

    The scale of the data is its largest absolute coordinate around the mean; 1 for cosine.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(revised_affinities(X, codes, 1.0, 1e-4).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    indices, _ = neighbor_lists(D2, codes, *list_lengths(codes, perplexity))
    points = np.asarray(X, dtype=np.float64)
    largest = float(np.abs(points - points.mean(axis=0)).max())
    scale = 1.0 if metric == "cosine" else largest or 1.0
    rows = revised_rows(D2, indices, codes, perplexity, beta, bandwidth=bandwidth, scale=scale)
    return symmetrize(indices, rows)


def _split_perplexity(w: float, u: float, k_same: int, k_other: int) -> tuple[float, float]:
    """Perplexities of the two lists such that the mixture has perplexity u.

    The entropy of the mixture is ``h(w) + (1 - w) log u_same + w log u_other``. Unless a list is
    too short, or its part is below one point, this is ``(1 - w) u`` and ``w u``.
    """
    if w in (0, 1):
        return min(max(u, 1.0), float(k_same)), min(max(u, 1.0), float(k_other))
    left = np.log(u) + w * np.log(w) + (1 - w) * np.log(1 - w)
    log_other = np.clip(np.log(w * u), 0.0, np.log(k_other))
    log_same = (left - w * log_other) / (1 - w)
    if not 0 <= log_same <= np.log(k_same):
        log_same = np.clip(log_same, 0.0, np.log(k_same))
        with np.errstate(over="ignore"):  # the smallest of all shares
            log_other = np.clip((left - (1 - w) * log_same) / w, 0.0, np.log(k_other))
    return float(np.exp(log_same)), float(np.exp(log_other))


def natural_log_odds(D2: Floats, indices: Integers, n_same: Integers) -> Floats:
    """Log of the weight on the second list over that on the first, without any conditioning.

    Similarities have a perplexity of half the length of a row.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0]])
    >>> natural_log_odds(D2, np.array([[1, 2], [0, 2], [0, 1]]), np.array([1, 1, 1]))[0].item()
    0.0
    """
    rows = tsne_rows(D2, indices, max(1.0, indices.shape[1] / 2))
    other = np.arange(indices.shape[1]) >= n_same[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log((rows * other).sum(axis=1)) - np.log((rows * ~other).sum(axis=1)))


def split_rows(
    D2: Floats, indices: Integers, n_same: Integers, shares: Floats, perplexity: float
) -> Floats:
    """Conditional rows ``(1 - w) p^same + w p^other``, each list calibrated alone.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [3.0], [7.0]])
    >>> indices = np.array([[2, 1, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]])
    >>> split_rows(D2, indices, np.ones(4, dtype=int), np.full(4, 0.4), 1.8)[0, 0].round(6).item()
    0.6
    """
    rows = []
    for i, w in enumerate(shares):
        lists = indices[i, : n_same[i]], indices[i, n_same[i] :]
        w = 0.0 if len(lists[1]) == 0 else 1.0 if len(lists[0]) == 0 else float(w)
        targets = _split_perplexity(w, perplexity, len(lists[0]), len(lists[1]))
        parts = []
        for members, mass, target in zip(lists, (1 - w, w), targets, strict=True):
            if mass == 0:
                parts.append(np.zeros(len(members)))
            else:
                d2, zeros = D2[i, members], np.zeros(len(members))
                parts.append(mass * _row(d2, zeros, solve_precision(d2, zeros, target)[0]))
        rows.append(np.concatenate(parts))
    return np.array(rows)


def balanced_rows(
    D2: Floats,
    indices: Integers,
    n_same: Integers,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
) -> Floats:
    """Conditional rows of ``balanced``: the share of other labels from natural to random.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [3.0], [7.0]])
    >>> indices = np.array([[2, 1, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]])
    >>> codes, n_same = np.array([0, 1, 0, 1]), np.ones(4, dtype=int)
    >>> balanced_rows(D2, indices, n_same, codes, 1.8, 1.0)[0, 0].round(6).item()
    0.333333
    """
    natural = expit(natural_log_odds(D2, indices, n_same))
    strengths = np.broadcast_to(np.asarray(strength, np.float64), label_counts(codes).shape)
    t = np.append(strengths, 0.0)[codes]
    shares = natural + t * (other_shares(codes, 1.0) - natural)
    return split_rows(D2, indices, n_same, shares, perplexity)


def balanced_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of ``balanced``, n × n.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(balanced_affinities(X, codes, 1.0, 0.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    lengths = list_lengths_balanced(codes, perplexity, strength)
    indices, n_same = neighbor_lists(D2, codes, *lengths)
    return symmetrize(indices, balanced_rows(D2, indices, n_same, codes, perplexity, strength))
