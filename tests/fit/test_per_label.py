"""Numbers per column and label, for one label column and for several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

import ctsne
from ctsne import ConditionalTSNE

RNG = np.random.default_rng(0)
N = 150
DONOR = RNG.choice(["d0", "d1", "d2"], N)
BATCH = RNG.choice(["a", "b"], N)
BOTH = {"donor": DONOR, "batch": BATCH}
X = RNG.normal(size=(N, 6)).astype(np.float32)
X[:, 0] += 3 * np.unique(DONOR, return_inverse=True)[1]
X[:, 1] += 2 * (BATCH == "b")
STRENGTH = {"donor": {"d0": 0.1, "d1": 0.5, "d2": 0.9}, "batch": 0.5}


def fitted(labels: Any = None, **parameters: Any) -> ConditionalTSNE:
    model = ConditionalTSNE(**{"perplexity": 10, "n_iter": 40, "random_state": 0, **parameters})
    return model.fit(X, labels=BOTH if labels is None else labels)


@pytest.mark.parametrize("method", ["joint", "balanced"])
def test_a_stronger_label_has_more_weight_on_others(method: str) -> None:
    shares = []
    for value in (0.1, 0.5, 0.9):
        given = {**STRENGTH, "donor": {"d0": 0.5, "d1": 0.5, "d2": value}}
        model = fitted(method=method, strength=given)
        found = model.diagnostics_.column_shares["donor"]
        shares.append([found[label == DONOR].mean() for label in ("d0", "d1", "d2")])
    assert shares[0][2] + 0.05 < shares[1][2] < shares[2][2] - 0.05
    np.testing.assert_allclose(shares[0][:2], shares[2][:2], atol=0.02)


@pytest.mark.parametrize(
    ("method", "knob", "value"),
    [
        ("joint", "strength", 0.5),
        ("balanced", "strength", 0.5),
        ("revised", "beta", 0.1),
        ("original", "beta", 0.3),
        ("joint", "odds", 3.0),
        ("tsne", "beta_low", 0.5),
    ],
)
def test_equal_numbers_are_one_number(method: str, knob: str, value: float) -> None:
    each = {"donor": dict.fromkeys(("d0", "d1", "d2"), value), "batch": {"a": value, "b": value}}
    one, many = (fitted(method=method, **{knob: given}) for given in (value, each))
    np.testing.assert_array_equal(one.embedding_, many.embedding_)
    # A single column takes them by label, or by its name and label.
    column = each["donor"]
    one, by_label, by_name = (
        fitted({"donor": DONOR}, method=method, **{knob: given})
        for given in (value, column, {"donor": column})
    )
    np.testing.assert_array_equal(one.embedding_, by_label.embedding_)
    np.testing.assert_array_equal(one.embedding_, by_name.embedding_)


def test_they_are_kept_with_the_map(tmp_path: Path) -> None:
    model = fitted(strength=STRENGTH)
    model.save(tmp_path / "model.ctsne")
    again = ctsne.load(tmp_path / "model.ctsne")
    assert again.strength_ == again.strength == STRENGTH
    new = {name: column[:20] for name, column in BOTH.items()}
    np.testing.assert_array_equal(again.transform(X[:20], new), model.transform(X[:20], new))
    adata = anndata.AnnData(X, obs=pd.DataFrame(BOTH, index=[str(i) for i in range(N)]))
    ctsne.tl.ctsne(adata, ["donor", "batch"], strength=STRENGTH, use_rep="X", n_iter=5)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["ctsne"]["params"]["strength"]
    assert json.loads(stored) == {"donor": {"d0": 0.1, "d1": 0.5, "d2": 0.9}, "batch": 0.5}


@pytest.mark.filterwarnings("ignore:.*too few points:UserWarning")
def test_new_labels_of_an_extended_map_have_the_mean() -> None:
    model = fitted(strength=STRENGTH)
    model.extend(X[:9], {"donor": ["d9"] * 9, "batch": BATCH[:9]}, n_iter=2)
    assert model.strength_["donor"]["d9"] == pytest.approx(0.5)
    assert model.strength == model.strength_


@pytest.mark.parametrize(
    ("strength", "named"),
    [
        ({"donor": {"d0": 0.2}, "batch": 0.5}, "'d1', 'd2'"),
        ({"donor": {"d0": 0.2, "d1": 0.5, "dx": 0.9}, "batch": 0.5}, "'dx'"),
        ({"donor": {"d0": 2, "d1": 0.5, "d2": 0.9}, "batch": 0.5}, r"\['donor'\]\['d0'\]"),
        ({"donor": 0.5}, "'batch'"),
        ({"d0": 0.1}, "'d0'"),
    ],
)
def test_numbers_that_do_not_fit_are_named(strength: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        fitted(strength=strength)
