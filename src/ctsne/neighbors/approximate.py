"""Approximate neighbours: scan the nearest cells of points, as many as a recall target asks for.

Points are divided in cells by k-means. The list of the same label is searched among cells made
inside each label; that of other labels among cells of all points, each sorted by label, so that a
point's own label is stepped over. One search serves any number of labels. How many candidates are
scanned is set by trial on some points whose exact neighbours are known; how many of the true
neighbours were found is measured on others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne.labels import Labels
from ctsne.neighbors.arrange import Arranged, arranged
from ctsne.neighbors.exact import Searched, as_metric, scan_all, searched_points
from ctsne.neighbors.lists import Neighbors

# Points to a cell; labels up to so many points are scanned whole.
CELL_SIZE = 128
WHOLE_LABEL = 2048
# Points whose exact neighbours set the budget, and points on which recall is measured then.
TRIALS = 500
CHECKS = 1000
# The budget is set for a little more recall than asked for: it is found on a sample.
MARGIN = 0.2
_BUDGET_STEP = 1.05
_SLICE_SECONDS = 0.2


@dataclass(frozen=True, eq=False)
class _Cells:
    """Points arranged by cells, and what the native search needs beside them."""

    searched: NDArray[np.floating]
    scale: float
    points: Arranged
    bounds: NDArray[np.int64]
    centres: NDArray[np.float32]
    packed_centres: NDArray[np.float32]
    labels: NDArray[np.int64]  # first cell of each label if cells are label-pure, else their sizes
    pure: bool


class _Lists:
    """The two lists of all points in the making."""

    def __init__(self, k_same: NDArray[np.int32], k_other: NDArray[np.int32], n_jobs: int) -> None:
        self.k_same, self.k_other, self.n_jobs = k_same, k_other, n_jobs
        shape = (len(k_same), int(k_same[0] + k_other[0]))
        self.indices = np.empty(shape, np.int32)
        self.distances = np.empty(shape, np.float32)

    def probe(self, cells: _Cells, queries: NDArray[np.int64], budget: int, *, other: bool) -> None:
        """Search one list of the points at some positions."""
        at = cells.points
        # Nanoseconds of a query: its candidates, and what goes into its lists.
        cost = 0.05 * budget * at.rows.shape[1] + 20_000
        step = max(256 * self.n_jobs, int(1e9 * _SLICE_SECONDS * self.n_jobs / cost))
        for begin in range(0, len(queries), step):
            _native.find_probed(
                at.packed, at.rows, at.ids, at.codes, cells.searched,
                cells.scale, cells.bounds, cells.centres, cells.packed_centres, cells.labels,
                cells.pure, other, queries[begin : begin + step], budget, self.k_same,
                self.k_other, self.n_jobs, self.indices, self.distances,
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Truth:
    """Exact lists of some points, to compare with."""

    rows: NDArray[np.int64]
    distances: NDArray[np.float32]
    same: NDArray[np.bool_]  # which entries belong to the first list

    def of(self, wanted: NDArray[np.bool_]) -> _Truth:
        """Keep some of the points, chosen by a mask over all points."""
        kept = wanted[self.rows]
        return _Truth(self.rows[kept], self.distances[kept], self.same[kept])

    def count_found(self, lists: _Lists, *, other: bool) -> tuple[int, int]:
        """Count the true neighbours in one list of these points, and all entries of that list."""
        listed = ~self.same if other else self.same
        farthest = np.where(listed, self.distances, -1).max(axis=1, initial=-1, keepdims=True)
        found = (lists.distances[self.rows] <= farthest) & listed
        return int(found.sum()), int(listed.sum())


def _truth(lists: _Lists, rows: NDArray[np.int64]) -> _Truth:
    """Copy the lists of some points, before they are written over."""
    distances = lists.distances[rows]
    return _Truth(rows, distances, np.arange(distances.shape[1]) < lists.k_same[rows, None])


def approximate_neighbors(
    X: NDArray[np.floating],
    labels: Labels | None,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    *,
    metric: str,
    n_jobs: int,
    recall: float,
    aligned: NDArray[np.floating] | None = None,
) -> Neighbors:
    """Search cells, with arguments as :func:`ctsne.neighbors.find_neighbors` checked them."""
    searched = searched_points(X, aligned, labels, metric=metric, n_jobs=n_jobs)
    lists = _Lists(k_same, k_other, n_jobs)
    sample = np.random.default_rng(0).permutation(len(X))[: TRIALS + CHECKS]
    for other, points in enumerate(searched):
        out = lists.indices, lists.distances
        scan_all(points, k_same, k_other, n_jobs, sample, out, other=bool(other))
    trials, checks = (_truth(lists, rows) for rows in np.split(sample, [TRIALS]))
    labelled = np.ones(len(X), np.bool_)
    if labels is not None and labels.n_labels:
        labelled = labels.codes >= 0
    scale, sizes = searched[0].scale, np.diff(searched[0].bounds)
    cells = _cells_of_labels(searched[0], n_jobs)
    _search(cells, lists, labelled, trials, recall, other=False)
    if not labelled.all():  # the list of an unlabelled point holds any labels
        cells = _cells_of_all(searched[0], sizes, n_jobs)
        _search(cells, lists, ~labelled, trials, recall, other=False)
    if k_other.any():
        if searched[1] is not searched[0] or labelled.all():
            cells = _cells_of_all(searched[1], sizes, n_jobs)
        _search(cells, lists, labelled, trials, recall, other=True)
    counts = [checks.count_found(lists, other=other) for other in (False, True)]
    # Of one entry more: a sample in which nothing is missing does not prove that nothing is.
    measured = sum(hits for hits, _ in counts) / (1 + sum(entries for _, entries in counts))
    found = Neighbors(lists.indices, lists.distances, k_same, scale, measured)
    return as_metric(found, metric)


def _cells_of_labels(searched: Searched, n_jobs: int) -> _Cells:
    """Divide each label, and the unlabelled points, in cells of their own."""
    points, bounds = searched.arranged, searched.bounds
    n = len(points.ids)
    ranges = bounds if bounds[-1] == n else np.append(bounds, n)
    order, cells, first = _native.make_cells(points.rows, ranges, CELL_SIZE, WHOLE_LABEL, n_jobs)
    divided = arranged(points.rows, order, points.ids, points.codes, n_jobs)
    centres = _centres(divided, cells, n_jobs)
    return _Cells(
        searched.points, searched.scale, divided, cells, *centres, first[: len(bounds)], True
    )


def _cells_of_all(searched: Searched, sizes: NDArray[np.int64], n_jobs: int) -> _Cells:
    """Divide all points in cells, and sort each cell by label."""
    points = searched.arranged
    n = len(points.ids)
    whole = np.array([0, n])
    order, cells, _ = _native.make_cells(points.rows, whole, CELL_SIZE, CELL_SIZE, n_jobs)
    cell = np.repeat(np.arange(len(cells) - 1), np.diff(cells))
    order = order[np.lexsort((points.codes[order], cell))]
    divided = arranged(points.rows, order, points.ids, points.codes, n_jobs)
    centres = _centres(divided, cells, n_jobs)
    return _Cells(searched.points, searched.scale, divided, cells, *centres, sizes, False)


def _centres(
    points: Arranged, cells: NDArray[np.int64], n_jobs: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    count, dims = len(cells) - 1, points.rows.shape[1]
    centres = np.empty((count, dims), np.float32)
    _native.cell_centres(points.rows, cells, n_jobs, centres)
    packed = np.empty((-(-count // _native.BLOCK), dims, _native.BLOCK), np.float32)
    _native.arrange(centres, np.arange(count, dtype=np.uint32), n_jobs, centres.copy(), packed)
    return centres, packed


def _search(
    cells: _Cells,
    lists: _Lists,
    wanted: NDArray[np.bool_],
    trials: _Truth,
    recall: float,
    *,
    other: bool,
) -> None:
    """Fill one list of the points of a mask, with a budget that reaches the recall on trial."""
    ids = cells.points.ids
    length = lists.k_other if other else lists.k_same
    if not length[wanted].any():
        return
    tried = np.zeros(len(ids), np.bool_)
    trial = trials.of(wanted)
    tried[trial.rows] = True
    some = np.flatnonzero(tried[ids])
    goal = recall + MARGIN * (1 - recall)

    def is_enough(budget: int) -> bool:
        lists.probe(cells, some, budget, other=other)
        hits, entries = trial.count_found(lists, other=other)
        return entries > 0 and hits >= goal * entries

    budget = _least(is_enough, int(length.max()) + CELL_SIZE, len(ids))
    lists.probe(cells, np.flatnonzero(wanted[ids]), budget, other=other)


def _least(is_enough: Callable[[int], bool], low: int, high: int) -> int:
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
