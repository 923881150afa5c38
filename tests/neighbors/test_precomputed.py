"""Neighbours from distances and graphs against the search on features and a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from ctsne.neighbors import Neighbors, find_neighbors, occurring_patterns, read_neighbors
from ctsne.neighbors.precomputed import read_new_points

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes


def full_graph(distances: Any) -> Any:
    """Store every pair, zeros too."""
    n = len(distances)
    row, column = (index.ravel() for index in np.indices((n, n)))
    return sparse.coo_array((distances[row, column], (row, column)), shape=(n, n)).tocsr()


def same_neighbors(a: Neighbors, b: Neighbors) -> None:
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.lengths, b.lengths)
    np.testing.assert_allclose(a.distances, b.distances, rtol=1e-6)
    assert a.indices.dtype == a.lengths.dtype == np.int32 and a.distances.dtype == np.float32


def points_of(codes: Codes, seed: int, *, ties: bool) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, size=(len(codes), 3)) if ties else rng.normal(size=(len(codes), 3))


def some_graph(D: Any, density: float) -> Any:
    """Store the next point as a neighbour of every point, and some of the others."""
    n = len(D)
    row, column = np.indices((n, n))
    kept = (np.random.default_rng(0).random((n, n)) < density) | (column == (row + 1) % n)
    return sparse.coo_array((D[kept], (row[kept], column[kept])), shape=(n, n)).tocsr()


def stored_in(graph: Any, i: int) -> list[int]:
    return graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist()


problems = column_codes(fewest_columns=1), st.integers(0, 2**32), st.integers(0, 12), st.booleans()


@settings(max_examples=50)
@given(*problems)
def test_equal_the_search_on_features(codes: Codes, seed: int, k: int, ties: bool) -> None:
    X, labels = points_of(codes, seed, ties=ties), as_columns(codes)
    D = np.sqrt(formulas.squared_distances(X))
    if ties:  # else rounding would make ties
        D = D.astype(np.float32)
    patterns = occurring_patterns(labels)
    lengths = np.random.default_rng(seed).integers(0, k + 1, size=len(patterns)) + 1
    lists: dict[str, Any] = {"lengths": lengths, "patterns": patterns}
    expected = find_neighbors(X, labels, **lists)
    for matrix in (D, full_graph(D)):
        found = read_neighbors(matrix, labels, **lists)
        same_neighbors(found, expected)
        assert found.scale == (pytest.approx(found.distances.max()) if D.any() else 1.0)


def lists_by_loop(entries: Any, total: int, lengths: Any, patterns: Any) -> tuple[list[Any], Any]:
    """Cut the lists of one point to a row of ``total``, in the proportion asked for.

    ``entries`` are (pattern, distance, point).
    """
    lists = [sorted(entry[1:] for entry in entries if entry[0] == p) for p in patterns]
    ends = [int(np.ceil(total * end / lengths.sum())) for end in np.cumsum(lengths)]
    wanted = formulas.filled_row(np.diff([0, *ends]), [len(points) for points in lists], total)
    return [
        j for points, k in zip(lists, wanted, strict=True) for _, j in points[:k]
    ], wanted.tolist()


@settings(max_examples=50)
@given(*problems, st.floats(0.05, 1))
def test_rows_of_a_graph_are_as_long_as_the_shortest(
    codes: Codes, seed: int, k: int, ties: bool, density: float
) -> None:
    X, labels = points_of(codes, seed, ties=ties), as_columns(codes)
    n = len(X)
    D = np.sqrt(formulas.squared_distances(X))
    graph = some_graph(D, density)
    pattern, patterns = formulas.pattern_matrix(labels.codes), occurring_patterns(labels)
    lengths = np.random.default_rng(seed).integers(0, k + 1, size=len(patterns)) + 1
    found = read_neighbors(graph, labels, lengths=lengths, patterns=patterns)
    filled = formulas.filled_lengths(labels.codes, lengths, patterns)
    rows = [
        [(pattern[i, j], graph[i, j], j) for j in stored_in(graph, i) if j != i] for i in range(n)
    ]
    total = min(int(filled[0].sum()), *map(len, rows))
    for i, entries in enumerate(rows):
        indices, wanted = lists_by_loop(entries, total, filled[i], patterns)
        assert found.indices[i].tolist() == indices
        assert found.lengths[i].tolist() == wanted
    expected = np.take_along_axis(D, found.indices, axis=1)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-6)


@settings(max_examples=50)
@given(*problems, st.sampled_from(["dense", "graph"]), st.booleans())
def test_lists_of_new_points(
    codes: Codes, seed: int, k: int, ties: bool, kind: str, leave_out: bool
) -> None:
    X, labels = points_of(codes, seed, ties=ties), as_columns(codes)
    D = np.sqrt(formulas.squared_distances(X)).astype(np.float32)
    matrix = D if kind == "dense" else some_graph(D, 0.5)
    patterns = occurring_patterns(labels)
    # Without a column or with an unknown label, a point makes other patterns than the map does.
    new = labels.codes.copy()
    new[::3, 0], new[1::3, 0] = -1, 99
    lengths = np.random.default_rng(seed).integers(0, k + 1, size=len(patterns)) + 1
    own = np.arange(len(X)) if leave_out else None
    seen = []
    for rows, found in read_new_points(
        matrix,
        new,
        labels.codes,
        lengths=np.tile(lengths, (len(X), 1)).astype(np.int32),
        patterns=patterns,
        scale=2.0,
        own=own,
    ):
        assert found.scale == 2.0 and found.patterns == patterns
        seen += rows.tolist()
        for i, indices, wanted in zip(rows, found.indices, found.lengths, strict=True):
            near = range(len(X)) if kind == "dense" else stored_in(matrix, i)
            differs = (new[i] >= 0) & (labels.codes >= 0) & (new[i] != labels.codes)
            pattern = (differs << np.arange(labels.n_columns)).sum(axis=1)
            entries = [
                (pattern[j], D[i, j], j)
                for j in near
                if pattern[j] in patterns and not (leave_out and j == i)
            ]
            total = min(len(entries), int(lengths.sum()))
            expected = lists_by_loop(entries, total, lengths, patterns)
            assert (indices.tolist(), wanted.tolist()) == expected
    assert sorted(seen) == list(range(len(X)))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_graph_of_any_format(kind: Any) -> None:
    X = np.random.default_rng(1).normal(size=(40, 2))
    graph = kneighbors_graph(X, 6, mode="distance")
    found = read_neighbors(kind(graph), lengths=6)
    same_neighbors(found, find_neighbors(X, lengths=6))


def test_stored_zeros_are_neighbours_and_the_diagonal_is_not() -> None:
    asymmetric = np.array([[9, 1, 2], [2, 9, 1], [1, 2, 9]])
    found = read_neighbors(asymmetric, lengths=2)
    assert found.indices.tolist() == [[1, 2], [2, 0], [0, 1]]
    # Points 0 and 1 coincide; both are stored as neighbours of themselves, too.
    row, column = [0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 1, 0, 2, 1, 0]
    data = [0.0, 0.0, 5.0, 0.0, 0.0, 5.0, 5.0, 5.0]
    graph = sparse.csr_array((data, (row, column)), shape=(3, 3))
    found = read_neighbors(graph, lengths=2)
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
    found = read_neighbors(graph, lengths=1)
    assert found.indices.tolist() == [[1], [0], [0]]
    assert found.distances.tolist() == [[3], [2], [2]]
    for now, then in zip((graph.data, graph.indices, graph.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)
