"""Several columns of ``adata.obs`` factored out, measured and swept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pytest

from ctsne import ConditionalTSNE, tl
from ctsne.evaluate import mixing

QUICK: dict[str, Any] = {"perplexity": 8, "n_iter": 50}
STRENGTH = {"phase": 0.4, "half": 0.8}


@pytest.fixture
def cells(small: Any) -> Any:
    small.obs["half"] = np.where(np.arange(small.n_obs) % 2, "odd", "even")
    return small


def test_the_map_is_that_of_the_estimator(cells: Any, tmp_path: Path) -> None:
    tl.ctsne(cells, ["phase", "half"], strength=STRENGTH, **QUICK)
    model = ConditionalTSNE(strength=STRENGTH, random_state=0, **QUICK)
    X = np.asarray(cells.X[:, cells.var["highly_variable"]])
    model.fit(X, labels=cells.obs[["phase", "half"]])
    np.testing.assert_array_equal(cells.obsm["X_ctsne"], model.embedding_)
    frame = cells.obs[["phase", "half"]]
    tl.ctsne(cells, frame, strength=STRENGTH, key_added="frame", **QUICK)
    np.testing.assert_array_equal(cells.obsm["X_frame"], model.embedding_)
    assert "labels" not in cells.uns["frame"]["params"]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    params = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["ctsne"]["params"]
    assert list(params["labels"]) == ["phase", "half"]
    assert json.loads(params["strength"]) == STRENGTH


def test_columns_of_one_name_are_not_joined(cells: Any) -> None:
    cells.obs = cells.obs.rename(columns={"half": "phase"})
    for labels in ("phase", ["phase", "n_counts"]):
        with pytest.raises(ValueError, match="several columns named 'phase'; rename them"):
            tl.ctsne(cells, labels, **QUICK)


@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
def test_the_values_found_are_kept_by_column(cells: Any) -> None:
    tl.ctsne(cells, ["phase", "half"], mixing={"phase": 0.6, "half": 0.9}, **QUICK)
    found = cells.uns["ctsne"]["results"]
    assert list(json.loads(found["strength"])) == ["phase", "half"]
    for name, value in json.loads(found["mixing"]).items():
        assert value == mixing(cells.obsm["X_ctsne"], cells.obs[name])


def test_measured_by_column_as_it_was_made(cells: Any) -> None:
    tl.ctsne(cells, ["phase", "half"], **QUICK)
    table = tl.evaluate(cells, k=10)
    labels = set(table.loc[table["measure"] == "mixing", "label"])
    assert labels == {"phase", "half", "phase | half"}
    named = tl.evaluate(cells, ["phase", "half"], k=10)
    assert table.equals(named)


def test_swept_by_column(cells: Any) -> None:
    estimator = ConditionalTSNE(random_state=0, **QUICK)
    grid = {"method": "joint", "strength": {"phase": [0.2, 0.8], "half": [0.5]}}
    result = tl.sweep(cells, ["phase", "half"], grid, estimator=estimator, progress=False)
    assert len(result.maps) == 2 and all("mixing (half)" in swept.measures for swept in result.maps)
    best = result.best(mixing={"phase": 0, "half": 0})
    tl.ctsne(cells, ["phase", "half"], **QUICK, **best.parameters)


@pytest.mark.parametrize(
    ("labels", "parameters", "message"),
    [
        (["phase", "phase"], {}, "labels names the column 'phase' twice"),
        (["phase", "hlaf"], {}, "labels: no column 'hlaf'.*did you mean 'half'"),
        (["phase", "half"], {"strength": {"phase": 1}}, "every label column.*'half'"),
        ({"phase": ["a", "b"], "half": ["a", "b"]}, {}, "one entry for each of the"),
    ],
)
def test_refused_with_nothing_changed(
    labels: Any, parameters: dict[str, Any], message: str, cells: Any
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        tl.ctsne(cells, labels, **QUICK, **parameters)
    assert "X_ctsne" not in cells.obsm and "ctsne" not in cells.uns


def patients(n: int) -> anndata.AnnData:
    """Return a sample of blood cells, stimulated or not, of eight donors."""
    stored = np.load(Path(os.environ["CTSNE_DATA"]) / "ifnb.npz")
    rows = np.random.default_rng(0).permutation(len(stored["X"]))[:n]
    adata = anndata.AnnData(np.zeros((n, 0)), obsm={"X_pca": stored["X"][rows]})
    for name in ("stim", "donor"):
        adata.obs[name] = stored[name][rows]
    return adata


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
@pytest.mark.skipif("CTSNE_DATA" not in os.environ, reason="CTSNE_DATA is unset")
def test_condition_and_donor_of_blood_cells() -> None:
    """Real cells, two nuisance variables: both reach their own mixing."""
    adata = patients(3000)
    wanted = {"stim": 0.7, "donor": 0.96}
    tl.ctsne(adata, ["stim", "donor"], mixing=wanted)
    for name, value in json.loads(adata.uns["ctsne"]["results"]["mixing"]).items():
        assert value == pytest.approx(wanted[name], abs=0.03)
    tl.ctsne(adata, ["stim", "donor"], method="tsne", key_added="plain")
    for name in wanted:
        plain = mixing(adata.obsm["X_plain"], adata.obs[name])
        assert mixing(adata.obsm["X_ctsne"], adata.obs[name]) > plain
