"""LISI against the reference, harmonypy and cases whose answer is known."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne.evaluate import expected_lisi, lisi, map_neighbors, sample_points

from .. import reference as formulas


@given(st.data())
def test_agrees_with_the_reference(data: Any) -> None:
    n = data.draw(st.integers(5, 30))
    embedding = data.draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-20, 20)))
    codes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    perplexity = data.draw(st.floats(1, (n - 2) / 3))
    labels = [None if code < 0 else int(code) for code in codes]
    expected = formulas.lisi_values(embedding, codes, perplexity)
    values = lisi(embedding, labels, perplexity=perplexity, pointwise=True)
    np.testing.assert_allclose(values, expected, rtol=1e-4)
    there = expected[~np.isnan(expected)]
    mean = there.mean() if len(there) else np.nan
    value = lisi(embedding, labels, perplexity=perplexity)
    assert value == pytest.approx(mean, rel=1e-4, nan_ok=True)


def test_agrees_with_harmony() -> None:
    harmonypy = pytest.importorskip("harmonypy")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 600)
    embedding = rng.normal(size=(600, 2)) + 0.7 * labels[:, None]
    expected = harmonypy.compute_lisi(embedding, {"batch": labels}, ["batch"], 30)[:, 0]
    np.testing.assert_allclose(lisi(embedding, labels, pointwise=True), expected, atol=1e-4)
    points = sample_points(600, 100)
    values = lisi(embedding, labels, pointwise=True, sample=100)
    np.testing.assert_allclose(values, expected[points], atol=1e-4)
    assert lisi(map_neighbors(embedding), labels) == pytest.approx(expected.mean(), abs=1e-5)


def test_one_label_and_even_mixing() -> None:
    # All points in one place: three neighbours of equal weight, two of one label.
    assert lisi(np.zeros((8, 2)), ["a"] * 8, perplexity=1) == 1
    values = lisi(np.zeros((8, 2)), list("aaabbbbb"), perplexity=1, pointwise=True)
    assert values.tolist() == pytest.approx([1.8] * 3 + [1.0] * 5)
    assert expected_lisi([*"abab", None]) == 2
    assert math.isnan(expected_lisi([None]))
    assert math.isnan(lisi(np.zeros((8, 2)), [None] * 8, perplexity=1))


def test_random_labels_come_near_the_expected_index() -> None:
    rng = np.random.default_rng(0)
    embedding, labels = rng.normal(size=(3000, 2)), rng.choice(3, 3000, p=[0.6, 0.3, 0.1])
    assert lisi(embedding, labels) == pytest.approx(expected_lisi(labels), rel=0.05)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"perplexity": 0.5}, "perplexity must be a number from 1 to 6"),
        ({"perplexity": 7}, "perplexity must be .* from 1 to 6.*20 points"),
        ({"labels": None}, "labels .*None"),
        ({"embedding": [[0.0]] * 4, "labels": list("abab")}, "at least 5 points, got 4"),
    ],
)
def test_refused(changes: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"embedding": np.eye(20), "labels": ["a"] * 20, "perplexity": 2}
    with pytest.raises((ValueError, TypeError), match=says):
        lisi(**{**arguments, **changes})
