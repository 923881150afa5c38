"""Labels and the weights that follow from them, distances, and lists of neighbours.

The pattern of a pair is the bit mask of the columns in which the two points differ. A point has one
list of neighbours per pattern, 0 first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Metric = Literal["euclidean", "cosine"]
Method = Literal["tsne", "revised", "balanced", "joint"]
Knob = Sequence[ArrayLike]
Patterns = tuple[int, ...]


class Lists(NamedTuple):
    """Neighbours of all points: each row has its lists one after the other."""

    indices: Integers  # n × K
    lengths: Integers  # n × P
    patterns: Patterns

    def split(self, i: int) -> list[Integers]:
        """Return the lists of one point."""
        return np.split(self.indices[i], np.cumsum(self.lengths[i])[:-1])


def are_different(column: Integers) -> NDArray[np.bool_]:
    """Return which pairs have two labels that differ."""
    labelled = np.asarray(column >= 0)
    unequal = np.asarray(column[:, None] != column[None, :])
    return unequal & labelled[:, None] & labelled[None, :]


def pattern_matrix(codes: Integers) -> Integers:
    """Return the pattern of every pair, n × n."""
    bits = [are_different(column) << c for c, column in enumerate(codes.T)]
    return np.asarray(np.sum(bits, axis=0, dtype=np.int64))


def patterns_of(codes: Integers) -> Patterns:
    """Return the patterns that occur, with 0."""
    return tuple(sorted({0, *np.unique(pattern_matrix(codes)).tolist()}))


def differing_lists(patterns: Patterns, n_columns: int) -> NDArray[np.bool_]:
    """Return which lists differ in each column, C × P."""
    return np.array([[bool(m >> c & 1) for m in patterns] for c in range(n_columns)])


def is_nested(codes: Integers, inner: int, outer: int) -> bool:
    """Return whether each inner label has one outer label, and no outer label lacks an inner."""
    pairs = {(a, b) for a, b in codes[:, [inner, outer]].tolist() if b >= 0}
    return all(a >= 0 for a, _ in pairs) and len({a for a, _ in pairs}) == len(pairs)


def label_counts(column: Integers) -> NDArray[np.intp]:
    """Count the points of each label."""
    return np.bincount(column[column >= 0])


def per_label(value: ArrayLike, column: Integers) -> Floats:
    """Spread a value over the labels, unless there is one per label already."""
    return np.broadcast_to(np.asarray(value, np.float64), label_counts(column).shape)


def per_point(value: ArrayLike, column: Integers) -> Floats:
    """Return the value of each point's label; 0 if the label is missing."""
    return np.asarray(np.append(per_label(value, column), 0.0)[column])


def rho(column: Integers) -> float:
    """Return ρ, the chance that two labelled points share their label (1 below two points)."""
    counts = label_counts(column)
    m = counts.sum()
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def high_weights(column: Integers, beta: ArrayLike) -> tuple[Floats, Floats]:
    """Return log β and log α per label, ``α = (1 - βρ) / (1 - ρ)``; zeros with one label only."""
    beta, share = per_label(beta, column), rho(column)
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


def beta_from_odds(column: Integers, odds: ArrayLike) -> Floats:
    """Return the paper's β for odds ``ω = α / β``, ``1 / (ρω + 1 - ρ)``."""
    share = rho(column)
    return np.asarray(1 / (share * np.asarray(odds, dtype=np.float64) + 1 - share))


def joint_odds(strength: ArrayLike) -> Floats:
    """Return the odds of low-dimensional conditioning in ``joint``, ``ω = 10^(2 s²)``."""
    return np.asarray(10.0 ** (2 * np.asarray(strength, dtype=np.float64) ** 2))


def random_shares(column: Integers) -> Floats:
    """Return the share of other labels per point in a random draw, ``(m - n_l) / (n - 1)``."""
    counts = label_counts(column)
    return per_point((counts.sum() - counts) / (len(column) - 1), column)


def product_shares(shares: Floats, patterns: Patterns) -> Floats:
    """Return ``Π w_c`` (columns that differ) ``(1 - w_c)`` (others), over the patterns given."""
    shares = shares.clip(0, 1)  # sums of shares may be above 1 by rounding
    result = np.ones((len(shares), len(patterns)))
    for share, differs in zip(shares.T, differing_lists(patterns, shares.shape[1]), strict=True):
        result *= np.where(differs, share[:, None], 1 - share[:, None])
    total = result.sum(axis=1, keepdims=True)
    first = np.eye(len(patterns))[0]
    return np.where(total > 0, result / np.where(total > 0, total, 1), first)


def squared_distances(X: ArrayLike, *, metric: Metric = "euclidean") -> Floats:
    """Return squared distances between all pairs, from differences so that no digits cancel."""
    rows = np.asarray(X, dtype=np.float64)
    if metric == "euclidean":
        return np.array([((rows - row) ** 2).sum(axis=1) for row in rows])
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return (squared_distances(rows / norms) / 2) ** 2  # 1 - cos is |a - b|² / 2 of unit rows


