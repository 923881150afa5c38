"""What a map is made of: representations, principal components and graphs."""

from __future__ import annotations

import sys
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from numpy.testing import assert_array_equal
from scipy import sparse

import ctsne
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic

# So few neighbours that every label has enough.
QUICK: dict[str, Any] = {"perplexity": 3, "n_iter": 30, "early_exaggeration_iter": 10}


def estimated(X: Any, labels: Any, **parameters: Any) -> Any:
    return ConditionalTSNE(**{"random_state": 0, **QUICK, **parameters}).fit_transform(
        X, labels=labels
    )


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
@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
def test_representation(blood: Any, options: Any, expected: Any, params: Any) -> None:
    table = pd.DataFrame(blood.obsm["X_pca"][:, :3], index=blood.obs_names, columns=list("abc"))
    blood.obsm["table"] = table
    ctsne.tl.ctsne(blood, "phase", **options, **QUICK)
    assert_array_equal(blood.obsm["ctsne"], estimated(expected(blood), blood.obs["phase"]))
    stored = blood.uns["ctsne"]["params"]
    assert {name: stored[name] for name in ("use_rep", "n_pcs") if name in stored} == params


@pytest.mark.parametrize("n_pcs", [None, 12])
def test_missing_components_are_made_by_scanpy_and_kept(small: Any, n_pcs: Any) -> None:
    expected = small.copy()
    sc.pp.pca(expected, n_comps=n_pcs)
    with pytest.warns(UserWarning, match=rf"making {n_pcs or 50} principal components of X \(765"):
        ctsne.tl.ctsne(small, "phase", n_pcs=n_pcs, **QUICK)
    assert_array_equal(small.obsm["X_pca"], expected.obsm["X_pca"])
    assert_array_equal(small.varm["PCs"], expected.varm["PCs"])
    assert small.uns["pca"]["params"] == expected.uns["pca"]["params"]
    assert_array_equal(small.obsm["ctsne"], estimated(expected.obsm["X_pca"], small.obs["phase"]))
    assert small.uns["ctsne"]["params"]["use_rep"] == "X_pca"


def test_few_columns_are_taken_as_they_are(small: Any) -> None:
    few = small[:, :50].copy()
    ctsne.tl.ctsne(few, "phase", **QUICK)
    assert_array_equal(few.obsm["ctsne"], estimated(few.X, few.obs["phase"]))
    assert "X_pca" not in few.obsm and few.uns["ctsne"]["params"]["use_rep"] == "X"


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse(small: Any, kind: Any) -> None:
    small.X = kind(small.X)
    ctsne.tl.ctsne(small, "phase", use_rep="X", **QUICK)
    assert_array_equal(small.obsm["ctsne"], estimated(small.X, small.obs["phase"]))
    with pytest.warns(UserWarning, match="principal components of X"):
        ctsne.tl.ctsne(small, "phase", **QUICK)
    assert small.obsm["X_pca"].shape == (100, 50)


def test_precomputed_graph_is_that_of_the_estimator(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=40, method="gauss", key_added="wide")
    options = {"method": "joint", "perplexity": 10, "n_iter": 30}
    blood.obs["half"] = np.arange(700) % 2
    ctsne.tl.ctsne(blood, "half", neighbors_key="wide", **options)
    model = ConditionalTSNE(metric="precomputed", init="spectral", random_state=0, **options)
    expected = model.fit_transform(blood.obsp["wide_distances"], labels=blood.obs["half"])
    assert_array_equal(blood.obsm["ctsne"], expected)
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


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
def test_graph_without_other_labels_is_pointed_out() -> None:
    data = make_synthetic(150, random_state=0)  # labels lie a wide gap apart
    adata = anndata.AnnData(data.X.astype(np.float32))
    adata.obs["batch"] = data.known
    sc.pp.neighbors(adata, n_neighbors=20, method="gauss", use_rep="X")
    with pytest.warns(UserWarning, match=r"of 150 points have no neighbour with another label.*bb"):
        ctsne.tl.ctsne(adata, "batch", neighbors_key="neighbors", **QUICK)
    assert adata.obs["ctsne_other_share"].median() == 0
    adata.uns["bbknn"] = {"distances_key": "bbknn_distances", "params": {"method": "umap"}}
    adata.obsp["bbknn_distances"] = balanced_graph(data.X, data.known, 8)
    ctsne.tl.ctsne(adata, "batch", neighbors_key="bbknn", method="joint", **QUICK)
    assert adata.obs["ctsne_other_share"].mean() > 0.2
    # The layout's own conditioning does not look at the graph.
    ctsne.tl.ctsne(adata, "batch", neighbors_key="neighbors", method="original", **QUICK)


def test_mistakes_are_seen_before_components_are_made(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sc.pp, "pca", None)
    for wrong in (
        {"perplexity": 500},
        {"mixing": 0.5, "n_iter": 0},
        {"mixing": 0.5, "strength": 0.5},
        {"align": np.ones((5, 2))},
        {"n_pcs": 100},
    ):
        with pytest.raises(ValueError):
            ctsne.tl.ctsne(small, "phase", **wrong)


def test_without_scanpy_only_components_are_out_of_reach(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scanpy", None)
    ctsne.tl.ctsne(small, "phase", use_rep="X_umap", **QUICK)
    with pytest.raises(ImportError, match=r'pip install "ctsne\[scanpy\]", or name .* use_rep'):
        ctsne.tl.ctsne(small, "phase", **QUICK)
