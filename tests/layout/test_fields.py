"""Fields of a finished map: the potentials that new points feel, against exact sums."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ctsne.layout import fields as module
from ctsne.layout import pair_weights
from ctsne.layout.fields import Fields, fields_for, make_fields

from .. import reference as formulas
from ..random_columns import as_columns

Floats = NDArray[np.float64]


def kernel(squared: Floats, dof: float) -> Floats:
    return np.asarray((1 + squared / dof) ** (-(dof + 1) / 2))


def potential(points: Floats, y: Floats, weights: Floats, dof: float) -> Floats:
    squared = ((points[:, None] - y) ** 2).sum(axis=2)
    return np.asarray(kernel(squared, dof) @ weights)


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
    y = (8 * rng.normal(size=(n, dims))).astype(np.float32)
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
