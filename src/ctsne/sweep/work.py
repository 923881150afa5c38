"""What one worker does: the maps of a line of settings, one after the other."""

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
from ctsne.evaluate.diagnostics import summarize_diagnostics
from ctsne.evaluate.laplacian import expected_laplacian
from ctsne.evaluate.neighborhoods import DataNeighbors
from ctsne.evaluate.table import found_for_rows, map_rows
from ctsne.labels import Labels
from ctsne.layout import Layout, Schedule
from ctsne.neighbors import Neighbors
from ctsne.sweep.graph import lists_for
from ctsne.sweep.store import Facts, FinishedMap, Store, key_after

__all__ = ["Material", "Outcome", "Step", "Watch", "run_line"]

# A step along a path begins with the last map drawn together to this standard deviation, under
# exaggeration, so that what has drifted apart can meet again; then it grows back at the learning
# rate that suits a map without exaggeration, and with more momentum. Shares are of the iterations
# of a whole run.
PATH_SPREAD = 2.0
PATH_EXAGGERATION = 4.0
PATH_EARLY_SHARE = 0.04
PATH_SHARE = 0.2
PATH_MOMENTUM = 0.9
# The usual rule: learning rate times exaggeration is constant, n for a rate of n / 12 at 12.
_RATE_EXAGGERATION = 12.0
# The automatic rate never falls below 200; for few points, twelve times that is too much.
_MOST_RATE = 6.0
# Iterations between two looks at whether the sweep was stopped.
_SLICE = 10


class Watch:
    """Collects outcomes from all threads and tells them when to stop.

    In another process there is an empty copy of it, which does no harm.
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
        """Tell all threads to stop, and wait for them: native code must not outlive Python."""
        self.stopped = True
        with self._change:
            self._change.wait_for(lambda: self._working == 0)


class _Stopped(Exception):
    """The sweep was stopped while this map was being made."""


@dataclass(frozen=True, eq=False)
class Material:
    """What all maps of a sweep have in common."""

    features: NDArray[np.floating] | None
    neighbors: dict[str, Neighbors]
    data: DataNeighbors
    labels: Labels
    hidden: Labels | None
    k: int
    store: Store | None


@dataclass(frozen=True, eq=False)
class Step:
    """One map to be made."""

    index: int
    settings: Settings
    key: str | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """One map made or loaded, or the reason why not, or why it could not be stored."""

    index: int
    finished: FinishedMap | None
    measures: dict[str, float]
    error: str | None = None
    loaded: bool = False
    unsaved: str | None = None


def run_line(
    material: Material,
    steps: list[Step],
    watch: Watch,
) -> list[Outcome]:
    """Make the maps of a line, each from the one before; a single map is a line of its own."""
    outcomes: list[Outcome] = []
    previous: NDArray[np.float32] | None = None
    after: str | None = None
    with watch:
        for step in steps:
            if step.key is not None and after is not None:  # the map that it really starts from
                step = replace(step, key=key_after(step.key, after))
            try:
                outcome = _outcome(material, step, previous, watch)
            except _Stopped:
                break
            except Exception as error:  # one failed setting must not take the others with it
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
            except OSError as error:  # a full disk must not cost the map
                unsaved = str(error)
    measures = _measure(material, finished, step.settings)
    return Outcome(step.index, finished, measures, loaded=loaded, unsaved=unsaved)


def _make(
    material: Material,
    settings: Settings,
    previous: NDArray[np.float32] | None,
    watch: Watch,
) -> FinishedMap:
    begin = time.perf_counter()
    affinities = affinities_of(lists_for(settings, material.neighbors), settings)
    if previous is None:
        layout = layout_of(affinities.matrix, material.features, settings)
        n_iter = settings.n_iter
    else:
        layout, n_iter = _next_on_path(affinities.matrix, previous, settings)
    for done in range(0, n_iter, _SLICE):
        if watch.stopped:
            raise _Stopped
        layout.advance(min(_SLICE, n_iter - done))
    similarities = summarize_diagnostics(affinities.diagnostics)
    know_labels = listed_labels(settings) is not None
    if not know_labels:
        similarities = {
            name: value for name, value in similarities.items() if "other_share" not in name
        }
    diagnostics = kept_diagnostics(affinities.diagnostics, know_labels=know_labels)
    facts = Facts(layout.loss(), layout.iteration, time.perf_counter() - begin, similarities)
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
        matrix,
        start,
        schedule,
        weights=weights_of(settings),
        dof=settings.dof,
        n_jobs=settings.n_jobs,
    )
    return layout, max(1, round(PATH_SHARE * settings.n_iter))


def _measure(material: Material, finished: FinishedMap, settings: Settings) -> dict[str, float]:
    positions = finished.embedding
    found = found_for_rows(positions, material.data.points, material.k, settings.n_jobs)
    rows = map_rows(found, material.data, material.hidden, k=material.k)
    measures = {
        (f"other_{row.measure}" if row.label == "other" else row.measure): row.value for row in rows
    }
    random = expected_laplacian(material.labels)
    mixing = measures["laplacian"] / random if random > 0 else float("nan")
    return {
        "mixing": mixing,
        **measures,
        "kl_divergence": finished.facts.kl_divergence,
        "n_iter": finished.facts.n_iter,
        **finished.facts.similarities,
    }
