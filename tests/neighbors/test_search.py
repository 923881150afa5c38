"""The exact search against the reference, and scikit-learn where the reference is too slow."""

from __future__ import annotations

import contextlib
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ctsne import _native
from ctsne.labels import Column, encode_column
from ctsne.neighbors import Neighbors, find_neighbors

from .. import reference as formulas


def labels_of(codes: Any) -> Column:
    return encode_column([None if code < 0 else int(code) for code in codes])


@st.composite
def label_codes(draw: st.DrawFn, n: int, rng: np.random.Generator) -> Any:
    """Few labels, tiny ones beside a large one, as many as points; some of them missing."""
    kind = draw(st.sampled_from(["few", "tiny", "all different"]))
    if kind == "few":
        codes = rng.integers(draw(st.integers(1, 6)), size=n)
    elif kind == "tiny":
        codes = rng.permutation(np.where(np.arange(n) < draw(st.integers(1, 5)), np.arange(n), 9))
    else:
        codes = rng.permutation(n)
    codes = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.9])), -1, codes)
    # From 0 without gaps, as label columns are numbered.
    return np.unique(np.append(codes, -1), return_inverse=True)[1][:n] - 1


@st.composite
def problems(draw: st.DrawFn, *, ties: bool = False) -> tuple[Any, Any, Any, Any]:
    """Features, label codes, and lengths of both lists for every point."""
    n, d = draw(st.integers(2, 200)), draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if ties:  # small integers, whose distances are exact in any order of summation
        X = rng.integers(0, draw(st.integers(1, 6)), size=(n, min(d, 6)))
    else:
        X = rng.normal(size=(n, d)) * rng.lognormal(sigma=2, size=d)
    total = draw(st.integers(1, n + 5))
    k_same = rng.integers(0, total + 1, size=n)
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return X.astype(dtype), draw(label_codes(n, rng)), k_same, total - k_same


def check(
    found: Neighbors, X: Any, codes: Any, metric: Literal["euclidean", "cosine"] = "euclidean"
) -> None:
    """Compare with the reference's lists of the same lengths."""
    length = found.indices.shape[1]
    D2 = formulas.squared_distances(X, metric=metric)
    indices, _ = formulas.neighbor_lists(D2, codes, found.n_same, length - found.n_same)
    if metric == "euclidean":  # directions are rounded, and equal angles may order either way
        np.testing.assert_array_equal(found.indices, indices)
    distances = np.sqrt(D2)
    for chosen in (found.indices, indices):
        expected = np.take_along_axis(distances, chosen, axis=1)
        atol = 1e-14 if metric == "cosine" else 0
        np.testing.assert_allclose(found.distances, expected, rtol=1e-6, atol=atol)
    assert found.indices.dtype == found.n_same.dtype == np.int32
    assert found.distances.dtype == np.float32


