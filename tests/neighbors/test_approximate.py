"""The search by cells: what it finds is true, and it finds what it says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import ConditionalTSNE, _native
from ctsne.labels import encode_column
from ctsne.neighbors import Neighbors, approximate, find_neighbors
from ctsne.neighbors.approximate import approximate_neighbors
from ctsne.neighbors.lists import available, check_lengths, fill_lists


@pytest.fixture(autouse=True)
def small_cells() -> Iterator[None]:
    """Small problems in as many cells as large ones have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "CELL_SIZE", 16)
        patch.setattr(approximate, "WHOLE_LABEL", 64)
        patch.setattr(approximate, "TRIALS", 100)
        patch.setattr(approximate, "CHECKS", 200)
        yield


def search(
    X: Any,
    codes: Any,
    k_same: int,
    k_other: int,
    *,
    recall: float = 0.95,
    n_jobs: int = 2,
    metric: str = "euclidean",
) -> Neighbors:
    labels = None
    if codes is not None:
        labels = encode_column([None if code < 0 else int(code) for code in codes])
    lengths = fill_lists(*check_lengths(k_same, k_other, len(X)), *available(labels, len(X)))
    return approximate_neighbors(X, labels, *lengths, metric=metric, n_jobs=n_jobs, recall=recall)


def check_truth(found: Neighbors, X: Any, codes: Any) -> None:
    """Whatever was found is a neighbour of its list, at its true distance, in order, once."""
    n, length = found.indices.shape
    rows = np.arange(n)[:, None]
    assert (found.indices != rows).all()
    assert (found.indices >= 0).all() and (found.indices < n).all()
    ordered = np.sort(found.indices, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all()
    true = np.linalg.norm(X[rows].astype(np.float64) - X[found.indices].astype(np.float64), axis=2)
    np.testing.assert_allclose(found.distances, true, rtol=1e-6)
    same = np.arange(length) < found.n_same[:, None]
    inside = (np.diff(found.distances, axis=1) >= 0) | (same[:, 1:] != same[:, :-1])
    assert inside.all()
    if codes is None:
        assert same.all()
        return
    a, b = codes[rows], codes[found.indices]
    np.testing.assert_array_equal(same, (a == b) | (a < 0) | (b < 0))


def true_recall(found: Neighbors, X: Any, codes: Any, k_same: int, k_other: int) -> float:
    labels = None if codes is None else [None if code < 0 else int(code) for code in codes]
    exact = find_neighbors(X, labels, lengths=(k_same, k_other))
    np.testing.assert_array_equal(found.n_same, exact.n_same)
    hits = [np.isin(a, b).sum() for a, b in zip(found.indices, exact.indices, strict=True)]
    return float(np.sum(hits) / exact.indices.size)


def clusters(rng: np.random.Generator, n: int, d: int) -> Any:
    return (rng.normal(size=(20, d)) * 2)[rng.integers(20, size=n)] + rng.normal(size=(n, d))


@given(
    n=st.integers(400, 1500),
    d=st.integers(1, 12),
    missing=st.sampled_from([0.0, 0.02, 0.6]),
    n_labels=st.sampled_from([0, 1, 2, 5, 40, 10**6]),
    lengths=st.integers(0, 30),
    k_other=st.integers(0, 30),
    seed=st.integers(0, 2**32),
)
def test_what_is_found_is_true(
    n: int, d: int, n_labels: int, missing: float, k_same: int, k_other: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = clusters(rng, n, d).astype(rng.choice([np.float32, np.float64]))
    codes = None
    if n_labels:
        codes = np.where(rng.random(n) < missing, -1, rng.integers(n_labels, size=n))
    if k_same + k_other == 0:
        k_same = 1
    found = search(X, codes, k_same, k_other)
    check_truth(found, X, codes)


@pytest.mark.parametrize("n_labels", [1, 2, 8, 300])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_recall_is_reached_and_told(n_labels: int, missing: float) -> None:
    rng = np.random.default_rng(n_labels)
    n = 6000
    X = clusters(rng, n, 10)
    codes = np.where(rng.random(n) < missing, -1, rng.integers(n_labels, size=n))
    found = search(X, codes, 15, 15, recall=0.95)
    actual = true_recall(found, X, codes, 15, 15)
    # Both are measured on samples of a hundred and two hundred points here.
    assert actual >= 0.93
    assert found.recall == pytest.approx(actual, abs=0.03)
    assert found.recall < 1


def test_more_recall_finds_more() -> None:
    X = clusters(np.random.default_rng(0), 6000, 10)
    few, many = (search(X, None, 15, 0, recall=recall).recall for recall in (0.6, 0.98))
    assert few < 0.9 < many


def test_labels_that_lie_apart() -> None:
    # Every point is surrounded by thousands of its own label: the others are far away.
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], 3000)
    X = rng.normal(size=(6000, 8)) + 100.0 * codes[:, None]
    found = search(X, codes, 10, 10)
    check_truth(found, X, codes)
    # Other labels are one far cloud to which no cell is near: recall is what the trial made it.
    assert true_recall(found, X, codes, 10, 10) > 0.9


