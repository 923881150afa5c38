"""The search against the reference, and scikit-learn where the reference is too slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from ctsne import ConditionalTSNE
from ctsne.neighbors import Neighbors, find_neighbors, points, search

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes
from .helpers import assert_same


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
def problems(draw: st.DrawFn, *, ties: bool | None = None) -> tuple[Any, Any, Any]:
    """Features, codes of one label column, and lengths of both lists for every point."""
    n, d = draw(st.integers(2, 200)), draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if (
        draw(st.booleans()) if ties is None else ties
    ):  # small integers, whose distances are exact in any order of summation
        X = rng.integers(0, draw(st.integers(1, 6)), size=(n, min(d, 6)))
    else:
        X = rng.normal(size=(n, d)) * rng.lognormal(sigma=2, size=d)
    total = draw(st.integers(1, n + 5))
    same = rng.integers(0, total + 1, size=n)
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return X.astype(dtype), draw(label_codes(n, rng)), np.stack([same, total - same], axis=1)


def check(
    found: Neighbors, X: Any, codes: Any, metric: Literal["euclidean", "cosine"] = "euclidean"
) -> None:
    """Compare with the reference's lists of the same lengths."""
    D2 = formulas.squared_distances(X, metric=metric)
    lists = formulas.neighbor_lists(D2, codes[:, None], found.lengths, found.patterns)
    indices = lists.indices
    if metric == "euclidean":  # directions are rounded, and equal angles may order either way
        np.testing.assert_array_equal(found.indices, indices)
    distances = np.sqrt(D2)
    for chosen in (found.indices, indices):
        expected = np.take_along_axis(distances, chosen, axis=1)
        atol = 1e-14 if metric == "cosine" else 0
        np.testing.assert_allclose(found.distances, expected, rtol=1e-6, atol=atol)
    assert found.indices.dtype == found.lengths.dtype == np.int32
    assert found.distances.dtype == np.float32


# ---- exact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", ["constant", "few", "binary", "repeated"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_ties_go_by_index(values: str, dtype: Any) -> None:
    """More points are equally far than a list of candidates holds at first."""
    rng, n = np.random.default_rng(0), 700
    X = {
        "constant": np.ones((n, 4)),
        "few": rng.integers(0, 9, (5, 4))[rng.integers(0, 5, n)],
        "binary": rng.integers(0, 2, (n, 9)),
        "repeated": rng.integers(0, 9, (n // 35, 4)).repeat(35, axis=0),
    }[values].astype(dtype)
    for n_labels in (1, 4, 60):
        codes = rng.integers(-1, n_labels, n)
        codes = np.unique(np.append(codes, -1), return_inverse=True)[1][:n] - 1
        for lengths in ((0, 30), (30, 0), (20, 10)):
            check(find_neighbors(X, as_columns(codes), lengths=lengths), X, codes)


def test_more_ties_than_any_list_may_hold_go_by_index() -> None:
    X, rows = np.zeros((80_000, 2)), np.array([0, 5, 79_999])
    X[0] = 1
    found = find_neighbors(X, lengths=20, rows=rows)
    for row, nearest in zip(rows, found.indices, strict=True):
        np.testing.assert_array_equal(nearest, [k for k in range(1, 22) if k != row][:20])


@settings(max_examples=100)
@given(problems())
def test_equals_the_reference(problem: Any) -> None:
    X, codes, lengths = problem
    found = find_neighbors(X, as_columns(codes), lengths=lengths)
    assert found.indices.shape == (len(X), min(lengths[0].sum(), len(X) - 1))
    check(found, X, codes)
    centred = X - X.mean(axis=0, dtype=np.float64)
    assert found.scale == pytest.approx(np.abs(centred).max() or 1.0)
    assert_same(found, find_neighbors(X, as_columns(codes), lengths=lengths, n_jobs=1))


@settings(max_examples=60)
@given(problems(ties=False), st.sampled_from([1e4, 1e6, -1e6, 1e-15, 1e15]))
def test_far_from_the_origin_and_at_any_scale(problem: Any, size: float) -> None:
    X, codes, lengths = problem
    if abs(size) == 1e6:  # float32 has hardly a digit left there
        X = X.astype(np.float64)
    X = X + X.dtype.type(size) if abs(size) in (1e4, 1e6) else X * X.dtype.type(size)
    check(find_neighbors(X, as_columns(codes), lengths=lengths), X, codes)


@settings(max_examples=50)
@given(column_codes(fewest_columns=1), st.integers(0, 2**32), st.integers(1, 30), st.booleans())
def test_lists_are_the_nearest_of_each_pattern(codes: Codes, seed: int, k: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(codes), 3))
    X = np.round(2 * X) if ties else X
    labels = as_columns(codes)
    D2, patterns = formulas.squared_distances(X), formulas.patterns_of(labels.codes)
    wanted = rng.integers(0, k + 1, size=len(patterns)) + 1
    lengths = formulas.filled_lengths(labels.codes, wanted, patterns)
    expected = formulas.neighbor_lists(D2, labels.codes, lengths, patterns).indices
    found = find_neighbors(X, labels, lengths=wanted, patterns=patterns)
    np.testing.assert_array_equal(found.lengths, lengths)
    np.testing.assert_array_equal(found.indices, expected)
    distances = np.take_along_axis(np.sqrt(D2), expected, axis=1)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-5)
    assert found.patterns == patterns
    rows = rng.permutation(len(X))[:5]
    some = find_neighbors(X, labels, lengths=wanted, patterns=patterns, rows=rows)
    np.testing.assert_array_equal(some.indices, expected[rows])
    np.testing.assert_array_equal(some.lengths, lengths[rows])


