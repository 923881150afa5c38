"""One map from the matrix on: the three stages, and the search for a mixing if requested."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count
from ctsne._core.messages import value_text, warn
from ctsne._core.progress import Progress, output_stream
from ctsne.affinity import Affinities
from ctsne.affinity.result import kept_diagnostics
from ctsne.evaluate import mixing
from ctsne.fit import column_targets, pipeline, target
from ctsne.labels import Column, Labels
from ctsne.layout import Layout
from ctsne.layout.descent import check_callback
from ctsne.methods import METHODS
from ctsne.neighbors import Neighbors
from ctsne.placing.build import Fitted, keep_alignment, keep_fitted
from ctsne.settings import Settings

_log = logging.getLogger("ctsne")

# Seconds between lines of progress in a log file, where lines cannot be redrawn.
_LOGGED_EVERY = 30.0
# What follows a map usually takes this share of its time: its loss, measures, writing it.
_AFTERWARDS = 0.1


class StageLog:
    """Run and report the stages of a fit, as the estimator's parameters ask for.

    Messages go to the logger ``ctsne`` if it passes them on, else to the terminal or the notebook.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        verbose, self._callback = given["verbose"], given["callback"]
        as_number = int(verbose) if isinstance(verbose, bool) else verbose
        self._verbose = check_count(as_number, "verbose", low=0)
        check_callback(self._callback)
        self._every = check_count(given["callback_every"], "callback_every", low=1)
        self._last = time.perf_counter()

    def stage(self, message: str) -> None:
        """Report that a stage is done, with the seconds it took."""
        now = time.perf_counter()
        if self._verbose:
            self._write(f"{message} ({now - self._last:.2f} s)")
        self._last = now

    def bar(self, total: int, name: str, **more: Any) -> Progress:
        """Return a bar for some work; it stays hidden where the loss is logged."""
        return Progress(total, name, shown=self._verbose == 1, every=_LOGGED_EVERY, **more)

    def run(
        self, layout: Layout, n_iter: int, name: str = "iterations", *, later: float = 0.0
    ) -> bool:
        """Run some iterations, and return whether they were stopped before the last.

        ``later`` is the number of iterations that may follow, for the estimate of time left.
        """
        bar = self.bar(n_iter, name, later=later + _AFTERWARDS * n_iter)
        try:
            return layout.run(
                n_iter,
                callback=self._called if self._verbose > 1 else self._callback,
                callback_every=self._every,
                after_step=bar.step,
            )
        finally:
            bar.close()

    def _called(self, iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
        self._write(f"iteration {iteration}: KL divergence {loss:.4f}")
        return self._callback and self._callback(iteration, loss, embedding)

    def _write(self, message: str) -> None:
        if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
            _log.info(message)
        else:
            print(message, file=output_stream(), flush=True)


class Fitting:
    """A map in the making: settings (with the knob found for a mixing), similarities, layout."""

    def __init__(self, matrix: Any, settings: Settings, log: StageLog) -> None:
        self.settings = settings
        self.mixing: float | dict[str, float] | None = None
        self._log = log
        # How a mixing is searched; both modules have the same functions.
        self._search: Any = target
        if isinstance(settings.labels, Labels):
            self._search = column_targets
        self._trials: tuple[Any, ...] = ()
        self._tried_a_sample = False
        self._neighbors: Neighbors | None = None  # kept for corrections
        self._aligned: Any = None
        self._rng = deepcopy(settings.rng)
        self._features, self._projection = pipeline.projection_of(matrix, settings)
        self._places = matrix if self._features is None else self._features
        if settings.mixing is not None:
            self._find_level()
        self._make()

    def _find_level(self) -> None:
        settings, places, search = self.settings, self._places, self._search
        rows = search.searched_points(settings)
        self._tried_a_sample = len(rows) < places.shape[0]
        n_iter = settings.n_iter
        # The time of an iteration grows with the number of points.
        later = (n_iter + self._later()) * places.shape[0] / len(rows)
        bar = self._log.bar(
            search.usual_trials(settings, rows) * n_iter,
            f"trials on {len(rows):,} points",
            later=later,
            grows=n_iter,
            kept=False,
        )
        try:
            self._trials = search.find_level(places, settings, rows, bar.step)
        finally:
            bar.close()
        if not self._trials:
            why = "hardly any point is labelled, so the mixing cannot be measured"
            warn(f"{why}: nothing is conditioned")
            none = 0.0 * np.asarray(settings.mixing)
            self.settings = replace(search.at_level(settings, none), mixing=None)
            return
        self._found = found = search.nearest_trial(self._trials, settings.mixing)
        self.settings = search.at_level(settings, found.level)
        reached = f"{len(rows):,} points to {self._mixing_text(found)} of random"
        self._log.stage(f"mixing: {self._knob_text()} mixes {reached}")

    def _make(self) -> None:
        settings = self.settings
        aligned = pipeline.alignment_of(self._places, settings)
        if aligned.name != "none":
            self._log.stage(f"alignment: {aligned.name}")
        neighbors = self._searched(aligned.points)
        found = "all" if neighbors.recall == 1 else f"{neighbors.recall:.1%}"
        n, k = neighbors.indices.shape
        self._log.stage(f"neighbours: {k} for each of {n} points, {found} of the true ones")
        self.alignment: dict[str, Any] = {
            "alignment": aligned.name,
            "alignment_scores": aligned.scores,
        }
        if self._tried_a_sample:
            self._neighbors, self._aligned = neighbors, aligned.points
        self._alignment = keep_alignment(aligned)
        del aligned  # similarities and map need the memory
        self.affinities: Affinities = pipeline.affinities_of(neighbors, settings)
        del neighbors
        self._log.stage(f"similarities: {self.affinities.matrix.nnz} stored")
        unmatched = pipeline.without_counterparts(self.affinities, settings)
        if unmatched is not None:
            warn(unmatched)
        self.layout = pipeline.layout_of(self.affinities.matrix, self._features, settings)

    def _searched(self, aligned: Any) -> Neighbors:
        bar = self._log.bar(1, "neighbours", then="then the map", kept=False)
        try:
            return pipeline.neighbors_of(self._places, self.settings, aligned, bar.inside)
        finally:
            bar.close()

    def run(self) -> bool:
        """Run the iterations, and return whether they were stopped before the last."""
        return self._log.run(self.layout, self.settings.n_iter, later=self._later())

    def _later(self) -> float:
        """Return how many iterations usually follow those of the map: every second is corrected."""
        return 0.5 * self.settings.n_iter if self._tried_a_sample else 0.0

    def fitted(self, given: Column | Labels | None) -> Fitted:
        """Return what new points need of the fit, with the labels as they were given."""
        places, projection = self._places, self._projection
        return keep_fitted(self.settings, given, places, projection, self._alignment)

    def correct(self) -> None:
        """Measure the finished map, and make another one if it missed the requested mixing."""
        target, search = self.settings.mixing, self._search
        if target is None:
            return
        made = [search.Trial(self._found.level, self._measured())]
        # If the trials used all points, the map is the nearest of them already.
        while self._neighbors is not None and len(made) <= search.most_corrections(self.settings):
            level = search.correction(made, self._trials, target)
            if level is None:
                break
            nearest = search.nearest_trial(made, target)
            kept = self.settings, self.affinities, self.layout
            stopped = self._make_again(level)
            made.append(search.Trial(level, self._measured()))
            if stopped or search.nearest_trial(made, target) is nearest:
                self.settings, self.affinities, self.layout = kept
            if stopped:
                made.pop()
                break
        self._neighbors = self._aligned = None
        reached = search.nearest_trial(made, target)
        self.mixing = self._by_column(reached.mixing)
        knob = self._knob_text()
        self._log.stage(f"mixing: {self._mixing_text(reached)} of random with {knob}")
        missed = search.why_missed(self.layout.embedding, self.settings, reached, knob)
        for message in [missed] if isinstance(missed, str) else missed or ():
            warn(message)

    def _make_again(self, level: Any) -> bool:
        """Make the map at another level, and return whether it was stopped early."""
        assert self._neighbors is not None
        self.settings = replace(
            self._search.at_level(self.settings, level), rng=deepcopy(self._rng)
        )
        if not pipeline.fits(self._neighbors, self.settings):  # lists may depend on the strength
            self._neighbors = pipeline.neighbors_of(self._places, self.settings, self._aligned)
        self.affinities = pipeline.affinities_of(self._neighbors, self.settings)
        self.layout = pipeline.layout_of(self.affinities.matrix, self._features, self.settings)
        return self._log.run(self.layout, self.settings.n_iter, "corrected map")

    def measure(self) -> None:
        """Measure the mixing of the map."""
        if self.settings.labels is not None:
            self.mixing = self._by_column(self._measured())

    def _measured(self) -> Any:
        settings = self.settings
        if isinstance(settings.labels, Labels):
            return column_targets.measured(self.layout.embedding, settings)
        return mixing(self.layout.embedding, settings.labels, n_jobs=settings.n_jobs)

    def _by_column(self, values: Any) -> Any:
        """Return one value, or those of several columns by name."""
        labels = self.settings.labels
        if not isinstance(labels, Labels):
            return values
        return dict(zip(labels.names, map(float, values), strict=True))

    def _mixing_text(self, trial: Any) -> str:
        mixed = self._by_column(trial.mixing)
        if not isinstance(mixed, dict):
            return f"{mixed:.2f}"
        return ", ".join(f"{name} {value:.2f}" for name, value in mixed.items())

    def _knob_text(self) -> str:
        knob, labels = self.settings.knob, self.settings.labels
        name = self.settings.method.knob
        if isinstance(labels, Labels):
            return f"{name} {value_text(self._by_column(knob))}"
        return f"{name}={value_text(knob[0])}"


def is_conditioned(model: Any) -> bool:
    """Return whether a fitted model had labels to factor out."""
    labels = model.labels_
    if isinstance(labels, Labels):
        return any(column.n_labels > 1 for column in labels.columns)
    return labels is not None and labels.n_labels > 1


def point_diagnostics(model: Any) -> dict[str, NDArray[np.float32]]:
    """Return the diagnostics per point that are kept with the map of a fitted model."""
    know_labels = is_conditioned(model) and METHODS[model.method].two_lists
    return kept_diagnostics(model.diagnostics_, know_labels=know_labels)