def test_a_small_label_all_around_itself() -> None:
    # Shared scans find too few others here, so these points are searched once more by themselves.
    rng = np.random.default_rng(4)
    codes = np.concatenate([np.arange(5900) % 4, np.full(100, 4)])
    X = rng.normal(size=(6000, 6))
    X[-100:] = 50 + 0.01 * rng.normal(size=(100, 6))
    check_truth(search(X, codes, 20, 60), X, codes)


@pytest.mark.parametrize("places", [1, 2, 30])
def test_identical_points(places: int) -> None:
    X = np.random.default_rng(0).normal(size=(places, 3))[np.arange(2000) % places]
    codes = np.arange(2000) // 7 % 2
    check_truth(search(X, codes, 10, 10), X, codes)


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


def test_labels_that_are_clusters() -> None:
    # More labels than get a scan of their own, and every point among its own.
    rng = np.random.default_rng(10)
    codes = rng.integers(40, size=6000)
    X = 30 * rng.normal(size=(40, 5))[codes] + rng.normal(size=(6000, 5))
    found = search(X, codes, 10, 10)
    check_truth(found, X, codes)
    assert true_recall(found, X, codes, 10, 10) > 0.9


def test_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    X, codes = clusters(rng, 5000, 10), rng.integers(-1, 6, size=5000)
    one, three = (search(X, codes, 12, 9, n_jobs=n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.indices, three.indices)
    np.testing.assert_array_equal(one.distances, three.distances)
    assert one.recall == three.recall


def test_cosine_distances() -> None:
    rng = np.random.default_rng(6)
    X = clusters(rng, 2000, 5) * rng.lognormal(size=(2000, 1))
    found = search(X, None, 10, 0, metric="cosine")
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = (unit[:, None] * unit[found.indices]).sum(axis=2)
    np.testing.assert_allclose(found.distances, 1 - cosine, rtol=1e-4, atol=1e-9)


def test_small_data_are_searched_exactly() -> None:
    X = clusters(np.random.default_rng(7), 2000, 10)
    assert find_neighbors(X, lengths=15, recall=0.5).recall == 1


@pytest.mark.slow
def test_large_data_by_itself() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "CELL_SIZE", 128)
        X = clusters(np.random.default_rng(8), 31_000, 10).astype(np.float32)
        codes = np.random.default_rng(9).integers(3, size=31_000)
        found = find_neighbors(X, codes, lengths=(15, 15), recall=0.9)
    assert 0.88 <= found.recall < 1
    check_truth(found, X, codes)
    assert find_neighbors(X, codes, lengths=5, rows=np.arange(3), recall=0.9).recall == 1
    model = ConditionalTSNE(perplexity=10, n_iter=4, early_exaggeration_iter=2, random_state=0)
    assert 0.98 <= model.fit(X, labels=codes).diagnostics_.recall < 1
    assert model.set_params(recall=1).fit(X, labels=codes).diagnostics_.recall == 1


@pytest.mark.parametrize("recall", [0.4, 1.1, "high", None])
def test_refuses_other_recalls(recall: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="recall must be a number"):
        find_neighbors([[0.0], [1.0]], lengths=1, recall=recall)


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


@pytest.mark.parametrize("missing", [False, True])
def test_a_search_in_parts_finds_the_same(missing: bool) -> None:
    rng = np.random.default_rng(0)
    X, codes = clusters(rng, 9000, 6), rng.integers(-1 if missing else 0, 3, 9000)
    labels = encode_column(np.where(codes < 0, None, codes.astype(object)))
    lengths = fill_lists(*check_lengths(9, 9, 9000), *available(labels, 9000))
    arguments: Any = (X, labels, *lengths)
    shares: list[float] = []
    options: dict[str, Any] = {"metric": "euclidean", "n_jobs": 2, "recall": 0.9}
    parts = approximate_neighbors(*arguments, **options, after_part=shares.append)
    whole = approximate_neighbors(*arguments, **options)
    assert np.array_equal(parts.indices, whole.indices) and parts.recall == whole.recall
    assert len(shares) >= 4 and shares == sorted(shares) and shares[-1] == 1
