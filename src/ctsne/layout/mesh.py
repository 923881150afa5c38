"""The particle mesh: potential and forces of all points by one convolution.

Repulsion is the gradient of a potential, ``Phi(y) = sum_j K(|y - y_j|)``. Charges are spread on
a regular mesh with B-splines, convolved with the kernel by FFT, and potential and gradient are read
at every point with the same splines: two FFTs give both the normaliser and the forces.

Most plane maps use two layers: a fine mesh for the near part of the kernel and a coarse one for the
rest. The near part ends at a short reach, so the fine mesh can wrap around instead of being doubled
with zeros. Charges and potentials pass between them exactly: splines of the coarse mesh are sums of
those of the fine one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import scipy.fft
from numpy.typing import NDArray

import ctsne._native as _native

Corner = Sequence[float]  # the least or the greatest coordinates of a map

# Distance between nodes: the kernel's transform decays as exp(-k), and with splines of order 6 this
# spacing keeps the forces within 1 % of the exact sum (tests/layout/test_mesh.py).
SPACING = 0.4
# The same for a kernel without its near part, as a share of the reach of that part; at least as
# accurate as the whole kernel (tests/layout/test_mesh.py).
REACH_SPACING = 0.4
# The reach at which the coarse of two layers represents the rest of the kernel accurately enough.
REACH = _native.COARSER * SPACING / REACH_SPACING
CELLS = 32  # a map smaller than this many cells gets a finer mesh
# The kernel wraps around at the doubled mesh, with a kink that splines smear over some nodes.
MARGIN = 8
MOST_NODES = 2**27  # most nodes of the doubled mesh; a map that needs more gets a coarser one
_TOGETHER = 16  # planes of a volume that are transformed at once
WORTH_THREADS = 2**18  # smaller transforms are done before a second thread has started
# Many degrees of freedom make the kernel fall by more than its exponential can represent.
_MOST_ABOVE = 600.0
# Sizes are rounded up to a power of this, so that one kernel transform serves many steps.
GROWTH = 1.08


@dataclass(frozen=True)
class MeshPlan:
    """A mesh large enough for a map: nodes along each axis, and the distance between them.

    With a ``reach``, the mesh holds the kernel without its near part (:func:`near_part`), which is
    zero beyond that distance; or, if it is ``near``, the fine layer holds only that part and a
    coarse layer the rest.
    """

    nodes: tuple[int, ...]
    spacing: float
    dof: float
    reach: float = 0.0
    near: bool = False

    @property
    def size(self) -> int:
        """Nodes of the doubled mesh, on which a circular convolution does not wrap around."""
        return math.prod(2 * n for n in self.nodes)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Shape of the array: padded for vectors in the plane, else with the last axis doubled."""
        if len(self.nodes) == 2:
            rows, columns = self.nodes
            return _padded(rows, _native.BAND_ROWS), _padded(columns + 2, _native.BAND_COLUMNS)
        return (*self.nodes[:-1], 2 * self.nodes[-1])

    @property
    def pairs(self) -> bool:
        """Whether the near part of the kernel must be summed over pairs."""
        return self.reach > 0 and not self.near

    @property
    def accurate(self) -> bool:
        """Whether the nodes are close enough for the stated accuracy of the forces."""
        return self.spacing <= _finest(self.dof, 0.0 if self.near else self.reach)


def plan_mesh(
    low: Corner, high: Corner, dof: float, reach: float = 0.0, *, near: bool = False
) -> tuple[MeshPlan, tuple[float, ...]]:
    """Choose the mesh for a map between two corners, and the position of its first node."""
    # The choice depends only on the map, so a continued run makes the same one.
    extent = [float(b) - float(a) for a, b in zip(low, high, strict=True)]
    largest = _round_up(max(*extent, 1e-12))
    spacing = min(_finest(dof, 0.0 if near else reach), largest / CELLS)
    while True:
        cells = [math.ceil(_round_up(max(e, spacing)) / spacing) for e in extent]
        # Leave room for the near part, so that it does not wrap around onto points.
        margin = math.ceil(reach / spacing) + _native.SPLINE_ORDER if near else MARGIN
        nodes = tuple(fast_length(c + _native.SPLINE_ORDER + margin) for c in cells)
        plan = MeshPlan(nodes, spacing, dof, reach, near)
        if plan.size <= MOST_NODES:
            break
        spacing *= 1.25
    origin = tuple(
        0.5 * (float(a) + float(b)) - 0.5 * spacing * (n - 1)
        for a, b, n in zip(low, high, nodes, strict=True)
    )
    return plan, origin


