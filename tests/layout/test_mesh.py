"""The mesh's stated accuracy: forces within 1 % of the exact sum on real maps, at every phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne import ConditionalTSNE, _native
from ctsne.layout.mesh import (
    MOST_NODES,
    REACH,
    SPACING,
    Mesh,
    MeshPlan,
    _spline_transform,
    plan_layers,
    plan_mesh,
)
from ctsne.layout.repulsion import Repulsion

STATED_ACCURACY = 0.01


def force_error(
    y: NDArray[np.float32], dof: float = 1.0, *, choose: bool = False
) -> tuple[float, float]:
    """Relative error of the forces (root mean square over all points) and of the normaliser.

    Of the mesh, or with ``choose`` of whatever a run would take.
    """
    exact, normaliser = Repulsion(len(y), dof=dof, exact=True, n_jobs=-1)(y)
    mesh, by_mesh = Repulsion(len(y), dof=dof, exact=None if choose else False, n_jobs=-1)(y)
    error = np.linalg.norm((mesh - exact).astype(float)) / np.linalg.norm(exact.astype(float))
    return float(error), abs(by_mesh / normaliser - 1)


@pytest.fixture(scope="module", params=[1, 2, 3])
def phases(
    request: pytest.FixtureRequest, real_data: Callable[[str], Any]
) -> list[NDArray[np.float32]]:
    """Maps of real data from the start to the end of a run."""
    maps: list[NDArray[np.float32]] = []
    for options in ({"callback_every": 1, "n_iter": 1}, {"callback_every": 150}):
        ConditionalTSNE(
            method="tsne",
            n_components=request.param,
            callback=lambda iteration, loss, map_now: maps.append(map_now),
            random_state=0,
            **options,
        ).fit(real_data("pancreas3").X)
    return maps


@pytest.mark.slow
def test_forces_of_a_real_run_at_every_phase(phases: list[NDArray[np.float32]]) -> None:
    sizes = [float(np.ptp(y, axis=0).max()) for y in phases]
    assert sizes[0] < 1e-2 and sizes[-1] > 10
    for y in phases:
        error, normaliser_error = force_error(y)
        assert error < STATED_ACCURACY
        assert normaliser_error < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
def test_forces_of_a_real_map_at_every_size(size: float, phases: list[NDArray[np.float32]]) -> None:
    y = phases[-1]
    scaled = (y * (size / np.ptp(y, axis=0).max())).astype(np.float32)
    # In space, few points on a large mesh are summed exactly, and would be less exact on the mesh.
    error, _ = force_error(scaled, choose=scaled.shape[1] == 3 and size == 100)
    assert error < STATED_ACCURACY


@pytest.mark.parametrize("dof", [0.3, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("size", [1e-4, 1.0, 60.0])
def test_other_tails(dof: float, size: float) -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-0.5, 0.5, (20, 2))
    y = centres[rng.integers(0, 20, 4000)] + 0.03 * rng.normal(size=(4000, 2))
    error, _ = force_error((size * y).astype(np.float32), dof)
    assert error < STATED_ACCURACY


def test_plan_is_bounded_and_depends_on_the_map_alone() -> None:
    y = np.random.default_rng(0).uniform(-1, 1, (100, 3)).astype(np.float32)
    low, high = y.min(axis=0), y.max(axis=0)
    for size in (1e-6, 1.0, 1e3, 1e6):
        plan, origin = plan_mesh((low * size).tolist(), (high * size).tolist(), 1.0)
        again, origin_again = plan_mesh((low * size).tolist(), (high * size).tolist(), 1.0)
        assert plan == again and origin == origin_again
        assert plan.size <= MOST_NODES
        span = plan.spacing * (np.array(plan.nodes) - 1)
        assert (span > (high - low) * size).all()


def test_a_mesh_too_coarse_is_reported_and_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctsne.layout.mesh.MOST_NODES", 2**18)
    rng = np.random.default_rng(0)
    corners = 20 * rng.choice([-1, 1], (500, 3))
    wide = (corners + rng.normal(size=(500, 3))).astype(np.float32)
    assert not plan_mesh(wide.min(axis=0).tolist(), wide.max(axis=0).tolist(), 1.0)[0].accurate
    assert force_error(wide, choose=True)[0] == 0  # so few points are summed exactly
    with pytest.warns(UserWarning, match="coarser mesh"):
        Repulsion(500, exact=False, n_jobs=-1)(wide)


@pytest.mark.parametrize("spacing", [0.4, 1e-9, 3e-14])
@pytest.mark.parametrize("nodes", [(16, 16), (18, 16), (48, 32), (60, 72), (64, 16)])
def test_convolution_of_meshes_that_fill_no_band(nodes: tuple[int, int], spacing: float) -> None:
    """Rows are transformed in bands; what is left over must not disturb maps however small."""
    mesh = Mesh(MeshPlan(nodes, spacing, 1.0), n_jobs=1)
    charges = np.random.default_rng(0).random(nodes)
    mesh.grids[0, : nodes[0], : nodes[1]] = charges
    floor = mesh.convolve()
    potential = mesh.grids[0]
    # The kernel that the mesh has for smooth charges, given to the fast transform of all of it.
    squared = sum(np.ix_(*((np.arange(n + 1) * spacing) ** 2 for n in nodes)))
    farthest = squared[-1, -1]
    assert floor == pytest.approx(1 / (1 + farthest))
    kernel = (farthest - squared) / (1 + squared) / (1 + farthest)
    transform = scipy.fft.dctn(kernel, type=1)
    for along, spline in zip((1, 0), map(_spline_transform, nodes), strict=True):
        transform /= np.expand_dims(spline**2, along)
    doubled = [2 * n for n in nodes]
    mirror = np.r_[0 : nodes[0] + 1, nodes[0] - 1 : 0 : -1]
    spectrum = scipy.fft.rfft2(charges, s=doubled) * transform[mirror]
    expected = scipy.fft.irfft2(spectrum, s=doubled)[: nodes[0], : nodes[1]]
    error = np.abs(potential[: nodes[0], : nodes[1]] - expected).max()
    assert error < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("place", [np.nan, np.inf, -np.inf, 1e38, -1e38])
@pytest.mark.parametrize("origin", [0.0, np.nan, np.inf, 1e300])
@pytest.mark.parametrize(
    ("nodes", "shape"), [((60,), (72,)), ((32, 30), (32, 32)), ((16, 16, 16), (16, 16, 32))]
)
def test_positions_off_the_mesh_stay_inside_the_array(
    nodes: tuple[int, ...], shape: tuple[int, ...], origin: float, place: float
) -> None:
    dims = len(nodes)
    grids = np.zeros((3, *shape), np.float32)
    mesh = _native.Mesh(grids[1:2], nodes, 0.4, 2)
    y = np.full((40, dims), place, np.float32)
    y[::2] = 1
    bounds, at = np.array([0, 40]), (origin,) * dims
    force = np.zeros_like(y)
    mesh.spread(y, bounds, at)
    mesh.gather(force, y, bounds, at, np.zeros(1))
    assert not grids[::2].any()  # its neighbours in memory
    if dims == 2:
        one = np.ones(1, np.float32)
        mesh.add_near(force, y, bounds, at, one, one, 1.6)


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
    assert plan_layers([-1.0, -1.0], [1.0, 1.0]) is None  # small maps have one layer
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


def test_meshes_refuse_what_does_not_fit() -> None:
    y, bounds, origin = np.zeros((4, 2), np.float32), np.array([0, 2, 4]), (0.0, 0.0)
    mesh, force = mesh_of(20, 20), np.zeros((4, 2), np.float32)
    kernel = _native.PlaneKernel(np.zeros((21, 48), np.float32), (20, 40), True)
    too_few = np.zeros((2, 32, 16), np.float32)
    transform = np.zeros((21, 32), np.float32)
    wrong_bounds = r"outside the data|decrease|group of points"
    calls: list[tuple[str, Callable[..., object], tuple[Any, ...]]] = [
        ("dimensions", mesh.spread, (y, bounds, (0.0, 0.0, 0.0))),
        ("entry per point", mesh.spread, (y, bounds, origin, np.ones(3, np.float32))),
        ("shape of the map", mesh.gather, (force[:3], y, bounds, origin, np.zeros(2))),
        ("offset per grid", mesh.gather, (force, y, bounds, origin, np.zeros(3))),
        ("does not fit the fine one", mesh_of(6, 6).coarsen, (mesh_of(400, 400),)),
        ("too few nodes", _native.Mesh, (too_few, (20, 15), 1.0, 1)),
        ("kernel does not fit", mesh.convolve, (kernel,)),
        ("transform does not fit", _native.PlaneKernel, (transform, (24, 20), True)),
        ("product of 2, 3", _native.PlaneKernel, (transform, (20, 7), True)),
        ("does not fit the nodes", _native.PlaneKernel, (transform, (2**40, 2**40), True)),
        ("at least one node", _native.coarse_nodes, (2**63 - 1,)),
    ]
    for wrong in ([0, 2, 5], [-1, 2, 4], [0, 3, 2], [0, 4]):
        calls.append((wrong_bounds, mesh.spread, (y, np.array(wrong), origin)))
        calls.append((wrong_bounds, mesh.gather, (force, y, np.array(wrong), origin, np.zeros(2))))
    for message, call, arguments in calls:
        with pytest.raises(ValueError, match=message):
            call(*arguments)
