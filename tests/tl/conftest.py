"""Scanpy's bundled blood cells, in several forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anndata
import matplotlib
import numpy as np
import pytest
import scanpy as sc
from scipy import sparse

from ctsne import ConditionalTSNE

matplotlib.use("Agg")

# So few neighbours that every label has enough.
QUICK: dict[str, Any] = {"perplexity": 3, "n_iter": 30, "early_exaggeration_iter": 10}


def estimated(X: Any, labels: Any, **parameters: Any) -> Any:
    """Return the map of the estimator with the same parameters."""
    model = ConditionalTSNE(**{"random_state": 0, **QUICK, **parameters})
    return model.fit_transform(X, labels=labels)


@pytest.fixture(scope="session")
def stored_blood() -> anndata.AnnData:
    blood = sc.datasets.pbmc68k_reduced()
    del blood.uns["rank_genes_groups"]  # an old format that is written with warnings
    return blood


@pytest.fixture
def blood(stored_blood: Any) -> Any:
    return stored_blood.copy()


@pytest.fixture
def small(stored_blood: Any) -> Any:
    """A seventh of the cells, dividing or not, without principal components."""
    cells = stored_blood[::7].copy()
    cells.obs["phase"] = np.where(cells.obs["phase"] == "G1", "G1", "S")
    del cells.obsm["X_pca"], cells.varm["PCs"], cells.uns["pca"]
    return cells


@pytest.fixture
def backed(small: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    if getattr(request, "param", "dense") == "sparse":
        small.X = sparse.csr_matrix(small.X)
    small.write_h5ad(tmp_path / "cells.h5ad")
    opened = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r+")
    yield opened
    opened.file.close()
