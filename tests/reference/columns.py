"""Several label columns: patterns, lists, similarities of every method, and weights in the map.

``codes`` have one column per label column. The pattern of a pair is the bit mask of the columns in
which the two points are different; lists come in the order of ``patterns``, 0 first.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, softmax

from . import neighbors, similarities
from .neighbors import Floats, Integers


def pattern_matrix(codes: Integers) -> Integers:
    """Return the pattern of every pair, n × n."""
    each = [neighbors.are_different(codes[:, c]) << c for c in range(codes.shape[1])]
    return np.asarray(np.sum(each, axis=0, dtype=np.int64))


def patterns_of(codes: Integers) -> tuple[int, ...]:
    """Return the patterns that occur, with 0."""
    return tuple(sorted({0, *np.unique(pattern_matrix(codes)).tolist()}))


def is_nested(codes: Integers, inner: int, outer: int) -> bool:
    """Return whether each inner label has one outer label, and no outer label lacks an inner."""
    pairs = {(a, b) for a, b in codes[:, [inner, outer]].tolist() if b >= 0}
    return all(a >= 0 for a, _ in pairs) and len({a for a, _ in pairs}) == len(pairs)


def filled_lengths(codes: Integers, wanted: Integers, patterns: tuple[int, ...]) -> Integers:
    """Return list lengths: where one has too few candidates, the first others take the rest."""
    pattern = pattern_matrix(codes)
    n = len(codes)
    total = min(int(np.broadcast_to(wanted, (n, len(patterns)))[0].sum()), n - 1)
    lengths = np.zeros((n, len(patterns)), np.int64)
    for i in range(n):
        has = [int((np.delete(pattern[i], i) == each).sum()) for each in patterns]
        lengths[i] = filled_row(np.broadcast_to(wanted, lengths.shape)[i], has, total)
    return lengths


def filled_row(wanted: Integers, has: list[int], total: int) -> Integers:
    """Return the list lengths of one row of ``total`` points; the first lists take the rest."""
    row = np.minimum(wanted, has)
    while row.sum() < total:
        row[next(m for m in range(len(has)) if row[m] < has[m])] += 1
    while row.sum() > total:
        row[np.flatnonzero(row)[-1]] -= 1
    return row


def pattern_lists(
    D2: Floats, codes: Integers, lengths: Integers, patterns: tuple[int, ...]
) -> Integers:
    """Return rows of the nearest points of each pattern, by distance, then index."""
    pattern = pattern_matrix(codes)
    rows = []
    for i in range(len(codes)):
        order = np.argsort(D2[i], kind="stable")
        order = order[order != i]
        parts = [order[pattern[i, order] == each] for each in patterns]
        rows.append(np.concatenate([p[:k] for p, k in zip(parts, lengths[i], strict=True)]))
    return np.array(rows)


def _lists(row: Any, lengths: Integers) -> list[Any]:
    return np.split(row, np.cumsum(lengths)[:-1])


def columns_matched(
    D2: Floats, indices: Integers, lengths: Integers, patterns: tuple[int, ...], codes: Integers
) -> Floats:
    """Return `matched_shares` per column, with the lists merged by whether they differ in it."""
    result = []
    for c in range(codes.shape[1]):
        rows, n_same = [], []
        for i in range(len(indices)):
            lists = list(zip(patterns, _lists(indices[i], lengths[i]), strict=True))
            merged = []
            for wanted in (0, 1):
                parts = [each for pattern, each in lists if pattern >> c & 1 == wanted]
                points = np.concatenate([indices[i, :0], *parts])
                merged.append(points[np.argsort(D2[i, points], kind="stable")])
            rows.append(np.concatenate(merged))
            n_same.append(len(merged[0]))
        result.append(neighbors.matched_shares(np.array(rows), np.array(n_same), codes[:, c]))
    return np.stack(result, axis=1)


def natural_shares(D2: Floats, indices: Integers, lengths: Integers, perplexity: float) -> Floats:
    """Return the share of every list without conditioning, n × P."""
    rows = similarities.tsne_rows(D2, indices, max(1.0, perplexity))
    return np.array(
        [[part.sum() for part in _lists(row, k)] for row, k in zip(rows, lengths, strict=True)]
    )


def of_columns(shares: Floats, patterns: tuple[int, ...], n_columns: int) -> Floats:
    """Return the share of the lists that differ in each column, n × C."""
    differs = np.array([[m >> c & 1 for m in patterns] for c in range(n_columns)])
    return np.asarray(shares @ differs.T)


def independent_shares(shares: Floats, patterns: tuple[int, ...]) -> Floats:
    """Return ``Π w_c`` (columns that differ) ``(1 - w_c)`` (others), over the patterns given."""
    result = np.ones((len(shares), len(patterns)))
    for place, pattern in enumerate(patterns):
        for c in range(shares.shape[1]):
            result[:, place] *= shares[:, c] if pattern >> c & 1 else 1 - shares[:, c]
    total = result.sum(axis=1, keepdims=True)
    first = np.eye(len(patterns))[0]
    return np.where(total > 0, result / np.where(total > 0, total, 1), first)


def solve_column_weights(
    log_weights: Floats, patterns: tuple[int, ...], codes: Integers, targets: Floats
) -> Floats:
    """Return the λ of each column that brings its mean share over labelled points to a target.

    Each is bisected in turn, until none moves. A nested column gets no negative weight.
    """
    n_columns = codes.shape[1]
    places = range(n_columns)
    differs = np.array([[m >> c & 1 for m in patterns] for c in places])
    inner = [c for c in places if any(o != c and is_nested(codes, c, o) for o in places)]
    fixed: set[int] = set()
    while True:
        weights = np.zeros(n_columns)
        for _ in range(3000):
            before = weights.copy()
            for c in places:
                if c in fixed:
                    continue
                low, high = -similarities.MAX_LOG_WEIGHT, similarities.MAX_LOG_WEIGHT
                for _ in range(60):
                    weights[c] = (low + high) / 2
                    shares = softmax(log_weights + weights @ differs, axis=1)
                    mean = (shares @ differs[c])[codes[:, c] >= 0].mean()
                    low, high = (weights[c], high) if mean < targets[c] else (low, weights[c])
            if np.abs(weights - before).max() < 1e-9:
                break
        below = [c for c in inner if c not in fixed and weights[c] < 0]
        if not below or len(fixed) == n_columns - 1:
            return weights
        fixed.add(min(below, key=lambda c: float(weights[c])))


def joint_column_targets(natural: Floats, codes: Integers, strength: ArrayLike) -> Floats:
    """Return ``w0 + .65 s^.75 (w1 - w0)`` per column, from its natural share to a random draw."""
    targets = []
    each = np.broadcast_to(np.asarray(strength, np.float64), natural.shape[1:])
    for c, s in enumerate(each):
        labelled = codes[:, c] >= 0
        w0 = natural[labelled, c].mean()
        w1 = neighbors.other_shares(codes[:, c], 1.0)[labelled].mean()
        targets.append(w0 + 0.65 * s**0.75 * (w1 - w0))
    return np.array(targets)


def joint_pattern_shares(
    natural: Floats,
    matched: Floats,
    patterns: tuple[int, ...],
    codes: Integers,
    strength: ArrayLike,
) -> Floats:
    """Return ``w_m ∝ W_m exp(Σ_c λ_c + log max(matched_c, .02))`` over the columns c of m."""
    differs = np.array([[m >> c & 1 for m in patterns] for c in range(codes.shape[1])])
    with np.errstate(divide="ignore"):
        log_weights = np.log(natural) + np.log(np.maximum(matched, 0.02)) @ differs
    of_column = of_columns(natural, patterns, codes.shape[1])
    targets = joint_column_targets(of_column, codes, strength)
    weights = solve_column_weights(log_weights, patterns, codes, targets)
    return np.asarray(softmax(log_weights + weights @ differs, axis=1))


def pattern_perplexities(shares: Floats, u: float, lengths: Integers) -> Floats:
    """Return the perplexities of the lists of one row such that their mixture has perplexity u.

    They are ``w u`` times a factor, within 1 and the length of the list: the one that fits.
    """
    w = shares[shares > 0]
    most = np.log(np.maximum(lengths, 1))
    target = np.log(u) + (w * np.log(w)).sum()
    own = np.log(np.where(shares > 0, shares, 1.0) * u)
    low, high = -1000.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        reached = (shares * np.clip(own + middle, 0, most)).sum()
        low, high = (middle, high) if reached < target else (low, middle)
    return np.asarray(np.exp(np.clip(own + (low + high) / 2, 0, most)))


def mixed_row(d2: Floats, lengths: Integers, shares: Floats, perplexity: float) -> Floats:
    """Return one row with its lists calibrated separately and mixed by their shares."""
    there = np.where(lengths > 0, shares, 0.0)
    there = there if there.sum() > 0 else lengths.astype(np.float64)
    there = there / there.sum()
    each = pattern_perplexities(there, perplexity, lengths)
    parts = []
    for members, w, u in zip(_lists(d2, lengths), there, each, strict=True):
        row = np.zeros(len(members))
        if w > 0:
            tau, _ = similarities.solve_precision(members, np.zeros(len(members)), u)
            row = w * np.exp(log_softmax(-tau * (members - members.min())))
        parts.append(row)
    return np.concatenate(parts)


def divided_row(shares: Floats, total: int) -> Integers:
    """Divide a row between lists: others rounded up, the first at least one if it has a share."""
    lengths = np.ceil(total * shares - 1e-6).astype(np.int64)
    lengths[0] = min(lengths[0], 1)
    while lengths.sum() > total:
        lengths[1 + int(lengths[1:].argmax())] -= 1
    lengths[0] += total - lengths.sum()
    return lengths


def column_rows(
    method: Literal["revised", "balanced", "joint"],
    D2: Floats,
    indices: Integers,
    lengths: Integers,
    patterns: tuple[int, ...],
    codes: Integers,
    perplexity: float,
    knob: ArrayLike,
    **arguments: Any,
) -> Floats:
    """Return the conditional similarities of a method as dense rows, n × n."""
    n, n_columns = codes.shape
    knobs = np.broadcast_to(np.asarray(knob, np.float64), (n_columns,))
    dense = np.zeros((n, n))
    if method == "revised":
        rows = revised_column_rows(D2, indices, codes, perplexity, knobs, **arguments)
        np.put_along_axis(dense, indices, rows, axis=1)
        return dense
    length = indices.shape[1]
    if method == "balanced":
        natural = natural_shares(D2, indices, lengths, length / 2)
        of_column = of_columns(natural, patterns, n_columns)
        for c in range(n_columns):
            random = neighbors.other_shares(codes[:, c], 1.0)
            of_column[:, c] += knobs[c] * (random - of_column[:, c])
        shares = independent_shares(of_column, patterns)
        kept = lengths
    else:
        row = min(2 * int(np.ceil(5 / 3 * perplexity)), length)
        natural = natural_shares(D2, indices, lengths, row / 2)
        matched = columns_matched(D2, indices, lengths, patterns, codes)
        shares = joint_pattern_shares(natural, matched, patterns, codes, knobs)
        kept = np.zeros_like(lengths)
        for i in range(n):
            there = np.where(lengths[i] > 0, shares[i], 0.0)
            there = there if there.sum() > 0 else lengths[i].astype(float)
            kept[i] = divided_row(there / there.sum(), (row + 1) // 2)
            if kept[i, 0] == 0 < lengths[i, 0]:  # the nearest one that differs in nothing stays
                kept[i, 0] += 1
                kept[i, 1 + kept[i, 1:].argmax()] -= 1
            kept[i] = np.minimum(kept[i], lengths[i])
            while kept[i].sum() < (row + 1) // 2:
                kept[i, next(m for m in range(len(patterns)) if kept[i, m] < lengths[i, m])] += 1
    for i in range(n):
        parts = _lists(indices[i], lengths[i])
        members = np.concatenate([p[:k] for p, k in zip(parts, kept[i], strict=True)])
        dense[i, members] = mixed_row(D2[i, members], kept[i], shares[i], perplexity)
    return dense


def revised_column_rows(
    D2: Floats,
    indices: Integers,
    codes: Integers,
    perplexity: float,
    beta: Floats,
    *,
    bandwidth: Literal["r", "p"] = "r",
    scale: float = 1.0,
) -> Floats:
    """Return ``r_{j|i} ∝ p Π_c`` β_c (same label or unlabelled) or α_c (different)."""
    n = len(codes)
    weights = np.zeros((n, n))
    for c in range(codes.shape[1]):
        both = neighbors.high_weights(codes[:, c], beta[c])
        log_beta, log_alpha = (np.append(each, 0.0)[codes[:, c]][:, None] for each in both)
        weights += np.where(neighbors.are_different(codes[:, c]), log_alpha, log_beta)
    rows = []
    for i, row in enumerate(indices):
        d2, log_weights = D2[i, row], weights[i, row]
        if bandwidth == "r":
            tau, _ = similarities.search_precision(d2, log_weights, perplexity, scale)
        else:
            tau, _ = similarities.solve_precision(d2, np.zeros(len(row)), perplexity)
        rows.append(np.exp(log_softmax(log_weights - tau * (d2 - d2.min()))))
    return np.array(rows)
