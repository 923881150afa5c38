"""The order of points in memory, and similarities packed in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne import _native
from ctsne.layout.descent import spatial_order


def unpacked(
    starts: NDArray[np.int64], bases: NDArray[np.int32], codes: NDArray[np.uint16]
) -> sp.csr_array:
    n = len(starts) - 1
    rows = np.repeat(np.arange(n), 8 * np.diff(starts))
    columns = bases[:, None].astype(np.int64) + codes.reshape(-1, 2, 8)[:, 0]
    values = (codes.reshape(-1, 2, 8)[:, 1].astype(np.uint32) << 15).view(np.float32)
    return sp.csr_array((values.ravel(), (rows, columns.ravel())), shape=(n, n))


@given(n=st.integers(1, 400), dims=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_order_is_a_permutation_inside_groups(n: int, dims: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n, dims)).astype(np.float32)
    groups = np.sort(rng.integers(0, 4, n))
    order = spatial_order(y, groups)
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(groups[order], groups)


def test_neighbours_in_the_order_are_near() -> None:
    y = np.random.default_rng(0).uniform(size=(10_000, 2)).astype(np.float32)
    along = y[spatial_order(y, None)]
    assert np.linalg.norm(np.diff(along, axis=0), axis=1).mean() < 0.03
    assert np.array_equal(spatial_order(np.zeros((9, 2), np.float32), None), np.arange(9))


@given(n=st.integers(1, 60), density=st.floats(0, 1), seed=st.integers(0, 2**31))
def test_packed_matrix_is_the_permuted_one(n: int, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.lognormal(sigma=10, size=(n, n)) * (rng.random((n, n)) < density)
    matrix = sp.csr_array(values.astype(np.float32))
    order = rng.permutation(n).astype(np.int32)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    packed = _native.Similarities(indptr, indices, matrix.data, 2).packed(order)
    expected = values[np.ix_(order, order)]
    found = unpacked(*packed.packed_arrays()).toarray()
    np.testing.assert_allclose(found, expected, rtol=1 / 512, atol=1e-37)
    assert packed.total == pytest.approx(found.sum(dtype=np.float64))


def test_columns_far_apart_are_packed() -> None:
    n = 200_000
    columns = np.array([0, 65_535, 65_536, 131_072, 199_999], np.int32)
    indptr = np.full(n + 1, 5, np.int64)
    indptr[0] = 0
    given = _native.Similarities(indptr, columns, np.arange(1, 6, dtype=np.float32), 1)
    packed = given.packed(np.arange(n, dtype=np.int32))
    first = unpacked(*packed.packed_arrays())[[0]].toarray()[0]
    assert np.flatnonzero(first).tolist() == columns.tolist()
    assert first[columns].tolist() == [1, 2, 3, 4, 5]


def test_an_order_that_is_not_a_permutation_and_other_maps_are_refused() -> None:
    two = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2, np.float32)
    similarities = _native.Similarities(*two, 1)
    descent = _native.Descent(similarities, np.zeros((2, 2), np.float32), 1.0, 1)
    for order in ([0, 0], [0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="every row once"):
            similarities.packed(np.array(order, np.int32))
        with pytest.raises(ValueError, match="every row once"):
            descent.reordered(np.array(order), similarities)
    with pytest.raises(ValueError, match="one place in the order per point"):
        similarities.packed(np.zeros(1, np.int32))
    for shape, message in (((3, 2), "does not fit the map"), ((2, 4), "dimensions")):
        with pytest.raises(ValueError, match=message):
            _native.Descent(similarities, np.zeros(shape, np.float32), 1.0, 1)
    step = {"pull": 1, "push": 1, "learning_rate": 1, "momentum": 0, "longest": 1}
    with pytest.raises(ValueError, match="shape of the map"):
        descent.step(np.zeros((1, 2), np.float32), **step)


@pytest.mark.parametrize(
    ("indptr", "columns", "message"),
    [
        ([0, 1, 2], [0, 2], "column is outside"),
        ([0, 1, 2], [-1, 0], "column is outside"),
        ([0, 1, 2], [0, 2**31 - 1], "column is outside"),
        ([0, 3, 2], [0, 1], "must not decrease|outside"),
        ([0, -1, 2], [0, 1], "must not decrease"),
        ([1, 1, 2], [0, 1], "begin with zero"),
        ([0, 1, 3], [0, 1], "as many as the row starts say"),
        ([0, 1, 1], [0, 1], "as many as the row starts say"),
        ([], [0, 1], "begin with zero"),
    ],
)
def test_a_matrix_that_points_outside_itself_is_refused(
    indptr: list[int], columns: list[int], message: str
) -> None:
    values = np.ones(2, np.float32)
    with pytest.raises(ValueError, match=message):
        _native.Similarities(np.array(indptr, np.int64), np.array(columns, np.int32), values, 1)
