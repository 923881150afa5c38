"""Lists of neighbours for several label columns, against the reference."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ctsne.labels import encode_labels
from ctsne.neighbors import (
    find_lists,
    matched_shares,
    occurring_patterns,
    read_lists,
    select_lists,
)
from ctsne.neighbors.column_lists import (
    alike_counts,
    balanced_lists,
    divided,
    long_lists,
    paper_lists,
    product_shares,
)

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes


@given(column_codes())
def test_patterns_are_those_that_occur(codes: Codes) -> None:
    labels = as_columns(codes)
    assert occurring_patterns(labels) == formulas.patterns_of(labels.codes)
    for inner in range(labels.n_columns):
        for outer in range(labels.n_columns):
            nested = inner != outer and formulas.is_nested(labels.codes, inner, outer)
            assert ((inner, outer) in labels.nested()) == nested


@given(column_codes())
def test_points_that_differ_in_nothing(codes: Codes) -> None:
    labels = as_columns(codes)
    alike = (formulas.pattern_matrix(labels.codes) == 0).sum(axis=1) - 1
    counts = np.append(alike_counts(labels), len(codes) - 1)
    np.testing.assert_array_equal(counts[labels.combined.codes], alike)


@given(column_codes(), st.integers(0, 2**32), st.integers(1, 30), st.sampled_from(["dense", "X"]))
def test_lists_are_the_nearest_of_each_pattern(codes: Codes, seed: int, k: int, kind: str) -> None:
    labels = as_columns(codes)
    X = np.random.default_rng(seed).normal(size=(len(codes), 3))
    D2 = formulas.squared_distances(X)
    patterns = occurring_patterns(labels)
    wanted = long_lists(patterns, k)
    lengths = formulas.filled_lengths(labels.codes, wanted, patterns)
    expected = formulas.pattern_lists(D2, labels.codes, lengths, patterns)
    if kind == "dense":
        found = read_lists(np.sqrt(D2), labels, lengths=wanted, patterns=patterns)
    else:
        found = find_lists(X, labels, lengths=wanted, patterns=patterns)
    np.testing.assert_array_equal(found.lengths, lengths)
    np.testing.assert_array_equal(found.indices, expected)
    distances = np.take_along_axis(np.sqrt(D2), expected, axis=1)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-5)
    assert found.patterns == patterns


@given(column_codes(), st.integers(0, 2**32), st.integers(2, 12))
def test_lists_of_a_graph(codes: Codes, seed: int, k: int) -> None:
    labels = as_columns(codes)
    rng = np.random.default_rng(seed)
    n = len(codes)
    keys = rng.random((n, n)) + 2 * np.eye(n)
    degree = rng.integers(2, n - 1, size=n)
    row = np.repeat(np.arange(n), degree)
    column = np.concatenate([np.argsort(keys[i])[: degree[i]] for i in range(n)])
    distance = keys[row, column]
    graph = sp.csr_array((distance, (row, column)), shape=(n, n))
    patterns = occurring_patterns(labels)
    found = read_lists(graph, labels, lengths=paper_lists(patterns, k), patterns=patterns)
    pattern = formulas.pattern_matrix(labels.codes)
    total = len(patterns) * ceil(1.5 * k)
    assert found.indices.shape == (n, min(total, int(degree.min())))
    for i in range(n):
        assert i not in found.indices[i] and len(set(found.indices[i])) == found.indices.shape[1]
        parts = np.split(found.indices[i], np.cumsum(found.lengths[i])[:-1])
        for each, members in zip(patterns, parts, strict=True):
            there = column[row == i]
            there = there[pattern[i, there] == each]
            nearest = there[np.argsort(keys[i, there])][: len(members)]
            np.testing.assert_array_equal(members, nearest)


def test_a_graph_with_lonely_points_is_refused() -> None:
    labels = as_columns(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    graph = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    with pytest.raises(ValueError, match=r"no neighbours for 2 points \(first: point 2\)"):
        read_lists(graph, labels, lengths=np.ones(4, int), patterns=(0, 1, 2, 3))


def test_lists_that_differ_are_searched_among_aligned_points() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=(300, 2))
    labels = as_columns(codes)
    X = rng.normal(size=(300, 3))
    moved = X + 5 * codes[:, :1]
    patterns, lengths = (0, 1, 2, 3), np.full(4, 5)
    found = find_lists(moved, labels, lengths=lengths, patterns=patterns, aligned=X)
    plain = find_lists(moved, labels, lengths=lengths, patterns=patterns)
    aligned = find_lists(X, labels, lengths=lengths, patterns=patterns)
    np.testing.assert_array_equal(found.indices[:, :5], plain.indices[:, :5])
    np.testing.assert_array_equal(found.indices[:, 5:], aligned.indices[:, 5:])
    assert found.unaligned is not None
    rows = found.unaligned.rows
    np.testing.assert_array_equal(found.unaligned.neighbors.indices, plain.indices[rows])


@given(column_codes(), st.floats(1, 8), st.floats(0, 1))
def test_lengths_of_balanced(codes: Codes, perplexity: float, strength: float) -> None:
    labels = as_columns(codes)
    patterns = occurring_patterns(labels)
    lengths = balanced_lists(labels, patterns, perplexity, strength)
    total = min(ceil(3 * perplexity), len(codes) - 1)
    assert (lengths.sum(axis=1) == total).all() and (lengths >= 0).all()
    shares = []
    for c in range(labels.n_columns):
        random = formulas.other_shares(labels.codes[:, c], 1.0)
        half = np.where(labels.codes[:, c] >= 0, (1 - strength) / 2, 0.0)
        shares.append(strength * random + half)
    each = formulas.independent_shares(np.stack(shares, axis=1), patterns)
    np.testing.assert_allclose(product_shares(np.stack(shares, axis=1), patterns), each)
    expected = [formulas.divided_row(row, total) for row in each]
    np.testing.assert_array_equal(lengths, expected)


@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(1, 60))
def test_rows_are_divided_by_shares(seed: int, lists: int, total: int) -> None:
    shares = np.random.default_rng(seed).dirichlet(np.full(lists, 0.3), size=20)
    lengths = divided(shares, total)
    assert (lengths.sum(axis=1) == total).all() and (lengths >= 0).all()
    if total >= lists:
        assert (lengths[shares * total > 1e-5] > 0).all()
    assert (np.abs(lengths - total * shares) <= lists).all()


def test_selected_lists() -> None:
    rng = np.random.default_rng(0)
    labels = as_columns(rng.integers(0, 2, size=(100, 2)))
    X = rng.normal(size=(100, 2))
    patterns: Any = (0, 1, 2, 3)
    long = find_lists(X, labels, lengths=np.full(4, 12), patterns=patterns)
    wanted = rng.permuted(np.tile([1, 4, 0, 7], (100, 1)), axis=1)
    short = select_lists(long, wanted)
    expected = find_lists(X, labels, lengths=wanted, patterns=patterns)
    np.testing.assert_array_equal(short.indices, expected.indices)
    np.testing.assert_array_equal(short.distances, expected.distances)
    np.testing.assert_array_equal(short.n_same, wanted[:, 0])
    with pytest.raises(ValueError, match="shorter lists"):
        select_lists(long, np.full((100, 4), 13))
    with pytest.raises(ValueError, match="same positive sum"):
        select_lists(long, np.eye(100, 4, dtype=int))


def test_what_is_refused() -> None:
    labels = as_columns(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    good: dict[str, Any] = {"lengths": np.ones(4, int), "patterns": (0, 1, 2, 3)}
    D = np.ones((4, 4))
    for search in (find_lists, read_lists):
        for wrong in (
            {"lengths": np.inf},
            {"lengths": np.ones(3, int)},
            {"lengths": -np.ones(4, int)},
            {"patterns": (0, 1, 2, 4)},
            {"patterns": ()},
        ):
            with pytest.raises((TypeError, ValueError), match=r"lengths|patterns"):
                search(D, labels, **{**good, **wrong})
        with pytest.raises(TypeError, match="labels must be"):
            search(D, [0, 0, 1, 1], **good)  # type: ignore[arg-type]
    other = as_columns(np.array([[0, 0], [0, 1], [1, 1]]))
    with pytest.raises(ValueError, match="labels must be those of 4 points, got 3"):
        read_lists(D, other, **good)
    with pytest.raises(ValueError, match="labels must be those of 4 points, got 3"):
        matched_shares(read_lists(D, labels, **good), other)


def test_a_search_in_parts_finds_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4))
    labels = encode_labels([rng.integers(0, 3, 9000), rng.integers(0, 2, 9000)])
    wanted: dict[str, Any] = {"lengths": np.full(4, 5), "patterns": (0, 1, 2, 3)}
    shares: list[float] = []
    parts = find_lists(X, labels, after_part=shares.append, **wanted)
    whole = find_lists(X, labels, **wanted)
    assert np.array_equal(parts.indices, whole.indices)
    assert len(shares) >= 8 and shares == sorted(shares) and shares[-1] == pytest.approx(1)
