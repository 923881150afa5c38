"""Warnings name the line of whoever called, by whichever way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anndata
import pytest
from sklearn.pipeline import make_pipeline

from ctsne import ConditionalTSNE, tl
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
        lambda: sweep(DATA.X, ["a"] * 60, {"beta": [1]}, estimator=MODEL, progress=False),
    ],
    ids=["fit", "fit_transform", "pipeline", "tl", "sweep"],
)
def test_they_point_at_the_callers_line(call: Callable[[], object]) -> None:
    with pytest.warns(UserWarning, match="label") as caught:
        call()
    assert {each.filename for each in caught} == {__file__}
