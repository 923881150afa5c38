"""Bandwidths by perplexity, and the similarities of every method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from . import neighbors
from .neighbors import Floats, Integers, Metric

# The largest weight on other labels, as a logarithm; the native code has the same bound.
MAX_LOG_WEIGHT = 700.0


def log_softmax(logits: Floats) -> Floats:
    """Return the logarithms of the distribution proportional to ``exp(logits)``."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def entropy(logits: Floats) -> Floats:
    """Return the entropy of the distribution proportional to ``exp(logits)``."""
    log_p = log_softmax(logits)
    return np.asarray(-(np.exp(log_p) * log_p).sum(axis=-1))


def perplexity(row: ArrayLike) -> float:
    """Return the exponential of the entropy of a distribution."""
    p = np.asarray(row, dtype=np.float64)
    p = p[p > 0]
    return float(np.exp(-(p * np.log(p)).sum()))


def _precision_grid(x: Floats, log_weights: Floats) -> Floats:
    """Return falling precisions down to 0, so close that no probability jumps between two."""
    # Above the first, only the nearest points count; below the second, distance does not matter.
    first = (np.ptp(log_weights) + 60) / x[x > 0].min()
    step = 0.04 if np.ptp(log_weights) > 0 else 1.0  # equal weights have one solution at most
    coarse = np.append(np.exp(np.arange(np.log(first), np.log(1e-9), -step)), 0.0)
    if np.ptp(log_weights) == 0:
        return coarse
    # Strong weights switch a row from one list to the other within a tiny range of precisions.
    log_p = log_softmax(log_weights - coarse[:, None] * x)
    counts = np.maximum(log_p[1:], log_p[:-1]) > -40
    jumps = (np.abs(np.diff(log_p, axis=0)) * counts).max(axis=1)
    ends = np.cumsum(np.append(0, np.ceil(jumps / 0.3).clip(1)))
    return np.asarray(np.interp(np.arange(ends[-1] + 1), ends, coarse))


def search_precision(
    d2: Floats, log_weights: Floats, perplexity: float, scale: float
) -> tuple[float, bool]:
    """Return the precision ``τ = 1 / 2σ²`` of a weighted row, and whether it has the perplexity.

    With weights there may be several (paper, Fig. 4). As in the authors' program, the precision is
    doubled or halved from ``1 / scale²`` until the target is bracketed, then bisected.
    """
    x = d2 - d2.min()

    def too_wide(tau: float) -> bool:
        return bool(entropy(log_weights - tau * x) >= np.log(perplexity))

    low = high = scale**-2
    if too_wide(low):
        only_nearest = (np.ptp(log_weights) + 60) / x[x > 0].min(initial=np.inf)
        while too_wide(high):
            if high > only_nearest:
                return solve_precision(d2, log_weights, perplexity)
            low, high = high, 2 * high
    else:
        while not too_wide(low):
            if low * x.max() < 1e-6:  # distance no longer matters
                return solve_precision(d2, log_weights, perplexity)
            low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if too_wide(middle) else (low, middle)
    return (low + high) / 2, True


def solve_precision(
    d2: Floats, log_weights: Floats, perplexity: float, *, tolerance: float = 1e-10
) -> tuple[float, bool]:
    """Return the precision of the smallest σ at which a weighted row has the perplexity.

    If there is none, return that of the nearest perplexity, and whether it is near enough.
    """
    spread = d2 - d2.min()
    scale = float(spread.max())
    if scale == 0:
        return 0.0, bool(abs(entropy(log_weights) - np.log(perplexity)) <= tolerance)
    x = spread / scale

    def excess(tau: Floats) -> Floats:
        return np.asarray(entropy(log_weights - tau[..., None] * x) - np.log(perplexity))

    grid = _precision_grid(x, log_weights)
    values = excess(grid)
    crossings = np.flatnonzero((values[1:] >= 0) != (values[:-1] >= 0))
    if len(crossings) == 0:
        miss, tau = _nearest(excess, grid, np.abs(values))
        return tau / scale, miss <= tolerance
    at = crossings[0]
    high, low = grid[at], grid[at + 1]
    for _ in range(60):
        middle = (low + high) / 2
        as_high = (excess(middle) >= 0) == (values[at] >= 0)
        low, high = (low, middle) if as_high else (middle, high)
    return float(low + high) / 2 / scale, True


