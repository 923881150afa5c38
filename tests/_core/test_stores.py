"""Zarr arrays and Dask arrays of them, given where arrays are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE, tl
from ctsne.datasets import make_synthetic
from ctsne.evaluate import adjusted_rnx

da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr", minversion="3")

DATA = make_synthetic(300, random_state=0)
BATCH = np.unique(DATA.known, return_inverse=True)[1]


@pytest.mark.parametrize("layout", [2, 3])
def test_a_lost_chunk_is_neither_points_nor_labels_of_zeros(layout: int, tmp_path: Path) -> None:
    folder = "" if layout == 2 else "c/"
    for name, values in (("X", DATA.X), ("batch", BATCH)):
        chunks = (100, *values.shape[1:])
        options = {"chunks": chunks, "dtype": values.dtype, "zarr_format": layout}
        zarr.create_array(tmp_path / name, shape=values.shape, **options)[:] = values
    X, batch = (zarr.open_array(tmp_path / name, mode="r") for name in ("X", "batch"))
    lazy, lazy_batch = da.from_zarr(X), da.from_zarr(batch)
    model = ConditionalTSNE(n_iter=20, early_exaggeration_iter=10, random_state=0)
    expected = model.fit_transform(DATA.X, labels=BATCH)
    for points, labels in ((X, lazy_batch), (lazy, batch), (lazy.rechunk((70, 3)), BATCH)):
        np.testing.assert_array_equal(model.fit_transform(points, labels=labels), expected)
    (tmp_path / "batch" / f"{folder}1").unlink()
    for labels in (batch, lazy_batch):
        with pytest.raises(ValueError, match=r"batch/.*1 is missing"):
            model.fit(DATA.X, labels=labels)
    (tmp_path / "X" / folder / f"2{'.' if layout == 2 else '/'}0").unlink()
    for points in (X, lazy, lazy.rechunk((70, 3))):
        with pytest.raises(ValueError, match=r"X/.*2.0 is missing"):
            model.fit(points, labels=BATCH)
        with pytest.raises(ValueError, match=r"X/.*2.0 is missing"):
            adjusted_rnx(expected, points, BATCH)


@pytest.mark.filterwarnings("ignore:Writing zarr v2:UserWarning")
def test_a_lost_chunk_of_a_sparse_matrix_is_not_zeros(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    read_lazily = getattr(anndata.experimental, "read_elem_lazy", None)
    if read_lazily is None:
        pytest.skip("this version of anndata does not read lazily")
    X = sp.csr_matrix(np.where(DATA.X > 0, DATA.X, 0))
    obs = pd.DataFrame({"batch": DATA.known}, index=[f"cell{i}" for i in range(len(DATA.X))])
    folder = tmp_path / "cells.zarr"
    anndata.AnnData(X, obs=obs).write_zarr(folder)

    def mapped(points: object) -> np.ndarray:
        adata = anndata.AnnData(points, obs=obs)
        tl.ctsne(adata, "batch", use_rep="X", n_iter=20)
        return np.asarray(adata.obsm["X_ctsne"])

    def lazy() -> object:
        return read_lazily(zarr.open_group(folder, mode="r")["X"], chunks=(100, X.shape[1]))

    np.testing.assert_array_equal(mapped(lazy()), mapped(X))
    lost = next(file for file in (folder / "X" / "data").rglob("*") if file.name == "0")
    lost.unlink()
    with pytest.raises(ValueError, match=r"X/data/.*0 is missing"):
        mapped(lazy())
