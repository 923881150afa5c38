"""The conditioned graph as a neighbours entry: what it holds, and that scanpy runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pytest
import scanpy as sc
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import ctsne
from ctsne import ConditionalTSNE
from ctsne.affinity.result import symmetric_matrix
from ctsne.tl import fields

QUICK: dict[str, Any] = {"perplexity": 5, "n_iter": 30, "early_exaggeration_iter": 10}
STORED = ("ctsne_connectivities", "ctsne_distances")


def stored(adata: Any, **options: Any) -> Any:
    ctsne.tl.ctsne(adata, "phase", store_graph=True, **{**QUICK, **options})
    return adata


def test_what_is_stored(blood: Any) -> None:
    stored(blood)
    model = ConditionalTSNE(random_state=0, **QUICK)
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


def test_in_a_copy_a_view_and_a_file(blood: Any, backed: Any, tmp_path: Path) -> None:
    result = ctsne.tl.ctsne(blood, "phase", store_graph=True, copy=True, **QUICK)
    assert result is not None and set(STORED) <= set(result.obsp)
    assert not set(STORED) & set(blood.obsp)
    view = blood[::2]
    with pytest.warns(anndata.ImplicitModificationWarning, match="view"):
        stored(view)
    assert view.obsp["ctsne_distances"].shape == (350, 350) and not set(STORED) & set(blood.obsp)
    stored(backed, use_rep="X")
    backed.write_h5ad(tmp_path / "other.h5ad")
    read = anndata.read_h5ad(tmp_path / "other.h5ad")
    for name in STORED:
        assert (read.obsp[name] != backed.obsp[name]).nnz == 0
    assert read.uns["ctsne_neighbors"] == backed.uns["ctsne_neighbors"]


def test_of_a_graph_and_again_of_itself(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=16, method="gauss")
    stored(blood, neighbors_key="neighbors", method="tsne")
    params = blood.uns["ctsne_neighbors"]["params"]
    assert params["metric"] == "euclidean" and "use_rep" not in params
    again = {**QUICK, "perplexity": 4}
    ctsne.tl.ctsne(
        blood, "phase", neighbors_key="ctsne_neighbors", method="tsne", key_added="again", **again
    )
    assert blood.obsm["X_again"].shape == (700, 2)


@pytest.mark.filterwarnings("ignore")  # of scanpy and what it uses, whatever their versions
def test_scanpy_runs_on_it(blood: Any, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    stored(blood, perplexity=15, method="joint")
    blood.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    key = "ctsne_neighbors"
    for cells in (blood, read):
        sc.tl.leiden(cells, neighbors_key=key, flavor="igraph", n_iterations=2, directed=False)
        sc.tl.umap(cells, neighbors_key=key, maxiter=20)
        sc.tl.paga(cells, groups="leiden", neighbors_key=key)
        sc.tl.diffmap(cells, n_comps=5, neighbors_key=key)
    assert 3 <= blood.obs["leiden"].nunique() <= 30
    assert_array_equal(blood.obs["leiden"], read.obs["leiden"])
    assert np.isfinite(blood.obsm["X_umap"]).all() and np.isfinite(blood.obsm["X_diffmap"]).all()
    groups = blood.obs["leiden"].nunique()
    assert blood.uns["paga"]["connectivities"].shape == (groups, groups)
    # The clusters follow the types, which were not factored out.
    types = [blood.obs["bulk_labels"][blood.obs["leiden"] == str(each)] for each in range(groups)]
    assert sum(part.value_counts().max() for part in types) > 0.5 * blood.n_obs
