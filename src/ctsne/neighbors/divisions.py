"""Reference points divided into cells, in which queries search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.progress import Report, in_parts
from ctsne.neighbors.approximate import CELL_SIZE
from ctsne.neighbors.exact import Scaling, centred_and_scaled
from ctsne.neighbors.patterns import Codes

# Divisions: all points are scanned; cells inside each combination of labels; cells of all points.
ALL, INSIDE, ACROSS = range(3)
# Points per cell where all are scanned.
_SCANNED_AT_ONCE = 512


class Space:
    """Reference points as one kind of list sees them, and their divisions into cells."""

    def __init__(
        self, points: NDArray[np.floating], combinations: NDArray[np.int32], table: Codes
    ) -> None:
        self.points = points
        self.made: dict[int, tuple[NDArray[np.uint32], NDArray[np.int64]]] = {}
        self._combinations = combinations
        self._table = table
        self._scaling: Scaling | None = None
        self._cells: dict[int, _native.QueryCells] = {}

    @property
    def scaling(self) -> Scaling:
        """How the points are centred and scaled."""
        if self._scaling is None:
            self._scaling = centred_and_scaled(self.points)[1]
        return self._scaling

    def cells(self, division: int, n_jobs: int) -> _native.QueryCells:
        """Return the cells of a division, made at the first use."""
        if division not in self._cells:
            order, bounds = self.made.get(division) or self._divided(division, n_jobs)
            if division != ALL:
                self.made[division] = order, bounds
            self._arrange(division, order, bounds, n_jobs)
        return self._cells[division]

    def restore(self, division: int, order: NDArray[np.uint32], bounds: NDArray[np.int64]) -> None:
        """Take over cells that were made before, to be arranged at the first use."""
        n = len(self.points)
        if len(order) != n or order.max() >= n or (np.bincount(order, minlength=n) != 1).any():
            raise ValueError("the order of a search index must name every point once")
        ends = bounds[[0, -1]].tolist() if len(bounds) > 1 else []
        if ends != [0, n] or (bounds[1:] <= bounds[:-1]).any():
            raise ValueError("the cells of a search index must hold all points, and none be empty")
        rises = np.diff(self._combinations[order])
        inside = np.ones(n - 1, np.bool_)
        inside[bounds[1:-1] - 1] = False
        wrong = rises[inside] != 0 if division == INSIDE else rises[inside] < 0
        if wrong.any() or (division == INSIDE and (rises < 0).any()):
            raise ValueError("the cells of a search index must be sorted by label")
        self.made[division] = order, bounds

    def _arrange(
        self, division: int, order: NDArray[np.uint32], bounds: NDArray[np.int64], n_jobs: int
    ) -> None:
        points: Any = self.points
        first, mean, scale = self.scaling
        self._cells[division] = _native.QueryCells(
            points,
            first,
            mean,
            scale,
            order,
            bounds,
            self._combinations,
            self._table,
            division == INSIDE,
            n_jobs,
        )

    def _divided(self, division: int, n_jobs: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        n = len(self.points)
        by_label = np.argsort(self._combinations, kind="stable").astype(np.uint32)
        if division == ALL:
            return by_label, np.append(np.arange(0, n, _SCANNED_AT_ONCE), n).astype(np.int64)
        rows, self._scaling = centred_and_scaled(self.points)
        if division == ACROSS:
            whole = np.array([0, n], np.int64)
            order, bounds = _native.make_cells(rows, whole, CELL_SIZE, CELL_SIZE, n_jobs)
            cell = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            return order[np.lexsort((self._combinations[order], cell))], bounds
        sizes = np.bincount(self._combinations, minlength=len(self._table))
        ranges = np.append(0, np.cumsum(sizes)).astype(np.int64)
        order, bounds = _native.make_cells(rows[by_label], ranges, CELL_SIZE, CELL_SIZE, n_jobs)
        return by_label[order], bounds


def find_in_parts(
    cells: _native.QueryCells,
    queries: NDArray[np.floating],
    labels: Codes,
    own: NDArray[np.int64] | None,
    pattern: int,
    budget: int,
    wanted: NDArray[np.integer],
    offsets: NDArray[np.integer],
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    *,
    n_jobs: int,
    after_part: Report | None,
) -> None:
    """Fill one list of every query, some queries at a time."""
    lengths = np.ascontiguousarray(wanted, np.int32)
    begins = np.ascontiguousarray(offsets, np.int32)
    points: Any = queries
    for rows in in_parts(np.arange(len(queries)), after_part):
        part = slice(rows[0], rows[-1] + 1) if len(rows) else slice(0)
        cells.find(
            points[part],
            labels[part],
            None if own is None else own[part],
            pattern,
            budget,
            lengths[part],
            begins[part],
            indices[part],
            distances[part],
            n_jobs,
        )


def combinations_of(codes: Codes) -> tuple[Codes, NDArray[np.int32]]:
    """Return the combinations of labels that occur, in rising order, and that of every point."""
    order = np.lexsort(codes.T[::-1]) if codes.shape[1] else np.arange(len(codes))
    ordered = codes[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    number = np.empty(len(codes), np.int32)
    number[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[new]), number
