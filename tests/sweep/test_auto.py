from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.evaluate import expected_laplacian, laplacian
from ctsne.sweep import auto, sweep

DATA = make_synthetic(240, random_state=0)
COMMON: dict[str, Any] = {"perplexity": 12, "n_iter": 200, "random_state": 0}


@pytest.mark.parametrize(
    ("method", "name"),
    [("revised", "beta"), ("balanced", "strength"), ("joint", "strength")],
)
def test_takes_the_choice_of_the_sweep(method: str, name: str) -> None:
    model = ConditionalTSNE(method=method, mixing=0.4, **COMMON, **{name: "auto"})
    embedding = model.fit_transform(DATA.X, labels=DATA.known)
    fixed = ConditionalTSNE(method=method, **COMMON)
    result = sweep(DATA.X, DATA.known, estimator=fixed, path=True, progress=False)
    chosen = result.best(0.4).parameters[name]
    assert getattr(model, name) == "auto"
    # Stronger ones than that were not tried on the path.
    assert model.sweep_.maps[-1].parameters[name] == chosen
    assert len(model.sweep_.maps) < len(result.maps)
    # It is taken if a map of its own reaches the share, else the next one that does.
    strengths = [swept.parameters[name] for swept in result.maps]
    taken = getattr(model, f"{name}_")
    for value in strengths[strengths.index(chosen) :]:
        made = fixed.set_params(**{name: value}).fit_transform(DATA.X, labels=DATA.known)
        mixing = laplacian(made, DATA.known, k=30) / expected_laplacian(DATA.known)
        if mixing >= 0.4:
            break
    assert taken == value
    assert model.mixing_ == pytest.approx(mixing, abs=1e-12)
    assert np.array_equal(embedding, made)


def test_a_number_is_left_alone() -> None:
    model = ConditionalTSNE(beta=0.1, **COMMON).fit(DATA.X, labels=DATA.known)
    assert model.beta_ == 0.1
    assert model.sweep_ is None
    assert model.mixing_ is None


def test_goes_as_far_as_it_can_with_a_warning() -> None:
    model = ConditionalTSNE(beta="auto", mixing=1.0, **COMMON)
    # Random labels would be mixed so; a label that is one half of the data cannot.
    labels = np.arange(240) < 120
    X = DATA.X + 1e6 * labels[:, None]
    with pytest.warns(UserWarning, match=r"no beta was found .* beta=.* is taken, with 0\.\d\d"):
        model.fit(X, labels=labels)
    most = max(swept.measures["mixing"] for swept in model.sweep_.maps)
    weakest = next(m for m in model.sweep_.maps if m.measures["mixing"] >= 0.95 * most)
    assert model.beta_ == weakest.parameters["beta"]


def test_is_as_if_the_strength_had_been_given() -> None:
    state = np.random.RandomState(0)
    model = ConditionalTSNE(**{**COMMON, "beta": "auto", "init": "random", "random_state": state})
    model.fit(DATA.X, labels=DATA.known)
    fixed = ConditionalTSNE(**{**model.get_params(), "beta": model.beta_})
    other = np.random.RandomState(0)
    fixed.set_params(random_state=other).fit(DATA.X, labels=DATA.known)
    assert np.array_equal(model.embedding_, fixed.embedding_)
    assert state.randint(10**6) == other.randint(10**6)


def test_labels_that_hardly_any_point_has() -> None:
    labels = [None] * 240
    labels[0], labels[-1] = "a", "b"
    with pytest.warns(UserWarning, match="cannot be measured.*beta=1 is taken"):
        model = ConditionalTSNE(beta="auto", **COMMON).fit(DATA.X, labels=labels)
    assert model.beta_ == 1


def test_a_path_that_mixes_more_than_maps_of_their_own() -> None:
    model = ConditionalTSNE(method="original", beta="auto", mixing=0.4, **COMMON)
    with pytest.warns(UserWarning, match=r"no beta was found .* is taken, with 0\.\d\d"):
        model.fit(DATA.X, labels=DATA.known)
    assert model.sweep_.maps[-1].measures["mixing"] >= 0.4
    mixing = laplacian(model.embedding_, DATA.known, k=30) / expected_laplacian(DATA.known)
    assert model.mixing_ == pytest.approx(mixing, abs=1e-12)
    assert mixing < 0.4


def test_without_labels_there_is_nothing_to_choose() -> None:
    with pytest.warns(UserWarning, match="t-SNE"):
        model = ConditionalTSNE(beta="auto", **COMMON).fit(DATA.X)
    assert model.sweep_ is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": "automatic"}, 'beta must be .* or "auto"'),
        ({"strength": "auto"}, 'use beta="auto"'),
        ({"method": "joint", "beta": "auto"}, 'use strength="auto"'),
        ({"method": "tsne", "beta": "auto"}, "conditions nothing"),
        ({"beta": "auto", "mixing": 2}, "mixing must be"),
        ({"method": "original", "beta": "auto", "beta_low": 0.5}, "leave beta_low out"),
        ({"method": "orignal", "beta": "auto"}, "method must be one of"),
        ({"beta": "auto", "perplexity": 1000}, "perplexity"),
        ({"mixing": "much"}, "mixing must be"),
    ],
)
def test_refuses_before_any_work(
    parameters: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "run_sweep", lambda *_, **__: pytest.fail("work was started"))
    with pytest.raises((TypeError, ValueError), match=message):
        ConditionalTSNE(**parameters).fit(DATA.X, labels=DATA.known)


def test_ctrl_c_during_the_choice_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctsne.sweep import work

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "_make", interrupted)
    model = ConditionalTSNE(beta="auto", **COMMON)
    with pytest.raises(KeyboardInterrupt):
        model.fit(DATA.X, labels=DATA.known)
    assert not hasattr(model, "embedding_")