@settings(max_examples=30)
@given(problems(ties=False))
def test_cosine(problem: Any) -> None:
    X, codes, lengths = problem
    found = find_neighbors(X, as_columns(codes), lengths=lengths, metric="cosine")
    check(found, X, codes, "cosine")
    assert found.scale == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_data_much_wider_than_its_clusters(distance: float, dtype: Any) -> None:
    # Single precision alone would not tell neighbours within a cluster apart.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) + distance * rng.integers(-1, 2, size=(300, 1))
    X[0, 0] = 1e3 * distance
    X, codes = X.astype(dtype), rng.integers(-1, 3, size=300)
    check(find_neighbors(X, as_columns(codes), lengths=20), X, codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_points_identical(dtype: Any) -> None:
    X, codes = np.full((90, 3), 0.1, dtype), np.arange(90) % 2
    found = find_neighbors(X, as_columns(codes), lengths=12)
    check(found, X, codes)
    assert not found.distances.any() and found.scale == 1.0


def test_without_labels_there_is_one_list() -> None:
    X = np.random.default_rng(0).normal(size=(70, 3))
    found = find_neighbors(X, lengths=7)
    check(found, X, np.full(70, -1))
    assert found.patterns == (0,) and found.lengths.tolist() == [[7]] * 70
    unlabelled = find_neighbors(X, [None] * 70, lengths=(4, 3))
    np.testing.assert_array_equal(unlabelled.indices, found.indices)
    assert unlabelled.lengths.tolist() == [[7, 0]] * 70


@pytest.mark.parametrize(
    ("n", "d", "dtype"),
    [(3000, 20, np.float64), pytest.param(20_000, 50, np.float32, marks=pytest.mark.slow)],
)
def test_many_points_against_brute_force(n: int, d: int, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    codes = rng.choice(6, p=[0.5, 0.3, 0.1, 0.08, 0.015, 0.005], size=n) - 1
    X = (rng.normal(size=(n, d)) + codes[:, None]).astype(dtype)
    found = find_neighbors(X, as_columns(codes), lengths=(40, 30))
    for code in range(-1, 5):
        rows = np.flatnonzero(codes == code)[:300]
        other = (codes != code) & (codes >= 0) & (code >= 0)
        n_same = found.lengths[rows[0], 0]
        for members, begin, end in ((~other, 0, n_same), (other, n_same, 70)):
            if begin == end:
                continue
            candidates = X[members].astype(np.float64)
            own = 0 if members is other else 1  # a point is found among its own label, first
            brute = NearestNeighbors(n_neighbors=end - begin + own, algorithm="brute")
            distances, indices = brute.fit(candidates).kneighbors(X[rows].astype(np.float64))
            np.testing.assert_allclose(
                found.distances[rows, begin:end], distances[:, own:], rtol=1e-5
            )
            expected = np.flatnonzero(members)[indices[:, own:]]
            assert (np.sort(found.indices[rows, begin:end]) == np.sort(expected)).mean() > 0.999


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("rows", [None, np.arange(0, 9000, 2)], ids=["all", "some"])
def test_a_search_in_parts_finds_the_same(rows: Any, columns: int) -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(9000, 3)), as_columns(rng.integers(-1, 3, (9000, columns)))
    shares: list[float] = []
    wanted: dict[str, Any] = {"lengths": 4, "rows": rows}
    parts = find_neighbors(X, labels, after_part=shares.append, **wanted)
    assert_same(parts, find_neighbors(X, labels, **wanted))
    assert len(shares) >= 4 and shares == sorted(shares) and shares[-1] == pytest.approx(1)


# ---- among aligned points ------------------------------------------------------------------------


def in_lists(found: Neighbors) -> Any:
    """Which entries are in the first list."""
    return np.arange(found.indices.shape[1]) < found.lengths[:, :1]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("columns", "missing"), [(1, False), (1, True), (2, True)])
