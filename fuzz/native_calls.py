"""Valid calls of the native module, made as the library makes them, for ``native.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from harness import Finding
from numpy.typing import NDArray

from ctsne import _native
from ctsne.layout import mesh as meshes
from ctsne.neighbors.patterns import PatternCounts, combinations_of
from ctsne.neighbors.points import centred_and_scaled

#: Bytes around an array that no call may change.
FENCE = 256

Call = tuple[Any, dict[str, Any]]  # the object whose method it is, and the arguments


class World:
    """Small valid input for all stages, drawn as far as it is asked for."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n = int(rng.choice([2, 3, 5, 17, 40, 150], p=[0.05, 0.1, 0.2, 0.3, 0.25, 0.1]))
        self.dims = int(rng.integers(1, 6))  # of the data
        self.axes = int(rng.integers(1, 4))  # of the map
        self.n_jobs = int(rng.integers(1, 4))
        self.given: list[NDArray[Any]] = []  # arrays that objects were made from
        self.fences: list[NDArray[np.uint8]] = []

    def give(self, array: Any) -> Any:
        """Copy an array to memory of its own: half the time exactly, else between two fences.

        Outside the former a sanitizer sees every access, in the latter a change is seen without.
        """
        array = np.ascontiguousarray(array)
        if self.rng.random() < 0.5:
            held = np.full(array.nbytes + 2 * FENCE, 0xA5, np.uint8)
            self.fences += [held[:FENCE], held[FENCE + array.nbytes :]]
            held = held[FENCE : FENCE + array.nbytes].view(array.dtype).reshape(array.shape)
            held[...] = array
            array = held
        else:
            array = array.copy()
        self.given.append(array)
        return array

    def check_fences(self, name: str) -> None:
        if any((fence != 0xA5).any() for fence in self.fences):
            raise Finding(f"{name} wrote outside an array", "crash")

    # Stage 1

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Labels: one, some, or one per point; in a third of the cases some are missing."""
        n_labels = int(self.rng.choice([1, 2, 4, self.n]))
        missing = -1 if self.rng.random() < 0.3 else 0
        drawn = self.rng.integers(missing, n_labels, self.n)
        return np.unique(np.maximum(drawn, missing), return_inverse=True)[1].astype(
            np.int32
        ) + np.int32(drawn.min() if drawn.min() < 0 else 0)

    @cached_property
    def label_sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.codes[self.codes >= 0], minlength=1).astype(np.int64)

    @cached_property
    def points(self) -> NDArray[np.floating]:
        dtype = self.rng.choice([np.float32, np.float64])
        return self.rng.normal(size=(self.n, self.dims)).round(1).astype(dtype)

    @cached_property
    def lengths(self) -> tuple[NDArray[np.int32], int]:
        """Lengths of the same-label lists, and of both lists together."""
        labelled = self.codes >= 0
        own = np.append(self.label_sizes, 0)[self.codes]
        same = np.where(labelled, own + (~labelled).sum(), self.n) - 1
        other = np.where(labelled, labelled.sum() - own, 0)
        length = int(self.rng.integers(1, self.n))
        low, high = np.maximum(0, length - other), np.minimum(same, length)
        wanted = np.clip(self.rng.integers(0, length + 1), low, high)
        return wanted.astype(np.int32), length

    def lists(self) -> _native.NeighborLists:
        self.made_lists = _native.NeighborLists(self.give(self.lengths[0]), self.lengths[1])
        self.made_lists.indices[...] = -1  # so that an entry left out is found
        return self.made_lists

    def search_points(self) -> dict[str, Any]:
        # The largest unsigned number stands for -1: unlabelled points come last.
        order = np.argsort(self.codes.astype(np.uint32), kind="stable").astype(np.uint32)
        scale = float(np.abs(self.points).max()) or 1.0
        return {
            "points": self.give(self.points),
            "rows": self.give((self.points / scale).astype(np.float32)),
            "ids": self.give(order),
            "codes": self.give(self.codes),
            "scale": scale,
            "n_jobs": self.n_jobs,
        }

    def arranged(self) -> _native.SearchPoints:
        return _native.SearchPoints(**self.search_points())

    def cell_arguments(self, *, mixed: bool) -> dict[str, Any]:
        points = self.arranged()
        codes = points.codes
        ranges = np.array([0, self.n])
        if not mixed:
            ranges = np.flatnonzero(np.r_[True, np.diff(codes) != 0, True])
        size, whole = int(self.rng.integers(1, 20)), int(self.rng.integers(0, 30))
        order, bounds = _native.make_cells(points.rows, ranges, size, whole, self.n_jobs)
        if mixed:
            cell = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            order = order[np.lexsort((codes[order], cell))]
        return {
            "points": points.reordered(order),
            "bounds": self.give(bounds),
            "label_sizes": self.give(self.label_sizes) if mixed else None,
        }

    def queries(self, wanted: NDArray[np.bool_] | bool = True) -> NDArray[np.int64]:
        return self.give(np.flatnonzero((self.rng.random(self.n) < 0.8) & wanted))

    def query_cells(self) -> dict[str, Any]:
        """Return arguments of cells, remembering the labels of the points."""
        columns = int(self.rng.integers(0, 4))
        self.columns = self.rng.integers(-1, self.rng.integers(1, 4), (self.n, columns))
        table, combinations = combinations_of(self.columns.astype(np.int32))
        pure = bool(self.rng.random() < 0.5)
        by_label = np.argsort(combinations, kind="stable").astype(np.uint32)
        ranges = np.array([0, self.n])
        if pure:
            ranges = np.append(0, np.cumsum(np.bincount(combinations)))
        rows, (first, mean, scale) = centred_and_scaled(self.points)
        size, whole = int(self.rng.integers(1, 20)), int(self.rng.integers(0, 30))
        order, bounds = _native.make_cells(rows[by_label], ranges, size, whole, self.n_jobs)
        cell = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = by_label[order[np.lexsort((combinations[by_label][order], cell))]]
        return {
            "points": self.give(self.points),
            "first": self.give(first),
            "mean": self.give(mean),
            "scale": scale,
            "order": self.give(order),
            "bounds": self.give(bounds),
            "combinations": self.give(combinations),
            "table": self.give(table),
            "pure": pure,
            "n_jobs": self.n_jobs,
        }

    def query_lists(self) -> dict[str, Any]:
        """Return arguments of a search for some of the points, after ``query_cells``."""
        own = self.rng.integers(0, self.n, int(self.rng.integers(1, 30)))
        labels = self.columns[own].astype(np.int32)
        pattern = int(self.rng.integers(0, 1 << labels.shape[1]))
        has = PatternCounts(self.columns.astype(np.int32)).count(labels, pattern) - (pattern == 0)
        length = int(self.rng.integers(1, 8))
        wanted = np.minimum(has, length).astype(np.int32)
        return {
            "queries": self.give(self.points[own]),
            "labels": self.give(labels),
            "own": self.give(own) if pattern == 0 or self.rng.random() < 0.5 else None,
            "pattern": pattern,
            "budget": int(self.rng.choice([0, length + 1, 200])),
            "wanted": self.give(wanted),
            "offset": self.give(length - wanted),
            "indices": self.give(np.full((len(own), length), -1, np.int32)),
            "distances": self.give(np.zeros((len(own), length), np.float32)),
            "n_jobs": self.n_jobs,
        }

    # Stage 2

    @cached_property
    def neighbors(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
        """Neighbours of all points with their distances, and the lengths of their lists."""
        k = int(self.rng.integers(1, min(self.n, 12)))
        keys = self.rng.random((self.n, self.n)) + 2 * np.eye(self.n)
        indices = np.argsort(keys, axis=1)[:, :k].astype(np.int32)
        distances = np.sort(self.rng.random((self.n, k))).round(1).astype(np.float32)
        lists = int(self.rng.integers(1, 9))
        lengths = self.rng.multinomial(k, self.rng.dirichlet(np.ones(lists)), size=self.n)
        return indices, distances, lengths.astype(np.int32)

    def row_arguments(self) -> dict[str, Any]:
        _, distances, lengths = self.neighbors
        return {
            "distances": self.give(distances),
            "lengths": self.give(lengths),
            "log_weights": self.give(self.rng.choice([0.0, -3.0, -70.0, -700.0], lengths.shape)),
            "n_jobs": self.n_jobs,
        }

    def per_list(self, low: float, high: float) -> NDArray[np.float64]:
        shape = self.neighbors[2].shape
        return self.give(np.exp(self.rng.uniform(np.log(low), np.log(high), shape)))

    # Stage 3

    def matrix(self) -> dict[str, Any]:
        """Make a symmetric matrix, possibly with empty rows."""
        dense = np.triu(self.rng.random((self.n, self.n)) < self.rng.choice([0.02, 0.2, 0.9]), 1)
        rows, columns = np.nonzero(dense | dense.T)
        starts = np.searchsorted(rows, np.arange(self.n + 1))
        values = self.rng.random(len(rows)) / max(1, len(rows))
        return {
            "indptr": self.give(starts.astype(np.int64)),
            "indices": self.give(columns.astype(np.int32)),
            "values": self.give(values.astype(np.float32)),
            "n_jobs": self.n_jobs,
        }

    def order(self, dtype: type) -> NDArray[Any]:
        return self.give(self.rng.permutation(self.n).astype(dtype))

    def similarities(self, packed: bool | None = None) -> _native.Similarities:
        made = _native.Similarities(**self.matrix())
        if self.rng.random() < 0.5 if packed is None else packed:
            return made.packed(self.order(np.int32))
        return made

    @cached_property
    def map(self) -> NDArray[np.float32]:
        spread = self.rng.choice([1e-4, 1.0, 30.0])
        return (spread * self.rng.normal(size=(self.n, self.axes))).astype(np.float32)

    def dof(self) -> float:
        return float(self.rng.choice([1.0, 0.5, 3.0]))

    def descent_arguments(self) -> dict[str, Any]:
        return {
            "similarities": self.similarities(),
            "start": self.give(self.map),
            "dof": self.dof(),
            "n_jobs": self.n_jobs,
        }

    def descent(self) -> _native.Descent:
        return _native.Descent(**self.descent_arguments())

    def force(self) -> NDArray[np.float32]:
        return self.give(np.zeros_like(self.map))

    def charge(self) -> NDArray[np.float32] | None:
        drawn = self.give(self.rng.random(self.n).astype(np.float32))
        return drawn if self.rng.random() < 0.5 else None

    def range(self) -> tuple[int, int]:
        low, high = sorted(self.rng.integers(0, self.n + 1, 2).tolist())
        return low, high

    @cached_property
    def groups(self) -> int:
        return int(self.rng.integers(1, 4))

    def bounds(self) -> NDArray[np.int64]:
        inner = np.sort(self.rng.integers(0, self.n + 1, self.groups - 1))
        return self.give(np.r_[0, inner, self.n].astype(np.int64))

    def per_group(self, dtype: type = np.float32) -> NDArray[Any]:
        return self.give(self.rng.random(self.groups).astype(dtype))

    @cached_property
    def plan(self) -> tuple[meshes.MeshPlan, list[float]]:
        """A small mesh that holds the map, and the position of its first node."""
        most = (60, 40, 10)[self.axes - 1]
        nodes = [meshes.fast_length(k) for k in self.rng.integers(8, most + 1, self.axes).tolist()]
        low, extent = self.map.min(axis=0), np.ptp(self.map, axis=0)
        spacing = float(max(extent / (np.array(nodes) - 7), default=0.0)) or 1.0
        near = self.axes == 2 and bool(self.rng.random() < 0.5)
        origin = (low - 3 * spacing).astype(float).tolist()
        return meshes.MeshPlan(tuple(nodes), spacing, 1.0, near=near), origin

    def mesh_arguments(self, plan: meshes.MeshPlan) -> dict[str, Any]:
        grids = self.rng.normal(size=(self.groups, *plan.grid_shape)).astype(np.float32)
        return {
            "grids": self.give(grids),
            "nodes": plan.nodes,
            "spacing": plan.spacing,
            "n_jobs": self.n_jobs,
        }

    def mesh(self) -> _native.Mesh:
        return _native.Mesh(**self.mesh_arguments(self.plan[0]))

    def kernel(self) -> dict[str, Any]:
        plan = self.plan[0]
        frequencies = (plan.nodes[0] // 2 if plan.near else plan.nodes[0]) + 1
        transform = self.rng.random((frequencies, plan.grid_shape[1])).astype(np.float32)
        return {
            "transform": self.give(transform),
            "nodes": plan.nodes,
            "doubled": not plan.near,
        }

    def placed(self) -> dict[str, Any]:
        """Put a map, in groups, on a mesh."""
        return {
            "y": self.give(self.map),
            "bounds": self.bounds(),
            "origin": self.plan[1],
        }

    def finished(self) -> dict[str, Any]:
        """Give a finished map, with grids that new points feel."""
        nodes = [int(self.rng.integers(18, 30)) for _ in range(self.axes)]
        low, extent = self.map.min(axis=0), np.ptp(self.map, axis=0)
        spacing = float(max(extent / (np.array(nodes) - 15), default=0.0)) or 1.0
        grids = self.rng.random((2, *nodes[:-1], nodes[-1] + 2)).astype(np.float32)
        return {
            "y": self.give(self.map),
            "grids": self.give(grids),
            "nodes": nodes,
            "spacing": spacing,
            "origin": (low - 7 * spacing).astype(float).tolist(),
            "offset": self.give(np.ones(2)),
            "dof": self.dof(),
            "usual": 1.0,
            "summed": self.give(self.map.T),
        }

    def new_points(self) -> dict[str, Any]:
        """Give new points for it."""
        m, k = int(self.rng.integers(1, 40)), int(self.rng.integers(1, 12))
        ends = np.sort(self.rng.integers(0, self.n + 1, size=(m, 2)), axis=1)
        return {
            "indices": self.give(self.rng.integers(0, self.n, size=(m, k)).astype(np.int32)),
            "rows": self.give(self.rng.dirichlet(np.ones(k), size=m).astype(np.float32)),
            "grid": self.give(self.rng.integers(0, 2, size=m).astype(np.int32)),
            "share": self.give(self.rng.random(m).astype(np.float32)),
            "own": self.give(self.rng.random(m).astype(np.float32)),
            "ranges": self.give(ends.astype(np.int64)),
            "pull": 1.0,
            "steps": 20,
            "n_jobs": self.n_jobs,
        }

    def coarse(self) -> _native.Mesh:
        plan = self.plan[0]
        nodes = tuple(_native.coarse_nodes(n) + meshes.MARGIN for n in plan.nodes)
        nodes = tuple(meshes.fast_length(n) for n in nodes)
        coarser = meshes.MeshPlan(nodes, _native.COARSER * plan.spacing, 1.0)
        return _native.Mesh(**self.mesh_arguments(coarser))


def plane(make: Callable[[World], Call]) -> Callable[[World], Call]:
    """Make the arguments for a map in the plane."""

    def in_the_plane(world: World) -> Call:
        world.axes = 2
        return make(world)

    return in_the_plane


def _find(world: World) -> Call:
    other = bool(world.rng.random() < 0.5)
    mixed = other or bool(world.rng.random() < 0.5)
    cells = _native.Cells(**world.cell_arguments(mixed=mixed))
    labelled = cells.points.codes >= 0
    wanted = labelled if other or not mixed else ~labelled
    return cells, {
        "lists": world.lists(),
        "queries": world.queries(wanted),
        "other": other,
        "budget": int(world.n + world.rng.integers(1, 100)),
    }


def _rows(world: World) -> _native.ConditionalRows:
    return _native.ConditionalRows(**world.row_arguments())


def _step(world: World) -> Call:
    repulsion = world.rng.normal(size=world.map.shape).astype(np.float32)
    numbers = {"pull": 12.0, "push": 1e-3, "learning_rate": 200.0, "momentum": 0.5, "longest": 5.0}
    return world.descent(), {"repulsion": world.give(repulsion), **numbers}


def _restored(thing: Any) -> Call:
    state = thing.__getstate__()
    return type(thing).__new__(type(thing)), {"state": state}


#: How the library calls each name; every name that the module binds must be here.
CALLS: dict[str, Callable[[World], Call]] = {
    "instruction_set": lambda w: (None, {}),
    "instruction_sets": lambda w: (None, {}),
    "coarse_nodes": lambda w: (None, {"fine": int(w.rng.integers(1, 1000))}),
    "NeighborLists.__init__": lambda w: (
        None,
        {"k_same": w.give(w.lengths[0]), "length": w.lengths[1]},
    ),
    "NeighborLists.indices": lambda w: (w.lists(), {}),
    "NeighborLists.distances": lambda w: (w.lists(), {}),
    "SearchPoints.__init__": lambda w: (None, w.search_points()),
    "SearchPoints.reordered": lambda w: (w.arranged(), {"order": w.order(np.uint32)}),
    "SearchPoints.find_exact": lambda w: (
        w.arranged(),
        {"lists": w.lists(), "queries": w.queries(), "other": bool(w.rng.random() < 0.5)},
    ),
    "SearchPoints.rows": lambda w: (w.arranged(), {}),
    "SearchPoints.ids": lambda w: (w.arranged(), {}),
    "SearchPoints.codes": lambda w: (w.arranged(), {}),
    "Cells.__init__": lambda w: (None, w.cell_arguments(mixed=bool(w.rng.random() < 0.5))),
    "Cells.find": _find,
    "Cells.points": lambda w: (_native.Cells(**w.cell_arguments(mixed=True)), {}),
    "QueryCells.__init__": lambda w: (None, w.query_cells()),
    "QueryCells.find": lambda w: (_native.QueryCells(**w.query_cells()), w.query_lists()),
    "make_cells": lambda w: (
        None,
        {
            "rows": w.give(w.points.astype(np.float32)),
            "ranges": w.bounds(),
            "size": int(w.rng.integers(1, 20)),
            "whole": int(w.rng.integers(0, 30)),
            "n_jobs": w.n_jobs,
        },
    ),
    "ConditionalRows.__init__": lambda w: (None, w.row_arguments()),
    "ConditionalRows.find_bandwidths": lambda w: (
        _rows(w),
        {
            "perplexity": float(w.rng.uniform(1, 5)),
            "weighted": bool(w.rng.random() < 0.5),
            "wide": 1.0,
            "begin": 0,
            "end": w.n,
        },
    ),
    "ConditionalRows.find_split_bandwidths": lambda w: (
        _rows(w),
        {"perplexities": w.per_list(0.1, 9)},
    ),
    "ConditionalRows.fill": lambda w: (
        _rows(w),
        {
            "precisions": w.per_list(1e-6, 1e6),
            "shares": w.per_list(0.01, 0.2) if w.rng.random() < 0.5 else None,
            "begin": 0,
            "end": w.n,
        },
    ),
    "symmetrize": lambda w: (
        None,
        {
            "indices": w.give(w.neighbors[0]),
            "rows": w.give(w.neighbors[1]),
            "entries_at_once": int(w.rng.choice([1, 50, 1 << 20])),
            "n_jobs": w.n_jobs,
        },
    ),
    "Similarities.__init__": lambda w: (None, w.matrix()),
    "Similarities.packed": lambda w: (w.similarities(packed=False), {"order": w.order(np.int32)}),
    "Similarities.total": lambda w: (w.similarities(), {}),
    "Similarities.packed_arrays": lambda w: (w.similarities(packed=True), {}),
    "Similarities.__getstate__": lambda w: (w.similarities(), {}),
    "Similarities.__setstate__": lambda w: _restored(w.similarities()),
    "Descent.__init__": lambda w: (None, w.descent_arguments()),
    "Descent.reordered": lambda w: (
        w.descent(),
        {"order": w.order(np.int64), "similarities": w.similarities()},
    ),
    "Descent.attraction": lambda w: (w.descent(), {}),
    "Descent.log_kernel_sum": lambda w: (w.descent(), {}),
    "Descent.step": _step,
    "Descent.__getstate__": lambda w: (w.descent(), {}),
    "Descent.__setstate__": lambda w: _restored(w.descent()),
    "Descent.y": lambda w: (w.descent(), {}),
    "Descent.total": lambda w: (w.descent(), {}),
    "PairSum.__init__": lambda w: (
        None,
        {"y": w.give(w.map), "dof": w.dof(), "n_jobs": w.n_jobs},
    ),
    "PairSum.add": lambda w: (
        _native.PairSum(w.give(w.map), w.dof(), w.n_jobs),
        {
            "force": w.force(),
            "sources": w.range(),
            "targets": w.range(),
            "coefficient": 0.5,
            "charge": w.charge(),
        },
    ),
    "PairSum.add_inside": lambda w: (
        _native.PairSum(w.give(w.map), w.dof(), w.n_jobs),
        {"force": w.force(), "bounds": w.bounds(), "coefficient": w.per_group()},
    ),
    "PlaneKernel.__init__": plane(lambda w: (None, w.kernel())),
    "Mesh.__init__": lambda w: (None, w.mesh_arguments(w.plan[0])),
    "Mesh.spread": lambda w: (w.mesh(), {**w.placed(), "charge": w.charge()}),
    "Mesh.mix": lambda w: (
        w.mesh(),
        {
            "charge": w.per_group(),
            "own": w.per_group(),
            "unlabelled": bool(w.groups > 1 and w.rng.random() < 0.5),
        },
    ),
    "Mesh.convolve": plane(lambda w: (w.mesh(), {"kernel": _native.PlaneKernel(**w.kernel())})),
    "Mesh.gather": lambda w: (
        w.mesh(),
        {
            "force": w.force(),
            **w.placed(),
            "offset": w.per_group(np.float64),
            "coefficient": 2.0,
            "charge": w.charge(),
        },
    ),
    "Mesh.add_near": plane(
        lambda w: (
            w.mesh(),
            {
                "force": w.force(),
                **w.placed(),
                "charge": w.per_group(),
                "same": w.per_group(),
                "reach": float(w.plan[0].spacing * w.rng.uniform(2, 9)),
            },
        )
    ),
    "Mesh.coarsen": plane(lambda w: (w.coarse(), {"fine": w.mesh()})),
    "Mesh.refine": plane(lambda w: (w.mesh(), {"coarse": w.coarse()})),
    "Mesh.grids": lambda w: (w.mesh(), {}),
    "PlaceMap.__init__": lambda w: (None, w.finished()),
    "PlaceMap.place": lambda w: (_native.PlaceMap(**w.finished()), w.new_points()),
    "project": lambda w: (
        None,
        {
            "rows": w.give(w.rng.normal(size=(w.n, w.dims))),
            "matrix": w.give(w.rng.normal(size=(w.dims, w.axes))),
            "n_jobs": w.n_jobs,
        },
    ),
}
