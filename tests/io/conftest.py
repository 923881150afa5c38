"""Small files of every kind."""

from __future__ import annotations

from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

N = 12


@pytest.fixture
def table() -> pd.DataFrame:
    """Two features, a label in numbers with a gap, text with a gap, and hostile text."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "PC1": rng.normal(size=N),
            "PC2": rng.normal(size=N),
            "batch": pd.array([1, 2, 3] * 3 + [1, 2, None], dtype="Int64"),
            "type": ["a", None, "<script>alert('x')</script>", 'qu"ote', "co,mma", "new\nline"] * 2,
        },
        index=[f"cell{i}" for i in range(N)],
    )


@pytest.fixture
def cells(tmp_path: Path, table: pd.DataFrame) -> Path:
    """An .h5ad with a sparse X, a layer, and representations of all kinds."""
    rng = np.random.default_rng(1)
    counts = sp.csc_matrix(rng.poisson(0.5, size=(N, 7)).astype(np.float32))
    obs = table[["batch"]].assign(
        type=pd.Categorical(["z", "a", None] * 4, categories=["z", "unused", "a"])
    )
    adata = anndata.AnnData(counts, obs=obs)
    adata.var_names = [f"gene{i}" for i in range(7)]
    adata.layers["counts"] = counts * 2
    adata.obsm["X_pca"] = rng.normal(size=(N, 3)).astype(np.float32)
    adata.obsm["frame"] = pd.DataFrame({"u": np.arange(N)}, index=adata.obs_names)
    adata.obsm["sparse"] = sp.csr_matrix(np.eye(N))
    adata.obsm["X_umap"] = rng.normal(size=(N, 2))
    adata.uns["note"] = "kept"
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    return path
