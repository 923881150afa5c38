from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.neighbors import Neighbors, find_neighbors, merge_neighbors, select_neighbors

shapes = st.tuples(st.integers(6, 60), st.integers(1, 4), st.integers(0, 10**6))


def problem(n: int, n_labels: int, seed: int) -> tuple[np.ndarray, list[object]]:
    """Points with ties, labels with missing ones."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 3)).astype(float)
    return X, [
        None if code == n_labels else int(code) for code in rng.integers(n_labels + 1, size=n)
    ]


def same(found: Neighbors, searched: Neighbors) -> None:
    np.testing.assert_array_equal(found.indices, searched.indices)
    np.testing.assert_array_equal(found.distances, searched.distances)
    np.testing.assert_array_equal(found.n_same, searched.n_same)
    assert found.scale == searched.scale


@given(shapes, st.integers(1, 8), st.integers(0, 8))
def test_selected_is_what_a_search_finds(
    shape: tuple[int, int, int], k_same: int, k_other: int
) -> None:
    X, labels = problem(*shape)
    long = find_neighbors(X, labels, lengths=(10, 10))
    short = find_neighbors(X, labels, lengths=(k_same, k_other))
    lengths = short.n_same, short.indices.shape[1] - short.n_same
    same(select_neighbors(long, *lengths), short)


@given(shapes, st.integers(1, 10))
def test_merged_is_what_a_search_without_labels_finds(shape: tuple[int, int, int], k: int) -> None:
    X, labels = problem(*shape)
    k = min(k, len(X) - 1)
    long = find_neighbors(X, labels, lengths=(10, 10))
    same(merge_neighbors(long, k), find_neighbors(X, lengths=k))


def test_refuses_lists_longer_than_there_are() -> None:
    X, labels = problem(20, 2, 0)
    found = find_neighbors(X, labels, lengths=(3, 3))
    longer = np.full(20, int(found.n_same.max()) + 1, np.int32)
    with pytest.raises(ValueError, match="shorter"):
        select_neighbors(found, longer, np.zeros(20, np.int32))
    with pytest.raises(ValueError, match="k must be"):
        merge_neighbors(found, 7)
    with pytest.raises(ValueError, match="the same for all points"):
        select_neighbors(found, np.arange(20, dtype=np.int32) % 3, np.ones(20, np.int32))
