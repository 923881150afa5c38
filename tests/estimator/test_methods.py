"""Methods and their parameters, against the reference and each other."""

from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.affinity import joint_odds
from ctsne.datasets import Synthetic, make_synthetic

from .. import reference as formulas
from .helpers import METHODS, WAYS, make, name


@pytest.mark.parametrize("parameters", [{"method": "tsne"}, {"method": "original", "beta": 1}])
def test_what_conditions_nothing_is_tsne(data: Synthetic, parameters: dict[str, Any]) -> None:
    plain = make(method="tsne").fit_transform(data.X)
    mapped = make(**parameters).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, plain)


@pytest.mark.parametrize("dof", [0.5, 1, 3])
@pytest.mark.parametrize("way", WAYS, ids=name)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_affinities_and_loss_are_the_references(way: dict[str, Any], dof: float) -> None:
    made = make_synthetic(60, random_state=2)
    labels = np.where(np.arange(60) % 7 == 0, None, made.known)
    model = make(**way, align="none", perplexity=5, beta=0.01, dof=dof).fit(made.X, labels=labels)
    codes = np.array([-1 if label is None else int(label == "orange") for label in labels])
    method = way["method"]
    strength = way.get("strength", {"joint": 0.7}.get(method, 1.0))
    above = "tsne" if method == "original" else method
    knob, bandwidth = [0.01 if method == "revised" else strength], way.get("bandwidth", "r")
    P = formulas.affinities(above, made.X, codes[:, None], 5, knob, bandwidth=bandwidth)
    np.testing.assert_allclose(model.affinities_.toarray(), P, atol=1e-6, rtol=1e-3)
    odds = way.get("odds", formulas.joint_odds(strength) if method == "joint" else 1.0)
    own = 0.01 if method == "original" else formulas.beta_from_odds(codes, odds).item()
    beta_low = way.get("beta_low", own)
    weights = formulas.low_weights(codes, beta_low)
    expected = formulas.kl_divergence(P, model.embedding_, weights=weights, dof=dof)
    assert model.kl_divergence_ == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        ("original", "beta"),
        ("revised", "beta"),
        ("balanced", "strength"),
        ("joint", "strength"),
        *((method, "beta_low") for method in METHODS),
    ],
)
def test_one_number_for_each_label(data: Synthetic, method: str, parameter: str) -> None:
    def mapped(value: object) -> Any:
        return make(method=method, **{parameter: value}).fit_transform(data.X, labels=data.known)

    equal = mapped({"blue": 0.3, "orange": 0.3})
    np.testing.assert_array_equal(equal, mapped(0.3))
    assert not np.array_equal(equal, mapped({"blue": 0.3, "orange": 0.6}))
    assert not np.array_equal(equal, mapped(0.6))


@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_low_dimensional_conditioning_goes_with_any_method(data: Synthetic) -> None:
    def mapped(**parameters: Any) -> Any:
        return make(**parameters).fit_transform(data.X, labels=data.known)

    for method in METHODS[:1] + METHODS[2:4]:
        assert not np.array_equal(mapped(method=method, beta_low=0.1), mapped(method=method))
        np.testing.assert_array_equal(mapped(method=method, beta_low=1), mapped(method=method))
    original = mapped(method="original", beta=0.1)
    np.testing.assert_array_equal(mapped(method="tsne", beta_low=0.1), original)
    np.testing.assert_array_equal(mapped(method="original", beta=0.5, beta_low=0.1), original)
    # What joint takes by itself.
    joint, odds = mapped(method="joint", strength=0.5), joint_odds(0.5).item()
    np.testing.assert_array_equal(mapped(method="joint", strength=0.5, odds=odds), joint)
    assert not np.array_equal(mapped(method="joint", strength=0.5, beta_low=1), joint)
    assert not np.array_equal(mapped(method="joint", strength=0.5, odds=1), joint)