@given(problems())
def test_equals_the_reference(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    found = find_neighbors(X, labels_of(codes), lengths=(k_same, k_other))
    assert found.indices.shape == (len(X), min(k_same[0] + k_other[0], len(X) - 1))
    check(found, X, codes)
    centred = X - X.mean(axis=0, dtype=np.float64)
    assert found.scale == pytest.approx(np.abs(centred).max())


@given(problems(ties=True))
def test_ties_and_duplicates_by_index(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    check(find_neighbors(X, labels_of(codes), lengths=(k_same, k_other)), X, codes)


@settings(max_examples=30)
@given(problems())
def test_cosine(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    found = find_neighbors(X, labels_of(codes), lengths=(k_same, k_other), metric="cosine")
    check(found, X, codes, "cosine")
    assert found.scale == 1.0


@settings(max_examples=30)
@given(problems(), st.sampled_from([1e4, 1e6, -1e6]))
def test_far_from_the_origin(problem: Any, offset: float) -> None:
    X, codes, k_same, k_other = problem
    if abs(offset) > 1e4:  # float32 has hardly a digit left there
        X = X.astype(np.float64)
    far = X + X.dtype.type(offset)
    check(find_neighbors(far, labels_of(codes), lengths=(k_same, k_other)), far, codes)


@settings(max_examples=30)
@given(problems(), st.sampled_from([1e-15, 1e15]))
def test_any_scale(problem: Any, scale: float) -> None:
    X, codes, k_same, k_other = problem
    scaled = X * X.dtype.type(scale)
    found = find_neighbors(scaled, labels_of(codes), lengths=(k_same, k_other))
    check(found, scaled, codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_data_much_wider_than_its_clusters(distance: float, dtype: Any) -> None:
    # Single precision alone would not tell neighbours within a cluster apart.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) + distance * rng.integers(-1, 2, size=(300, 1))
    X[0, 0] = 1e3 * distance
    X, codes = X.astype(dtype), rng.integers(-1, 3, size=300)
    check(find_neighbors(X, labels_of(codes), lengths=(20, 20)), X, codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_points_identical(dtype: Any) -> None:
    X, codes = np.full((90, 3), 0.1, dtype), np.arange(90) % 2
    found = find_neighbors(X, labels_of(codes), lengths=(12, 12))
    check(found, X, codes)
    assert not found.distances.any() and found.scale == 1.0


def test_without_labels_there_is_one_list() -> None:
    X = np.random.default_rng(0).normal(size=(70, 3))
    found = find_neighbors(X, lengths=(5, 2))
    check(found, X, np.full(70, -1))
    assert set(found.n_same) == {7}


@settings(max_examples=20)
@given(problems())
def test_threads_do_not_matter(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    one, two = (
        find_neighbors(X, labels_of(codes), lengths=(k_same, k_other), n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)


@pytest.mark.parametrize(
    ("n", "d", "dtype"),
    [(3000, 20, np.float64), pytest.param(20_000, 50, np.float32, marks=pytest.mark.slow)],
)
def test_many_points_against_brute_force(n: int, d: int, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    codes = rng.choice(6, p=[0.5, 0.3, 0.1, 0.08, 0.015, 0.005], size=n) - 1
    X = (rng.normal(size=(n, d)) + codes[:, None]).astype(dtype)
    found = find_neighbors(X, labels_of(codes), lengths=(40, 30))
    for code in range(-1, 5):
        rows = np.flatnonzero(codes == code)[:300]
        other = (codes != code) & (codes >= 0) & (code >= 0)
        n_same = found.n_same[rows[0]]
        for members, begin, end in ((~other, 0, n_same), (other, n_same, 70)):
            if begin == end:
                continue
            points = X[members].astype(np.float64)
            own = 0 if members is other else 1  # a point is found among its own label, first
            search = NearestNeighbors(n_neighbors=end - begin + own, algorithm="brute").fit(points)
            distances, indices = search.kneighbors(X[rows].astype(np.float64))
            np.testing.assert_allclose(
                found.distances[rows, begin:end], distances[:, own:], rtol=1e-5
            )
            expected = np.flatnonzero(members)[indices[:, own:]]
            assert (np.sort(found.indices[rows, begin:end]) == np.sort(expected)).mean() > 0.999


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.tolist(),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.int8),
    ],
    ids=["fortran", "strided", "list", "half", "integers"],
)
def test_any_array(convert: Any) -> None:
    X = np.random.default_rng(2).integers(-100, 100, size=(50, 3)).astype(np.float64)
    X.setflags(write=False)
    expected = find_neighbors(X, lengths=9)
    found = find_neighbors(convert(X), lengths=9)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_labels_of_any_kind() -> None:
    X = np.random.default_rng(2).normal(size=(30, 3))
    names = ["a", "b", None] * 10
    expected = find_neighbors(X, encode_column(names), lengths=(4, 4))
    found = find_neighbors(X, names, lengths=(4, 4))
    np.testing.assert_array_equal(found.indices, expected.indices)
    unlabelled = find_neighbors(X, [None] * 30, lengths=(4, 4))
    np.testing.assert_array_equal(unlabelled.indices, find_neighbors(X, lengths=8).indices)


class TestRefused:
    X = np.random.default_rng(3).normal(size=(10, 2))

    @pytest.mark.parametrize(
        ("X", "error", "message"),
        [
            (np.full((3, 2), np.nan), ValueError, "6 NaN"),
            (np.zeros((1, 2)), ValueError, "minimum of 2"),
            (np.zeros(4), ValueError, "2D array"),
            ([["a"], ["b"]], TypeError, "X must hold numbers"),
            (sparse.eye_array(5).tocsr(), TypeError, "sparse"),
            (np.array([[-1e31], [1e31]]), ValueError, "outside the range"),
            (np.array([[-1e308], [1e308]]), ValueError, "outside the range"),
            (np.array([[-1e-40], [1e-40]]), ValueError, "outside the range"),
        ],
    )
    def test_features(self, X: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            find_neighbors(X, lengths=1)

    @pytest.mark.parametrize(
        ("lengths", "error", "message"),
        [
            ({"k_same": -1}, ValueError, "k_same must not be negative"),
            ({"k_same": 2, "k_other": -1}, ValueError, "k_other must not be negative"),
            ({"k_same": 0}, ValueError, "positive"),
            ({"k_same": np.arange(10)}, ValueError, "same for all points"),
            ({"k_same": np.ones(3, int)}, TypeError, "k_same must be a whole number"),
            ({"k_same": 1.5}, TypeError, "k_same must be a whole number"),
            ({"k_same": 1, "k_other": "2"}, TypeError, "k_other must be a whole number"),
        ],
    )
    def test_lengths(self, lengths: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            find_neighbors(self.X, **lengths)

    def test_labels_of_another_length(self) -> None:
        for labels in (["a", "b"], encode_column(["a", "b"])):
            with pytest.raises(ValueError, match="10 points"):
                find_neighbors(self.X, labels, lengths=1)

    def test_metric_and_jobs(self) -> None:
        with pytest.raises(ValueError, match="metric must be one of"):
            find_neighbors(self.X, lengths=1, metric="l1")
        with pytest.raises(ValueError, match="n_jobs"):
            find_neighbors(self.X, lengths=1, n_jobs=0)
        X = self.X.copy()
        X[[3, 5]] = 0
        with pytest.raises(ValueError, match=r"2 rows of X are all zeros \(the first is row 3\)"):
            find_neighbors(X, lengths=1, metric="cosine")


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


@pytest.mark.parametrize("rows", [[0.5], "some", [], [[1]], None, [-1], [6]], ids=str)
def test_rows_are_numbers_of_points(rows: Any) -> None:
    if rows is None:
        rows = np.array([{}])
    with pytest.raises((TypeError, ValueError), match=r"^rows must be"):
        find_neighbors(np.arange(12.0).reshape(6, 2), lengths=2, rows=rows)


@pytest.mark.parametrize("rows", [None, np.arange(0, 9000, 2)])
def test_a_search_in_parts_finds_the_same(rows: Any) -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(9000, 5)), rng.integers(-1, 4, 9000)
    wanted: dict[str, Any] = {"k_same": 6, "k_other": 6, "rows": rows}
    shares: list[float] = []
    parts = find_neighbors(X, labels_of(codes), after_part=shares.append, **wanted)
    whole = find_neighbors(X, labels_of(codes), **wanted)
    assert np.array_equal(parts.indices, whole.indices)
    assert np.array_equal(parts.distances, whole.distances)
    assert len(shares) >= 4 and shares == sorted(shares) and shares[-1] == 1
