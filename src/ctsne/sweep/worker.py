"""The work of one worker: a map, made from lists that maps share."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_jobs
from ctsne._core.files import check_target
from ctsne._core.messages import warn
from ctsne._core.progress import Progress, Report
from ctsne.affinity.result import kept_diagnostics
from ctsne.evaluate import measure_map, summarize_diagnostics
from ctsne.evaluate.neighbors import DataNeighbors, search_data
from ctsne.fit.memory import explained_memory
from ctsne.fit.pipeline import affinities_of, alignment_of, layout_of, neighbors_of, wanted_lists
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.lists import fill_lengths, merge_neighbors, select_neighbors
from ctsne.settings import Settings
from ctsne.storage.sweep import read_map_file, write_map_file
from ctsne.sweep.choice import measure_parts
from ctsne.sweep.grid import plain_value
from ctsne.sweep.result import SweptMap

_SLICE = 10  # iterations between checks whether the sweep was stopped
# Usual share of the time until similarities are computed, and until the map is made; the rest
# measures it.
_SIMILARITIES, _LAID_OUT = 0.06, 0.93


@dataclass(frozen=True, eq=False)
class SharedLists:
    """The lists of one alignment: to make maps from, and to compare them with."""

    neighbors: Neighbors
    alignment: Alignment
    data: DataNeighbors


def shared_neighbors(
    settings: Sequence[Settings], data: DataNeighbors, after_part: Report | None = None
) -> list[SharedLists]:
    """Search once per alignment and choice of columns, for lists that serve every map."""
    exact = search_data(data, settings[0].n_jobs)  # measures never depend on the recall
    found: dict[str, SharedLists] = {}
    for key, group in _groups(settings).items():
        first = _with_most_lists(group)
        moved = alignment_of(data.features, first)
        lengths = _longest(group, data.n, data.k)
        lists = neighbors_of(data.features, first, moved.points, after_part, lengths=lengths)
        after_part = None
        measured = replace(search_data(exact, first.n_jobs, moved), features=None)
        # Workers may be other processes, and do not need the points again.
        found[key] = SharedLists(lists, replace(moved, points=None), measured)
    return [found[_key(own)] for own in settings]


def shared_lengths(settings: Sequence[Settings], n: int, k: int) -> list[list[int]]:
    """Return the lengths of all lists that are searched, on which approximate ones depend."""
    return [_longest(group, n, k).tolist() for group in _groups(settings).values()]


def lists_for(settings: Settings, shared: SharedLists) -> Neighbors:
    """Return the lists that a search for this setting would find (if the search is exact)."""
    lengths = _filled(settings, len(shared.neighbors.indices))
    if lengths.shape[1] < len(shared.neighbors.patterns):
        return merge_neighbors(shared.neighbors, int(lengths[0].sum()))
    return select_neighbors(shared.neighbors, lengths)


def _key(settings: Settings) -> str:
    """Name what settings must have in common to share their lists."""
    # With several label columns, the strength decides which of them are left out. A map without
    # conditioning merges the two lists of a single column.
    labels, names = settings.labels, settings.list_labels and settings.list_labels.names
    names = names if labels is not None and labels.n_columns > 1 else None
    return repr((plain_value(settings.align), names, settings.recall))


def _groups(settings: Sequence[Settings]) -> dict[str, list[Settings]]:
    groups: dict[str, list[Settings]] = {}
    for own in settings:
        groups.setdefault(_key(own), []).append(own)
    return groups


def _with_most_lists(group: Sequence[Settings]) -> Settings:
    return next((own for own in group if own.list_labels is not None), group[0])


def _longest(group: Sequence[Settings], n: int, k: int) -> NDArray[np.int64]:
    """Return the length of each list that serves all settings of a group; at least ``k`` each."""
    patterns, _ = wanted_lists(_with_most_lists(group))
    longest = np.full(len(patterns), min(k, n - 1))
    for own in group:
        # One list may have to come from a single one of several.
        longest = np.maximum(longest, _filled(own, n).max(axis=0))
    return longest


def _filled(settings: Settings, n: int) -> NDArray[np.int32]:
    patterns, lengths = wanted_lists(settings)
    return fill_lengths(lengths, settings.list_labels, patterns, n)


@dataclass(frozen=True, eq=False)
class Step:
    """One map to make, from input that other maps share, and the file to store it in."""

    index: int
    parameters: dict[str, Any]
    settings: Settings
    features: NDArray[np.floating] | None
    lists: SharedLists
    hidden: Labels | None
    file: Path | None
    need: tuple[int, str]  # of all maps made at once, in bytes, and what lowers it

    def failed(self, error: Exception) -> Outcome:
        """Return the outcome of a setting that failed."""
        reason = f"{type(error).__name__}: {error}"
        return Outcome(self.index, SweptMap(self.parameters, None, {}, float("nan"), reason))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A map, finished or failed; whether it was loaded, and why it could not be stored."""

    index: int
    swept: SweptMap
    loaded: bool = False
    unsaved: str | None = None


