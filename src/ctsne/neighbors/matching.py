"""How well points are matched by points of other labels, for the similarities."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Column, Labels
from ctsne.neighbors.lists import Neighbors
from ctsne.neighbors.patterns import differing_lists

# A point names this many nearest points of other labels as its counterparts, and shares how often
# it is named itself with this many neighbours of its own label.
COUNTERPARTS = 15
SMOOTHED = 30
# Points with a smaller share have no counterpart.
UNMATCHED = 0.05
_ROWS_AT_ONCE = 1 << 14


def matched_shares(neighbors: Neighbors, labels: Labels) -> NDArray[np.float64]:
    """Measure how well every point is matched by points of other labels, in each column."""
    # That is how often it and its neighbours with the same label are among the nearest points of
    # other labels, relative to random labels: from 0 to 1. Without a label it is 1; shape (n, C).
    shares = []
    differing = differing_lists(neighbors.patterns, labels.n_columns)
    for column, differs in zip(labels.columns, differing, strict=True):
        same = _entries(neighbors, ~differs, SMOOTHED)
        other = _entries(neighbors, differs, COUNTERPARTS)
        shares.append(_matched(column, same, other))
    return np.stack(shares, axis=1)


# Some rows at a time: which, points near them, and which of these count.
_Part = tuple[slice, NDArray[np.int32], NDArray[np.bool_]]


def _matched(labels: Column, same: Iterator[_Part], other: Iterator[_Part]) -> NDArray[np.float64]:
    named = _named(labels, other)
    total, count = named.copy(), np.ones(len(named))
    for rows, near, wanted in same:
        wanted &= labels.codes[near] >= 0
        total[rows] += np.where(wanted, named[near], 0).sum(axis=1)
        count[rows] += wanted.sum(axis=1)
    return np.where(labels.codes < 0, 1.0, np.minimum(1.0, total / count))


def _named(labels: Column, parts: Iterator[_Part]) -> NDArray[np.float64]:
    """Count how often each point is named, relative to random labels."""
    named = np.zeros(labels.n_points)
    given = np.zeros(labels.n_labels)  # how often the points of each label name one
    for rows, near, wanted in parts:
        named += np.bincount(near[wanted], minlength=len(named))
        codes = labels.codes[rows]
        names = wanted.sum(axis=1)[codes >= 0]
        given += np.bincount(codes[codes >= 0], names, minlength=len(given))
    rest = labels.counts.sum() - labels.counts  # the points that they could name
    rates = np.divide(given, rest, out=np.zeros_like(given), where=rest > 0)
    expected = np.append(rates.sum() - rates, 0.0)[labels.codes]
    return np.asarray(named / np.where(expected > 0, expected, np.inf))


def _entries(neighbors: Neighbors, lists: NDArray[np.bool_], k: int) -> Iterator[_Part]:
    """Yield the k nearest points of some lists together, or fewer."""
    n, length = neighbors.indices.shape
    slot = np.arange(length)
    for begin in range(0, n, _ROWS_AT_ONCE):
        rows = slice(begin, min(n, begin + _ROWS_AT_ONCE))
        ends = np.cumsum(neighbors.lengths[rows], axis=1)
        near = neighbors.indices[rows]
        if len(lists) <= 2:  # at most one of them, which is sorted
            begins = ends - neighbors.lengths[rows]
            wanted = np.zeros(near.shape, np.bool_)
            for place in np.flatnonzero(lists):
                first, end = begins[:, place, None], ends[:, place, None]
                wanted |= (slot >= first) & (slot < np.minimum(end, first + k))
        else:
            counted = lists[(slot >= ends[:, :, None]).sum(axis=1)]
            far = np.where(counted, neighbors.distances[rows], np.inf)
            order = np.argsort(far, axis=1, kind="stable")[:, :k]
            none = np.zeros((len(order), k - order.shape[1]), np.int32)  # rows of k points
            near = np.hstack([np.take_along_axis(near, order, axis=1), none])
            wanted = np.hstack([np.take_along_axis(counted, order, axis=1), none > 0])
        yield rows, near, wanted
