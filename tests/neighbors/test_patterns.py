"""Patterns of columns that differ, and counts of the points that make them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctsne.neighbors import occurring_patterns
from ctsne.neighbors.patterns import PatternCounts, alike_counts, combinations_of, pattern_of

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes


@given(column_codes(fewest_columns=1))
def test_patterns_are_those_that_occur(codes: Codes) -> None:
    labels = as_columns(codes)
    assert occurring_patterns(labels) == formulas.patterns_of(labels.codes)
    for inner in range(labels.n_columns):
        for outer in range(labels.n_columns):
            nested = inner != outer and formulas.is_nested(labels.codes, inner, outer)
            assert ((inner, outer) in labels.nested()) == nested


def test_without_labels_that_differ_there_is_one_pattern() -> None:
    assert occurring_patterns(None) == (0,)
    assert occurring_patterns(as_columns(np.array([[0], [0], [-1]]))) == (0,)


@given(column_codes(fewest_columns=1))
def test_points_that_differ_in_nothing(codes: Codes) -> None:
    labels = as_columns(codes)
    alike = (formulas.pattern_matrix(labels.codes) == 0).sum(axis=1) - 1
    counts = np.append(alike_counts(labels), len(codes) - 1)
    np.testing.assert_array_equal(counts[labels.combined.codes], alike)


@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(1, 5))
def test_counts_of_patterns_with_any_labels(seed: int, columns: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, most, (40, columns)).astype(np.int32)
    labels = rng.integers(-1, most + 2, (15, columns)).astype(np.int32)  # some are new
    both = np.concatenate([labels, codes])
    pairs = formulas.pattern_matrix(both)[:15, 15:] if columns else np.zeros((15, 40), int)
    counts = PatternCounts(codes)
    for pattern in range(1 << columns):
        np.testing.assert_array_equal(counts.count(labels, pattern), (pairs == pattern).sum(axis=1))
    np.testing.assert_array_equal(pattern_of(labels, codes[:15]), np.diagonal(pairs))
    np.testing.assert_array_equal(pattern_of(labels[:1], codes), pairs[0])
    table, number = combinations_of(codes)
    np.testing.assert_array_equal(table[number], codes)
    assert len(table) == len({tuple(row) for row in codes.tolist()})
