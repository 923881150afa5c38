"""Rows of similarities, conditioned on labels or not."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.oracle._shared import Floats, Integers, Metric, are_different, label_counts
from ctsne.oracle.bandwidths import log_softmax, search_precision, solve_precision
from ctsne.oracle.neighbors import (
    list_lengths,
    list_lengths_balanced,
    neighbor_lists,
    squared_distances,
    total_length,
)
from ctsne.oracle.weights import high_weights, other_shares

# The largest weight `joint` puts on other labels, as a logarithm: exp(700) is nearly the largest
# float64. The same bound serves all implementations.
MAX_LOG_WEIGHT = 700.0


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
    labelled = (codes >= 0)[None, :]
    return np.where(labelled, np.where(are_different(codes), log_alpha, log_beta), 0.0)


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

    Same-label neighbours are weighted by β, those of different label by α, unlabelled ones by 1.
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


def balanced_rows(
    D2: Floats,
    indices: Integers,
    n_same: Integers,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
) -> Floats:
    """Conditional rows of ``balanced``: ``(1 - w) p^same + w p^other``, each calibrated alone.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [3.0], [7.0]])
    >>> indices = np.array([[2, 1, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]])
    >>> codes, n_same = np.array([0, 1, 0, 1]), np.ones(4, dtype=int)
    >>> balanced_rows(D2, indices, n_same, codes, 1.8, 0.6)[0, 0].round(6).item()
    0.6
    """
    rows = []
    for i, w in enumerate(other_shares(codes, strength)):
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


def joint_beta_low(strength: ArrayLike) -> Floats:
    """Give the β of low-dimensional conditioning in ``joint``: ``10^(-2s)``.

    Examples
    --------
    >>> joint_beta_low([0.0, 0.5, 1.0]).round(3).tolist()
    [1.0, 0.1, 0.01]
    """
    return np.asarray(10.0 ** (-2 * np.asarray(strength, dtype=np.float64)))


def _solve_joint_weight(logits: Floats, other: NDArray[np.bool_], s: float, w1: float) -> float:
    """λ that brings the mean share of other labels to ``w0 + 0.9 s (w1 - w0)``."""

    def share(weight: float) -> float:
        rows = np.exp(log_softmax(logits + weight * other))
        return float((rows * other).sum(axis=1).mean())

    w0 = share(0.0)
    target = w0 + 0.9 * s * (w1 - w0)
    if target <= w0:
        return 0.0
    if share(MAX_LOG_WEIGHT) < target:
        return MAX_LOG_WEIGHT
    low, high = 0.0, MAX_LOG_WEIGHT
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < target else (low, middle)
    return (low + high) / 2


def joint_rows(
    D2: Floats, indices: Integers, codes: Integers, perplexity: float, strength: ArrayLike
) -> Floats:
    """Conditional rows of ``joint``: bandwidths without weights, then ``e^λ`` on other labels.

    For each strength, one λ is solved over all labelled points; the rows of a label use the λ of
    the label's strength.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0], [0.0]])
    >>> indices = np.array([[3, 1], [2, 0], [1, 0], [0, 1]])
    >>> joint_rows(D2, indices, np.array([0, 1, 1, 0]), 2.0, 1.0)[0].round(3)
    array([0.35, 0.65])
    """
    taus = _precisions(D2, indices, perplexity)
    logits = -taus[:, None] * np.take_along_axis(D2, indices, axis=1)
    labelled = codes >= 0
    if not labelled.any():
        return np.exp(log_softmax(logits))
    other = np.take_along_axis(are_different(codes), indices, axis=1)
    counts = label_counts(codes)
    w1 = float(other_shares(codes, 1.0)[labelled].mean())
    strengths = np.broadcast_to(np.asarray(strength, dtype=np.float64), counts.shape)
    solved = {
        s: _solve_joint_weight(logits[labelled], other[labelled], s, w1) for s in set(strengths)
    }
    weights = np.append([solved[s] for s in strengths], 0.0)[codes]
    return np.exp(log_softmax(logits + weights[:, None] * other))


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
    indices, _ = neighbor_lists(D2, codes, *list_lengths(codes, perplexity))
    return symmetrize(indices, joint_rows(D2, indices, codes, perplexity, strength))
