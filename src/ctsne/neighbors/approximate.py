"""Approximate neighbours: scan the nearest cells of points, as many as a recall target needs.

k-means divides the points into cells. The same-label list is searched among cells made inside each
label; the other-label list among cells of all points, each sorted by label, so that a point's own
label is skipped. One search serves any number of labels. The number of candidates is set by trial
on points whose exact neighbours are known; recall is then measured on other such points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.progress import Report, in_parts, within
from ctsne.labels import Column
from ctsne.neighbors.exact import Searched, as_metric, scan_all, searched_points
from ctsne.neighbors.lists import Neighbors

# Points per cell. Labels with up to WHOLE_LABEL points are scanned as a whole.
CELL_SIZE = 128
WHOLE_LABEL = 2048
# Points whose exact neighbours set the budget, and points that recall is measured on.
TRIALS = 500
CHECKS = 1000
# The budget aims at slightly more than the recall asked for, because it is set on a sample.
MARGIN = 0.2
_BUDGET_STEP = 1.05
# Usual share of the time until the same-label lists are found, if there are two.
_SAME_SHARE = 0.35


@dataclass(frozen=True, eq=False)
class _Truth:
    """Exact lists of some points, to compare with."""

    rows: NDArray[np.int64]
    distances: NDArray[np.float32]
    same: NDArray[np.bool_]  # the entries of the same-label list

    def of(self, wanted: NDArray[np.bool_]) -> _Truth:
        """Keep some of the points, chosen by a mask over all points."""
        kept = wanted[self.rows]
        return _Truth(self.rows[kept], self.distances[kept], self.same[kept])

    def count_found(self, lists: _native.NeighborLists, *, other: bool) -> tuple[int, int]:
        """Count the true neighbours in one list of these points, and all entries of that list."""
        listed = ~self.same if other else self.same
        farthest = np.where(listed, self.distances, -1).max(axis=1, initial=-1, keepdims=True)
        found = (lists.distances[self.rows] <= farthest) & listed
        return int(found.sum()), int(listed.sum())


def approximate_neighbors(
    X: NDArray[np.floating],
    labels: Column | None,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
    *,
    metric: str,
    n_jobs: int,
    recall: float,
    aligned: NDArray[np.floating] | None = None,
    after_part: Report | None = None,
) -> Neighbors:
    """Search cells, with arguments as :func:`ctsne.neighbors.find_neighbors` checked them."""
    searched = searched_points(X, aligned, labels, metric=metric, n_jobs=n_jobs)
    length = int(k_same[0] + k_other[0])
    lists = _native.NeighborLists(k_same, length)
    sample = np.random.default_rng(0).permutation(len(X))[: TRIALS + CHECKS]
    for other, lengths in enumerate((k_same, k_other)):
        if lengths.any():
            scan_all(searched[other], lists, sample, other=bool(other))
    trials, checks = (  # copies, because the search writes over the exact lists
        _Truth(rows, lists.distances[rows], np.arange(length) < k_same[rows, None])
        for rows in np.split(sample, [TRIALS])
    )
    labelled = np.ones(len(X), np.bool_)
    if labels is not None and labels.n_labels:
        labelled = labels.codes >= 0
    sizes = np.diff(searched[0].bounds)
    cells = _cells_of_labels(searched[0], n_jobs)
    part = within(after_part, 0.0, _SAME_SHARE if k_other.any() else 1.0)
    _search(cells, lists, k_same, labelled, trials, recall, other=False, after_part=part)
    if not labelled.all():  # the list of an unlabelled point holds any labels
        cells = _cells_of_all(searched[0], sizes, n_jobs)
        _search(cells, lists, k_same, ~labelled, trials, recall, other=False)
    if k_other.any():
        if searched[1] is not searched[0] or labelled.all():
            cells = _cells_of_all(searched[1], sizes, n_jobs)
        part = within(after_part, _SAME_SHARE, 1.0)
        _search(cells, lists, k_other, labelled, trials, recall, other=True, after_part=part)
    counts = [checks.count_found(lists, other=other) for other in (False, True)]
    # Out of one more entry: a complete sample does not prove that the rest is complete.
    measured = sum(hits for hits, _ in counts) / (1 + sum(entries for _, entries in counts))
    found = Neighbors(lists.indices, lists.distances, k_same, searched[0].scale, measured)
    return as_metric(found, metric)


def _cells_of_labels(searched: Searched, n_jobs: int) -> _native.Cells:
    """Divide each label, and the unlabelled points, into cells of their own."""
    rows, bounds = searched.points.rows, searched.bounds
    ranges = bounds if bounds[-1] == len(rows) else np.append(bounds, len(rows))
    order, cells = _native.make_cells(rows, ranges, CELL_SIZE, WHOLE_LABEL, n_jobs)
    return _native.Cells(searched.points.reordered(order), cells)


def _cells_of_all(searched: Searched, sizes: NDArray[np.int64], n_jobs: int) -> _native.Cells:
    """Divide all points into cells, and sort each cell by label."""
    points = searched.points
    whole = np.array([0, len(points.rows)], np.int64)
    order, cells = _native.make_cells(points.rows, whole, CELL_SIZE, CELL_SIZE, n_jobs)
    cell = np.repeat(np.arange(len(cells) - 1), np.diff(cells))
    order = order[np.lexsort((points.codes[order], cell))]
    return _native.Cells(points.reordered(order), cells, sizes)


def _search(
    cells: _native.Cells,
    lists: _native.NeighborLists,
    lengths: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    trials: _Truth,
    recall: float,
    *,
    other: bool,
    after_part: Report | None = None,
) -> None:
    """Fill one list of the points of a mask, with a budget that reaches the recall on trial."""
    if not lengths[wanted].any():
        return
    ids = cells.points.ids
    trial = trials.of(wanted)
    tried = np.zeros(len(ids), np.bool_)
    tried[trial.rows] = True
    some = np.flatnonzero(tried[ids])
    goal = recall + MARGIN * (1 - recall)

    def is_enough(budget: int) -> bool:
        cells.find(lists, some, other, budget)
        hits, entries = trial.count_found(lists, other=other)
        return entries > 0 and hits >= goal * entries

    budget = least(is_enough, int(lengths.max()) + CELL_SIZE, len(ids))
    for queries in in_parts(np.flatnonzero(wanted[ids]), after_part):
        cells.find(lists, queries, other, budget)


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
