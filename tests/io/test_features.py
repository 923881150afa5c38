"""Single features of a file: the values that were stored, without reading all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne.io import hdf5, read, read_data
from ctsne.io.read import MOST_FEATURES, read_features, read_informative

from .conftest import refused

COUNTS = np.random.default_rng(0).poisson(0.7, (40, 9)).astype(np.float32)
GENES = [f"g{i}" for i in range(9)]


def stored(path: Path, X: Any, **parts: Any) -> Path:
    obs = pd.DataFrame({"batch": ["a", "b"] * 20}, index=[f"c{i}" for i in range(40)])
    adata = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=parts.pop("genes", GENES)), **parts)
    adata.obsm["X_pca"] = COUNTS[:, :3]
    adata.write_h5ad(path)
    return path


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("block", [1, 30, 2**20])
def test_genes_are_those_of_the_matrix(
    tmp_path: Path, kind: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5, "_VALUES", block)
    data = read_data(stored(tmp_path / "cells.h5ad", kind(COUNTS)))
    values, words = read_features(data, ["g7", "g0", "g[12]", "batch", "PC2"])
    assert list(values) == ["g7", "g0", "g1", "g2", "PC2"]  # batch is a column anyway
    for name, place in (("g7", 7), ("g0", 0), ("g1", 1), ("g2", 2), ("PC2", 1)):
        np.testing.assert_array_equal(values[name], COUNTS[:, place])
    assert words == ["'g7', 'g0', 'g1', 'g2' from X", "'PC2' from obsm[\"X_pca\"] (3 columns)"]


def test_genes_that_x_lacks_are_those_of_raw(tmp_path: Path) -> None:
    path = stored(tmp_path / "cells.h5ad", COUNTS[:, :4], genes=GENES[:4])
    adata = anndata.read_h5ad(path)
    adata.raw = anndata.AnnData(2 * COUNTS, adata.obs, pd.DataFrame(index=GENES))
    adata.layers["third"] = COUNTS[:, :4] / 3
    adata.write_h5ad(path)
    data = read_data(path)
    values, words = read_features(data, ["g1", "g8"])
    np.testing.assert_array_equal(values["g1"], COUNTS[:, 1])
    np.testing.assert_array_equal(values["g8"], 2 * COUNTS[:, 8])
    assert words == ["'g1' from X", "'g8' from raw.X"]
    values, words = read_features(data, ["g1"], layer="third")
    np.testing.assert_array_equal(values["g1"], COUNTS[:, 1] / np.float32(3))
    assert words == ["'g1' from layers.third"]
    del adata.X
    adata.write_h5ad(path)
    np.testing.assert_array_equal(read_features(data, ["g1"])[0]["g1"], 2 * COUNTS[:, 1])


def test_features_of_tables_are_columns_of_the_map(tmp_path: Path) -> None:
    frame = pd.DataFrame(COUNTS + 0.5, columns=GENES).assign(batch=["a", "b"] * 20)
    frame.to_parquet(tmp_path / "cells.parquet")
    data = read_data(tmp_path / "cells.parquet", labels=["batch"])
    values, _ = read_features(data, ["g3"])
    np.testing.assert_array_equal(values["g3"], COUNTS[:, 3] + 0.5)
    assert read_features(data, None) == read_features(data, ["batch"]) == ({}, [])


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_what_is_not_there(tmp_path: Path) -> None:
    genes = [f"gene{i}" for i in range(5_000)]
    genes[4_999], genes[4_998] = "CD3D", "gene7"
    wide = sp.csr_matrix((40, 5_000), dtype=np.float32)
    data = read_data(stored(tmp_path / "cells.h5ad", wide, genes=genes))
    for pattern, message in (
        ("cd3D", "--show: no feature 'cd3D' in .*cells.h5ad; did you mean 'CD3D'?"),
        ("x*", "no feature 'x\\*'"),
        ("gene1*", f"matches 1111 features of .*; a page shows at most {MOST_FEATURES}"),
        ("gene7", "2 features of .* are called 'gene7'; make names unique"),
    ):
        refused(message, read_features, data, [pattern])


def test_damaged_matrices_are_refused(tmp_path: Path) -> None:
    for kind in (sp.csr_matrix, sp.csc_matrix):
        for part, value in (("indices", 10**6), ("indices", -3), ("indptr", 10**6)):
            path = stored(tmp_path / f"{kind.__name__}-{part}-{value}.h5ad", kind(COUNTS))
            data = read_data(path)
            with h5py.File(path, "a") as file:
                file["X"][part][1] = value
            refused("h5ad", read_features, data, GENES)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("together", [1, 2**20])
def test_the_most_informative_genes_are_found(
    tmp_path: Path, kind: Any, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "_TOGETHER", together)
    X, places = COUNTS.copy(), np.random.default_rng(1).normal(size=(40, 2))
    X[:, 4], X[:, 6], X[:, 2] = 5 * (places[:, 0] > 0), np.round(9 + 3 * places[:, 1]), 2
    data = read_data(stored(tmp_path / "cells.h5ad", kind(X)))
    values, words = read_informative(data, places, most=2)  # not of the map's own components
    assert sorted(values) == ["g4", "g6"] and words == "2 of 9 features from X"
    np.testing.assert_array_equal(values["g6"], X[:, 6])
    rows = np.arange(39, 2, -1)
    some, _ = read_informative(data, places[rows], most=9, rows=rows, known=["g4"])
    assert next(iter(some)) == "g6" and "g4" not in some and "g2" not in some
    np.testing.assert_array_equal(some["g6"], X[rows, 6])
