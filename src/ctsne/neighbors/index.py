"""Neighbours of new points, and of fits with several label columns, in one list per pattern.

Few reference points are all scanned. Many are divided into cells of nearby points: inside each
combination of labels for lists with few candidates, and over all points, sorted by label. A query
visits the nearest cells until it has seen a budget of candidates, which is set by trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ctsne._native as _native
from ctsne._core.checks import check_directions, check_jobs, check_number
from ctsne._core.progress import Report, in_parts, within
from ctsne.neighbors import points as pts
from ctsne.neighbors.lists import Neighbors, fill_lists, spread_lengths
from ctsne.neighbors.patterns import Codes, PatternCounts, Patterns, combinations_of
from ctsne.neighbors.points import Reals

# Up to this many reference points, scanning all takes no longer than searching cells.
ALL_UP_TO = 12_000
# A list of up to this many combinations, or with less than one in this many points, is searched in
# cells made inside combinations, if these can be listed quickly.
_FEW_COMBINATIONS = 2
_FEW_POINTS = 16
_MOST_COMBINATIONS = 4096
# Budgets are set for these list lengths; other lists use the budget of the next longer one.
_LENGTHS = (2.0 ** (3 + np.arange(57) / 2)).astype(np.int64)
_LEAST_ENTRIES = 200  # with fewer true neighbours than this a trial says little

Key = tuple[int, int, int]  # pattern, division, list length


class SearchIndex:
    """Reference points arranged so that neighbours of any queries are found, list by list.

    ``codes`` are the labels of the points in every column, -1 where missing. All lists but the
    first are searched among ``aligned`` points, if given. Cells and budgets are made when a list
    first needs them; besides the points, up to two copies of them in single precision are kept.
    """

    def __init__(
        self,
        X: ArrayLike,
        codes: Codes,
        *,
        aligned: ArrayLike | None = None,
        metric: str = "euclidean",
        recall: float = 0.99,
        n_jobs: int | None = -1,
    ) -> None:
        given = pts.check_points(X, aligned, metric)
        self.metric = metric
        self.recall = check_number(recall, "recall", low=0.5, high=1)
        self.codes = np.ascontiguousarray(codes, np.int32)
        self.table, combinations = combinations_of(self.codes)
        self._references = [
            pts.ReferencePoints(
                pts.unit_rows(points) if metric == "cosine" else points, combinations, self.table
            )
            for points in given
        ]
        self._counts = PatternCounts(self.codes)
        self._kinds = PatternCounts(self.table)
        self._budgets: dict[Key, tuple[int, float]] = {}
        self._n_jobs = check_jobs(n_jobs)

    @property
    def n_points(self) -> int:
        """Number of reference points."""
        return len(self.codes)

    @property
    def scale(self) -> float:
        """Half-width of the reference, as in :class:`ctsne.neighbors.Neighbors`."""
        return 1.0 if self.metric == "cosine" else self._references[0].scaling.scale

    def find(
        self,
        X: Reals,
        codes: Codes,
        *,
        lengths: ArrayLike,
        patterns: Patterns,
        aligned: Reals | None = None,
        own: NDArray[np.int64] | None = None,
        n_jobs: int | None = -1,
        after_part: Report | None = None,
    ) -> Neighbors:
        """Find the nearest reference points of each pattern; rows do not depend on each other."""
        # A label number that the reference does not have differs from all. ``lengths`` are as in
        # find_neighbors; ``own`` names a point that each query leaves out. The recall is of trials.
        queries, count = self._queries(X, aligned), len(codes)
        labels, jobs = np.ascontiguousarray(codes), check_jobs(n_jobs)
        wanted = spread_lengths(lengths, count, len(patterns))
        total = int(wanted[0].sum()) if count else 0
        mine = None if own is None else self.codes[own]
        filled = fill_lists(wanted, self._counts.candidates(labels, patterns, mine), total)
        total = int(filled[0].sum()) if count else 0
        indices = np.empty((count, total), np.int32)
        distances = np.empty((count, total), np.float32)
        offsets = np.cumsum(filled, axis=1, dtype=np.int32) - filled
        recalls, entries = [1.0], [0]
        for column, pattern in enumerate(patterns):
            for key, rows in self._searches(labels, pattern, filled[:, column]):
                budget, recall = self._budget(key, jobs)
                done, more = sum(entries), int(filled[rows, column].sum())
                part = within(after_part, done / filled.sum(), (done + more) / filled.sum())
                cells, points = self._cells(key), queries[self._place_of(pattern)]
                lengths = np.where(rows, filled[:, column], 0).astype(np.int32)
                begins = np.ascontiguousarray(offsets[:, column])
                for some in in_parts(np.arange(count), part):
                    block = slice(some[0], some[-1] + 1) if len(some) else slice(0)
                    cells.find(
                        points[block],
                        labels[block],
                        None if own is None else own[block],
                        pattern,
                        budget,
                        lengths[block],
                        begins[block],
                        indices[block],
                        distances[block],
                        jobs,
                    )
                recalls.append(recall)
                entries.append(more)
        measured = float(np.average(recalls, weights=entries)) if any(entries) else 1.0
        if self.metric == "cosine":
            distances = pts.cosine_distances(distances)
        return Neighbors(indices, distances, filled, patterns, self.scale, measured)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what took time to make: cells and budgets, to store beside the points."""
        made: dict[str, NDArray[Any]] = {"recall": np.array([self.recall])}
        keys = sorted(self._budgets)
        budgets = [(*key, self._budgets[key][0]) for key in keys]
        made["budgets"] = np.array(budgets, np.int64).reshape(-1, 4)
        made["reached"] = np.array([self._budgets[k][1] for k in keys], np.float64)
        for number, reference in enumerate(self._references):
            for division, (order, bounds) in reference.made.items():
                made[f"order_{number}_{division}"] = order
                made[f"bounds_{number}_{division}"] = bounds
        return made

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        codes: Codes,
        arrays: Mapping[str, NDArray[Any]],
        *,
        aligned: ArrayLike | None = None,
        metric: str = "euclidean",
        n_jobs: int | None = -1,
    ) -> SearchIndex:
        """Restore an index from its points and :meth:`arrays`, or refuse arrays that do not fit."""
        recall = float(check_array(arrays, "recall", np.float64, (1,))[0])
        index = cls(X, codes, aligned=aligned, metric=metric, recall=recall, n_jobs=n_jobs)
        budgets = check_array(arrays, "budgets", np.int64, (None, 4))
        reached = check_array(arrays, "reached", np.float64, (len(budgets),))
        if not ((reached >= 0) & (reached <= 1)).all():
            raise ValueError("reached of a search index must lie between 0 and 1")
        stored = zip(budgets.tolist(), reached.tolist(), strict=True)
        for (pattern, division, length, budget), share in stored:
            known = pattern in range(1 << index.codes.shape[1]) and length in _LENGTHS
            if not (known and division in (pts.INSIDE, pts.ACROSS) and length < budget):
                raise ValueError("budgets of a search index hold an impossible entry")
            index._budgets[pattern, division, length] = budget, share
        for number, reference in enumerate(index._references):
            for division in (pts.INSIDE, pts.ACROSS):
                name = f"{number}_{division}"
                if f"order_{name}" in arrays:
                    order = check_array(arrays, f"order_{name}", np.uint32, (index.n_points,))
                    bounds = check_array(arrays, f"bounds_{name}", np.int64, (None,))
                    reference.restore(division, order, bounds)
        return index

    def __reduce__(self) -> Any:
        points = [reference.points for reference in self._references]
        moved = points[1] if len(points) > 1 else None
        restore = partial(SearchIndex.from_arrays, aligned=moved, metric=self.metric)
        return restore, (points[0], self.codes, self.arrays())

    def _queries(self, X: Reals, aligned: Reals | None) -> list[Reals]:
        """Return queries as the reference points are: their directions, or of the same type."""
        queries = []
        given = [("X", X)] if aligned is None else [("X", X), ("aligned", aligned)]
        for (argument, points), reference in zip(given, self._references, strict=True):
            if self.metric == "cosine" and len(points):
                check_directions(points, argument=argument)
                points = pts.unit_rows(points)
            queries.append(np.ascontiguousarray(points, reference.points.dtype))
        return queries

    def _place_of(self, pattern: int) -> int:
        return len(self._references) - 1 if pattern else 0

    def _cells(self, key: Key) -> _native.QueryCells:
        pattern, division, _ = key
        return self._references[self._place_of(pattern)].cells(division, self._n_jobs)

    def _searches(
        self, labels: Codes, pattern: int, lengths: NDArray[np.int32]
    ) -> list[tuple[Key, NDArray[np.bool_]]]:
        """Group the queries that want a list by where they search and how far."""
        wanted = lengths > 0
        if not wanted.any():
            return []
        if self.recall == 1 or self.n_points <= ALL_UP_TO:
            return [((pattern, pts.ALL, 0), wanted)]
        inside = self._search_inside(labels, pattern)
        classes = np.searchsorted(_LENGTHS, lengths)
        return [
            ((pattern, division, int(_LENGTHS[number])), rows & (classes == number))
            for division, rows in ((pts.INSIDE, inside & wanted), (pts.ACROSS, ~inside & wanted))
            for number in np.flatnonzero(np.bincount(classes[rows]))
        ]

    def _search_inside(self, labels: Codes, pattern: int) -> NDArray[np.bool_]:
        # Combinations are found by the column outside the pattern that leaves the fewest.
        combinations = np.full(len(labels), len(self.table))
        for column in range(labels.shape[1]):
            if not pattern >> column & 1:
                combinations = np.minimum(combinations, self._kinds.count_alike(labels, column))
        few = self._kinds.count(labels, pattern) <= _FEW_COMBINATIONS
        rare = self._counts.count(labels, pattern) * _FEW_POINTS < self.n_points
        alike = (pattern == 0) & (labels >= 0).all(axis=1)
        return (combinations <= _MOST_COMBINATIONS) & (few | rare | alike)

    def _budget(self, key: Key, jobs: int) -> tuple[int, float]:
        """Return how many candidates a list is found among, and the recall this reaches."""
        if key[1] == pts.ALL:
            return 0, 1.0
        if key not in self._budgets:
            self._budgets[key] = self._try_budgets(key, jobs)
        return self._budgets[key]

    def _try_budgets(self, key: Key, jobs: int) -> tuple[int, float]:
        pattern, division, length = key
        sample = np.random.default_rng(0).permutation(self.n_points)[: pts.TRIALS + pts.CHECKS]
        labels = self.codes[sample]
        if pattern == 0 and division == pts.ACROSS:  # those without labels search so
            labels = np.full_like(labels, -1)
        usual = self._search_inside(labels, pattern) == (division == pts.INSIDE)
        if usual.sum() > len(sample) // 4:
            sample, labels = sample[usual], labels[usual]
        has = self._counts.count(labels, pattern) - (pattern == 0)
        wanted = np.minimum(has, length).astype(np.int32)
        if wanted[: len(wanted) // 3].sum() < _LEAST_ENTRIES:
            if pattern:
                return self._budget((0, division, length), jobs)
            if division == pts.INSIDE:
                return self._budget((0, pts.ACROSS, length), jobs)
        cells, points = self._cells(key), self._references[self._place_of(pattern)].points[sample]

        def distances(some: slice, budget: int) -> NDArray[np.float32]:
            lengths = wanted[some]
            found = np.full((len(lengths), length), np.inf, np.float32)
            indices, begins = np.empty(found.shape, np.int32), np.zeros_like(lengths)
            queries = points[some], labels[some], sample[some]
            cells.find(*queries, pattern, budget, lengths, begins, indices, found, jobs)
            return found

        trials, checks = slice(0, len(sample) // 3), slice(len(sample) // 3, None)
        true = distances(trials, 0)
        goal = self.recall + pts.MARGIN * (1 - self.recall)

        def is_enough(budget: int) -> bool:
            hits, entries = pts.count_found(distances(trials, budget), true, np.isfinite(true))
            return hits >= goal * entries

        fewest = length + pts.CELL_SIZE
        budget = pts.least(is_enough, fewest, max(self.n_points, fewest))
        true = distances(checks, 0)
        hits, entries = pts.count_found(distances(checks, budget), true, np.isfinite(true))
        # Out of one more entry: a complete sample does not prove that the rest is complete.
        return budget, hits / (entries + 1)


def check_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: type, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return an array of a stored index, if it has the right type and shape."""
    array = arrays.get(name)
    if (
        not isinstance(array, np.ndarray)
        or array.dtype != dtype
        or array.ndim != len(shape)
        or any(size not in (None, found) for size, found in zip(shape, array.shape, strict=True))
    ):
        raise ValueError(f"{name} of a search index is missing, or has another type or shape")
    return np.ascontiguousarray(array)
