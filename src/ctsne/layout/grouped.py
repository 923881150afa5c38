"""Repulsion of a conditioned plane map, with one mesh per label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctsne.layout.mesh import REACH_SPACING, Mesh, MeshPlan, plan_layers, plan_mesh
from ctsne.layout.pairs import Groups, PairWeights, groups_of

# Rough costs in nanoseconds on one core, to choose the fastest way; results depend on them only
# within the mesh's stated accuracy. Costs of a node of a mesh before it is doubled, and with two
# layers; of a pair summed exactly; of a point and of a candidate in the sum over near pairs.
_NODE_COST = 6.0
_LAYERED_NODE_COST = 3.5
_PAIR_COST = 0.2
_GENERAL_PAIR_COST = 1.5
_NEAR_POINT_COST = 30.0
_NEAR_PAIR_COST = 0.28
# Candidates per squared reach for evenly spaced points, and how much denser points are in maps.
_NEAR_CANDIDATES = 6.25
_CLUMPING = 2.5
# Reaches to choose from, a small factor apart, so that one kernel transform serves many steps.
# Shorter ones save too little of the mesh; longer ones have too many pairs.
_REACHES = tuple(1.6 * 1.25**k for k in range(10))


@dataclass(frozen=True)
class Way:
    """How to compute the forces: the mesh of every group, and the groups.

    Inside labels without a group, the weight of pairs beyond that across labels is left to add.
    """

    plan: MeshPlan  # for the whole kernel, in two layers, or without the near part of the kernel
    origin: tuple[float, ...]  # position of the first node
    n_single: int  # the largest labels, which are groups of their own


class GroupedRepulsion:
    """Weighted sums over all pairs of a plane map whose points come in groups.

    Weights apply to the charges on the mesh, so every point writes to one grid and reads one. Most
    meshes have two layers. If there are many grids and few points, the fine layer costs more than
    the near pairs it replaces, and these are summed instead. With ``mesh``, every label gets a
    group, however small.
    """

    def __init__(
        self, n: int, weights: PairWeights, *, dof: float, n_jobs: int, mesh: bool
    ) -> None:
        self._n = n
        self._weights = weights
        self._dof = dof
        self._n_jobs = n_jobs
        counts = np.diff(weights.bounds).astype(np.float64)
        pair = _PAIR_COST if dof == 1 else _GENERAL_PAIR_COST
        # Exact sums: of each label, and of all labels from each one on.
        self._exact_cost = np.full(len(counts), np.inf) if mesh else pair * counts**2
        self._exact_costs = np.append(np.cumsum(self._exact_cost[::-1])[::-1], 0.0)
        self._groups: dict[int, Groups | None] = {}
        self._mesh: Mesh | None = None

    def choose(self, low: Sequence[float], high: Sequence[float]) -> Way | None:
        """Choose the fastest way for a map between two corners; None if there is none."""
        if len(low) != 2:
            return None
        meshes = [plan_mesh(low, high, self._dof)]
        if self._dof == 1:
            meshes = [plan_layers(low, high) or meshes[0]]
            meshes += [plan_mesh(low, high, 1.0, self._best_reach(low, high))]
        _, way = min((self._way(low, high, *mesh) for mesh in meshes), key=lambda way: way[0])
        return None if self._groups_of(way.n_single) is None else way

    def _way(
        self, low: Sequence[float], high: Sequence[float], plan: MeshPlan, origin: tuple[float, ...]
    ) -> tuple[float, Way]:
        """Return the cost of a mesh, with a group for every label that is worth one."""
        mesh = (_LAYERED_NODE_COST if plan.near else _NODE_COST) * math.prod(plan.nodes)
        n_single = int(np.count_nonzero(self._exact_cost > mesh))
        cost = (n_single + 1) * mesh + self._exact_costs[n_single]
        if plan.pairs:
            cost += self._n * (_NEAR_POINT_COST + self._pair_cost(low, high) * plan.reach**2)
        return cost, Way(plan, origin, n_single)

    def _pair_cost(self, low: Sequence[float], high: Sequence[float]) -> float:
        """Return the cost of the near pairs of a point, for a reach of one."""
        area = max(1e-30, (high[0] - low[0]) * (high[1] - low[1]))
        return _NEAR_PAIR_COST * _NEAR_CANDIDATES * _CLUMPING * self._n / area

    def _best_reach(self, low: Sequence[float], high: Sequence[float]) -> float:
        """Return the reach at which meshes and near pairs together cost the least."""
        n_single = np.count_nonzero(self._exact_cost > _NODE_COST * 2**14)
        area = (high[0] - low[0]) * (high[1] - low[1])
        mesh = (n_single + 1) * _NODE_COST * area / REACH_SPACING**2
        best = (mesh / (self._n * self._pair_cost(low, high))) ** 0.25
        return min(_REACHES, key=lambda reach: abs(reach - best))

    def add(self, way: Way, y: NDArray[np.float32], force: NDArray[np.float32]) -> float:
        """Add the forces, and return the potential summed over all points."""
        groups, plan = self._groups_of(way.n_single), way.plan
        assert groups is not None
        n_groups = len(groups.charge)
        if self._mesh is None or (self._mesh.plan, len(self._mesh.grids)) != (plan, n_groups):
            self._mesh = Mesh(plan, n_groups, n_jobs=self._n_jobs)
        mesh = self._mesh.native
        mesh.spread(y, groups.bounds, way.origin)
        mesh.mix(groups.charge, groups.own, groups.unlabelled)
        offset = self._mesh.convolve() * groups.acting
        potential = mesh.gather(force, y, groups.bounds, way.origin, offset)
        if plan.pairs:
            potential += mesh.add_near(
                force, y, groups.bounds, way.origin, groups.charge, groups.same, plan.reach
            )
        # All parts include each point's own charge, at distance zero: subtract it.
        return potential - groups.own_potential

    def _groups_of(self, n_single: int) -> Groups | None:
        if n_single not in self._groups:
            self._groups[n_single] = groups_of(self._weights, self._n, n_single)
        return self._groups[n_single]
