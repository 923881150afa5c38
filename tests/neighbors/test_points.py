"""Points divided into cells, and what the compiled search refuses."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import _native


@given(
    n=st.integers(1, 800),
    cuts=st.integers(0, 20),
    size=st.integers(1, 60),
    whole=st.sampled_from([0, 50]),
    seed=st.integers(0, 2**32),
)
def test_cells_divide_every_range(n: int, cuts: int, size: int, whole: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, size=(n, 3)).astype(np.float32)  # many equal ones
    ranges = np.sort(np.concatenate([[0, n], rng.integers(n + 1, size=cuts)])).astype(np.int64)
    order, bounds = _native.make_cells(rows, ranges, size, whole, 2)
    assert (np.diff(bounds) > 0).all()
    assert bounds[0] == 0 and bounds[-1] == n
    assert np.isin(ranges, bounds).all()  # a range is some whole cells
    assert np.diff(bounds).max() <= max(4 * size, whole)  # even of equal points
    for begin, end in pairwise(ranges):
        np.testing.assert_array_equal(np.sort(order[begin:end]), np.arange(begin, end))


@pytest.mark.parametrize("seed", [76, 153, 230, 390, 427])
def test_few_places_in_uneven_shares(seed: int) -> None:
    # More centres than places, and most of them empty.
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 30, size=(rng.integers(3, 9), 1)).astype(np.float32)
    shares = rng.dirichlet(np.full(len(places), 0.4))
    X = places[rng.choice(len(places), size=8192, p=shares)]
    order, bounds = _native.make_cells(X, np.array([0, 8192]), 128, 0, 1)
    assert np.diff(bounds).max() <= 4 * 128
    np.testing.assert_array_equal(np.sort(order), np.arange(8192))


class TestNative:
    """The compiled search refuses whatever it could not read safely."""

    def points(
        self, ids: Any = (0, 1, 2, 3), codes: Any = (0, 0, 1, -1), n: int = 4
    ) -> _native.SearchPoints:
        rows = np.arange(8, dtype=np.float32).reshape(4, 2)[:n]
        return _native.SearchPoints(
            rows, rows, np.array(ids, np.uint32), np.array(codes, np.int32), scale=1.0, n_jobs=1
        )

    @pytest.mark.parametrize(
        ("ids", "codes", "message"),
        [
            ((0, 1, 2, 4), (0, 0, 1, 1), "every point once"),
            ((0, 1, 2, 2), (0, 0, 1, 1), "every point once"),
            ((0, 1, 2), (0, 0, 1, 1), "one place in the order"),
            ((0, 1, 2, 3), (0, 0, 1), "one entry per point"),
            ((0, 1, 2, 3), (0, 0, -2, 1), "code is negative"),
        ],
    )
    def test_points(self, ids: Any, codes: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.points(ids, codes)

    def test_exact(self) -> None:
        lists = _native.NeighborLists(np.full(4, 1, np.int32), 2)
        everything = np.arange(4)
        with pytest.raises(ValueError, match="sorted by label"):
            self.points(codes=(0, -1, 1, 1)).find_exact(lists, everything, False)
        with pytest.raises(ValueError, match="sorted by label"):
            self.points(codes=(1, 0, 0, 0)).find_exact(lists, everything, False)
        for queries in ([4], [-1], [1, 0], [1, 1]):
            with pytest.raises(ValueError, match="rising positions"):
                self.points().find_exact(lists, np.array(queries), False)
        with pytest.raises(ValueError, match="lists are those of other points"):
            self.points().find_exact(
                _native.NeighborLists(np.ones(3, np.int32), 2), everything, False
            )
        for k_same, other in ((4, False), (0, True)):  # longer than the points there are
            long = _native.NeighborLists(np.full(4, k_same, np.int32), 4)
            with pytest.raises(ValueError, match="longer than the number of points"):
                self.points().find_exact(long, everything, other)
        for k_same, length in ((-1, 2), (3, 2), (0, 0)):
            with pytest.raises(ValueError, match=r"k_same|length"):
                _native.NeighborLists(np.full(4, k_same, np.int32), length)

    def test_cells(self) -> None:
        points = self.points()
        lists = _native.NeighborLists(np.full(4, 1, np.int32), 2)
        for bounds in ([0, 2], [0, 2, 2, 4], [0, 3, 2, 4], [-1, 4], [0, 5], [0]):
            with pytest.raises(ValueError, match=r"cell|bounds"):
                _native.Cells(points, np.array(bounds))
        with pytest.raises(ValueError, match="several labels"):
            _native.Cells(points, np.array([0, 3, 4]))
        with pytest.raises(ValueError, match="sorted by label"):
            _native.Cells(points, np.array([0, 4]), np.array([2, 1]))  # unlabelled ones come first
        mixed = points.reordered(np.array([3, 0, 1, 2], np.uint32))
        assert mixed.ids.tolist() == [3, 0, 1, 2] and mixed.codes.tolist() == [-1, 0, 0, 1]
        with pytest.raises(ValueError, match="outside the labels"):
            _native.Cells(mixed, np.array([0, 4]), np.array([2]))
        cells = _native.Cells(mixed, np.array([0, 4]), np.array([2, 1]))
        with pytest.raises(ValueError, match="budget is smaller"):
            cells.find(lists, np.arange(4), True, 1)
        pure = _native.Cells(points, np.array([0, 2, 3, 4]))
        with pytest.raises(ValueError, match="no points of other labels"):
            pure.find(lists, np.arange(4), True, 10)
        with pytest.raises(ValueError, match="rising positions"):
            pure.find(lists, np.array([9]), False, 10)
        long = _native.NeighborLists(np.full(4, 4, np.int32), 4)
        with pytest.raises(ValueError, match="longer than the number of points"):
            pure.find(long, np.arange(3), False, 10)

    @pytest.mark.parametrize("n_jobs", [1, 2**31 - 1])
    def test_any_number_of_workers(self, n_jobs: int) -> None:
        X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
        order, bounds = _native.make_cells(X, np.array([0, 50]), 5, 5, n_jobs)
        points = _native.SearchPoints(X, X, order, np.zeros(50, np.int32), 1.0, n_jobs)
        lists = _native.NeighborLists(np.full(50, 4, np.int32), 4)
        points.find_exact(lists, np.arange(50), other=False)
        exact = lists.indices.copy()
        _native.Cells(points, bounds, None).find(lists, np.arange(50), False, 2**62)
        np.testing.assert_array_equal(lists.indices, exact)

    @pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
    def test_values_that_are_not_finite(self, value: float) -> None:
        X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
        spoilt = X.copy()
        spoilt[::3] = value
        order, bounds = _native.make_cells(spoilt, np.array([0, 50]), 5, 5, 2)
        assert sorted(order) == list(range(50)) and bounds[-1] == 50
        for original in (X, spoilt):
            points = _native.SearchPoints(original, spoilt, order, np.zeros(50, np.int32), 1.0, 2)
            lists = _native.NeighborLists(np.full(50, 4, np.int32), 4)
            with contextlib.suppress(ValueError):
                points.find_exact(lists, np.arange(50), other=False)
