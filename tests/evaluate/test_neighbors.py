"""Neighbours in map and data: samples, metrics, and neighbourhoods of every size."""

import numpy as np
import pytest
from hypothesis import given

from ctsne._core.vocabulary import MEASURED_POINTS
from ctsne.evaluate import data_neighbors, map_neighbors
from ctsne.evaluate.neighbors import rank_data
from ctsne.evaluate.sampling import sample_points

from .. import reference as formulas
from .cases import Case, cases


@given(cases(largest=20))
def test_every_prefix_is_an_adjusted_neighbourhood(case: Case) -> None:
    embedding, X, codes, labels, _ = case
    n = len(codes)
    found = map_neighbors(embedding, k=n - 2)
    adjusted = data_neighbors(X, labels, k=n - 2).adjusted(found.indices)
    for k in range(1, n - 1):
        expected = [high for _, high in formulas.adjusted_sets(embedding, X, codes, k)]
        assert [set(row.tolist()) for row in adjusted[:, :k]] == expected


def test_samples_are_seeded_and_without_repetition() -> None:
    drawn = sample_points(1000, 0.3, 7)
    assert len(drawn) == 300 and (np.diff(drawn) > 0).all()
    assert np.array_equal(drawn, sample_points(1000, 300, 7))
    assert not np.array_equal(drawn, sample_points(1000, 300, 8))
    assert sample_points(10, 1e-9).shape == (1,)
    assert sample_points(10, 1.0).tolist() == list(range(10))
    assert sample_points(10, 1).shape == (1,)
    assert sample_points(10, 5000).tolist() == list(range(10))  # at most


def test_large_data_are_measured_at_a_sample_by_default() -> None:
    X = np.random.default_rng(0).normal(size=(MEASURED_POINTS + 100, 2))
    data = data_neighbors(X, k=2)
    assert np.array_equal(data.points, sample_points(len(X), MEASURED_POINTS, 0))
    assert len(data_neighbors(X[:300], k=2).points) == 300
    assert len(data_neighbors(X, k=2, sample=None).points) == len(X)


def test_metrics_find_their_own_neighbours() -> None:
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(40, 3)) + 2, np.arange(40) % 2
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    distances = np.abs(X[:, None] - X[None]).sum(axis=2)
    cases = {
        "euclidean": (X, np.linalg.norm(X[:, None] - X[None], axis=2)),
        "cosine": (X, 1 - unit @ unit.T),
        "precomputed": (distances, distances),
    }
    for metric, (matrix, expected) in cases.items():
        data = data_neighbors(matrix, labels, k=4, metric=metric)
        for i in range(40):
            order = [j for j in np.argsort(expected[i], kind="stable") if j != i]
            same = [j for j in order if labels[j] == labels[i]][:4]
            other = [j for j in order if labels[j] != labels[i]][:4]
            assert data.indices[i].tolist() == [*same, *other]
        # Rankings of all points, which the area under a curve needs, agree.
        ranked = rank_data(data)(np.arange(40))
        np.testing.assert_array_equal(ranked.indices[:, :4], data.indices[:, :4])


def test_refused() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    for options, message in (
        ({"metric": "manhattan"}, "metric must be one of"),
        ({"pca": 4}, "pca"),
        ({"pca": 2, "metric": "precomputed"}, "needs features"),
        ({"align": "men"}, "align must be one of"),
        ({"align": X[:10]}, r"a row for each of the 20 points.*\(10, 3\)"),
        ({"align": "mean", "metric": "precomputed"}, "align needs features"),
        ({"metric": "precomputed"}, "must be square"),
        ({"k": 19}, "k must be at most 18"),
    ):
        with pytest.raises(ValueError, match=message):
            data_neighbors(X, np.arange(20) % 2, **{"k": 3, **options})
