"""The search for a mixing: which level is tried next, and whether the map gets there."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import ctsne.fit.fitting
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.evaluate import mixing
from ctsne.fit import target as search
from ctsne.fit.target import (
    FEWEST_NEIGHBORS,
    LONGEST_MOVE,
    MOST_SEARCH_POINTS,
    MOST_TRIALS,
    MOST_WHOLE_TRIALS,
    NEAR_ENOUGH,
    SAMPLE_NEAR_ENOUGH,
    SEARCH_POINTS,
    SLOPE_GAIN,
    Trial,
    at_level,
    correction,
    find_level,
    most_corrections,
    most_trials,
    nearest_trial,
    next_level,
    searched_points,
    why_missed,
)
from ctsne.labels import encode_column
from ctsne.layout import Layout
from ctsne.methods import METHODS
from ctsne.settings import DEFAULTS, Settings, check_settings

# Points at the outer sides of both labels, which the data below has, are another matter.
pytestmark = pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")

# Two labels that overlap a little: how far a map mixes them rises with the conditioning.
KNOWN = np.where(np.arange(500) % 2, "orange", "blue")
X = np.random.default_rng(0).normal(size=(500, 5))
X[:, 0] += 3.0 * (KNOWN == "orange")
CLUSTERS = make_synthetic(600, random_state=0)
COMMON: dict[str, Any] = {"perplexity": 20, "n_iter": 300, "random_state": 0}
STEERED = [name for name, method in METHODS.items() if method.knob]


def fitted(**parameters: Any) -> ConditionalTSNE:
    model = ConditionalTSNE(**{**COMMON, **parameters})
    return model.fit(X, labels=KNOWN)


def settings_for(**parameters: Any) -> Settings:
    given = {**DEFAULTS, **COMMON, **parameters}
    return check_settings(given, X, encode_column(KNOWN))


# ---- levels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEERED)
def test_levels_go_from_the_weakest_to_the_strongest_of_the_grid(name: str) -> None:
    method = METHODS[name]
    values = [method.knob_at(level) for level in np.linspace(0, 1, 101)]
    assert values[0] == pytest.approx(method.grid[0])
    assert values[-1] == pytest.approx(method.grid[-1])
    steps = np.diff(values)
    assert (steps > 0).all() if method.knob == "strength" else (steps < 0).all()
    settings = at_level(settings_for(method=name, mixing=0.5), 0.25)
    np.testing.assert_array_equal(settings.knob, [method.knob_at(0.25)] * 2)


def test_the_first_level_is_in_the_middle() -> None:
    assert next_level([], 0.7, near=NEAR_ENOUGH) == 0.5


def test_stops_where_a_trial_is_near_enough() -> None:
    trials = [Trial(0.5, 0.2), Trial(0.9, 0.705), Trial(1.0, 0.9)]
    assert next_level(trials, 0.7, near=NEAR_ENOUGH) is None
    assert nearest_trial(trials, 0.7) == trials[1]
    assert next_level(trials, 0.73, near=NEAR_ENOUGH) is not None
    assert next_level(trials, 0.73, near=SAMPLE_NEAR_ENOUGH) is None


@pytest.mark.parametrize(
    ("trials", "target", "expected"),
    [
        ([Trial(0.5, 0.3)], 0.7, 1.0),  # .4 more at the usual slope
        ([Trial(0.5, 0.6)], 0.7, 0.65),  # at least .15 on
        ([Trial(0.5, 0.6)], 0.5, 0.35),
        ([Trial(0.5, 0.9)], 0.2, 0.0),
        ([Trial(0.5, 0.3), Trial(1.0, 0.6)], 0.7, None),  # nothing is stronger
        ([Trial(0.5, 0.9), Trial(0.0, 0.4)], 0.2, None),  # nothing is weaker
        ([Trial(0.0, 0.0), Trial(1.0, 1.0)], 0.3, 0.3),
        ([Trial(0.0, 0.29), Trial(1.0, 0.99)], 0.31, 0.1),  # not too near to an end
        ([Trial(0.5, 0.3), Trial(0.500004, 0.6)], 0.45, None),  # too near to each other
        ([Trial(0.6, 0.3), Trial(0.5, 0.6)], 0.45, 0.55),  # by noise in reversed order
        # Of two crossings the one where mixing is nearest.
        ([Trial(0.0, 0.0), Trial(0.5, 0.6), Trial(0.6, 0.4), Trial(1.0, 0.9)], 0.5, 0.55),
    ],
)
def test_next_level(trials: list[Trial], target: float, expected: float | None) -> None:
    found = next_level(trials, target, near=NEAR_ENOUGH)
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

    trials: list[Trial] = []
    while len(trials) < 50:
        level = next_level(trials, target, near=NEAR_ENOUGH)
        if level is None:
            break
        assert 0 <= level <= 1
        assert level not in [trial.level for trial in trials]
        trials.append(Trial(level, mixed(level)))
    nearest = nearest_trial(trials, target)
    best = min(max(target, mixed(0)), mixed(1))  # the nearest that there is
    assert abs(nearest.mixing - best) <= NEAR_ENOUGH + 0.005 * gain * max(power, 1) + 0.02
    if power == 1:
        assert len(trials) <= MOST_TRIALS


# ---- the correction ------------------------------------------------------------------------------


def test_a_map_that_is_near_enough_is_left_alone() -> None:
    trials = [Trial(0.4, 0.4), Trial(0.6, 0.6)]
    assert correction([Trial(0.5, 0.495)], trials, 0.5) is None
    assert correction([Trial(0.5, 0.505)], trials, 0.5) is None
    assert correction([Trial(0.5, 0.505), Trial(0.3, 0.1)], trials, 0.5) is None


def test_the_first_correction_follows_the_slope_of_the_trials() -> None:
    trials = [Trial(0.4, 0.3), Trial(0.6, 0.5), Trial(1.0, 0.5)]  # the last is far away
    assert correction([Trial(0.5, 0.45)], trials, 0.5) == pytest.approx(0.5 + 0.05 / SLOPE_GAIN)
    assert correction([Trial(0.5, 0.55)], trials, 0.5) == pytest.approx(0.5 - 0.05 / SLOPE_GAIN)
    # A straight line through all that are near.
    noisy = [Trial(0.4, 0.3), Trial(0.5, 0.45), Trial(0.6, 0.5)]
    assert correction([Trial(0.5, 0.4)], noisy, 0.5) == pytest.approx(0.5 + 0.1 / SLOPE_GAIN)
    # One trial has no slope: the usual one.
    assert correction([Trial(0.5, 0.42)], trials[:1], 0.5) == pytest.approx(0.5 + 0.1 / SLOPE_GAIN)
    # Trials that hardly differ, or fall, have the least one, and a jump has the most.
    for other in (0.3, 0.2):
        flat = [Trial(0.4, 0.3), Trial(0.6, other)]
        assert correction([Trial(0.5, 0.39)], flat, 0.45) == pytest.approx(0.5 + 0.2 / SLOPE_GAIN)
    jump = [Trial(0.50, 0.1), Trial(0.51, 0.9)]
    assert correction([Trial(0.5, 0.2)], jump, 0.5) == pytest.approx(0.5 + 0.1 / SLOPE_GAIN)


def test_later_corrections_go_by_the_maps_themselves() -> None:
    trials = [Trial(0.4, 0.1), Trial(0.6, 0.9)]
    # Between two of them, in proportion.
    assert correction([Trial(0.5, 0.4), Trial(0.6, 0.8)], trials, 0.5) == pytest.approx(0.525)
    assert correction([Trial(0.6, 0.8), Trial(0.5, 0.4)], trials, 0.5) == pytest.approx(0.525)
    # Beyond them, by their slope.
    assert correction([Trial(0.5, 0.3), Trial(0.6, 0.4)], trials, 0.5) == pytest.approx(0.7)


def test_the_correction_has_bounds() -> None:
    trials = [Trial(0.4, 0.3), Trial(0.6, 0.5)]
    assert correction([Trial(0.5, 0.0)], trials, 1.0) == pytest.approx(0.5 + LONGEST_MOVE)
    assert correction([Trial(0.5, 1.0)], trials, 0.0) == pytest.approx(0.5 - LONGEST_MOVE)
    assert correction([Trial(0.9, 0.3)], trials, 1.0) == 1.0
    assert correction([Trial(1.0, 0.3)], trials, 1.0) is None
    assert correction([Trial(0.0, 0.3)], trials, 0.1) is None
    # No map is made twice.
    assert correction([Trial(1.0, 0.3), Trial(0.9, 0.2)], trials, 1.0) is None


@pytest.mark.parametrize(("n", "most"), [(500, 2), (30_000, 2), (30_001, 1)])
def test_very_many_points_are_corrected_once(n: int, most: int) -> None:
    labels = encode_column(np.arange(n) % 2)
    assert most_corrections(replace(settings_for(mixing=0.5), labels=labels)) == most


@pytest.mark.parametrize(
    ("n", "size"), [(5000, 5000), (5001, 5000), (15_000, 5000), (24_000, 8000), (10**6, 10_000)]
)
def test_how_many_points_are_tried(n: int, size: int) -> None:
    assert (SEARCH_POINTS, MOST_SEARCH_POINTS) == (5000, 10_000)
    settings = replace(settings_for(mixing=0.5), labels=encode_column(np.arange(n) % 2))
    rows = searched_points(settings)
    assert len(rows) == size and (np.diff(rows) > 0).all() and rows[-1] < n
    assert len(searched_points(replace(settings, metric="precomputed"))) == n


# ---- trials --------------------------------------------------------------------------------------


def test_trials_are_maps_of_the_estimator() -> None:
    settings = settings_for(mixing=0.5, n_iter=120)
    steps: list[None] = []
    rows = searched_points(settings)
    np.testing.assert_array_equal(rows, np.arange(500))
    trials = find_level(X, settings, rows, lambda: steps.append(None))
    assert 1 <= len(trials) <= most_trials(settings, rows) == MOST_WHOLE_TRIALS
    assert len(steps) == 120 * len(trials)
    assert trials[0].level == 0.5
    for trial in trials[:2]:
        made = fitted(strength=METHODS["joint"].knob_at(trial.level), n_iter=120)
        assert trial.mixing == mixing(made.embedding_, KNOWN)


@pytest.mark.parametrize("parameters", [{}, {"init": X[:, :2] * 1e-4}, {"align": X}])
def test_many_points_are_tried_by_a_sample(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SEARCH_POINTS", 200)
    settings = settings_for(mixing=0.5, n_iter=100, **parameters)
    rows = searched_points(settings)
    assert len(rows) == 200 and (np.diff(rows) > 0).all()
    before = settings.rng.bit_generator.state
    trials = find_level(X, settings, rows, lambda: None)
    assert len(trials) <= most_trials(settings, rows) == MOST_TRIALS
    assert settings.rng.bit_generator.state == before
    # As if there were no other points, in neighbourhoods as much smaller as the sample is.
    own = {**COMMON, "n_iter": 100, "strength": METHODS["joint"].knob_at(0.5)}
    own["perplexity"] = max(FEWEST_NEIGHBORS, 20 * 200 / 500)
    arrays = {name: value[rows] for name, value in parameters.items()}
    made = ConditionalTSNE(**own, **arrays).fit(X[rows], labels=KNOWN[rows])
    assert trials[0].mixing == mixing(made.embedding_, KNOWN[rows], k=12)
    assert len(trials) > 1  # one alone would not tell the slope


def test_a_sample_may_lack_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SEARCH_POINTS", 150)
    labels = KNOWN.astype(object)
    rows = searched_points(settings_for(mixing=0.5))
    rare = np.setdiff1d(np.arange(500), rows)[:40]
    labels[rare] = "rare"
    model = ConditionalTSNE(**{**COMMON, "perplexity": 10, "mixing": 0.6})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the sample says little about the rest
        model.fit(X, labels=labels)
    assert model.mixing_ == pytest.approx(0.6, abs=0.1)


# ---- the estimator -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "target"), [("joint", 0.5), ("joint", 0.8), ("revised", 0.4), ("revised", 0.5)]
)
def test_reaches_the_mixing(method: str, target: float) -> None:
    model = fitted(method=method, mixing=target)
    assert model.mixing_ == pytest.approx(target, abs=0.02)
    assert model.mixing_ == mixing(model.embedding_, KNOWN)
    knob = METHODS[method].knob
    assert knob is not None
    found = getattr(model, f"{knob}_")
    assert isinstance(found, float)
    low, high = sorted((METHODS[method].grid[0], METHODS[method].grid[-1]))
    assert low <= found <= high
    assert getattr(model, knob) is None and model.mixing == target
    other = "beta" if knob == "strength" else "strength"
    assert getattr(model, f"{other}_") is None
    # It is the map that the value found gives by itself.
    given = fitted(method=method, **{knob: found})
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)
    np.testing.assert_array_equal(model.diagnostics_.other_share, given.diagnostics_.other_share)
    assert model.n_iter_ == given.n_iter_ and model.kl_divergence_ == given.kl_divergence_


def test_more_asked_for_is_more_conditioning() -> None:
    little, much = (fitted(mixing=target).strength_ for target in (0.35, 0.8))
    assert little < much


@pytest.mark.parametrize(("method", "target"), [("joint", 0.7), ("revised", 0.8)])
def test_what_was_found_reproduces_the_map(method: str, target: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it may not be reached
        model = fitted(method=method, mixing=target)
    given = fitted(method=method, strength=model.strength_, beta=model.beta_)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    assert mixing(given.embedding_, KNOWN) == model.mixing_


@pytest.mark.parametrize("method", ["joint", "revised"])
def test_same_bits_for_any_number_of_threads(method: str) -> None:
    one, two = (fitted(method=method, mixing=0.5, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.mixing_ == two.mixing_
    assert (one.strength_, one.beta_) == (two.strength_, two.beta_)
    assert one.kl_divergence_ == two.kl_divergence_


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")
def test_random_states_are_used_as_without_a_mixing() -> None:
    def run(state: Any) -> ConditionalTSNE:
        return fitted(mixing=0.5, init="random", random_state=state)

    state = np.random.RandomState(7)
    first, again, other = run(state), run(np.random.RandomState(7)), run(8)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert first.strength_ == again.strength_
    assert not np.array_equal(first.embedding_, other.embedding_)
    plain = np.random.RandomState(7)
    fitted(init="random", random_state=plain, n_iter=2)
    assert state.randint(10**6) == plain.randint(10**6)


def test_a_map_of_all_that_were_tried_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "correction", lambda *_: pytest.fail("corrected"))
    assert fitted(mixing=0.5).mixing_ == pytest.approx(0.5, abs=0.02)


def sampled(monkeypatch: pytest.MonkeyPatch, wrong: float, target: float) -> ConditionalTSNE:
    """Find a mixing on a sample which mixes by so much more than all points do."""
    monkeypatch.setattr(search, "SEARCH_POINTS", 400)
    real = search.find_level

    def shifted(*arguments: Any) -> tuple[Trial, ...]:
        return tuple(replace(each, mixing=each.mixing + wrong) for each in real(*arguments))

    monkeypatch.setattr(search, "find_level", shifted)
    return fitted(mixing=target)


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")
@pytest.mark.parametrize("parameters", [{"init": "pca"}, {"init": "random"}])
def test_a_map_that_missed_is_made_again(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMON, "init", parameters["init"])
    measured: list[float] = []
    measure = ctsne.fit.fitting.mixing

    def watched(*arguments: Any, **options: Any) -> float:
        measured.append(measure(*arguments, **options))
        return measured[-1]

    monkeypatch.setattr(ctsne.fit.fitting, "mixing", watched)
    calls: list[int] = []
    monkeypatch.setitem(COMMON, "callback", lambda iteration, *_: calls.append(iteration))
    monkeypatch.setitem(COMMON, "callback_every", 100)
    model = sampled(monkeypatch, 0.15, 0.5)
    assert 2 <= len(measured) <= 3 and calls == [100, 200, 300] * len(measured)
    # The nearest of them is kept, whole.
    assert model.mixing_ == min(measured, key=lambda value: abs(value - 0.5))
    assert model.mixing_ == mixing(model.embedding_, KNOWN)
    given = fitted(strength=model.strength_)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)
    assert model.kl_divergence_ == given.kl_divergence_ and model.n_iter_ == 300
    np.testing.assert_array_equal(model.resume(5).embedding_, given.resume(5).embedding_)


@pytest.mark.parametrize("measured", [(0.45, 0.9, 0.6), (0.9, 0.45, 0.6), (0.9, 0.6, 0.45)])
def test_the_nearest_map_is_kept(
    measured: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another map may lead away from the target; then an earlier one is taken."""
    kept, values = 0.45, iter(measured)
    monkeypatch.setattr(search, "SEARCH_POINTS", 400)
    monkeypatch.setattr(ctsne.fit.fitting, "mixing", lambda *_, **__: next(values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(mixing=0.5)
    assert any(f"to {kept}, the nearest" in str(each.message) for each in caught)
    assert model.mixing_ == kept
    given = fitted(strength=model.strength_)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)


@pytest.mark.parametrize("parameters", [{"method": "revised", "mixing": 0.6}, {"mixing": 0.4}])
def test_clusters_that_mix_one_by_one(parameters: dict[str, Any]) -> None:
    """Where mixing jumps, no level may be near enough; that is reported, and it is still near."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConditionalTSNE(**parameters, **COMMON).fit(CLUSTERS.X, labels=CLUSTERS.known)
    missed = abs(model.mixing_ - parameters["mixing"])
    assert missed < 0.05
    assert any("was not reached" in str(each.message) for each in caught) == (missed > 0.02)


def test_a_mixing_that_cannot_be_reached_names_the_labels() -> None:
    # A third of the points is far from all others, in one piece.
    labels = np.where(np.arange(500) < 300, KNOWN, "far")
    apart = X + 1e3 * (labels == "far")[:, None]
    model = ConditionalTSNE(method="joint", mixing=1.0, **COMMON)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # points have no counterpart, too
        model.fit(apart, labels=labels)
    (message,) = [str(each.message) for each in caught if "not reached" in str(each.message)]
    assert message.startswith("mixing=1 was not reached: strength=")
    assert f"mixes the labels to {model.mixing_:.2f}" in message and model.mixing_ < 0.98
    assert "Labels that mix least: far (" in message
    assert all(f"{name} (" in message for name in ("blue", "orange"))


def test_more_mixing_than_asked_for_is_told() -> None:
    labels = np.random.default_rng(0).integers(0, 2, 500)  # nothing to factor out
    with pytest.warns(UserWarning, match="mixing=0.2 was not reached.*weakest.*little to factor"):
        model = ConditionalTSNE(mixing=0.2, **COMMON).fit(X, labels=labels)
    assert model.strength_ == 0
    assert model.mixing_ > 0.9


def test_why_missed_says_no_more_than_is_known() -> None:
    settings = settings_for(mixing=0.5)
    points = np.asarray(X[:, :2])
    assert why_missed(points, settings, Trial(0.3, 0.515), "strength=0.3") is None
    over = why_missed(points, settings, Trial(0.3, 0.6), "strength=0.3")
    assert over is not None and "strength=0.3 mixes the labels to 0.60, the nearest" in over
    under = why_missed(points, settings, Trial(0.3, 0.4), "strength=0.3")
    assert under is not None and "the nearest value found. Labels that mix least: " in under
    most = why_missed(points, settings, Trial(1.0, 0.4), "strength=1")
    assert most is not None and "the most that this method reaches" in most


def test_many_labels_are_not_all_named() -> None:
    labels = np.arange(500) % 9
    given = {**DEFAULTS, **COMMON, "mixing": 0.9}
    settings = check_settings(given, X, encode_column(labels))
    message = why_missed(X[:, :2], settings, Trial(1.0, 0.1), "strength=1")
    assert message is not None and message.count("(0.") + message.count("(1.") == 3


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("method", ["joint", "revised"])
def test_given_distances(method: str, graph: bool) -> None:
    from scipy.sparse import csr_array

    distances = cdist(X, X)
    given: dict[str, Any] = {"metric": "precomputed", "init": "spectral", "method": method}
    table = csr_array(distances) if graph else distances
    model = ConditionalTSNE(mixing=0.5, **given, **COMMON).fit(table, labels=KNOWN)
    assert model.mixing_ == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("align", ["mean", "auto"])
def test_aligned(align: str) -> None:
    model = fitted(mixing=0.9, align=align)
    assert model.mixing_ == pytest.approx(0.9, abs=0.02)
    assert model.diagnostics_.alignment in ("none", "mutual", "mean")


def test_a_number_is_left_alone() -> None:
    model = fitted(method="revised", beta=0.1, n_iter=5)
    assert (model.beta_, model.strength_, model.mixing_) == (0.1, None, None)
    model = fitted(n_iter=5)
    assert (model.beta_, model.strength_, model.mixing_) == (None, 0.6, None)


def test_labels_that_hardly_any_point_has() -> None:
    labels = [None] * 500
    labels[0], labels[-1] = "a", "b"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConditionalTSNE(mixing=0.5, **COMMON).fit(X, labels=labels)
    assert any("cannot be measured" in str(each.message) for each in caught)
    assert model.strength_ == 0 and model.mixing_ is None


def test_without_labels_there_is_nothing_to_find() -> None:
    with pytest.warns(UserWarning, match="t-SNE"):
        model = ConditionalTSNE(mixing=0.5, **COMMON).fit(X)
    assert model.mixing_ is None
    plain = ConditionalTSNE(method="tsne", **COMMON).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": 0.5}, "strength=0.5 was given too; leave one of them out"),
        ({"beta": 0.5}, "beta=0.5 was given too"),  # though joint does not look at it
        ({"method": "revised", "beta": 1e-4}, "finds the value of beta.*beta=0.0001 was given"),
        ({"method": "balanced", "strength": {"blue": 1, "orange": 0}}, "was given too"),
        ({"method": "tsne"}, 'needs a method that conditions, but method="tsne"'),
        ({"method": "original", "beta_low": 0.5}, "beta_low, which replaces beta"),
        ({"method": "original", "odds": 5}, "odds or beta_low, which replaces beta"),
        ({"method": "orignal"}, "method must be one of"),
        ({"perplexity": 1000}, "perplexity"),
        *(({"mixing": value}, "mixing must be") for value in (-0.1, 1.1, 2, "much", True, [0.5])),
        ({"mixing": float("nan")}, "mixing must be"),
    ],
)
def test_refuses_before_any_work(
    parameters: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "find_level", lambda *_: pytest.fail("work was started"))
    model = ConditionalTSNE(**{"mixing": 0.5, **parameters})
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, labels=KNOWN)
    assert not hasattr(model, "embedding_")


def test_conditioning_of_the_map_goes_with_it() -> None:
    model = fitted(method="joint", mixing=0.5, odds=3)
    assert model.mixing_ == pytest.approx(0.5, abs=0.02)


# ---- interrupted ---------------------------------------------------------------------------------


def test_ctrl_c_in_the_search_leaves_the_model_unfitted(monkeypatch: pytest.MonkeyPatch) -> None:
    advance, steps = Layout.advance, []

    def interrupted(self: Layout, *arguments: Any) -> Any:
        steps.append(None)
        if len(steps) == 50:
            raise KeyboardInterrupt
        return advance(self, *arguments)

    monkeypatch.setattr(Layout, "advance", interrupted)
    model = ConditionalTSNE(mixing=0.5, **COMMON)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, labels=KNOWN)
    assert vars(model) == before


def test_ctrl_c_in_the_map_keeps_it() -> None:
    def interrupt(iteration: int, *_: object) -> None:
        if iteration == 20:
            raise KeyboardInterrupt

    model = ConditionalTSNE(mixing=0.4, callback=interrupt, callback_every=20, **COMMON)
    with pytest.warns(UserWarning, match="interrupted after iteration 20"):
        model.fit(X, labels=KNOWN)
    assert model.n_iter_ == 20 and np.isfinite(model.embedding_).all()
    assert model.mixing_ is None and 0 <= model.strength_ <= 1


def test_ctrl_c_in_the_second_map_keeps_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def interrupt(iteration: int, *_: object) -> None:
        calls.append(iteration)
        if len(calls) == 4:
            raise KeyboardInterrupt

    monkeypatch.setitem(COMMON, "callback", interrupt)
    monkeypatch.setitem(COMMON, "callback_every", 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = sampled(monkeypatch, 0.15, 0.5)
    assert calls == [100, 200, 300, 100]
    monkeypatch.setitem(COMMON, "callback", None)
    given = fitted(strength=model.strength_)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    assert model.n_iter_ == 300 and model.mixing_ == mixing(given.embedding_, KNOWN)


def test_an_error_in_the_second_map_keeps_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def fail(iteration: int, *_: object) -> None:
        calls.append(iteration)
        if len(calls) == 4:
            raise RuntimeError("the plot window is gone")

    models: list[ConditionalTSNE] = []

    keep = ConditionalTSNE._keep_map

    def remember(self: ConditionalTSNE, *given: Any) -> None:
        models.append(self)
        keep(self, *given)

    monkeypatch.setattr(ConditionalTSNE, "_keep_map", remember)
    monkeypatch.setitem(COMMON, "callback", fail)
    monkeypatch.setitem(COMMON, "callback_every", 100)
    with pytest.raises(RuntimeError, match="window"):
        sampled(monkeypatch, 0.15, 0.5)
    monkeypatch.setitem(COMMON, "callback", None)
    given = fitted(strength=models[-1].strength_)
    np.testing.assert_array_equal(models[-1].embedding_, given.embedding_)
