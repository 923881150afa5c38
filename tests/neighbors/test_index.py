"""Neighbours of any queries against brute force, and independence of everything but the query."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne.neighbors import find_neighbors
from ctsne.neighbors import index as module
from ctsne.neighbors.index import SearchIndex
from ctsne.neighbors.patterns import pattern_of

from .. import reference as formulas
from .helpers import assert_same


def patterns_between(a, b):
    """Return the pattern of every row of labels with every other."""
    differ = (a[:, None] >= 0) & (b[None] >= 0) & (a[:, None] != b[None])
    return (differ << np.arange(a.shape[1])).sum(axis=2, dtype=np.int64)


def distances_between(a, b, metric):
    a, b = a.astype(np.float64), b.astype(np.float64)
    if metric == "cosine":
        a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    squared = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    return 0.5 * squared if metric == "cosine" else np.sqrt(squared)


def share_found(found, exact):
    """Return the share of every row's true neighbours that a search found."""
    hits = np.zeros(len(found.indices))
    begin = np.zeros(len(hits), np.int64)
    for lengths in exact.lengths.T:
        column = np.arange(exact.indices.shape[1]) - begin[:, None]
        listed = (column >= 0) & (column < lengths[:, None])
        farthest = np.where(listed, exact.distances, -1).max(axis=1, keepdims=True)
        hits += ((found.distances <= farthest) & listed).sum(axis=1)
        begin += lengths
    return hits / exact.indices.shape[1]


