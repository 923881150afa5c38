"""Two layers of a mesh: charges and potentials go between them without loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne import _native
from ctsne.layout.layers import REACH, LayeredMesh, plan_layers
from ctsne.layout.mesh import SPACING, Mesh, MeshPlan, plan_mesh


def empty(*nodes: int) -> NDArray[np.float32]:
    return Mesh(MeshPlan(nodes, 0.4, 1.0), 2).grids


@given(seed=st.integers(0, 2**31), rows=st.integers(6, 90), columns=st.integers(6, 90))
def test_charges_are_those_of_points_spread_on_the_coarse_mesh(
    seed: int, rows: int, columns: int
) -> None:
    rng = np.random.default_rng(seed)
    nodes, fine = (rows, columns), empty(rows, columns)
    y = rng.uniform([2, 2], [rows - 3.01, columns - 3.01], (40, 2)).astype(np.float32)
    bounds = np.array([0, 15, 40])
    _native.spread(y, bounds, None, nodes, (0.0, 0.0), 1.0, 1, fine)
    coarse_nodes = tuple(_native.coarse_nodes(n) + 6 for n in nodes)
    coarse, expected = empty(*coarse_nodes), empty(*coarse_nodes)
    _native.coarsen(fine, nodes, 1, coarse)
    spacing = float(_native.COARSER)
    origin = (-3 * spacing, -3 * spacing)  # three coarse nodes lie before the first fine one
    _native.spread(y, bounds, None, coarse_nodes, origin, spacing, 1, expected)
    np.testing.assert_allclose(coarse, expected, atol=1e-5)


@given(seed=st.integers(0, 2**31), rows=st.integers(6, 90), columns=st.integers(6, 90))
def test_the_way_back_is_the_transpose(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    fine, back = empty(rows, columns), empty(rows, columns)
    coarse = empty(*(_native.coarse_nodes(n) for n in (rows, columns)))
    potentials = rng.normal(size=coarse.shape).astype(np.float32)
    fine[:, :rows, :columns] = rng.normal(size=(2, rows, columns))
    _native.coarsen(fine, (rows, columns), 1, coarse)
    _native.refine(potentials, (rows, columns), 1, back)
    there = (coarse.astype(float) * potentials).sum()
    assert there == pytest.approx((fine.astype(float) * back).sum(), rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_layers_are_one_mesh(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    y = (12 * rng.normal(size=(3000, 2))).astype(np.float32)
    low, high = y.min(axis=0).tolist(), y.max(axis=0).tolist()
    found = plan_layers(low, high)
    assert found is not None and found[0].spacing == SPACING and found[0].reach == REACH
    forces = []
    for mesh, origin in (
        (LayeredMesh(found[0], 1), found[1]),
        (Mesh(plan_mesh(low, high, 1.0)[0]), plan_mesh(low, high, 1.0)[1]),
    ):
        plan, force, bounds = mesh.plan, np.zeros_like(y), np.array([0, 3000])
        _native.spread(y, bounds, None, plan.nodes, origin, plan.spacing, n_jobs, mesh.grids)
        fields, floor = mesh.convolve(n_jobs)
        offset = np.array([3000 * floor])
        _native.gather(
            fields, y, bounds, offset, 1.0, None, plan.nodes, origin, plan.spacing, n_jobs, force
        )
        forces.append(force)
    assert np.linalg.norm(forces[0] - forces[1]) < 0.006 * np.linalg.norm(forces[1])


def test_small_maps_have_no_layers() -> None:
    assert plan_layers([-1.0, -1.0], [1.0, 1.0]) is None
