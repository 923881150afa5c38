"""Repulsion between all points: by the exact sum or by the particle mesh, whichever is faster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs, check_number
from ctsne._core.messages import warn
from ctsne.layout.grouped import GroupedRepulsion
from ctsne.layout.mesh import Mesh, MeshPlan, plan_mesh
from ctsne.layout.pairs import PairWeights

# Rough costs in nanoseconds on one core, to choose the faster way; results depend on them only
# within the mesh's stated accuracy.
_PAIR_COST = 0.3
_GENERAL_PAIR_COST = 1.5
_NODE_COST = (8.0, 2.0, 8.0)
_POINT_COST = (15.0, 30.0, 120.0)
_PATIENCE = 4.0
# Larger labels may have a mesh of their own; the others are summed exactly, many in one call.
LARGE_LABEL = 1000
# Beyond this, squared distances are too large for single precision.
_WIDEST = 1e15
# What to change if a map cannot be computed.
REMEDY = "use a smaller dof, learning_rate or exaggeration, or a start (init) of about 1e-4 across"


def check_dof(dof: object) -> float:
    """Return the degrees of freedom of a kernel that single precision represents."""
    return check_number(dof, "dof", low=0.05, high=1000)


Extent = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class _Channel:
    """Charges of one range of points that act on another range."""

    sources: tuple[int, int]
    targets: tuple[int, int]
    coefficient: float
    charge: NDArray[np.float32] | None = None  # of every point of the map; one by default

    @cached_property
    def total(self) -> float:
        """Total charge of the sources."""
        if self.charge is None:
            return float(self.sources[1] - self.sources[0])
        return float(self.charge[slice(*self.sources)].sum(dtype=np.float64))

    @cached_property
    def own(self) -> float:
        """What points that are both sources and targets add to their own potential."""
        begin = max(self.sources[0], self.targets[0])
        end = max(begin, min(self.sources[1], self.targets[1]))
        charges = np.ones(end - begin) if self.charge is None else self.charge[begin:end]
        return self.coefficient * float((charges.astype(np.float64) ** 2).sum())


def _across_labels(n: int, weights: PairWeights) -> list[_Channel]:
    """Write the weighted sum as sums over ranges of points.

    Across labels the weight is the product of two roots of beta, that is of two charges; inside a
    label the difference to alpha is left to add. Pairs with unlabelled points have weight one.
    """
    m = weights.n_labelled
    if (weights.beta == 0).all() and m == n:
        return []  # only pairs inside labels count
    if np.ptp(weights.beta) == 0:
        channels = [_Channel((0, m), (0, m), float(weights.beta[0]))]
    else:
        charge = np.ones(n, np.float32)
        charge[:m] = np.repeat(np.sqrt(weights.beta), np.diff(weights.bounds))
        channels = [_Channel((0, m), (0, m), 1.0, charge)]
    if m < n:
        channels += [_Channel((m, n), (0, n), 1.0), _Channel((0, m), (m, n), 1.0)]
    return channels


@dataclass(frozen=True)
class _View:
    """A map, and the mesh that would hold it."""

    y: NDArray[np.float32]
    n_jobs: int
    plan: MeshPlan
    origin: tuple[float, ...]

    @cached_property
    def pairs(self) -> _native.PairSum:
        """The exact sum over pairs."""
        return _native.PairSum(self.y, self.plan.dof, self.n_jobs)


class Repulsion:
    """Potential ``sum_j c_ij K_ij`` of a map of ``n`` points, and its forces.

    With ``weights``, points must come in the order of ``weights.order``. ``exact`` forces the exact
    sum or the mesh; by default the faster one is used.
    """

    def __init__(
        self,
        n: int,
        *,
        dof: float = 1.0,
        weights: PairWeights | None = None,
        n_jobs: int = 1,
        exact: bool | None = None,
    ) -> None:
        self._n = n
        self._dof = dof
        self._n_jobs = check_jobs(n_jobs)
        self._exact = exact
        self._warned = False
        self._mesh: Mesh | None = None
        self._bounds = np.zeros(1, np.int64)
        self._own = np.zeros(0, np.float32)
        self._grouped: GroupedRepulsion | None = None
        if weights is None or weights.n_labelled == 0:
            self._channels = [_Channel((0, n), (0, n), 1.0)]
        else:
            self._channels = _across_labels(n, weights)
            self._bounds = weights.bounds
            self._own = (weights.alpha - weights.beta).astype(np.float32)
            self._grouped = GroupedRepulsion(
                n, weights, dof=dof, n_jobs=self._n_jobs, mesh=exact is False
            )

    def __call__(
        self, y: NDArray[np.float32], extent: Extent | None = None
    ) -> tuple[NDArray[np.float32], float]:
        """Compute the forces on all points, and the normaliser over all ordered pairs.

        The forces are ``(dof+1)/(2 dof) sum_j c_ij K_ij (y_i - y_j) / (1 + d_ij²/dof)``, and the
        normaliser is ``sum_{i != j} c_ij K_ij``. ``extent`` holds the least and the greatest
        coordinates, if known.
        """
        low, high = extent or (y.min(axis=0).tolist(), y.max(axis=0).tolist())
        width = max(b - a for a, b in zip(low, high, strict=True))
        if not all(map(math.isfinite, (*low, *high))) or width > _WIDEST:
            raise ValueError(f"the map is {abs(width):g} wide, too wide for any forces; {REMEDY}")
        force, normaliser = self.sums(y, low, high)
        if not 0 < normaliser < math.inf:
            raise ValueError(
                f"the points of the map are so far apart ({width:g}) that the sum of their kernel "
                f"is lost to rounding ({normaliser:g}, dof={self._dof:g}); {REMEDY}"
            )
        return force, normaliser

    def sums(
        self, y: NDArray[np.float32], low: Sequence[float], high: Sequence[float]
    ) -> tuple[NDArray[np.float32], float]:
        """Compute forces and normaliser of a map between two corners, whatever they are."""
        view = _View(y, self._n_jobs, *plan_mesh(low, high, self._dof))
        force = np.zeros_like(y)
        way = None
        if self._grouped is not None and not self._exact_is_quicker(self._n, self._n, view.plan):
            way = self._grouped.choose(low, high)
        if self._grouped is not None and way is not None:
            self._warn_if_coarse(way.plan, y)
            normaliser = self._grouped.add(way, y, force)
            normaliser += self._add_exactly(range(way.n_single), view, force)
            return force, normaliser
        normaliser = sum((self._add(channel, view, force) for channel in self._channels), 0.0)
        if len(self._own):
            normaliser += self._add_inside_labels(view, force)
        return force, normaliser

    def _add_inside_labels(self, view: _View, force: NDArray[np.float32]) -> float:
        """Add the forces inside each label: exactly for small labels, by mesh for large ones."""
        counts = np.diff(self._bounds)
        by_mesh = [
            int(label)
            for label in np.flatnonzero((counts > LARGE_LABEL) | (self._exact is False))
            if not self._exact_is_quicker(int(counts[label]), int(counts[label]), view.plan)
        ]
        potential = self._add_exactly(by_mesh, view, force)
        for label in by_mesh:
            own = (int(self._bounds[label]), int(self._bounds[label + 1]))
            potential += self._add(_Channel(own, own, float(self._own[label])), view, force)
        return potential

    def _add_exactly(self, but: Sequence[int], view: _View, force: NDArray[np.float32]) -> float:
        """Add the forces inside all labels except some."""
        if len(but) == len(self._own):
            return 0.0
        coefficient = self._own.copy()
        coefficient[but] = 0
        return view.pairs.add_inside(force, self._bounds, coefficient)

    def _exact_is_quicker(self, sources: int, targets: int, plan: MeshPlan) -> bool:
        if self._exact is not None:
            return self._exact
        pair = _PAIR_COST if self._dof == 1 else _GENERAL_PAIR_COST
        axes = len(plan.nodes) - 1
        mesh = _NODE_COST[axes] * plan.size + _POINT_COST[axes] * (sources + targets)
        if not plan.accurate:  # accept a slower exact sum to stay accurate
            mesh *= _PATIENCE
        return pair * sources * targets < mesh

    def _warn_if_coarse(self, plan: MeshPlan, y: NDArray[np.float32]) -> None:
        if plan.accurate or self._warned:
            return
        self._warned = True
        warn(
            f"the map is so wide ({np.ptp(y, axis=0).max():.0f}) that its forces are computed on "
            "a coarser mesh, with errors above 1 %; a map with fewer dimensions avoids this"
        )

    def _add(self, channel: _Channel, view: _View, force: NDArray[np.float32]) -> float:
        """Add the forces of a channel, and return its potential summed over the targets."""
        plan = view.plan
        sources = channel.sources[1] - channel.sources[0]
        targets = channel.targets[1] - channel.targets[0]
        if self._exact_is_quicker(sources, targets, plan):
            return view.pairs.add(
                force, channel.sources, channel.targets, channel.coefficient, channel.charge
            )
        self._warn_if_coarse(plan, view.y)
        if self._mesh is None or self._mesh.plan != plan:
            self._mesh = Mesh(plan, n_jobs=self._n_jobs)
        mesh = self._mesh.native
        mesh.spread(view.y, np.array(channel.sources), view.origin, channel.charge)
        offset = np.array([self._mesh.convolve() * channel.total])
        potential = mesh.gather(
            force,
            view.y,
            np.array(channel.targets),
            view.origin,
            offset,
            channel.coefficient,
            channel.charge,
        )
        # The mesh includes each point's own charge, at distance zero: subtract it.
        return potential - channel.own
