"""Forces and normaliser against the reference, exact and by mesh, plain and conditioned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne.layout import pair_weights
from ctsne.layout.mesh import WORTH_THREADS, plan_mesh
from ctsne.layout.repulsion import Repulsion

from .. import reference as formulas
from ..random_columns import as_columns


def formula_forces(
    y: NDArray[np.floating], weights: NDArray[np.float64] | None, dof: float
) -> tuple[NDArray[np.float64], float]:
    """Repulsion by the formulas: the gradient without attraction, in this stage's convention."""
    normaliser = formulas.normalizer(y, weights, dof)
    gradient = formulas.gradient(np.zeros((len(y), len(y))), y, weights=weights, dof=dof)
    return -0.25 * normaliser * gradient, normaliser


def relative(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


@given(
    n=st.integers(2, 200),
    dims=st.integers(1, 3),
    dof=st.sampled_from([0.5, 1.0, 2.5]),
    size=st.sampled_from([1e-4, 1.0, 100.0]),
    seed=st.integers(0, 2**31),
)
def test_exact_sum_is_the_reference(n: int, dims: int, dof: float, size: float, seed: int) -> None:
    y = (size * np.random.default_rng(seed).uniform(-0.5, 0.5, (n, dims))).astype(np.float32)
    force, normaliser = Repulsion(n, dof=dof, exact=True)(y)
    expected, expected_normaliser = formula_forces(y.astype(float), None, dof)
    assert relative(force, expected) < 1e-5
    assert normaliser == pytest.approx(expected_normaliser, rel=1e-5)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("one_beta", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_conditioned_mesh_is_the_reference(
    dims: int, dof: float, missing: bool, one_beta: bool, n_columns: int
) -> None:
    rng = np.random.default_rng(dims)
    n = 800
    codes = rng.choice(3, (n, n_columns), p=[0.6, 0.3, 0.1])
    codes[missing & (rng.random(codes.shape) < 0.1)] = -1
    labels = as_columns(codes)
    betas = [np.full(3, 0.01) if one_beta else np.array([0.5, 1e-3, 0.1])] * n_columns
    weights = pair_weights(labels, betas)
    y = rng.normal(size=(n, dims)) + 1.5 * rng.integers(0, 2, (n, 1))
    y = ((4 if dims < 3 else 1.5) * y).astype(np.float32)
    matrix = formulas.low_weights(labels.codes, *betas)[np.ix_(weights.order, weights.order)]
    force, normaliser = Repulsion(n, dof=dof, weights=weights, exact=False)(y)
    expected, expected_normaliser = formula_forces(y.astype(float), matrix, dof)
    assert relative(force, expected) < 0.01 * n_columns  # terms of several columns cancel
    assert normaliser == pytest.approx(expected_normaliser, rel=1e-3)


def test_many_labels_and_few_labels_give_the_same_forces() -> None:
    """The many small labels of one call and a mesh for each must agree."""
    rng = np.random.default_rng(0)
    n = 4000
    y = (10 * rng.normal(size=(n, 2))).astype(np.float32)
    for n_labels in (2, 1000):
        weights = pair_weights(as_columns(np.arange(n) % n_labels), [0.01])
        exact, normaliser = Repulsion(n, weights=weights, exact=True)(y)
        chosen, chosen_normaliser = Repulsion(n, weights=weights)(y)
        assert relative(chosen, exact) < 0.01
        assert chosen_normaliser == pytest.approx(normaliser, rel=1e-3)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_threads_do_not_change_a_bit(exact: bool, dims: int, n_columns: int) -> None:
    rng = np.random.default_rng(2)
    n = 20_000  # so much work that two threads are worth it everywhere
    weights = pair_weights(as_columns(rng.integers(0, 3, (n, n_columns))), [0.1] * n_columns)
    y = ((30 if dims == 2 else 3) * rng.normal(size=(n, dims))).astype(np.float32)
    assert plan_mesh(y.min(axis=0).tolist(), y.max(axis=0).tolist(), 1.0)[0].size > WORTH_THREADS
    one, z_one = Repulsion(n, weights=weights, exact=exact, n_jobs=1)(y)
    two, z_two = Repulsion(n, weights=weights, exact=exact, n_jobs=2)(y)
    assert np.array_equal(one, two) and z_one == z_two


def test_what_is_transformed_together_is_the_same_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On some processors this decides about the last bits of every transform.
    done: list[tuple[object, ...]] = []

    def recorded(name: str) -> Any:
        transform = getattr(scipy.fft, name)

        def call(x: Any, *args: Any, **options: Any) -> Any:
            done.append((name, x.shape, *args, *options.items()))
            return transform(x, *args, **options)

        return call

    for name in ("rfft", "fft", "ifft", "irfft"):
        monkeypatch.setattr(scipy.fft, name, recorded(name))
    y = 3 * np.random.default_rng(2).normal(size=(20_000, 3)).astype(np.float32)
    calls = []
    for n_jobs in (1, 2):
        done.clear()
        Repulsion(len(y), exact=False, n_jobs=n_jobs)(y)
        calls.append(sorted(done, key=repr))
    assert calls[0] == calls[1] != []


def test_all_points_at_one_place() -> None:
    force, normaliser = Repulsion(10, exact=False)(np.zeros((10, 2), np.float32))
    assert np.abs(force).max() < 1e-6
    assert normaliser == pytest.approx(90, rel=1e-6)


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("dof", [30.0, 500.0, 1000.0])
def test_many_degrees_of_freedom_on_a_wide_mesh(dims: int, dof: float) -> None:
    """The kernel falls below what floats hold, relative to its value at the largest distance."""
    rng = np.random.default_rng(0)
    y = (rng.choice([-300, 0, 300], (400, dims)) + rng.normal(size=(400, dims))).astype(np.float32)
    exact, expected = Repulsion(400, dof=dof, exact=True)(y)
    force, normaliser = Repulsion(400, dof=dof, exact=False)(y)
    assert normaliser == pytest.approx(expected, rel=0.01)
    assert np.abs(force - exact).max() < 0.02 * np.abs(exact).max()


@pytest.mark.parametrize("place", [np.nan, np.inf, 1e25])
@pytest.mark.parametrize("exact", [True, None])
def test_a_map_without_a_finite_normaliser_is_an_error(place: float, exact: bool | None) -> None:
    y = np.zeros((10, 2), np.float32)
    y[::2] = place * np.arange(1, 6)[:, None]
    y[1::2] = -y[::2]
    message = "(too wide|lost to rounding).* use a smaller dof, learning_rate"
    with pytest.raises(ValueError, match=message):
        Repulsion(10, exact=exact)(y)
