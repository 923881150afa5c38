from __future__ import annotations

from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from ctsne.io import read_data
from ctsne.io.anndata import choose_representation
from ctsne.labels import encode_column

from .conftest import refused


def test_the_components_are_what_is_read_first(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    data = read_data(cells, labels=["batch"])
    np.testing.assert_array_equal(data.X, adata.obsm["X_pca"])
    assert str(data.source) == 'obsm["X_pca"] (3 columns)' and data.features == (
        "PC1",
        "PC2",
        "PC3",
    )
    assert data.names is not None and data.names.tolist() == adata.obs_names.tolist()
    assert list(data.columns) == ["batch", "type"]
    assert encode_column(data.labels(["type"])).names == ("z", "a")
    assert data.labels(["batch", "type"])[:3].tolist() == ["1 | z", "2 | a", None]


def test_only_what_is_needed_is_read(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        del file["X"], file["layers"], file["var"], file["uns"]
    assert read_data(cells).X.shape == (12, 3)


@pytest.mark.parametrize(
    ("options", "source", "features"),
    [
        ({"use_rep": "X"}, "X (7 genes)", ("gene0", "gene1")),
        ({"layer": "counts"}, 'layers["counts"] (7 genes)', ("gene0", "gene1")),
        ({"use_rep": "frame"}, 'obsm["frame"] (1 columns)', ("u",)),
        ({"use_rep": "sparse"}, 'obsm["sparse"] (12 columns)', ("sparse1", "sparse2")),
        ({"use_rep": "X_umap"}, 'obsm["X_umap"] (2 columns)', ("umap1", "umap2")),
    ],
)
def test_any_part(
    cells: Path, options: dict[str, str], source: str, features: tuple[str, ...]
) -> None:
    adata = anndata.read_h5ad(cells)
    data = read_data(cells, **options)  # type: ignore[arg-type]
    part = adata.layers["counts"] if "layer" in options else adata.X
    if options.get("use_rep", "X") != "X":
        part = adata.obsm[options["use_rep"]]
    expected = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
    found = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    np.testing.assert_array_equal(found, expected.astype(np.float32))
    assert str(data.source) == source and data.features[:2] == features
    assert getattr(data.X, "format", "csr") == "csr"


def test_genes_chosen(cells: Path) -> None:
    data = read_data(cells, use_rep="X", features=["gene[25]"])
    adata = anndata.read_h5ad(cells)
    np.testing.assert_array_equal(data.X.toarray(), adata.X[:, [2, 5]].toarray())


def test_without_components_x_is_read(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        del file["obsm"]
    assert str(read_data(cells).source) == "X (7 genes)"
    with h5py.File(cells, "r+") as file:
        del file["X"]
    refused("has no X; choose a representation", read_data, cells)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_rep": "X_pac"}, "no representation 'X_pac' in .*did you mean 'X_pca'"),
        ({"use_rep": "pca"}, "did you mean 'X_pca'"),
        ({"layer": "count"}, "no layer 'count' in .*did you mean 'counts'"),
        ({"labels": ["bacth"]}, "no column 'bacth' in obs of .*did you mean 'batch'"),
        ({"use_rep": "X", "features": ["genes*"]}, r"no column 'genes\*' in X of"),
        ({"use_rep": "X", "layer": "counts"}, "not both"),
    ],
)
def test_names_that_are_not_there(cells: Path, options: dict[str, str], message: str) -> None:
    refused(message, read_data, cells, **options)  # type: ignore[arg-type]


def test_missing_values_are_named(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        file["obsm/X_pca"][4, 1] = np.nan
    refused(r"missing value in row 5 \('cell4'\), column 'PC2'", read_data, cells)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.h5ad"
    path.write_text("hello")
    refused(r"is not a valid \.h5ad \(HDF5\) file", read_data, path)
    with h5py.File(path, "w") as file:
        file["matrix"] = np.eye(3)
    refused("has no obs", read_data, path)


def test_files_of_very_old_versions(tmp_path: Path) -> None:
    # Before 0.7, obs was one compound dataset.
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = np.eye(2)
        file["obs"] = np.array([(b"c0", 1), (b"c1", 2)], [("index", "S2"), ("batch", "i8")])
    refused(r"before version 0\.7; .* write it again", read_data, tmp_path / "old.h5ad")


def test_categories_of_version_0_7(cells: Path) -> None:
    # They stood in a group of their own, and a column held a reference to it.
    with h5py.File(cells, "r+") as file:
        obs = file["obs"]
        codes, categories = obs["type/codes"][:], obs["type/categories"][:]
        del obs["type"], obs["batch"]
        obs.attrs["encoding-version"] = "0.1.0"
        obs.attrs["column-order"] = ["type"]
        obs["type"] = codes
        obs["__categories/type"] = categories
        obs["type"].attrs["categories"] = obs["__categories/type"].ref
    column = read_data(cells).columns["type"]
    assert column.isna().sum() == 4 and column.dropna().tolist()[:2] == ["z", "a"]


def test_a_repeated_name_of_a_column(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        first = file["obs"].attrs["column-order"][0]
        file["obs"].attrs["column-order"] = [first, first]
    refused(f"obs has several columns named '{first}'; rename them", read_data, cells)


def test_a_representation_of_text(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    adata.obsm["words"] = pd.DataFrame({"a": ["x"] * 12, "b": 1.0}, index=adata.obs_names)
    adata.write_h5ad(cells)
    refused("the matrix must hold real numbers", read_data, cells, use_rep="words")


def test_empty_text_is_missing(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    adata.obs["batch"] = pd.Categorical(["", "a", "b"] * 4)
    adata.obs["text"] = ["x" * i for i in range(12)]
    adata.obs["complex"] = np.arange(12) * 1j
    adata.write_h5ad(cells)
    data = read_data(cells, labels=["batch"])
    assert encode_column(data.labels(["batch"])).describe() == "2 labels (a: 4, b: 4), 4 missing"
    assert data.columns["text"].isna().sum() == 1
    assert data.columns["complex"].tolist()[1] == "1j"


def test_highly_variable_genes_are_read_where_there_are_no_components(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    del adata.obsm["X_pca"]
    adata.var["highly_variable"] = [True, False, True, True, False, False, False]
    adata.write_h5ad(cells)
    data = read_data(cells)
    assert str(data.source) == "X (3 highly variable of 7 genes)"
    assert data.features == ("gene0", "gene2", "gene3")
    np.testing.assert_array_equal(data.X.toarray(), adata.X[:, [0, 2, 3]].toarray())
    assert read_data(cells, use_rep="X").X.shape == (12, 7)


def test_files_and_objects_follow_one_rule(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    for change in ("none", "no components", "all variable", "none variable"):
        if change == "no components":
            del adata.obsm["X_pca"]
        elif change != "none":
            adata.var["highly_variable"] = change == "all variable"
        adata.write_h5ad(cells)
        data, found = read_data(cells), choose_representation(adata)
        assert (data.source, data.features) == (found.source, found.features)
        dense = [x.toarray() if hasattr(x, "toarray") else x for x in (data.X, found.X)]
        np.testing.assert_array_equal(*dense)
        if found.source.n_variable is None:
            again = choose_representation(adata, use_rep=found.source.use_rep)
            assert again.source == found.source


def test_damaged_files_are_named(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        del file["obsm/X_pca"]
        file["X/indices"][0] = 10**6
    refused(r"/X of .*cells\.h5ad cannot be read", read_data, cells)
    with h5py.File(cells, "r+") as file:
        del file["obs/type/codes"]
    refused(r"/obs of .*cells\.h5ad cannot be read", read_data, cells)
