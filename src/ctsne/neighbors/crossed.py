"""Neighbours of new points from their distances to the points of a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne.neighbors.lists import Neighbors
from ctsne.neighbors.patterns import fill_patterns, pattern_of

Codes = NDArray[np.int32]
# Distances that are sorted at a time.
_ENTRIES_AT_ONCE = 2**22


def crossed_neighbors(
    distances: Any,
    codes: Codes,
    known: Codes,
    *,
    lengths: NDArray[np.int32],
    patterns: tuple[int, ...],
    scale: float,
    own: NDArray[np.integer] | None = None,
) -> Iterator[tuple[NDArray[np.int64], Neighbors]]:
    """Yield the lists of new points, for rows of equal length together.

    Parameters
    ----------
    distances : ndarray or csr_array, shape (m, n)
        From every new point to all points of the map, or to some of them.
    codes, known : ndarray of int32, shape (m, C) and (n, C)
        Labels of new points and of the map; see :mod:`ctsne.neighbors.patterns`.
    lengths : ndarray of int32, shape (m, P)
        Wanted lengths of the lists, with a constant sum. Rows with fewer distances are shorter.
    patterns : tuple of int
    scale : float
        The ``scale`` of the lists.
    own : ndarray of int, shape (m,), optional
        Points of the map to leave out, one per row.

    Yields
    ------
    rows : ndarray of int64
    found : Neighbors
    """
    m, n = distances.shape
    step = m if is_sparse(distances) else max(1, _ENTRIES_AT_ONCE // n)
    for begin in range(0, m, step):
        part = slice(begin, min(m, begin + step))
        left_out = None if own is None else own[part]
        entries = _entries(distances[part], left_out)
        for rows, found in _lists(*entries, codes[part], known, lengths[part], patterns, scale):
            yield rows + begin, found


def _entries(distances: Any, own: Any) -> tuple[Codes, Codes, NDArray[np.floating]]:
    """Return row, column and value of every distance."""
    if is_sparse(distances):
        edges = distances.tocoo()
        row, column, value = edges.row, edges.col, edges.data
    else:
        row, column = (each.ravel() for each in np.indices(distances.shape, np.int32))
        value = distances.ravel()
    if own is None:
        return row, column, value
    keep = column != own[row]
    return row[keep], column[keep], value[keep]


def _lists(
    row: Codes,
    column: Codes,
    value: NDArray[np.floating],
    codes: Codes,
    known: Codes,
    lengths: NDArray[np.int32],
    patterns: tuple[int, ...],
    scale: float,
) -> Iterator[tuple[NDArray[np.int64], Neighbors]]:
    m = len(codes)
    rank = np.full(1 << codes.shape[1], -1)
    rank[list(patterns)] = np.arange(len(patterns))
    listed = rank[pattern_of(codes[row], known[column])]
    keep = listed >= 0
    row, column, value, listed = row[keep], column[keep], value[keep], listed[keep]
    has = np.zeros((m, len(patterns)), np.int64)
    np.add.at(has, (row, listed), 1)
    # All lists of a row follow each other, each sorted by distance, then index.
    order = np.lexsort((column, value, listed, row))
    begins = np.cumsum(has.ravel()).reshape(has.shape) - has
    wanted = int(lengths[0].sum())
    totals = np.minimum(has.sum(axis=1), wanted)
    for total in np.unique(totals):
        rows = np.flatnonzero(totals == total)
        ends = -(-total * np.cumsum(lengths[rows], axis=1, dtype=np.int64) // wanted)
        chosen = fill_patterns(np.diff(ends, axis=1, prepend=0), has[rows], int(total))
        slot = np.arange(total)
        edges = np.cumsum(chosen, axis=1)
        which = (slot >= edges[:, :, None]).sum(axis=1)  # the list of every slot
        inside = slot - np.take_along_axis(edges - chosen, which, axis=1)
        at = order[np.take_along_axis(begins[rows], which, axis=1) + inside]
        yield (
            rows,
            Neighbors(
                column[at].astype(np.int32),
                value[at].astype(np.float32),
                chosen[:, 0],
                scale,
                patterns=patterns,
                lengths=chosen,
            ),
        )
