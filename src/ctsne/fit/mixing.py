"""Trials for a requested mixing: how strongly to condition on each label column.

Short runs at a few levels of conditioning, on all points or a sample, then a map of all points at
the levels found. If that map misses a target, others are made at corrected levels; the nearest is
kept.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.affinity import Affinities
from ctsne.evaluate import map_neighbors, mixing, mixing_by_label
from ctsne.fit.pipeline import Lists, affinities_of, layout_of
from ctsne.fit.steps import NEAR_ENOUGH, SAMPLE_NEAR_ENOUGH, Floats, Trial, stepper_for
from ctsne.labels import UNNAMED
from ctsne.layout import Layout
from ctsne.settings import Settings

# Up to SEARCH_POINTS, trials use all points; otherwise a third of them, between these two numbers.
# Perplexity and neighbourhoods shrink by the same share, so that a neighbourhood in the sample is a
# sample of a neighbourhood, but not below FEWEST_NEIGHBORS.
SEARCH_POINTS, MOST_SEARCH_POINTS = 5000, 10_000
FEWEST_NEIGHBORS = 10
# Iterations of a trial after the early exaggeration: most maps then have the mixing of the finished
# map within .02.
TRIAL_ITERATIONS = 100
# After many trials, a map is made of one this near: it shows how maps deviate from trials.
MAP_NEAR_ENOUGH = 0.06
MISSED = 0.02  # from this distance on, a map has missed its target
# In maps: the cost of a trial on all points, of a whole search, of a map that is aligned already.
TRIAL_COST, MOST_COST, ALIGNED_COST = 0.47, 4.0, 0.6
# Maps of all points: at most, and at most if there are very many points.
MOST_MAPS, MANY_POINTS = (4, 2), 30_000


class MixingSearch:
    """Tries levels of conditioning on some points, all or a sample."""

    def __init__(self, features: Any, settings: Settings, lists: Lists) -> None:
        assert settings.labels is not None and settings.mixing is not None
        n = settings.labels.n_points
        rows = _searched_points(n, settings.metric)
        self.n_points, sampled = len(rows), len(rows) < n
        self.stepper = stepper_for(settings.mixing)
        self.trials: list[Trial] = []
        # Of few points: similarities and layouts at the end of trials, which maps continue.
        self.tried: list[tuple[Affinities, Layout]] = []
        self._keeps_trials = n <= SEARCH_POINTS
        early = settings.schedule.early_exaggeration_iter
        self.trial_iterations = min(early + TRIAL_ITERATIONS, settings.n_iter)
        self._near = SAMPLE_NEAR_ENOUGH if sampled else NEAR_ENOUGH
        self._trial_cost = TRIAL_COST * len(rows) / n
        self._map_cost = 1 - TRIAL_COST * self._keeps_trials
        aligned = not (isinstance(settings.align, str) and settings.align == "none")
        self._most_cost = MOST_COST * len(settings.mixing) / (ALIGNED_COST if aligned else 1.0)
        self._most_maps = MOST_MAPS[n > MANY_POINTS]
        self._settings, self._k, self._lists = settings, NEIGHBORHOOD, lists
        if sampled:
            features, self._settings = features[rows], sample_settings(settings, rows)
            self._k = round(fewer_neighbors(NEIGHBORHOOD, settings, rows))
            self._lists = Lists(features)
        self._features = features

    def next_trial(self, made: Mapping[int, Floats], step: Callable[[], object]) -> int | None:
        """Return the trial to make a map of, given the mixing of maps made, by trial."""
        # Further trials approach the targets first. There is no answer if a map is near enough, or
        # if nothing nearer can be found at the cost of a few maps, and no trials if mixing cannot
        # be measured. ``step`` is called after each iteration.
        stepper = self.stepper
        while True:
            expected = self._expected(made)
            best = expected.index(stepper.nearest(expected)) if expected else -1
            is_new = best >= 0 and best not in made
            if len(made) == self._most_maps or any(stepper.is_met(expected[i]) for i in made):
                return None
            spent = self._map_cost * (len(made) + 1) + self._trial_cost * len(expected)
            many = is_new and self._keeps_trials
            many = many and len(expected) >= stepper.many_trials + len(made)
            near = MAP_NEAR_ENOUGH if many else NEAR_ENOUGH if made else self._near
            levels = stepper.next_levels(expected, near=near)
            if len(expected) == 3 * stepper.many_trials:
                levels = None
            if levels is None or spent + self._trial_cost > self._most_cost:
                return best if is_new and spent <= self._most_cost else None
            affinities, layout = self._run(levels, step)
            reached = measured_mixing(layout.embedding, self._settings, k=self._k)
            if not np.isfinite(reached).all():
                self.trials = []
                return None
            self.trials.append(Trial(levels, reached))
            if self._keeps_trials:
                self.tried.append((affinities, layout))

    def _expected(self, made: Mapping[int, Floats]) -> list[Trial]:
        # A map deviates from its trial by about as much as the map at the nearest levels.
        expected = []
        for place, trial in enumerate(self.trials):
            mixed = trial.mixing
            if made:
                distances = {i: np.abs(self.trials[i].levels - trial.levels).max() for i in made}
                nearest = min(distances, key=lambda i: distances[i])
                mixed = mixed + made[nearest] - self.trials[nearest].mixing
            expected.append(Trial(trial.levels, made.get(place, mixed)))
        return expected

    def _run(self, levels: Floats, step: Callable[[], object]) -> tuple[Affinities, Layout]:
        settings = self._settings.at_levels(levels)
        # Every trial draws the same random numbers as the map of all points.
        settings = replace(settings, rng=copy.deepcopy(settings.rng))
        affinities = affinities_of(self._lists.search(settings), settings)
        places = None if settings.metric == "precomputed" else self._features
        layout = layout_of(affinities.matrix, places, settings)
        for _ in range(self.trial_iterations):
            layout.advance(1)
            step()
        return affinities, layout


def _searched_points(n: int, metric: str) -> NDArray[np.int64]:
    """Return the points to try: a sample of many; all of them if only distances are given."""
    if n <= SEARCH_POINTS or metric == "precomputed":
        return np.arange(n)
    size = min(MOST_SEARCH_POINTS, max(SEARCH_POINTS, n // 3))
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def sample_settings(settings: Settings, rows: NDArray[np.int64]) -> Settings:
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
        perplexity=fewer_neighbors(settings.perplexity, settings, rows),
        **arrays,
    )


def fewer_neighbors(count: float, settings: Settings, rows: NDArray[np.int64]) -> float:
    """Return how many of ``count`` neighbours a sample holds, bounded below."""
    assert settings.labels is not None
    return max(min(count, FEWEST_NEIGHBORS), count * len(rows) / settings.labels.n_points)


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
            why = "the other columns mix it too, or there is little to factor out"
            if outer:
                why = f"it is nested in {outer[0]!s:.40}, which mixes it too"
            if labels.n_columns == 1:
                what = "it" if name == UNNAMED else f"{name!s:.40}"
                plain = f"t-SNE ({settings.method.knob} {settings.method.no_effect:g})"
                found = f"mixing={target:g} is not possible: {plain} already mixes {what} to"
                messages.append(f"{found} {mixed:.2f}, and conditioning only adds to that.")
            else:
                messages.append(f"{found} without any conditioning on it: {why}.")
        elif mixed > target:
            messages.append(f"{found}, the nearest value found.")
        else:
            by_label = mixing_by_label(embedding, column, n_jobs=settings.n_jobs)
            least = [f"{label!s:.40} ({share:.2f})" for label, share in by_label.items()][:3]
            most = "the most that this method reaches" if level == 1 else "the nearest value found"
            messages.append(f"{found}, {most}. Labels that mix least: {', '.join(least)}.")
    return messages
