"""The potential of a finished map on a mesh: what repels new points, computed once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.layout.mesh import Mesh, MeshPlan, plan_mesh
from ctsne.layout.pairs import PairWeights
from ctsne.layout.repulsion import Repulsion

# The mesh extends beyond the map by this share of its width: new points stay inside.
BEYOND = 0.1
# Larger labels get a grid of their own, if all grids together have at most this many nodes; the
# points of the others are summed exactly for each new point.
OWN_GRID = 2000
MOST_NODES = 2**27
# Nodes past the last one that a row of eight spline weights, two of them zero, reaches.
_READ_PAST = 2

_ARRAYS = ("grids", "offset", "origin", "grid_of", "share", "own", "ranges", "summed")


@dataclass(frozen=True, eq=False)
class Fields:
    """The potentials of a map, and which of them a point of each label feels.

    A new point with label l feels ``share[l]`` times grid ``grid_of[l]``, and ``own[l]`` times the
    potential of the points ``ranges[l]`` of ``summed``. The last entry of these arrays is for
    points whose label is missing or new; they feel all points of the map alike.

    Attributes
    ----------
    grids : ndarray of float32, shape (g, ...)
    offset : ndarray of float64, shape (g,)
        To be added to each grid.
    origin : ndarray of float64, shape (dims,)
        Position of the first node.
    grid_of, share, own, ranges : ndarray
        One entry per label, and one for all other points.
    summed : ndarray of float32, shape (dims, s)
        Points of labels without a grid of their own.
    nodes : tuple of int
    spacing, dof : float
    usual : float
        Mean potential of the points of the map, without their own.
    """

    grids: NDArray[np.float32]
    offset: NDArray[np.float64]
    origin: NDArray[np.float64]
    grid_of: NDArray[np.int32]
    share: NDArray[np.float32]
    own: NDArray[np.float32]
    ranges: NDArray[np.int64]
    summed: NDArray[np.float32]
    nodes: tuple[int, ...]
    spacing: float
    dof: float
    usual: float

    def renumbered(self, numbers: NDArray[np.integer]) -> Fields:
        """Return the fields with labels in another order, given their numbers here."""
        rows = np.append(numbers, -1)
        names = ("grid_of", "share", "own", "ranges")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def settings(self) -> dict[str, Any]:
        """Return all other values by name."""
        others = {name: getattr(self, name) for name in ("spacing", "dof", "usual")}
        return {"nodes": list(self.nodes), **others}


def make_fields(
    y: NDArray[np.float32], weights: PairWeights | None, *, dof: float, n_jobs: int
) -> Fields:
    """Compute the potentials of a map, with the conditioning of its pairs.

    Entries per label follow the numbers of ``weights``: the largest label comes first.
    """
    potentials = _potentials(y if weights is None else y[weights.order], dof, n_jobs)
    made = _unweighted(potentials) if weights is None else _weighted(potentials, weights)
    return potentials.fields(**made)


def make_column_fields(
    y: NDArray[np.float32],
    codes: NDArray[np.int32],
    table: NDArray[np.int32],
    alpha: NDArray[np.float64],
    beta: NDArray[np.float64],
    *,
    dof: float,
    n_jobs: int,
) -> Fields:
    """Compute the potentials of a map that several label columns condition.

    Parameters
    ----------
    y : ndarray of float32, shape (n, dims)
    codes : ndarray of int32, shape (n, C)
        Labels of the points in every column, -1 where missing.
    table : ndarray of int32, shape (g, C)
        The combinations of labels that get a field each, in this order. If there are too many, all
        points of the map act alike on them.
    alpha, beta : ndarray of float64, shape (C,)
        The factor of each column on pairs with the same label, and with different ones.
    dof : float
    n_jobs : int
    """
    potentials = _potentials(y, dof, n_jobs)
    if (1 + len(table)) * potentials.size > MOST_NODES:
        table = table[:0]
    grids = [potentials.of(0, len(y))]
    for labels in table:
        both = (codes >= 0) & (labels >= 0)
        factors = np.where(both, np.where(codes == labels, alpha, beta), 1.0)
        grids.append(potentials.of(0, len(y), factors.prod(axis=1).astype(np.float32)))
    count = len(table) + 1
    numbers = np.append(np.arange(1, count), 0).astype(np.int32)  # the last: all alike
    return potentials.fields(
        grids=np.stack([grid for grid, _ in grids]),
        offset=np.array([offset for _, offset in grids]),
        grid_of=numbers,
        share=np.ones(count, np.float32),
        own=np.zeros(count, np.float32),
        ranges=np.zeros((count, 2), np.int64),
        summed=np.zeros((y.shape[1], 0), np.float32),
    )


def _potentials(y: NDArray[np.float32], dof: float, n_jobs: int) -> _Potentials:
    low, high = y.min(axis=0).astype(np.float64), y.max(axis=0).astype(np.float64)
    beyond = BEYOND * float((high - low).max())
    plan, origin = plan_mesh((low - beyond).tolist(), (high + beyond).tolist(), dof)
    return _Potentials(np.ascontiguousarray(y, np.float32), plan, origin, n_jobs)


class _Potentials:
    """Potentials of ranges of points, with the constants that belong to them."""

    def __init__(
        self, y: NDArray[np.float32], plan: MeshPlan, origin: tuple[float, ...], n_jobs: int
    ) -> None:
        self.y = y
        self.size = math.prod(plan.nodes)
        self._mesh = Mesh(plan, n_jobs=n_jobs)
        self._origin = origin
        self._n_jobs = n_jobs
        shape = (*plan.nodes[:-1], plan.nodes[-1] + _READ_PAST)
        self._empty: Callable[[], NDArray[np.float32]] = lambda: np.zeros(shape, np.float32)

    def fields(self, **made: NDArray[Any]) -> Fields:
        """Return fields on the mesh of these potentials."""
        plan, n = self._mesh.plan, len(self.y)
        _, normaliser = Repulsion(n, dof=plan.dof, n_jobs=self._n_jobs)(self.y)
        return Fields(
            **made,
            origin=np.array(self._origin),
            nodes=plan.nodes,
            spacing=plan.spacing,
            dof=plan.dof,
            usual=normaliser / n,
        )

    def of(
        self, begin: int, end: int, charge: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], float]:
        """Return the potential of points [begin, end)."""
        grid = self._empty()
        if begin == end:
            return grid, 0.0
        self._mesh.native.spread(self.y, np.array([begin, end]), self._origin, charge)
        total = float(end - begin if charge is None else charge[begin:end].sum(dtype=np.float64))
        offset = self._mesh.convolve() * total
        inside = tuple(slice(n) for n in self._mesh.plan.nodes)
        grid[inside] = self._mesh.grids[0][inside]
        return grid, offset


def _unweighted(potentials: _Potentials) -> dict[str, NDArray[Any]]:
    grid, offset = potentials.of(0, len(potentials.y))
    return {
        "grids": grid[None],
        "offset": np.array([offset]),
        "grid_of": np.zeros(1, np.int32),
        "share": np.ones(1, np.float32),
        "own": np.zeros(1, np.float32),
        "ranges": np.zeros((1, 2), np.int64),
        "summed": np.zeros((potentials.y.shape[1], 0), np.float32),
    }


def _weighted(potentials: _Potentials, weights: PairWeights) -> dict[str, NDArray[Any]]:
    """Return what acts on each label: all labels across, its own points more, unlabelled ones."""
    n, m = len(potentials.y), weights.n_labelled
    counts = np.diff(weights.bounds)
    n_labels = len(counts)
    inside = weights.alpha - weights.beta
    affordable = max(0, MOST_NODES // potentials.size - 2)
    n_own = min(int(np.count_nonzero(counts > OWN_GRID)), affordable)  # labels come by size
    grids = [potentials.of(0, n)]
    charge = np.ones(n, np.float32)
    charge[:m] = np.repeat(np.sqrt(weights.beta), counts)
    across = potentials.of(0, m, charge)
    unlabelled = potentials.of(m, n)
    grid_of, share = np.zeros(n_labels + 1, np.int32), np.ones(n_labels + 1, np.float32)
    made: dict[float, int] = {}
    for label in range(n_labels):
        root = math.sqrt(weights.beta[label])
        if label < n_own:
            own = potentials.of(int(weights.bounds[label]), int(weights.bounds[label + 1]))
            grid_of[label] = len(grids)
            grids.append(_sum((root, across), (1.0, unlabelled), (float(inside[label]), own)))
            continue
        # Labels without a grid of their own share one, times the root of their beta.
        key = root if m < n else 1.0
        if key not in made:
            made[key] = len(grids)
            grids.append(_sum((key, across), (1.0, unlabelled)))
        grid_of[label], share[label] = made[key], root / key
    first = int(weights.bounds[n_own])
    ranges = np.zeros((n_labels + 1, 2), np.int64)
    ranges[n_own:-1] = np.stack([weights.bounds[n_own:-1], weights.bounds[n_own + 1 :]], 1) - first
    own_weight = np.append(inside, 0.0).astype(np.float32)
    own_weight[:n_own] = 0.0
    return {
        "grids": np.stack([grid for grid, _ in grids]),
        "offset": np.array([offset for _, offset in grids]),
        "grid_of": grid_of,
        "share": share,
        "own": own_weight,
        "ranges": ranges,
        "summed": np.ascontiguousarray(potentials.y[first:m].T),
    }


def _sum(*terms: tuple[float, tuple[NDArray[np.float32], float]]) -> tuple[Any, float]:
    """Add potentials and their constants, each with a factor."""
    grid = sum(np.float32(factor) * each for factor, (each, _) in terms)
    return grid, sum(factor * offset for factor, (_, offset) in terms)
