"""``ctsne.tl.screen``."""

from __future__ import annotations

import logging

import anndata
import numpy as np
import pandas as pd
import pytest

from ctsne.datasets import make_synthetic
from ctsne.tl import ctsne, screen


def test_a_table_with_a_proposal(caplog: pytest.LogCaptureFixture) -> None:
    data = make_synthetic(300, random_state=0)
    adata = anndata.AnnData(data.X)
    adata.obsm["X_other"] = np.random.default_rng(0).normal(size=(300, 5))
    adata.obs["batch"], adata.obs["cell_type"] = data.known, pd.Categorical(data.hidden)
    adata.obs["stim"] = (data.known == "blue").astype(int)
    adata.obs["n_genes"] = np.arange(300)
    ctsne(adata, "batch", n_iter=30, perplexity=10)
    before = adata.copy()
    with caplog.at_level(logging.INFO, "ctsne"):
        table = screen(adata)
    assert set(table.index) == {"batch", "cell_type", "stim"}  # not what belongs to the map
    assert table["mixing"].is_monotonic_increasing and table.loc["batch", "mixing"] < 0.1
    assert table.loc["stim", "note"] == "looks like a treatment"
    assert table.attrs["proposal"] == "batch"
    assert "batch and stim are the same" in table.attrs["relations"][0]
    assert table.attrs["advice"] in caplog.messages
    random = screen(adata, use_rep="X_other")
    assert random.attrs["proposal"] is None and random["mixing"].min() > 0.8
    pd.testing.assert_frame_equal(adata.obs, before.obs)


def test_no_columns() -> None:
    table = screen(anndata.AnnData(np.random.default_rng(0).normal(size=(30, 3))))
    assert len(table) == 0 and table.attrs["proposal"] is None
    assert list(table.columns) == ["values", "missing", "mixing", "kind", "note"]
    with pytest.raises(TypeError, match="adata must be an AnnData object"):
        screen(np.ones((3, 3)))  # type: ignore[arg-type]
