"""The search for the mixing of each of several label columns: one level of conditioning for each.

All levels move together. A linear model of how the mixing of every column follows from all levels,
fitted to the trials made, says where the targets should be met; the next trial is made there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate import map_neighbors, mixing, mixing_by_label
from ctsne.fit import target
from ctsne.fit.target import TriedPoints, most_corrections, searched_points
from ctsne.labels import Labels
from ctsne.settings import Settings

__all__ = [
    "Trial",
    "at_level",
    "correction",
    "find_level",
    "measured",
    "most_corrections",
    "most_trials",
    "nearest_trial",
    "searched_points",
    "usual_trials",
    "why_missed",
]

Levels = NDArray[np.float64]

# Trials on a sample, and on all points: half as many again as for one column.
MOST_TRIALS, MOST_WHOLE_TRIALS = 9, 21
USUAL_TRIALS, USUAL_WHOLE_TRIALS = 3, 6
# How far a level may move from the best trial.
LONGEST_STEP = 0.5
# How far a level moves at least that has not passed its target.
SHORTEST_STEP = 0.15
# A trial this far away counts for the slopes with weight exp(-1/2).
SLOPE_REACH = 0.3
# How much the usual slopes count against those of trials: mixing varies by about .02 for no
# reason, slopes between data by about .5.
USUAL_WEIGHT = 0.0016
# Damps steps where columns can hardly be told apart.
DAMPING = 0.02


@dataclass(frozen=True, eq=False)
class Trial:
    """A level of conditioning per column, from 0 to 1, and the mixing of each in the map."""

    level: Levels
    mixing: Levels


def most_trials(settings: Settings, rows: NDArray[np.int64]) -> int:
    """Return the largest number of trials."""
    return MOST_TRIALS if len(rows) < _columns(settings).n_points else MOST_WHOLE_TRIALS


def usual_trials(settings: Settings, rows: NDArray[np.int64]) -> int:
    """Return the usual number of trials, for an estimate of time."""
    return USUAL_TRIALS if len(rows) < _columns(settings).n_points else USUAL_WHOLE_TRIALS


def find_level(
    features: Any, settings: Settings, rows: NDArray[np.int64], step: Callable[[], object]
) -> tuple[Trial, ...]:
    """Map the points in ``rows`` at levels that approach the mixing requested for each column.

    ``step`` is called after each iteration. There are no trials if mixing cannot be measured.
    """
    targets = np.asarray(settings.mixing, np.float64)
    tried = TriedPoints(features, settings, rows)
    trials: list[Trial] = []
    while len(trials) < most_trials(settings, rows):
        level = next_level(trials, targets, near=tried.near)
        if level is None and tried.sampled and len(trials) == 1:
            level = trials[0].level + target.SLOPE_STEP  # a correction needs the slopes
        if level is None:
            break
        embedding = tried.mapped(at_level(tried.settings, level), step)
        reached = measured(embedding, tried.settings, k=tried.k)
        if not np.isfinite(reached).all():
            return ()
        trials.append(Trial(level, reached))
    return tuple(trials)


def measured(embedding: ArrayLike, settings: Settings, *, k: int = NEIGHBORHOOD) -> Levels:
    """Return the mixing of each column in a map."""
    n = len(np.asarray(embedding))
    found = map_neighbors(
        embedding, k=min(k, n - 2), sample=MEASURED_POINTS, n_jobs=settings.n_jobs
    )
    return np.array([mixing(found, column) for column in _columns(settings).columns])


def at_level(settings: Settings, level: ArrayLike) -> Settings:
    """Return the settings with the knob of each column at its level of conditioning."""
    knob = [settings.method.knob_at(float(each)) for each in np.asarray(level)]
    return replace(settings, knob=np.array(knob))


def nearest_trial(trials: Sequence[Trial], targets: ArrayLike) -> Trial:
    """Return the trial nearest to all targets that its levels can come nearer to."""
    wanted = np.asarray(targets, np.float64)

    def distances(trial: Trial) -> tuple[float, float]:
        squares = (trial.mixing - wanted) ** 2
        return float(squares[~_stuck(trial, wanted)].sum()), float(squares.sum())

    return min(trials, key=distances)


def _stuck(trial: Trial, targets: Levels) -> NDArray[np.bool_]:
    """Return the columns at the end of their levels that would have to go beyond it.

    They do not count when trials are compared, so that they do not pull the others away from their
    targets: a nested column may be mixed too far by the outer one alone.
    """
    gap = targets - trial.mixing
    return np.asarray(((trial.level == 0) & (gap < 0)) | ((trial.level == 1) & (gap > 0)))


def next_level(trials: Sequence[Trial], targets: Levels, *, near: float) -> Levels | None:
    """Return the levels to try next; None if all are near enough or none can come nearer."""
    if not trials:
        return np.full(len(targets), 0.5)
    levels = np.array([each.level for each in trials])
    gaps = targets - np.array([each.mixing for each in trials])
    # Columns that were always on one side of their target go on towards it, to the end of their
    # levels if need be, and meanwhile do not count.
    above, below = (gaps < -near).all(axis=0), (gaps > near).all(axis=0)
    counted, pushed = np.flatnonzero(~(above | below)), np.flatnonzero(above | below)
    best = int((gaps[:, counted] ** 2).sum(axis=1).argmin()) if len(counted) else len(trials) - 1
    slopes = fitted_slopes(trials, levels[best], _usual_slopes(len(targets)))
    level = levels[best].copy()
    for place in pushed:
        last = levels[:, place].argmin() if above[place] else levels[:, place].argmax()
        step = gaps[last, place] / slopes[place, place]
        level[place] = levels[last, place] + np.sign(step) * max(SHORTEST_STEP, abs(step))
    level = np.clip(level, 0.0, 1.0)
    further = slopes[np.ix_(counted, pushed)] @ (level - levels[best])[pushed]
    longest = LONGEST_STEP
    if best < len(trials) - 1:  # the last one led away: half as far
        longest = 0.5 * float(np.abs(levels[-1] - levels[best]).max())
    if (level != levels[best]).any() or (np.abs(gaps[best, counted]) > near).any():
        gap = gaps[best, counted] - further
        level[counted] += _step(slopes[np.ix_(counted, counted)], gap, longest)
    return _unless_tried(level, trials)


def correction(made: Sequence[Trial], trials: Sequence[Trial], targets: ArrayLike) -> Levels | None:
    """Return the levels of a further map of all points, from those made and trials on a sample."""
    wanted = np.asarray(targets, np.float64)
    best = nearest_trial(made, wanted)
    usual = fitted_slopes(trials, best.level, _usual_slopes(len(wanted)))
    slopes = fitted_slopes(made, best.level, target.SLOPE_GAIN * usual)
    gap = wanted - best.mixing
    free = np.flatnonzero(~_stuck(best, wanted))
    if (np.abs(gap[free]) <= target.NEAR_ENOUGH).all():
        return None
    level = best.level.copy()
    level[free] += _step(slopes[np.ix_(free, free)], gap[free], target.LONGEST_MOVE)
    return _unless_tried(level, made)


def _step(slopes: Levels, gap: Levels, longest: float) -> Levels:
    """Return how far to move levels to close a gap by the slopes."""
    damped = slopes.T @ slopes + DAMPING * np.eye(len(gap))
    return np.clip(np.linalg.solve(damped, slopes.T @ gap), -longest, longest)


def _unless_tried(level: Levels, trials: Sequence[Trial]) -> Levels | None:
    level = np.clip(level, 0.0, 1.0)
    if any(np.abs(level - each.level).max() < target.LEAST_STEP for each in trials):
        return None
    return level


def _usual_slopes(n_columns: int) -> Levels:
    return target.USUAL_SLOPE * np.eye(n_columns)


def fitted_slopes(trials: Sequence[Trial], level: Levels, usual: Levels) -> Levels:
    """Return the mixing of each column (rows) gained by each level, around some levels."""
    levels = np.array([each.level for each in trials])
    mixed = np.array([each.mixing for each in trials])
    weight = np.exp(-((levels - level) ** 2).sum(axis=1) / (2 * SLOPE_REACH**2))
    weight /= weight.sum()
    levels, mixed = levels - weight @ levels, mixed - weight @ mixed
    known = levels.T @ (weight[:, None] * levels) + USUAL_WEIGHT * np.eye(len(usual))
    slopes = (mixed.T @ (weight[:, None] * levels) + USUAL_WEIGHT * usual) @ np.linalg.inv(known)
    own = np.clip(np.diag(slopes), target.LEAST_SLOPE, target.MOST_SLOPE)
    # A column's own level counts at least as much as that of another one.
    slopes = np.clip(slopes, -own[:, None], own[:, None])
    np.fill_diagonal(slopes, own)
    return np.asarray(slopes)


def why_missed(
    embedding: NDArray[np.floating], settings: Settings, reached: Trial, value: str
) -> list[str]:
    """Explain for each column that missed its target how far it got, and what holds it back."""
    labels = _columns(settings)
    targets = np.asarray(settings.mixing, np.float64)
    messages = []
    for place, (name, column) in enumerate(zip(labels.names, labels.columns, strict=True)):
        mixed, level = reached.mixing[place], reached.level[place]
        if abs(mixed - targets[place]) <= target.MISSED:
            continue
        what = f"mixing={targets[place]:g} of {name!s:.40}"
        found = f"{what} was not reached: {value} mixes it to {mixed:.2f}"
        if mixed > targets[place] and level == 0:
            outer = [labels.names[o] for i, o in labels.nested() if i == place]
            why = "the other columns mix it too, or there is little to factor out"
            if outer:
                why = f"it is nested in {outer[0]!s:.40}, which mixes it too"
            messages.append(f"{found} without any conditioning on it: {why}.")
        elif mixed > targets[place]:
            messages.append(f"{found}, the nearest value found.")
        else:
            by_label = mixing_by_label(embedding, column, n_jobs=settings.n_jobs)
            least = [f"{label!s:.40} ({share:.2f})" for label, share in by_label.items()][:3]
            most = "the most that this method reaches" if level == 1 else "the nearest value found"
            messages.append(f"{found}, {most}. Labels that mix least: {', '.join(least)}.")
    return messages


def _columns(settings: Settings) -> Labels:
    assert isinstance(settings.labels, Labels)
    return settings.labels
