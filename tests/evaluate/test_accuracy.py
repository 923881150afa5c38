"""Nearest-neighbour accuracy against the reference and scikit-learn."""

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import KNeighborsClassifier

from ctsne.evaluate import knn_accuracy, sample_points

from .. import reference as formulas


@given(st.data())
def test_agrees_with_the_reference(data: Any) -> None:
    n = data.draw(st.integers(3, 30))
    embedding = data.draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-20, 20)))
    codes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    k = data.draw(st.integers(1, n - 2))
    labels = [None if code < 0 else int(code) for code in codes]
    expected = formulas.knn_hits(embedding, codes, k)
    values = knn_accuracy(embedding, labels, k=k, pointwise=True)
    np.testing.assert_array_equal(values, expected)
    some = knn_accuracy(embedding, labels, k=k, pointwise=True, sample=2)
    np.testing.assert_array_equal(some, expected[sample_points(n, 2)])


def test_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    embedding = rng.normal(size=(200, 2)) + labels[:, None]
    hits = []
    for i in range(200):
        rest = np.arange(200) != i
        model = KNeighborsClassifier(15).fit(embedding[rest], labels[rest])
        hits.append(model.predict(embedding[[i]])[0] == labels[i])
    assert knn_accuracy(embedding, labels, k=15) == np.mean(hits)


def test_by_hand() -> None:
    line = [[0.0], [1.0], [3.0], [7.0]]
    # Two neighbours of different labels: the nearer one decides, whatever the labels are called.
    assert knn_accuracy(line, list("aabb"), k=2, pointwise=True).tolist() == [1, 1, 0, 1]
    assert knn_accuracy(line, list("bbaa"), k=2, pointwise=True).tolist() == [1, 1, 0, 1]
    values = knn_accuracy(line, ["a", None, "a", "b"], k=2, pointwise=True)
    np.testing.assert_array_equal(values, [1, np.nan, 1, 0])
    assert math.isnan(knn_accuracy(line, [None] * 4, k=2))
