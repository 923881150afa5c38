"""Trials for a requested mixing: how strongly to condition on each label column.

A sample of the points is mapped at a few levels of conditioning, then all points at the levels
found. If that map misses a target, others are made at corrected levels; the nearest is kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate import map_neighbors, mixing, mixing_by_label
from ctsne.fit.pipeline import affinities_of, alignment_of, layout_of, neighbors_of
from ctsne.fit.steps import NEAR_ENOUGH, SAMPLE_NEAR_ENOUGH, Floats, Trial, stepper_for
from ctsne.settings import Settings

# Up to SEARCH_POINTS, trials use all points; otherwise a third of them, between these two numbers.
# Perplexity and neighbourhoods shrink by the same share, so that a neighbourhood in the sample is a
# sample of a neighbourhood, but not below FEWEST_NEIGHBORS.
SEARCH_POINTS, MOST_SEARCH_POINTS = 5000, 10_000
FEWEST_NEIGHBORS = 10
# If the first trial is near enough, a second one this far away measures the slope.
SLOPE_STEP = 0.15
# From this distance on, a map has missed its target.
MISSED = 0.02
# Further maps of all points; only one of very many points.
MOST_CORRECTIONS, MANY_POINTS = 2, 30_000


class MixingSearch:
    """Tries levels of conditioning on some points, all or a sample."""

    def __init__(self, features: Any, settings: Settings) -> None:
        assert settings.labels is not None and settings.mixing is not None
        n = settings.labels.n_points
        rows = _searched_points(n, settings.metric)
        self.n_points = len(rows)
        self.sampled = len(rows) < n
        self.most_corrections = 1 if n > MANY_POINTS else MOST_CORRECTIONS
        self.stepper = stepper_for(settings.mixing)
        self.trials: list[Trial] = []
        self._settings, self._k = settings, NEIGHBORHOOD
        if self.sampled:
            features, self._settings = features[rows], _of_sample(settings, rows)
            self._k = round(_fewer_neighbors(NEIGHBORHOOD, settings, rows))
        self._features = features

    @property
    def usual_trials(self) -> int:
        """The usual number of trials, for an estimate of time."""
        return self.stepper.usual_trials[not self.sampled]

    def run(self, step: Callable[[], object]) -> None:
        """Map the points at levels that approach the requested mixing of every column.

        ``step`` is called after each iteration. There are no trials if mixing cannot be measured.
        """
        aligned = alignment_of(self._features, self._settings).points
        near = SAMPLE_NEAR_ENOUGH if self.sampled else NEAR_ENOUGH
        while len(self.trials) < self.stepper.most_trials[not self.sampled]:
            levels = self.stepper.next_levels(self.trials, near=near)
            if levels is None and self.sampled and len(self.trials) == 1:
                levels = self.trials[0].levels + SLOPE_STEP  # a correction needs the slope
            if levels is None:
                break
            embedding = self._mapped(levels, aligned, step)
            reached = measured_mixing(embedding, self._settings, k=self._k)
            if not np.isfinite(reached).all():
                self.trials = []
                break
            self.trials.append(Trial(levels, reached))
        self._features = None  # the map of all points needs the memory

    def _mapped(
        self, levels: Floats, aligned: Any, step: Callable[[], object]
    ) -> NDArray[np.float32]:
        """Map the points at some levels."""
        settings = self._settings.at_levels(levels)
        # Every trial draws the same random numbers as the map of all points.
        settings = replace(settings, rng=copy.deepcopy(settings.rng))
        neighbors = neighbors_of(self._features, settings, aligned)
        places = None if settings.metric == "precomputed" else self._features
        layout = layout_of(affinities_of(neighbors, settings).matrix, places, settings)
        for _ in range(settings.n_iter):
            layout.advance(1)
            step()
        return layout.embedding


def _searched_points(n: int, metric: str) -> NDArray[np.int64]:
    """Return the points to try: a sample of many; all of them if only distances are given."""
    if n <= SEARCH_POINTS or metric == "precomputed":
        return np.arange(n)
    size = min(MOST_SEARCH_POINTS, max(SEARCH_POINTS, n // 3))
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def _of_sample(settings: Settings, rows: NDArray[np.int64]) -> Settings:
    """Return the settings for a sample of the points."""
    assert settings.labels is not None
    schedule, n = settings.schedule, settings.labels.n_points
    rates = {
        name: max(200.0, rate * len(rows) / n)
        for name in ("learning_rate", "early_learning_rate")
        if (rate := getattr(schedule, name)) is not None
    }
    arrays = {
        name: value[rows]
        for name in ("init", "align")
        if not isinstance(value := getattr(settings, name), str)
    }
    return replace(
        settings,
        labels=settings.labels.take(rows),
        schedule=replace(schedule, **rates),
        perplexity=_fewer_neighbors(settings.perplexity, settings, rows),
        **arrays,
    )


def _fewer_neighbors(count: float, settings: Settings, rows: NDArray[np.int64]) -> float:
    """Return how many of ``count`` neighbours a sample holds, bounded below."""
    assert settings.labels is not None
    return max(min(count, FEWEST_NEIGHBORS), count * len(rows) / settings.labels.n_points)


def most_maps(n_columns: int) -> int:
    """Return the largest number of maps that a search for the mixing of some columns makes."""
    return stepper_for(np.zeros(n_columns)).most_trials[1] + MOST_CORRECTIONS


def measured_mixing(embedding: ArrayLike, settings: Settings, *, k: int = NEIGHBORHOOD) -> Floats:
    """Return the mixing of each label column in a map."""
    assert settings.labels is not None
    k = min(k, len(np.asarray(embedding)) - 2)
    found = map_neighbors(embedding, k=k, sample=MEASURED_POINTS, n_jobs=settings.n_jobs)
    return np.array([mixing(found, column) for column in settings.labels.columns])


def why_missed(
    embedding: NDArray[np.floating], settings: Settings, reached: Trial, value: str
) -> list[str]:
    """Explain for each column that missed its target how far it got, and what holds it back."""
    labels, targets = settings.labels, settings.mixing
    assert labels is not None and targets is not None
    messages = []
    for place, (name, column) in enumerate(labels.by_name.items()):
        target, mixed, level = targets[place], reached.mixing[place], reached.levels[place]
        if abs(mixed - target) <= MISSED:
            continue
        of_column = f" of {name!s:.40}" if labels.n_columns > 1 else ""
        found = f"mixing={target:g}{of_column} was not reached: {value} mixes it to {mixed:.2f}"
        if mixed > target and level == 0:
            outer = [labels.names[o] for i, o in labels.nested() if i == place]
            why = "there is little to factor out"
            if labels.n_columns > 1:
                why = f"the other columns mix it too, or {why}"
            if outer:
                why = f"it is nested in {outer[0]!s:.40}, which mixes it too"
            messages.append(f"{found} without any conditioning on it: {why}.")
        elif mixed > target:
            messages.append(f"{found}, the nearest value found.")
        else:
            by_label = mixing_by_label(embedding, column, n_jobs=settings.n_jobs)
            least = [f"{label!s:.40} ({share:.2f})" for label, share in by_label.items()][:3]
            most = "the most that this method reaches" if level == 1 else "the nearest value found"
            messages.append(f"{found}, {most}. Labels that mix least: {', '.join(least)}.")
    return messages
