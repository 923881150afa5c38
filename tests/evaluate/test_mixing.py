"""Mixing: the Laplacian score as a share of its value for random labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctsne import evaluate
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate import (
    expected_laplacian,
    laplacian,
    map_neighbors,
    mixing,
    mixing_by_label,
)

RNG = np.random.default_rng(0)
MAP = RNG.normal(size=(600, 2))
LABELS = np.array(["a", "b", "c"])[RNG.choice(3, 600, p=[0.6, 0.3, 0.1])]


def plain_by_label(Y: Any, labels: Any, k: int) -> dict[Any, float]:
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


def test_is_the_laplacian_over_the_expected_one() -> None:
    for k in (5, NEIGHBORHOOD):
        expected = laplacian(MAP, LABELS, k=k) / expected_laplacian(LABELS)
        assert mixing(MAP, LABELS, k=k) == pytest.approx(expected, abs=1e-12)
    assert mixing(MAP, LABELS) == mixing(MAP, LABELS, k=30)


def test_random_labels_are_mixed_and_separate_ones_are_not() -> None:
    assert mixing(MAP, LABELS) == pytest.approx(1, abs=0.05)
    apart = MAP + 100.0 * np.unique(LABELS, return_inverse=True)[1][:, None]
    assert mixing(apart, LABELS) == 0
    assert mixing_by_label(apart, LABELS) == {"a": 0, "b": 0, "c": 0}


@pytest.mark.parametrize("k", [5, 30])
def test_by_label_as_counted(k: int) -> None:
    pulled = MAP + 1.5 * (LABELS == "b")[:, None]
    expected = plain_by_label(pulled, LABELS, k)
    found = mixing_by_label(pulled, LABELS, k=k)
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values())  # the least mixed first
    assert next(iter(found)) == min(expected, key=lambda label: expected[label])


def test_missing_labels_are_left_out() -> None:
    labels = LABELS.astype(object)
    labels[::7] = None
    expected = laplacian(MAP, labels, k=30) / expected_laplacian(labels)
    assert mixing(MAP, labels) == pytest.approx(expected)
    shares = laplacian(MAP, labels, k=30, pointwise=True)
    labelled = sum(label is not None for label in labels)
    for label, value in mixing_by_label(MAP, labels).items():
        random = (labelled - (labels == label).sum()) / (labelled - 1)
        assert value == pytest.approx(shares[labels == label].mean() / random)
    assert set(mixing_by_label(MAP, labels)) == {"a", "b", "c"}


@pytest.mark.parametrize("labels", [["a"] * 600, [None] * 600, ["a", *[None] * 599]])
def test_nothing_to_measure(labels: Any) -> None:
    assert np.isnan(mixing(MAP, labels))
    assert mixing_by_label(MAP, labels) == {}


def test_few_points_have_small_neighbourhoods() -> None:
    assert mixing(MAP[:10], LABELS[:10], k=30) == mixing(MAP[:10], LABELS[:10], k=8)
    assert np.isfinite(list(mixing_by_label(MAP[:10], LABELS[:10]).values())).all()


def test_neighbours_given_are_taken() -> None:
    found = map_neighbors(MAP, k=12, sample=200)
    expected = laplacian(found, LABELS, k=12) / expected_laplacian(LABELS)
    assert mixing(found, LABELS) == pytest.approx(expected)
    assert set(mixing_by_label(found, LABELS)) <= {"a", "b", "c"}


def test_many_points_are_measured_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    module = sys.modules["ctsne.evaluate.mixing"]
    assert MEASURED_POINTS == 5000
    whole = mixing(MAP, LABELS)
    monkeypatch.setattr(module, "MEASURED_POINTS", 200)
    sampled = mixing(MAP, LABELS)
    expected = laplacian(MAP, LABELS, k=30, sample=200, random_state=0)
    assert sampled == pytest.approx(expected / expected_laplacian(LABELS))
    assert sampled == mixing(MAP, LABELS) != whole
    rare = LABELS.astype(object)
    rare[:2] = "rare"  # a label that may have no measured point
    assert {"a", "b", "c"} <= set(mixing_by_label(MAP, rare)) <= {"a", "b", "c", "rare"}


def test_same_for_any_number_of_threads() -> None:
    assert mixing(MAP, LABELS, n_jobs=1) == mixing(MAP, LABELS, n_jobs=2)
    assert mixing_by_label(MAP, LABELS, n_jobs=1) == mixing_by_label(MAP, LABELS, n_jobs=2)


def test_a_point_as_label_for_itself() -> None:
    assert mixing(MAP, np.arange(600)) == 1
    assert set(mixing_by_label(MAP, np.arange(600)).values()) == {1.0}


@pytest.mark.parametrize("measure", [mixing, mixing_by_label])
def test_refuses(measure: Any) -> None:
    for arguments, message in (
        ((MAP, LABELS[:-1]), "599"),
        ((MAP, None), "label column"),
        ((MAP[:, 0], LABELS), "2D array"),
        ((np.where(MAP > 2, np.nan, MAP), LABELS), "NaN"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            measure(*arguments)
    with pytest.raises((TypeError, ValueError), match="k must be"):
        measure(MAP, LABELS, k=0)


def test_is_offered() -> None:
    assert {"mixing", "mixing_by_label"} <= set(evaluate.__all__)
