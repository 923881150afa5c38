"""How much of a row each list of neighbours gets: natural shares, and the weights that move them.

A list holds the neighbours that differ from a point in the same label columns (its pattern). The
share of a column is the weight on all lists that differ in it.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit, log_softmax, logsumexp, softmax

from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import LEAST_MATCHED, Floats, PerLabel, joint_share, of_points
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors
from ctsne.neighbors.patterns import Patterns, differing_lists

Differs = NDArray[np.bool_]  # shape (C, P): which lists differ in each column

LARGEST_LOG_WEIGHT = 700.0  # exp(700) is about the largest finite weight
# Weights are solved until shares are this close to their targets, or for this many steps.
_TOLERANCE = 1e-10
_STEPS = 200
_LONGEST_STEP = 10.0


def column_shares(shares: Floats, differs: Differs) -> Floats:
    """Return the share of points that differ in each column, shape (n, C)."""
    return np.stack([shares[:, lists].sum(axis=1) for lists in differs], axis=1)


def natural_log_shares(
    neighbors: Neighbors, labels: Labels, *, perplexity: float, n_jobs: int
) -> Floats:
    """Return the log share of every list without conditioning, shape (n, P)."""
    # Those among aligned points are scaled to the means without alignment, which determines
    # which points are near, not how near they are.
    found = log_shares(neighbors, perplexity, n_jobs)
    if neighbors.unaligned is None:
        return found
    rows = neighbors.unaligned.rows
    sample = labels.take(rows)
    known = sample.codes >= 0
    if not known.any():
        return found
    plain = log_shares(neighbors.unaligned.neighbors, perplexity, n_jobs)
    differs = differing_lists(neighbors.patterns, labels.n_columns)
    shares = column_shares(np.exp(plain), differs)
    targets = np.where(known, shares, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    weights = solve_weights(found[rows], differs, sample, targets)
    return np.asarray(log_softmax(found + weights @ differs, axis=1))


def log_shares(neighbors: Neighbors, perplexity: float, n_jobs: int) -> Floats:
    """Return the log share of every list in rows of some perplexity."""
    rows = Rows(neighbors, n_jobs=n_jobs)
    precision, _ = rows.bandwidths(max(1.0, perplexity), weighted=False)
    return np.asarray(log_softmax(rows.list_weights(precision), axis=1))


def joint_shares(
    natural: Floats, matched: Floats, labels: Labels, strengths: PerLabel, patterns: Patterns
) -> Floats:
    """Return the share of every list in ``joint``, from those without conditioning."""
    # Points without counterparts keep to their own label, instead of being forced into others. If
    # labels differ in strength, the weights of each strength are solved as if all had it.
    differs = differing_lists(patterns, labels.n_columns)
    pairs = zip(np.log(np.maximum(matched, LEAST_MATCHED)).T, differs, strict=True)
    added = [np.where(lists, value[:, None], 0.0) for value, lists in pairs]
    log_weights = natural + np.sum(added, axis=0)
    shares = column_shares(np.exp(natural), differs)
    inner = {pair[0] for pair in labels.nested()}
    own = zip(strengths, labels.columns, strict=True)
    levels = np.stack([of_points(numbers, column.codes) for numbers, column in own], axis=1)
    # A missing label has no lists to weigh, so any strength will do for it.
    first = [numbers[0] if len(numbers) else 0.0 for numbers in strengths]
    levels = np.where(labels.codes < 0, first, levels)
    found, level_of = np.unique(levels, axis=0, return_inverse=True)
    result = np.empty_like(log_weights)
    for place, level in enumerate(found):
        targets = np.array(
            [joint_share(shares[:, c], column, level[c]) for c, column in enumerate(labels.columns)]
        )
        weights = solve_weights(log_weights, differs, labels, targets, inner=inner)
        rows = level_of.reshape(-1) == place
        result[rows] = softmax(log_weights[rows] + weights @ differs, axis=1)
    return result


def solve_weights(
    log_weights: Floats,
    differs: Differs,
    labels: Labels,
    targets: Floats,
    *,
    inner: Collection[int] = (),
) -> Floats:
    """Solve for the log weight of every column that makes its mean share a target."""
    # Columns nested in others are ``inner``: they differ wherever the outer column does, so their
    # share may be above its target without any weight. Then they get none, not a negative one.
    if labels.n_columns == 1:
        rows = log_weights[labels.combined.codes >= 0]
        parts = rows[:, ~differs[0]], rows[:, differs[0]]
        same, other = (logsumexp(x, axis=1) if x.size else np.full(len(x), -np.inf) for x in parts)
        return np.array([solve_weight(other - same, float(targets[0]))])
    labelled = np.array([np.count_nonzero(column.codes >= 0) for column in labels.columns])
    free = np.ones(len(targets), bool)
    while True:
        weights = np.zeros(len(targets))
        if free.any():
            sums = targets[free] * labelled[free]
            weights[free] = _minimize(log_weights, differs[free], sums)
        negative = [c for c in sorted(inner) if free[c] and weights[c] < 0]
        if not negative or free.sum() < 2:
            return weights
        free[min(negative, key=lambda c: weights[c])] = False


def solve_weight(log_odds: Floats, target: float) -> float:
    """Solve for the log weight on other labels that makes their mean share a target."""

    def mean_share(log_weight: float) -> float:
        return float(expit(log_odds + log_weight).mean()) if len(log_odds) else target

    low, high = -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT
    if abs(mean_share(0.0) - target) < 1e-13:  # equal but for rounding
        return 0.0
    if mean_share(low) >= target:
        return low
    if mean_share(high) <= target:
        return high
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_share(middle) < target else (low, middle)
    return high


def _minimize(log_weights: Floats, differs: Differs, sums: Floats) -> Floats:
    """Minimize, by Newton's method, the function whose gradient is the excess of each sum."""

    def value(weights: Floats) -> float:
        return float(logsumexp(log_weights + weights @ differs, axis=1).sum() - sums @ weights)

    weights, here = np.zeros(len(sums)), value(np.zeros(len(sums)))
    for _ in range(_STEPS):
        shares = softmax(log_weights + weights @ differs, axis=1)
        # Sums, not products of matrices: those depend on the number of threads.
        of_columns = [shares[:, lists].sum(axis=1) for lists in differs]
        gradient = np.array([share.sum() for share in of_columns]) - sums
        outward = (np.abs(weights) >= LARGEST_LOG_WEIGHT) & (gradient * weights < 0)
        if (np.abs(gradient[~outward]) <= _TOLERANCE * len(shares)).all():
            break
        curvature = np.array([[shares[:, a & b].sum() for b in differs] for a in differs])
        curvature -= np.array([[(a * b).sum() for b in of_columns] for a in of_columns])
        curvature += np.diag(1e-12 * len(shares) + 1e-9 * np.diag(curvature))
        curvature[outward] = curvature[:, outward] = 0
        curvature[outward, outward] = 1
        step = np.linalg.solve(curvature, np.where(outward, 0.0, -gradient))
        step *= min(1.0, _LONGEST_STEP / max(1e-300, np.abs(step).max()))
        ahead, there = weights, here
        while np.abs(step).max() > 1e-13:
            ahead = np.clip(weights + step, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT)
            there = value(ahead)
            # Near the solution, the function is constant but for rounding.
            if there <= here + 1e-13 * abs(here):
                break
            step /= 2
        if (ahead == weights).all():
            break
        weights, here = ahead, there
    return weights


