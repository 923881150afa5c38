"""Small files of every kind, and a settings record to store with maps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne.io import Dataset, write_map

N = 12
# Readers and writers take a settings record as text.
RECORD: dict[str, Any] = {
    "ctsne record": 1,
    "made_by": "ctsne embed",
    "parameters": {"beta": 1e-30, "random_state": 0},
    "labels": ["<script>", "ü"],
    "options": {"none": None, "more": {"a": 1.5}},
    "results": {},
}


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


def refused(
    message: str,
    call: Callable[..., object],
    *given: Any,
    error: type[Exception] = ValueError,
    **options: Any,
) -> None:
    """Check that a call is refused, with an error in one line."""
    with pytest.raises(error, match=message) as caught:
        call(*given, **options)
    assert "\n" not in str(caught.value)


def store(target: Path, positions: Any, dataset: Dataset, **options: Any) -> None:
    """Write a map with a settings record and no diagnostics, unless these are given."""
    options = {"diagnostics": {}, "settings": json.dumps(RECORD), **options}
    write_map(target, positions, dataset=dataset, **options)
