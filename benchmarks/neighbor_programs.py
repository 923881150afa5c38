"""Neighbour searches to be measured: ours, and what a user of a library would write.

Libraries do not support labels. The *plain* problem asks them for as many nearest points as both
lists have together, regardless of labels. For the two lists, a user makes one index per label for
`same`. For `other`, the user makes one index per label of all points with other labels or, if there
are many labels, one index of all points that returns more points than needed (over-fetching).

Each library is tuned on the sampled points, uncounted, until they reach the target recall. Then
everything is built and searched once with that setting, and only this is timed.
"""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Any

import numpy as np
from child import Clock
from common import load_problem
from neighbor_libraries import LIBRARIES, Library
from neighbor_truth import Truth, labelled_recall, plain_recall
from numpy.typing import NDArray

# With more labels than this, over-fetch instead of building one index per label.
MOST_COMPLEMENTS = 20
_FEW = 2000
_BATCH = 20_000
_FETCH = (1.5, 2, 4, 8)


def ctsne(
    clock: Clock,
    *,
    folder: str,
    labelled: bool,
    k_same: int,
    k_other: int,
    target: float,
    jobs: int,
) -> dict[str, Any]:
    from ctsne.neighbors import find_neighbors

    X, labels = load_problem(folder)
    options: dict[str, Any] = {"n_jobs": jobs}
    if "recall" in inspect.signature(find_neighbors).parameters:
        options["recall"] = target
    if labelled:
        options |= {"lengths": (k_same, k_other)}
    else:
        options |= {"lengths": k_same + k_other}
    known = labels if labelled else None
    find_neighbors(X[:_FEW], known if known is None else known[:_FEW], **options)
    clock.begin()
    found = find_neighbors(X, known, **options)
    seconds = clock.seconds()
    clock.stop()
    truth = Truth.load(Path(folder) / "truth.npz")
    rows = found.indices[truth.points]
    recall = plain_recall(truth, X, rows)
    if labelled:
        recall = labelled_recall(truth, X, labels, rows)
    return {"seconds": seconds, "recall": recall, "reached": recall >= target}


def plain(clock: Clock, *, folder: str, library: str, target: float, jobs: int) -> dict[str, Any]:
    """Find the nearest points regardless of labels, with one index of all points."""
    X, _ = load_problem(folder)
    truth = Truth.load(Path(folder) / "truth.npz")
    k = truth.k + 1  # the point itself is found too
    _warm_up(library, X, k, jobs)
    tried: list[dict[str, Any]] = []
    for build in LIBRARIES[library]().builds:
        index = LIBRARIES[library]()
        clock.begin()
        begin = time.perf_counter()
        index.build(X, k, build, jobs)
        built = time.perf_counter() - begin
        clock.report(build_seconds=built)
        with clock.uncounted():
            for search in index.searches(k):
                queries = X if index.own_points_only else X[truth.points]
                found = index.search(queries, k, search)
                rows = found[truth.points] if index.own_points_only else found
                recall = plain_recall(truth, X, rows)
                tried.append({"build": build, "search": search, "recall": recall})
                clock.report(tried=tried)
                if recall >= target:
                    break
        if recall >= target:
            break
    begin = time.perf_counter()
    found = index.search(X, k, search)
    searched = time.perf_counter() - begin
    clock.stop()
    recall = plain_recall(truth, X, found[truth.points])
    return {
        "seconds": built + searched,
        "build_seconds": built,
        "search_seconds": searched,
        "setting": {"build": build, "search": search},
        "recall": recall,
        # The recall of all points may differ slightly from that of the sample.
        "reached": round(recall, 3) >= target,
    }


def labelled(
    clock: Clock,
    *,
    folder: str,
    library: str,
    k_same: int,
    k_other: int,
    target: float,
    jobs: int,
) -> dict[str, Any]:
    """Find the nearest points of the same and of other labels, as a user of a library would."""
    X, labels = load_problem(folder)
    truth = Truth.load(Path(folder) / "truth.npz")
    _warm_up(library, X, k_same + k_other, jobs)
    few = labels.max() < MOST_COMPLEMENTS
    lists: Any = _Complements if few else _OverFetching
    work = lists(LIBRARIES[library], X, labels, truth, k_same, k_other, jobs)
    tried: list[dict[str, Any]] = []
    settings = work.settings()
    for setting in settings:
        recall = work.sampled(setting)
        tried.append({"search": work.describe(setting), "recall": recall})
        clock.report(tried=tried)
        if recall >= target:
            break
    # What some points reach, all may miss by a little; then the next setting is the one.
    for setting in settings[len(tried) - 1 : len(tried) + 1]:
        clock.begin()
        found = work.all(setting)
        seconds = clock.seconds()
        clock.stop()
        recall = labelled_recall(truth, X, labels, found)
        if round(recall, 3) >= target:
            break
    return {
        "seconds": seconds,
        "way": "an index without each label" if few else "over-fetching",
        "setting": {"search": work.describe(setting)},
        "recall": recall,
        "reached": round(recall, 3) >= target,
    }