def filled_shares(shares: Floats, lengths: NDArray[np.integer]) -> Floats:
    """Divide the shares of empty lists between the others."""
    there = np.where(lengths > 0, shares, 0.0)
    total = there.sum(axis=1, keepdims=True)
    # If all weight is on empty lists, the others have it by their lengths.
    there = np.where(total > 0, there, lengths)
    return np.asarray(there / there.sum(axis=1, keepdims=True))


def split_perplexities(perplexity: float, shares: Floats, lengths: NDArray[np.integer]) -> Floats:
    """Return perplexities of all lists whose mixture has exactly the one asked for."""
    # The mixture's entropy is h(w) + sum of w log(u), which shares of the perplexity satisfy. Where
    # a list cannot have its own (below one neighbour, or more than it holds), all others deviate by
    # a common factor.
    most = np.log(np.maximum(lengths, 1))
    own = np.log(np.where(shares > 0, shares, 1.0) * perplexity)
    logs = own.clip(0, most)
    rows = np.flatnonzero(((logs != own) & (shares > 0)).any(axis=1))
    logs[rows] = _shifted(own[rows], most[rows], shares[rows], np.log(perplexity))
    return np.asarray(np.exp(logs))


def _shifted(own: Floats, most: Floats, shares: Floats, target: float) -> Floats:
    """Bisect for the common shift of the logarithms of rows that reaches an entropy."""
    left = target - entr(shares).sum(axis=1)
    low, high = np.full(len(shares), -LARGEST_LOG_WEIGHT), np.full(len(shares), 800.0)
    for _ in range(64):
        middle = 0.5 * (low + high)
        logs = (own + middle[:, None]).clip(0, most)
        short = (shares * logs).sum(axis=1) < left
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray((own + (0.5 * (low + high))[:, None]).clip(0, most))
