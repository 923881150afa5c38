"""In which columns labels differ: how many points make each pattern, and lists for patterns.

The pattern of two points is the bit mask of the columns in which both have a label and the two
differ. A missing label, -1, differs from none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


class PatternCounts:
    """How many of some points make a pattern with any labels.

    Columns are counted separately and together, so the work does not grow with the product of the
    numbers of labels.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, C)
    """

    def __init__(self, codes: Codes) -> None:
        self.n, self.n_columns = codes.shape
        self._values = [np.unique(column) for column in codes.T]
        if np.prod([len(values) for values in self._values], dtype=np.float64) > 2**62:
            raise ValueError("labels has too many combinations of labels to count")
        self._counts = {}
        for chosen in range(1, 1 << self.n_columns):
            keys = self._keys(codes, chosen, chosen)
            self._counts[chosen] = np.unique(keys, return_counts=True)

    def count(self, codes: Codes, pattern: int) -> NDArray[np.int64]:
        """Return how many points make a pattern with each row of labels."""
        found = np.zeros(len(codes), np.int64)
        labelled = np.zeros(len(codes), np.int64)
        for column in range(self.n_columns):
            labelled |= (codes[:, column] >= 0).astype(np.int64) << column
        for known in range(1 << self.n_columns):
            rows = np.flatnonzero(labelled == known)
            if len(rows) and not pattern & ~known:
                found[rows] = self._exactly(codes[rows], pattern, known)
        return found

    def count_alike(self, codes: Codes, column: int) -> NDArray[np.int64]:
        """Return how many points do not differ from each row of labels in one column."""
        labelled = codes[:, column] >= 0
        return np.where(labelled, self._alike(codes, 1 << column), self.n)

    def _exactly(self, codes: Codes, pattern: int, known: int) -> NDArray[np.int64]:
        # Inclusion and exclusion: different in all of the pattern is what remains of the points
        # without those that are alike in one column of it, with those alike in two, and so on.
        total = np.zeros(len(codes), np.int64)
        for alike in _subsets(pattern):
            sign = -1 if alike.bit_count() % 2 else 1
            total += sign * self._alike(codes, (known & ~pattern) | alike)
        return total

    def _alike(self, codes: Codes, columns: int) -> NDArray[np.int64]:
        """Count the points with the same label or none in each of some columns."""
        if not columns:
            return np.full(len(codes), self.n, np.int64)
        keys, counts = self._counts[columns]
        total = np.zeros(len(codes), np.int64)
        for equal in _subsets(columns):
            wanted = self._keys(codes, columns, equal)
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            total += np.where(keys[at] == wanted, counts[at], 0)
        return total

    def _keys(self, codes: Codes, columns: int, equal: int) -> NDArray[np.int64]:
        """Return numbers of combinations, -1 where none occurs; columns not equal are missing."""
        key = np.zeros(len(codes), np.int64)
        for column, values in enumerate(self._values):
            if not columns >> column & 1:
                continue
            wanted = codes[:, column] if equal >> column & 1 else np.full(1, -1, np.int32)
            at = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
            known = (values[at] == wanted) & (key >= 0)
            key = np.where(known, key * len(values) + at, -1)
        return key


def pattern_of(a: Codes, b: Codes) -> NDArray[np.int64]:
    """Return the pattern of every pair of rows of labels."""
    pattern = np.zeros(len(a), np.int64)
    for column in range(a.shape[1]):
        i, j = a[:, column], b[:, column]
        pattern |= ((i >= 0) & (j >= 0) & (i != j)).astype(np.int64) << column
    return pattern


def fill_patterns(
    wanted: NDArray[np.int64], has: NDArray[np.int64], total: int
) -> NDArray[np.int32]:
    """Return list lengths such that all rows are equally long.

    Where a list has too few candidates, it holds all of them and the first lists with candidates to
    spare take the rest.

    Parameters
    ----------
    wanted, has : ndarray of int64, shape (n, P)
        Wanted lengths and the number of candidates of each list.
    total : int
        Sum of the wanted lengths of every row. Rows are shorter if one has fewer candidates.
    """
    total = int(has.sum(axis=1).min(initial=total))
    lengths = np.minimum(wanted, has)
    for column in range(lengths.shape[1]):
        rest = np.maximum(total - lengths.sum(axis=1), 0)
        lengths[:, column] += np.minimum(rest, has[:, column] - lengths[:, column])
    for column in reversed(range(lengths.shape[1])):
        excess = lengths.sum(axis=1) - total
        lengths[:, column] -= np.minimum(excess, lengths[:, column])
    return lengths.astype(np.int32)


def _subsets(mask: int) -> list[int]:
    return [part for part in range(mask + 1) if part & mask == part]
