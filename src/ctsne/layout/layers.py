"""A fine mesh for the near part of the kernel and a coarse one for the rest, as if they were one.

The near part ends at a short reach, so the fine mesh may wrap around: its transforms are a third of
those of a mesh doubled with zeros. Charges go from the fine mesh to the coarse one and potentials
come back node by node, and exactly: splines of the coarse mesh are sums of those of the fine one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.layout.mesh import MARGIN, REACH_SPACING, SPACING, Mesh, MeshPlan, fast_length, plan_mesh

# Where the near part ends: the coarse mesh, whose nodes are some times as far apart as those of the
# fine one, holds what is left of the kernel as exactly as it must.
REACH = _native.COARSER * SPACING / REACH_SPACING


def plan_layers(
    low: Sequence[float], high: Sequence[float]
) -> tuple[MeshPlan, tuple[float, ...]] | None:
    """Choose the fine mesh for a plane map between two corners, and where its first node lies.

    None for maps so small or so large that their mesh has another spacing than most.
    """
    plan, origin = plan_mesh(low, high, 1.0, REACH, near=True)
    return (plan, origin) if plan.spacing == SPACING else None


class LayeredMesh:
    """The arrays of a plan for the near part, and of the coarse mesh that belongs to it.

    Parameters
    ----------
    plan : MeshPlan
        From :func:`plan_layers`.
    groups : int
        Number of grids.
    """

    def __init__(self, plan: MeshPlan, groups: int) -> None:
        self._fine = Mesh(plan, groups)
        self._coarse = Mesh(_coarse_plan(plan), groups)

    @property
    def plan(self) -> MeshPlan:
        """The fine mesh."""
        return self._fine.plan

    @property
    def groups(self) -> int:
        """Number of grids."""
        return self._fine.groups

    @property
    def grids(self) -> NDArray[np.float32]:
        """The grids of the fine mesh."""
        return self._fine.grids

    def convolve(self, n_jobs: int) -> tuple[NDArray[np.float32], float]:
        """Convolve the charges on every grid with the whole kernel, as :meth:`Mesh.convolve`."""
        rows, columns = self.plan.nodes
        _native.coarsen(self.grids, (rows, columns), n_jobs, self._coarse.grids)
        far, floor = self._coarse.convolve(n_jobs)
        near, _ = self._fine.convolve(n_jobs)
        _native.refine(far, (rows, columns), n_jobs, near)
        return near, floor


def _coarse_plan(plan: MeshPlan) -> MeshPlan:
    nodes = tuple(fast_length(_native.coarse_nodes(n) + MARGIN) for n in plan.nodes)
    return MeshPlan(nodes, _native.COARSER * plan.spacing, plan.dof, plan.reach)
