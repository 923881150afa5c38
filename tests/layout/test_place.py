"""New points in a finished map: each at a minimum of its loss, in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

import ctsne._native as _native
from ctsne.layout import pair_weights
from ctsne.layout.fields import Places, make_fields

from ..random_columns import as_columns

Floats = NDArray[np.float64]


def loss(
    at: Floats,
    near: Floats,
    row: Floats,
    y: Floats,
    weights: Floats,
    dof: float,
    pull: float,
    usual: float,
) -> float:
    """The attraction to the neighbours, and the logarithm of the potential or its tangent."""

    def log_kernel(points: Floats) -> Floats:
        squared = ((at - points) ** 2).sum(axis=1)
        return np.asarray(-0.5 * (dof + 1) * np.log1p(squared / dof))

    potential = float(weights @ np.exp(log_kernel(y)))
    dense = max(potential, usual)
    return float(-pull * row @ log_kernel(near) + np.log(dense) + min(potential / usual - 1, 0))


def usual_potential(y: Floats, dof: float) -> float:
    """The mean potential of the points of a map, without their own."""
    squared = ((y[:, None] - y) ** 2).sum(axis=2)
    return float(((1 + squared / dof) ** (-0.5 * (dof + 1))).sum() / len(y) - 1)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(1, 20),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([1.0, 4.0]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_minima(dims: int, k: int, dof: float, pull: float, labelled: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = (6 * rng.normal(size=(120, dims))).astype(np.float32)
    weights = pair_weights(as_columns(np.arange(120) % 2), [0.3]) if labelled else None
    fields = make_fields(y, weights, dof=dof, n_jobs=1)
    # Neighbours that lie together, as they do in a map.
    indices = np.argsort(((y - y[0]) ** 2).sum(axis=1), kind="stable")[:k].astype(np.int32)[None]
    row = rng.random((1, k)).astype(np.float32) + 0.1
    row /= row.sum()
    label = 0 if labelled else -1
    placed = (
        Places(y, fields, exaggeration=pull)
        .place(indices, row, np.array([label]), n_jobs=1)[0]
        .astype(np.float64)
    )
    pairs = np.ones(120)
    if weights is not None:
        pairs = weights.columns[0].towards(0)
    y64 = y.astype(np.float64)
    usual = usual_potential(y64, dof)
    assert fields.usual == pytest.approx(usual, rel=0.01)
    arguments = (y64[indices[0]], row[0].astype(np.float64), y64, pairs, dof, pull, usual)
    best = minimize(loss, placed, args=arguments, method="Nelder-Mead")
    # The mesh is accurate to about 1 %, and steps end a little before the minimum.
    assert loss(placed, *arguments) <= best.fun + 5e-3 * max(1.0, abs(best.fun))


def test_a_point_between_clusters_stays_between_them() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=(300, 2)).astype(np.float32)
    y[100:200, 0] += 40
    y[200:, 1] += 40
    fields = make_fields(y, None, dof=1.0, n_jobs=1)
    indices = np.array([[0, 100, 200]], np.int32)  # a neighbour in each of three clusters
    row = np.array([[0.34, 0.33, 0.33]], np.float32)
    (placed,) = Places(y, fields, exaggeration=1.0).place(indices, row, np.array([-1]), n_jobs=1)
    assert (placed > -4).all() and placed.sum() < 50


def test_points_stay_near_the_map() -> None:
    y = np.zeros((50, 2), np.float32)
    y[0] = 10
    fields = make_fields(y, None, dof=1.0, n_jobs=1)
    placed = Places(y, fields, exaggeration=1e-3).place(
        np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32), np.array([-1]), n_jobs=1
    )
    assert np.isfinite(placed).all() and np.abs(placed - 5).max() < 7


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nothing_but_the_row_matters(dims: int) -> None:
    rng = np.random.default_rng(dims)
    y = (6 * rng.normal(size=(500, dims))).astype(np.float32)
    fields = make_fields(y, None, dof=1.0, n_jobs=2)
    places = Places(y, fields, exaggeration=1.0)
    indices = rng.integers(0, 500, size=(1000, 11)).astype(np.int32)
    rows = rng.dirichlet(np.ones(11), size=1000).astype(np.float32)
    labels = np.full(1000, -1)
    together = places.place(indices, rows, labels, n_jobs=2)
    order = rng.permutation(1000)
    shuffled = places.place(indices[order], rows[order], labels, n_jobs=1)
    np.testing.assert_array_equal(shuffled, together[order])
    alone = [
        places.place(indices[i : i + 1], rows[i : i + 1], labels[:1], n_jobs=1) for i in range(9)
    ]
    np.testing.assert_array_equal(np.concatenate(alone), together[:9])


@pytest.mark.parametrize(("columns", "width"), [(1, 1), (7, 3), (60, 50), (33, 64)])
def test_rows_are_projected_alike(columns: int, width: int) -> None:
    rng = np.random.default_rng(columns)
    rows, axes = rng.normal(size=(203, columns)), rng.normal(size=(columns, width))
    out = _native.project(rows, axes, 2)
    np.testing.assert_allclose(out, rows @ axes, rtol=1e-10, atol=1e-12)
    for begin, end in ((0, 1), (1, 4), (100, 203)):
        part = _native.project(np.ascontiguousarray(rows[begin:end]), axes, 1)
        np.testing.assert_array_equal(part, out[begin:end])
