"""Measures of the labels nearby: Laplacian score, mixing, accuracy."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.neighbors import KNeighborsClassifier

from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate import laplacian, map_neighbors, mixing, mixing_by_label
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy

from .. import reference as formulas
from .cases import Case, cases

LINE = [[0.0], [1.0], [3.0], [7.0]]
RNG = np.random.default_rng(0)
MAP = RNG.normal(size=(600, 2))
LABELS = np.array(["a", "b", "c"])[RNG.choice(3, 600, p=[0.6, 0.3, 0.1])]


# Laplacian score


@settings(deadline=None)
@given(cases())
def test_laplacian_agrees_with_the_reference(case: Case) -> None:
    expected = formulas.laplacian_values(case.embedding, case.codes, case.k)
    found = laplacian(case.embedding, case.labels, k=case.k, pointwise=True)
    np.testing.assert_allclose(found, expected)
    found = map_neighbors(case.embedding, k=case.k, sample=0.4, random_state=1)
    some = laplacian(found, case.labels, k=case.k, pointwise=True)
    np.testing.assert_allclose(some, expected[found.points])
    mean = formulas.laplacian(case.embedding, case.codes, case.k)
    score = laplacian(case.embedding, case.labels, k=case.k)
    assert score == pytest.approx(mean, abs=1e-12, nan_ok=True)
    random = formulas.expected_laplacian(case.codes)
    assert expected_laplacian(case.labels) == pytest.approx(random, abs=1e-12, nan_ok=True)


def test_laplacian_by_hand() -> None:
    # Nearest: 0-1, 1-0, 2-1, 3-2.
    assert laplacian(LINE, ["a", "a", "b", "b"], k=1) == 0.25
    assert laplacian(LINE, ["a", "b", "a", "b"], k=1) == 1.0
    # Points 0 and 2 have only the unlabelled point 1 as a neighbour, so only point 3 counts.
    assert laplacian(LINE, ["a", None, "b", "b"], k=1) == 0.0
    assert expected_laplacian(["a", "a", "b", "b", None]) == pytest.approx(8 / 12)
    assert laplacian(LINE, ["a"] * 4, k=2) == 0.0 and expected_laplacian(["a"] * 4) == 0.0
    # Nothing to compare.
    assert math.isnan(laplacian(LINE, ["a", None, None, "a"], k=1))
    assert math.isnan(laplacian(LINE, [None] * 4, k=1))
    assert math.isnan(expected_laplacian([None, "a"]))


def test_random_labels_give_the_expected_scores() -> None:
    embedding, labels = RNG.normal(size=(3000, 2)), RNG.choice(3, 3000, p=[0.6, 0.3, 0.1])
    assert laplacian(embedding, labels) == pytest.approx(expected_laplacian(labels), abs=0.01)
    assert mixing(embedding, labels) == pytest.approx(1, abs=0.05)


# Mixing: the score as a share of its value for random labels


def counted_by_label(Y: Any, labels: Any, k: int) -> dict[Any, float]:
    """Mean share of other labels among neighbours, over that of all other points."""
    found = {}
    D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    for label in np.unique(labels):
        own = labels == label
        share = (labels[near[own]] != label).mean()
        found[label] = share / ((~own).sum() / (len(labels) - 1))
    return found


@pytest.mark.parametrize("k", [5, NEIGHBORHOOD])
def test_mixing_is_the_laplacian_over_the_expected_one(k: int) -> None:
    expected = laplacian(MAP, LABELS, k=k) / expected_laplacian(LABELS)
    assert mixing(MAP, LABELS, k=k) == pytest.approx(expected, abs=1e-12)
    pulled = MAP + 1.5 * (LABELS == "b")[:, None]
    by_label = counted_by_label(pulled, LABELS, k)
    found = mixing_by_label(pulled, LABELS, k=k)
    assert found == pytest.approx(by_label)
    assert list(found.values()) == sorted(found.values())  # the least mixed first
    assert mixing(MAP, LABELS) == mixing(MAP, LABELS, k=30)


def test_missing_labels_are_left_out() -> None:
    labels = LABELS.astype(object)
    labels[::7] = None
    expected = laplacian(MAP, labels, k=30) / expected_laplacian(labels)
    assert mixing(MAP, labels) == pytest.approx(expected)
    shares = laplacian(MAP, labels, k=30, pointwise=True)
    labelled = sum(label is not None for label in labels)
    by_label = mixing_by_label(MAP, labels)
    assert set(by_label) == {"a", "b", "c"}
    for label, value in by_label.items():
        random = (labelled - (labels == label).sum()) / (labelled - 1)
        assert value == pytest.approx(shares[labels == label].mean() / random)


def test_mixing_of_known_cases() -> None:
    apart = MAP + 100.0 * np.unique(LABELS, return_inverse=True)[1][:, None]
    assert mixing(apart, LABELS) == 0
    assert mixing_by_label(apart, LABELS) == {"a": 0, "b": 0, "c": 0}
    assert mixing(MAP, np.arange(600)) == 1  # every point has a label of its own
    assert set(mixing_by_label(MAP, np.arange(600)).values()) == {1.0}
    few = MAP[:10], LABELS[:10]  # have small neighbourhoods
    assert mixing(*few, k=30) == mixing(*few, k=8)
    assert np.isfinite(list(mixing_by_label(*few).values())).all()
    found = map_neighbors(MAP, k=12, sample=200)  # is taken as given
    expected = laplacian(found, LABELS, k=12) / expected_laplacian(LABELS)
    assert mixing(found, LABELS) == pytest.approx(expected)
    assert set(mixing_by_label(found, LABELS)) <= {"a", "b", "c"}
    for measure in (mixing, mixing_by_label):
        assert measure(MAP, LABELS, n_jobs=1) == measure(MAP, LABELS, n_jobs=2)


@pytest.mark.parametrize("labels", [["a"] * 600, [None] * 600, ["a", *[None] * 599]])
def test_nothing_to_mix(labels: Any) -> None:
    assert np.isnan(mixing(MAP, labels))
    assert mixing_by_label(MAP, labels) == {}


def test_many_points_are_measured_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MEASURED_POINTS == 5000
    whole = mixing(MAP, LABELS)
    monkeypatch.setattr(sys.modules["ctsne.evaluate.mixing"], "MEASURED_POINTS", 200)
    sampled = mixing(MAP, LABELS)
    expected = laplacian(map_neighbors(MAP, k=30, sample=200), LABELS, k=30)
    assert sampled == pytest.approx(expected / expected_laplacian(LABELS))
    assert sampled == mixing(MAP, LABELS) != whole
    rare = LABELS.astype(object)
    rare[:2] = "rare"  # a label that may have no measured point
    assert {"a", "b", "c"} <= set(mixing_by_label(MAP, rare)) <= {"a", "b", "c", "rare"}


def test_what_is_refused() -> None:
    for measure in (laplacian, mixing, mixing_by_label):
        for labels in (None, LABELS[:-1]):
            with pytest.raises((TypeError, ValueError), match="label"):
                measure(MAP, labels)
    for argument, embedding, k in (("2D", MAP[:, 0], 5), ("NaN", MAP * np.nan, 5), ("k", MAP, 0)):
        for measure in (laplacian, mixing, mixing_by_label):
            with pytest.raises(ValueError, match=argument):
                measure(embedding, LABELS, k=k)


# Nearest-neighbour accuracy


@given(cases(largest=30))
def test_accuracy_agrees_with_the_reference(case: Case) -> None:
    expected = formulas.knn_hits(case.embedding, case.codes, case.k)
    for sample in (None, 2):
        found = map_neighbors(case.embedding, k=case.k, sample=sample)
        hits = expected[found.points]
        hits = hits[~np.isnan(hits)]
        accuracy = knn_accuracy(found, case.labels, k=case.k)
        assert accuracy == hits.mean() if len(hits) else math.isnan(accuracy)


def test_accuracy_agrees_with_scikit_learn() -> None:
    labels = RNG.integers(0, 2, 100)
    embedding = RNG.normal(size=(100, 2)) + labels[:, None]
    hits = []
    for i in range(100):
        rest = np.arange(100) != i
        model = KNeighborsClassifier(15).fit(embedding[rest], labels[rest])
        hits.append(model.predict(embedding[[i]])[0] == labels[i])
    assert knn_accuracy(embedding, labels, k=15) == np.mean(hits)


def test_accuracy_by_hand() -> None:
    # Two neighbours of different labels: the nearer one decides, whatever the labels are called.
    assert knn_accuracy(LINE, list("aabb"), k=2) == 3 / 4
    assert knn_accuracy(LINE, list("bbaa"), k=2) == 3 / 4
    assert knn_accuracy(LINE, ["a", None, "a", "b"], k=2) == 2 / 3
    assert math.isnan(knn_accuracy(LINE, [None] * 4, k=2))
