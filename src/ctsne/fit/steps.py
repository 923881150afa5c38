"""Which levels of conditioning to try next, to reach a requested mixing.

With one label column, mixing is bracketed on a line of levels. With several, all levels move
together: a linear model of how the mixing of every column follows from all levels, fitted to the
trials made, says where the targets should be met.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Distances from the target that are near enough, for all points and for a sample, which deviates
# more.
NEAR_ENOUGH, SAMPLE_NEAR_ENOUGH = 0.015, 0.03
LEAST_STEP = 0.003  # levels closer than this count as equal: mixing may jump there
SLOPE_REACH = 0.3  # how far away trials still count for the slope
# Mixing gained from the weakest to the strongest level: a typical value, and bounds.
USUAL_SLOPE = 0.8
LEAST_SLOPE, MOST_SLOPE = 0.3, 3.0
# With several columns: how far a level may move from the best trial, and how far one moves at least
# that has not passed its target.
LONGEST_STEP, SHORTEST_STEP = 0.5, 0.15
# How much the usual slopes count against those of trials: mixing varies by about .02 for no
# reason, slopes between data by about .5.
USUAL_WEIGHT = 0.0016
DAMPING = 0.02  # damps steps where columns can hardly be told apart


@dataclass(frozen=True, eq=False)
class Trial:
    """A level of conditioning per column, from 0 to 1, and the mixing of each in the map."""

    levels: Floats
    mixing: Floats


class _LineStepper:
    """One column: bracket the target, then interpolate."""

    # From how many trials on a map is worth more than another one, and the usual number.
    many_trials, usual_trials = 3, 3

    def __init__(self, target: float) -> None:
        self._target = target

    def _gap(self, trial: Trial) -> float:
        return self._target - float(trial.mixing[0])

    def nearest(self, trials: Sequence[Trial]) -> Trial:
        """Return the trial nearest to the target."""
        weakest = min(trials, key=lambda trial: float(trial.levels[0]))
        if weakest.levels[0] == 0 and all(self._gap(trial) < 0 for trial in trials):
            return weakest  # differences are noise: nothing mixes less than t-SNE
        return min(trials, key=lambda trial: abs(self._gap(trial)))

    def next_levels(self, trials: Sequence[Trial], *, near: float) -> Floats | None:
        """Return the levels to try next; None if all are near enough or none can come nearer."""
        if not trials:
            return np.array([self._target])  # with the usual strengths, mixing is about as large
        if abs(self._gap(self.nearest(trials))) <= near:
            return None
        ordered = sorted(trials, key=lambda trial: float(trial.levels[0]))
        gaps = [self._gap(trial) for trial in ordered]
        least, most = float(ordered[0].levels[0]), float(ordered[-1].levels[0])
        if min(gaps) > 0:  # all below the target
            ahead = most + max(0.15, gaps[-1] / _slope(ordered[-2:]))
            return None if most == 1 else np.array([min(1.0, ahead)])
        if max(gaps) <= 0:
            ahead = least - max(0.15, -gaps[0] / _slope(ordered[:2]))
            return None if least == 0 else np.array([ahead if ahead >= 0.1 else 0.0])
        # Mixing is noisy and may cross the target more than once: continue at the smallest gap.
        crossings = [
            (one, two)
            for one, two in pairwise(ordered)
            if (self._gap(one) > 0) != (self._gap(two) > 0)
            and float(two.levels[0]) - float(one.levels[0]) >= LEAST_STEP
        ]
        if not crossings:
            return None
        low, high = min(crossings, key=lambda pair: abs(self._gap(pair[0]) - self._gap(pair[1])))
        share = self._gap(low) / (high.mixing - low.mixing)
        return low.levels + (high.levels - low.levels) * np.clip(share, 0.1, 0.9)

    def is_met(self, made: Trial) -> bool:
        """Return whether a map is near enough, or at the end of its levels."""
        return abs(self._gap(made)) <= NEAR_ENOUGH


def _slope(trials: Sequence[Trial]) -> float:
    """Return the mixing gained from level 0 to 1, by a line through two trials."""
    if len(trials) < 2:
        return USUAL_SLOPE
    one, two = trials
    slope = float((two.mixing - one.mixing)[0] / (two.levels - one.levels)[0])
    return min(max(slope, LEAST_SLOPE), USUAL_SLOPE)


class _PlaneStepper:
    """Several columns: solve a linear model of all levels."""

    many_trials, usual_trials = 6, 5

    def __init__(self, targets: Floats) -> None:
        self._targets = targets
        self._usual = USUAL_SLOPE * np.eye(len(targets))

    def nearest(self, trials: Sequence[Trial]) -> Trial:
        """Return the trial nearest to all targets that its levels can come nearer to."""

        def distances(trial: Trial) -> tuple[float, float]:
            squares = (trial.mixing - self._targets) ** 2
            return float(squares[~self._stuck(trial)].sum()), float(squares.sum())

        return min(trials, key=distances)

    def _stuck(self, trial: Trial) -> NDArray[np.bool_]:
        """Return the columns at the end of their levels that would have to go beyond it."""
        # They do not count when trials are compared, so that they do not pull the others away:
        # a nested column may be mixed too far by the outer one alone.
        gap = self._targets - trial.mixing
        return np.asarray(((trial.levels == 0) & (gap < 0)) | ((trial.levels == 1) & (gap > 0)))

    def next_levels(self, trials: Sequence[Trial], *, near: float) -> Floats | None:
        if not trials:
            return np.full(len(self._targets), 0.5)
        levels = np.array([trial.levels for trial in trials])
        gaps = self._targets - np.array([trial.mixing for trial in trials])
        # Columns that were always on one side of their target go on towards it, to the end of their
        # levels if need be, and meanwhile do not count.
        above, under = (gaps < -near).all(axis=0), (gaps > near).all(axis=0)
        counted, pushed = np.flatnonzero(~(above | under)), np.flatnonzero(above | under)
        best = len(trials) - 1
        if len(counted):
            best = int((gaps[:, counted] ** 2).sum(axis=1).argmin())
        slopes = _fitted_slopes(trials, levels[best], self._usual)
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
            slope = slopes[np.ix_(counted, counted)]
            damped = slope.T @ slope + DAMPING * np.eye(len(gap))
            level[counted] += np.linalg.solve(damped, slope.T @ gap).clip(-longest, longest)
        level = np.clip(level, 0.0, 1.0)
        tried = any(np.abs(level - trial.levels).max() < LEAST_STEP for trial in trials)
        return None if tried else level

    def is_met(self, made: Trial) -> bool:
        free = ~self._stuck(made)
        return bool((np.abs(self._targets - made.mixing)[free] <= NEAR_ENOUGH).all())


def _fitted_slopes(trials: Sequence[Trial], level: Floats, usual: Floats) -> Floats:
    """Return the mixing of each column (rows) gained by each level, around some levels."""
    levels = np.array([trial.levels for trial in trials])
    mixed = np.array([trial.mixing for trial in trials])
    weight = np.exp(-((levels - level) ** 2).sum(axis=1) / (2 * SLOPE_REACH**2))
    weight /= weight.sum()
    levels, mixed = levels - weight @ levels, mixed - weight @ mixed
    known = levels.T @ (weight[:, None] * levels) + USUAL_WEIGHT * np.eye(len(usual))
    slopes = (mixed.T @ (weight[:, None] * levels) + USUAL_WEIGHT * usual) @ np.linalg.inv(known)
    own = np.clip(np.diag(slopes), LEAST_SLOPE, MOST_SLOPE)
    # A column's own level counts at least as much as that of another one.
    slopes = np.clip(slopes, -own[:, None], own[:, None])
    np.fill_diagonal(slopes, own)
    return np.asarray(slopes)


def stepper_for(targets: Floats) -> _LineStepper | _PlaneStepper:
    """Return how levels approach the targets of all columns."""
    return _LineStepper(float(targets[0])) if len(targets) == 1 else _PlaneStepper(targets)
