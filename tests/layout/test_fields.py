"""New points in a finished map: the potentials that they feel and the places they take."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

import ctsne._native as _native
from ctsne.layout import fields as module
from ctsne.layout import pair_weights
from ctsne.layout.fields import Fields, Places, fields_for, make_fields

from .. import reference as formulas
from ..random_columns import as_columns

Floats = NDArray[np.float64]


def potential(points: Floats, y: Floats, weights: Floats, dof: float) -> Floats:
    squared = ((points[:, None] - y) ** 2).sum(axis=2)
    return np.asarray(formulas.kernel(squared, dof) @ weights)


def spline(positions: Floats, nodes: int) -> Floats:
    """Weights of all nodes of an axis for each position, by the recursion of B-splines."""
    u = positions[:, None] - np.arange(nodes) + 3.0
    value = ((u >= 0) & (u < 6))[None].astype(float)
    order = 6
    pieces = [((u - k >= 0) & (u - k < 1)).astype(float) for k in range(order)]
    for degree in range(1, order):
        pieces = [
            ((u - k) * pieces[k] + (degree + 1 - (u - k)) * pieces[k + 1]) / degree
            for k in range(order - degree)
        ]
    return np.asarray(np.where(value[0] > 0, pieces[0], 0.0))


def read(fields: Fields, grid: int, points: Floats) -> Floats:
    """Read a grid at some points in plain NumPy."""
    inside = tuple(slice(count) for count in fields.nodes)
    values = fields.grids[grid][inside].astype(np.float64)
    weights = [
        spline((points[:, axis] - fields.origin[axis]) / fields.spacing, count)
        for axis, count in enumerate(fields.nodes)
    ]
    letters = "abc"[: len(fields.nodes)]
    terms = ",".join(f"i{letter}" for letter in letters)
    return np.asarray(np.einsum(f"{letters},{terms}->i", values, *weights)) + fields.offset[grid]


def felt(fields: Fields, label: int, points: Floats) -> Floats:
    begin, end = fields.ranges[label]
    own = fields.summed[:, begin:end].T.astype(np.float64)
    exact = potential(points, own, np.ones(len(own)), fields.dof) if len(own) else 0.0
    grid = read(fields, int(fields.grid_of[label]), points)
    return np.asarray(fields.share[label] * grid + fields.own[label] * exact)


def made_map(n: int, dims: int) -> tuple[Any, Floats]:
    rng = np.random.default_rng(n + dims)
    y = ((8 if dims < 3 else 3) * rng.normal(size=(n, dims))).astype(np.float32)
    return y, y[rng.permutation(n)[:40]].astype(np.float64) + 0.3 * rng.normal(size=(40, dims))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1.0, 3.0])
def test_all_points_alike(dims: int, dof: float) -> None:
    y, points = made_map(300, dims)
    fields = make_fields(y, None, dof=dof, n_jobs=2)
    expected = potential(points, y.astype(np.float64), np.ones(300), dof)
    np.testing.assert_allclose(felt(fields, -1, points), expected, rtol=2e-2)
    assert len(fields.grid_of) == 1


@pytest.mark.parametrize("own_grid", [0, 150, 10**9])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("per_label", [False, True])
def test_weights_by_label(
    own_grid: int, missing: bool, n_columns: int, per_label: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OWN_GRID", own_grid)
    y, points = made_map(400, 2)
    codes = np.stack([np.array([2, 0, 0, 1])[np.arange(400) % 4], np.arange(400) % 3], axis=1)
    if missing:
        codes[::7, 0] = codes[::9, 1] = -1
    labels = as_columns(codes[:, :n_columns])
    betas = [np.array([0.1, 0.3, 0.6]) if per_label else np.full(3, 0.2)] * n_columns
    fields = make_fields(y, pair_weights(labels, betas), dof=1.0, n_jobs=1)
    pairs = formulas.low_weights(labels.codes, *betas)
    for combination in range(labels.combined.n_labels):
        point, other = np.flatnonzero(labels.combined.codes == combination)[:2]
        weights = pairs[point]
        weights[point] = pairs[point, other]
        expected = potential(points, y.astype(np.float64), weights, 1.0)
        np.testing.assert_allclose(felt(fields, combination, points), expected, rtol=1e-2)
    alike = potential(points, y.astype(np.float64), np.ones(400), 1.0)
    np.testing.assert_allclose(felt(fields, -1, points), alike, rtol=1e-2)


def test_labels_that_do_not_occur_together() -> None:
    y, points = made_map(400, 2)
    labels = as_columns(np.stack([np.arange(400) % 2, np.arange(400) % 2], axis=1))
    columns = pair_weights(labels, [0.5, 0.25]).columns
    fields = fields_for(y, columns, np.array([[0, 1], [-1, 1]], np.int32), dof=1.0, n_jobs=1)
    is_one = labels.codes[:, 0] == 1
    factors = [np.where(is_one, each.beta[0], each.alpha[0]) for each in columns]
    of_one = np.where(is_one, columns[1].alpha[0], columns[1].beta[0])
    for number, weights in enumerate((factors[0] * of_one, of_one)):
        expected = potential(points, y.astype(np.float64), weights, 1.0)
        np.testing.assert_allclose(felt(fields, number, points), expected, rtol=1e-2)


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
    attraction = row @ np.log(formulas.kernel(((at - near) ** 2).sum(axis=1), dof))
    felt = float(potential(at[None], y, weights, dof)[0])
    return float(-pull * attraction + np.log(max(felt, usual)) + min(felt / usual - 1, 0))


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
    y = ((6 if dims < 3 else 3) * rng.normal(size=(120, dims))).astype(np.float32)
    weights = pair_weights(as_columns(np.arange(120) % 2), [0.3]) if labelled else None
    fields = make_fields(y, weights, dof=dof, n_jobs=1)
    # Neighbours that lie together, as they do in a map.
    indices = np.argsort(((y - y[0]) ** 2).sum(axis=1), kind="stable")[:k].astype(np.int32)[None]
    row = rng.random((1, k)).astype(np.float32) + 0.1
    row /= row.sum()
    label = 0 if labelled else -1
    places = Places(y, fields, exaggeration=pull)
    placed = places.place(indices, row, np.array([label]), n_jobs=1)[0].astype(np.float64)
    pairs = np.ones(120)
    if weights is not None:
        pairs = weights.columns[0].towards(0)
    y64 = y.astype(np.float64)
    usual = formulas.normalizer(y64, dof=dof) / 120  # without the potential of the point itself
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
