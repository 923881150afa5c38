"""Repulsion and loss of maps conditioned on several label columns, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne.labels import encode_column, encode_labels
from ctsne.layout import Layout, column_weights, pair_weights
from ctsne.layout.columns import ColumnRepulsion
from ctsne.layout.repulsion import Repulsion

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes

Floats = NDArray[np.float64]


def similar(n: int, rng: np.random.Generator) -> Floats:
    P = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    P = P + P.T + np.eye(n, k=1) + np.eye(n, k=-1)
    np.fill_diagonal(P, 0)
    return np.asarray(P / P.sum())


@given(
    column_codes(), st.integers(1, 3), st.integers(0, 2**32), st.sampled_from([1.0, 0.5]), st.data()
)
def test_gradient_and_loss_are_the_reference(
    codes: Codes, dims: int, seed: int, dof: float, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    labels = as_columns(codes)
    beta = np.array([10 ** data.draw(st.floats(-2, 0)) for _ in labels.names])
    weights = formulas.low_column_weights(labels.codes.astype(np.int64), beta)
    P, Y = similar(len(codes), rng), rng.normal(size=(len(codes), dims))
    layout = Layout(sp.csr_array(P), Y, weights=column_weights(labels, beta), dof=dof)
    Y = Y.astype(np.float32).astype(float)
    expected = formulas.gradient(P, Y, weights=weights, dof=dof)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(layout.gradient(), expected, atol=2e-5 * scale)
    loss = formulas.kl_divergence(P, Y, weights=weights, dof=dof)
    assert layout.loss() == pytest.approx(loss, abs=1e-5)


@pytest.mark.parametrize("missing", [False, True])
def test_gradient_by_finite_differences(missing: bool) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(30, 2))
    if missing:
        codes[rng.random(codes.shape) < 0.2] = -1
    weights = column_weights(as_columns(codes), [0.05, 0.3])
    P, Y = sp.csr_array(similar(30, rng)), rng.normal(size=(30, 2)).astype(np.float32)
    gradient = Layout(P, Y, weights=weights).gradient()
    for i, axis in ((0, 0), (7, 1), (29, 0)):
        losses = []
        for step in (-0.02, 0.02):
            moved = Y.copy()
            moved[i, axis] += step
            losses.append(Layout(P, moved, weights=weights).loss())
        assert gradient[i, axis] == pytest.approx((losses[1] - losses[0]) / 0.04, abs=3e-4)


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("spread", [5.0, 40.0])
def test_meshes_agree_with_the_exact_sum(spread: float, share: float) -> None:
    rng = np.random.default_rng(1)
    n = 6000
    codes = rng.integers(0, (2, 5), size=(n, 2))
    codes[rng.random(codes.shape) < share] = -1
    weights = column_weights(as_columns(codes), [0.2, 0.4])
    y = (spread * rng.normal(size=(n, 2))).astype(np.float32)
    force, normaliser = ColumnRepulsion(n, weights, dof=1.0, n_jobs=2)(y)
    exact = ColumnRepulsion(n, weights, dof=1.0, n_jobs=2)
    for each in (exact, *(repulsion for _, repulsion in exact._terms)):
        each._exact = True
    expected, total = exact(y)
    error = np.sqrt(((force - expected) ** 2).sum() / (expected**2).sum())
    assert error < 0.02
    assert normaliser == pytest.approx(total, rel=2e-3)


def test_the_same_columns_twice() -> None:
    """The weight of two equal columns is the square of that of one."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=50)
    labels = encode_column(codes)
    one = pair_weights(labels, 0.2)
    both = encode_labels([codes, codes])
    weights = column_weights(both, 0.2)  # type: ignore[arg-type]
    y = rng.normal(size=(50, 2)).astype(np.float32)
    force, _ = ColumnRepulsion(50, weights, dof=1.0, n_jobs=1)(y[weights.order])
    squared = type(one)(one.codes, one.order, one.bounds, one.alpha**2, one.beta**2)
    expected, _ = Repulsion(50, weights=squared)(y[one.order])
    np.testing.assert_array_equal(weights.order, one.order)
    np.testing.assert_allclose(force, expected, rtol=1e-4, atol=1e-6)


def test_maps_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(300, 2))
    weights = column_weights(as_columns(codes), [0.1, 0.5])
    P, Y = sp.csr_array(similar(300, rng)), 1e-4 * rng.normal(size=(300, 2))
    maps = []
    for n_jobs in (1, 3):
        layout = Layout(P, Y, weights=weights, n_jobs=n_jobs)
        layout.run(30)
        maps.append(layout.embedding)
    np.testing.assert_array_equal(maps[0], maps[1])


def test_beta_one_is_no_conditioning() -> None:
    rng = np.random.default_rng(0)
    labels = as_columns(rng.integers(0, 3, size=(40, 3)))
    weights = column_weights(labels, 1.0)
    assert weights.terms == ()
    y = rng.normal(size=(40, 2)).astype(np.float32)
    force, normaliser = ColumnRepulsion(40, weights, dof=1.0, n_jobs=1)(y)
    expected, total = Repulsion(40)(y)
    np.testing.assert_allclose(force, expected, rtol=1e-5, atol=1e-7)
    assert normaliser == pytest.approx(total)


def test_what_is_refused() -> None:
    labels = as_columns(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    for beta in (0.0, 1.5, [0.1, 0.1, 0.1]):
        with pytest.raises(ValueError, match="beta must"):
            column_weights(labels, beta)
    with pytest.raises(TypeError, match="labels must be"):
        column_weights(encode_column([0, 1]), 0.1)  # type: ignore[arg-type]
