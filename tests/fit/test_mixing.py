"""The search for a mixing: whether the map gets there, for one label column and for several."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.evaluate import mixing
from ctsne.fit import fit as fitting
from ctsne.fit import mixing as search
from ctsne.fit import pipeline
from ctsne.fit.mixing import FEWEST_NEIGHBORS, MixingSearch, why_missed
from ctsne.fit.pipeline import Lists
from ctsne.fit.steps import Trial
from ctsne.labels import encode_labels
from ctsne.layout import Layout
from ctsne.methods import METHODS
from ctsne.settings import DEFAULTS, Settings, check_settings

# Points at the outer sides of both labels, which the data below has, are another matter.
pytestmark = pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
missed = pytest.mark.filterwarnings("ignore:mixing=.* was not reached:UserWarning")

# Two labels that overlap a little: how far a map mixes them rises with the conditioning.
KNOWN = np.where(np.arange(500) % 2, "orange", "blue")
X = np.random.default_rng(0).normal(size=(500, 5))
X[:, 0] += 3.0 * (KNOWN == "orange")
X = X.astype(np.float32)  # as an estimator has them
CLUSTERS = make_synthetic(600, random_state=0)
COMMON: dict[str, Any] = {"align": "none", "perplexity": 20, "n_iter": 300, "random_state": 0}

# Two label columns that overlap a little, along different features.
RNG = np.random.default_rng(0)
BOTH = {"donor": RNG.choice(["d1", "d2", "d3"], 240), "batch": RNG.choice(["a", "b"], 240)}
X2 = RNG.normal(size=(240, 6))
X2[:, 0] += 3.5 * (BOTH["batch"] == "b")
X2[:, 1] += 3.0 * np.unique(BOTH["donor"], return_inverse=True)[1]
SHORT = {**COMMON, "perplexity": 15, "n_iter": 200, "early_exaggeration_iter": 80}


def fitted(**parameters: Any) -> ConditionalTSNE:
    return ConditionalTSNE(**{**COMMON, **parameters}).fit(X, labels=KNOWN)


def fitted_columns(labels: object = None, **parameters: Any) -> ConditionalTSNE:
    model = ConditionalTSNE(**{**SHORT, **parameters})
    return model.fit(X2, labels=BOTH if labels is None else labels)


def settings_for(**parameters: Any) -> Settings:
    return check_settings({**DEFAULTS, **COMMON, **parameters}, X, encode_labels(KNOWN))


# ---- trials --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.knob])
def test_levels_go_from_the_weakest_to_the_strongest_of_the_grid(name: str) -> None:
    method = METHODS[name]
    values = [method.knob_at(level) for level in np.linspace(0, 1, 101)]
    assert values[0] == pytest.approx(method.grid[0])
    assert values[-1] == pytest.approx(method.grid[-1])
    steps = np.diff(values)
    assert (steps > 0).all() if method.knob == "strength" else (steps < 0).all()
    (knob,) = settings_for(method=name, mixing=0.5).at_levels([0.25]).knob
    np.testing.assert_array_equal(knob, [method.knob_at(0.25)] * 2)


def searching(settings: Settings, points: Any = X) -> MixingSearch:
    return MixingSearch(points, settings, Lists(points))


@pytest.mark.parametrize(
    ("n", "size"), [(5000, 5000), (5001, 5000), (24_000, 8000), (30_001, 10_000), (10**6, 10_000)]
)
def test_how_many_points_are_tried(n: int, size: int) -> None:
    settings = replace(settings_for(mixing=0.5), labels=encode_labels(np.arange(n) % 2))
    assert searching(settings, np.zeros((n, 1))).n_points == size
    graph = replace(settings, metric="precomputed")
    assert searching(graph, np.zeros((n, 1))).n_points == n


def test_trials_are_the_first_iterations_of_the_map() -> None:
    steps: list[None] = []
    tried = searching(settings_for(mixing=0.5, n_iter=500))
    best = tried.next_trial({}, lambda: steps.append(None))
    assert best is not None and len(steps) == 350 * len(tried.trials)
    for trial in tried.trials[:2]:
        made = fitted(strength=METHODS["joint"].knob_at(trial.levels[0]), n_iter=350)
        assert trial.mixing == mixing(made.embedding_, KNOWN)
    assert abs(tried.trials[best].mixing[0] - 0.5) <= 0.05


@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
def test_trials_and_maps_share_alignment_lists_and_iterations(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search costs at most four maps, and searches neighbours as often as the lists differ."""
    calls = {"alignment_of": 0, "neighbors_of": 0}
    for name in calls:
        whole = getattr(pipeline, name)

        def counted(*given: Any, name: str = name, whole: Any = whole) -> Any:
            calls[name] += 1
            return whole(*given)

        monkeypatch.setattr(pipeline, name, counted)
    step, steps = Layout._step, []

    def watched(self: Layout) -> Any:
        steps.append(None)
        return step(self)

    monkeypatch.setattr(Layout, "_step", watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fitted(method=method, align="mutual", mixing=0.7, n_iter=750)
    assert calls["alignment_of"] == 1
    assert calls["neighbors_of"] == 1 or method == "balanced"
    assert len(steps) <= 4 * 750 and model.n_iter_ == 750


@pytest.mark.parametrize("parameters", [{}, {"init": X[:, :2] * 1e-4}, {"align": X}])
def test_many_points_are_tried_by_a_sample(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SEARCH_POINTS", 200)
    settings = settings_for(mixing=0.5, n_iter=100, **parameters)
    before = settings.rng.bit_generator.state
    tried = searching(settings)
    assert tried.next_trial({}, lambda: None) is not None
    assert tried.n_points == 200 and 1 <= len(tried.trials) <= 3
    assert settings.rng.bit_generator.state == before
    # As if there were no other points, in neighbourhoods as much smaller as the sample is.
    rows = np.sort(np.random.default_rng(0).permutation(500)[:200])
    own = {**COMMON, "n_iter": 100, "strength": METHODS["joint"].knob_at(tried.trials[0].levels[0])}
    own["perplexity"] = max(FEWEST_NEIGHBORS, 20 * 200 / 500)
    arrays = {name: value[rows] for name, value in parameters.items()}
    made = ConditionalTSNE(**{**own, **arrays}).fit(X[rows], labels=KNOWN[rows])
    assert tried.trials[0].mixing == mixing(made.embedding_, KNOWN[rows], k=12)


def test_a_sample_may_lack_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SEARCH_POINTS", 150)
    labels = KNOWN.astype(object)
    rows = np.random.default_rng(0).permutation(500)[:150]
    labels[np.setdiff1d(np.arange(500), rows)[:40]] = "rare"
    model = ConditionalTSNE(**{**COMMON, "perplexity": 10, "mixing": 0.6})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the sample says little about the rest
        model.fit(X, labels=labels)
    assert model.mixing_ == pytest.approx(0.6, abs=0.1)


# ---- the map -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "target"), [("joint", 0.5), ("joint", 0.6), ("revised", 0.4)])
def test_reaches_the_mixing_with_the_same_bits_for_any_number_of_threads(
    method: str, target: float
) -> None:
    model = fitted(method=method, mixing=target, n_jobs=2)
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
    given = fitted(method=method, n_jobs=1, **{knob: found})
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)
    np.testing.assert_array_equal(model.diagnostics_.other_share, given.diagnostics_.other_share)
    assert model.n_iter_ == given.n_iter_ and model.kl_divergence_ == given.kl_divergence_


@missed
@pytest.mark.parametrize("wanted", [0.7, {"batch": 0.85, "donor": 0.6}])
def test_each_column_reaches_its_own_mixing(wanted: Any) -> None:
    model = fitted_columns(mixing=wanted)
    assert list(model.mixing_) == list(model.strength_) == ["donor", "batch"]
    for name, column in BOTH.items():
        asked = wanted if isinstance(wanted, float) else wanted[name]
        assert model.mixing_[name] == pytest.approx(asked, abs=0.1)  # few points are noisy
        assert model.mixing_[name] == mixing(model.embedding_, column)
    again = fitted_columns(strength=model.strength_)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


@missed
def test_random_states_are_used_as_without_a_mixing() -> None:
    def run(state: Any) -> ConditionalTSNE:
        return fitted(mixing=0.5, init="random", random_state=state, n_iter=80)

    state = np.random.RandomState(7)
    first, again, other = run(state), run(np.random.RandomState(7)), run(8)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert first.strength_ == again.strength_
    assert not np.array_equal(first.embedding_, other.embedding_)
    plain = np.random.RandomState(7)
    fitted(init="random", random_state=plain, n_iter=2)
    assert state.randint(10**6) == plain.randint(10**6)


@pytest.mark.parametrize("parameters", [{"method": "revised", "mixing": 0.6}, {"mixing": 0.4}])
def test_clusters_that_mix_one_by_one(parameters: dict[str, Any]) -> None:
    """Where mixing jumps, no level may be near enough; that is reported, and it is still near."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConditionalTSNE(**parameters, **COMMON).fit(CLUSTERS.X, labels=CLUSTERS.known)
    distance = abs(model.mixing_ - parameters["mixing"])
    assert distance < 0.06
    assert any("was not reached" in str(each.message) for each in caught) == (distance > 0.02)


@missed
@pytest.mark.parametrize(
    ("target", "parameters"), [(0.9, {"align": "auto"}), (0.35, {}), (0.5, {"odds": 3})]
)
def test_alignment_and_conditioning_of_the_map_go_with_it(
    target: float, parameters: dict[str, Any]
) -> None:
    model = fitted(mixing=target, **parameters)
    assert model.mixing_ == pytest.approx(target, abs=0.05)
    assert model.diagnostics_.alignment in ("none", "mutual", "mean")


@missed
@pytest.mark.parametrize("graph", [False, True])
def test_given_distances(graph: bool) -> None:
    table = csr_array(cdist(X, X)) if graph else cdist(X, X)
    model = ConditionalTSNE(mixing=0.5, metric="precomputed", init="spectral", **COMMON)
    assert model.fit(table, labels=KNOWN).mixing_ == pytest.approx(0.5, abs=0.05)


@missed
def test_a_column_that_is_named_or_equal_to_another_one() -> None:
    named = fitted_columns({"batch": BOTH["batch"]}, mixing={"batch": 0.5}, n_iter=100)
    assert named.mixing_ == fitted_columns(BOTH["batch"], mixing=0.5, n_iter=100).mixing_
    model = fitted_columns({"batch": BOTH["batch"], "same": list(BOTH["batch"])}, mixing=0.7)
    assert model.mixing_["batch"] == model.mixing_["same"] == pytest.approx(0.7, abs=0.1)


# ---- corrections ---------------------------------------------------------------------------------


def sampled(monkeypatch: pytest.MonkeyPatch, **parameters: Any) -> ConditionalTSNE:
    """Find a mixing of .5 on a sample that mixes by .15 more than all points do."""
    monkeypatch.setattr(search, "SEARCH_POINTS", 400)
    measure = search.measured_mixing
    monkeypatch.setattr(search, "measured_mixing", lambda *of, **how: measure(*of, **how) + 0.15)
    return fitted(mixing=0.5, **parameters)


@missed
@pytest.mark.parametrize("init", ["pca", "random"])
def test_a_map_that_missed_is_made_again(init: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[float] = []
    measure = fitting.measured_mixing

    def watched(*arguments: Any) -> Any:
        reached = measure(*arguments)
        measured.append(float(reached[0]))
        return reached

    monkeypatch.setattr(fitting, "measured_mixing", watched)
    calls: list[int] = []
    callback: dict[str, Any] = {
        "callback": lambda iteration, *_: calls.append(iteration),
        "callback_every": 100,
    }
    model = sampled(monkeypatch, init=init, **callback)
    assert 2 <= len(measured) <= 4 and calls == [100, 200, 300] * len(measured)
    # The nearest of them is kept, whole.
    assert model.mixing_ == min(measured, key=lambda value: abs(value - 0.5))
    assert model.mixing_ == mixing(model.embedding_, KNOWN)
    given = fitted(strength=model.strength_, init=init)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)
    assert model.kl_divergence_ == given.kl_divergence_ and model.n_iter_ == 300
    np.testing.assert_array_equal(model.resume(5).embedding_, given.resume(5).embedding_)


@pytest.mark.parametrize(
    ("measured", "method"),
    [((0.45, 0.9, 0.6), "joint"), ((0.45, 0.9, 0.6), "balanced"), ((0.58, 0.45, 0.6), "joint")],
)
def test_the_nearest_map_is_kept(
    measured: tuple[float, ...], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another map may lead away from the target; then an earlier one is taken.

    The lists of ``balanced`` depend on the strength, so each of its maps searches again.
    """
    values = iter((*measured, 0.9))
    monkeypatch.setattr(search, "SEARCH_POINTS", 400)
    monkeypatch.setattr(fitting, "measured_mixing", lambda *_: np.array([next(values)]))
    with pytest.warns(UserWarning, match=r"to 0\.45, the nearest"):
        model = fitted(mixing=0.5, method=method)
    assert model.mixing_ == 0.45
    given = fitted(strength=model.strength_, method=method)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    np.testing.assert_array_equal(model.affinities_.data, given.affinities_.data)


@missed
def test_several_columns_are_found_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SEARCH_POINTS", 200)
    model = fitted_columns(mixing={"donor": 0.6, "batch": 0.8})
    for name, asked in {"donor": 0.6, "batch": 0.8}.items():
        assert model.mixing_[name] == pytest.approx(asked, abs=0.15)
    given = fitted_columns(strength=model.strength_)
    np.testing.assert_array_equal(given.embedding_, model.embedding_)


# ---- out of reach --------------------------------------------------------------------------------


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
    assert f"mixes it to {model.mixing_:.2f}" in message and model.mixing_ < 0.98
    assert "Labels that mix least: far (" in message
    assert all(f"{name} (" in message for name in ("blue", "orange"))


def test_more_mixing_than_asked_for_is_reported() -> None:
    labels = np.random.default_rng(0).integers(0, 2, 500)  # nothing to factor out
    with pytest.warns(
        UserWarning, match=r"mixing=0\.2 is not possible: t-SNE \(strength 0\) already"
    ):
        model = ConditionalTSNE(mixing=0.2, **COMMON).fit(X, labels=labels)
    assert model.strength_ == 0
    assert model.mixing_ > 0.9


@pytest.mark.parametrize(
    ("levels", "mixed", "columns"),
    [
        ((0.5, 0.9), (0.61, 0.94), ()),
        ((0.5, 1.0), (0.6, 0.7), ("batch",)),
        ((0.0, 0.5), (0.8, 0.7), ("donor", "batch")),
        ((0.3, 1.0), (0.7, 0.95), ("donor",)),
    ],
)
def test_why_missed_names_every_column_that_missed(
    levels: tuple[float, ...], mixed: tuple[float, ...], columns: tuple[str, ...]
) -> None:
    given = {**DEFAULTS, **SHORT, "mixing": {"donor": 0.6, "batch": 0.95}}
    settings = check_settings(given, X2, encode_labels(BOTH))
    trial = Trial(np.array(levels), np.array(mixed))
    messages = why_missed(X2[:, :2], settings, trial, "strength=1")
    assert len(messages) == len(columns)
    for message, name in zip(messages, columns, strict=True):
        place = list(BOTH).index(name)
        assert f"of {name} was not reached" in message and f"to {mixed[place]:.2f}" in message
        assert ("without any conditioning" in message) == (levels[place] == 0)
        assert ("most that this method" in message) == (levels[place] == 1)
        assert ("mix least" in message) == (mixed[place] < (0.6, 0.95)[place])


def test_many_labels_are_not_all_named() -> None:
    given = {**DEFAULTS, **COMMON, "mixing": 0.9}
    settings = check_settings(given, X, encode_labels(np.arange(500) % 9))
    trial = Trial(np.array([1.0]), np.array([0.1]))
    (message,) = why_missed(X[:, :2], settings, trial, "strength=1")
    assert message.count("(0.") + message.count("(1.") == 3


@missed
def test_a_nested_column_below_its_outer_one_says_so() -> None:
    inner = np.char.add(BOTH["batch"], RNG.choice(["1", "2"], 240))
    with pytest.warns(UserWarning, match="nested in batch, which mixes it too"):
        model = fitted_columns(
            {"inner": inner, "batch": BOTH["batch"]}, mixing={"inner": 0.3, "batch": 0.8}
        )
    assert model.strength_["inner"] == 0 and model.mixing_["inner"] > 0.3
    assert model.mixing_["batch"] == pytest.approx(0.8, abs=0.1)


def test_labels_that_hardly_any_point_has() -> None:
    rare: list[str | None] = [None] * 500
    rare[0], rare[-1] = "a", "b"
    with pytest.warns(UserWarning, match="cannot be measured"):
        model = ConditionalTSNE(mixing=0.5, **COMMON).fit(X, labels=rare)
    assert model.mixing_ is None and model.strength_ == 0
    rare = [None] * 240
    rare[X2[:, 0].argmin()], rare[X2[:, 0].argmax()] = "a", "b"
    with pytest.warns(UserWarning, match="cannot be measured"):
        model = fitted_columns({"batch": BOTH["batch"], "rare": rare}, mixing=0.5, n_iter=20)
    assert model.mixing_ is None and model.strength_ == {"batch": 0.0, "rare": 0.0}


def test_without_labels_there_is_nothing_to_find() -> None:
    with pytest.warns(UserWarning, match="t-SNE"):
        model = ConditionalTSNE(mixing=0.5, **COMMON).fit(X)
    assert model.mixing_ is None
    plain = ConditionalTSNE(method="tsne", **COMMON).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"strength": 0.5},
        {"beta": 0.5},  # though joint does not look at it
        {"method": "balanced", "strength": {"blue": 1, "orange": 0}},
        {"method": "tsne"},
        {"method": "original", "beta_low": 0.5},
        {"method": "original", "odds": 5},
        *({"mixing": value} for value in ({"blue": 0.5}, {}, {"label": "much"}, {"label": 2})),
    ],
)
def test_refuses_before_any_work(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MixingSearch, "next_trial", lambda *_: pytest.fail("work was started"))
    model = ConditionalTSNE(**{"mixing": 0.5, **parameters})
    with pytest.raises((TypeError, ValueError), match="mixing"):
        model.fit(X, labels=KNOWN)
    assert not hasattr(model, "embedding_")
    for wanted in ({"donor": 0.5, "bach": 0.5}, {"donor": 0.5}, {"donor": 0.5, "batch": 1.5}):
        with pytest.raises((TypeError, ValueError), match="mixing"):
            fitted_columns(mixing=wanted)


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

    with pytest.warns(UserWarning, match="interrupted after iteration 20"):
        model = fitted(mixing=0.4, callback=interrupt, callback_every=20)
    assert model.n_iter_ == 20 and np.isfinite(model.embedding_).all()
    assert model.mixing_ is None and 0 <= model.strength_ <= 1


@missed
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_in_the_second_map_keeps_the_first(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def fail(iteration: int, *_: object) -> None:
        calls.append(iteration)
        if len(calls) == 4:
            raise error("the plot window is gone")

    models: list[ConditionalTSNE] = []
    keep = ConditionalTSNE._keep_map

    def remember(self: ConditionalTSNE, *given: Any) -> None:
        models.append(self)
        keep(self, *given)

    monkeypatch.setattr(ConditionalTSNE, "_keep_map", remember)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Ctrl-C is reported as one
        if error is RuntimeError:
            with pytest.raises(RuntimeError, match="window"):
                sampled(monkeypatch, callback=fail, callback_every=100)
        else:
            sampled(monkeypatch, callback=fail, callback_every=100)
    model = models[-1]
    assert calls == [100, 200, 300, 100] and model.n_iter_ == 300
    given = fitted(strength=model.strength_)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
