"""Repulsion between all points: by the exact sum or by the particle mesh, whichever is faster.

In a conditioned plane map, the largest labels have one mesh each, and weights apply to the charges
on the meshes: every point writes to one grid and reads one. Otherwise the weighted sum is written
as a few sums between ranges of points, the channels.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs, check_number
from ctsne._core.messages import warn
from ctsne.layout.mesh import REACH_SPACING, Corner, Mesh, MeshPlan, plan_layers, plan_mesh
from ctsne.layout.weights import PairWeights, Ranges, Term

# Rough costs in nanoseconds on one core, to choose the fastest computation; results depend on them
# only within the mesh's stated accuracy. Costs of a pair summed exactly; by number of dimensions,
# of a node of the doubled mesh and of a point.
_PAIR_COST = 0.3
_GENERAL_PAIR_COST = 1.5
_NODE_COST = (8.0, 2.0, 8.0)
_POINT_COST = (15.0, 30.0, 120.0)
_PATIENCE = 4.0
# With one mesh per range: costs of a node of a mesh before it is doubled, and with two layers; of a
# pair inside a range; of a point and of a candidate in the sum over near pairs.
_GROUPED_NODE_COST = 6.0
_LAYERED_NODE_COST = 3.5
_INSIDE_PAIR_COST = 0.2
_NEAR_POINT_COST = 30.0
_NEAR_PAIR_COST = 0.28
# Candidates per squared reach for evenly spaced points, and how much denser points are in maps.
_NEAR_CANDIDATES = 6.25
_CLUMPING = 2.5
# Reaches to choose from, a small factor apart, so that one kernel transform serves many steps.
# Shorter ones save too little of the mesh; longer ones have too many pairs.
_REACHES = tuple(1.6 * 1.25**k for k in range(10))
# Larger labels may have a mesh of their own; the others are summed exactly, many in one call.
LARGE_LABEL = 1000
# Charge of unlabelled points. Its product with any other is at least one, where weights are capped.
_UNLABELLED_CHARGE = 1e20
_WIDEST = 1e15  # beyond this, squared distances are too large for single precision
# What to change if a map cannot be computed.
REMEDY = "use a smaller dof, learning_rate or exaggeration, or a start (init) of about 1e-4 across"

_Singles = NDArray[np.float32]
Extent = tuple[Corner, Corner]


def check_dof(dof: object) -> float:
    """Return the degrees of freedom of a kernel that single precision represents."""
    return check_number(dof, "dof", low=0.05, high=1000)


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
        self._dof = dof
        n_jobs = check_jobs(n_jobs)
        main = [_Channel((0, n), (0, n), 1.0)] if weights is None else weights.main
        self._main = RangeSum(n, main, dof=dof, n_jobs=n_jobs, exact=exact)
        self._terms = [
            (term, RangeSum(len(term.points), _inside(term), dof=dof, n_jobs=n_jobs, exact=exact))
            for term in (() if weights is None else weights.terms)
        ]

    def __call__(self, y: _Singles, extent: Extent | None = None) -> tuple[_Singles, float]:
        """Compute the forces on all points, and the normaliser over all ordered pairs.

        The forces are ``(dof+1)/(2 dof) sum_j c_ij K_ij (y_i - y_j) / (1 + d_ij²/dof)``, and the
        normaliser is ``sum_{i != j} c_ij K_ij``. ``extent`` holds the least and the greatest
        coordinates, if known.
        """
        low, high = extent or (y.min(axis=0).tolist(), y.max(axis=0).tolist())
        width = max(b - a for a, b in zip(low, high, strict=True))
        if not all(map(math.isfinite, (*low, *high))) or width > _WIDEST:
            raise ValueError(f"the map is {abs(width):g} wide, too wide for any forces; {REMEDY}")
        force, normaliser = self._main(y, low, high)
        for term, inside in self._terms:
            added, potential = inside(y[term.points], low, high)
            force[term.points] += np.float32(term.coefficient) * added
            normaliser += term.coefficient * potential
        if not 0 < normaliser < math.inf:
            raise ValueError(
                f"the points of the map are so far apart ({width:g}) that the sum of their kernel "
                f"is lost to rounding ({normaliser:g}, dof={self._dof:g}); {REMEDY}"
            )
        return force, normaliser


@dataclass(frozen=True)
class _Channel:
    """Charges of one range of points that act on another range."""

    sources: tuple[int, int]
    targets: tuple[int, int]
    coefficient: float
    charge: _Singles | None = None  # of every point of the map; one by default

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


def _across_ranges(weights: Ranges) -> list[_Channel]:
    """Write the weighted sum over all pairs, without what is added inside ranges, as channels."""
    # Across ranges the weight is the product of two roots of beta, that is of two charges.
    n, m = weights.n, int(weights.bounds[-1])
    if not m:
        return [_Channel((0, n), (0, n), 1.0)]
    if (weights.beta == 0).all() and m == n:
        return []  # only pairs inside ranges count
    if np.ptp(weights.beta) == 0:
        channels = [_Channel((0, m), (0, m), float(weights.beta[0]))]
    else:
        charge = np.ones(n, np.float32)
        charge[:m] = np.repeat(np.sqrt(weights.beta), np.diff(weights.bounds))
        channels = [_Channel((0, m), (0, m), 1.0, charge)]
    if m < n:
        channels += [_Channel((m, n), (0, n), 1.0), _Channel((0, m), (m, n), 1.0)]
    return channels


_Weights = Ranges | list[_Channel]


def _inside(term: Term) -> _Weights:
    """Return weights of one, or of the charges, inside the groups of a term and zero across."""
    n, n_groups = len(term.points), len(term.bounds) - 1
    if term.charge is None and n_groups > 1:
        return Ranges(n, term.bounds, np.zeros(n_groups), np.ones(n_groups))
    groups = [(int(a), int(b)) for a, b in itertools.pairwise(term.bounds) if b - a > 1]
    return [_Channel(group, group, 1.0, term.charge) for group in groups]


@dataclass(frozen=True)
class _View:
    """A map, its forces, and the mesh that would hold it."""

    y: _Singles
    force: _Singles
    n_jobs: int
    plan: MeshPlan
    origin: tuple[float, ...]

    @cached_property
    def pairs(self) -> _native.PairSum:
        """The exact sum over pairs."""
        return _native.PairSum(self.y, self.plan.dof, self.n_jobs)


class Groups(NamedTuple):
    """Ranges of points, one per mesh, with weights written as charges.

    Across groups the weight of a pair is the product of both charges, inside a group ``own`` more;
    with an unlabelled point it is one.
    """

    bounds: NDArray[np.int64]  # group g holds points bounds[g] to bounds[g + 1]
    charge: _Singles
    own: _Singles
    unlabelled: bool  # whether the last group holds the unlabelled points
    acting: NDArray[np.float64]  # weighted number of points that act on a point, itself included

    @property
    def same(self) -> _Singles:
        """Weight of a pair inside each group."""
        return np.minimum(self.charge, 1) ** 2 + self.own


def groups_of(weights: Ranges, n_single: int) -> Groups | None:
    """Make a group of each of the largest ranges, the others and unlabelled points, if possible."""
    n, m = weights.n, int(weights.bounds[-1])
    rest = weights.beta[n_single:]
    if np.ptp(weights.beta) > 0 and (m < n or (len(rest) and np.ptp(rest) > 0)):
        return None
    charge = np.sqrt(weights.beta[: n_single + 1]).astype(np.float32)
    own = np.append(weights.own[:n_single], 0.0)[: len(charge)].astype(np.float32)
    bounds = np.append(weights.bounds[: len(charge)], m)
    charges, counts = charge.astype(np.float64), np.diff(bounds).astype(np.float64)
    acting = charges * (charges * counts).sum() + own.astype(np.float64) * counts
    if m < n:
        charge = np.append(charge, np.float32(_UNLABELLED_CHARGE))
        own, bounds = np.append(own, np.float32(0)), np.append(bounds, n)
        acting = np.append(acting + float(n - m), float(n))
    return Groups(bounds, charge, own, m < n, acting)


class GroupPlan(NamedTuple):
    """The mesh of every group; inside ranges without a group, weights are left to add."""

    cost: float
    plan: MeshPlan  # for the whole kernel, in two layers, or without the near part of the kernel
    origin: tuple[float, ...]  # position of the first node
    n_single: int  # the largest ranges, which are groups of their own


class RangeSum:
    """Forces and potential of points in ranges, or of channels between ranges of points."""

    def __init__(
        self, n: int, weights: _Weights, *, dof: float, n_jobs: int, exact: bool | None
    ) -> None:
        self._n, self._dof, self._n_jobs, self._exact = n, dof, n_jobs, exact
        self._warned = False
        self._mesh: Mesh | None = None
        self._weights = weights if isinstance(weights, Ranges) and len(weights.own) else None
        self._channels = _across_ranges(weights) if isinstance(weights, Ranges) else weights
        self._groups: dict[int, Groups | None] = {}
        if self._weights is not None:
            counts = np.diff(self._weights.bounds).astype(np.float64)
            pair = _INSIDE_PAIR_COST if dof == 1 else _GENERAL_PAIR_COST
            # Exact sums: of each range, and of all ranges from each one on.
            self._exact_cost = np.full(len(counts), np.inf) if exact is False else pair * counts**2
            self._exact_costs = np.append(np.cumsum(self._exact_cost[::-1])[::-1], 0.0)

    def __call__(self, y: _Singles, low: Corner, high: Corner) -> tuple[_Singles, float]:
        """Compute forces and normaliser of a map between two corners."""
        view = _View(y, np.zeros_like(y), self._n_jobs, *plan_mesh(low, high, self._dof))
        if self._weights is not None and not self._exact_is_quicker(self._n, self._n, view.plan):
            chosen = self.choose(low, high)
            if chosen is not None:
                normaliser = self.add_groups(chosen, y, view.force)
                return view.force, normaliser + self._add_exactly(range(chosen.n_single), view)
        normaliser = sum((self._add(channel, view) for channel in self._channels), 0.0)
        if self._weights is not None:
            normaliser += self._add_inside_ranges(self._weights, view)
        return view.force, normaliser

    def _add_inside_ranges(self, weights: Ranges, view: _View) -> float:
        """Add the forces inside each range: exactly for small ranges, by mesh for large ones."""
        by_mesh = [
            place
            for place, count in enumerate(np.diff(weights.bounds).tolist())
            if (count > LARGE_LABEL or self._exact is False)
            and not self._exact_is_quicker(count, count, view.plan)
        ]
        potential = self._add_exactly(by_mesh, view)
        for place in by_mesh:
            ends = (int(weights.bounds[place]), int(weights.bounds[place + 1]))
            own = float(np.float32(weights.own[place]))
            potential += self._add(_Channel(ends, ends, own), view)
        return potential

    def _add_exactly(self, but: Sequence[int], view: _View) -> float:
        """Add the forces inside all ranges except some."""
        assert self._weights is not None
        if len(but) == len(self._weights.own):
            return 0.0
        coefficient = self._weights.own.astype(np.float32)
        coefficient[but] = 0
        return view.pairs.add_inside(view.force, self._weights.bounds, coefficient)

    def _add(self, channel: _Channel, view: _View) -> float:
        """Add the forces of a channel, and return its potential summed over the targets."""
        sources, targets = channel.sources, channel.targets
        if self._exact_is_quicker(sources[1] - sources[0], targets[1] - targets[0], view.plan):
            return view.pairs.add(view.force, sources, targets, channel.coefficient, channel.charge)
        mesh = self._mesh_of(view.plan, 1, view.y)
        mesh.native.spread(view.y, np.array(sources), view.origin, channel.charge)
        offset = np.array([mesh.convolve() * channel.total])
        read = view.force, view.y, np.array(targets), view.origin, offset
        potential = mesh.native.gather(*read, channel.coefficient, channel.charge)
        # The mesh includes each point's own charge, at distance zero: subtract it.
        return potential - channel.own

    def _mesh_of(self, plan: MeshPlan, n_grids: int, y: _Singles) -> Mesh:
        if not plan.accurate and not self._warned:
            self._warned = True
            warn(
                f"the map is so wide ({np.ptp(y, axis=0).max():.0f}) that its forces are computed "
                "on a coarser mesh, with errors above 1 %; a map with fewer dimensions avoids this"
            )
        if self._mesh is None or (self._mesh.plan, len(self._mesh.grids)) != (plan, n_grids):
            self._mesh = Mesh(plan, n_grids, n_jobs=self._n_jobs)
        return self._mesh

    def _exact_is_quicker(self, sources: int, targets: int, plan: MeshPlan) -> bool:
        if self._exact is not None:
            return self._exact
        pair = _PAIR_COST if self._dof == 1 else _GENERAL_PAIR_COST
        axes = len(plan.nodes) - 1
        mesh = _NODE_COST[axes] * plan.size + _POINT_COST[axes] * (sources + targets)
        if not plan.accurate:  # accept a slower exact sum to stay accurate
            mesh *= _PATIENCE
        return pair * sources * targets < mesh

    def choose(self, low: Corner, high: Corner) -> GroupPlan | None:
        """Choose the fastest groups and meshes between two corners; None if there are none."""
        if len(low) != 2:
            return None
        # The cost of the near pairs of all points, for a reach of one.
        area = (high[0] - low[0]) * (high[1] - low[1])
        near = _NEAR_PAIR_COST * _NEAR_CANDIDATES * _CLUMPING * self._n**2 / max(1e-30, area)
        meshes = [plan_mesh(low, high, self._dof)]
        if self._dof == 1:
            # The reach at which meshes and near pairs together cost the least.
            n_single = np.count_nonzero(self._exact_cost > _GROUPED_NODE_COST * 2**14)
            mesh = (n_single + 1) * _GROUPED_NODE_COST * area / REACH_SPACING**2
            best = (mesh / near) ** 0.25
            reach = min(_REACHES, key=lambda reach: abs(reach - best))
            # With many grids and few points, a fine layer costs more than near pairs.
            meshes = [plan_layers(low, high) or meshes[0], plan_mesh(low, high, 1.0, reach)]
        chosen = min((self._group_plan(near, *mesh) for mesh in meshes), key=lambda plan: plan.cost)
        return None if self._groups_of(chosen.n_single) is None else chosen

    def _group_plan(self, near: float, plan: MeshPlan, origin: tuple[float, ...]) -> GroupPlan:
        """Return the cost of a mesh, with a group for every range that is worth one."""
        mesh = (_LAYERED_NODE_COST if plan.near else _GROUPED_NODE_COST) * math.prod(plan.nodes)
        n_single = int(np.count_nonzero(self._exact_cost > mesh))
        cost = (n_single + 1) * mesh + self._exact_costs[n_single]
        if plan.pairs:
            cost += self._n * _NEAR_POINT_COST + near * plan.reach**2
        return GroupPlan(cost, plan, origin, n_single)

    def add_groups(self, chosen: GroupPlan, y: _Singles, force: _Singles) -> float:
        """Add the forces of all groups, and return the potential summed over all points."""
        groups, plan, origin = self._groups_of(chosen.n_single), chosen.plan, chosen.origin
        assert groups is not None
        mesh = self._mesh_of(plan, len(groups.charge), y)
        mesh.native.spread(y, groups.bounds, origin)
        mesh.native.mix(groups.charge, groups.own, groups.unlabelled)
        offset = mesh.convolve() * groups.acting
        potential = mesh.native.gather(force, y, groups.bounds, origin, offset)
        same = groups.same
        if plan.pairs:
            potential += mesh.native.add_near(
                force, y, groups.bounds, origin, groups.charge, same, plan.reach
            )
        # All parts include each point's own charge, at distance zero: subtract it.
        return potential - float((np.diff(groups.bounds) * same.astype(np.float64)).sum())

    def _groups_of(self, n_single: int) -> Groups | None:
        if n_single not in self._groups:
            assert self._weights is not None
            self._groups[n_single] = groups_of(self._weights, n_single)
        return self._groups[n_single]
