"""The lists of neighbours of every point, and how long each method wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.vocabulary import JOINT_LENGTH
from ctsne.labels import Labels
from ctsne.neighbors.patterns import PatternCounts, Patterns, codes_of, differing_lists

Lengths = NDArray[np.int64]
Floats = NDArray[np.float64]
# With more lists, those of ``joint`` are half as long, so that rows do not grow without bound.
_WHOLE_LISTS = 4
# A smaller share of a row than this is rounding, and gets no point.
_NEGLIGIBLE = 1e-6
_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Neighbours of ``n`` points in ``P`` lists, ``K`` per point.

    Row ``i`` holds the lists one after the other, each sorted by distance. With one label column,
    the first list holds the nearest points that do *not* have a different label (the same one, or
    none), the second the nearest points that do. With several columns there is a list for every
    pattern of columns that differ; without labels there is one list.
    """

    indices: NDArray[np.int32]  # (n, K)
    distances: NDArray[np.float32]  # (n, K)
    lengths: NDArray[np.int32]  # of the lists, (n, P)
    patterns: Patterns  # which columns differ in each list, as a bit mask; the first is 0
    # Half-width of the data, in units of distance: the largest absolute coordinate around the mean
    # (1 for cosine distances), or the largest distance if there are no coordinates.
    scale: float
    recall: float = 1.0  # share of the true neighbours, measured on 1,000 points
    unaligned: Unaligned | None = None  # if other labels were searched among aligned points


@dataclass(frozen=True, eq=False)
class Unaligned:
    """Neighbours of some points in the data without alignment, one row per point."""

    rows: NDArray[np.int64]
    neighbors: Neighbors


