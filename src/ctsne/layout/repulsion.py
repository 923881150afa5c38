"""Repulsion between all points: exact where that is quicker, by the particle mesh elsewhere."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne._validation import check_jobs
from ctsne.layout.mesh import MeshPlan, convolve, empty_grid, plan_mesh
from ctsne.layout.pairs import PairWeights

# Rough costs in nanoseconds on one core, to choose the quicker way; no result depends on them
# beyond the mesh's stated accuracy.
_PAIR_COST = 0.3
_GENERAL_PAIR_COST = 1.5
_NODE_COST = 8.0
_POINT_COST = (15.0, 30.0, 120.0)
_PATIENCE = 4.0


@dataclass(frozen=True)
class _Channel:
    """Charges of one range of points acting on another."""

    sources: tuple[int, int]
    targets: tuple[int, int]
    coefficient: float
    source_charge: NDArray[np.float32] | None = None
    target_charge: NDArray[np.float32] | None = None


class Repulsion:
    """Potential and forces ``sum_j c_ij K_ij`` of a map.

    Parameters
    ----------
    n : int
        Number of points.
    dof : float
        Degrees of freedom of the kernel.
    weights : PairWeights, optional
        Weights of pairs; points must then come in the order of ``weights.order``.
    n_jobs : int
    exact : bool, optional
        Force the exact sum, or the mesh; by default the quicker.
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
        self._n_jobs = check_jobs(n_jobs)
        self._exact = exact
        self._warned = False
        self._bounds = np.zeros(1, np.int64)
        self._own = np.zeros(0, np.float32)
        if weights is None or weights.n_labelled == 0:
            self._channels = [_Channel((0, n), (0, n), 1.0)]
        else:
            self._condition(n, weights)

    def _condition(self, n: int, weights: PairWeights) -> None:
        """Split the weighted sum into sums over ranges of points.

        Across labels the weight is a product of the two roots of beta, that is of two charges;
        inside a label the difference to alpha is added. With unlabelled points nothing is weighted.
        """
        m = weights.n_labelled
        counts = np.diff(weights.bounds)
        self._bounds = weights.bounds
        self._own = (weights.alpha - weights.beta).astype(np.float32)
        if np.ptp(weights.beta) == 0:
            self._channels = [_Channel((0, m), (0, m), float(weights.beta[0]))]
        else:
            charge = np.ones(n, np.float32)
            charge[:m] = np.repeat(np.sqrt(weights.beta), counts)
            self._channels = [_Channel((0, m), (0, m), 1.0, charge, charge)]
        if m < n:
            self._channels += [_Channel((m, n), (0, n), 1.0), _Channel((0, m), (m, n), 1.0)]

    def __call__(self, y: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """Compute the forces on all points, and the normaliser over all ordered pairs.

        Parameters
        ----------
        y : ndarray of float32, shape (n, dims)

        Returns
        -------
        force : ndarray of float32, shape (n, dims)
            ``(dof+1)/(2 dof) sum_j c_ij K_ij (y_i - y_j) / (1 + d_ij²/dof)``
        normaliser : float
            ``sum_{i != j} c_ij K_ij``
        """
        force = np.zeros_like(y)
        potential = np.zeros(len(y))
        axes = np.ascontiguousarray(y.T)
        plan, origin = plan_mesh(axes, self._dof)
        for channel in self._channels:
            self._add(channel, y, axes, plan, origin, potential, force)
        if len(self._own):
            self._add_inside_labels(y, axes, plan, origin, potential, force)
        return force, float(potential.sum())

    def _add_inside_labels(
        self,
        y: NDArray[np.float32],
        axes: NDArray[np.float32],
        plan: MeshPlan,
        origin: tuple[float, ...],
        potential: NDArray[np.float64],
        force: NDArray[np.float32],
    ) -> None:
        """Add each label's action on itself: small ones exactly in one call, large ones by mesh."""
        counts = np.diff(self._bounds)
        by_mesh = [
            label
            for label in np.flatnonzero((counts > 1000) | (self._exact is False))
            if not self._exact_is_quicker(int(counts[label]), int(counts[label]), plan)
        ]
        coefficient = self._own.copy()
        coefficient[by_mesh] = 0
        _native.repel_ranges(
            axes, self._dof, self._bounds, coefficient, self._n_jobs, potential, force
        )
        for label in by_mesh:
            own = (int(self._bounds[label]), int(self._bounds[label + 1]))
            channel = _Channel(own, own, float(self._own[label]))
            self._add(channel, y, axes, plan, origin, potential, force)

    def _exact_is_quicker(self, sources: int, targets: int, plan: MeshPlan) -> bool:
        if self._exact is not None:
            return self._exact
        pair = _PAIR_COST if self._dof == 1 else _GENERAL_PAIR_COST
        mesh = _NODE_COST * plan.size + _POINT_COST[len(plan.nodes) - 1] * (sources + targets)
        if not plan.accurate:  # the exact sum may take a while longer, to be exact
            mesh *= _PATIENCE
        return pair * sources * targets < mesh

    def _add(
        self,
        channel: _Channel,
        y: NDArray[np.float32],
        axes: NDArray[np.float32],
        plan: MeshPlan,
        origin: tuple[float, ...],
        potential: NDArray[np.float64],
        force: NDArray[np.float32],
    ) -> None:
        sources = channel.sources[1] - channel.sources[0]
        targets = channel.targets[1] - channel.targets[0]
        if self._exact_is_quicker(sources, targets, plan):
            _native.repel(
                axes, self._dof, channel.sources, channel.targets, channel.coefficient,
                channel.source_charge, channel.target_charge, self._n_jobs, potential, force,
            )  # fmt: skip
            return
        if not (plan.accurate or self._warned):
            self._warned = True
            warnings.warn(
                f"the map is so wide ({np.ptp(axes, axis=1).max():.0f}) that its forces are "
                "computed on a coarser mesh, less exact than 1 %; a map of fewer dimensions is not",
                UserWarning,
                stacklevel=2,
            )
        grid = empty_grid(plan)
        _native.spread(
            y, channel.sources, channel.source_charge, plan.nodes, origin, plan.spacing,
            self._n_jobs, grid,
        )  # fmt: skip
        field, floor = convolve(grid, plan, self._n_jobs)
        charge = channel.source_charge
        total = (
            sources if charge is None else float(charge[slice(*channel.sources)].sum(dtype=float))
        )
        _native.gather(
            field, y, channel.targets, floor * total, channel.coefficient, channel.target_charge,
            plan.nodes, origin, plan.spacing, self._n_jobs, potential, force,
        )  # fmt: skip
        # The mesh does not know which charge is a point's own, at distance zero: take it off again.
        both = slice(
            max(channel.sources[0], channel.targets[0]), min(channel.sources[1], channel.targets[1])
        )
        if both.start < both.stop:
            own = np.full(both.stop - both.start, channel.coefficient)
            for factor in (channel.source_charge, channel.target_charge):
                if factor is not None:
                    own *= factor[both]
            potential[both] -= own