def _nearest(
    excess: Callable[[Floats], Floats], grid: Floats, misses: Floats
) -> tuple[float, float]:
    """Return the smallest miss and its precision, zooming in where the target is nearly reached."""
    rounded = misses.round(12)
    signs = np.sign(np.diff(rounded, prepend=rounded[0], append=rounded[-1]))
    before, after = signs[:-1], signs[1:]
    found = [(float(misses[0]), float(grid[0]))]
    for at in np.flatnonzero((before <= 0) & (after >= 0) & (before != after)):
        fine = grid[max(at - 1, 0) : at + 2]
        for _ in range(8):
            fine = np.linspace(fine[0], fine[-1], 41)
            nearest = int(np.argmin(np.abs(excess(fine))))
            fine = fine[max(nearest - 1, 0) : nearest + 2]
        found.append(min((float(np.abs(excess(tau))), float(tau)) for tau in fine))
    return min(found, key=lambda pair: round(pair[0], 10))  # the first of equal ones


def _row(d2: Floats, log_weights: Floats, tau: float) -> Floats:
    return np.exp(log_softmax(log_weights - tau * (d2 - d2.min())))


def _plain_row(d2: Floats, perplexity: float) -> Floats:
    zeros = np.zeros(len(d2))
    return _row(d2, zeros, solve_precision(d2, zeros, perplexity)[0])


def symmetrize(indices: Integers, rows: Floats) -> Floats:
    """Return dense ``r_ij = (r_{j|i} + r_{i|j}) / 2n`` from rows over neighbour lists."""
    n = len(indices)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, indices, rows, axis=1)
    return (dense + dense.T) / (2 * n)


def tsne_rows(D2: Floats, indices: Integers, perplexity: float) -> Floats:
    """Return ``p_{j|i}`` over the given neighbours."""
    return np.array([_plain_row(D2[i, row], perplexity) for i, row in enumerate(indices)])


def tsne_affinities(X: ArrayLike, perplexity: float, *, metric: Metric = "euclidean") -> Floats:
    """Return the symmetric similarities of plain t-SNE over ``3u`` neighbours, n × n."""
    D2 = neighbors.squared_distances(X, metric=metric)
    k = np.full(len(D2), neighbors.total_length(len(D2), perplexity))
    indices, _ = neighbors.neighbor_lists(D2, np.full(len(D2), -1), k, np.zeros_like(k))
    return symmetrize(indices, tsne_rows(D2, indices, perplexity))


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
    """Return ``r_{j|i} ∝ β p`` (same label or unlabelled) or ``α p`` (paper, section 3)."""
    if bandwidth not in ("r", "p"):
        raise ValueError(f"bandwidth must be 'r' or 'p', got {bandwidth!r}")
    both = neighbors.high_weights(codes, beta)
    log_beta, log_alpha = (np.append(each, 0.0)[codes][:, None] for each in both)
    weights = np.where(neighbors.are_different(codes), log_alpha, log_beta)
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
    """Return the symmetric similarities of revised conditional t-SNE, n × n."""
    D2 = neighbors.squared_distances(X, metric=metric)
    indices, _ = neighbors.neighbor_lists(D2, codes, *neighbors.list_lengths(codes, perplexity))
    points = np.asarray(X, dtype=np.float64)
    largest = float(np.abs(points - points.mean(axis=0)).max())
    scale = 1.0 if metric == "cosine" else largest or 1.0
    rows = revised_rows(D2, indices, codes, perplexity, beta, bandwidth=bandwidth, scale=scale)
    return symmetrize(indices, rows)


def _split_perplexity(w: float, u: float, k_same: int, k_other: int) -> tuple[float, float]:
    """Return the perplexities of both lists such that their mixture has perplexity u.

    They are ``(1 - w) u`` and ``w u`` unless a list is too short or its part is below one point.
    """
    if w in (0, 1):
        return min(max(u, 1.0), float(k_same)), min(max(u, 1.0), float(k_other))
    # The entropy of the mixture is h(w) + (1 - w) log u_same + w log u_other.
    left = np.log(u) + w * np.log(w) + (1 - w) * np.log(1 - w)
    log_other = np.clip(np.log(w * u), 0.0, np.log(k_other))
    log_same = (left - w * log_other) / (1 - w)
    if not 0 <= log_same <= np.log(k_same):
        log_same = np.clip(log_same, 0.0, np.log(k_same))
        with np.errstate(over="ignore"):  # by tiny shares
            log_other = np.clip((left - (1 - w) * log_same) / w, 0.0, np.log(k_other))
    return float(np.exp(log_same)), float(np.exp(log_other))


