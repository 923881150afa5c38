from __future__ import annotations

import shutil
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from ctsne._io import Provenance, check_key, input_records, read_data, read_map, write_map

POSITIONS = np.random.default_rng(3).normal(size=(12, 2)).astype(np.float32)


def write(
    target: Path, source: Path, *, seed: int = 0, key: str = "ctsne", **options: object
) -> None:
    data = read_data(source, **options)  # type: ignore[arg-type]
    write_map(
        target,
        POSITIONS + seed,
        dataset=data,
        diagnostics={"perplexity": np.arange(12.0), "largest_weight": np.ones(12)},
        provenance=Provenance("embed", {"seed": seed, "beta": None, "labels": ["a"]}),
        key=key,
    )


def test_a_copy_with_the_map_added(cells: Path, tmp_path: Path) -> None:
    before = cells.read_bytes()
    write(tmp_path / "map.h5ad", cells)
    assert cells.read_bytes() == before
    old, new = anndata.read_h5ad(cells), anndata.read_h5ad(tmp_path / "map.h5ad")
    np.testing.assert_array_equal(new.obsm["ctsne"], POSITIONS)
    assert new.obs.columns.tolist() == ["batch", "type", "ctsne_perplexity", "ctsne_largest_weight"]
    assert new.obs["ctsne_perplexity"].tolist() == list(range(12))
    assert new.uns["ctsne"]["params"] == {"seed": 0, "labels": '["a"]'}
    assert new.uns["note"] == "kept"
    pd.testing.assert_frame_equal(new.obs[["batch", "type"]], old.obs)
    assert (new.X != old.X).nnz == 0 and (new.layers["counts"] != old.layers["counts"]).nnz == 0
    assert set(new.obsm) == {*old.obsm, "ctsne"}
    found = read_map(tmp_path / "map.h5ad")
    assert found.columns["type"].cat.categories.tolist() == ["z", "unused", "a"]


def test_into_the_file_itself_again_and_again(cells: Path) -> None:
    for seed in (0, 1, 2):
        write(cells, cells, seed=seed)
        found = read_map(cells)
        np.testing.assert_array_equal(found.embedding, POSITIONS + seed)
        assert found.provenance is not None and found.provenance.settings["seed"] == seed
        assert list(found.columns).count("ctsne_perplexity") == 1
    assert [path.name for path in cells.parent.iterdir()] == [cells.name]
    write(cells, cells, key="second")
    assert {"ctsne", "second"} <= set(anndata.read_h5ad(cells).obsm)


def test_nothing_remains_of_an_earlier_map(cells: Path) -> None:
    write(cells, cells)
    with h5py.File(cells, "r+") as file:
        file["obsp"].create_dataset("ctsne_affinities", data=np.eye(len(file["obs/_index"])))
    data = read_data(cells)
    positions = np.zeros((len(data.X), 2), np.float32)
    perplexity = np.full(len(data.X), 5.0)
    about = Provenance("embed", {}, input_records(data, cells))
    write_map(
        cells, positions, dataset=data, diagnostics={"perplexity": perplexity}, provenance=about
    )
    stored = anndata.read_h5ad(cells)
    assert [name for name in stored.obs if name.startswith("ctsne")] == ["ctsne_perplexity"]
    assert stored.obs["ctsne_perplexity"].eq(5).all()
    assert "ctsne_affinities" not in stored.obsp


def test_checksums_of_a_file_that_is_written_into(cells: Path, tmp_path: Path) -> None:
    data = read_data(cells)
    (other,) = input_records(data, tmp_path / "map.csv", ["batch"])
    assert other.file == "cells.h5ad" and other.sha256 == data.sha256
    (same,) = input_records(data, cells, ["batch"])
    assert same.sha256 is None and same.data == other.data
    write(cells, cells)
    assert read_data(cells).checksum(["batch"]) == other.data


def test_the_same_twice_gives_the_same_bytes(cells: Path, tmp_path: Path) -> None:
    for name in ("a.h5ad", "b.h5ad"):
        write(tmp_path / name, cells)
    assert (tmp_path / "a.h5ad").read_bytes() == (tmp_path / "b.h5ad").read_bytes()


