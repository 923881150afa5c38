"""Warnings name the line of whoever called, by whichever way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anndata
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ctsne import ConditionalTSNE, tl
from ctsne._core.messages import value_text
from ctsne.datasets import make_synthetic
from ctsne.sweep import sweep

DATA = make_synthetic(60, random_state=0)
QUICK: dict[str, Any] = {"perplexity": 5, "n_iter": 10, "early_exaggeration_iter": 0}
MODEL = ConditionalTSNE(**QUICK, random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: MODEL.fit(DATA.X),
        lambda: MODEL.fit_transform(DATA.X),
        lambda: make_pipeline(MODEL).fit_transform(DATA.X),
        lambda: tl.ctsne(anndata.AnnData(DATA.X), None, **QUICK),
        lambda: sweep(DATA.X, ["a"] * 60, {"strength": [1]}, estimator=MODEL, progress=False),
    ],
    ids=["fit", "fit_transform", "pipeline", "tl", "sweep"],
)
def test_they_point_at_the_callers_line(call: Callable[[], object]) -> None:
    with pytest.warns(UserWarning, match="label") as caught:
        call()
    assert {each.filename for each in caught} == {__file__}


def test_those_of_the_search_and_of_lonely_points_do_too() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 3)), np.repeat(["a", "b"], 100)
    X[:25] += 50  # points without counterparts, and little to factor out elsewhere
    model = ConditionalTSNE(**{**QUICK, "n_iter": 60}, mixing=0.1, random_state=0)
    with pytest.warns(UserWarning, match="counterpart|reached") as caught:
        model.fit_transform(X, labels=labels)
    messages = [str(each.message) for each in caught]
    assert any("no counterpart" in message for message in messages)
    assert any("was not reached" in message for message in messages)
    assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.25), "0.25"),
        (1e-4, "0.0001"),
        (30, "30"),
        (True, "True"),
        ("auto", "auto"),
        ({"a": 0.1, "b": 1}, "a=0.1, b=1"),
        (np.ones((3, 2)), "array of shape (3, 2)"),
    ],
)
def test_values_in_a_few_characters(value: Any, text: str) -> None:
    assert value_text(value) == text
