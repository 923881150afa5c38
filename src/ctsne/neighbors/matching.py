"""Matching: how well points are matched by points of other labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_kind
from ctsne.labels import Labels
from ctsne.neighbors.lists import Neighbors

# A point names this many nearest points of other labels as its counterparts, and shares how often
# it is named itself with this many neighbours of its own label.
COUNTERPARTS = 15
SMOOTHED = 30
# Points with a smaller share have no counterpart.
UNMATCHED = 0.05
_ROWS_AT_ONCE = 1 << 16


def matched_share(neighbors: Neighbors, labels: Labels) -> NDArray[np.float64]:
    """Measure how well every point is matched by points of other labels.

    Every point names its nearest points of other labels as counterparts. A cell type that occurs
    under one label only is rarely named, however near other points are to it. The share says how
    often a point and its neighbours with the same label are named, relative to random labels.

    Parameters
    ----------
    neighbors : Neighbors
    labels : Labels

    Returns
    -------
    ndarray, shape (n,)
        From 0, no counterpart, to 1, named at least as often as with random labels. Points without
        a label have 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import find_neighbors, matched_share
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[:50] += 20  # a group of its own, all with the first label
    >>> labels = encode_labels([0] * 150 + [1] * 150)
    >>> matched = matched_share(find_neighbors(X, labels, k_same=30, k_other=30), labels)
    >>> bool(matched[:50].max() < 0.1 < matched[50:].min())
    True
    """
    check_kind(neighbors, Neighbors, "neighbors")
    check_kind(labels, Labels, "labels")
    named = _named(neighbors, labels)
    total, count = named.copy(), np.ones(len(named))
    for rows, near, wanted in _parts(neighbors, same=True):
        wanted &= labels.codes[near] >= 0
        total[rows] += np.where(wanted, named[near], 0).sum(axis=1)
        count[rows] += wanted.sum(axis=1)
    return np.where(labels.codes < 0, 1.0, np.minimum(1.0, total / count))


def _named(neighbors: Neighbors, labels: Labels) -> NDArray[np.float64]:
    """Count how often each point is named, relative to random labels."""
    named = np.zeros(labels.n_points)
    given = np.zeros(labels.n_labels)  # how often the points of each label name one
    for rows, near, wanted in _parts(neighbors, same=False):
        named += np.bincount(near[wanted], minlength=len(named))
        codes = labels.codes[rows]
        names = wanted.sum(axis=1)[codes >= 0]
        given += np.bincount(codes[codes >= 0], names, minlength=len(given))
    rest = labels.counts.sum() - labels.counts  # the points that they could name
    each = np.divide(given, rest, out=np.zeros_like(given), where=rest > 0)
    expected = np.append(each.sum() - each, 0.0)[labels.codes]
    return np.asarray(named / np.where(expected > 0, expected, np.inf))


def _parts(
    neighbors: Neighbors, *, same: bool
) -> Iterator[tuple[slice, NDArray[np.int32], NDArray[np.bool_]]]:
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
