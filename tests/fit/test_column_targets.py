"""The search for a mixing of each of several label columns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing
from ctsne.fit import column_targets as search
from ctsne.fit import target
from ctsne.fit.column_targets import (
    MOST_TRIALS,
    MOST_WHOLE_TRIALS,
    Trial,
    correction,
    fitted_slopes,
    nearest_trial,
    next_level,
    why_missed,
)
from ctsne.labels import encode_labels
from ctsne.settings import DEFAULTS, check_settings

pytestmark = pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")

# Two label columns that overlap a little, along different features.
N = 240
RNG = np.random.default_rng(0)
DONOR = RNG.choice(["d1", "d2", "d3"], N)
BATCH = RNG.choice(["a", "b"], N)
X = RNG.normal(size=(N, 6))
X[:, 0] += 3.5 * (BATCH == "b")
X[:, 1] += 3.0 * np.unique(DONOR, return_inverse=True)[1]
BOTH = {"donor": DONOR, "batch": BATCH}
COMMON: dict[str, Any] = {
    "perplexity": 15,
    "n_iter": 200,
    "early_exaggeration_iter": 80,
    "random_state": 0,
}


def fitted(labels: object = None, **parameters: Any) -> ConditionalTSNE:
    model = ConditionalTSNE(**{**COMMON, **parameters})
    return model.fit(X, labels=BOTH if labels is None else labels)


# ---- levels --------------------------------------------------------------------------------------


def searched(response: Any, targets: np.ndarray, near: float = 0.01) -> list[Trial]:
    trials: list[Trial] = []
    while len(trials) < MOST_WHOLE_TRIALS:
        level = next_level(trials, targets, near=near)
        if level is None:
            break
        assert level.shape == targets.shape and (level >= 0).all() and (level <= 1).all()
        trials.append(Trial(level, response(level)))
    return trials


@settings(deadline=None)
@given(st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_levels_that_move_each_other_are_found(n_columns: int, seed: int) -> None:
    """Each mixing rises with its own level, and less with those of the other columns."""
    rng = np.random.default_rng(seed)
    cross = rng.uniform(0, 0.4, (n_columns, n_columns))
    np.fill_diagonal(cross, 1)
    low, power = rng.uniform(0, 0.4, n_columns), rng.uniform(0.7, 2.0, n_columns)

    def response(level: np.ndarray) -> np.ndarray:
        return low + (1 - low) * np.clip(cross @ level / cross.sum(axis=1), 0, 1) ** power

    targets = response(rng.uniform(0.15, 0.85, n_columns))
    trials = searched(response, targets)
    assert np.abs(nearest_trial(trials, targets).mixing - targets).max() <= 0.03
    assert len(trials) <= MOST_WHOLE_TRIALS


def test_a_column_that_cannot_get_there_leaves_the_others_alone() -> None:
    def response(level: np.ndarray) -> np.ndarray:
        return np.array([0.5 * level[0], 0.1 + 0.9 * level[1]])  # the first reaches .5 at most

    best = nearest_trial(searched(response, np.array([0.9, 0.4])), [0.9, 0.4])
    assert best.level[0] == 1 and best.mixing[1] == pytest.approx(0.4, abs=0.01)


def test_a_nested_column_stays_at_zero_if_the_outer_one_mixes_it_already() -> None:
    def response(level: np.ndarray) -> np.ndarray:
        inner = 0.2 + 0.7 * np.maximum(*level)
        return np.array([inner, 0.1 + 0.8 * level[1]])

    best = nearest_trial(searched(response, np.array([0.3, 0.7])), [0.3, 0.7])
    assert best.level[0] == 0 and best.mixing[1] == pytest.approx(0.7, abs=0.01)


def test_the_same_column_twice_shares_the_work() -> None:
    def response(level: np.ndarray) -> np.ndarray:
        return np.full(2, 0.1 + 0.4 * level.sum())

    best = nearest_trial(searched(response, np.array([0.6, 0.6])), [0.6, 0.6])
    assert best.mixing == pytest.approx([0.6, 0.6], abs=0.01)
    assert best.level[0] == pytest.approx(best.level[1])


def test_slopes_of_a_plane_are_recovered() -> None:
    slopes = np.array([[0.9, 0.2], [0.1, 0.6]])
    levels = np.array([[0.5, 0.5], [0.8, 0.4], [0.3, 0.7], [0.6, 0.9]])
    trials = [Trial(level, slopes @ level) for level in levels]
    found = fitted_slopes(trials, levels[0], 0.8 * np.eye(2))
    np.testing.assert_allclose(found, slopes, atol=0.05)


def test_a_correction_starts_from_the_nearest_map() -> None:
    trials = [Trial(np.full(2, level), np.full(2, level)) for level in (0.3, 0.5, 0.7)]
    made = [Trial(np.array([0.5, 0.5]), np.array([0.4, 0.62]))]
    level = correction(made, trials, [0.5, 0.6])
    assert level is not None and level[0] > 0.5 and level[1] < 0.5
    assert np.abs(level - 0.5).max() <= target.LONGEST_MOVE
    assert correction([Trial(made[0].level, np.array([0.5, 0.6]))], trials, [0.5, 0.6]) is None


# ---- maps ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")  # by a little
@pytest.mark.parametrize("wanted", [0.7, {"batch": 0.85, "donor": 0.6}])
def test_each_column_reaches_its_own_mixing(wanted: Any) -> None:
    model = fitted(mixing=wanted)
    assert list(model.mixing_) == list(model.strength_) == ["donor", "batch"]
    for name, column in BOTH.items():
        asked = wanted if isinstance(wanted, float) else wanted[name]
        assert model.mixing_[name] == pytest.approx(asked, abs=0.1)  # few points are noisy
        assert model.mixing_[name] == mixing(model.embedding_, column)
    again = fitted(strength=model.strength_)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")  # few points
def test_found_on_a_sample_and_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "SEARCH_POINTS", 150)
    calls: list[int] = []
    find = search.find_level

    def counted(*arguments: Any) -> Any:
        trials = find(*arguments)
        calls.append(len(trials))
        return trials

    monkeypatch.setattr(search, "find_level", counted)
    model = fitted(mixing={"donor": 0.6, "batch": 0.8})
    assert calls and calls[0] <= MOST_TRIALS
    for name, asked in {"donor": 0.6, "batch": 0.8}.items():
        assert model.mixing_[name] == pytest.approx(asked, abs=0.15)
    given = fitted(strength=model.strength_)
    np.testing.assert_array_equal(given.embedding_, model.embedding_)


def test_a_mixing_out_of_reach_names_the_column_and_its_labels() -> None:
    given = {**DEFAULTS, **COMMON, "mixing": {"donor": 0.6, "batch": 0.95}}
    known = check_settings(given, X, encode_labels(BOTH))

    def told(level: list[float], mixed: list[float]) -> list[str]:
        reached = Trial(np.array(level), np.array(mixed))
        return why_missed(X[:, :2], known, reached, "strength=donor=0.5, batch=1")

    assert told([0.5, 0.9], [0.61, 0.94]) == []
    (message,) = told([0.5, 1.0], [0.6, 0.7])
    assert message.startswith(
        "mixing=0.95 of batch was not reached: strength=donor=0.5, batch=1 mixes it to 0.70, the "
        "most that this method reaches. Labels that mix least: "
    )
    assert message.endswith(").") and message.count("(0.") + message.count("(1.") == 2
    first, second = told([0.0, 0.5], [0.8, 0.7])
    assert "of donor was not" in first and "without any conditioning on it: the other" in first
    assert "the nearest value found. Labels that mix least: " in second
    (over,) = told([0.3, 1.0], [0.7, 0.95])
    assert over.endswith("mixes it to 0.70, the nearest value found.")


def test_a_nested_column_below_its_outer_one_says_so() -> None:
    inner = np.char.add(BATCH, RNG.choice(["1", "2"], N))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted({"inner": inner, "batch": BATCH}, mixing={"inner": 0.3, "batch": 0.8})
    assert model.strength_["inner"] == 0 and model.mixing_["inner"] > 0.3
    text = "without any conditioning on it: it is nested in batch, which mixes it too"
    assert any(text in str(each.message) for each in caught)
    assert model.mixing_["batch"] == pytest.approx(0.8, abs=0.1)


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")
def test_a_column_equal_to_another_one() -> None:
    model = fitted({"batch": BATCH, "same": list(BATCH)}, mixing=0.7)
    assert model.mixing_["batch"] == model.mixing_["same"] == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"donor": 0.5, "bach": 0.5}, "mixing names 'bach'.*did you mean 'batch'"),
        ({"donor": 0.5}, "mixing must give a number for every label column.*'batch'"),
        ({}, "mixing must give a number for every label column"),
        ({"donor": 0.5, "batch": 1.5}, "mixing"),
        ({"donor": "much", "batch": 0.5}, "mixing"),
        ([0.5, 0.5], "mixing must be"),
    ],
)
def test_refuses_before_any_work(
    wanted: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "find_level", lambda *_: pytest.fail("work was started"))
    with pytest.raises((TypeError, ValueError), match=message):
        fitted(mixing=wanted)


def test_a_column_that_hardly_any_point_has() -> None:
    rare = [None] * N
    rare[X[:, 0].argmin()], rare[X[:, 0].argmax()] = "a", "b"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted({"batch": BATCH, "rare": rare}, mixing=0.5, n_iter=20)
    assert any("cannot be measured" in str(each.message) for each in caught)
    assert np.isfinite(model.embedding_).all()
