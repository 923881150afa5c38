"""Potentials that repel new points in a finished map, and the places they take."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne.layout.mesh import Mesh, MeshPlan, plan_mesh
from ctsne.layout.repulsion import Repulsion
from ctsne.layout.weights import Codes, ColumnFactor, PairWeights

_Singles = NDArray[np.float32]
BEYOND = 0.1  # the mesh extends beyond the map by this share of its width: new points stay inside
# Larger labels get a grid of their own, if all grids together have at most this many nodes; the
# points of the others are summed exactly for each new point.
OWN_GRID = 2000
MOST_NODES = 2**27
MOST_STEPS = 60  # Newton's method needs three or four steps for most points
# Nodes past the last one that a row of eight spline weights, two of them zero, reaches.
_READ_PAST = 2


@dataclass(frozen=True, eq=False)
class Fields:
    """The potentials of a map, and which of them a point of each label feels.

    A new point with label l feels ``share[l]`` times grid ``grid_of[l]``, and ``own[l]`` times the
    potential of the points ``ranges[l]`` of ``summed``. The last entry of these arrays is for
    points whose label is missing or new; they feel all points of the map alike.
    """

    grids: _Singles  # (g, ...)
    offset: NDArray[np.float64]  # to be added to each grid
    origin: NDArray[np.float64]  # position of the first node
    grid_of: Codes
    share: _Singles
    own: _Singles
    ranges: NDArray[np.int64]
    summed: _Singles  # (dims, s), the points of labels without a grid of their own
    nodes: tuple[int, ...]
    spacing: float
    dof: float
    usual: float  # mean potential of the points of the map, without their own


def _mesh_around(y: _Singles, dof: float) -> tuple[MeshPlan, tuple[float, ...]]:
    """Choose the mesh for new points of a map, and the position of its first node."""
    low, high = y.min(axis=0).astype(np.float64), y.max(axis=0).astype(np.float64)
    beyond = BEYOND * float((high - low).max())
    return plan_mesh((low - beyond).tolist(), (high + beyond).tolist(), dof)


def are_fields_of(fields: Fields, y: _Singles) -> bool:
    """Return whether the mesh of fields holds a map, and is as large as that map needs."""
    first, nodes = fields.origin, np.array(fields.nodes)
    inside = (y.min(axis=0) >= first) & (y.max(axis=0) <= first + fields.spacing * (nodes - 1))
    # Fast lengths of transforms depend on the version of SciPy.
    needed = math.prod(_mesh_around(y, fields.dof)[0].nodes)
    return bool(inside.all()) and needed <= 2 * math.prod(fields.nodes)


def make_fields(y: _Singles, weights: PairWeights | None, *, dof: float, n_jobs: int) -> Fields:
    """Compute the potentials of a map, one entry per combination of labels in the weights."""
    if weights is None:
        return fields_for(y, (), np.empty((0, 0), np.int32), dof=dof, n_jobs=n_jobs)
    if len(weights.columns) == 1:
        return _fields_by_label(y, weights, dof=dof, n_jobs=n_jobs)
    first = weights.order[weights.main.bounds[:-1]]  # a point of each combination
    labels = np.stack([column.codes[first] for column in weights.columns], axis=1)
    table = np.append(labels, np.full_like(labels[:1], -1), axis=0)[weights.numbers]
    return fields_for(y, weights.columns, table, dof=dof, n_jobs=n_jobs)


def fields_for(
    y: _Singles, columns: Sequence[ColumnFactor], table: Codes, *, dof: float, n_jobs: int
) -> Fields:
    """Compute the potential for each row of a table of labels; of too many, only of all."""
    potentials = _Potentials(y, dof, n_jobs)
    if (1 + len(table)) * potentials.size > MOST_NODES:
        table = table[:0]
    grids = [potentials.of(0, len(y))]
    for labels in table.tolist():
        factors = [column.towards(label) for column, label in zip(columns, labels, strict=True)]
        grids.append(potentials.of(0, len(y), np.prod(factors, axis=0).astype(np.float32)))
    count = len(table) + 1
    return potentials.fields(
        grids,
        grid_of=np.append(np.arange(1, count), 0).astype(np.int32),  # the last: all alike
        share=np.ones(count, np.float32),
        own=np.zeros(count, np.float32),
        ranges=np.zeros((count, 2), np.int64),
        summed=np.zeros((y.shape[1], 0), np.float32),
    )


def _fields_by_label(y: _Singles, weights: PairWeights, *, dof: float, n_jobs: int) -> Fields:
    """Compute what acts on each label of one column: all labels, its own points more."""
    # All points of a label act alike on the other labels, so small labels share a grid.
    main = weights.main
    n, m, n_labels = main.n, int(main.bounds[-1]), len(main.beta)
    counts = np.diff(main.bounds)
    potentials = _Potentials(y[weights.order], dof, n_jobs)
    affordable = max(0, MOST_NODES // potentials.size - 2)
    n_own = min(int(np.count_nonzero(counts > OWN_GRID)), affordable)  # labels come by size
    grids = [potentials.of(0, n)]
    charge = np.ones(n, np.float32)
    charge[:m] = np.repeat(np.sqrt(main.beta), counts)
    across, unlabelled = potentials.of(0, m, charge), potentials.of(m, n)
    grid_of, share = np.zeros(n_labels + 1, np.int32), np.ones(n_labels + 1, np.float32)
    shared: dict[float, int] = {}
    for label in range(n_labels):
        root = math.sqrt(main.beta[label])
        if label < n_own:
            own = potentials.of(int(main.bounds[label]), int(main.bounds[label + 1]))
            grid_of[label] = len(grids)
            grids.append(_sum((root, across), (1.0, unlabelled), (float(main.own[label]), own)))
            continue
        # Labels without a grid of their own share one, times the root of their beta.
        key = root if m < n else 1.0
        if key not in shared:
            shared[key] = len(grids)
            grids.append(_sum((key, across), (1.0, unlabelled)))
        grid_of[label], share[label] = shared[key], root / key
    first = int(main.bounds[n_own])
    ranges = np.zeros((n_labels + 1, 2), np.int64)
    ranges[n_own:-1] = np.stack([main.bounds[n_own:-1], main.bounds[n_own + 1 :]], 1) - first
    own_weight = np.append(main.own, 0.0).astype(np.float32)
    own_weight[:n_own] = 0.0
    rows = np.append(weights.numbers, -1)  # the largest label comes first in the weights
    return potentials.fields(
        grids,
        grid_of=grid_of[rows],
        share=share[rows],
        own=own_weight[rows],
        ranges=ranges[rows],
        summed=np.ascontiguousarray(potentials.y[first:m].T),
    )


_Potential = tuple[_Singles, float]  # on the mesh, and a constant to add


def _sum(*terms: tuple[float, _Potential]) -> _Potential:
    grid: Any = sum(np.float32(factor) * grid for factor, (grid, _) in terms)
    return grid, sum(factor * offset for factor, (_, offset) in terms)


class _Potentials:
    """Potentials of ranges of points of a map."""

    def __init__(self, y: _Singles, dof: float, n_jobs: int) -> None:
        self.y = np.ascontiguousarray(y, np.float32)
        plan, self._origin = _mesh_around(y, dof)
        self.size = math.prod(plan.nodes)
        self._mesh = Mesh(plan, n_jobs=n_jobs)
        self._n_jobs = n_jobs

    def of(self, begin: int, end: int, charge: _Singles | None = None) -> _Potential:
        """Return the potential of points [begin, end)."""
        nodes = self._mesh.plan.nodes
        grid = np.zeros((*nodes[:-1], nodes[-1] + _READ_PAST), np.float32)
        if begin == end:
            return grid, 0.0
        self._mesh.native.spread(self.y, np.array([begin, end]), self._origin, charge)
        total = float(end - begin if charge is None else charge[begin:end].sum(dtype=np.float64))
        offset = self._mesh.convolve() * total
        inside = tuple(map(slice, nodes))
        grid[inside] = self._mesh.grids[0][inside]
        return grid, offset

    def fields(self, potentials: Sequence[_Potential], **by_label: NDArray[Any]) -> Fields:
        """Return fields on the mesh of these potentials."""
        plan, n = self._mesh.plan, len(self.y)
        _, normaliser = Repulsion(n, dof=plan.dof, n_jobs=self._n_jobs)(self.y)
        return Fields(
            grids=np.stack([grid for grid, _ in potentials]),
            offset=np.array([offset for _, offset in potentials]),
            origin=np.array(self._origin),
            nodes=plan.nodes,
            spacing=plan.spacing,
            dof=plan.dof,
            usual=normaliser / n,
            **by_label,
        )


class Places:
    """A finished map that takes new points.

    A new point attracted by the neighbours j with weights ``p_j`` goes to a minimum of
    ``-a sum_j p_j log K(d_j) + log Phi(y)``, the Kullback-Leibler divergence of its own
    similarities; a is the exaggeration of the map and Phi the potential of its points. Where Phi is
    less than usual, the logarithm is continued by its tangent; otherwise points between clusters
    would be driven out of the map. A point starts at a weighted median of its neighbours.
    """

    def __init__(self, y: _Singles, fields: Fields, *, exaggeration: float) -> None:
        self._fields, self._exaggeration = fields, exaggeration
        mesh = fields.grids, fields.nodes, fields.spacing, fields.origin.tolist(), fields.offset
        self._native = _native.PlaceMap(y, *mesh, fields.summed, fields.dof, fields.usual)

    def place(
        self, indices: Codes, rows: _Singles, labels: NDArray[np.integer], *, n_jobs: int
    ) -> _Singles:
        """Return the places of new points; label -1 is for those that feel all points alike."""
        fields = self._fields
        grids, ranges = fields.grid_of[labels], fields.ranges[labels]
        felt = grids, fields.share[labels], fields.own[labels], ranges
        out, _ = self._native.place(indices, rows, *felt, self._exaggeration, MOST_STEPS, n_jobs)
        return out