class Watch:
    """Collect outcomes from all threads, and stop them; a copy in another process does nothing."""

    def __init__(self, progress: Progress | None = None, *, elsewhere: bool = False) -> None:
        self.elsewhere = elsewhere
        self.outcomes: dict[int, Outcome] = {}
        self.stopped = False
        self._progress = progress
        self._inside: dict[int, float] = {}  # work done for maps that are not finished
        self._working = 0
        self._change = threading.Condition()

    def __reduce__(self) -> tuple[Callable[[], Watch], tuple[()]]:
        return partial(Watch, elsewhere=True), ()

    def __enter__(self) -> None:
        with self._change:
            self._working += 1

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._working -= 1
            self._change.notify_all()

    def advance(self, step: Step, share: float) -> None:
        """Show how much of a map is done."""
        if self._progress is None:
            return
        with self._change:
            self._inside[step.index] = share
            self._progress.inside(sum(self._inside.values()))

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, and count it the first time."""
        with self._change:
            if outcome.index not in self.outcomes and self._progress is not None:
                self._inside.pop(outcome.index, None)
                self._progress.inside(sum(self._inside.values()))
                self._progress.step(worked=not outcome.loaded)
            self.outcomes[outcome.index] = outcome
            self.stopped |= outcome.unsaved is not None

    def stop(self) -> None:
        """Stop all threads and wait for them: native code must not outlive Python."""
        self.stopped = True
        with self._change:
            self._change.wait_for(lambda: self._working == 0)


class _Stopped(Exception):
    """The sweep was stopped before this map was finished."""


def run_step(step: Step, watch: Watch) -> Outcome | None:
    """Make a map; None if the sweep was stopped before."""
    with watch:
        if watch.elsewhere:  # perhaps on another machine: threads are this worker's share
            step = replace(step, settings=replace(step.settings, n_jobs=check_jobs(-1)))
        try:
            with explained_memory(*step.need):
                outcome = _outcome(step, watch)
        except _Stopped:
            return None
        except Exception as error:  # one failed setting must not end the others
            outcome = step.failed(error)
        watch.add(outcome)
        return outcome


def _outcome(step: Step, watch: Watch) -> Outcome:
    if watch.stopped:
        raise _Stopped
    shape = step.lists.data.n, step.settings.n_components
    swept = None if step.file is None else _stored_map(step.file, step.parameters, shape)
    loaded, unsaved = swept is not None, None
    if swept is None:
        swept = _make(step, watch)
        if step.file is not None:
            try:
                write_map_file(step.file, vars(swept))
                swept = replace(swept, file=step.file.name)
            except OSError as error:  # the sweep stops, with the maps stored by then
                unsaved = str(error)
    assert swept.embedding is not None
    data, n_jobs = replace(step.lists.data, features=step.features), step.settings.n_jobs
    measures = measure_map(swept.embedding, data, other=step.hidden, n_jobs=n_jobs)
    parts = measure_parts(swept.embedding, data, step.hidden, n_jobs)
    swept = replace(swept, measures={**measures, **swept.measures}, parts=parts)
    return Outcome(step.index, swept, loaded, unsaved)


def _stored_map(path: Path, parameters: dict[str, Any], shape: tuple[int, int]) -> SweptMap | None:
    if not os.path.lexists(path):
        return None
    check_target(path)
    try:
        swept = SweptMap(parameters, error=None, **read_map_file(path))
        if swept.embedding is not None and swept.embedding.shape == shape:
            return swept
        reason = f"{path} is damaged: its shape is not {shape}"
    except (MemoryError, OSError, ValueError) as error:
        reason = str(error)
    warn(f"{reason}; this map is made again")
    return None


def _make(step: Step, watch: Watch) -> SweptMap:
    """Return the map as the layout left it, without the measures of the map itself."""
    begin = time.perf_counter()
    settings, alignment = step.settings, step.lists.alignment
    affinities = affinities_of(lists_for(settings, step.lists), settings)
    watch.advance(step, _SIMILARITIES)
    layout, n_iter = layout_of(affinities.matrix, step.features, settings), settings.n_iter
    for done in range(0, n_iter, _SLICE):
        if watch.stopped:
            raise _Stopped
        layout.advance(min(_SLICE, n_iter - done))
        watch.advance(step, _SIMILARITIES + (_LAID_OUT - _SIMILARITIES) * done / n_iter)
    knows_labels = settings.list_labels is not None
    measures = {"kl_divergence": layout.loss(), "n_iter": layout.iteration}
    for name, value in summarize_diagnostics(affinities.diagnostics).items():
        if knows_labels or "other_share" not in name:
            measures[name] = value
    diagnostics = kept_diagnostics(affinities.diagnostics, know_labels=knows_labels)
    seconds, how = time.perf_counter() - begin, (alignment.name, alignment.scores)
    return SweptMap(step.parameters, layout.embedding, measures, seconds, None, diagnostics, *how)
