"""Trustworthiness against scikit-learn and the oracle."""

from typing import Any

import numpy as np
import pytest
import sklearn.manifold
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne import _reference as oracle
from ctsne.evaluate import map_neighbors, sample_points, trustworthiness


@given(st.data())
def test_agrees_with_the_oracle(data: Any) -> None:
    n = data.draw(st.integers(3, 25))
    coordinates = st.integers(-20, 20)
    embedding = data.draw(hnp.arrays(np.float64, (n, 2), elements=coordinates))
    X = data.draw(hnp.arrays(np.float64, (n, 3), elements=coordinates))
    k = data.draw(st.integers(1, (n - 1) // 2))
    expected = oracle.trustworthiness(embedding, X, k)
    assert trustworthiness(embedding, X, k=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_scikit_learn(dtype: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 5)).astype(dtype)
    embedding = X[:, :2]
    expected = sklearn.manifold.trustworthiness(X, embedding, n_neighbors=12)
    assert trustworthiness(embedding, X, k=12) == pytest.approx(expected, abs=1e-9)
    found = map_neighbors(embedding, k=20)
    assert trustworthiness(found, X, k=12, n_jobs=2) == pytest.approx(expected, abs=1e-9)


def test_sample() -> None:
    X = np.random.default_rng(0).normal(size=(300, 5))
    values = trustworthiness(X[:, :2], X, k=12, pointwise=True)
    some = trustworthiness(X[:, :2], X, k=12, sample=0.2, random_state=1)
    assert some == pytest.approx(values[sample_points(300, 0.2, 1)].mean())


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_scale_does_not_matter(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(100, 5))
    assert trustworthiness(X[:, :2], X * scale) == trustworthiness(X[:, :2], X)


def test_refused() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="less than half of the 20 points, got 10"):
        trustworthiness(X, X, k=10)
    with pytest.raises(ValueError, match="same points, got 19 and 20"):
        trustworthiness(X, X[1:], k=3)
