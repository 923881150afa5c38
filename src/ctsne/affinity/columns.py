"""Similarities with several label columns: weights and shares of every list of neighbours."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, log_softmax, logsumexp, softmax

from ctsne._core.vocabulary import JOINT_LENGTH
from ctsne.affinity.result import Affinities, Diagnostics, symmetric_matrix
from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import (
    LEAST_MATCHED,
    Floats,
    joint_share,
    of_points,
    one_each,
    random_share,
    revised_weights,
)
from ctsne.labels import Column, Labels, encode_labels
from ctsne.neighbors import Neighbors, matched_shares, select_neighbors
from ctsne.neighbors.lists import divide_rows, fill_lists, product_shares
from ctsne.neighbors.patterns import differing_lists

# exp(700) is about the largest finite weight.
_LARGEST_LOG_WEIGHT = 700.0
# Weights are solved until shares are this close to their targets, or for this many steps.
_TOLERANCE = 1e-10
_STEPS = 200
_LONGEST_STEP = 10.0


def revised_columns(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    beta: ArrayLike,
    bandwidth: str,
    n_jobs: int,
) -> Affinities:
    """Compute the similarities of ``revised``: the weights of all columns are multiplied."""
    betas = per_column(beta, "beta", labels, open_low=True)
    rows = Rows(neighbors, column_log_weights(neighbors.patterns, labels, betas), n_jobs=n_jobs)
    precision, reached = rows.bandwidths(perplexity, weighted=bandwidth == "r")
    return _finished(rows, neighbors, labels, precision, reached, n_jobs=n_jobs)


def column_log_weights(patterns: tuple[int, ...], labels: Labels, betas: Floats) -> Floats:
    """Return the log weight of every list: alpha where a column differs, beta where it does not."""
    total = np.zeros((labels.n_points, len(patterns)))
    differing = differing_lists(patterns, labels.n_columns)
    for column, beta, differs in zip(labels.columns, betas, differing, strict=True):
        same, other = revised_weights(column, np.full(column.n_labels, beta))
        weights = [of_points(each, column.codes)[:, None] for each in (same, other)]
        total += np.where(differs, weights[1], weights[0])
    return total


def balanced_columns(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int,
) -> Affinities:
    """Give each column its share, and each list the product of these."""
    strengths = per_column(strength, "strength", labels)
    length = neighbors.indices.shape[1]
    natural = natural_log_shares(neighbors, labels, perplexity=length / 2, n_jobs=n_jobs)
    shares = column_shares(np.exp(natural), neighbors.patterns, labels.n_columns)
    for place, (column, each) in enumerate(zip(labels.columns, strengths, strict=True)):
        shares[:, place] += each * (random_share(column) - shares[:, place])
    wanted = product_shares(shares, neighbors.patterns)
    return _split(neighbors, labels, wanted, perplexity=perplexity, n_jobs=n_jobs)


def joint_columns(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int,
) -> Affinities:
    """Weight the lists such that every column reaches its own mean share, all together."""
    strengths = per_column(strength, "strength", labels)
    length = min(2 * ceil(JOINT_LENGTH * perplexity), neighbors.indices.shape[1])
    natural = natural_log_shares(neighbors, labels, perplexity=length / 2, n_jobs=n_jobs)
    matched = matched_shares(neighbors, labels)
    shares = joint_column_shares(natural, matched, labels, strengths, neighbors.patterns)
    total = (length + 1) // 2
    wanted = divide_rows(listed_shares(shares, neighbors.lengths), total)
    kept = fill_lists(wanted, neighbors.lengths.astype(np.int64), total)
    lists = select_neighbors(neighbors, kept)
    return _split(lists, labels, shares, perplexity=perplexity, n_jobs=n_jobs, matched=matched)


def joint_column_shares(
    natural: Floats,
    matched: Floats,
    labels: Labels,
    strengths: Floats,
    patterns: tuple[int, ...],
) -> Floats:
    """Return the share of every list in ``joint``, from those without conditioning.

    Points without counterparts keep to their own label, instead of being forced into others.
    """
    differs = differing_lists(patterns, labels.n_columns)
    log_weights = natural + _of_lists(np.log(np.maximum(matched, LEAST_MATCHED)), differs)
    shares = column_shares(np.exp(natural), patterns, labels.n_columns)
    targets = np.array(
        [joint_share(shares[:, c], column, strengths[c]) for c, column in enumerate(labels.columns)]
    )
    inner = {pair[0] for pair in labels.nested()}
    weights = solve_weights(log_weights, differs, labels, targets, inner=inner)
    return softmax(log_weights + weights @ differs, axis=1)


def solve_weights(
    log_weights: Floats,
    differs: NDArray[np.bool_],
    labels: Labels,
    targets: Floats,
    *,
    inner: Collection[int] = (),
) -> Floats:
    """Solve for the log weight of every column that makes its mean share a target.

    ``log_weights`` holds one row per point or per sampled point. The share of a column is its mean
    over the points that have a label in it. Columns nested in others are ``inner``: they differ
    wherever the outer column does, so their share may be above its target without any weight. Then
    they get none, instead of a negative one.
    """
    labelled = np.array([np.count_nonzero(each.codes >= 0) for each in labels.columns])
    free = np.ones(len(targets), bool)
    while True:
        weights = np.zeros(len(targets))
        if free.any():
            sums = targets[free] * labelled[free]
            weights[free] = _minimize(log_weights, differs[free], sums)
        below = [c for c in sorted(inner) if free[c] and weights[c] < 0]
        if not below or free.sum() < 2:
            return weights
        free[min(below, key=lambda c: weights[c])] = False


def _minimize(log_weights: Floats, differs: NDArray[np.bool_], sums: Floats) -> Floats:
    """Minimize the convex function whose gradient is the excess of each column's summed share.

    Newton's method, with shorter steps where it does not descend.
    """

    def value(weights: Floats) -> float:
        return float(logsumexp(log_weights + weights @ differs, axis=1).sum() - sums @ weights)

    columns = range(len(sums))
    weights, here = np.zeros(len(sums)), value(np.zeros(len(sums)))
    for _ in range(_STEPS):
        shares = softmax(log_weights + weights @ differs, axis=1)
        # Sums, not products of matrices: those depend on the number of threads.
        each = [shares[:, own].sum(axis=1) for own in differs]
        gradient = np.array([share.sum() for share in each]) - sums
        outward = (np.abs(weights) >= _LARGEST_LOG_WEIGHT) & (gradient * weights < 0)
        if (np.abs(gradient[~outward]) <= _TOLERANCE * len(shares)).all():
            break
        curvature = np.array(
            [
                [
                    shares[:, differs[c] & differs[d]].sum() - (each[c] * each[d]).sum()
                    for d in columns
                ]
                for c in columns
            ]
        )
        curvature += np.diag(1e-12 * len(shares) + 1e-9 * np.diag(curvature))
        curvature[outward] = curvature[:, outward] = 0
        curvature[outward, outward] = 1
        step = np.linalg.solve(curvature, np.where(outward, 0.0, -gradient))
        step *= min(1.0, _LONGEST_STEP / max(1e-300, np.abs(step).max()))
        ahead, there = weights, here
        while np.abs(step).max() > 1e-13:
            ahead = np.clip(weights + step, -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)
            there = value(ahead)
            # Near the solution, the function is constant but for rounding.
            if there <= here + 1e-13 * abs(here):
                break
            step /= 2
        if (ahead == weights).all():
            break
        weights, here = ahead, there
    return weights


def natural_log_shares(
    neighbors: Neighbors, labels: Labels, *, perplexity: float, n_jobs: int
) -> Floats:
    """Return the log share of every list without conditioning.

    Shares among aligned points are scaled to the means without alignment, as with one column.
    """
    log_shares = _log_shares(neighbors, perplexity, n_jobs)
    if neighbors.unaligned is None:
        return log_shares
    rows = neighbors.unaligned.rows
    some = labels.take(rows)
    plain = _log_shares(neighbors.unaligned.neighbors, perplexity, n_jobs)
    differs = differing_lists(neighbors.patterns, labels.n_columns)
    of_columns = column_shares(np.exp(plain), neighbors.patterns, labels.n_columns)
    known = some.codes >= 0
    targets = np.where(known, of_columns, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    weights = solve_weights(log_shares[rows], differs, some, targets)
    return np.asarray(log_softmax(log_shares + weights @ differs, axis=1))


def _of_lists(values: Floats, differs: NDArray[np.bool_]) -> Floats:
    """Add up a value per column over the columns that differ in each list."""
    return np.sum(
        [np.where(own, each[:, None], 0.0) for each, own in zip(values.T, differs, strict=True)],
        axis=0,
    )


def _log_shares(neighbors: Neighbors, perplexity: float, n_jobs: int) -> Floats:
    rows = Rows(neighbors, n_jobs=n_jobs)
    precision, _ = rows.bandwidths(max(1.0, perplexity), weighted=False)
    return np.asarray(log_softmax(rows.list_weights(precision), axis=1))


def column_shares(shares: Floats, patterns: tuple[int, ...], n_columns: int) -> Floats:
    """Return the share of points that differ in each column, shape (n, C)."""
    differs = differing_lists(patterns, n_columns)
    return np.stack([shares[:, own].sum(axis=1) for own in differs], axis=1)


def split_perplexities(perplexity: float, shares: Floats, lengths: NDArray[np.integer]) -> Floats:
    """Return perplexities of all lists whose mixture has exactly the one asked for.

    The mixture's entropy is h(w) + sum of w log(u), which shares of the perplexity satisfy. Where a
    list cannot have its own (less than one neighbour, or more than it holds), all others deviate
    by a common factor.
    """
    most = np.log(np.maximum(lengths, 1))
    with np.errstate(divide="ignore"):
        own = np.log(np.where(shares > 0, shares, 1.0) * perplexity)
    left = np.log(perplexity) - entr(shares).sum(axis=1)
    low, high = np.full(len(shares), -_LARGEST_LOG_WEIGHT), np.full(len(shares), 800.0)
    for _ in range(64):
        middle = 0.5 * (low + high)
        logs = (own + middle[:, None]).clip(0, most)
        below = (shares * logs).sum(axis=1) < left
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.exp((own + (0.5 * (low + high))[:, None]).clip(0, most)))


def _split(
    neighbors: Neighbors,
    labels: Labels,
    shares: Floats,
    *,
    perplexity: float,
    n_jobs: int,
    matched: Floats | None = None,
) -> Affinities:
    """Calibrate all lists of every row separately and mix them by their shares."""
    rows = Rows(neighbors, n_jobs=n_jobs)
    shares = listed_shares(shares, neighbors.lengths)
    perplexities = split_perplexities(perplexity, shares, neighbors.lengths)
    precisions, _ = rows.split_bandwidths(perplexities)
    reached = np.ones(len(shares), bool)
    result = _finished(
        rows, neighbors, labels, precisions, reached, shares=shares, n_jobs=n_jobs, matched=matched
    )
    # Only the mixture counts: one list may miss its perplexity if the others make up for it.
    reached = np.abs(np.log(result.diagnostics.perplexity / perplexity)) < 1e-5
    return replace(result, diagnostics=replace(result.diagnostics, reached=reached))


def listed_shares(shares: Floats, lengths: NDArray[np.integer]) -> Floats:
    """Divide the shares of empty lists between the others."""
    there = np.where(lengths > 0, shares, 0.0)
    total = there.sum(axis=1, keepdims=True)
    # If all weight is on empty lists, the others have it by their lengths.
    there = np.where(total > 0, there, lengths)
    return np.asarray(there / there.sum(axis=1, keepdims=True))


def _finished(
    rows: Rows,
    neighbors: Neighbors,
    labels: Labels,
    precisions: Floats,
    reached: NDArray[np.bool_],
    *,
    n_jobs: int,
    shares: Floats | None = None,
    matched: Floats | None = None,
) -> Affinities:
    """Compute the rows, symmetrise them and add the diagnostics of each column."""
    made, diagnostics, found = rows.similarities(precisions, reached, shares=shares)
    each = column_shares(found, neighbors.patterns, labels.n_columns)
    of_columns = {name: each[:, c].copy() for c, name in enumerate(labels.names)}
    diagnostics = replace(diagnostics, column_shares=of_columns)
    if matched is None:
        matched = matched_shares(neighbors, labels)
    diagnostics = with_matched(diagnostics, labels, matched)
    return Affinities(symmetric_matrix(neighbors.indices, made, n_jobs), diagnostics)


def with_matched(diagnostics: Diagnostics, labels: Labels, matched: Floats) -> Diagnostics:
    """Add how well every point is matched in each column; the worst counts."""
    of_columns = {name: matched[:, c].copy() for c, name in enumerate(labels.names)}
    return replace(diagnostics, matched=matched.min(axis=1), column_matched=of_columns)


def known_labels(neighbors: Neighbors, labels: object) -> Column | Labels:
    """Encode the labels of all points, and refuse those of other columns than the lists."""
    known = encode_labels(labels, n=len(neighbors.indices))
    columns = known.n_columns if isinstance(known, Labels) else 1
    listed = np.bitwise_or.reduce(neighbors.patterns)
    if int(listed).bit_length() > columns or (columns > 1 and listed < 2**columns - 1):
        raise ValueError(
            f"neighbors has lists for the patterns {neighbors.patterns}, which are not those of "
            f"{columns} label column{'s' if columns > 1 else ''}; search them with the same labels"
        )
    return known


def per_column(
    value: ArrayLike, argument: str, labels: Labels, *, open_low: bool = False
) -> Floats:
    """Return a number between 0 and 1 for each column."""
    return one_each(value, argument, labels.n_columns, "label column", open_low=open_low)
