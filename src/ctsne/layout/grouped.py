"""Repulsion of a conditioned plane map: one mesh per label, and near pairs beside a coarse one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.layout.groups import Groups, groups_of
from ctsne.layout.layers import LayeredMesh, plan_layers
from ctsne.layout.mesh import REACH_SPACING, Mesh, MeshPlan, plan_mesh
from ctsne.layout.pairs import PairWeights

# Rough costs in nanoseconds on one core, to choose the quicker way; no result depends on them
# beyond the mesh's stated accuracy. Of a node of a mesh before it is doubled, and of one in two
# layers; of a pair summed exactly; of a point and a candidate in the sum over near pairs.
_NODE_COST = 6.0
_LAYERED_NODE_COST = 3.5
_PAIR_COST = 0.2
_GENERAL_PAIR_COST = 1.5
_NEAR_POINT_COST = 30.0
_NEAR_PAIR_COST = 0.28
# Candidates per squared reach where points lie evenly, and how much denser they lie in maps.
_NEAR_CANDIDATES = 6.25
_CLUMPING = 2.5
# Reaches to choose from, a small factor apart: one kernel transform serves many steps. A shorter
# one saves too little of the mesh, a longer one is never worth its pairs.
_REACHES = tuple(1.6 * 1.25**k for k in range(10))


@dataclass(frozen=True)
class Way:
    """How the forces are to be computed.

    Attributes
    ----------
    plan : MeshPlan
        The mesh of every group: of the whole kernel, of its near part with a coarse mesh for the
        rest, or without its near part, which is then summed over pairs.
    origin : tuple of float
        Where its first node lies.
    n_single : int
        The largest labels that are groups of their own; inside the others, what a pair weighs more
        than across labels remains to be added.
    """

    plan: MeshPlan
    origin: tuple[float, ...]
    n_single: int


class GroupedRepulsion:
    """Weighted sums over all pairs of a plane map whose points come in groups.

    Weights are applied to the charges on the mesh, so every point is put on one mesh and reads one.
    Most meshes have two layers. Where many are needed for few points, the fine layer costs more
    than the near pairs it stands for, and these are summed instead.

    Parameters
    ----------
    n : int
    weights : PairWeights
    dof : float
    n_jobs : int
    mesh : bool
        Whether every label gets a mesh of its own, however small.
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
        # Of every label if it is summed exactly, and of all labels from one on.
        self._exact_cost = np.full(len(counts), np.inf) if mesh else pair * counts**2
        self._exact_costs = np.append(np.cumsum(self._exact_cost[::-1])[::-1], 0.0)
        self._groups: dict[int, Groups | None] = {}
        self._mesh: Mesh | LayeredMesh | None = None

    def choose(self, low: Sequence[float], high: Sequence[float]) -> Way | None:
        """Choose the quickest way for a map between two corners; None where there is none.

        The choice depends on nothing but the map, so a continued run chooses as an uninterrupted
        one.
        """
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
        """Find the cost of a mesh, and the labels that are worth one of their own."""
        mesh = (_LAYERED_NODE_COST if plan.near else _NODE_COST) * math.prod(plan.nodes)
        n_single = int(np.count_nonzero(self._exact_cost > mesh))
        cost = (n_single + 1) * mesh + self._exact_costs[n_single]
        if plan.pairs:
            cost += self._n * (_NEAR_POINT_COST + self._pair_cost(low, high) * plan.reach**2)
        return cost, Way(plan, origin, n_single)

    def _pair_cost(self, low: Sequence[float], high: Sequence[float]) -> float:
        """Cost of the near pairs of a point, for a reach of one."""
        area = max(1e-30, (high[0] - low[0]) * (high[1] - low[1]))
        return _NEAR_PAIR_COST * _NEAR_CANDIDATES * _CLUMPING * self._n / area

    def _best_reach(self, low: Sequence[float], high: Sequence[float]) -> float:
        """Reach at which the meshes cost as much as the near pairs, and both together the least."""
        n_single = np.count_nonzero(self._exact_cost > _NODE_COST * 2**14)
        area = (high[0] - low[0]) * (high[1] - low[1])
        mesh = (n_single + 1) * _NODE_COST * area / REACH_SPACING**2
        best = (mesh / (self._n * self._pair_cost(low, high))) ** 0.25
        return min(_REACHES, key=lambda reach: abs(reach - best))

    def add(self, way: Way, y: NDArray[np.float32], force: NDArray[np.float32]) -> float:
        """Add the forces, and return the potential summed over all points."""
        groups, plan = self._groups_of(way.n_single), way.plan
        assert groups is not None
        shape = plan, len(groups.charge)
        if self._mesh is None or (self._mesh.plan, self._mesh.groups) != shape:
            self._mesh = LayeredMesh(*shape) if plan.near else Mesh(*shape)
        mesh = self._mesh
        _native.spread(
            y, groups.bounds, None, plan.nodes, way.origin, plan.spacing, self._n_jobs, mesh.grids
        )
        _native.mix_groups(groups.charge, groups.own, groups.unlabelled, self._n_jobs, mesh.grids)
        fields, floor = mesh.convolve(self._n_jobs)
        potential = _native.gather(
            fields, y, groups.bounds, floor * groups.acting, 1.0, None, plan.nodes, way.origin,
            plan.spacing, self._n_jobs, force,
        )  # fmt: skip
        if plan.pairs:
            (left, bottom), (rows, columns) = way.origin, plan.nodes
            potential += _native.repel_near(
                y, groups.bounds, groups.charge, groups.same, (left, bottom),
                (left + rows * plan.spacing, bottom + columns * plan.spacing), plan.reach,
                self._n_jobs, force,
            )  # fmt: skip
        # No part knows which charge is a point's own, at distance zero: take it off again.
        return potential - groups.own_potential

    def _groups_of(self, n_single: int) -> Groups | None:
        if n_single not in self._groups:
            self._groups[n_single] = groups_of(self._weights, self._n, n_single)
        return self._groups[n_single]
