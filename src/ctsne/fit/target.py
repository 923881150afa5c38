"""The search for a requested mixing: how strongly to condition.

A sample of the points is mapped at a few levels of conditioning, then all points at the level
found. If that map misses the target, others are made at corrected levels; the nearest is kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.evaluate import mixing, mixing_by_label
from ctsne.fit.pipeline import affinities_of, alignment_of, layout_of, neighbors_of
from ctsne.labels import Column
from ctsne.settings import Settings

# Up to SEARCH_POINTS, trials use all points; otherwise a third of them, between these two numbers.
# Perplexity and neighbourhoods shrink by the same share, so that a neighbourhood in the sample is a
# sample of a neighbourhood, but not below FEWEST_NEIGHBORS.
SEARCH_POINTS, MOST_SEARCH_POINTS = 5000, 10_000
FEWEST_NEIGHBORS = 10
# Trials on a sample, and on all points, where a trial is the map itself.
MOST_TRIALS, MOST_WHOLE_TRIALS = 6, 14
USUAL_TRIALS, USUAL_WHOLE_TRIALS = 3, 4
# Levels closer than this count as equal.
LEAST_STEP = 1e-5
# Distances from the target that are near enough, for a map of all points and for one of a sample,
# which deviates more; and from which on a map has missed its target.
NEAR_ENOUGH, SAMPLE_NEAR_ENOUGH, MISSED = 0.01, 0.03, 0.02
# Further maps of all points; only one of very many points.
MOST_CORRECTIONS, MANY_POINTS = 2, 30_000
# If the first trial is near enough, a second one this far away measures the slope.
SLOPE_STEP = 0.15
# How far a correction may move the level, and how far away trials still count for the slope.
LONGEST_MOVE, SLOPE_REACH = 0.25, 0.3
# Mixing gained from the weakest to the strongest level: a typical value, and bounds.
USUAL_SLOPE = 0.8
LEAST_SLOPE, MOST_SLOPE = 0.3, 3.0
# The mixing of all points rises faster with the level than that of a sample.
SLOPE_GAIN = 1.5


@dataclass(frozen=True)
class Trial:
    """A level of conditioning, from 0 to 1, and the mixing of its map."""

    level: float
    mixing: float


def searched_points(settings: Settings) -> NDArray[np.int64]:
    """Return the points to try: a sample of many; all of them if only distances are given."""
    assert settings.labels is not None
    n = settings.labels.n_points
    if n <= SEARCH_POINTS or settings.metric == "precomputed":
        return np.arange(n)
    size = min(MOST_SEARCH_POINTS, max(SEARCH_POINTS, n // 3))
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def most_trials(settings: Settings, rows: NDArray[np.int64]) -> int:
    """Return the largest number of trials."""
    assert settings.labels is not None
    return MOST_TRIALS if len(rows) < settings.labels.n_points else MOST_WHOLE_TRIALS


def usual_trials(settings: Settings, rows: NDArray[np.int64]) -> int:
    """Return the usual number of trials, for an estimate of time."""
    assert settings.labels is not None
    return USUAL_TRIALS if len(rows) < settings.labels.n_points else USUAL_WHOLE_TRIALS


def find_level(
    features: Any, settings: Settings, rows: NDArray[np.int64], step: Callable[[], object]
) -> tuple[Trial, ...]:
    """Map the points in ``rows`` at levels that approach the requested mixing.

    ``step`` is called after each iteration. There are no trials if mixing cannot be measured.
    """
    assert settings.mixing is not None
    tried = TriedPoints(features, settings, rows)
    trials: list[Trial] = []
    while len(trials) < most_trials(settings, rows):
        level = next_level(trials, settings.mixing, near=tried.near)
        if level is None and tried.sampled and len(trials) == 1:
            level = trials[0].level + SLOPE_STEP  # a correction needs the slope
        if level is None:
            break
        embedding = tried.mapped(at_level(tried.settings, level), step)
        reached = mixing(embedding, tried.settings.labels, k=tried.k, n_jobs=settings.n_jobs)
        if not np.isfinite(reached):
            return ()
        trials.append(Trial(level, reached))
    return tuple(trials)


class TriedPoints:
    """The points that trials map, all or a sample, with the settings for their number."""

    def __init__(self, features: Any, settings: Settings, rows: NDArray[np.int64]) -> None:
        assert settings.labels is not None
        self.settings, self.k = settings, NEIGHBORHOOD
        self.sampled = len(rows) < settings.labels.n_points
        if self.sampled:
            features, self.settings = features[rows], _of_sample(settings, rows)
            self.k = round(_fewer_neighbors(NEIGHBORHOOD, settings, rows))
        self.near = SAMPLE_NEAR_ENOUGH if self.sampled else NEAR_ENOUGH
        self._features = features
        self._aligned = alignment_of(features, self.settings).points

    def mapped(self, settings: Settings, step: Callable[[], object]) -> NDArray[np.float32]:
        """Map the points with these settings."""
        # Every trial draws the same random numbers as the map of all points.
        tried = replace(settings, rng=copy.deepcopy(settings.rng))
        neighbors = neighbors_of(self._features, tried, self._aligned)
        places = None if settings.metric == "precomputed" else self._features
        layout = layout_of(affinities_of(neighbors, tried).matrix, places, tried)
        for _ in range(settings.n_iter):
            layout.advance(1)
            step()
        return layout.embedding


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


def at_level(settings: Settings, level: float) -> Settings:
    """Return the settings with the knob at a level of conditioning."""
    assert isinstance(settings.labels, Column)
    value = settings.method.knob_at(level)
    return replace(settings, knob=np.full(settings.labels.n_labels, value))


def nearest_trial(trials: Sequence[Trial], target: float) -> Trial:
    """Return the trial whose mixing is nearest to the target."""
    return min(trials, key=lambda trial: abs(trial.mixing - target))


def _sides(trials: Sequence[Trial], target: float) -> tuple[list[Trial], list[Trial]]:
    """Return the trials below the target, and the others."""
    below = [trial for trial in trials if trial.mixing < target]
    return below, [trial for trial in trials if trial not in below]


def next_level(trials: Sequence[Trial], target: float, *, near: float) -> float | None:
    """Return the level to try next; None if one is near enough or none can come nearer."""
    if not trials:
        return 0.5
    if abs(nearest_trial(trials, target).mixing - target) <= near:
        return None
    below, above = _sides(trials, target)
    ordered = sorted(trials, key=lambda trial: trial.level)
    if not above:
        most = ordered[-1]
        ahead = most.level + max(0.15, (target - most.mixing) / USUAL_SLOPE)
        return None if most.level == 1 else min(1.0, ahead)
    if not below:
        least = ordered[0]
        ahead = least.level - max(0.15, (least.mixing - target) / USUAL_SLOPE)
        return None if least.level == 0 else max(0.0, ahead)
    # Mixing is noisy and may cross the target more than once: continue at the smallest gap.
    crossings = [
        (one, two)
        for one, two in pairwise(ordered)
        if (one.mixing < target) != (two.mixing < target) and two.level - one.level >= LEAST_STEP
    ]
    if not crossings:
        return None
    low, high = min(crossings, key=lambda pair: abs(pair[0].mixing - pair[1].mixing))
    share = (target - low.mixing) / (high.mixing - low.mixing)
    return low.level + (high.level - low.level) * min(max(share, 0.1), 0.9)


def correction(made: Sequence[Trial], trials: Sequence[Trial], target: float) -> float | None:
    """Return the level of a further map of all points, from those made and trials on a sample."""
    if abs(nearest_trial(made, target).mixing - target) <= NEAR_ENOUGH:
        return None
    below, above = _sides(made, target)
    if below and above:
        low, high = (nearest_trial(each, target) for each in (below, above))
        share = (target - low.mixing) / (high.mixing - low.mixing)
        level = low.level + share * (high.level - low.level)
    else:
        last = nearest_trial(made, target)
        one = len(made) == 1
        slope = SLOPE_GAIN * _slope(trials, last.level) if one else _slope(made, last.level)
        move = (target - last.mixing) / slope
        level = last.level + min(max(move, -LONGEST_MOVE), LONGEST_MOVE)
    level = min(max(level, 0.0), 1.0)
    return None if any(level == each.level for each in made) else level


def most_corrections(settings: Settings) -> int:
    """Return the largest number of further maps of all points."""
    assert settings.labels is not None
    return 1 if settings.labels.n_points > MANY_POINTS else MOST_CORRECTIONS


def _slope(trials: Sequence[Trial], level: float) -> float:
    """Return the mixing gained from level 0 to 1, by a line through the trials around a level."""
    near = [each for each in trials if abs(each.level - level) <= SLOPE_REACH]
    levels = np.array([each.level for each in near])
    if len(near) < 2 or np.ptp(levels) == 0:
        return USUAL_SLOPE
    slope = float(np.polyfit(levels, [each.mixing for each in near], 1)[0])
    return min(max(slope, LEAST_SLOPE), MOST_SLOPE)


def why_missed(
    embedding: NDArray[np.floating], settings: Settings, reached: Trial, value: str
) -> str | None:
    """Explain how far a map got that missed its target, and which labels mix least."""
    target = settings.mixing
    if target is None or abs(reached.mixing - target) <= MISSED:
        return None
    found = f"mixing={target:g} was not reached: {value} mixes the labels to {reached.mixing:.2f}"
    if reached.mixing > target and reached.level == 0:
        return f"{found}. That is the weakest conditioning: there is little to factor out."
    if reached.mixing > target:
        return f"{found}, the nearest value found."
    by_label = mixing_by_label(embedding, settings.labels, n_jobs=settings.n_jobs)
    least = [f"{name!s:.40} ({share:.2f})" for name, share in by_label.items()][:3]
    most = "the most that this method reaches" if reached.level == 1 else "the nearest value found"
    return f"{found}, {most}. Labels that mix least: {', '.join(least)}."