def wanted_lengths(
    method: Method, codes: Integers, patterns: Patterns, perplexity: float, knob: Knob
) -> Integers:
    """Return the list lengths that a method asks for, n × P.

    The paper's methods want 1.5 u in each list, ``joint`` 5/3 u (half as much in more than four
    lists), and ``balanced`` divides a row of 3u by its shares, from half to those of a random draw.
    """
    n, lists = len(codes), len(patterns)
    if method == "balanced":
        u = min(perplexity, (n - 1) / 3)
        shares = [
            per_point(t, column) * random_shares(column)
            + per_point((1 - per_label(t, column)) / 2, column)
            for t, column in zip(knob, codes.T, strict=True)
        ]
        wanted = np.ceil(product_shares(np.stack(shares, axis=1), patterns) * 3 * u)
        total = min(int(np.ceil(3 * u)), n - 1)
        return np.array([shorten_row(row, total) for row in wanted.astype(np.int64)])
    if method == "joint":
        row = int(np.ceil(5 / 3 * perplexity))
        length, total = row if lists <= 4 else (row + 1) // 2, 2 * row
    else:
        total = int(np.ceil(3 * perplexity))
        length = (total + 1) // 2
    lengths = np.full(lists, length)
    if lists <= 2:  # one or two lists fill exactly a row
        lengths[-1] = total - lengths[:-1].sum()
    return np.tile(lengths, (n, 1))


def shorten_row(lengths: Integers, total: int) -> Integers:
    """Shorten lists that were rounded up; the first one takes what the others leave, or a point."""
    lengths = np.array(lengths)
    lengths[0] = min(lengths[0], 1)
    while lengths.sum() > total:
        lengths[1 + int(lengths[1:].argmax())] -= 1
    lengths[0] += total - lengths.sum()
    return lengths


def divided_row(shares: Floats, total: int) -> Integers:
    """Divide a row between lists by their shares, rounded up; less than 1e-6 of a point is none."""
    return shorten_row(np.ceil(total * shares - 1e-6).astype(np.int64), total)


def filled_row(wanted: ArrayLike, has: ArrayLike, total: int) -> Integers:
    """Return the list lengths of a row: what lists do not have, the first others take."""
    row = np.minimum(wanted, has)
    while row.sum() < total:
        row[np.flatnonzero(row < has)[0]] += 1
    while row.sum() > total:
        row[np.flatnonzero(row)[-1]] -= 1
    return row


def filled_lengths(codes: Integers, wanted: ArrayLike, patterns: Patterns) -> Integers:
    """Return the list lengths that the labels allow, n × P, for wanted ones per list or point."""
    pattern = pattern_matrix(codes)
    np.fill_diagonal(pattern, -1)  # a point is not its own neighbour
    rows = np.broadcast_to(np.asarray(wanted), (len(codes), len(patterns)))
    total = min(int(rows[0].sum()), len(codes) - 1)
    has = [[(row == m).sum() for m in patterns] for row in pattern]
    return np.array([filled_row(*row, total) for row in zip(rows, np.array(has), strict=True)])


def neighbor_lists(D2: Floats, codes: Integers, lengths: Integers, patterns: Patterns) -> Lists:
    """Return the nearest points of each pattern, by distance, then index."""
    pattern = pattern_matrix(codes)
    rows = []
    for i in range(len(codes)):
        order = np.argsort(D2[i], kind="stable")
        order = order[order != i]
        found = [
            order[pattern[i, order] == m][:k] for m, k in zip(patterns, lengths[i], strict=True)
        ]
        rows.append(np.concatenate(found))
    return Lists(np.array(rows), np.asarray(lengths), patterns)


def method_lists(method: Method, D2: Floats, codes: Integers, u: float, knob: Knob) -> Lists:
    """Return the lists of a method, one for every pattern that occurs."""
    patterns = patterns_of(codes)
    wanted = wanted_lengths(method, codes, patterns, u, knob)
    return neighbor_lists(D2, codes, filled_lengths(codes, wanted, patterns), patterns)


def matched_shares(D2: Floats, lists: Lists, codes: Integers) -> Floats:
    """Return how often a point and its 30 nearest same-label neighbours are counterparts, n × C.

    That is, among the 15 nearest of another label; as a share of what random labels give, or 1.
    """
    near = [row[np.argsort(D2[i, row], kind="stable")] for i, row in enumerate(lists.indices)]
    return np.stack([matched_in_column(near, column) for column in codes.T], axis=1)


def matched_in_column(near: list[Integers], column: Integers) -> Floats:
    """Return the shares of one column, from all neighbours of every point in order."""
    differs, counts, labelled = are_different(column), label_counts(column), column >= 0
    m = counts.sum()
    named, given = np.zeros(len(column)), np.zeros(len(counts))
    for i in np.flatnonzero(labelled):
        counterparts = near[i][differs[i, near[i]]][:15]
        named[counterparts] += 1
        given[column[i]] += len(counterparts)
    for i, own in enumerate(column):
        rates = [given[a] / (m - k) for a, k in enumerate(counts) if a != own and k < m]
        named[i] = named[i] / sum(rates) if own >= 0 and sum(rates) > 0 else 0.0
    matched = np.ones(len(column))
    for i in np.flatnonzero(labelled):
        same = near[i][~differs[i, near[i]]][:30]
        matched[i] = min(1.0, float(np.mean(named[[i, *same[labelled[same]]]])))
    return matched
