"""The fields of AnnData: representations, components and graphs read, graphs written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import ctsne
from ctsne import ConditionalTSNE
from ctsne.affinity.result import symmetric_matrix
from ctsne.cli.main import main
from ctsne.datasets import make_synthetic
from ctsne.io import read_map
from ctsne.tl import fields

from .conftest import QUICK, estimated


@pytest.mark.parametrize(
    ("options", "expected", "params"),
    [
        ({}, lambda a: a.obsm["X_pca"], {"use_rep": "X_pca"}),
        ({"n_pcs": 7}, lambda a: a.obsm["X_pca"][:, :7], {"use_rep": "X_pca", "n_pcs": 7}),
        ({"n_pcs": 0}, lambda a: a.X, {"use_rep": "X"}),
        ({"use_rep": "X"}, lambda a: a.X, {"use_rep": "X"}),
        ({"use_rep": "X_umap"}, lambda a: a.obsm["X_umap"], {"use_rep": "X_umap"}),
        (
            {"use_rep": "table", "n_pcs": 2},
            lambda a: a.obsm["table"].to_numpy()[:, :2],
            {"use_rep": "table", "n_pcs": 2},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
def test_representation(blood: Any, options: Any, expected: Any, params: Any) -> None:
    table = pd.DataFrame(blood.obsm["X_pca"][:, :3], index=blood.obs_names, columns=list("abc"))
    blood.obsm["table"] = table
    ctsne.tl.ctsne(blood, "phase", **options, **QUICK)
    pca = {"pca": None} if options.get("n_pcs") == 0 else {}
    assert_array_equal(blood.obsm["X_ctsne"], estimated(expected(blood), blood.obs["phase"], **pca))
    stored = blood.uns["ctsne"]["params"]
    assert {name: stored[name] for name in ("use_rep", "n_pcs") if name in stored} == params


@pytest.mark.parametrize(("n_pcs", "pca"), [(None, "auto"), (12, 12), (0, None)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_components_are_those_of_the_estimator_and_not_stored(
    small: Any, kind: Any, n_pcs: Any, pca: Any
) -> None:
    del small.var["highly_variable"]
    small.X = kind(small.X)
    ctsne.tl.ctsne(small, "phase", n_pcs=n_pcs, **QUICK)
    assert_array_equal(small.obsm["X_ctsne"], estimated(small.X, small.obs["phase"], pca=pca))
    assert set(small.obsm) == {"X_umap", "X_ctsne"} and not small.varm and "pca" not in small.uns
    stored = small.uns["ctsne"]["params"]
    assert stored["use_rep"] == "X" and "n_pcs" not in stored
    assert stored.get("pca") == pca


def test_highly_variable_genes_come_before_all(small: Any) -> None:
    small.var["highly_variable"] = np.arange(small.n_vars) % 3 == 0
    ctsne.tl.ctsne(small, "phase", **QUICK)
    expected = estimated(small.X[:, ::3], small.obs["phase"])
    assert_array_equal(small.obsm["X_ctsne"], expected)
    assert small.uns["ctsne"]["params"]["highly_variable"]
    ctsne.tl.ctsne(small, "phase", use_rep="X", n_pcs=7, key_added="all", **QUICK)
    assert_array_equal(small.obsm["X_all"], estimated(small.X, small.obs["phase"], pca=7))
    assert "highly_variable" not in small.uns["all"]["params"]


def test_more_components_than_the_estimator_would_keep(blood: Any) -> None:
    blood.obsm["wide"] = np.random.default_rng(0).normal(size=(700, 80))
    ctsne.tl.ctsne(blood, "phase", use_rep="wide", n_pcs=70, **QUICK)
    expected = estimated(blood.obsm["wide"][:, :70], blood.obs["phase"], pca=None)
    assert_array_equal(blood.obsm["X_ctsne"], expected)


def test_precomputed_graph_is_that_of_the_estimator(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=40, method="gauss", key_added="wide")
    options = {"method": "joint", "perplexity": 10, "n_iter": 30}
    blood.obs["half"] = np.arange(700) % 2
    ctsne.tl.ctsne(blood, "half", neighbors_key="wide", **options)
    model = ConditionalTSNE(metric="precomputed", init="spectral", random_state=0, **options)
    expected = model.fit_transform(blood.obsp["wide_distances"], labels=blood.obs["half"])
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    params = blood.uns["ctsne"]["params"]
    assert params["neighbors_key"] == "wide" and params["metric"] == "precomputed"
    assert "use_rep" not in params


def balanced_graph(X: Any, labels: Any, k: int) -> Any:
    """Neighbours from each label in turn, as bbknn takes them."""
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    graph = np.zeros_like(distances)
    for label in np.unique(labels):
        among = np.flatnonzero(labels == label)
        nearest = among[np.argsort(distances[:, among], axis=1)[:, :k]]
        np.put_along_axis(graph, nearest, np.take_along_axis(distances, nearest, axis=1), axis=1)
    return sparse.csr_matrix(graph)


@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
def test_graph_without_other_labels_is_pointed_out() -> None:
    data = make_synthetic(150, random_state=0)  # labels lie a wide gap apart
    adata = anndata.AnnData(data.X.astype(np.float32))
    adata.obs["batch"] = data.known
    sc.pp.neighbors(adata, n_neighbors=20, method="gauss", use_rep="X")
    with pytest.warns(UserWarning, match=r"of 150 points have no neighbour with another batch.*bb"):
        ctsne.tl.ctsne(adata, "batch", neighbors_key="neighbors", **QUICK)
    assert adata.obs["ctsne_other_share"].median() == 0
    adata.uns["bbknn"] = {"distances_key": "bbknn_distances", "params": {"method": "umap"}}
    adata.obsp["bbknn_distances"] = balanced_graph(data.X, data.known, 8)
    ctsne.tl.ctsne(adata, "batch", neighbors_key="bbknn", method="joint", **QUICK)
    assert adata.obs["ctsne_other_share"].mean() > 0.2
    # The layout's own conditioning does not look at the graph.
    ctsne.tl.ctsne(adata, "batch", neighbors_key="neighbors", method="original", **QUICK)


def test_the_same_file_gives_the_same_map_by_every_face(small: Any, tmp_path: Path) -> None:
    small.var["highly_variable"] = np.arange(small.n_vars) % 5 == 0
    path = tmp_path / "cells.h5ad"
    for name in ("genes", "components"):
        if name == "components":
            small.obsm["X_pca"] = np.random.default_rng(0).normal(size=(100, 60))
        small.write_h5ad(path)
        arguments = ["--perplexity", "3", "--n-iter", "30", "--seed", "0", "--quiet"]
        command = ["embed", str(path), "--labels", "phase", "-o", str(tmp_path / f"{name}.csv")]
        assert main([*command, *arguments]) == 0
        options = {"perplexity": 3, "n_iter": 30}
        X = small.obsm["X_pca"] if name == "components" else small.X[:, ::5]
        ctsne.tl.ctsne(small, "phase", key_added=name, **options)
        model = ConditionalTSNE(random_state=0, **options)
        assert_array_equal(
            small.obsm[f"X_{name}"], model.fit_transform(X, labels=small.obs["phase"])
        )
        assert_array_equal(read_map(tmp_path / f"{name}.csv").embedding, small.obsm[f"X_{name}"])


def test_scanpy_and_anndata_are_imported_only_when_needed(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys, ctsne.tl; sys.exit('scanpy' in sys.modules or 'anndata' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-P", "-c", code], check=False, timeout=600).returncode == 0
    )
    monkeypatch.setitem(sys.modules, "scanpy", None)
    ctsne.tl.ctsne(small, "phase", **QUICK)
    assert small.obsm["X_ctsne"].shape == (100, 2)


def test_raw_counts_are_reported() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(2, np.exp(rng.normal(-2, 1.6, 80)) / 2, (60, 80)))
    obs = pd.DataFrame({"batch": ["a", "b"] * 30}, index=[f"c{i}" for i in range(60)])
    adata = anndata.AnnData(np.log1p(counts.astype(np.float32)), obs=obs)
    adata.layers["counts"] = counts.astype(np.float32)
    options: Any = {"perplexity": 5, "n_iter": 5, "early_exaggeration_iter": 2}
    ctsne.tl.ctsne(adata, "batch", **options)  # not counts
    with pytest.warns(UserWarning, match=r"\[.counts.\] looks like raw counts.*log1p") as found:
        ctsne.tl.ctsne(adata, "batch", layer="counts", **options)
    assert found[0].filename == __file__
    # The remedy works, although X did not hold the counts.
    other = adata.copy()
    how = str(found[0].message).partition("as sc: ")[2].partition("; then")[0]
    exec(how, {"adata": other, "sc": sc})
    assert_allclose(np.expm1(other.X).sum(axis=1), np.median(counts.sum(axis=1)), rtol=1e-4)
    ctsne.tl.ctsne(other, "batch", **options)
    adata.X = adata.layers["counts"].copy()
    with pytest.warns(UserWarning, match=r"adata\.X looks like raw counts"):
        ctsne.tl.sweep(
            adata,
            "batch",
            {"strength": [1]},
            progress=False,
            estimator=ctsne.ConditionalTSNE(random_state=0, **options),
        )
    adata.obsm["X_pca"] = rng.poisson(2, (60, 4)) * 1.0
    ctsne.tl.ctsne(adata, "batch", **options)


# The conditioned graph as a neighbours entry: what it holds, and that scanpy runs on it

STORED = ("ctsne_connectivities", "ctsne_distances")


def stored(adata: Any, **options: Any) -> Any:
    ctsne.tl.ctsne(adata, "phase", store_graph=True, **{**QUICK, "perplexity": 5, **options})
    return adata


def test_what_is_stored(blood: Any) -> None:
    stored(blood)
    model = ConditionalTSNE(random_state=0, **{**QUICK, "perplexity": 5})
    model.fit(blood.obsm["X_pca"], labels=blood.obs["phase"])
    similar = model.affinities_.toarray().astype(np.float64)
    largest = similar.max(axis=1)
    connectivities = blood.obsp["ctsne_connectivities"]
    assert_allclose(connectivities.toarray(), similar / np.sqrt(np.outer(largest, largest)), 1e-5)
    assert connectivities.dtype == np.float32 and connectivities.max() <= 1
    assert (connectivities != connectivities.T).nnz == 0
    assert connectivities.nnz == model.affinities_.nnz
    # Every cell has its strongest connections as distances.
    distances = blood.obsp["ctsne_distances"]
    assert_array_equal(np.diff(distances.indptr), 5)
    for cell in (0, 99, 699):
        weights = connectivities[[cell]].toarray()[0]
        near = distances[[cell]].toarray()[0]
        assert set(near.nonzero()[0]) == set(np.argsort(-weights, kind="stable")[:5])
        kept = near > 0
        assert_allclose(np.exp((1 - near[kept] ** 2) / 2), weights[kept], 1e-5)
    assert blood.uns["ctsne_neighbors"] == {
        "connectivities_key": "ctsne_connectivities",
        "distances_key": "ctsne_distances",
        "params": {
            "n_neighbors": 6,
            "method": "ctsne",
            "metric": "euclidean",
            "random_state": 0,
            "use_rep": "X_pca",
        },
        "map_key": "ctsne",
    }


@given(n=st.integers(4, 30), length=st.integers(1, 3), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_graphs_in_blocks_are_those_of_the_formulas(n: int, length: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:length] for i in range(n)])
    rows = rng.exponential(size=(n, length)) ** 3
    rows = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    matrix = symmetric_matrix(indices.astype(np.int32), rows, 1)
    largest = np.sqrt(matrix.toarray().max(axis=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "_ENTRIES_AT_ONCE", 7)
        patch.setattr("ctsne.affinity.result._VALUES_AT_ONCE", 7)
        weights = fields.scaled_similarities(matrix)
        distances = fields.strongest_as_distances(weights, k)
    assert_allclose(weights.toarray(), matrix.toarray() / np.outer(largest, largest), 1e-5)
    for found, row in zip(distances.toarray(), weights.toarray(), strict=True):
        order = np.argsort(-row, kind="stable")[: min(k, np.count_nonzero(row))]
        expected = np.zeros(n)
        expected[order] = np.sqrt(1 - 2 * np.log(row[order]))
        assert_allclose(found, expected, 1e-5)


def test_a_later_map_without_a_graph_removes_it(blood: Any) -> None:
    stored(blood, key_added="first")
    stored(blood)
    stored(blood)  # replaces its own
    ctsne.tl.ctsne(blood, "phase", method="tsne", **QUICK)
    assert "ctsne_neighbors" not in blood.uns and not set(STORED) & set(blood.obsp)
    assert "first_neighbors" in blood.uns and "first_distances" in blood.obsp


def test_never_replaces_the_graph_of_another_program(blood: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    sc.pp.neighbors(blood, n_neighbors=5, method="gauss", key_added="ctsne_neighbors")
    with pytest.raises(ValueError, match=r'replace adata.uns\["ctsne_neighbors"\], not written by'):
        stored(blood)
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    assert blood.uns["ctsne_neighbors"]["params"]["method"] == "gauss"
    blood.obsp["other_distances"] = sparse.eye_array(700).tocsr()
    with pytest.raises(ValueError, match=r'replace adata.obsp\["other_distances"\]'):
        stored(blood, key_added="other")
    assert "other" not in blood.obsm


def test_of_a_graph_and_again_of_itself(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=16, method="gauss")
    stored(blood, neighbors_key="neighbors", method="tsne")
    params = blood.uns["ctsne_neighbors"]["params"]
    assert params["metric"] == "euclidean" and "use_rep" not in params
    ctsne.tl.ctsne(
        blood, "phase", neighbors_key="ctsne_neighbors", method="tsne", key_added="again", **QUICK
    )
    assert blood.obsm["X_again"].shape == (700, 2)


@pytest.mark.filterwarnings("ignore")  # of scanpy and what it uses, whatever their versions
def test_scanpy_runs_on_it(blood: Any, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    stored(blood, perplexity=15, method="joint")
    blood.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    key = "ctsne_neighbors"
    sc.tl.leiden(read, neighbors_key=key, flavor="igraph", n_iterations=2, directed=False)
    sc.tl.umap(read, neighbors_key=key, maxiter=20)
    sc.tl.paga(read, groups="leiden", neighbors_key=key)
    sc.tl.diffmap(read, n_comps=5, neighbors_key=key)
    groups = read.obs["leiden"].nunique()
    assert 3 <= groups <= 30 and read.uns["paga"]["connectivities"].shape == (groups, groups)
    assert np.isfinite(read.obsm["X_umap"]).all() and np.isfinite(read.obsm["X_diffmap"]).all()
    # The clusters follow the types, which were not factored out.
    types = [read.obs["bulk_labels"][read.obs["leiden"] == str(group)] for group in range(groups)]
    assert sum(names.value_counts().max() for names in types) > 0.5 * read.n_obs
