"""Conditional rows to a symmetric sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.affinity import result
from ctsne.affinity.result import symmetric_matrix

from .. import reference as formulas


def random_rows(n: int, k: int, seed: int) -> tuple[Any, Any]:
    """Distinct neighbours of every point, in no order, with rows that sum to one."""
    rng = np.random.default_rng(seed)
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    rows = rng.random((n, k)) ** rng.integers(1, 40) + 1e-300
    rows[rng.random((n, k)) < 0.2] = 0
    rows[:, 0] += 1e-3
    rows /= rows.sum(axis=1, keepdims=True)
    return indices.astype(np.int32), rows.astype(np.float32)


@given(st.integers(2, 60), st.floats(0, 1), st.integers(0, 2**32))
def test_equals_the_reference(n: int, part: float, seed: int) -> None:
    indices, rows = random_rows(n, 1 + int(part * (n - 2)), seed)
    matrix = symmetric_matrix(indices, rows, 1)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, indices, rows.astype(np.float64), axis=1)
    expected = formulas.symmetrize(dense)
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=2e-7, atol=1e-36)
    assert matrix.shape == (n, n) and matrix.dtype == np.float32
    assert matrix.has_canonical_format and (matrix.data > 0).all()
    assert (matrix != matrix.T).nnz == 0
    assert matrix.sum(dtype=np.float64) == pytest.approx(1, abs=1e-6)


def test_threads_and_ranges_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    indices, rows = random_rows(2000, 20, 0)
    indices[:, 0] = 0  # a hub
    indices[0, 0] = 1
    one, two = (symmetric_matrix(indices, rows, n_jobs) for n_jobs in (1, 2))
    monkeypatch.setattr(result, "_ENTRIES_AT_ONCE", 1000)
    many = symmetric_matrix(indices, rows, 3)
    for attribute in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, attribute), getattr(two, attribute))
        np.testing.assert_array_equal(getattr(one, attribute), getattr(many, attribute))
    assert one.indices.dtype == one.indptr.dtype == np.int32


def test_shapes_that_do_not_fit_are_refused() -> None:
    indices, rows = random_rows(30, 5, 0)
    for wrong in (rows[:29], np.ascontiguousarray(rows[:, :4])):
        with pytest.raises(ValueError, match="same shape"):
            symmetric_matrix(indices, wrong, 1)


def test_nothing_below_normal_numbers_is_stored() -> None:
    indices = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    rows = np.array([[1, 1e-40], [1, 1e-38], [0, 1]], np.float32)
    matrix = symmetric_matrix(indices, rows, 1)
    assert matrix.nnz == 4  # 0-1 and 1-2 in both directions
    np.testing.assert_allclose(matrix.toarray()[1], [1 / 3, 0, 1 / 6], rtol=1e-6)


def test_a_point_nobody_is_near_to() -> None:
    indices = np.array([[1], [0], [0]], np.int32)
    matrix = symmetric_matrix(indices, np.ones((3, 1), np.float32), 1)
    np.testing.assert_allclose(
        matrix.toarray(), np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]) / 6, rtol=1e-6
    )


def test_indices_outside_the_data() -> None:
    for index in (-1, 2):
        with pytest.raises(ValueError, match="outside the data"):
            symmetric_matrix(np.array([[1], [index]], np.int32), np.ones((2, 1), np.float32), 1)