def test_only_lists_of_other_labels_are_searched_among_aligned_points(
    metric: str, columns: int, missing: bool
) -> None:
    rng = np.random.default_rng(5)
    labels = as_columns(rng.integers(-1 if missing else 0, 3, (300, columns)))
    X, moved = rng.normal(size=(300, 3)) + 3, rng.normal(size=(300, 2)) + 3
    given: dict[str, Any] = {"lengths": 8, "metric": metric}
    plain, among = find_neighbors(X, labels, **given), find_neighbors(moved, labels, **given)
    found = find_neighbors(X, labels, aligned=moved, **given)
    np.testing.assert_array_equal(found.lengths, plain.lengths)
    first = in_lists(found)
    for name in ("indices", "distances"):
        mixed = np.where(first, getattr(plain, name), getattr(among, name))
        np.testing.assert_array_equal(getattr(found, name), mixed)
    assert found.scale == plain.scale and found.recall == 1
    # What some points would have had is kept, to know what is natural.
    assert plain.unaligned is None and found.unaligned is not None
    rows = found.unaligned.rows
    np.testing.assert_array_equal(found.unaligned.neighbors.distances, plain.distances[rows])


# ---- approximate ---------------------------------------------------------------------------------


@pytest.fixture
def small_cells() -> Iterator[None]:
    """Search small problems in as many cells as large ones have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "EXACT_UP_TO", 300)
        patch.setattr(search, "_WHOLE_LABEL", 64)
        patch.setattr(points, "CELL_SIZE", 16)
        patch.setattr(points, "TRIALS", 100)
        patch.setattr(points, "CHECKS", 200)
        yield


def labels_of(codes: Any) -> Any:
    return None if codes is None else as_columns(codes)


def check_truth(found: Neighbors, X: Any, codes: Any) -> None:
    """Whatever was found is a neighbour of its list, at its true distance, in order, once."""
    n = len(X)
    rows = np.arange(n)[:, None]
    assert (found.indices != rows).all()
    assert (found.indices >= 0).all() and (found.indices < n).all()
    ordered = np.sort(found.indices, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all()
    true = np.linalg.norm(X[rows].astype(np.float64) - X[found.indices].astype(np.float64), axis=2)
    np.testing.assert_allclose(found.distances, true, rtol=1e-6)
    same = in_lists(found)
    inside = (np.diff(found.distances, axis=1) >= 0) | (same[:, 1:] != same[:, :-1])
    assert inside.all()
    if codes is None:
        assert same.all()
        return
    a, b = codes[rows], codes[found.indices]
    np.testing.assert_array_equal(same, (a == b) | (a < 0) | (b < 0))


def true_recall(found: Neighbors, X: Any, codes: Any, lengths: Any) -> float:
    exact = find_neighbors(X, labels_of(codes), lengths=lengths)
    np.testing.assert_array_equal(found.lengths, exact.lengths)
    hits = [np.isin(a, b).sum() for a, b in zip(found.indices, exact.indices, strict=True)]
    return float(np.sum(hits) / exact.indices.size)


def clusters(rng: np.random.Generator, n: int, d: int) -> Any:
    return (rng.normal(size=(20, d)) * 2)[rng.integers(20, size=n)] + rng.normal(size=(n, d))


@pytest.mark.usefixtures("small_cells")
@given(
    n=st.integers(400, 1500),
    d=st.integers(1, 12),
    missing=st.sampled_from([0.0, 0.02, 0.6]),
    n_labels=st.sampled_from([0, 1, 2, 5, 40, 10**6]),
    k_same=st.integers(0, 30),
    k_other=st.integers(0, 30),
    seed=st.integers(0, 2**32),
)
def test_what_is_found_in_cells_is_true(
    n: int, d: int, n_labels: int, missing: float, k_same: int, k_other: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = clusters(rng, n, d).astype(rng.choice([np.float32, np.float64]))
    codes = None
    lengths: Any = max(1, k_same + k_other)
    if n_labels:
        codes = np.where(rng.random(n) < missing, -1, rng.integers(n_labels, size=n))
        lengths = max(k_same, int(k_other == 0)), k_other
    found = find_neighbors(X, labels_of(codes), lengths=lengths, recall=0.95, n_jobs=2)
    assert found.recall < 1
    check_truth(found, X, codes)


def clustered(n_labels: int, missing: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_labels)
    X = clusters(rng, 6000, 10)
    return X, np.where(rng.random(6000) < missing, -1, rng.integers(n_labels, size=6000))


def apart(n_labels: int) -> tuple[Any, Any]:
    """Every point is surrounded by points of its own label: the others are far away."""
    rng = np.random.default_rng(3)
    codes = rng.integers(n_labels, size=6000)
    return rng.normal(size=(6000, 8)) + 100.0 * rng.normal(size=(n_labels, 8))[codes], codes


def small_label() -> tuple[Any, Any]:
    """Shared scans find too few others here, so these points are searched once more."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(6000, 6))
    X[-100:] = 50 + 0.01 * rng.normal(size=(100, 6))
    return X, np.concatenate([np.arange(5900) % 4, np.full(100, 4)])


