"""The mesh's stated accuracy: forces within 1 % of the exact sum on real maps, at every phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from numpy.typing import NDArray

from ctsne import ConditionalTSNE, _native
from ctsne.layout.mesh import MOST_NODES, Mesh, MeshPlan, _spline_transform, plan_mesh
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
    ConditionalTSNE(
        method="tsne",
        n_components=request.param,
        callback=lambda iteration, loss, map_now: maps.append(map_now),
        callback_every=1,
        n_iter=1,
    ).fit(real_data("pancreas3").X)
    ConditionalTSNE(
        method="tsne",
        n_components=request.param,
        callback=lambda iteration, loss, map_now: maps.append(map_now),
        callback_every=150,
        random_state=0,
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


def test_a_mesh_too_coarse_is_told_and_avoided() -> None:
    rng = np.random.default_rng(0)
    corners = 200 * rng.choice([-1, 1], (500, 3))
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


def test_a_transform_larger_than_its_array() -> None:
    with pytest.raises(ValueError, match="does not fit the nodes"):
        _native.PlaneKernel(np.zeros((5, 16), np.float32), (2**40, 2**40), doubled=True)
    with pytest.raises(ValueError, match="at least one node"):
        _native.coarse_nodes(2**63 - 1)