def natural_log_odds(D2: Floats, indices: Integers, n_same: Integers) -> Floats:
    """Return the log of the weight on the second list over that on the first, unconditioned."""
    rows = tsne_rows(D2, indices, max(1.0, indices.shape[1] / 2))
    other = np.arange(indices.shape[1]) >= n_same[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log((rows * other).sum(axis=1)) - np.log((rows * ~other).sum(axis=1)))


def split_rows(
    D2: Floats, indices: Integers, n_same: Integers, shares: Floats, perplexity: float
) -> Floats:
    """Return rows ``(1 - w) p^same + w p^other``, each list calibrated separately."""
    rows = []
    for i, w in enumerate(shares):
        lists = indices[i, : n_same[i]], indices[i, n_same[i] :]
        w = 0.0 if len(lists[1]) == 0 else 1.0 if len(lists[0]) == 0 else float(w)
        targets = _split_perplexity(w, perplexity, len(lists[0]), len(lists[1]))
        parts = [
            share * _plain_row(D2[i, members], target) if share else np.zeros(len(members))
            for members, share, target in zip(lists, (1 - w, w), targets, strict=True)
        ]
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
    """Return the rows of ``balanced``: the share of other labels goes from natural to random."""
    natural = expit(natural_log_odds(D2, indices, n_same))
    t = np.append(neighbors.per_label(strength, codes), 0.0)[codes]
    shares = natural + t * (neighbors.other_shares(codes, 1.0) - natural)
    return split_rows(D2, indices, n_same, shares, perplexity)


def balanced_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Return the symmetric similarities of ``balanced``, n × n."""
    D2 = neighbors.squared_distances(X, metric=metric)
    lengths = neighbors.list_lengths_balanced(codes, perplexity, strength)
    indices, n_same = neighbors.neighbor_lists(D2, codes, *lengths)
    return symmetrize(indices, balanced_rows(D2, indices, n_same, codes, perplexity, strength))


def solve_joint_weight(log_odds: Floats, target: float) -> float:
    """Return the λ that brings the mean share of other labels to a target."""
    low, high = -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(log_odds + middle).mean() < target else (low, middle)
    return (low + high) / 2


def joint_shares(log_odds: Floats, matched: Floats, codes: Integers, strength: ArrayLike) -> Floats:
    """Return ``w_i = expit(log_odds_i + log max(matched_i, .02) + λ)``, with one λ per strength.

    Their mean over all labelled points is ``w0 + .65 s^.75 (w1 - w0)``, from natural to random.
    """
    labelled = codes >= 0
    if not labelled.any():
        return np.zeros(len(codes))
    strengths = neighbors.per_label(strength, codes)
    w0 = expit(log_odds[labelled]).mean()
    w1 = neighbors.other_shares(codes, 1.0)[labelled].mean()
    odds = log_odds + np.log(np.maximum(matched, 0.02))
    targets = w0 + 0.65 * strengths**0.75 * (w1 - w0)
    weights = [solve_joint_weight(odds[labelled], target) for target in targets]
    added = np.append(weights, 0.0)[codes]
    return np.where(labelled, expit(odds + added), 0.0)


def joint_rows(
    D2: Floats,
    indices: Integers,
    n_same: Integers,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
) -> Floats:
    """Return dense rows of ``joint``: both lists shortened to their shares of half the row."""
    n, length = indices.shape
    matched = neighbors.matched_shares(indices, n_same, codes)
    shares = joint_shares(natural_log_odds(D2, indices, n_same), matched, codes, strength)
    total = (length + 1) // 2
    dense = np.zeros((len(codes), len(codes)))
    for i in range(n):
        wanted = min(int(np.ceil(total * shares[i] - 1e-6)), total - 1) if n_same[i] else total
        k_other = min(wanted, length - n_same[i])
        k_same = min(total - k_other, n_same[i])
        second = indices[i, n_same[i] : n_same[i] + total - k_same]
        members = np.concatenate([indices[i, :k_same], second])
        one, n_one = slice(i, i + 1), np.array([k_same])
        dense[i, members] = split_rows(D2[one], members[None], n_one, shares[one], perplexity)[0]
    return dense


def joint_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Return the symmetric similarities of ``joint``, n × n."""
    D2 = neighbors.squared_distances(X, metric=metric)
    lengths = neighbors.list_lengths_joint(codes, perplexity)
    indices, n_same = neighbors.neighbor_lists(D2, codes, *lengths)
    rows = joint_rows(D2, indices, n_same, codes, perplexity, strength)
    return np.asarray((rows + rows.T) / (2 * len(codes)))
