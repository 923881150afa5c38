"""Matching: how well points are matched by points of other labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_kind
from ctsne.labels import Column, Labels
from ctsne.neighbors.lists import Neighbors

# A point names this many nearest points of other labels as its counterparts, and shares how often
# it is named itself with this many neighbours of its own label.
COUNTERPARTS = 15
SMOOTHED = 30
# Points with a smaller share have no counterpart.
UNMATCHED = 0.05
_ROWS_AT_ONCE = 1 << 16


def matched_share(neighbors: Neighbors, labels: Column) -> NDArray[np.float64]:
    """Measure how well every point is matched by points of other labels.

    Every point names its nearest points of other labels as counterparts. A cell type that occurs
    under one label only is rarely named, however near other points are to it. The share says how
    often a point and its neighbours with the same label are named, relative to random labels.

    Parameters
    ----------
    neighbors : Neighbors
    labels : Column

    Returns
    -------
    ndarray, shape (n,)
        From 0, no counterpart, to 1, named at least as often as with random labels. Points without
        a label have 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_column
    >>> from ctsne.neighbors import find_neighbors, matched_share
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[:50] += 20  # a group of its own, all with the first label
    >>> labels = encode_column([0] * 150 + [1] * 150)
    >>> matched = matched_share(find_neighbors(X, labels, k_same=30, k_other=30), labels)
    >>> bool(matched[:50].max() < 0.1 < matched[50:].min())
    True
    """
    check_kind(neighbors, Neighbors, "neighbors")
    check_kind(labels, Column, "labels")
    return _matched(labels, _parts(neighbors, same=True), _parts(neighbors, same=False))


def matched_shares(neighbors: Neighbors, labels: Labels) -> NDArray[np.float64]:
    """Measure how well every point is matched by points that differ in each column.

    Parameters
    ----------
    neighbors : Neighbors
        With one list per pattern of columns that differ.
    labels : Labels

    Returns
    -------
    ndarray, shape (n, C)
        As :func:`matched_share` of each column, with the lists merged by whether their points
        differ in that column.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import find_lists, matched_shares
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> X[:50] += 20  # a group of its own, all with one value of the first column
    >>> labels = encode_labels([[0] * 200 + [1] * 200, [0, 1] * 200])
    >>> found = find_lists(X, labels, lengths=np.full(4, 30), patterns=(0, 1, 2, 3))
    >>> matched_shares(found, labels)[:50].mean(axis=0).round(1).tolist()
    [0.0, 0.9]
    """
    check_kind(neighbors, Neighbors, "neighbors")
    check_kind(labels, Labels, "labels")
    if labels.n_points != len(neighbors.indices):
        raise ValueError(
            f"labels must be those of {len(neighbors.indices)} points, got {labels.n_points}"
        )
    shares = []
    for place, column in enumerate(labels.columns):
        differs = np.array(neighbors.patterns) >> place & 1 == 1
        same = _nearest_in(neighbors, ~differs, SMOOTHED)
        other = _nearest_in(neighbors, differs, COUNTERPARTS)
        shares.append(_matched(column, _rows_of(same), _rows_of(other)))
    return np.stack(shares, axis=1)


_Part = tuple[slice, NDArray[np.int32], NDArray[np.bool_]]


def _matched(labels: Column, same: Iterator[_Part], other: Iterator[_Part]) -> NDArray[np.float64]:
    """Return the shares, from parts of the list of the same label and of that of other labels."""
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
    each = np.divide(given, rest, out=np.zeros_like(given), where=rest > 0)
    expected = np.append(each.sum() - each, 0.0)[labels.codes]
    return np.asarray(named / np.where(expected > 0, expected, np.inf))


def _nearest_in(neighbors: Neighbors, lists: NDArray[np.bool_], k: int) -> NDArray[np.int32]:
    """Return the k nearest points of some lists together, -1 where there are fewer."""
    n, length = neighbors.indices.shape
    found = np.full((n, k), -1, np.int32)
    slot = np.arange(length)
    step = _ROWS_AT_ONCE // 8  # they are sorted
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        ends = np.cumsum(neighbors.lengths[rows], axis=1)
        which = (slot >= ends[:, :, None]).sum(axis=1)
        far = np.where(lists[which], neighbors.distances[rows], np.inf)
        order = np.argsort(far, axis=1, kind="stable")[:, :k]
        near = np.take_along_axis(neighbors.indices[rows], order, axis=1)
        there = np.take_along_axis(lists[which], order, axis=1)
        found[rows, : near.shape[1]] = np.where(there, near, -1)
    return found


def _rows_of(near: NDArray[np.int32]) -> Iterator[_Part]:
    for begin in range(0, len(near), _ROWS_AT_ONCE):
        rows = slice(begin, min(len(near), begin + _ROWS_AT_ONCE))
        yield rows, near[rows], near[rows] >= 0


def _parts(neighbors: Neighbors, *, same: bool) -> Iterator[_Part]:
    """Yield some rows at a time, and a mask of the entries of one list that count."""
    n, length = neighbors.indices.shape
    column = np.arange(length)
    for begin in range(0, n, _ROWS_AT_ONCE):
        rows = slice(begin, min(n, begin + _ROWS_AT_ONCE))
        bound = neighbors.n_same[rows, None]
        if same:
            wanted = column < np.minimum(bound, SMOOTHED)
        else:
            wanted = (column >= bound) & (column < bound + COUNTERPARTS)
        yield rows, neighbors.indices[rows], wanted
