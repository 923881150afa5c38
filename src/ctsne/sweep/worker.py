"""The work of one worker: the maps of a line of settings, one after the other."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.progress import Progress
from ctsne._fit.pipeline import affinities_of, layout_of, listed_labels, weights_of
from ctsne._fit.settings import Settings
from ctsne.affinity.result import kept_diagnostics
from ctsne.evaluate import DataNeighbors, measure_map, summarize_diagnostics
from ctsne.labels import Labels
from ctsne.layout import Layout, Schedule
from ctsne.sweep.shared_lists import SharedLists, alignment_key, lists_for
from ctsne.sweep.storage import Facts, FinishedMap, Store, file_name, key_after

__all__ = ["Material", "Outcome", "Step", "Watch", "run_line"]

# A step along a path starts from the previous map, contracted to this standard deviation and with
# exaggeration, so that separated parts can meet again. Then the map expands at the learning rate
# for a map without exaggeration, with more momentum. Shares are of the iterations of a whole run.
PATH_SPREAD = 2.0
PATH_EXAGGERATION = 4.0
PATH_EARLY_SHARE = 0.04
PATH_SHARE = 0.2
PATH_MOMENTUM = 0.9
# The usual rule: learning rate times exaggeration is constant, n for a rate of n / 12 at 12.
_RATE_EXAGGERATION = 12.0
# The automatic rate never falls below 200; for few points, twelve times that is too much.
_MOST_RATE = 6.0
# Iterations between checks whether the sweep was stopped.
_SLICE = 10


class Watch:
    """Collect outcomes from all threads, and tell them when to stop.

    Another process gets an empty copy, which has no effect.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.stopped = False
        self._progress = progress
        self._working = 0
        self._change = threading.Condition()

    def __reduce__(self) -> tuple[type[Watch], tuple[()]]:
        return Watch, ()

    def __enter__(self) -> None:
        with self._change:
            self._working += 1

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._working -= 1
            self._change.notify_all()

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, and count it the first time."""
        with self._change:
            if outcome.index not in self.outcomes and self._progress is not None:
                self._progress.step(worked=not outcome.loaded)
            self.outcomes[outcome.index] = outcome

    def stop(self) -> None:
        """Stop all threads and wait for them: native code must not outlive Python."""
        self.stopped = True
        with self._change:
            self._change.wait_for(lambda: self._working == 0)


class _Stopped(Exception):
    """The sweep was stopped before this map was finished."""


@dataclass(frozen=True, eq=False)
class Material:
    """Input that all maps share; lists and neighbours in the data are kept per alignment."""

    features: NDArray[np.floating] | None
    lists: dict[str, SharedLists]
    data: dict[str, DataNeighbors]
    hidden: Labels | None
    store: Store | None


@dataclass(frozen=True, eq=False)
class Step:
    """One map to make."""

    index: int
    settings: Settings
    key: str | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """A finished map, or the reason why it failed or could not be stored."""

    index: int
    finished: FinishedMap | None
    measures: dict[str, float]
    error: str | None = None
    loaded: bool = False
    unsaved: str | None = None
    file: str | None = None


def run_line(material: Material, steps: list[Step], watch: Watch) -> list[Outcome]:
    """Make the maps of a line, each from the one before it."""
    outcomes: list[Outcome] = []
    previous: NDArray[np.float32] | None = None
    after: str | None = None
    with watch:
        for step in steps:
            if step.key is not None and after is not None:  # the map it actually starts from
                step = replace(step, key=key_after(step.key, after))
            try:
                outcome = _outcome(material, step, previous, watch)
            except _Stopped:
                break
            except Exception as error:  # one failed setting must not end the others
                outcome = Outcome(step.index, None, {}, f"{type(error).__name__}: {error}")
            outcomes.append(outcome)
            watch.add(outcome)
            if outcome.finished is not None:
                previous, after = outcome.finished.embedding, step.key
    return outcomes


def _outcome(
    material: Material, step: Step, previous: NDArray[np.float32] | None, watch: Watch
) -> Outcome:
    if watch.stopped:
        raise _Stopped
    store, key = material.store, step.key
    finished = store.load(key) if store is not None and key is not None else None
    loaded, unsaved = finished is not None, None
    if finished is None:
        finished = _make(material, step.settings, previous, watch)
        if store is not None and key is not None:
            try:
                store.save(key, finished)
            except OSError as error:  # a full disk must not lose the map
                unsaved = str(error)
    measures = _measure(material, finished, step.settings)
    file = file_name(key) if store is not None and key is not None and unsaved is None else None
    return Outcome(step.index, finished, measures, loaded=loaded, unsaved=unsaved, file=file)


def _make(
    material: Material, settings: Settings, previous: NDArray[np.float32] | None, watch: Watch
) -> FinishedMap:
    begin = time.perf_counter()
    affinities = affinities_of(lists_for(settings, material.lists), settings)
    if previous is None:
        layout = layout_of(affinities.matrix, material.features, settings)
        n_iter = settings.n_iter
    else:
        layout, n_iter = _next_on_path(affinities.matrix, previous, settings)
    for done in range(0, n_iter, _SLICE):
        if watch.stopped:
            raise _Stopped
        layout.advance(min(_SLICE, n_iter - done))
    knows_labels = listed_labels(settings) is not None
    similarities = {
        name: value
        for name, value in summarize_diagnostics(affinities.diagnostics).items()
        if knows_labels or "other_share" not in name
    }
    diagnostics = kept_diagnostics(affinities.diagnostics, know_labels=knows_labels)
    alignment = material.lists[alignment_key(settings.align)].alignment
    facts = Facts(
        layout.loss(), layout.iteration, time.perf_counter() - begin, similarities,
        alignment.name, alignment.scores,
    )  # fmt: skip
    return FinishedMap(layout.embedding, facts, diagnostics)


def _next_on_path(
    matrix: Any, previous: NDArray[np.float32], settings: Settings
) -> tuple[Layout, int]:
    spread = float(previous.std())
    start = previous * (PATH_SPREAD / spread) if spread > PATH_SPREAD else previous
    usual = settings.schedule
    rate = usual.early_learning_rate or usual.learning_rate
    rate = min(_RATE_EXAGGERATION * rate, max(rate, _MOST_RATE * len(start)))
    schedule = Schedule(
        early_exaggeration=max(PATH_EXAGGERATION, usual.exaggeration),
        early_exaggeration_iter=round(PATH_EARLY_SHARE * settings.n_iter),
        exaggeration=usual.exaggeration,
        learning_rate=rate / max(1.0, usual.exaggeration),
        early_learning_rate=rate / max(PATH_EXAGGERATION, usual.exaggeration),
        early_momentum=PATH_MOMENTUM,
        momentum=PATH_MOMENTUM,
        longest_step=usual.longest_step,
    )
    layout = Layout(
        matrix, start, schedule, weights=weights_of(settings), dof=settings.dof,
        n_jobs=settings.n_jobs,
    )  # fmt: skip
    return layout, max(1, round(PATH_SHARE * settings.n_iter))


def _measure(material: Material, finished: FinishedMap, settings: Settings) -> dict[str, float]:
    data = material.data[alignment_key(settings.align)]
    measures = measure_map(finished.embedding, data, other=material.hidden, n_jobs=settings.n_jobs)
    return {
        **measures,
        "kl_divergence": finished.facts.kl_divergence,
        "n_iter": finished.facts.n_iter,
        **finished.facts.similarities,
    }
