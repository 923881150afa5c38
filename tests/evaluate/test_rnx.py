"""R_NX, the area under it and the Jaccard index against plain formulas and hand-worked cases."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne.evaluate import adjusted_rnx, data_neighbors, map_neighbors
from ctsne.evaluate.neighbors import both_neighbors, unsearched
from ctsne.evaluate.rnx import adjusted_jaccard, at_all_sizes, rnx_area

from .. import reference as formulas
from .cases import Case, cases

LINE = [[0.0], [1.0], [10.0], [11.0]]


@settings(max_examples=60)
@given(cases())
def test_agrees_with_the_reference(case: Case) -> None:
    embedding, X, codes, labels, k = case
    for given_codes, given_labels in ((codes, labels), (None, None)):
        for measure, formula in (
            (adjusted_rnx, formulas.adjusted_rnx),
            (adjusted_jaccard, formulas.adjusted_jaccard),
        ):
            expected = formula(embedding, X, given_codes, k)
            found = measure(embedding, X, given_labels, k=k)
            assert found == pytest.approx(expected, abs=1e-12)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    embedding, X = rng.normal(size=(50, 2)), rng.normal(size=(50, 5))
    labels = rng.integers(0, 3, 50)
    whole = adjusted_rnx(embedding, X, labels, k=7)
    monkeypatch.setattr("ctsne.evaluate.sampling._CHUNK_ENTRIES", 40)
    assert adjusted_rnx(embedding, X, labels, k=7) == whole


@settings(max_examples=60)
@given(cases())
def test_points_agree_with_the_reference(case: Case) -> None:
    embedding, X, codes, labels, k = case
    expected = formulas.adjusted_rnx_values(embedding, X, codes, k)
    values = adjusted_rnx(embedding, X, labels, k=k, pointwise=True)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    # A sample measures some of the points, among all of them.
    found = map_neighbors(embedding, k=k, sample=0.5, random_state=3)
    values = adjusted_rnx(found, X, labels, k=k, pointwise=True, n_jobs=1)
    np.testing.assert_allclose(values, expected[found.points], atol=1e-12)


def area_of(embedding: Any, X: Any, labels: Any, n_jobs: int = 1) -> float:
    n = len(embedding)
    return rnx_area(embedding, unsearched(X, labels, np.arange(n), n, n - 2, n_jobs), n_jobs)


@settings(max_examples=60)
@given(cases(), st.sampled_from([0.0, 2.0]))
def test_every_size_and_the_area_agree_with_the_reference(case: Case, dense_share: float) -> None:
    """At every size, whether the neighbours are searched or ranked."""
    embedding, X, codes, labels, _ = case
    n = len(codes)
    values = [formulas.adjusted_rnx_values(embedding, X, codes, k) for k in range(1, n - 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctsne.evaluate.rnx._DENSE_SHARE", dense_share)
        low, high = both_neighbors(embedding, X, labels, n - 2, 1)
        found = at_all_sizes(low.indices, high)
        area = area_of(embedding, X, labels)
    np.testing.assert_allclose(found.T, values, atol=1e-12)
    if np.isnan(values).all():
        assert np.isnan(area)
    else:
        assert area == pytest.approx(formulas.rnx_area(embedding, X, codes, n - 2), abs=1e-12)


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    embedding, X, labels = rng.normal(size=(900, 2)), rng.normal(size=(900, 4)), np.arange(900) % 3
    assert area_of(embedding, X, labels, 1) == area_of(embedding, X, labels, 2)


@pytest.mark.slow
def test_the_area_needs_no_square_of_memory() -> None:
    X = np.random.default_rng(2).normal(size=(4000, 3))
    tracemalloc.start()
    try:
        area_of(X[:, :2], X, np.arange(4000) % 2, n_jobs=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 4000**2  # half of one table of distances, and there are two


def test_lists_serve_many_measures_and_maps() -> None:
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(80, 5)), np.arange(80) % 2
    data = data_neighbors(X, labels, k=20, sample=0.5)
    usual = data.without_labels()
    for embedding in (X[:, :2], rng.normal(size=(80, 2))):
        found = map_neighbors(embedding, k=30, sample=0.5)
        for k in (1, 7, 20):
            expected = adjusted_rnx(found, X, labels, k=k)
            assert adjusted_rnx(found, data, k=k) == expected
            assert adjusted_rnx(embedding, data, k=k) == expected
            assert adjusted_rnx(found, usual, k=k) == adjusted_rnx(found, X, k=k)
        whole = map_neighbors(embedding, k=20)  # of all points, measured where the data are
        assert adjusted_rnx(whole, data, k=7) == adjusted_rnx(found, data, k=7)


def test_by_hand() -> None:
    # The map pairs 0 with 2 and 1 with 3, each the only other one of its label: it has no choice.
    embedding = [[0.0], [5.0], [1.0], [6.0]]
    assert np.isnan(adjusted_rnx(embedding, LINE, ["a", "b", "a", "b"], k=1))
    assert adjusted_rnx(embedding, LINE, k=1) == -0.5
    # Without a label, 0 and 2 compare with all points, and 1 and 3 with all that are not "a".
    assert adjusted_rnx(embedding, LINE, [None, "b", None, "b"], k=1) == -0.5


def test_jaccard_by_hand() -> None:
    # The map exchanges 1 and 2. Of the ends it keeps both neighbours, of 1 and 2 only each other;
    # among equally distant ones the first counts.
    assert adjusted_jaccard([[0], [2], [1], [3]], [[0], [1], [2], [3]], k=2) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"X": [[0.0], [1.0]], "embedding": [[0.0], [1.0]]}, "at least 3 points"),
        ({"k": 3}, "k must be at most 2"),
    ],
)
def test_refused(changes: dict[str, Any], names: str) -> None:
    arguments: dict[str, Any] = {"embedding": LINE, "X": LINE, "k": 1, **changes}
    with pytest.raises((ValueError, TypeError), match=names):
        adjusted_rnx(**arguments)


@pytest.mark.parametrize("sample", [0, 0.0, True, "half"])
def test_refused_samples(sample: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="sample must be"):
        map_neighbors(LINE, k=1, sample=sample)
    with pytest.raises(ValueError, match="random_state must be"):
        map_neighbors(LINE, k=1, sample=3, random_state="a")


def test_refused_lists() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.arange(40) % 2
    found, data = map_neighbors(X, k=5), data_neighbors(X, labels, k=4)
    some = map_neighbors(X, k=5, sample=3)
    for embedding, table, options, says in (
        (found, X, {"k": 6}, "k must be at most 5, the neighbours in embedding"),
        (found, data, {"k": 5}, "k must be at most 4, the neighbours in X"),
        (found, data, {"k": 2, "labels": labels}, "labels"),
        (some, data, {"k": 2}, "same sample"),
        (X[1:], data, {"k": 2}, "same points"),
    ):
        with pytest.raises((TypeError, ValueError), match=says):
            adjusted_rnx(embedding, table, **options)


def test_neighbours_that_every_map_would_keep_do_not_count() -> None:
    # Labels of 31 points that lie apart: each neighbourhood of 30 is one label, whatever the map.
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 31)
    X = rng.normal(size=(124, 5)) + 50.0 * labels[:, None]
    shuffled = np.concatenate([rng.permutation(X[labels == each]) for each in range(4)])
    assert np.isnan(adjusted_rnx(shuffled, X, labels, k=30))
    assert np.isnan(adjusted_rnx(shuffled, X, labels, k=30, pointwise=True)).all()
    # Labels of 21: twenty neighbours are forced, and the ten others are kept only by chance.
    labels = np.repeat(np.arange(5), 21)
    X = rng.normal(size=(105, 5)) + 50.0 * labels[:, None]
    shuffled = np.concatenate([rng.permutation(X[labels == each]) for each in range(5)])
    inside = adjusted_rnx(shuffled, X, labels, k=20)
    assert np.isnan(inside)
    assert abs(adjusted_rnx(rng.normal(size=(105, 2)), X, labels, k=30)) < 0.1
    # Where there is a choice, nothing changes.
    free = adjusted_rnx(shuffled, X, labels, k=10)
    assert abs(free - formulas.adjusted_rnx(shuffled, X, labels, 10)) < 1e-12