def identical(places: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(places, 3))[np.arange(2000) % places]
    return X, np.arange(2000) // 7 % 2


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize(
    ("make", "arguments", "lengths", "least"),
    [
        *((clustered, (labels, 0.1), (15, 15), 0.93) for labels in (1, 8)),
        *((clustered, (labels,), (15, 15), 0.93) for labels in (2, 300)),
        # Other labels are far clouds to which no cell is near: recall is what the trial made it.
        *((apart, (labels,), (10, 10), 0.9) for labels in (2, 40)),
        (small_label, (), (20, 60), 0.9),
        *((identical, (places,), (10, 10), 0.0) for places in (1, 2, 30)),
    ],
)
def test_recall_is_reached_and_reported(
    make: Any, arguments: Any, lengths: Any, least: float
) -> None:
    X, codes = make(*arguments)
    found = find_neighbors(X, labels_of(codes), lengths=lengths, recall=0.95)
    check_truth(found, X, codes)
    assert found.recall < 1
    if least:  # among identical points, any are the nearest
        actual = true_recall(found, X, codes, lengths)
        assert actual >= least
        # Both are measured on samples of a hundred and two hundred points here.
        assert found.recall == pytest.approx(actual, abs=0.05)


@pytest.mark.usefixtures("small_cells")
def test_more_recall_finds_more() -> None:
    X, _ = clustered(1)
    few, many = (find_neighbors(X, lengths=15, recall=recall).recall for recall in (0.6, 0.98))
    assert few < 0.9 < many


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("missing", [False, True])
def test_threads_and_parts_do_not_matter_in_cells(missing: bool) -> None:
    rng = np.random.default_rng(5)
    X, codes = clusters(rng, 9000, 6), rng.integers(-1 if missing else 0, 3, size=9000)
    shares: list[float] = []
    one, three = (
        find_neighbors(X, labels_of(codes), lengths=(12, 9), recall=0.9, n_jobs=jobs, **extra)
        for jobs, extra in ((1, {}), (3, {"after_part": shares.append}))
    )
    assert_same(one, three)
    assert one.recall == three.recall
    assert len(shares) >= 4 and shares == sorted(shares) and shares[-1] == 1


