"""Weights of pairs by one to three label columns: gradient and loss against the reference."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne.labels import Labels
from ctsne.layout import Layout, pair_weights
from ctsne.layout.repulsion import Repulsion

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes

Floats = NDArray[np.float64]


def similar(n: int, rng: np.random.Generator) -> Floats:
    P = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    P = P + P.T + np.eye(n, k=1) + np.eye(n, k=-1)
    np.fill_diagonal(P, 0)
    return np.asarray(P / P.sum())


def random_betas(labels: Labels, rng: np.random.Generator, *, per_label: bool) -> list[Floats]:
    return [
        10 ** (rng.uniform(-4, 0, column.n_labels) if per_label else np.full(column.n_labels, -1.5))
        for column in labels.columns
    ]


@given(
    column_codes(),
    st.integers(0, 3),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.sampled_from([0.5, 1.0, 4.0]),
    st.sampled_from([1e-3, 1.0, 20.0]),
    st.booleans(),
    st.booleans(),
)
def test_gradient_and_loss_are_the_reference(
    codes: Codes,
    n_columns: int,
    dims: int,
    seed: int,
    dof: float,
    size: float,
    per_label: bool,
    some_without: bool,
) -> None:
    rng = np.random.default_rng(seed)
    weights = pairs = None
    if n_columns:
        codes = codes[:, :n_columns]
        if some_without:
            codes[: len(codes) // 4] = -1
        labels = as_columns(codes)
        betas = random_betas(labels, rng, per_label=per_label)
        weights, pairs = pair_weights(labels, betas), formulas.low_weights(labels.codes, *betas)
    P, Y = similar(len(codes), rng), size * rng.normal(size=(len(codes), dims))
    layout = Layout(sp.csr_array(P), Y, weights=weights, dof=dof)
    Y = Y.astype(np.float32).astype(float)
    expected = formulas.gradient(P, Y, weights=pairs, dof=dof)
    scale = 4 * np.abs(Y).max()  # forces cancel: compare with their parts
    np.testing.assert_allclose(layout.gradient(), expected, atol=1e-5 * scale, rtol=1e-4)
    loss = formulas.kl_divergence(P, Y, weights=pairs, dof=dof)
    assert layout.loss() == pytest.approx(loss, rel=1e-5, abs=1e-5)


@given(column_codes(), st.integers(1, 3), st.integers(0, 2**31))
def test_points_come_by_combination_the_most_frequent_first(
    codes: Codes, n_columns: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = as_columns(codes[rng.permutation(len(codes)), :n_columns])
    labels = labels.take(np.arange(labels.n_points // 2))  # some labels are left without a point
    weights = pair_weights(labels, random_betas(labels, rng, per_label=True))
    bounds, combined = weights.main.bounds, labels.combined
    assert (np.diff(bounds) > 0).all() and (np.diff(bounds, 2) <= 0).all()
    assert (combined.codes[weights.order[bounds[-1] :]] == -1).all()
    for code, number in enumerate(weights.numbers):
        inside = weights.order[bounds[number] : bounds[number + 1]] if number >= 0 else []
        assert np.flatnonzero(combined.codes == code).tolist() == list(inside)


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_beta_one_conditions_nothing(n_columns: int, missing: bool) -> None:
    rng = np.random.default_rng(0)
    labels = as_columns(rng.integers(-missing, 3, size=(300, n_columns)))
    weights = pair_weights(labels, np.ones(n_columns))  # type: ignore[arg-type]
    assert weights.terms == ()
    y = rng.normal(size=(300, 2)).astype(np.float32)
    force, normaliser = Repulsion(300, weights=weights, exact=True)(y)
    expected, total = Repulsion(300, exact=True)(y)
    np.testing.assert_allclose(force, expected, rtol=1e-5, atol=1e-4)
    assert normaliser == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("beta", [1e-300, 1e-4, 0.5])
def test_mean_log_weight(beta: float) -> None:
    rng = np.random.default_rng(0)
    labels = as_columns(rng.integers(-1, 3, size=(60, 2)))
    P = similar(60, rng)
    weights = pair_weights(labels, [beta, 0.3])
    log_weights = np.log(np.where(P > 0, formulas.low_weights(labels.codes, beta, 0.3), 1.0))
    found = weights.mean_log_weight(sp.csr_array(P))
    assert found == pytest.approx((P * log_weights).sum(), rel=1e-6)
