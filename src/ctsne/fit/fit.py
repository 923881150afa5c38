"""One map, with log lines and bars: find the levels for a mixing, run the stages, correct it."""

import contextlib
import logging
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count
from ctsne._core.messages import CounterpartsWarning, value_text, warn
from ctsne._core.progress import Progress, output_stream
from ctsne.affinity import Affinities
from ctsne.fit import pipeline
from ctsne.fit.mixing import MixingSearch, measured_mixing, why_missed
from ctsne.fit.steps import Floats, Trial
from ctsne.labels import Labels
from ctsne.layout import Layout
from ctsne.layout.descent import check_callback
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

    @property
    def watched(self) -> bool:
        """Whether something is to be reported of every map from its first iteration on."""
        return self._callback is not None or self._verbose > 1

    def stage(self, name: str, text: str) -> None:
        """Report that a stage is done, with the seconds it took; log records name it."""
        now = time.perf_counter()
        if self._verbose:
            self.write(f"{name}: {text} ({now - self._last:.2f} s)", stage=name)
        self._last = now

    def bar(self, total: int, name: str, **more: Any) -> Progress:
        """Return a bar for some work; it stays hidden where the loss is logged."""
        return Progress(total, name, shown=self._verbose == 1, every=_LOGGED_EVERY, **more)

    def run(
        self, layout: Layout, n_iter: int, name: str = "iterations", *, later: float = 0.0
    ) -> bool:
        """Run some iterations, ``later`` may follow; return whether they were stopped early."""
        told = self._called if self._verbose > 1 else self._callback
        with contextlib.closing(self.bar(n_iter, name, later=later + _AFTERWARDS * n_iter)) as bar:
            every, step = self._every, bar.step
            return layout.run(n_iter, callback=told, callback_every=every, after_step=step)

    def _called(self, iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
        self.write(f"iteration {iteration}: KL divergence {loss:.4f}")
        return self._callback and self._callback(iteration, loss, embedding)

    def write(self, message: str, *, stage: str = "") -> None:
        """Log a message, or print it if nobody listens to the log."""
        if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
            _log.info(message, extra={"stage": stage})
        else:
            print(message, file=output_stream(), flush=True)


class Fit:
    """A map in the making: settings (with the knob found for a mixing), similarities, layout."""

    def __init__(self, matrix: Any, settings: Settings, log: StageLog) -> None:
        self.settings = settings
        self.mixing: Floats | None = None  # of each label column, if it was measured
        self.affinities: Affinities
        self.layout: Layout
        self._log = log
        self._search: MixingSearch | None = None
        self._trial: int | None = None  # that the map is made of
        self._rng = deepcopy(settings.rng)
        self._features, self.projection = pipeline.features_of(matrix, settings)
        # Where neighbours are searched: features, or distances if only these were given.
        self.points = matrix if self._features is None else self._features
        self._lists = pipeline.Lists(self.points)
        if settings.mixing is not None:
            self._find_levels()
        self._make()

    def _find_levels(self) -> None:
        settings = self.settings
        search = self._search = MixingSearch(self.points, settings, self._lists)
        self._trial = self._next_trial({})
        if self._trial is None:
            why = "hardly any point is labelled, so the mixing cannot be measured"
            warn(f"{why}: nothing is conditioned")
            assert settings.mixing is not None
            self.settings = replace(settings.at_levels(0 * settings.mixing), mixing=None)
            self._search = None
            return
        self.settings = settings.at_levels(search.trials[self._trial].levels)
        tried = f"{len(search.trials)} trials on {search.n_points:,} points"
        self._log.stage("mixing", f"{self._knob_text()}, found by {tried}")

    def _next_trial(self, made: Mapping[int, Floats]) -> int | None:
        search = self._search
        assert search is not None
        # The time of an iteration grows with the number of points.
        later = (self.settings.n_iter + self._later()) * self.points.shape[0] / search.n_points
        grows = search.trial_iterations
        total = (1 if made else search.stepper.usual_trials) * grows
        name = f"trials on {search.n_points:,} points"
        bar = self._log.bar(total, name, later=later, grows=grows, kept=False)
        with contextlib.closing(bar):
            return search.next_trial(made, bar.step)

    def _make(self) -> None:
        settings = self.settings
        aligned = self._lists.align(settings)
        if aligned.name != "none":
            self._log.stage("alignment", aligned.name)
        bar = self._log.bar(1, "neighbours", then="then the map", kept=False)
        with contextlib.closing(bar):
            neighbors = self._lists.search(settings, bar.inside)
        found = "all" if neighbors.recall == 1 else f"{neighbors.recall:.1%}"
        n, k = neighbors.indices.shape
        self._log.stage("neighbours", f"{k} for each of {n} points, {found} of the true ones")
        # New points need the shifts of labels, or else the points themselves.
        self.alignment = aligned if aligned.shifts is None else replace(aligned, points=None)
        del aligned, neighbors  # similarities and map need the memory
        self._start()
        self._log.stage("similarities", f"{self.affinities.matrix.nnz} stored")
        matched = self.affinities.diagnostics.column_matched
        if (unmatched := pipeline.without_counterparts(matched, settings)) is not None:
            warn(unmatched, CounterpartsWarning)

    def _start(self) -> None:
        """Compute the similarities and start the map, or go on where its trial ended."""
        settings, tried = self.settings, [] if self._search is None else self._search.tried
        if self._trial is not None and tried:
            self.affinities, self.layout = tried[self._trial]
            if not self._log.watched:
                return
        else:
            self.affinities = pipeline.affinities_of(self._lists.search(settings), settings)
        if self._search is None:
            del self._lists
        self.layout = pipeline.layout_of(self.affinities.matrix, self._features, settings)

    def run(self) -> bool:
        """Run the iterations, and return whether they were stopped before the last."""
        left = self.settings.n_iter - self.layout.iteration
        return self._log.run(self.layout, left, later=self._later())

    def _later(self) -> float:
        """Estimate the extra iterations: about half of all maps need a correction."""
        return 0.5 * self.settings.n_iter if self._search is not None else 0.0

    def correct(self) -> None:
        """Measure the finished map, and make another one if it missed the requested mixing."""
        search = self._search
        if search is None or self._trial is None:
            return
        reached = self._as_trial(self._trial)
        made = {self._trial: reached.mixing}
        with contextlib.suppress(KeyboardInterrupt):  # in a trial: the map is finished
            while (trial := self._next_trial(made)) is not None:
                kept, before = (self.settings, self.affinities, self.layout), reached
                if not (stopped := self._make_again(trial)):
                    another = self._as_trial(trial)
                    made[trial] = another.mixing
                    reached = search.stepper.nearest([before, another])
                if reached is before:
                    self.settings, self.affinities, self.layout = kept
                if stopped:
                    break
        del self._lists
        self.mixing = reached.mixing
        knob = self._knob_text()
        self._log.stage("mixing", f"{self._mixing_text(reached)} of random with {knob}")
        for message in why_missed(self.layout.embedding, self.settings, reached, knob):
            warn(message)

    def _as_trial(self, trial: int) -> Trial:
        assert self._search is not None
        mixing = measured_mixing(self.layout.embedding, self.settings)
        return replace(self._search.trials[trial], mixing=mixing)

    def _make_again(self, trial: int) -> bool:
        """Make the map of another trial, and return whether it was stopped early."""
        assert self._search is not None
        settings = self.settings.at_levels(self._search.trials[trial].levels)
        self._trial, self.settings = trial, replace(settings, rng=deepcopy(self._rng))
        self._start()
        return self._log.run(self.layout, settings.n_iter - self.layout.iteration, "corrected map")

    def measure(self) -> None:
        """Measure the mixing of the map."""
        if self.settings.labels is not None:
            self.mixing = measured_mixing(self.layout.embedding, self.settings)

    def _labels(self) -> Labels:
        assert self.settings.labels is not None
        return self.settings.labels

    def _mixing_text(self, trial: Trial) -> str:
        named = zip(self._labels().names, trial.mixing, strict=True)
        if len(trial.mixing) == 1:
            return f"{trial.mixing[0]:.2f}"
        return ", ".join(f"{name} {value:.2f}" for name, value in named)

    def _knob_text(self) -> str:
        values = [float(numbers[0]) for numbers in self.settings.knob]
        return f"{self.settings.method.knob}={value_text(self._labels().one_or_by_name(values))}"