def mixed_points(n, dims=20, labels=4, seed=0):
    """Return clusters in a few dimensions of many, and labels that shift them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, labels, n).astype(np.int32)
    centres = rng.normal(size=(30, dims)) * 3
    X = centres[rng.integers(0, 30, n)] + rng.normal(size=(n, 6)) @ rng.normal(size=(6, dims))
    X += rng.normal(size=(labels, dims))[codes] + 0.3 * rng.normal(size=(n, dims))
    return X.astype(np.float32), codes[:, None]


@pytest.fixture
def in_cells(monkeypatch):
    """Search cells even if there are few points."""
    monkeypatch.setattr(module, "ALL_UP_TO", 100)


@pytest.fixture(scope="module")
def large():
    """Return an index of a reference large enough for cells, and queries of all kinds."""
    X, codes = mixed_points(16_000)
    index = SearchIndex(X[:15_000], codes[:15_000])
    labels = codes[15_000:].copy()
    labels[:100] = -1
    labels[100:200] = 77
    return index, X[15_000:], labels


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 90),
    dims=st.integers(1, 20),
    columns=st.integers(0, 3),
    most=st.integers(1, 6),
    metric=st.sampled_from(["euclidean", "cosine"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    aligned=st.booleans(),
    itself=st.booleans(),
    far=st.sampled_from([0.0, 1e4]),
)
def test_exact_search_is_brute_force(
    seed, n, dims, columns, most, metric, dtype, aligned, itself, far
):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, dims)).round(1) + 3 + far).astype(dtype)
    moved = X + dtype(1) if aligned else None
    codes = rng.integers(-1, most, (n, columns)).astype(np.int32)
    if itself:
        own = rng.integers(0, n, 20)
        new, new_moved, labels = X[own], None if moved is None else moved[own], codes[own]
    else:
        own = None
        new = (rng.normal(size=(20, dims)).round(1) + 3 + far).astype(dtype)
        new_moved = new + dtype(0.5) if aligned else None
        # Some labels are not in the reference.
        labels = rng.integers(-1, most + 2, (20, columns)).astype(np.int32)
    patterns = (0, *(1 + np.flatnonzero(rng.random((1 << columns) - 1) < 0.8)).tolist())
    wanted = rng.integers(0, 6, len(patterns)) + 1
    found = SearchIndex(X, codes, aligned=moved, metric=metric).find(
        new, labels, lengths=wanted, patterns=patterns, aligned=new_moved, own=own
    )

    pairs = patterns_between(labels, codes)
    if own is not None:
        pairs[np.arange(20), own] = -1
    total = min(wanted.sum(), np.isin(pairs, patterns).sum(axis=1).min())
    assert found.patterns == patterns and found.recall == 1
    distances = distances_between(new, X, metric)
    others = distances if moved is None else distances_between(new_moved, moved, metric)
    for i in range(20):
        has = [(pairs[i] == pattern).sum() for pattern in patterns]
        np.testing.assert_array_equal(found.lengths[i], formulas.filled_row(wanted, has, total))
        end = 0
        for pattern, length in zip(patterns, found.lengths[i], strict=True):
            begin, end = end, end + length
            truth = others[i] if pattern else distances[i]
            nearest = np.sort(truth[pairs[i] == pattern])[:length]
            chosen = found.indices[i, begin:end]
            assert (pairs[i, chosen] == pattern).all() and len(set(chosen)) == length
            tolerance = 1e-6 * max(1.0, np.abs(truth).max())
            np.testing.assert_allclose(found.distances[i, begin:end], nearest, atol=tolerance)
            np.testing.assert_allclose(truth[chosen], nearest, atol=tolerance)


def test_points_of_the_reference_find_what_the_exact_search_finds():
    X, codes = mixed_points(3000)
    expected = find_neighbors(X, codes[:, 0], lengths=(9, 7))
    found = SearchIndex(X, codes).find(
        X, codes, lengths=(9, 7), patterns=(0, 1), own=np.arange(len(X))
    )
    assert_same(found, expected)


def test_rows_depend_on_nothing_but_the_query(large):
    index, X, labels = large
    find = {"lengths": (8, 8), "patterns": (0, 1)}
    whole = index.find(X, labels, **find)
    order = np.random.default_rng(1).permutation(len(X))
    for jobs in (1, 2):
        moved = index.find(X[order], labels[order], n_jobs=jobs, **find)
        assert_same(moved, whole, order)
    for part in (slice(0, 1), slice(95, 210), slice(990, None)):
        assert_same(index.find(X[part], labels[part], **find), whole, part)


def test_cells_find_most_neighbours_of_every_pattern(large):
    index, X, labels = large
    found = index.find(X, labels, lengths=(10, 10), patterns=(0, 1))
    exact = SearchIndex(index._references[0].points, index.codes, recall=1).find(
        X, labels, lengths=(10, 10), patterns=(0, 1)
    )
    np.testing.assert_array_equal(found.lengths, exact.lengths)
    assert 0.985 < found.recall < 1
    kinds = slice(0, 100), slice(100, 200), slice(200, None)
    for kind, least in zip(kinds, (0.97, 0.97, 0.985), strict=True):
        assert share_found(found, exact)[kind].mean() > least


def test_two_columns_in_cells(in_cells):
    rng = np.random.default_rng(0)
    X, _ = mixed_points(6000)
    rare = rng.choice(40, 6000, p=np.r_[0.61, np.full(39, 0.01)])
    codes = np.stack([rare, rng.integers(-1, 2, 6000)], axis=1).astype(np.int32)
    query = {"lengths": (6, 6, 6, 6), "patterns": (0, 1, 2, 3), "own": np.arange(6000)}
    found = SearchIndex(X, codes).find(X, codes, **query)
    exact = SearchIndex(X, codes, recall=1).find(X, codes, **query)
    np.testing.assert_array_equal(found.lengths, exact.lengths)
    assert share_found(found, exact).mean() > 0.985
    ends = np.cumsum(found.lengths, axis=1)
    pattern = (np.arange(24)[None, :, None] >= ends[:, None, :]).sum(axis=2)
    for column in range(24):
        neighbours = codes[found.indices[:, column]]
        np.testing.assert_array_equal(pattern_of(codes, neighbours), pattern[:, column])


@pytest.mark.parametrize("aligned", [False, True])
def test_a_stored_index_finds_the_same(in_cells, aligned):
    X, codes = mixed_points(2000)
    moved = (X + 1).astype(np.float64) if aligned else None
    index = SearchIndex(X, codes, aligned=moved)
    query = {"lengths": (5, 5), "patterns": (0, 1), "own": np.arange(2000), "aligned": moved}
    expected = index.find(X, codes, **query)
    arrays = index.arrays()
    restored = SearchIndex.from_arrays(X, codes, arrays, aligned=moved)
    for other in (restored, pickle.loads(pickle.dumps(index))):
        assert other.arrays().keys() == arrays.keys() > {"budgets", "order_0_1"}
        found = other.find(X, codes, **query)
        assert_same(found, expected)
        assert found.recall == expected.recall


def spoilt(arrays, name):
    """Return wrong arrays in place of one of an index."""
    array = arrays[name]
    yield None
    yield array.astype(np.float32)
    yield array[:-1]
    if array.dtype.kind != "f":
        yield np.full_like(array, -1 if array.dtype.kind == "i" else 2**32 - 1)
        yield np.zeros_like(array)
        yield np.ascontiguousarray(array[::-1])
        if name.startswith("bounds"):  # their differences overflow
            yield np.array([0, 2**63 - 1, -2, array[-1]])
    else:
        yield np.full_like(array, np.nan)


@pytest.mark.parametrize("name", ["recall", "budgets", "reached", "order_0_1", "bounds_0_1"])
def test_hostile_arrays_are_refused(in_cells, name):
    X, codes = mixed_points(1000)
    index = SearchIndex(X, codes)
    index.find(X[:5], codes[:5], lengths=(5, 5), patterns=(0, 1))
    arrays = index.arrays()
    for wrong in spoilt(arrays, name):
        if (
            name == "budgets"
            and wrong is not None
            and sorted(wrong.tolist()) == sorted(arrays[name].tolist())
        ):
            continue  # the order of the budgets says nothing
        with pytest.raises(ValueError, match=r"\w"):
            SearchIndex.from_arrays(X, codes, {**arrays, name: wrong})


def test_no_queries_find_nothing():
    X, codes = mixed_points(100)
    found = SearchIndex(X, codes).find(X[:0], codes[:0], lengths=(2, 2), patterns=(0, 1))
    assert len(found.indices) == len(found.distances) == 0
    assert found.recall == 1


@pytest.mark.slow
def test_recall_on_mixed_points():
    X, codes = mixed_points(60_000, dims=50, labels=12)
    index = SearchIndex(X[:50_000], codes[:50_000])
    query = {"lengths": (10, 10), "patterns": (0, 1)}
    found = index.find(X[50_000:], codes[50_000:], **query)
    exact = SearchIndex(X[:50_000], codes[:50_000], recall=1).find(
        X[50_000:], codes[50_000:], **query
    )
    measured = share_found(found, exact).mean()
    assert measured > 0.987
    assert abs(measured - found.recall) < 0.004