def plan_layers(low: Corner, high: Corner) -> tuple[MeshPlan, tuple[float, ...]] | None:
    """Choose the fine of two layers; None if the map is too small or too large for its spacing."""
    plan, origin = plan_mesh(low, high, 1.0, REACH, near=True)
    return (plan, origin) if plan.spacing == SPACING else None


@cache
def fast_length(n: int) -> int:
    """Return the smallest length of at least n with a fast transform."""
    return int(scipy.fft.next_fast_len(n, real=True))


def _padded(length: int, band: int) -> int:
    return -(-length // band) * band


def _finest(dof: float, reach: float) -> float:
    if reach > 0:
        return REACH_SPACING * reach
    # With less than one degree of freedom the kernel is narrower by the root of them.
    return SPACING * min(1.0, math.sqrt(dof))


def _round_up(length: float) -> float:
    return float(GROWTH ** math.ceil(math.log(length) / math.log(GROWTH)))


# Transform of the kernel over the doubled mesh, and the constant subtracted from it.
_Kernel = tuple[NDArray[np.float32] | _native.PlaneKernel, float]


@lru_cache(maxsize=3)
def _kernel_of(plan: MeshPlan) -> _Kernel:
    # The kernel's value at the largest distance is subtracted, with full precision in the
    # difference: on a map of size 1e-4 the potential varies by 1e-8 of its value, the force.
    if plan.near:
        return _near_kernel(plan)
    steps = [(np.arange(n + 1) * plan.spacing) ** 2 for n in plan.nodes]
    squared = np.asarray(sum(np.ix_(*steps)))
    farthest = float(squared[(-1,) * len(plan.nodes)])
    power = -0.5 * (plan.dof + 1)
    floor = float((1 + farthest / plan.dof) ** power)
    above = power * np.log1p((squared - farthest) / (plan.dof + farthest))  # the floor, as logs
    if above.flat[0] < _MOST_ABOVE:
        kernel = floor * np.expm1(above)
    else:
        kernel = (1 + squared / plan.dof) ** power * -np.expm1(-above)
    if plan.reach > 0:
        kernel -= near_part(squared, plan.reach)
    # The kernel is even along every axis, so its Fourier transform is a cosine transform.
    transform = scipy.fft.dctn(kernel, type=1)
    for squared_spline in np.ix_(*(_spline_transform(n) ** 2 for n in plan.nodes)):
        transform /= squared_spline
    if len(plan.nodes) == 2:
        _, columns = plan.nodes
        by_parity = np.r_[0 : columns + 1 : 2, 1 : columns + 1 : 2]
        return _plane_kernel(transform[:, by_parity] * (0.5 / plan.size), floor, plan)
    for axis, n in enumerate(plan.nodes[:-1]):  # negative frequencies, except on the last axis
        mirror = np.concatenate([np.arange(n + 1), np.arange(n - 1, 0, -1)])
        transform = np.take(transform, mirror, axis=axis)
    return np.ascontiguousarray(transform, np.float32), floor


def _near_kernel(plan: MeshPlan) -> _Kernel:
    """Compute the transform of the near part on a mesh that wraps around."""
    rows, columns = (
        (plan.spacing * np.minimum(np.arange(n), n - np.arange(n))) ** 2 for n in plan.nodes
    )
    kernel = near_part(rows[:, None] + columns, plan.reach)
    half = plan.nodes[0] // 2 + 1
    transform = scipy.fft.rfft2(kernel).real[:half]
    along_rows, along_columns = (_spline_transform(n)[::2] ** 2 for n in plan.nodes)
    transform /= along_rows[:, None] * along_columns
    return _plane_kernel(transform * (0.5 / math.prod(plan.nodes)), 0.0, plan)


def _plane_kernel(transform: NDArray[np.float64], floor: float, plan: MeshPlan) -> _Kernel:
    rows, columns = plan.nodes
    padded = np.zeros((len(transform), plan.grid_shape[1]), np.float32)
    padded[:, : transform.shape[1]] = transform
    return _native.PlaneKernel(padded, (rows, columns), doubled=not plan.near), floor


def near_part(squared: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Return the part of the kernel of one degree of freedom that is zero beyond a distance."""
    # ``K q⁴`` with a q that is linear in the squared distance, zero at the reach and one at the
    # pole of the kernel: the rest of the kernel is a polynomial within the reach, and smooth.
    q = np.maximum(0.0, reach**2 - squared) / (reach**2 + 1)
    return np.asarray(q**4 / (1 + squared))


def _spline_transform(n: int) -> NDArray[np.float64]:
    """Transform the B-spline's values at the nodes, for frequencies 0 to n of 2n."""
    order = _native.SPLINE_ORDER
    knots = np.arange(order + 1, dtype=np.float64)
    values = ((knots >= 0) & (knots < 1)).astype(np.float64)
    for k in range(2, order + 1):  # the spline of order k at the integers 0..order
        shifted = np.concatenate([[0.0], values[:-1]])
        values = (knots * values + (k - knots) * shifted) / (k - 1)
    half = order // 2
    phase = np.pi * np.arange(n + 1) / n
    return np.asarray(
        values[half] + 2 * sum(values[half + m] * np.cos(m * phase) for m in range(1, half))
    )


class Mesh:
    """Grids of a plan, one per group: points put charges on them and read potentials from them."""

    def __init__(self, plan: MeshPlan, groups: int = 1, *, n_jobs: int) -> None:
        self.plan = plan
        self.grids = np.zeros((groups, *plan.grid_shape), np.float32)
        self.native = _native.Mesh(self.grids, plan.nodes, plan.spacing, n_jobs)
        self._n_jobs = n_jobs
        self._coarse: Mesh | None = None
        if plan.near:
            nodes = tuple(fast_length(_native.coarse_nodes(n) + MARGIN) for n in plan.nodes)
            coarse = MeshPlan(nodes, _native.COARSER * plan.spacing, plan.dof, plan.reach)
            self._coarse = Mesh(coarse, groups, n_jobs=n_jobs)

    def __reduce__(self) -> tuple[partial[Mesh], tuple[MeshPlan, int]]:
        return partial(Mesh, n_jobs=self._n_jobs), (self.plan, len(self.grids))  # grids are scratch

    def convolve(self) -> float:
        """Turn charges into potentials; return a constant to add, times the charge of the grid."""
        if self._coarse is not None:
            self._coarse.native.coarsen(self.native)
        kernel, floor = _kernel_of(self.plan)
        if isinstance(kernel, _native.PlaneKernel):
            self.native.convolve(kernel)
        else:
            for grid in self.grids:
                _convolve(grid, kernel, self.plan, self._n_jobs)
        if self._coarse is not None:
            floor = self._coarse.convolve()
            self.native.refine(self._coarse.native)
        return floor


def _convolve(
    grid: NDArray[np.float32], kernel: NDArray[np.float32], plan: MeshPlan, n_jobs: int
) -> None:
    """Convolve the grid of a line or of a volume with the kernel, in its place."""
    *others, last = plan.nodes
    if not others:
        grid[:last] = scipy.fft.irfft(scipy.fft.rfft(grid) * kernel, n=2 * last)[:last]
        return
    rows, columns = others
    half = np.empty((rows, 2 * columns, last + 1), np.complex64)

    # Axis by axis, so that rows known to be zero are never transformed.
    def forth(part: slice) -> None:
        half[part] = scipy.fft.fft(scipy.fft.rfft(grid[part]), n=2 * columns, axis=1)

    def across(part: slice) -> None:
        spectrum = scipy.fft.fft(half[:, part], n=2 * rows, axis=0)
        spectrum *= kernel[:, part]
        half[:, part] = scipy.fft.ifft(spectrum, axis=0, overwrite_x=True)[:rows]

    def back(part: slice) -> None:
        spectrum = scipy.fft.ifft(half[part], axis=1)[:, :columns]
        grid[part, :, :last] = scipy.fft.irfft(spectrum, n=2 * last)[..., :last]

    # On ARM64, a transform has other last bits where fewer are left than fill a vector, so what is
    # transformed together does not depend on the number of threads.
    with ThreadPoolExecutor(n_jobs if plan.size >= WORTH_THREADS else 1) as pool:
        for step, length in ((forth, rows), (across, 2 * columns), (back, rows)):
            parts = (slice(at, at + _TOGETHER) for at in range(0, length, _TOGETHER))
            deque(pool.map(step, parts), maxlen=0)