@pytest.mark.parametrize("place", ["obsm/ctsne", "obs/ctsne_perplexity", "uns/ctsne"])
def test_what_is_not_ours_is_left_alone(cells: Path, place: str) -> None:
    with h5py.File(cells, "r+") as file:
        anndata.io.write_elem(file, place, np.ones((12, 2)) if "obsm" in place else np.ones(12))
    before = cells.read_bytes()
    with pytest.raises(ValueError, match=r"already has .*ctsne.*--key, such as ctsne_map"):
        write(cells, cells)
    assert cells.read_bytes() == before
    with pytest.raises(ValueError, match="already has"):
        check_key(cells.with_name("b.h5ad"), dataset=read_data(cells), key="ctsne")
    check_key(cells.with_name("b.csv"), dataset=read_data(cells), key="ctsne")
    write(cells, cells, key="ctsne_map")
    assert "ctsne_map" in anndata.read_h5ad(cells).obsm


def test_labels_of_another_file_come_along(cells: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        ",mine\n" + "".join(f"cell{i},{'ab'[i % 2]}\n" for i in range(1, 12)) + "cell0,\n"
    )
    write(tmp_path / "map.h5ad", cells, labels=["mine"], label_file=labels, join_on="index")
    column = anndata.read_h5ad(tmp_path / "map.h5ad").obs["mine"]
    assert column.isna().tolist() == [True] + [False] * 11
    assert column.tolist()[1:3] == ["b", "a"]


def test_a_file_that_changed_meanwhile(cells: Path, tmp_path: Path) -> None:
    data = read_data(cells)
    anndata.read_h5ad(cells)[::-1].copy().write_h5ad(tmp_path / "other.h5ad")
    shutil.move(tmp_path / "other.h5ad", cells)
    with pytest.raises(ValueError, match="has changed since it was read"):
        write_map(
            tmp_path / "map.h5ad",
            POSITIONS,
            dataset=data,
            diagnostics={},
            provenance=Provenance("embed", {}),
        )
    assert [path.name for path in tmp_path.iterdir()] == [cells.name]


def test_new_files_hold_the_data_too(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    np.savez(tmp_path / "a.npz", X=X, batch=np.array(["a", "", "b"] * 4))
    write(tmp_path / "map.h5ad", tmp_path / "a.npz")
    adata = anndata.read_h5ad(tmp_path / "map.h5ad")
    np.testing.assert_array_equal(adata.X, X)
    assert adata.var_names.tolist() == ["X1", "X2", "X3"]
    assert adata.obs["batch"].isna().sum() == 4
    again = read_data(tmp_path / "map.h5ad", use_rep="X")
    assert again.checksum(["batch"]) == read_data(tmp_path / "a.npz").checksum(["batch"])


def test_a_link_to_the_file_stays_a_link(cells: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "here.h5ad"
    link.symlink_to(cells)
    write(link, link)
    assert link.is_symlink() and "ctsne" in anndata.read_h5ad(cells).obsm
    assert [path.name for path in link.parent.iterdir()] == [link.name]


def test_labels_never_take_the_place_of_what_is_there(cells: Path, tmp_path: Path) -> None:
    adata = anndata.read_h5ad(cells)
    adata.obs.index.name = "cell"
    adata.obs["a_b"] = np.arange(12)
    adata.write_h5ad(cells)
    labels = tmp_path / "labels.csv"
    frame = pd.DataFrame({"donor": list("xy") * 6, "cell": list("TTBB") * 3, "a/b": ["f"] * 12})
    frame.to_csv(labels, index=False)
    for _ in range(2):
        write(cells, cells, labels=["donor"], label_file=labels)
        found = anndata.read_h5ad(cells).obs
        assert found.index.tolist() == adata.obs_names.tolist()
        assert found["a_b"].tolist() == list(range(12))
        assert found["cell_2"].tolist() == frame["cell"].tolist()
        assert found["a_b_2"].eq("f").all()
        assert len(found.columns) == 3 + 3 + 2


def test_names_that_become_the_same(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    np.savez(tmp_path / "a.npz", X=X, **{"a_b": np.arange(12), "a/b": np.arange(12) * 2})
    write(tmp_path / "map.h5ad", tmp_path / "a.npz")
    found = anndata.read_h5ad(tmp_path / "map.h5ad").obs
    assert found["a_b"].tolist() == list(range(12))
    assert found["a_b_2"].tolist() == list(range(0, 24, 2))
