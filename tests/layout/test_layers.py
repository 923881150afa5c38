"""Two layers of a mesh: charges and potentials go between them without loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import _native
from ctsne.layout.mesh import REACH, SPACING, Mesh, MeshPlan, plan_layers, plan_mesh


def mesh_of(*nodes: int, spacing: float = 1.0) -> _native.Mesh:
    return Mesh(MeshPlan(nodes, spacing, 1.0), 2, n_jobs=1).native


@given(seed=st.integers(0, 2**31), rows=st.integers(6, 90), columns=st.integers(6, 90))
def test_charges_are_those_of_points_spread_on_the_coarse_mesh(
    seed: int, rows: int, columns: int
) -> None:
    rng = np.random.default_rng(seed)
    fine = mesh_of(rows, columns)
    y = rng.uniform([2, 2], [rows - 3.01, columns - 3.01], (40, 2)).astype(np.float32)
    bounds = np.array([0, 15, 40])
    fine.spread(y, bounds, (0.0, 0.0))
    nodes = tuple(_native.coarse_nodes(n) + 6 for n in (rows, columns))
    spacing = float(_native.COARSER)
    coarse, expected = mesh_of(*nodes, spacing=spacing), mesh_of(*nodes, spacing=spacing)
    coarse.coarsen(fine)
    origin = (-3 * spacing, -3 * spacing)  # three coarse nodes lie before the first fine one
    expected.spread(y, bounds, origin)
    np.testing.assert_allclose(coarse.grids, expected.grids, atol=1e-5)


@given(seed=st.integers(0, 2**31), rows=st.integers(6, 90), columns=st.integers(6, 90))
def test_the_way_back_is_the_transpose(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    fine, back = mesh_of(rows, columns), mesh_of(rows, columns)
    nodes = [_native.coarse_nodes(n) for n in (rows, columns)]
    coarse, potentials = mesh_of(*nodes), mesh_of(*nodes)
    potentials.grids[:] = rng.normal(size=coarse.grids.shape)
    fine.grids[:, :rows, :columns] = rng.normal(size=(2, rows, columns))
    coarse.coarsen(fine)
    back.refine(potentials)
    there = (coarse.grids.astype(float) * potentials.grids).sum()
    assert there == pytest.approx((fine.grids.astype(float) * back.grids).sum(), rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_layers_are_one_mesh(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    y = (12 * rng.normal(size=(3000, 2))).astype(np.float32)
    low, high = y.min(axis=0).tolist(), y.max(axis=0).tolist()
    found = plan_layers(low, high)
    assert found is not None and found[0].spacing == SPACING and found[0].reach == REACH
    forces = []
    for plan, origin in (found, plan_mesh(low, high, 1.0)):
        mesh, force, bounds = Mesh(plan, n_jobs=n_jobs), np.zeros_like(y), np.array([0, 3000])
        mesh.native.spread(y, bounds, origin)
        offset = np.array([3000 * mesh.convolve()])
        mesh.native.gather(force, y, bounds, origin, offset)
        forces.append(force)
    assert np.linalg.norm(forces[0] - forces[1]) < 0.006 * np.linalg.norm(forces[1])


def test_small_maps_have_no_layers() -> None:
    assert plan_layers([-1.0, -1.0], [1.0, 1.0]) is None


def test_meshes_refuse_what_does_not_fit() -> None:
    y, bounds, origin = np.zeros((4, 2), np.float32), np.array([0, 2, 4]), (0.0, 0.0)
    mesh, force = mesh_of(20, 20), np.zeros((4, 2), np.float32)
    for wrong in ([0, 2, 5], [-1, 2, 4], [0, 3, 2], [0, 4]):
        with pytest.raises(ValueError, match=r"outside the data|decrease|group of points"):
            mesh.spread(y, np.array(wrong), origin)
        with pytest.raises(ValueError, match=r"outside the data|decrease|group of points"):
            mesh.gather(force, y, np.array(wrong), origin, np.zeros(2))
    with pytest.raises(ValueError, match="dimensions"):
        mesh.spread(y, bounds, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="entry per point"):
        mesh.spread(y, bounds, origin, np.ones(3, np.float32))
    with pytest.raises(ValueError, match="shape of the map"):
        mesh.gather(force[:3], y, bounds, origin, np.zeros(2))
    with pytest.raises(ValueError, match="offset per grid"):
        mesh.gather(force, y, bounds, origin, np.zeros(3))
    with pytest.raises(ValueError, match="does not fit the fine one"):
        mesh_of(6, 6).coarsen(mesh_of(400, 400))
    with pytest.raises(ValueError, match="too few nodes"):
        _native.Mesh(np.zeros((2, 32, 16), np.float32), (20, 15), 1.0, 1)
    kernel = _native.PlaneKernel(np.zeros((21, 48), np.float32), (20, 40), True)
    with pytest.raises(ValueError, match="kernel does not fit"):
        mesh.convolve(kernel)
    for nodes, message in (((24, 20), "transform does not fit"), ((20, 7), "product of 2, 3")):
        with pytest.raises(ValueError, match=message):
            _native.PlaneKernel(np.zeros((21, 32), np.float32), nodes, True)