class _Lists:
    """The shared part of both ways to make two lists: one index per label for `same`."""

    def __init__(
        self, library: Any, X: Any, labels: Any, truth: Truth, k_same: int, k_other: int, jobs: int
    ) -> None:
        self._library, self._X, self._labels, self._truth = library, X, labels, truth
        self._k_same, self._k_other, self._jobs = k_same, k_other, jobs
        # The index used for tuning, kept until that is done.
        self._tuning: Any = None

    def _index(self, points: Any, k: int) -> Library:
        index: Library = self._library()
        index.build(points, k, index.builds[0], self._jobs)
        return index

    def _search(self, index: Library, queries: Any, k: int, turn: int) -> NDArray[np.int64]:
        settings = index.searches(k)
        return index.search(queries, k, settings[min(turn, len(settings) - 1)]).astype(np.int64)

    def _same(self, members: NDArray[np.int64], turn: int) -> NDArray[np.int64]:
        """Search for the neighbours of each member of a label among the members; -1 pads rows."""
        points = self._X[members]
        k = min(self._k_same + 1, len(members))
        near = self._search(self._index(points, k), points, k, turn)
        return np.where(near >= 0, members[near], -1)

    def _sampled_of(self, members: NDArray[np.int64]) -> tuple[Any, Any]:
        """Return the positions of sampled members, among the members and among the sample."""
        _, among, sampled = np.intersect1d(members, self._truth.points, return_indices=True)
        return among, sampled


class _Complements(_Lists):
    """One index per label, of all points with other labels."""

    def settings(self) -> list[int]:
        return list(range(len(self._library().searches(1))))

    def describe(self, turn: int) -> Any:
        return self._library().searches(self._k_other)[turn]

    def sampled(self, turn: int) -> float:
        """Return the recall for sampled points of the label with most of them."""
        label = int(np.bincount(self._labels[self._truth.points]).argmax())
        rows = self._labels[self._truth.points] == label
        if self._tuning is None:
            rest = np.flatnonzero(self._labels != label)
            self._tuning = rest, self._index(self._X[rest], self._k_other)
        rest, index = self._tuning
        truth = self._truth.of(rows).others()
        near = self._search(index, self._X[truth.points], self._k_other, turn)
        return labelled_recall(truth, self._X, self._labels, np.where(near >= 0, rest[near], -1))

    def all(self, turn: int) -> NDArray[np.int64]:
        """Make both lists of all points; return those of the sampled ones."""
        self._tuning = None
        # A small label has a shorter `same` list and a longer `other` list.
        found = np.full((len(self._truth.points), self._truth.k + 2), -1)
        for label in range(int(self._labels.max()) + 1):
            own = self._labels == label
            members, rest = np.flatnonzero(own), np.flatnonzero(~own)
            same = self._same(members, turn)
            k = min(self._truth.k - min(self._k_same, len(members) - 1), len(rest))
            near = self._search(self._index(self._X[rest], k), self._X[members], k, turn)
            lists = np.hstack([same, np.where(near >= 0, rest[near], -1)])
            among, sampled = self._sampled_of(members)
            found[sampled, : lists.shape[1]] = lists[among]
        return found


class _OverFetching(_Lists):
    """One index of all points that returns more than needed; same labels are dropped later."""

    def settings(self) -> list[tuple[float, int]]:
        turns = range(len(self._library().searches(1)))
        return [(factor, turn) for factor in _FETCH for turn in turns]

    def describe(self, setting: tuple[float, int]) -> Any:
        fetch = self._fetch(setting[0])
        return {"fetched": fetch, "search": self._library().searches(fetch)[setting[1]]}

    def _fetch(self, factor: float) -> int:
        return min(len(self._X), int(factor * self._truth.k))

    def sampled(self, setting: tuple[float, int]) -> float:
        if self._tuning is None:
            self._tuning = self._index(self._X, self._truth.k)
        truth = self._truth.others()
        found = self._others(self._tuning, truth.points, setting)
        return labelled_recall(truth, self._X, self._labels, found)

    def all(self, setting: tuple[float, int]) -> NDArray[np.int64]:
        """Make both lists of all points; return those of the sampled ones."""
        self._tuning = None
        k = self._truth.k
        found = np.full((len(self._truth.points), 2 * k + 2), -1)
        for label in range(int(self._labels.max()) + 1):
            members = np.flatnonzero(self._labels == label)
            same = self._same(members, setting[1])
            among, sampled = self._sampled_of(members)
            found[sampled, : same.shape[1]] = same[among]
        index = self._index(self._X, k)
        for begin in range(0, len(self._X), _BATCH):
            points = np.arange(begin, min(begin + _BATCH, len(self._X)))
            other = self._others(index, points, setting)
            among, sampled = self._sampled_of(points)
            found[sampled, k + 2 :] = other[among]
        return found

    def _others(
        self, index: Library, points: NDArray[np.int64], setting: tuple[float, int]
    ) -> NDArray[np.int64]:
        """Fetch many points and move the nearest with other labels to the front."""
        fetch = self._fetch(setting[0])
        near = self._search(index, self._X[points], fetch, setting[1])
        unwanted = (near < 0) | (self._labels[near] == self._labels[points, np.newaxis])
        order = np.argsort(unwanted, axis=1, kind="stable")[:, : self._truth.k]
        near[unwanted] = -1
        return np.take_along_axis(near, order, axis=1)


def _warm_up(library: str, X: NDArray[np.float32], k: int, jobs: int) -> None:
    index, few = LIBRARIES[library](), X[:_FEW]
    k = min(k, len(few) - 1)
    index.build(few, k, index.builds[0], jobs)
    index.search(few, k, index.searches(k)[0])
