"""Search the neighbours of a fit: up to one label column here, several by the index.

With up to one column, lists are searched exactly over all pairs, or among cells that k-means makes:
the same label in cells inside each label, other labels in cells of all points, sorted by label, so
that a point's own is skipped. The number of candidates is set by trial on points whose exact
neighbours are known; recall is then measured on others. For several columns,
:class:`ctsne.neighbors.index.SearchIndex` takes about 1.4 times as long per list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs
from ctsne._core.progress import Report, in_parts, within
from ctsne.labels import Column, encode_labels
from ctsne.neighbors import points as pts
from ctsne.neighbors.index import SearchIndex
from ctsne.neighbors.lists import Neighbors, Unaligned, fill_lengths
from ctsne.neighbors.patterns import Patterns
from ctsne.neighbors.points import Reals

# Up to this many points the exact search is no slower, or takes less than a second.
EXACT_UP_TO = 30_000
# Points that are also searched without alignment, to know the natural share of other labels.
UNALIGNED_POINTS = 1000
_WHOLE_LABEL = 2048  # labels with up to this many points are scanned as a whole
_SAME_SHARE = 0.35  # usual share of the time until the same-label lists are found, if there are two


def is_approximate(n: int, recall: float) -> bool:
    """Return whether this many points are searched approximately at a recall."""
    return recall < 1 and n > EXACT_UP_TO


def find_neighbors(
    X: ArrayLike,
    labels: object = None,
    *,
    lengths: ArrayLike,
    patterns: Patterns | None = None,
    metric: str = "euclidean",
    aligned: ArrayLike | None = None,
    rows: NDArray[np.integer] | None = None,
    recall: float = 1.0,
    n_jobs: int | None = -1,
    after_part: Report | None = None,
) -> Neighbors:
    """Find the nearest points with the same labels and with other labels.

    The search is exact, unless a lower recall is allowed and there are many points. Distances in
    single precision select candidates, those in double precision order them. Where rounding could
    hide a neighbour, the exact search repeats the scan in double precision. Ties go by index.

    Labels are anything that :func:`ctsne.labels.encode_labels` reads; without them there is one
    list. There is a list for each of the ``patterns`` (see :class:`Neighbors`), by default for all
    ``2**C``. The wanted ``lengths``, of shape (), (P,) or (n, P), have the same sum for all points.
    Where a list has too few candidates, the first others that have enough take the rest, so every
    row holds ``min(sum, n - 1)`` neighbours. All lists but the first are searched among ``aligned``
    points. With ``rows``, the search is exact and only for these points, each listed once.
    """
    points = pts.check_points(X, aligned, metric)
    features, moved, n = points[0], None if aligned is None else points[1], len(points[0])
    known = None if labels is None else encode_labels(labels, n=n)
    chosen = patterns or tuple(range(1 << (0 if known is None else known.n_columns)))
    filled = fill_lengths(lengths, known, chosen, n)
    n_jobs = check_jobs(n_jobs)
    enough = recall if rows is None else 1.0
    if known is not None and known.n_columns > 1:
        index = SearchIndex(
            features, known.codes, aligned=moved, metric=metric, recall=enough, n_jobs=n_jobs
        )
        some: Any = slice(None) if rows is None else rows
        found = index.find(
            features[some],
            known.codes[some],
            lengths=filled[some],
            patterns=chosen,
            aligned=None if moved is None else moved[some],
            own=np.arange(n)[some],
            n_jobs=n_jobs,
            after_part=after_part,
        )
    else:
        column = None if known is None else known.columns[0]
        search = _SearchByLabel(points, column, filled, chosen, metric, n_jobs)
        if is_approximate(n, enough):
            found = search.approximate(enough, after_part)
        else:
            found = search.exact(rows, after_part)
    if moved is None or rows is not None:
        return found
    sample = np.sort(np.random.default_rng(0).permutation(n)[:UNALIGNED_POINTS])
    plain = find_neighbors(
        features, known, lengths=filled, patterns=chosen, metric=metric, rows=sample, n_jobs=n_jobs
    )
    return replace(found, unaligned=Unaligned(sample, plain))


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
        entries = ~self.same if other else self.same
        return pts.count_found(lists.distances[self.rows], self.distances, entries)


class _SearchByLabel:
    """The search for the lists of the same label and of other labels, with checked arguments."""

    def __init__(
        self,
        given: list[Reals],
        column: Column | None,
        lengths: NDArray[np.int32],
        patterns: Patterns,
        metric: str,
        n_jobs: int,
    ) -> None:
        self.n, self.metric, self.n_jobs = len(lengths), metric, n_jobs
        # Without labels all points have the same one.
        self.codes, self.counts = np.zeros(self.n, np.int32), np.array([self.n])
        if column is not None and column.n_labels:
            self.codes = np.append(column.appearance, -1)[column.codes].astype(np.int32)
            self.counts = column.counts[np.argsort(column.appearance)]
        self.lengths, self.patterns = lengths, patterns
        self.n_same = np.ascontiguousarray(lengths[:, 0])
        self.length = int(lengths[0].sum())
        self.lists = _native.NeighborLists(self.n_same, self.length)
        # Points sorted by label, unlabelled ones last: the first are the candidates of the
        # same-label lists, the last those of the other-label lists.
        key = np.where(self.codes < 0, len(self.counts), self.codes)
        order = np.argsort(key, kind="stable").astype(np.uint32)
        self.candidates: list[_native.SearchPoints] = []
        self.scale = 1.0
        for points in given:
            original: Any = pts.unit_rows(points) if metric == "cosine" else points
            scaled, (_, _, scale) = pts.centred_and_scaled(original)
            if metric != "cosine" and not self.candidates:
                self.scale = scale
            made = _native.SearchPoints(original, scaled, order, self.codes, scale, n_jobs)
            self.candidates.append(made)

    def _result(self, rows: NDArray[np.integer] | None, recall: float) -> Neighbors:
        some: Any = slice(None) if rows is None else rows
        indices, distances = self.lists.indices[some], self.lists.distances[some]
        if self.metric == "cosine":
            distances = pts.cosine_distances(distances)
        return Neighbors(indices, distances, self.lengths[some], self.patterns, self.scale, recall)

    def exact(self, rows: NDArray[np.integer] | None, after_part: Report | None) -> Neighbors:
        """Scan all pairs, or those of some rows."""
        # Each list takes as long as it has candidates: all pairs with equal labels, or the others.
        middle = float(((self.counts / self.n) ** 2).sum())
        for other, (begin, end) in enumerate(((0.0, middle), (middle, 1.0))):
            self._scan(bool(other), rows, within(after_part, begin, end))
        return self._result(rows, 1.0)

    def _scan(
        self, other: bool, rows: NDArray[np.integer] | None, after_part: Report | None = None
    ) -> None:
        """Fill one list of all points, or of some, by scanning all candidates."""
        if not (self.n_same < self.length if other else self.n_same).any():
            return
        points = self.candidates[-1 if other else 0]
        wanted = np.full(self.n, rows is None)
        if rows is not None:
            wanted[rows] = True
        for queries in in_parts(np.flatnonzero(wanted[points.ids]), after_part):
            points.find_exact(self.lists, queries, other)

    def approximate(self, recall: float, after_part: Report | None) -> Neighbors:
        """Scan the nearest cells, as many as the recall needs."""
        sample = np.random.default_rng(0).permutation(self.n)[: pts.TRIALS + pts.CHECKS]
        for other in (False, True):
            self._scan(other, sample)
        slot = np.arange(self.length)
        trials, checks = (  # copies, because the search writes over the exact lists
            _Truth(rows, self.lists.distances[rows], slot < self.n_same[rows, None])
            for rows in np.split(sample, [pts.TRIALS])
        )
        labelled = self.codes >= 0
        same, others = self.candidates[0], self.candidates[-1]
        two_lists = bool((self.n_same < self.length).any())
        part = within(after_part, 0.0, _SAME_SHARE if two_lists else 1.0)
        cells = self._cells_of_labels(same)
        self._search(cells, labelled, trials, recall, other=False, after_part=part)
        if not labelled.all():  # the list of an unlabelled point holds any labels
            cells = self._cells_of_all(same)
            self._search(cells, ~labelled, trials, recall, other=False)
        if two_lists:
            if others is not same or labelled.all():
                cells = self._cells_of_all(others)
            part = within(after_part, _SAME_SHARE, 1.0)
            self._search(cells, labelled, trials, recall, other=True, after_part=part)
        counts = [checks.count_found(self.lists, other=other) for other in (False, True)]
        # Out of one more entry: a complete sample does not prove that the rest is complete.
        measured = sum(hits for hits, _ in counts) / (1 + sum(entries for _, entries in counts))
        return self._result(None, measured)

    def _cells_of_labels(self, points: _native.SearchPoints) -> _native.Cells:
        ranges = np.append(0, np.cumsum(self.counts)).astype(np.int64)
        if ranges[-1] < self.n:
            ranges = np.append(ranges, self.n)
        order, cells = _native.make_cells(
            points.rows, ranges, pts.CELL_SIZE, _WHOLE_LABEL, self.n_jobs
        )
        return _native.Cells(points.reordered(order), cells)

    def _cells_of_all(self, points: _native.SearchPoints) -> _native.Cells:
        order, cells = pts.cells_of_all(points.rows, points.codes, self.n_jobs)
        return _native.Cells(points.reordered(order), cells, self.counts)

    def _search(
        self,
        cells: _native.Cells,
        wanted: NDArray[np.bool_],
        trials: _Truth,
        recall: float,
        *,
        other: bool,
        after_part: Report | None = None,
    ) -> None:
        """Fill one list of the points of a mask, with a budget that reaches the recall on trial."""
        lengths = self.length - self.n_same if other else self.n_same
        if not lengths[wanted].any():
            return
        ids = cells.points.ids
        trial = trials.of(wanted)
        tried = np.zeros(self.n, np.bool_)
        tried[trial.rows] = True
        some = np.flatnonzero(tried[ids])
        goal = recall + pts.MARGIN * (1 - recall)

        def is_enough(budget: int) -> bool:
            cells.find(self.lists, some, other, budget)
            hits, entries = trial.count_found(self.lists, other=other)
            return entries > 0 and hits >= goal * entries

        budget = pts.least(is_enough, int(lengths.max()) + pts.CELL_SIZE, self.n)
        for queries in in_parts(np.flatnonzero(wanted[ids]), after_part):
            cells.find(self.lists, queries, other, budget)