@pytest.mark.parametrize("method", METHODS)
def test_odds_are_the_beta_of_the_map(data: Synthetic, method: str) -> None:
    def mapped(**parameters: Any) -> Any:
        return make(method=method, **parameters).fit_transform(data.X, labels=data.known)

    beta = formulas.beta_from_odds((data.known == "orange").astype(int), 5.0).item()
    np.testing.assert_array_equal(mapped(odds=5), mapped(beta_low=beta))
    np.testing.assert_array_equal(mapped(odds=1), mapped(beta_low=1))
    equal = mapped(odds={"blue": 5, "orange": 5.0})
    np.testing.assert_array_equal(equal, mapped(odds=5))
    assert not np.array_equal(equal, mapped(odds={"blue": 5, "orange": 1}))
    assert not np.array_equal(equal, mapped(odds=1))


def test_defaults_of_the_methods(data: Synthetic) -> None:
    defaults = {
        "joint": {"strength": 0.7},
        "balanced": {"strength": 1.0},
        "revised": {"beta": 1e-4},
        "original": {"beta": 0.1},
        "tsne": {},
    }
    for method, given in defaults.items():
        model = make(method=method).fit(data.X, labels=data.known)
        assert model.strength is None and model.beta is None
        expected = make(method=method, **given).fit(data.X, labels=data.known)
        np.testing.assert_array_equal(model.embedding_, expected.embedding_)
        assert model.strength_ == given.get("strength") and model.beta_ == given.get("beta")
    default = make().fit_transform(data.X, labels=data.known)
    joint = make(method="joint", strength=0.7).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(default, joint)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1, 3])
def test_dimensions_and_degrees_of_freedom(data: Synthetic, n_components: int, dof: float) -> None:
    losses = []
    model = make(
        n_components=n_components,
        dof=dof,
        perplexity=30,
        n_iter=120,
        callback_every=20,
        callback=lambda _, loss, __: losses.append(loss),
    ).fit(data.X, labels=data.known)
    assert model.embedding_.shape == (300, n_components)
    assert len(model.get_feature_names_out()) == n_components
    P = model.affinities_.toarray()
    codes = (data.known == "orange").astype(int)
    weights = formulas.low_weights(codes, formulas.beta_from_odds(codes, formulas.joint_odds(0.7)))
    expected = formulas.kl_divergence(P, model.embedding_, weights=weights, dof=dof)
    assert model.kl_divergence_ == pytest.approx(expected, rel=1e-3)
    assert model.kl_divergence_ < losses[1]


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({}, None),
        ({"method": "revised", "beta": 1e-3}, None),
        ({"mixing": 0.5}, None),
        ({"strength": 0.8}, "one"),
        ({"method": "original", "odds": 3}, "two"),  # odds replaces beta
        ({"method": "tsne"}, "two"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_strength_is_reported_where_it_was_not_used(
    data: Synthetic, parameters: dict[str, Any], labels: str | None
) -> None:
    known = {None: None, "one": ["a"] * 300, "two": data.known}[labels]
    model = make(**parameters).fit(data.X, labels=known)
    assert model.strength_ is None and model.beta_ is None and model.mixing_ is None


@pytest.mark.parametrize(
    "parameters", [{"method": "original", "beta": 1e-300}, {"beta_low": 1e-50}]
)
def test_labels_that_nobody_shares_condition_nothing_in_the_map(parameters: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))  # of more points, these are identifiers
    settings = {"method": "tsne", "perplexity": 5, "n_iter": 30, "random_state": 0}
    plain = ConditionalTSNE(**settings).fit_transform(X)
    map_now = ConditionalTSNE(**(settings | parameters)).fit_transform(X, labels=np.arange(20))
    np.testing.assert_allclose(map_now, plain, atol=1e-4)


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("strength", {"method": "revised", "strength": 0.5}),
        ("beta", {"method": "joint", "beta": 1e-8}),
        ("beta", {"method": "tsne", "beta": {"a": 0.5, "b": 0.1}}),
        ("beta", {"method": "original", "beta": 0.5, "odds": 3}),
        ("beta", {"method": "original", "beta": 0.5, "beta_low": 0.1}),
    ],
)
def test_a_parameter_without_effect_is_named(parameter: str, given: dict[str, Any]) -> None:
    model = make(perplexity=5, n_iter=2, early_exaggeration_iter=1, **given)
    with pytest.warns(UserWarning, match=f"{parameter}=.* has no effect with method"):
        model.fit(np.eye(20), labels=["a", "b"] * 10)
