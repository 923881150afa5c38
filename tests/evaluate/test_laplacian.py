"""The Laplacian score against hand-worked cases and the reference."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne.evaluate import (
    expected_laplacian,
    laplacian,
    sample_points,
)

from .. import reference as formulas

LINE = [[0.0], [1.0], [3.0], [7.0]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    """Whole coordinates, so that equal distances are equal in any precision."""
    n = draw(st.integers(3, 25))
    shape = (n, draw(st.integers(1, 3)))
    embedding = draw(hnp.arrays(np.float64, shape, elements=st.integers(-20, 20)))
    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    return embedding, codes, draw(st.integers(1, n - 2))


@settings(deadline=None)
@given(cases())
def test_agrees_with_the_reference(case: tuple[Any, ...]) -> None:
    embedding, codes, k = case
    labels = [None if code < 0 else int(code) for code in codes]
    expected = formulas.laplacian(embedding, codes, k)
    assert laplacian(embedding, labels, k=k) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    expected = formulas.expected_laplacian(codes)
    assert expected_laplacian(labels) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(cases())
def test_points_agree_with_the_reference(case: tuple[Any, ...]) -> None:
    embedding, codes, k = case
    labels = [None if code < 0 else int(code) for code in codes]
    expected = formulas.laplacian_values(embedding, codes, k)
    np.testing.assert_allclose(laplacian(embedding, labels, k=k, pointwise=True), expected)
    values = laplacian(embedding, labels, k=k, pointwise=True, sample=0.4, random_state=1)
    np.testing.assert_allclose(values, expected[sample_points(len(codes), 0.4, 1)])


def test_by_hand() -> None:
    # Nearest: 0-1, 1-0, 2-1, 3-2.
    assert laplacian(LINE, ["a", "a", "b", "b"], k=1) == 0.25
    assert laplacian(LINE, ["a", "b", "a", "b"], k=1) == 1.0
    # Points 0 and 2 have only the unlabelled point 1 as a neighbour, so only point 3 counts.
    assert laplacian(LINE, ["a", None, "b", "b"], k=1) == 0.0
    assert expected_laplacian(["a", "a", "b", "b", None]) == pytest.approx(8 / 12)


def test_nothing_to_compare() -> None:
    assert math.isnan(laplacian(LINE, ["a", None, None, "a"], k=1))
    assert math.isnan(laplacian(LINE, [None] * 4, k=1))
    assert math.isnan(expected_laplacian([None, "a"]))


def test_one_label_is_never_mixed() -> None:
    assert laplacian(LINE, ["a"] * 4, k=2) == 0.0
    assert expected_laplacian(["a"] * 4) == 0.0


def test_random_labels_give_the_expected_score() -> None:
    rng = np.random.default_rng(0)
    embedding, labels = rng.normal(size=(2000, 2)), rng.choice(3, 2000, p=[0.6, 0.3, 0.1])
    score = laplacian(embedding, labels, k=30)
    assert score == pytest.approx(expected_laplacian(labels), abs=0.01)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"embedding": [0.0, 1.0, 2.0, 3.0]}, "2D array"),
        ({"embedding": [[0.0], [1.0], [2.0], [np.inf]]}, "embedding .*row 3"),
        ({"labels": ["a"]}, "labels .*4 points.*1"),
        ({"labels": None}, "labels .*None"),
        ({"k": 3}, "k must be at most 2 for 4 points, got 3"),
    ],
)
def test_refused(changes: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"embedding": LINE, "labels": list("abab"), "k": 1, **changes}
    with pytest.raises((ValueError, TypeError), match=says):
        laplacian(**arguments)
