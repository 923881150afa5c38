"""Warnings name the line of the caller; unknown names get suggestions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anndata
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ctsne import ConditionalTSNE, tl
from ctsne._core.messages import closest, label_text, quoted, unknown, value_text
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
    assert {warning.filename for warning in caught} == {__file__}


def test_those_of_the_search_and_of_lonely_points_do_too() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 3)), np.repeat(["a", "b"], 100)
    X[:25] += 50  # points without counterparts, and little to factor out elsewhere
    model = ConditionalTSNE(**{**QUICK, "n_iter": 60}, mixing=0.1, random_state=0)
    with pytest.warns(UserWarning, match="counterpart|possible") as caught:
        model.fit_transform(X, labels=labels)
    messages = [str(warning.message) for warning in caught]
    assert any("no counterpart" in message for message in messages)
    assert any("is not possible" in message for message in messages)
    assert {warning.filename for warning in caught} == {__file__}


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


def test_long_lists_stay_readable() -> None:
    text = quoted(f"gene{i}" for i in range(30_000))
    assert text.endswith("... (30000 in all)") and len(text) < 200
    assert len(quoted(["x" * 1000])) < 80
    assert quoted([]) == "(none)"


MANY = [*(f"PC{i}" for i in range(50)), "donor", "cell_type"]


@pytest.mark.parametrize(
    ("wrong", "known", "says"),
    [
        ("BATCH", ["donor", "batch"], "did you mean 'batch'? There are 'donor', 'batch'"),
        ("tech", ["donor", "Tech"], "did you mean 'Tech'? There are 'donor', 'Tech'"),
        ("bacth", ["batch"], "no column 'bacth' in x.csv; did you mean 'batch'?"),
        ("zzz", ["donor", "batch"], "no column 'zzz' in x.csv; there are 'donor', 'batch'"),
        ("z", [], "there are none"),
        ("donor, type", ["donor", "type"], "separate names with spaces, not commas: donor type"),
        ("donor,sex", ["donor", "type"], "did you mean 'donor'? There are 'donor', 'type'"),
        # Labels of a table come before or after its many features.
        ("nothing", MANY, "'donor', 'cell_type' (52 in all)"),
    ],
)
def test_an_unknown_name_gets_suggestions(wrong: str, known: list[str], says: str) -> None:
    assert unknown(wrong, known, what="column", where="x.csv").endswith(says)


def test_both_ends_of_many_names_are_shown() -> None:
    assert "there are 'PC0', 'PC1'" in unknown("nothing", MANY, what="column", where="x.csv")
    assert closest("bacth", ["Batch", "donor"]) == ["Batch"]
    assert [label_text(value) for value in (3.0, 2.5, "x")] == ["3", "2.5", "x"]
