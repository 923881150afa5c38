"""Lengths of the two lists: what is asked for, and what the labels have."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.labels import Column, encode_column
from ctsne.neighbors import balanced_lengths, half_lengths, paper_lengths

from .. import reference as formulas


@st.composite
def codes_and_perplexity(draw: st.DrawFn) -> tuple[Any, Column, float]:
    n = draw(st.integers(2, 60))
    values = draw(st.lists(st.sampled_from([None, *range(8)]), min_size=n, max_size=n))
    labels = encode_column(values)
    perplexity = draw(st.floats(1, n - 1) | st.integers(1, n - 1).map(float))
    return labels.codes, labels, perplexity


@given(codes_and_perplexity())
def test_paper_lengths(problem: Any) -> None:
    codes, labels, perplexity = problem
    same, other = paper_lengths(labels, len(codes), perplexity)
    expected_same, expected_other = formulas.list_lengths(codes, perplexity)
    np.testing.assert_array_equal(same, expected_same)
    np.testing.assert_array_equal(other, expected_other)
    assert same.dtype == other.dtype == np.int32


@given(codes_and_perplexity(), st.floats(0, 1), st.booleans())
def test_balanced_lengths(problem: Any, strength: float, per_label: bool) -> None:
    codes, labels, perplexity = problem
    strengths = strength ** np.arange(labels.n_labels) if per_label else strength
    found = balanced_lengths(labels, perplexity, strengths)
    expected = formulas.list_lengths_balanced(codes, perplexity, strengths)
    np.testing.assert_array_equal(found, expected)


@given(codes_and_perplexity())
def test_half_lengths(problem: Any) -> None:
    codes, labels, perplexity = problem
    found = half_lengths(labels, len(codes), 2 * ceil(5 / 3 * perplexity))
    np.testing.assert_array_equal(found, formulas.list_lengths_joint(codes, perplexity))
    assert found[0].dtype == found[1].dtype == np.int32


def test_without_labels_there_is_one_list() -> None:
    for labels in (None, encode_column([None] * 20)):
        same, other = paper_lengths(labels, 20, 5)
        assert set(same) == {15} and set(other) == {0}


def test_many_labels() -> None:
    labels = encode_column(np.arange(100_000))
    same, other = paper_lengths(labels, 100_000, 30)
    assert set(same) == {0} and set(other) == {90}


@pytest.mark.parametrize("count", [2, 3, 5])
def test_balanced_keeps_one_neighbour_of_the_own_label(count: int) -> None:
    labels = encode_column(np.arange(40 * count) % 40)
    same, other = balanced_lengths(labels, 2.0, 1.0)
    assert set(same) == {1} and set(other) == {5}


def test_without_strength_balanced_halves_the_row_as_the_paper_does() -> None:
    labels = encode_column(np.arange(60) % 3)
    found = balanced_lengths(labels, 5.0, 0.0)
    halves = np.full(60, 7), np.full(60, 8)  # of 15; here the odd one goes to other labels
    np.testing.assert_array_equal(found, halves)
