"""Which level of conditioning is tried next, without any map: on responses of known shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne.fit.steps import (
    NEAR_ENOUGH,
    SAMPLE_NEAR_ENOUGH,
    Trial,
    stepper_for,
)

Floats = NDArray[np.float64]
Pairs = Sequence[tuple[float, float]]


def trials_at(pairs: Pairs) -> list[Trial]:
    """Trials of one column from pairs of level and mixing."""
    return [Trial(np.array([level]), np.array([mixed])) for level, mixed in pairs]


def next_level(pairs: Pairs, target: float, near: float = NEAR_ENOUGH) -> float | None:
    levels = stepper_for(np.array([target])).next_levels(trials_at(pairs), near=near)
    return None if levels is None else float(levels[0])


# ---- one column ----------------------------------------------------------------------------------


def test_stops_where_a_trial_is_near_enough() -> None:
    pairs = [(0.5, 0.2), (0.9, 0.705), (1.0, 0.9)]
    assert next_level(pairs, 0.7) is None
    trials = trials_at(pairs)
    assert stepper_for(np.array([0.7])).nearest(trials) is trials[1]
    assert next_level(pairs, 0.73) is not None
    assert next_level(pairs, 0.73, SAMPLE_NEAR_ENOUGH) is None


@pytest.mark.parametrize(
    ("pairs", "target", "expected"),
    [
        ([], 0.7, 0.7),
        ([(0.5, 0.1), (0.7, 0.2)], 0.5, 1.0),  # .3 more at the slope of the two
        ([(0.3, 0.6), (0.6, 0.8)], 0.58, 0.15),
        ([(0.2, 0.6), (0.6, 0.8)], 0.58, 0.0),  # next to 0 is as good as 0
        ([(0.5, 0.3)], 0.7, 1.0),  # .4 more at the usual slope
        ([(0.5, 0.6)], 0.7, 0.65),  # at least .15 on
        ([(0.5, 0.6)], 0.5, 0.35),
        ([(0.5, 0.9)], 0.2, 0.0),
        ([(0.5, 0.3), (1.0, 0.6)], 0.7, None),  # nothing is stronger
        ([(0.5, 0.9), (0.0, 0.4)], 0.2, None),  # nothing is weaker
        ([(0.0, 0.0), (1.0, 1.0)], 0.3, 0.3),
        ([(0.0, 0.29), (1.0, 0.99)], 0.31, 0.1),  # not too near to an end
        ([(0.5, 0.3), (0.502, 0.6)], 0.45, None),  # too near to each other
        ([(0.6, 0.3), (0.5, 0.6)], 0.45, 0.55),  # by noise in reversed order
        # Of two crossings the one where mixing is nearest.
        ([(0.0, 0.0), (0.5, 0.6), (0.6, 0.4), (1.0, 0.9)], 0.5, 0.55),
    ],
)
def test_next_level(pairs: Pairs, target: float, expected: float | None) -> None:
    found = next_level(pairs, target)
    assert found is None if expected is None else found == pytest.approx(expected)


@given(
    target=st.floats(0, 1),
    start=st.floats(0, 0.5),
    gain=st.floats(0, 0.5),
    power=st.floats(0.3, 3),
)
def test_a_rising_mixing_is_found_in_a_few_trials(
    target: float, start: float, gain: float, power: float
) -> None:
    def mixed(level: float) -> float:
        return start + gain * level**power

    pairs: list[tuple[float, float]] = []
    while len(pairs) < 50:
        level = next_level(pairs, target)
        if level is None:
            break
        assert 0 <= level <= 1
        assert level not in [tried for tried, _ in pairs]
        pairs.append((level, mixed(level)))
    stepper = stepper_for(np.array([target]))
    nearest = float(stepper.nearest(trials_at(pairs)).mixing[0])
    best = min(max(target, mixed(0)), mixed(1))  # the nearest that there is
    assert abs(nearest - best) <= NEAR_ENOUGH + 0.005 * gain * max(power, 1) + 0.02
    if power == 1:
        assert len(pairs) <= 6


# ---- several columns -----------------------------------------------------------------------------


def searched(response: Callable[[Floats], Floats], targets: Floats) -> Trial:
    """Return the nearest trial of a whole search."""
    stepper, trials = stepper_for(targets), list[Trial]()
    while len(trials) < 30:
        levels = stepper.next_levels(trials, near=NEAR_ENOUGH)
        if levels is None:
            break
        assert levels.shape == targets.shape and (levels >= 0).all() and (levels <= 1).all()
        trials.append(Trial(levels, response(levels)))
    return stepper.nearest(trials)


@given(st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_levels_that_move_each_other_are_found(n_columns: int, seed: int) -> None:
    """Each mixing rises with its own level, and less with those of the other columns."""
    rng = np.random.default_rng(seed)
    cross = rng.uniform(0, 0.4, (n_columns, n_columns))
    np.fill_diagonal(cross, 1)
    low, power = rng.uniform(0, 0.4, n_columns), rng.uniform(0.7, 2.0, n_columns)

    def response(levels: Floats) -> Floats:
        return low + (1 - low) * np.clip(cross @ levels / cross.sum(axis=1), 0, 1) ** power

    targets = response(rng.uniform(0.15, 0.85, n_columns))
    assert np.abs(searched(response, targets).mixing - targets).max() <= 0.03


def test_a_column_that_cannot_get_there_leaves_the_others_alone() -> None:
    def response(levels: Floats) -> Floats:
        return np.array([0.5 * levels[0], 0.1 + 0.9 * levels[1]])  # the first reaches .5 at most

    best = searched(response, np.array([0.9, 0.4]))
    assert best.levels[0] == 1 and best.mixing[1] == pytest.approx(0.4, abs=0.01)


def test_a_nested_column_stays_at_zero_if_the_outer_one_mixes_it_already() -> None:
    def response(levels: Floats) -> Floats:
        return np.array([0.2 + 0.7 * np.maximum(*levels), 0.1 + 0.8 * levels[1]])

    best = searched(response, np.array([0.3, 0.7]))
    assert best.levels[0] == 0 and best.mixing[1] == pytest.approx(0.7, abs=0.01)


def test_the_same_column_twice_shares_the_work() -> None:
    best = searched(lambda levels: np.full(2, 0.1 + 0.4 * levels.sum()), np.array([0.6, 0.6]))
    assert best.mixing == pytest.approx([0.6, 0.6], abs=0.01)
    assert best.levels[0] == pytest.approx(best.levels[1])


def test_a_plane_is_met_at_once() -> None:
    slopes = np.array([[0.9, 0.2], [0.1, 0.6]])
    levels = np.array([[0.5, 0.5], [0.8, 0.4], [0.3, 0.7], [0.6, 0.9]])
    trials = [Trial(level, slopes @ level) for level in levels]
    targets = slopes @ np.array([0.55, 0.6])
    found = stepper_for(targets).next_levels(trials, near=NEAR_ENOUGH)
    np.testing.assert_allclose(found, [0.55, 0.6], atol=0.03)


def test_a_column_at_the_end_of_its_levels_does_not_ask_for_another_map() -> None:
    stepper = stepper_for(np.array([0.5, 0.6]))
    assert not stepper.is_met(Trial(np.array([0.5, 0.5]), np.array([0.4, 0.6])))
    assert stepper.is_met(Trial(np.array([0.5, 0.5]), np.array([0.51, 0.59])))
    assert stepper.is_met(Trial(np.array([1.0, 0.5]), np.array([0.4, 0.6])))
