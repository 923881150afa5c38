"""The table and the sweep of an AnnData object are those of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from numpy.testing import assert_array_equal
from scipy import sparse

import ctsne
from ctsne import ConditionalTSNE
from ctsne.evaluate import evaluate, standard_measures
from ctsne.sweep import sweep

from .conftest import QUICK

GRID = {"method": "joint", "strength": [0, 1]}


def test_names_and_arrays_give_the_same_table(blood: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    before = set(blood.uns)
    table = ctsne.tl.evaluate(blood, "phase", other="bulk_labels", k=10, sample=0.5)
    expected = evaluate(
        blood.obsm["X_ctsne"],
        blood.obsm["X_pca"],
        blood.obs["phase"],
        other=blood.obs["bulk_labels"],
        k=10,
        align="local",
        sample=0.5,
    )
    pd.testing.assert_frame_equal(table, expected)
    assert set(table["label"].dropna()) == {"phase", "bulk_labels"}
    assert set(blood.uns) == before
    by_default = ctsne.tl.evaluate(blood, other="bulk_labels", k=10, sample=0.5)
    pd.testing.assert_frame_equal(by_default, expected)  # the label that was factored out
    unadjusted = ctsne.tl.evaluate(blood, basis="umap", k=10)
    assert "adjusted_rnx" not in set(unadjusted["measure"])
    del blood.obs["phase"]
    assert "adjusted_rnx" not in set(ctsne.tl.evaluate(blood, k=10)["measure"])


def test_a_layer(blood: Any) -> None:
    blood.layers["shifted"] = np.asarray(blood.X) ** 2
    ctsne.tl.ctsne(blood, "phase", layer="shifted", n_pcs=5, **QUICK)
    assert blood.uns["ctsne"]["params"]["layer"] == "shifted"
    data = blood.layers["shifted"]
    known = blood.obs["phase"]
    expected = evaluate(blood.obsm["X_ctsne"], data, known, k=10, pca=5, align="local")
    pd.testing.assert_frame_equal(ctsne.tl.evaluate(blood, k=10), expected)
    given = ctsne.tl.evaluate(blood, layer="shifted", n_pcs=5, k=10)
    pd.testing.assert_frame_equal(given, expected)
    with pytest.raises(ValueError, match="use_rep and layer both"):
        ctsne.tl.sweep(blood, "phase", use_rep="X", layer="shifted")


def rnx(table: pd.DataFrame) -> float:
    return float(table.set_index("measure")["value"]["adjusted_rnx"])


@pytest.mark.slow
@pytest.mark.parametrize("stored", [True, False])
def test_standard_measures_of_map_and_graph(blood: Any, stored: bool) -> None:
    pytest.importorskip("scib_metrics")
    sc.pp.neighbors(blood, n_neighbors=40)
    graph = {} if stored else {"neighbors_key": "neighbors"}
    ctsne.tl.ctsne(blood, "phase", store_graph=stored, **graph, **{**QUICK, "perplexity": 10})
    table = ctsne.tl.evaluate(blood, other="bulk_labels", standard=True).set_index("measure")
    distances = blood.obsp["ctsne_distances" if stored else "distances"]
    found = [blood.obs[name] for name in ("phase", "bulk_labels")]
    for column, data in (("value", blood.obsm["X_ctsne"]), ("graph", distances)):
        expected = standard_measures(data, *found)
        for name in ("clisi", "graph_connectivity", "bio_conservation"):
            value = table.loc[f"scib_{name}", column]
            assert value == pytest.approx(expected[name], nan_ok=True)
    if stored:
        return
    plain = ctsne.tl.evaluate(blood, "phase", other="bulk_labels", basis="umap", standard=True)
    assert "graph" not in plain.columns


@pytest.mark.filterwarnings("ignore:.* have no counterpart")
@pytest.mark.parametrize("options", [{"use_rep": "X"}, {"n_pcs": 3}, {"use_rep": "X_umap"}])
def test_a_map_is_compared_with_what_it_was_made_of(blood: Any, options: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", **options, **QUICK)
    data = {"X": blood.X, "X_umap": blood.obsm["X_umap"]}.get(
        options.get("use_rep"), blood.obsm["X_pca"][:, :3]
    )
    Y = blood.obsm["X_ctsne"]
    table = ctsne.tl.evaluate(blood, "phase", k=10)
    assert rnx(table) == rnx(evaluate(Y, data, blood.obs["phase"], k=10))
    given = ctsne.tl.evaluate(blood, "phase", use_rep="X_pca", k=10)
    assert rnx(given) == rnx(evaluate(Y, blood.obsm["X_pca"], blood.obs["phase"], k=10))
    # The map of another tool is compared with the default features.
    other = ctsne.tl.evaluate(blood, "phase", basis="X_umap", k=10)
    expected = evaluate(blood.obsm["X_umap"], blood.obsm["X_pca"], blood.obs["phase"], k=10)
    assert rnx(other) == rnx(expected)


def test_map_of_a_graph_is_compared_with_what_the_graph_was_made_of(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=12, n_pcs=5, use_rep="X_pca", method="gauss")
    with pytest.warns(UserWarning, match="no neighbour with another phase"):
        ctsne.tl.ctsne(blood, "phase", neighbors_key="neighbors", **QUICK)
    table = ctsne.tl.evaluate(blood, "phase", k=10)
    data = blood.obsm["X_pca"][:, :5]
    assert rnx(table) == rnx(evaluate(blood.obsm["X_ctsne"], data, blood.obs["phase"], k=10))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_map_is_compared_as_the_estimator_saw_the_data(small: Any, kind: Any) -> None:
    small.X = kind(np.abs(small.X))
    small.var["highly_variable"] = np.arange(small.n_vars) % 5 == 0
    genes = small.X[:, ::5]
    cases: dict[str, Any] = {
        "plain": ({}, genes, {}),
        "few": ({"n_pcs": 4}, genes, {"pca": 4}),
        "raw": ({"n_pcs": 0}, small.X, {"pca": None}),
        "angles": ({"metric": "cosine", "n_pcs": 0}, small.X, {"pca": None, "metric": "cosine"}),
        "aligned": ({"align": "mean"}, genes, {"align": "mean"}),
    }
    for name, (options, _, _) in cases.items():
        ctsne.tl.ctsne(small, "phase", key_added=name, **options, **QUICK)
    small.obsm["X_pca"] = np.zeros((100, 2))  # added after the maps were made
    for name, (_, data, made_with) in cases.items():
        table = ctsne.tl.evaluate(small, "phase", basis=name, k=10)
        made_with = {"align": "local", **made_with}
        expected = evaluate(small.obsm[f"X_{name}"], data, small.obs["phase"], k=10, **made_with)
        pd.testing.assert_frame_equal(table, expected)
    given = ctsne.tl.evaluate(small, "phase", basis="plain", use_rep="X", metric="cosine", k=10)
    expected = evaluate(small.obsm["X_plain"], small.X, small.obs["phase"], k=10, metric="cosine")
    assert rnx(given) == rnx(expected)


# Sweeps


def quick() -> ConditionalTSNE:
    return ConditionalTSNE(perplexity=3, n_iter=30, random_state=0)


def test_names_and_arrays_give_the_same_sweep(blood: Any) -> None:
    options: dict[str, Any] = {"estimator": quick(), "progress": False, "k": 10}
    result = ctsne.tl.sweep(blood, "phase", GRID, other="louvain", n_pcs=8, **options)
    expected = sweep(
        blood.obsm["X_pca"][:, :8], blood.obs["phase"], GRID, other=blood.obs["louvain"], **options
    )
    assert result.maps[0].parameters == expected.maps[0].parameters
    assert_array_equal(result.maps[1].embedding, expected.maps[1].embedding)
    assert result.maps[1].measures == expected.maps[1].measures
    assert "other_mixing" in result.maps[1].measures


def test_components_are_made_by_the_estimator(small: Any) -> None:
    options: dict[str, Any] = {"progress": False, "k": 10}
    result = ctsne.tl.sweep(small, "phase", GRID, n_pcs=20, estimator=quick(), **options)
    model = quick().set_params(pca=20)
    genes = small.X[:, small.var["highly_variable"].to_numpy()]
    expected = sweep(genes, small.obs["phase"], GRID, estimator=model, **options)
    assert_array_equal(result.maps[1].embedding, expected.maps[1].embedding)
    assert result.maps[1].measures == expected.maps[1].measures
    assert set(small.obsm) == {"X_umap"} and not small.varm


def test_sweep_of_a_view_of_a_file(backed: Any) -> None:
    view = backed[:60]
    result = ctsne.tl.sweep(view, "phase", GRID, estimator=quick(), progress=False)
    assert result.maps[0].embedding.shape == (60, 2)


def test_refuses_and_leaves_the_object_as_it_was(blood: Any) -> None:
    before = repr(blood)
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("no map 'ctsne' in adata.obsm.*ctsne.tl.ctsne", ctsne.tl.evaluate, {}),
        ("no map 'umpa' .*did you mean", ctsne.tl.evaluate, {"basis": "umpa"}),
        ("labels: no column 'pase'", ctsne.tl.evaluate, {"labels": "pase", "basis": "umap"}),
        ("other: no column 'kind'", ctsne.tl.evaluate, {"other": "kind", "basis": "umap"}),
        ("k must be at most 698", ctsne.tl.evaluate, {"k": 1000, "basis": "umap"}),
        ("basis must be the name", ctsne.tl.evaluate, {"basis": blood.obsm["X_umap"]}),
        ("grid names 'strenght'", ctsne.tl.sweep, {"grid": {"strenght": [1]}}),
        ("labels: no column 'phse'", ctsne.tl.sweep, {"labels": "phse"}),
    ]
    for message, call, arguments in calls:
        with pytest.raises((TypeError, ValueError), match=message):
            call(blood, **{"labels": "phase", **arguments})
        with pytest.raises(TypeError, match="adata must be an AnnData object, got ndarray"):
            call(blood.X, "phase")
    assert repr(blood) == before
