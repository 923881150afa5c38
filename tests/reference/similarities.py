"""Bandwidths by perplexity, and the similarities of every method as dense rows, n × n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit, log_softmax, logsumexp, softmax

from . import neighbors
from .neighbors import Floats, Integers, Knob, Lists, Method, Metric, Patterns

# The largest weight on other labels, as a logarithm; the native code has the same bound.
MAX_LOG_WEIGHT = 700.0


def entropy(logits: Floats) -> Floats:
    """Return the entropy of the distribution proportional to ``exp(logits)``."""
    log_p = log_softmax(logits, axis=-1)
    return np.asarray(-(np.exp(log_p) * log_p).sum(axis=-1))


def perplexity(rows: ArrayLike) -> Floats:
    """Return the exponential of the entropy of one distribution, or of each row."""
    return np.asarray(np.exp(entr(np.asarray(rows, np.float64)).sum(axis=-1)))


def _precision_grid(x: Floats, log_weights: Floats) -> Floats:
    """Return falling precisions down to 0, so close that no probability jumps between two."""
    # Above the first, only the nearest points count; below the second, distance does not matter.
    first = (np.ptp(log_weights) + 60) / x[x > 0].min()
    step = 0.04 if np.ptp(log_weights) > 0 else 1.0  # equal weights have one solution at most
    coarse = np.append(np.exp(np.arange(np.log(first), np.log(1e-9), -step)), 0.0)
    if np.ptp(log_weights) == 0:
        return coarse
    # Strong weights switch a row from one list to the other within a tiny range of precisions.
    log_p = log_softmax(log_weights - coarse[:, None] * x, axis=-1)
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


def row_at(tau: float, d2: Floats, log_weights: ArrayLike = 0.0) -> Floats:
    """Return the row of a precision."""
    return np.exp(log_softmax(log_weights - tau * (d2 - d2.min())))


def _plain_row(d2: Floats, perplexity: float) -> Floats:
    return row_at(solve_precision(d2, np.zeros(len(d2)), perplexity)[0], d2)


def symmetrize(rows: Floats) -> Floats:
    """Return ``r_ij = (r_{j|i} + r_{i|j}) / 2n``."""
    return (rows + rows.T) / (2 * len(rows))


def tsne_rows(D2: Floats, lists: Lists, perplexity: float) -> Floats:
    """Return ``p_{j|i}`` over all lists together."""
    rows = np.zeros(D2.shape)
    for i, near in enumerate(lists.indices):
        rows[i, near] = _plain_row(D2[i, near], perplexity)
    return rows


def revised_weights(codes: Integers, beta: Knob) -> Floats:
    """Return the log weight of every pair, n × n: in each column β, or α where it differs."""
    weights = np.zeros((len(codes), len(codes)))
    for column, value in zip(codes.T, beta, strict=True):
        both = neighbors.high_weights(column, value)
        log_beta, log_alpha = (neighbors.per_point(each, column)[:, None] for each in both)
        weights += np.where(neighbors.are_different(column), log_alpha, log_beta)
    return weights


def revised_rows(
    D2: Floats,
    lists: Lists,
    codes: Integers,
    perplexity: float,
    beta: Knob,
    *,
    bandwidth: Literal["r", "p"] = "r",
    scale: float = 1.0,
) -> Floats:
    """Return ``r_{j|i} ∝ Π_c β_c p`` (same label or unlabelled) or α_c p (paper, section 3)."""
    weights, rows = revised_weights(codes, beta), np.zeros(D2.shape)
    for i, near in enumerate(lists.indices):
        d2, log_weights = D2[i, near], weights[i, near]
        if bandwidth == "r":
            tau, _ = search_precision(d2, log_weights, perplexity, scale)
        else:
            tau, _ = solve_precision(d2, np.zeros(len(near)), perplexity)
        rows[i, near] = row_at(tau, d2, log_weights)
    return rows


def natural_shares(D2: Floats, lists: Lists, perplexity: float) -> Floats:
    """Return the share of every list without conditioning, n × P."""
    rows = tsne_rows(D2, lists, max(1.0, perplexity))
    return np.array([[row[k].sum() for k in lists.split(i)] for i, row in enumerate(rows)])


def column_shares(shares: Floats, patterns: Patterns, n_columns: int) -> Floats:
    """Return the share of the lists that differ in each column, n × C."""
    return np.asarray(shares @ neighbors.differing_lists(patterns, n_columns).T)


def filled_shares(shares: Floats, lengths: Integers) -> Floats:
    """Return the shares of one row without empty lists; by length if all have none."""
    there = np.where(lengths > 0, shares, 0.0)
    there = there if there.sum() > 0 else lengths.astype(np.float64)
    return np.asarray(there / there.sum())


def split_perplexities(shares: Floats, u: float, lengths: Integers) -> Floats:
    """Return the perplexities of the lists of one row such that their mixture has perplexity u.

    They are ``w u`` times a factor, within 1 and the length of the list: the one that fits.
    """
    most = np.log(np.maximum(lengths, 1))
    target = np.log(u) - entr(shares).sum()
    own = np.log(np.where(shares > 0, shares, 1.0) * u)
    low, high = -1000.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        reached = (shares * np.clip(own + middle, 0, most)).sum()
        low, high = (middle, high) if reached < target else (low, middle)
    return np.asarray(np.exp(np.clip(own + (low + high) / 2, 0, most)))


def split_rows(D2: Floats, lists: Lists, shares: Floats, perplexity: float) -> Floats:
    """Return rows with their lists calibrated separately and mixed by their shares."""
    rows = np.zeros(D2.shape)
    for i, lengths in enumerate(lists.lengths):
        filled = filled_shares(shares[i], lengths)
        targets = split_perplexities(filled, perplexity, lengths)
        for near, w, u in zip(lists.split(i), filled, targets, strict=True):
            if w > 0:
                rows[i, near] = w * _plain_row(D2[i, near], u)
    return rows


def balanced_rows(D2: Floats, lists: Lists, codes: Integers, u: float, strength: Knob) -> Floats:
    """Return the rows of ``balanced``: the share of each column goes from natural to random."""
    natural = natural_shares(D2, lists, lists.indices.shape[1] / 2)
    shares = column_shares(natural, lists.patterns, codes.shape[1])
    for share, column, t in zip(shares.T, codes.T, strength, strict=True):
        share += neighbors.per_point(t, column) * (neighbors.random_shares(column) - share)
    return split_rows(D2, lists, neighbors.product_shares(shares, lists.patterns), u)


def solve_weight(log_odds: Floats, target: float) -> float:
    """Return the λ that brings the mean share of other labels to a target; 0 without points."""
    low, high = -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT
    if len(log_odds) == 0 or abs(expit(log_odds).mean() - target) < 1e-13:
        return 0.0
    for _ in range(55):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(log_odds + middle).mean() < target else (low, middle)
    return (low + high) / 2


def solve_weights(
    log_weights: Floats, differs: NDArray[np.bool_], codes: Integers, targets: Floats
) -> Floats:
    """Return the λ of each column that brings its mean share over labelled points to a target.

    Each is solved in turn, until none moves. A nested column gets no negative weight.
    """
    free = list(range(codes.shape[1]))
    inner = {a for a in free for b in free if a != b and neighbors.is_nested(codes, a, b)}
    while True:
        weights = np.zeros(codes.shape[1])
        for _ in range(3000):
            before = weights.copy()
            for c in free:
                weights[c] = 0
                rows = (log_weights + weights @ differs)[codes[:, c] >= 0]
                other, same = (
                    logsumexp(np.where(chosen, rows, -np.inf), axis=1)
                    for chosen in (differs[c], ~differs[c])
                )
                weights[c] = solve_weight(other - same, targets[c])
            if np.abs(weights - before).max() < 1e-9:
                break
        negative = [c for c in free if c in inner and weights[c] < 0]
        if not negative or len(free) == 1:
            return weights
        free.remove(min(negative, key=lambda c: float(weights[c])))


def joint_shares(
    natural: Floats, matched: Floats, patterns: Patterns, codes: Integers, strength: Knob
) -> Floats:
    """Return ``w_m ∝ W_m exp(Σ_c λ_c + log max(matched_c, .02))`` over the columns c of m.

    The mean share of a column is ``w0 + s (w1 - w0)``, from natural to random. The λ of
    each combination of strengths are solved as if all labels had these strengths.
    """
    n_columns = codes.shape[1]
    differs = neighbors.differing_lists(patterns, n_columns)
    with np.errstate(divide="ignore"):
        log_weights = np.log(natural) + np.log(np.maximum(matched, 0.02)) @ differs
    w0 = column_shares(natural, patterns, n_columns)
    w1 = np.stack([neighbors.random_shares(column) for column in codes.T], axis=1)
    known = codes >= 0
    w0, w1 = ((w * known).sum(axis=0) / known.sum(axis=0).clip(1) for w in (w0, w1))
    # A point without a label in a column goes with the first label there.
    levels = np.stack(
        [
            np.append(neighbors.per_label(s, column), 0.0)[column.clip(0)]
            for s, column in zip(strength, codes.T, strict=True)
        ],
        axis=1,
    )
    shares = np.zeros_like(natural)
    for level in np.unique(levels, axis=0):
        targets = w0 + level * (w1 - w0)
        weights = solve_weights(log_weights, differs, codes, targets)
        rows = (levels == level).all(axis=1)
        shares[rows] = softmax(log_weights[rows] + weights @ differs, axis=1)
    return shares


def joint_rows(D2: Floats, lists: Lists, codes: Integers, u: float, strength: Knob) -> Floats:
    """Return the rows of ``joint``: all lists shortened to their shares of half the row."""
    length = min(2 * int(np.ceil(5 / 3 * u)), lists.indices.shape[1])
    natural = natural_shares(D2, lists, length / 2)
    matched = neighbors.matched_shares(D2, lists, codes)
    shares = joint_shares(natural, matched, lists.patterns, codes, strength)
    total = (length + 1) // 2
    kept, rows = np.zeros_like(lists.lengths), []
    for i, lengths in enumerate(lists.lengths):
        filled = filled_shares(shares[i], lengths)
        if lengths[0]:  # the nearest point that differs in nothing stays, however small its share
            filled[0] = max(filled[0], 2e-6 / total)
        kept[i] = neighbors.filled_row(neighbors.divided_row(filled, total), lengths, total)
        rows.append(np.concatenate([k[:m] for k, m in zip(lists.split(i), kept[i], strict=True)]))
    return split_rows(D2, Lists(np.array(rows), kept, lists.patterns), shares, u)


def conditional_rows(
    method: Method,
    D2: Floats,
    lists: Lists,
    codes: Integers,
    u: float,
    knob: Knob,
    *,
    bandwidth: Literal["r", "p"] = "r",
    scale: float = 1.0,
) -> Floats:
    """Return the rows of any method; the last two arguments are for ``revised``."""
    if method == "tsne":
        return tsne_rows(D2, lists, u)
    if method == "revised":
        return revised_rows(D2, lists, codes, u, knob, bandwidth=bandwidth, scale=scale)
    return (balanced_rows if method == "balanced" else joint_rows)(D2, lists, codes, u, knob)


def affinities(
    method: Method,
    X: ArrayLike,
    codes: Integers,
    u: float,
    knob: Knob = (),
    *,
    bandwidth: Literal["r", "p"] = "r",
    metric: Metric = "euclidean",
) -> Floats:
    """Return the symmetric similarities of a method from features, n × n."""
    points = np.asarray(X, dtype=np.float64)
    D2 = neighbors.squared_distances(points, metric=metric)
    codes = np.full((len(points), 1), -1) if method == "tsne" else codes
    given = D2, neighbors.method_lists(method, D2, codes, u, knob), codes, u, knob
    largest = float(np.abs(points - points.mean(axis=0)).max()) if metric == "euclidean" else 1.0
    return symmetrize(conditional_rows(method, *given, bandwidth=bandwidth, scale=largest or 1.0))
