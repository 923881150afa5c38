"""Neighbours from distances: a full matrix, or a sparse graph."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_matrix, is_sparse
from ctsne.labels import encode_labels
from ctsne.neighbors.lists import Neighbors, fill_lengths, fill_lists, first_places
from ctsne.neighbors.patterns import Codes, PatternCounts, Patterns, codes_of, pattern_of

_Points = NDArray[np.integer]
_ENTRIES_AT_ONCE = 2**22  # distances of new points that are read at a time


def read_neighbors(
    distances: Any, labels: object = None, *, lengths: ArrayLike, patterns: Patterns | None = None
) -> Neighbors:
    """Read the lists of every point from a matrix of distances or a sparse graph.

    Entry (i, j) is the distance from i to j. The matrix need not be symmetric, and the diagonal is
    ignored; stored zeros of a graph are neighbours at distance zero. Labels, lengths and patterns
    are as in :func:`ctsne.neighbors.find_neighbors`. All rows are as long as the shortest row of
    the graph allows, divided in the same proportion; where a list is too short, others take the
    rest.
    """
    matrix = check_matrix(distances, argument="distances")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"distances must be square, got a matrix of shape {matrix.shape}")
    if matrix.min() < 0:
        raise ValueError(f"distances must not be negative, got {matrix.min()}")
    n = matrix.shape[0]
    known = None if labels is None else encode_labels(labels, n=n)
    codes = codes_of(known, n)
    chosen = patterns or tuple(range(1 << codes.shape[1]))
    wanted = fill_lengths(lengths, known, chosen, n)
    table = _Table(matrix, codes, codes, chosen, np.arange(n))
    degree = table.has.sum(axis=1)
    if degree.min() == 0:
        what = f"distances has no neighbours for {int((degree == 0).sum())} points"
        first = f"(first: point {int(degree.argmin())})"
        raise ValueError(f"{what} {first}; remove them or make a graph with more edges")
    return table.lists(np.arange(n), wanted, int(degree.min()), None)


def read_new_points(
    distances: Any,
    codes: Codes,
    known: Codes,
    *,
    lengths: NDArray[np.int32],
    patterns: Patterns,
    scale: float,
    own: _Points | None = None,
) -> Iterator[tuple[NDArray[np.int64], Neighbors]]:
    """Yield the lists of new points from distances to a map, rows of equal length together."""
    # ``codes`` and ``known`` are the labels of new points and of the map. Rows with fewer distances
    # than wanted are shorter. ``own`` names a point of the map that each row leaves out.
    m, n = distances.shape
    step = max(1, m if is_sparse(distances) else _ENTRIES_AT_ONCE // n)
    for begin in range(0, m, step):
        part = slice(begin, min(m, begin + step))
        left_out = None if own is None else own[part]
        table = _Table(distances[part], codes[part], known, patterns, left_out)
        totals = np.minimum(table.has.sum(axis=1), lengths[0].sum())
        for total in np.unique(totals).tolist():
            rows = np.flatnonzero(totals == total)
            yield rows + begin, table.lists(rows, lengths[part][rows], total, scale)


class _Table:
    """Distances from some points to others, and how many of each list they hold (``has``)."""

    def __init__(
        self, distances: Any, codes: Codes, known: Codes, patterns: Patterns, own: _Points | None
    ) -> None:
        self.patterns, self.codes, self.known, self.own = patterns, codes, known, own
        self.dense: Any = None if is_sparse(distances) else distances
        if self.dense is not None:
            mine = None if own is None else known[own]
            self.has = PatternCounts(known).candidates(codes, patterns, mine)
            return
        edges = distances.tocoo()
        row, column, value = edges.row, edges.col, edges.data
        place = np.full(1 << codes.shape[1], -1)  # of every pattern among the lists
        place[list(patterns)] = np.arange(len(patterns))
        which = place[pattern_of(codes[row], known[column])]
        keep = which >= 0 if own is None else (which >= 0) & (column != own[row])
        row, column, value, which = row[keep], column[keep], value[keep], which[keep]
        size = len(codes) * len(patterns)
        has = np.bincount(row.astype(np.int64) * len(patterns) + which, minlength=size)
        self.has = has.reshape(len(codes), len(patterns))
        # The lists of a row follow each other, each sorted by distance, then index.
        order = np.lexsort((column, value, which, row))
        self.begins = np.cumsum(self.has.sum(axis=1)) - self.has.sum(axis=1)
        self.columns, self.values = column[order].astype(np.int32), value[order]

    def lists(
        self, rows: NDArray[np.int64], wanted: NDArray[np.integer], total: int, scale: float | None
    ) -> Neighbors:
        """Return the lists of some rows; the scale is the largest distance, unless given."""
        usual = int(wanted[0].sum())
        total = min(total, usual)
        ends = -(-total * np.cumsum(wanted, axis=1, dtype=np.int64) // usual)
        lengths = fill_lists(np.diff(ends, axis=1, prepend=0), self.has[rows], total)
        if self.dense is not None:
            indices = np.empty((len(rows), total), np.int32)
            for i, row in enumerate(rows):
                indices[i] = self._nearest(row, lengths[i])
            distances = np.take_along_axis(self.dense[rows], indices, axis=1)
        else:
            places = self.begins[rows, None] + first_places(self.has[rows], lengths)
            indices, distances = self.columns[places], self.values[places]
        scale = scale or float(distances.max()) or 1.0
        return Neighbors(indices, distances.astype(np.float32), lengths, self.patterns, scale)

    def _nearest(self, row: int, lengths: NDArray[np.int32]) -> NDArray[np.int64]:
        distances = self.dense[row]
        pattern = pattern_of(self.codes[row : row + 1], self.known)
        if self.own is not None:
            pattern[self.own[row]] = -1
        lists = []
        for number, k in zip(self.patterns, lengths.tolist(), strict=True):
            points = np.flatnonzero(pattern == number)
            if k and k < len(points):
                # Keep all ties at the last distance; the stable sort puts the lowest index first.
                among = distances[points]
                points = points[among <= np.partition(among, k - 1)[k - 1]]
            lists.append(points[np.argsort(distances[points], kind="stable")[:k]])
        return np.concatenate(lists)
