"""One map: find the levels for a mixing, run the three stages, correct a map that missed it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from ctsne._core.messages import value_text, warn
from ctsne.affinity import Affinities
from ctsne.fit import pipeline
from ctsne.fit.mixing import MixingSearch, measured_mixing, why_missed
from ctsne.fit.progress import StageLog
from ctsne.fit.steps import Floats, Trial
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors
from ctsne.settings import Settings


class Fit:
    """A map in the making: settings (with the knob found for a mixing), similarities, layout."""

    def __init__(self, matrix: Any, settings: Settings, log: StageLog) -> None:
        self.settings = settings
        self.mixing: Floats | None = None  # of each label column, if it was measured
        self._log = log
        self._search: MixingSearch | None = None
        # For corrections: lists of neighbours, the settings they were searched for, aligned points.
        self._neighbors: Neighbors | None = None
        self._searched = settings
        self._aligned: Any = None
        self._rng = deepcopy(settings.rng)
        self._features, self.projection = pipeline.features_of(matrix, settings)
        # Where neighbours are searched: features, or distances if only these were given.
        self.points = matrix if self._features is None else self._features
        if settings.mixing is not None:
            self._find_levels()
        self._make()

    def _find_levels(self) -> None:
        settings = self.settings
        search = self._search = MixingSearch(self.points, settings)
        n_iter = settings.n_iter
        # The time of an iteration grows with the number of points.
        later = (n_iter + self._later()) * self.points.shape[0] / search.n_points
        bar = self._log.bar(
            search.usual_trials * n_iter,
            f"trials on {search.n_points:,} points",
            later=later,
            grows=n_iter,
            kept=False,
        )
        try:
            search.run(bar.step)
        finally:
            bar.close()
        if not search.trials:
            why = "hardly any point is labelled, so the mixing cannot be measured"
            warn(f"{why}: nothing is conditioned")
            assert settings.mixing is not None
            self.settings = replace(settings.at_levels(0 * settings.mixing), mixing=None)
            self._search = None
            return
        found = search.stepper.nearest(search.trials)
        self.settings = settings.at_levels(found.levels)
        reached = f"{search.n_points:,} points to {self._mixing_text(found)} of random"
        self._log.stage("mixing", f"{self._knob_text()} mixes {reached}")

    def _make(self) -> None:
        settings = self.settings
        aligned = pipeline.alignment_of(self.points, settings)
        if aligned.name != "none":
            self._log.stage("alignment", aligned.name)
        neighbors = self._find_neighbors(aligned.points)
        found = "all" if neighbors.recall == 1 else f"{neighbors.recall:.1%}"
        n, k = neighbors.indices.shape
        self._log.stage("neighbours", f"{k} for each of {n} points, {found} of the true ones")
        if self._search is not None and self._search.sampled:
            self._neighbors, self._searched, self._aligned = neighbors, settings, aligned.points
        # New points need the shifts of labels, or else the points themselves.
        self.alignment = aligned if aligned.shifts is None else replace(aligned, points=None)
        del aligned  # similarities and map need the memory
        self.affinities: Affinities = pipeline.affinities_of(neighbors, settings)
        del neighbors
        self._log.stage("similarities", f"{self.affinities.matrix.nnz} stored")
        unmatched = pipeline.without_counterparts(self.affinities, settings)
        if unmatched is not None:
            warn(unmatched)
        self.layout = pipeline.layout_of(self.affinities.matrix, self._features, settings)

    def _find_neighbors(self, aligned: Any) -> Neighbors:
        bar = self._log.bar(1, "neighbours", then="then the map", kept=False)
        try:
            return pipeline.neighbors_of(self.points, self.settings, aligned, bar.inside)
        finally:
            bar.close()

    def run(self) -> bool:
        """Run the iterations, and return whether they were stopped before the last."""
        return self._log.run(self.layout, self.settings.n_iter, later=self._later())

    def _later(self) -> float:
        """Estimate the extra iterations: about half of all maps need a correction."""
        sampled = self._search is not None and self._search.sampled
        return 0.5 * self.settings.n_iter if sampled else 0.0

    def correct(self) -> None:
        """Measure the finished map, and make another one if it missed the requested mixing."""
        search = self._search
        if search is None:
            return
        stepper = search.stepper
        made = [Trial(stepper.nearest(search.trials).levels, self._measured())]
        # If the trials used all points, the map is the nearest of them already.
        while self._neighbors is not None and len(made) <= search.most_corrections:
            levels = stepper.corrected_levels(made, search.trials)
            if levels is None:
                break
            nearest = stepper.nearest(made)
            kept = self.settings, self.affinities, self.layout
            stopped = self._make_again(levels)
            made.append(Trial(levels, self._measured()))
            if stopped or stepper.nearest(made) is nearest:
                self.settings, self.affinities, self.layout = kept
            if stopped:
                made.pop()
                break
        self._neighbors = self._aligned = None
        reached = stepper.nearest(made)
        self.mixing = reached.mixing
        knob = self._knob_text()
        self._log.stage("mixing", f"{self._mixing_text(reached)} of random with {knob}")
        for message in why_missed(self.layout.embedding, self.settings, reached, knob):
            warn(message)

    def _make_again(self, levels: Floats) -> bool:
        """Make the map at other levels, and return whether it was stopped early."""
        assert self._neighbors is not None
        settings = replace(self.settings.at_levels(levels), rng=deepcopy(self._rng))
        if not pipeline.same_lists(self._searched, settings):  # lists may depend on the strength
            self._neighbors = pipeline.neighbors_of(self.points, settings, self._aligned)
            self._searched = settings
        self.settings = settings
        self.affinities = pipeline.affinities_of(self._neighbors, self.settings)
        self.layout = pipeline.layout_of(self.affinities.matrix, self._features, self.settings)
        return self._log.run(self.layout, self.settings.n_iter, "corrected map")

    def measure(self) -> None:
        """Measure the mixing of the map."""
        if self.settings.labels is not None:
            self.mixing = self._measured()

    def _measured(self) -> Floats:
        return measured_mixing(self.layout.embedding, self.settings)

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
