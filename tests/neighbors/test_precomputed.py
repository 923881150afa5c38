"""Neighbours from distances and graphs against the search on features and a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from ctsne.labels import Column, encode_column
from ctsne.neighbors import (
    Neighbors,
    find_neighbors,
    neighbors_from_distances,
    neighbors_from_graph,
)

from .. import reference as formulas


def full_graph(distances: Any) -> Any:
    """Store every pair, zeros too."""
    n = len(distances)
    row, column = (index.ravel() for index in np.indices((n, n)))
    return sparse.coo_array((distances[row, column], (row, column)), shape=(n, n)).tocsr()


def same_neighbors(a: Neighbors, b: Neighbors) -> None:
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.n_same, b.n_same)
    np.testing.assert_allclose(a.distances, b.distances, rtol=1e-6)
    assert a.indices.dtype == a.n_same.dtype == np.int32 and a.distances.dtype == np.float32


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Column, Any, Any]:
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Integers have ties and duplicates.
    X = rng.integers(0, 4, size=(n, 3)) if draw(st.booleans()) else rng.normal(size=(n, 3))
    values = draw(st.lists(st.sampled_from([None, *range(5)]), min_size=n, max_size=n))
    total = draw(st.integers(1, n + 3))
    k_same = rng.integers(0, total + 1, size=n)
    return X, encode_column(values), k_same, total - k_same


@given(problems())
def test_equal_the_search_on_features(problem: Any) -> None:
    X, labels, k_same, k_other = problem
    D = np.sqrt(formulas.squared_distances(X))
    if X.dtype.kind == "i":  # else rounding would make ties
        D = D.astype(np.float32)
    expected = find_neighbors(X, labels, lengths=(k_same, k_other))
    for found in (
        neighbors_from_distances(D, labels, k_same, k_other),
        neighbors_from_graph(full_graph(D), labels, k_same, k_other),
    ):
        same_neighbors(found, expected)
        assert found.scale == (pytest.approx(found.distances.max()) if D.any() else 1.0)


def lists_by_loop(graph: Any, labels: Column, k_same: Any, k_other: Any) -> tuple[list[Any], Any]:
    """Cut both lists of every point to the shortest row, in the proportion asked for."""
    codes, n = labels.codes, len(labels.codes)
    stored = [
        [(graph[i, j], j) for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]] if j != i]
        for i in range(n)
    ]
    length = min(k_same[0] + k_other[0], *map(len, stored))
    rows, n_same = [], []
    for i, entries in enumerate(stored):
        differs = [codes[i] >= 0 and codes[j] >= 0 and codes[i] != codes[j] for _, j in entries]
        same = sorted(entry for entry, apart in zip(entries, differs, strict=True) if not apart)
        other = sorted(entry for entry, apart in zip(entries, differs, strict=True) if apart)
        take = min(int(np.ceil(length * k_same[i] / (k_same[i] + k_other[i]))), len(same))
        take = max(take, length - len(other))
        rows.append([j for _, j in same[:take] + other[: length - take]])
        n_same.append(take)
    return rows, n_same


@settings(max_examples=60)
@given(problems(), st.floats(0.05, 1))
def test_graphs_with_short_rows(problem: Any, density: float) -> None:
    X, labels, k_same, k_other = problem
    n = len(X)
    D = np.sqrt(formulas.squared_distances(X))
    row, column = np.indices((n, n))
    # Everybody has the next point for a neighbour, and some of the others.
    kept = (np.random.default_rng(0).random((n, n)) < density) | (column == (row + 1) % n)
    graph = sparse.coo_array((D[kept], (row[kept], column[kept])), shape=(n, n)).tocsr()
    found = neighbors_from_graph(graph, labels, k_same, k_other)
    rows, n_same = lists_by_loop(graph, labels, k_same, k_other)
    assert found.indices.tolist() == rows
    assert found.n_same.tolist() == n_same
    expected = np.take_along_axis(D, found.indices, axis=1)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_graph_of_any_format(kind: Any) -> None:
    X = np.random.default_rng(1).normal(size=(40, 2))
    graph = kneighbors_graph(X, 6, mode="distance")
    found = neighbors_from_graph(kind(graph), None, 6, 0)
    same_neighbors(found, find_neighbors(X, lengths=6))


def test_stored_zeros_are_neighbours_and_the_diagonal_is_not() -> None:
    # Points 0 and 1 coincide; both are stored as neighbours of themselves, too.
    row, column = [0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 1, 0, 2, 1, 0]
    data = [0.0, 0.0, 5.0, 0.0, 0.0, 5.0, 5.0, 5.0]
    graph = sparse.csr_array((data, (row, column)), shape=(3, 3))
    found = neighbors_from_graph(graph, None, 2, 0)
    assert found.indices.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert found.distances.tolist() == [[0, 5], [0, 5], [5, 5]]
    assert found.scale == 5


def test_input_is_left_alone() -> None:
    # Unsorted, with one edge in two parts: scipy reads it as their sum.
    graph = sparse.csr_array(
        (np.array([3.0, 1.0, 1.0, 2.0]), np.array([1, 0, 0, 0]), np.array([0, 1, 3, 4])),
        shape=(3, 3),
    )
    before = [array.copy() for array in (graph.data, graph.indices, graph.indptr)]
    found = neighbors_from_graph(graph, None, 1, 0)
    assert found.indices.tolist() == [[1], [0], [0]]
    assert found.distances.tolist() == [[3], [2], [2]]
    for now, then in zip((graph.data, graph.indices, graph.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_diagonal_and_asymmetry_of_distances() -> None:
    D = np.array([[9, 1, 2], [2, 9, 1], [1, 2, 9]])
    found = neighbors_from_distances(D, None, 2, 0)
    assert found.indices.tolist() == [[1, 2], [2, 0], [0, 1]]


@pytest.mark.parametrize(
    ("function", "matrix", "error", "message"),
    [
        (neighbors_from_distances, np.ones((3, 4)), ValueError, "distances must be square"),
        (neighbors_from_distances, np.ones(3), ValueError, "2D array"),
        (neighbors_from_distances, -np.ones((3, 3)), ValueError, "not contain negative distances"),
        (neighbors_from_distances, np.full((3, 3), np.inf), ValueError, "9 NaN or infinite"),
        (neighbors_from_distances, np.full((3, 3), 1e35), ValueError, "outside the range"),
        (neighbors_from_distances, sparse.eye_array(3), TypeError, "neighbors_from_graph"),
        (neighbors_from_graph, np.ones((3, 3)), TypeError, "neighbors_from_distances"),
        (neighbors_from_graph, sparse.csr_array((3, 4)), ValueError, "graph must be square"),
        (
            neighbors_from_graph,
            -sparse.csr_array(np.ones((3, 3))),
            ValueError,
            "not contain negative",
        ),
        (neighbors_from_graph, sparse.csr_array([[0, np.nan], [1, 0]]), ValueError, "1 NaN"),
        (neighbors_from_graph, sparse.csr_array([[0, 1], [0, 5]]), ValueError, "first: point 1"),
    ],
)
def test_refused(function: Any, matrix: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        function(matrix, None, 1, 0)


@pytest.mark.parametrize("function", [neighbors_from_distances, neighbors_from_graph])
def test_labels_and_lengths_refused(function: Any) -> None:
    matrix: Any = np.ones((3, 3)) - np.eye(3)
    if function is neighbors_from_graph:
        matrix = sparse.csr_array(matrix)
    with pytest.raises(ValueError, match="3 points"):
        function(matrix, ["a", "b"], 1, 1)
    with pytest.raises(ValueError, match="k_same must not be negative"):
        function(matrix, None, -1, 2)
