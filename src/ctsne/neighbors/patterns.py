"""In which columns labels differ: the patterns of pairs of points, and how many points make each.

The pattern of two points is the bit mask of the columns in which both have a label and the two
differ: 1 for the first column, 2 for the second, 4 for the third. A missing label, -1, differs from
none. Without labels all pairs have pattern 0.
"""

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Column, Labels

Codes = NDArray[np.int32]
Patterns = tuple[int, ...]


def occurring_patterns(labels: Labels | None) -> Patterns:
    """Return the patterns of columns that differ between some two points; 0 is always one."""
    if labels is None:
        return (0,)
    table = _combinations(labels)
    counts = PatternCounts(labels.codes)
    others = range(1, 1 << labels.n_columns)
    return (0, *(pattern for pattern in others if counts.count(table, pattern).any()))


def alike_counts(labels: Labels) -> NDArray[np.int64]:
    """Count, for each combination of labels, the other points that differ from it in no column."""
    labelled = labels.combined.codes >= 0
    counts = PatternCounts(labels.codes).count(_combinations(labels), 0) - 1
    return counts if labelled.all() else counts[1:]  # points without any label come first


def _combinations(labels: Labels) -> Codes:
    _, first = np.unique(labels.combined.codes, return_index=True)
    return labels.codes[first]


def combinations_of(codes: Codes) -> tuple[Codes, NDArray[np.int32]]:
    """Return the combinations of labels in rising order, and the number of every point's own."""
    order = np.lexsort(codes.T[::-1]) if codes.shape[1] else np.arange(len(codes))
    ordered = codes[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    number = np.empty(len(codes), np.int32)
    number[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[new]), number


def differing_lists(patterns: Patterns, n_columns: int) -> NDArray[np.bool_]:
    """Return which lists hold points that differ in each column, shape (C, P)."""
    return (np.array(patterns) >> np.arange(n_columns)[:, None] & 1).astype(bool)


def pattern_of(a: Codes, b: Codes) -> NDArray[np.int64]:
    """Return the pattern of every pair of rows of labels; one row is paired with all others."""
    pattern = np.zeros(max(len(a), len(b)), np.int64)
    for column, (i, j) in enumerate(zip(a.T, b.T, strict=True)):
        pattern |= ((i >= 0) & (j >= 0) & (i != j)).astype(np.int64) << column
    return pattern


def codes_of(labels: Labels | None, n: int) -> Codes:
    """Return the codes of all columns, shape (n, C); without labels C is 0."""
    return np.empty((n, 0), np.int32) if labels is None else labels.codes


def available(labels: Column | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the other points without a different label, and those with one."""
    codes = np.empty((n, 0), np.int32) if labels is None else labels.codes[:, None]
    same = PatternCounts(codes).candidates(codes, (0,), codes)[:, 0]
    return same, n - 1 - same


def different_labels(
    labels: Column | None, i: NDArray[np.integer], j: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return which pairs have two labels that differ; a missing label differs from none."""
    if labels is None:
        return np.zeros(np.broadcast_shapes(i.shape, j.shape), np.bool_)
    a, b = labels.codes[i], labels.codes[j]
    return np.asarray((a != b) & (a >= 0) & (b >= 0))


class PatternCounts:
    """How many of some points, with labels ``codes``, make a pattern with any labels.

    Columns are counted separately and together, so the work does not grow with the product of the
    numbers of labels.
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

    def candidates(
        self, codes: Codes, patterns: Patterns, own: Codes | None = None
    ) -> NDArray[np.int64]:
        """Count the points for each list, shape (m, P), except the points with labels ``own``."""
        has = np.stack([self.count(codes, pattern) for pattern in patterns], axis=1)
        if own is not None:
            has -= pattern_of(codes, own)[:, None] == np.array(patterns)
        return has

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


def _subsets(mask: int) -> list[int]:
    return [part for part in range(mask + 1) if part & mask == part]
