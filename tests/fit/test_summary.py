from __future__ import annotations

import copy
import warnings

import pytest
import sklearn

from ctsne import ConditionalTSNE
from ctsne.fit.summary import fitted_html

from ..markup import DATA, HOSTILE, LABELS, make, read


@pytest.fixture(scope="module")
def fitted() -> ConditionalTSNE:
    return make(method="joint", strength=0.5).fit(DATA.X, labels=DATA.known)


def test_a_fitted_model_says_how_it_came_out(fitted: ConditionalTSNE) -> None:
    text = read(fitted_html(fitted)).text
    assert "240 points in two dimensions" in text
    assert "joint, strength 0.5" in text
    assert fitted.labels_.describe() in text
    assert f"40 iterations, KL divergence {fitted.kl_divergence_:.4f}" in text
    assert f"{fitted.diagnostics_.other_share.mean():.0%} of a point's weight" in text
    assert "reached by all points" in text and "no points have a neighbour" in text
    model = copy.deepcopy(fitted)
    model.diagnostics_.reached[:7] = False
    model.diagnostics_.largest_weight[:3] = 0.6
    text = read(fitted_html(model)).text
    assert "not reached by 7 of 240 points" in text
    assert "3 of 240 points have a neighbour with more than half" in text


def test_what_conditions_the_map_is_named() -> None:
    text = read(fitted_html(make(method="tsne").fit(DATA.X, labels=DATA.known))).text
    assert "nothing is factored out" in text and "other labels" not in text
    model = make(method="original", beta_low=0.1).fit(DATA.X, labels=DATA.known)
    text = read(fitted_html(model)).text
    assert "original, beta_low 0.1" in text and "other labels" not in text


def test_a_model_shows_diagram_facts_and_page_once_it_is_fitted(fitted: ConditionalTSNE) -> None:
    unfitted = make()
    assert fitted_html(unfitted) == ""
    assert "sk-container" in unfitted._repr_html_() and "<iframe" not in unfitted._repr_html_()
    for markup in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "sk-container" in markup and markup.count(fitted_html(fitted)) == 1
        assert markup.startswith("<iframe srcdoc=") and markup.count("<iframe") == 1
    assert fitted._repr_mimebundle_()["text/plain"] == repr(fitted)
    with sklearn.config_context(display="text"):
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(fitted, "_repr_html_")
    solid = make(method="joint", n_components=3).fit(DATA.X, labels=DATA.known)
    assert "<iframe" not in solid._repr_html_() and "three dimensions" in solid._repr_html_()


def test_a_chosen_strength_is_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # so few iterations may not get there
        model = make(method="joint", mixing=0.2).fit(DATA.X, labels=DATA.known)
    text = read(fitted_html(model)).text
    assert f"joint, strength {model.strength_:g} (found for mixing 0.2)" in text
    assert f"mixing{model.mixing_:.2f} of random" in text


def test_hostile_labels_are_text() -> None:
    model = make(method="revised", beta=dict.fromkeys(HOSTILE, 0.1)).fit(DATA.X, labels=LABELS)
    reader = read(fitted_html(model))
    assert {tag for tag, _ in reader.elements}.isdisjoint({"script", "img", "b"})
    assert not any(name.startswith("on") for _, attrs in reader.elements for name in attrs)
    assert HOSTILE[0] in reader.text
    assert HOSTILE[0] not in model._repr_html_()


def test_several_columns_have_a_line_each() -> None:
    labels = {"colour": DATA.known, HOSTILE: DATA.hidden}
    strength = {"colour": 0.5, HOSTILE: 0.25}
    model = make(method="joint", strength=strength).fit(DATA.X, labels=labels)
    page = read(fitted_html(model))
    assert "label colour" in page.text and f"label {HOSTILE}" in page.text
    assert f"{model.labels_.columns[0].describe()}; strength 0.5" in page.text
    assert "strength 0.25" in page.text and "other labels" in page.text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = make(mixing=0.5, n_iter=20).fit(DATA.X, labels=labels)
    text = read(fitted_html(found)).text
    assert f"mixing {found.mixing_['colour']:.2f} of random" in text
    assert "found for mixing 0.5" in text


def test_columns_without_effect() -> None:
    labels = {"colour": DATA.known, "shape": DATA.hidden}
    text = read(fitted_html(make(method="tsne").fit(DATA.X, labels=labels))).text
    assert "nothing is factored out" in text and "label shape" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = ["same"] * len(DATA.X)
        model = make().fit(DATA.X, labels={"colour": DATA.known, "same": same})
        none = make().fit(DATA.X, labels={"one": same, "two": same})
    assert "label same" in read(fitted_html(model)).text
    assert "nothing is factored out" in read(fitted_html(none)).text