def paper_lengths(patterns: Patterns, perplexity: float) -> Lengths:
    """Return the wanted list lengths of the paper's methods: each 1.5 times the perplexity."""
    # Strong weights leave only points that differ in all columns, which must be enough.
    total = ceil(3 * perplexity)
    return _equal_lists(patterns, (total + 1) // 2, total)


def joint_lengths(patterns: Patterns, perplexity: float) -> Lengths:
    """Return the wanted list lengths of ``joint``: each is as long as a row, and partly used."""
    row = ceil(JOINT_LENGTH * perplexity)
    length = row if len(patterns) <= _WHOLE_LISTS else (row + 1) // 2
    return _equal_lists(patterns, length, 2 * row)


def _equal_lists(patterns: Patterns, length: int, total: int) -> Lengths:
    lengths = np.full(len(patterns), length)
    if len(patterns) <= 2:
        lengths[-1] = total - lengths[:-1].sum()
    return lengths


def balanced_lengths(
    labels: Labels, patterns: Patterns, perplexity: float, knob: Sequence[ArrayLike]
) -> Lengths:
    """Return the wanted list lengths of ``balanced``: three times the perplexity of each list."""
    # At strength 1, points that differ have the share of a random draw; at strength 0 half of the
    # row, as in the paper. A point keeps at least one neighbour that differs in nothing.
    n = labels.n_points
    # With a larger perplexity, rows hold all points.
    perplexity = min(perplexity, (n - 1) / 3)
    shares = []
    for column, strength in zip(labels.columns, knob, strict=True):
        strengths = np.broadcast_to(np.asarray(strength, np.float64), column.counts.shape)
        random = (column.counts.sum() - column.counts) / max(1, n - 1)
        share = strengths * random + (1 - strengths) / 2
        shares.append(np.append(share, 0.0)[column.codes])  # a missing label, -1, takes the zero
    wanted = product_shares(np.stack(shares, axis=1), patterns)
    total = min(ceil(3 * perplexity), n - 1)
    return _in_rows(np.ceil(wanted * 3 * perplexity).astype(np.int64), total)


def product_shares(shares: Floats, patterns: Patterns) -> Floats:
    """Return the share of every list that occurs, as if columns were independent."""
    shares = shares.clip(0, 1)  # sums of shares may be above 1 by rounding
    result = np.ones((len(shares), len(patterns)))
    for share, differs in zip(shares.T, differing_lists(patterns, shares.shape[1]), strict=True):
        result *= np.where(differs, share[:, None], 1 - share[:, None])
    total = result.sum(axis=1, keepdims=True)
    first = np.eye(len(patterns))[0]
    return np.where(total > 0, result / np.where(total > 0, total, 1), first)


def divide_rows(shares: Floats, total: int) -> Lengths:
    """Divide rows of points by shares, rounded up; the first list has the rest, at least one."""
    return _in_rows(np.ceil(total * shares - _NEGLIGIBLE).astype(np.int64), total)


def _in_rows(lengths: Lengths, total: int) -> Lengths:
    """Shorten lists that were rounded up to rows of ``total`` points; the first takes the rest."""
    lengths[:, 0] = np.minimum(lengths[:, 0], 1)
    if lengths.shape[1] > 1:
        rows = np.arange(len(lengths))
        for _ in range(lengths.shape[1]):  # too much by rounding: one less for the longest list
            longest = lengths[:, 1:].argmax(axis=1) + 1
            lengths[rows, longest] -= lengths.sum(axis=1) > total
    lengths[:, 0] += total - lengths.sum(axis=1)
    return lengths


def fill_lengths(
    lengths: ArrayLike, labels: Labels | None, patterns: Patterns, n: int
) -> NDArray[np.int32]:
    """Return the list lengths that a search among ``n`` points finds, shape (n, P)."""
    wanted, codes = spread_lengths(lengths, n, len(patterns)), codes_of(labels, n)
    has = PatternCounts(codes).candidates(codes, patterns, codes)
    return fill_lists(wanted, has, int(wanted[0].sum()))


def fill_lists(wanted: Lengths, has: Lengths, total: int) -> NDArray[np.int32]:
    """Return list lengths such that all rows are equally long: ``total``, or fewer points."""
    # Where a list ``has`` too few candidates, the first lists with some to spare take the rest.
    total = int(has.sum(axis=1).min(initial=total))
    lengths = np.minimum(wanted, has)
    for column in range(lengths.shape[1]):
        rest = np.maximum(total - lengths.sum(axis=1), 0)
        lengths[:, column] += np.minimum(rest, has[:, column] - lengths[:, column])
    for column in reversed(range(lengths.shape[1])):
        excess = lengths.sum(axis=1) - total
        lengths[:, column] -= np.minimum(excess, lengths[:, column])
    return lengths.astype(np.int32)


def spread_lengths(lengths: ArrayLike, n: int, lists: int) -> Lengths:
    """Return the wanted lengths of every row's lists, shape (n, lists)."""
    return np.broadcast_to(np.asarray(lengths, np.int64), (n, lists))


def select_neighbors(neighbors: Neighbors, lengths: ArrayLike) -> Neighbors:
    """Keep the nearest points of every list, as a search for these shorter lengths finds them."""
    kept = spread_lengths(lengths, *neighbors.lengths.shape)
    indices = np.empty((len(kept), int(kept[0].sum())), np.int32)
    distances = np.empty(indices.shape, np.float32)
    for begin in range(0, len(kept), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        places = first_places(neighbors.lengths[rows], kept[rows])
        indices[rows] = np.take_along_axis(neighbors.indices[rows], places, axis=1)
        distances[rows] = np.take_along_axis(neighbors.distances[rows], places, axis=1)
    unaligned = neighbors.unaligned
    if unaligned is not None:
        some = select_neighbors(unaligned.neighbors, kept[unaligned.rows])
        unaligned = replace(unaligned, neighbors=some)
    return replace(
        neighbors,
        indices=indices,
        distances=distances,
        lengths=kept.astype(np.int32),
        unaligned=unaligned,
    )


def first_places(lengths: NDArray[np.integer], kept: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the places of the first ``kept`` points of every list, in rows of such lists."""
    slot = np.arange(int(kept[0].sum()))
    places = np.repeat(slot[None], len(kept), axis=0)
    left_out = lengths - kept
    for column, end in enumerate(np.cumsum(kept, axis=1).T[:-1]):
        places += np.where(slot >= end[:, None], left_out[:, column, None], 0)
    return places


def merge_neighbors(neighbors: Neighbors, k: int) -> Neighbors:
    """Merge lists of at least ``k`` points, or of all candidates, into one of the ``k`` nearest."""
    order = np.lexsort((neighbors.indices, neighbors.distances), axis=1)[:, :k]
    return replace(
        neighbors,
        indices=np.take_along_axis(neighbors.indices, order, axis=1),
        distances=np.take_along_axis(neighbors.distances, order, axis=1),
        lengths=np.full((len(order), 1), k, np.int32),
        patterns=(0,),
        unaligned=None,
    )