@pytest.mark.usefixtures("small_cells")
def test_cosine_distances_in_cells() -> None:
    rng = np.random.default_rng(6)
    X = clusters(rng, 2000, 5) * rng.lognormal(size=(2000, 1))
    found = find_neighbors(X, lengths=10, metric="cosine", recall=0.95)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = (unit[:, None] * unit[found.indices]).sum(axis=2)
    np.testing.assert_allclose(found.distances, 1 - cosine, rtol=1e-4, atol=1e-9)
    assert found.recall < 1


@pytest.mark.parametrize("missing", [False, True])
def test_aligned_points_do_not_change_cells_of_the_same_label(
    missing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EXACT_UP_TO", 2000)
    rng = np.random.default_rng(0)
    X, moved = rng.normal(size=(4000, 4)), rng.normal(size=(4000, 3))
    codes = np.arange(4000) % 3
    codes[: 280 if missing else 0 : 7] = -1
    labels, lengths = as_columns(codes), (10, 8)
    found = find_neighbors(X, labels, lengths=lengths, aligned=moved, recall=0.9)
    plain = find_neighbors(X, labels, lengths=lengths, recall=0.9)
    assert 0.85 < found.recall < 1
    first = in_lists(found) & (codes >= 0)[:, None]
    np.testing.assert_array_equal(found.indices[first], plain.indices[first])
    exact = find_neighbors(X, labels, lengths=lengths, aligned=moved)
    for part in (in_lists(exact), ~in_lists(exact)):
        chosen = [np.where(part, near.indices, -1) for near in (found, exact)]
        hits = [np.isin(a, b[b >= 0]).sum() for a, b in zip(*chosen, strict=True)]
        assert np.sum(hits) / part.sum() > 0.85
    assert found.unaligned is not None
    truth = find_neighbors(X, labels, lengths=lengths, rows=found.unaligned.rows)
    np.testing.assert_array_equal(found.unaligned.neighbors.indices, truth.indices)


def test_small_data_are_searched_exactly() -> None:
    X = clusters(np.random.default_rng(7), 2000, 10)
    assert find_neighbors(X, lengths=15, recall=0.5).recall == 1


@pytest.mark.slow
def test_large_data_are_searched_in_cells_unless_asked_otherwise() -> None:
    X = clusters(np.random.default_rng(8), 31_000, 10).astype(np.float32)
    codes = np.random.default_rng(9).integers(3, size=31_000)
    found = find_neighbors(X, codes, lengths=15, recall=0.9)
    assert 0.88 <= found.recall < 1
    check_truth(found, X, codes)
    assert find_neighbors(X, codes, lengths=5, rows=np.arange(3), recall=0.9).recall == 1
    model = ConditionalTSNE(perplexity=10, n_iter=4, early_exaggeration_iter=2, random_state=0)
    assert 0.98 <= model.fit(X, labels=codes).diagnostics_.recall < 1
    assert model.set_params(recall=1).fit(X, labels=codes).diagnostics_.recall == 1
