"""Points in the form that searches scan: scaled, and divided into cells of nearby points."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ctsne._native as _native
from ctsne._core.checks import check_choice, check_directions, check_features
from ctsne._core.vocabulary import FEATURE_METRICS
from ctsne.neighbors.patterns import Codes

Reals = NDArray[np.floating]  # in single or double precision
CELL_SIZE = 128  # points per cell
# Points whose exact neighbours set the budget, and points that recall is measured on.
TRIALS = 500
CHECKS = 1000
# The budget aims at slightly more than the recall asked for, because it is set on a sample.
MARGIN = 0.2
_BUDGET_STEP = 1.05
# Numbers converted to double precision at a time, so that the data are never copied as a whole.
_NUMBERS_AT_ONCE = 1 << 20

# How points are divided: all points are scanned; cells inside each combination of labels; cells of
# all points.
ALL, INSIDE, ACROSS = range(3)
_SCANNED_AT_ONCE = 512  # points per cell where all are scanned


def check_points(X: ArrayLike, aligned: ArrayLike | None, metric: str) -> list[Reals]:
    """Return checked features, and the aligned points if there are any."""
    cosine = check_choice(metric, "metric", FEATURE_METRICS) == "cosine"
    given = {"X": X} if aligned is None else {"X": X, "aligned": aligned}
    checked: list[Reals] = []
    for argument, table in given.items():
        points = check_features(table, argument=argument)
        if checked and len(points) != len(checked[0]):
            raise ValueError(f"aligned has {len(points)} rows but X has {len(checked[0])}")
        if cosine:
            check_directions(points, argument=argument)
        checked.append(points)
    return checked


def unit_rows(X: Reals) -> NDArray[np.float64]:
    """Scale rows to length one, in double precision because near-parallel ones hardly differ."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / largest.astype(np.float64)  # so that squares neither overflow nor vanish
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def cosine_distances(distances: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn distances between unit vectors into cosine distances."""
    # Between unit vectors, |a - b|² / 2 is one minus their cosine.
    return (0.5 * distances.astype(np.float64) ** 2).astype(np.float32)


class Scaling(NamedTuple):
    """How points were centred and scaled: less ``first``, less ``mean``, divided by ``scale``."""

    first: NDArray[np.float64]  # subtracted first, so that identical points become zeros
    mean: NDArray[np.float64]
    scale: float


def centred_and_scaled(X: Reals) -> tuple[NDArray[np.float32], Scaling]:
    """Return float32 data whose digits hold the differences, and how they were scaled."""
    first = X[0].astype(np.float64)
    step = max(1, _NUMBERS_AT_ONCE // X.shape[1])

    def centred() -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for begin in range(0, len(X), step):
            part = slice(begin, begin + step)
            yield part, X[part] - first

    mean = sum(part.sum(axis=0) for _, part in centred()) / len(X)
    scale = max(float(np.abs(part - mean).max()) for _, part in centred()) or 1.0
    scaled = np.empty(X.shape, np.float32)
    for part, values in centred():
        scaled[part] = (values - mean) / scale
    return scaled, Scaling(first, mean, scale)


def count_found(
    found: NDArray[np.float32], true: NDArray[np.float32], entries: NDArray[np.bool_]
) -> tuple[int, int]:
    """Count the true neighbours in rows of distances, among some entries, and all of these."""
    farthest = np.where(entries, true, -1).max(axis=1, initial=-1, keepdims=True)
    return int(((found <= farthest) & entries).sum()), int(entries.sum())


def least(is_enough: Callable[[int], bool], low: int, high: int) -> int:
    """Find about the least number from ``low`` to ``high`` that is enough; ``high`` always is."""
    enough = low
    while enough < high and not is_enough(enough):
        low, enough = enough, 2 * enough
    if enough == low:
        return enough
    enough = min(enough, high)
    while enough > max(low + 1, _BUDGET_STEP * low):
        middle = max(low + 1, int((low * enough) ** 0.5))
        if is_enough(middle):
            enough = middle
        else:
            low = middle
    return enough


def cells_of_all(
    rows: NDArray[np.float32], codes: NDArray[np.int32], n_jobs: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Divide all points into cells, each sorted by label: return their order, and the bounds."""
    whole = np.array([0, len(rows)], np.int64)
    order, bounds = _native.make_cells(rows, whole, CELL_SIZE, CELL_SIZE, n_jobs)
    cell = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return order[np.lexsort((codes[order], cell))], bounds


class ReferencePoints:
    """Reference points as one kind of list sees them, divided into cells."""

    def __init__(self, points: Reals, combinations: NDArray[np.int32], table: Codes) -> None:
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
            order, bounds = self.made.get(division) or self._divide(division, n_jobs)
            if division != ALL:
                self.made[division] = order, bounds
            points: Any = self.points
            labels = self._combinations, self._table
            self._cells[division] = _native.QueryCells(
                points, *self.scaling, order, bounds, *labels, division == INSIDE, n_jobs
            )
        return self._cells[division]

    def restore(self, division: int, order: NDArray[np.uint32], bounds: NDArray[np.int64]) -> None:
        """Take over cells that were made before."""
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

    def _divide(self, division: int, n_jobs: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        n = len(self.points)
        by_label = np.argsort(self._combinations, kind="stable").astype(np.uint32)
        if division == ALL:
            return by_label, np.append(np.arange(0, n, _SCANNED_AT_ONCE), n).astype(np.int64)
        rows, self._scaling = centred_and_scaled(self.points)
        if division == ACROSS:
            return cells_of_all(rows, self._combinations, n_jobs)
        sizes = np.bincount(self._combinations, minlength=len(self._table))
        ranges = np.append(0, np.cumsum(sizes)).astype(np.int64)
        order, bounds = _native.make_cells(rows[by_label], ranges, CELL_SIZE, CELL_SIZE, n_jobs)
        return by_label[order], bounds
