"""Weights of pairs in the map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.affinity import tsne_affinities
from ctsne.labels import encode_column
from ctsne.layout import pair_weights
from ctsne.neighbors import find_neighbors

from .. import reference as formulas


@given(n=st.integers(2, 60), n_labels=st.integers(1, 8), seed=st.integers(0, 2**31))
def test_order_bounds_and_weights(n: int, n_labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, n_labels, n)
    labels = encode_column([None if c < 0 else int(c) for c in codes])
    beta = 10 ** rng.uniform(-5, 0, labels.n_labels)
    weights = pair_weights(labels, beta)
    sizes = np.diff(weights.bounds)
    assert (np.diff(sizes) <= 0).all() and (np.sort(labels.counts) == np.sort(sizes)).all()
    ordered = weights.codes[weights.order]
    for label in range(labels.n_labels):
        assert (ordered[weights.bounds[label] : weights.bounds[label + 1]] == label).all()
        assert len(set(labels.codes[weights.codes == label])) == 1
    assert (ordered[weights.n_labelled :] == -1).all()
    assert ((weights.codes < 0) == (labels.codes < 0)).all()
    matrix = formulas.low_weights(labels.codes, beta)
    for label in np.flatnonzero(sizes > 1):
        i, j = np.flatnonzero(weights.codes == label)[:2]
        assert weights.alpha[label] == pytest.approx(matrix[i, j])


def test_average_weight_of_a_pair_is_one() -> None:
    labels = encode_column(list("aaabbbbcc"))
    weights = pair_weights(labels, np.full(3, 0.1))
    matrix = formulas.low_weights(labels.codes, 0.1)
    assert matrix.sum() / (9 * 8) == pytest.approx(1)
    assert weights.alpha[0] > 1


@pytest.mark.parametrize("beta", [1e-300, 1e-4, 0.5])
def test_mean_log_weight(beta: float) -> None:
    rng = np.random.default_rng(0)
    labels = encode_column([None, *rng.integers(0, 3, 59).tolist()])
    matrix = tsne_affinities(
        find_neighbors(rng.normal(size=(60, 3)), k_same=9), perplexity=3
    ).matrix
    weights = pair_weights(labels, np.full(3, beta))
    dense = matrix.toarray().astype(float)
    log_weights = np.log(np.where(dense > 0, formulas.low_weights(labels.codes, beta), 1.0))
    assert weights.mean_log_weight(matrix) == pytest.approx((dense * log_weights).sum(), rel=1e-6)
