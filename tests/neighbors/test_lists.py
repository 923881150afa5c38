"""Lengths of the lists: what is asked for, and what the labels have; selections from lists."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne.neighbors import (
    balanced_lengths,
    find_neighbors,
    joint_lengths,
    occurring_patterns,
    paper_lengths,
)
from ctsne.neighbors.lists import (
    divide_rows,
    fill_lengths,
    merge_neighbors,
    product_shares,
    select_neighbors,
)

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes
from .helpers import assert_same


@st.composite
def any_codes(draw: st.DrawFn) -> Codes:
    """Up to three columns, or one with tiny labels and any number of missing ones."""
    if draw(st.booleans()):
        return draw(column_codes(fewest_columns=1, least=4))
    return np.array(draw(st.lists(st.integers(-1, 7), min_size=2, max_size=60)))[:, None]


@given(any_codes(), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_lengths_are_those_of_the_reference(
    codes: Codes, part: float, strength: float, per_label: bool
) -> None:
    labels, n = as_columns(codes), len(codes)
    patterns = occurring_patterns(labels)
    perplexity = 1 + part * (n - 2)
    knob: list[Any] = [strength] * labels.n_columns
    if per_label:
        knob = [strength ** np.arange(column.n_labels) for column in labels.columns]
    for method, wanted in {
        "revised": paper_lengths(patterns, perplexity),
        "joint": joint_lengths(patterns, perplexity),
        "balanced": balanced_lengths(labels, patterns, perplexity, knob),
    }.items():
        expected = formulas.wanted_lengths(method, labels.codes, patterns, perplexity, knob)
        np.testing.assert_array_equal(np.broadcast_to(wanted, expected.shape), expected)
        found = fill_lengths(wanted, labels, patterns, n)
        filled = formulas.filled_lengths(labels.codes, wanted, patterns)
        np.testing.assert_array_equal(found, filled)
        assert found.dtype == np.int32


@given(column_codes(fewest_columns=1), st.floats(1, 8), st.floats(0, 1))
def test_lists_of_balanced_are_near_their_shares(
    codes: Codes, perplexity: float, strength: float
) -> None:
    labels = as_columns(codes)
    patterns = occurring_patterns(labels)
    lengths = balanced_lengths(labels, patterns, perplexity, [strength] * labels.n_columns)
    u = min(perplexity, (len(codes) - 1) / 3)
    assert (lengths.sum(axis=1) == min(ceil(3 * u), len(codes) - 1)).all() and (lengths >= 0).all()
    random = np.stack([formulas.random_shares(column) for column in labels.codes.T], axis=1)
    shares = strength * random + np.where(labels.codes >= 0, (1 - strength) / 2, 0.0)
    wanted = formulas.product_shares(shares, patterns)
    np.testing.assert_allclose(product_shares(shares, patterns), wanted)
    # Rounded up, so that rows are at most one point from their share for every list.
    assert (np.abs(lengths - 3 * u * wanted) <= len(patterns)).all()
    assert (lengths[:, 0] > 0)[wanted[:, 0] > 1e-9].all()


def test_no_share_is_negative_by_rounding() -> None:
    shares = np.array([[np.nextafter(1.0, 2.0), 0.5]])
    assert product_shares(shares, (0, 1, 2, 3)).tolist() == [[0.0, 0.5, 0.0, 0.5]]


def test_a_strength_per_label_of_each_column() -> None:
    labels = as_columns(np.stack([np.arange(120) % 2, np.arange(120) // 2 % 3], axis=1))
    patterns = (0, 1, 2, 3)
    mixed = balanced_lengths(labels, patterns, 10.0, [np.array([0.0, 1.0]), np.array([1, 0.5, 0])])
    for a, b in ((0.0, 1.0), (1.0, 0.5)):
        alone = balanced_lengths(labels, patterns, 10.0, [a, b])
        rows = labels.codes[:, 0] == a
        rows &= labels.codes[:, 1] == (0 if b == 1 else 1)
        np.testing.assert_array_equal(mixed[rows], alone[rows])


@pytest.mark.parametrize("lists", [1, 2, 3, 4, 8])
def test_lengths_for_any_number_of_lists(lists: int) -> None:
    patterns = tuple(range(lists))
    paper, joint = paper_lengths(patterns, 5.0), joint_lengths(patterns, 6.0)
    assert paper.tolist() == {1: [15], 2: [8, 7]}.get(lists, [8] * lists)
    assert joint.tolist() == {1: [20], 8: [5] * 8}.get(lists, [10] * lists)


def test_many_labels() -> None:
    labels = as_columns(np.arange(100_000))
    lengths = fill_lengths(paper_lengths((0, 1), 30), labels, (0, 1), 100_000)
    assert (lengths == [0, 90]).all()


@pytest.mark.parametrize("count", [2, 3, 5])
def test_balanced_keeps_one_neighbour_of_the_own_label_and_halves_without_strength(
    count: int,
) -> None:
    labels = as_columns(np.arange(40 * count) % 40)
    assert (balanced_lengths(labels, (0, 1), 2.0, [1.0]) == [1, 5]).all()
    lengths = balanced_lengths(as_columns(np.arange(60) % 3), (0, 1), 5.0, [0.0])
    assert (lengths == [7, 8]).all()  # of 15; here the odd one goes to other labels


@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(1, 60))
def test_rows_are_divided_by_shares(seed: int, lists: int, total: int) -> None:
    shares = np.random.default_rng(seed).dirichlet(np.full(lists, 0.3), size=20)
    lengths = divide_rows(shares, total)
    np.testing.assert_array_equal(lengths, [formulas.divided_row(row, total) for row in shares])
    assert (lengths.sum(axis=1) == total).all() and (lengths >= 0).all()
    if total >= lists:
        assert (lengths[shares * total > 1e-5] > 0).all()
    assert (np.abs(lengths - total * shares) <= lists).all()


# ---- selections ----------------------------------------------------------------------------------


def points_of(codes: Codes, seed: int) -> Any:
    """Points with ties."""
    return np.random.default_rng(seed).integers(0, 6, size=(len(codes), 3)).astype(float)


@settings(max_examples=50)
@given(column_codes(fewest_columns=1), st.integers(0, 2**32), st.booleans())
def test_selected_lists_are_those_of_a_search(codes: Codes, seed: int, aligned: bool) -> None:
    X, labels = points_of(codes, seed), as_columns(codes)
    moved = X + codes[:, :1] if aligned else None
    lists = 1 << labels.n_columns
    short = np.random.default_rng(seed).integers(0, 5, size=lists) + 1
    searched = find_neighbors(X, labels, lengths=short, aligned=moved)
    long = find_neighbors(X, labels, lengths=short + 3, aligned=moved)
    selected = select_neighbors(long, searched.lengths)
    assert_same(selected, searched)
    assert (selected.unaligned is None) == (searched.unaligned is None) == (not aligned)
    if selected.unaligned is not None and searched.unaligned is not None:
        np.testing.assert_array_equal(selected.unaligned.rows, searched.unaligned.rows)
        assert_same(selected.unaligned.neighbors, searched.unaligned.neighbors)


@settings(max_examples=50)
@given(column_codes(fewest_columns=1), st.integers(0, 2**32), st.integers(1, 7))
def test_merged_is_what_a_search_without_labels_finds(codes: Codes, seed: int, k: int) -> None:
    X = points_of(codes, seed)
    long = find_neighbors(X, as_columns(codes), lengths=8)
    assert_same(merge_neighbors(long, k), find_neighbors(X, lengths=k))
