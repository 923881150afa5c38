from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from ctsne._core.files import file_checksum
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.io import (
    check_key,
    check_room,
    maps,
    read_data,
    read_map,
)

from .conftest import RECORD, refused, store

POSITIONS = np.random.default_rng(3).normal(size=(12, 2)).astype(np.float32)


def write(
    target: Path, source: Path, *, seed: int = 0, key: str = "ctsne", **options: object
) -> None:
    data = read_data(source, **options)  # type: ignore[arg-type]
    made = json.dumps(RECORD | {"parameters": {"random_state": seed}, "labels": ["a"]})
    diagnostics = {"perplexity": np.arange(12.0), "largest_weight": np.ones(12)}
    store(target, POSITIONS + seed, data, diagnostics=diagnostics, settings=made, key=key)


def test_a_copy_with_the_map_added(cells: Path, tmp_path: Path) -> None:
    before = cells.read_bytes()
    write(tmp_path / "map.h5ad", cells)
    assert cells.read_bytes() == before
    old, new = anndata.read_h5ad(cells), anndata.read_h5ad(tmp_path / "map.h5ad")
    np.testing.assert_array_equal(new.obsm["X_ctsne"], POSITIONS)
    assert new.obs.columns.tolist() == ["batch", "type", "ctsne_perplexity", "ctsne_largest_weight"]
    assert new.obs["ctsne_perplexity"].tolist() == list(range(12))
    assert new.uns["ctsne"]["params"] == {"random_state": 0, "labels": "a"}
    assert new.uns["note"] == "kept"
    pd.testing.assert_frame_equal(new.obs[["batch", "type"]], old.obs)
    assert (new.X != old.X).nnz == 0 and (new.layers["counts"] != old.layers["counts"]).nnz == 0
    assert set(new.obsm) == {*old.obsm, "X_ctsne"}
    found = read_map(tmp_path / "map.h5ad")
    assert found.columns["type"].cat.categories.tolist() == ["z", "unused", "a"]


def test_into_the_file_itself_again_and_again(cells: Path) -> None:
    for seed in (0, 1, 2):
        write(cells, cells, seed=seed)
        found = read_map(cells)
        np.testing.assert_array_equal(found.embedding, POSITIONS + seed)
        assert json.loads(str(found.settings))["parameters"]["random_state"] == seed
        assert list(found.columns).count("ctsne_perplexity") == 1
    assert [path.name for path in cells.parent.iterdir()] == [cells.name]
    write(cells, cells, key="second")
    assert {"X_ctsne", "X_second"} <= set(anndata.read_h5ad(cells).obsm)


def test_the_prefix_is_not_part_of_a_name(cells: Path) -> None:
    write(cells, cells, key="X_mine")
    stored = anndata.read_h5ad(cells)
    assert "X_mine" in stored.obsm and "mine" in stored.uns and "mine_perplexity" in stored.obs
    write(cells, cells, seed=1, key="mine")
    stored = anndata.read_h5ad(cells)
    assert [name for name in stored.uns if "mine" in name] == ["mine"]
    np.testing.assert_array_equal(read_map(cells, key="X_mine").embedding, POSITIONS + 1)


def test_nothing_remains_of_an_earlier_map(cells: Path) -> None:
    write(cells, cells)
    with h5py.File(cells, "r+") as file:
        anndata.io.write_elem(file["uns"], "ctsne_neighbors", {"map_key": "ctsne"})
        anndata.io.write_elem(file["uns"], "mine_neighbors", {"params": "of another program"})
        for name in ("ctsne_connectivities", "ctsne_distances", "mine_connectivities"):
            anndata.io.write_elem(file["obsp"], name, np.eye(len(file["obs/_index"])))
    store(cells, np.zeros((12, 2)), read_data(cells), diagnostics={"perplexity": np.full(12, 5.0)})
    stored = anndata.read_h5ad(cells)
    assert [name for name in stored.obs if name.startswith("ctsne")] == ["ctsne_perplexity"]
    assert stored.obs["ctsne_perplexity"].eq(5).all()
    assert "ctsne_neighbors" not in stored.uns and "mine_neighbors" in stored.uns
    assert not {"ctsne_connectivities", "ctsne_distances"} & set(stored.obsp)
    assert "mine_connectivities" in stored.obsp


def test_a_map_does_not_change_the_checksum_of_the_data(cells: Path) -> None:
    before = read_data(cells).checksum(["batch"])
    write(cells, cells)
    assert read_data(cells).checksum(["batch"]) == before


def test_the_same_twice_gives_the_same_bytes(cells: Path, tmp_path: Path) -> None:
    for name in ("a.h5ad", "b.h5ad"):
        write(tmp_path / name, cells)
    assert (tmp_path / "a.h5ad").read_bytes() == (tmp_path / "b.h5ad").read_bytes()


@pytest.mark.parametrize(
    "place", ["obsm/ctsne", "obsm/X_ctsne", "obs/ctsne_perplexity", "uns/ctsne"]
)
def test_what_is_not_ours_is_left_alone(cells: Path, place: str) -> None:
    group, name = place.split("/")
    with h5py.File(cells, "r+") as file:
        anndata.io.write_elem(file[group], name, np.ones((12, 2) if group == "obsm" else 12))
    before = cells.read_bytes()
    refused(r"already has .*ctsne.*--key, such as ctsne_map", write, cells, cells)
    assert cells.read_bytes() == before
    with pytest.raises(ValueError, match="already has"):
        check_key(cells.with_name("b.h5ad"), dataset=read_data(cells), key="ctsne")
    check_key(cells.with_name("b.csv"), dataset=read_data(cells), key="ctsne")
    write(cells, cells, key="ctsne_map")
    assert "X_ctsne_map" in anndata.read_h5ad(cells).obsm


def test_labels_of_another_file_come_along(cells: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        ",mine\n" + "".join(f"cell{i},{'ab'[i % 2]}\n" for i in range(1, 12)) + "cell0,\n"
    )
    write(tmp_path / "map.h5ad", cells, labels=["mine"], label_file=labels)
    column = anndata.read_h5ad(tmp_path / "map.h5ad").obs["mine"]
    assert column.isna().tolist() == [True] + [False] * 11
    assert column.tolist()[1:3] == ["b", "a"]


def test_a_file_that_changed_meanwhile(cells: Path, tmp_path: Path) -> None:
    data = read_data(cells)
    anndata.read_h5ad(cells)[::-1].copy().write_h5ad(tmp_path / "other.h5ad")
    shutil.move(tmp_path / "other.h5ad", cells)
    refused("has changed since it was read", store, tmp_path / "map.h5ad", POSITIONS, data)
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


def test_a_link_to_the_file_is_replaced(cells: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "here.h5ad"
    link.symlink_to(cells)
    before = cells.read_bytes()
    write(link, link)
    assert not link.is_symlink() and "X_ctsne" in anndata.read_h5ad(link).obsm
    assert [path.name for path in link.parent.iterdir()] == [link.name]
    assert cells.read_bytes() == before


def test_two_names_of_one_file(cells: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.h5ad"
    other.hardlink_to(cells)
    before = cells.read_bytes()
    write(other, cells)
    assert cells.read_bytes() == before and "X_ctsne" in anndata.read_h5ad(other).obsm


@pytest.mark.parametrize("external", [True, False])
@pytest.mark.parametrize(
    "place",
    [
        "obs",
        "obsm",
        "uns",
        "obsp",
        "obs/ctsne_perplexity",
        "obsm/ctsne",
        "uns/ctsne",
        "uns/ctsne_neighbors",
        "obsp/ctsne_connectivities",
        "obsp/ctsne_distances",
    ],
)
def test_nothing_is_written_through_links(
    cells: Path, tmp_path: Path, place: str, external: bool
) -> None:
    write(cells, cells)
    data = read_data(cells)
    other = tmp_path / "other.h5ad"
    shutil.copy(cells, other)
    with h5py.File(cells, "r+") as file:
        if place in file:
            file.move(place, "elsewhere")
        file[place] = (
            h5py.ExternalLink("other.h5ad", place) if external else h5py.SoftLink("/elsewhere")
        )
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    soft = rf"cells.h5ad holds {place} as a link to .*; read it with anndata"
    message = "links to another file at" if external else soft
    for target in (cells, tmp_path / "new.h5ad"):
        refused(message, check_key, target, dataset=data, key="ctsne")
        changed = replace(data, sha256=file_checksum(cells))
        refused(message, store, target, POSITIONS, changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_links_elsewhere_in_the_file_do_no_harm(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        file["obsm/other"] = h5py.SoftLink("/obsm/X_pca")
    write(cells, cells)
    found = anndata.read_h5ad(cells).obsm
    np.testing.assert_array_equal(found["other"], found["X_pca"])
    np.testing.assert_array_equal(found["X_ctsne"], POSITIONS)


def test_the_second_of_two_writers_is_refused(cells: Path) -> None:
    first, second = read_data(cells), read_data(cells)
    store(cells, POSITIONS, first, key="one")
    refused("has changed since it was read", store, cells, POSITIONS, second, key="two")
    assert {"X_one"} == {"X_one", "X_two"} & set(anndata.read_h5ad(cells).obsm)


def test_writers_wait_for_each_other(cells: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = {key: read_data(cells) for key in ("one", "two")}
    copy, begin = maps._copy, threading.Barrier(2)
    events: list[str] = []

    def watched(dataset: Any, temporary: Path) -> None:
        events.append("in")
        try:
            copy(dataset, temporary)
            time.sleep(0.3)  # time enough for the other one
        finally:
            events.append("out")

    monkeypatch.setattr(maps, "_copy", watched)

    def work(key: str) -> Exception | None:
        begin.wait(30)
        try:
            store(cells, POSITIONS, datasets[key], key=key)
        except ValueError as error:
            return error
        return None

    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(work, datasets))
    assert events == ["in", "out", "in", "out"]
    assert errors.count(None) == 1 and "has changed" in str(errors)
    kept = {"one", "two"} & {name.removeprefix("X_") for name in anndata.read_h5ad(cells).obsm}
    assert kept == {key for key, error in zip(datasets, errors, strict=True) if error is None}


def test_another_program_that_writes_meanwhile(
    cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = maps._copy

    def disturbed(dataset: Any, temporary: Path) -> None:
        copy(dataset, temporary)
        with h5py.File(cells, "r+") as file:
            file.attrs["new"] = 1

    monkeypatch.setattr(maps, "_copy", disturbed)
    refused("has changed since it was read", write, cells, cells)
    with h5py.File(cells) as file:
        assert file.attrs["new"] == 1 and "X_ctsne" not in file["obsm"]


def test_a_full_disk_is_an_error_and_not_a_crash(cells: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "cells.npz", X=POSITIONS)
    (tmp_path / "out").mkdir()
    # At many sizes, in a process of its own: HDF5 crashed when it was closed, or at the end.
    program = f"""
import os, resource
from ctsne.io import read_data, write_map
from pathlib import Path
import numpy as np
target = Path({str(tmp_path)!r}, "out", "map.h5ad")
common = {{"diagnostics": {{}}, "settings": {json.dumps(RECORD)!r}}}
for source in {[str(cells), str(tmp_path / "cells.npz")]!r}:
    data = read_data(source)
    for limit in range(0, 80_000, 4_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
        try:
            write_map(target, np.ones((12, 2)), dataset=data, **common)
            raise SystemExit("written")
        except OSError as error:
            assert str(error) == f"cannot write {{target}}: File too large", error
        assert not os.listdir(target.parent)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("source", ["cells.h5ad", "cells.npz"])
def test_room_is_checked_for_all_that_is_taken(
    cells: Path, tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"text": ["long text" * 20 + str(i) for i in range(12)], "number": np.arange(12)}
    np.savez(tmp_path / "cells.npz", X=POSITIONS, **columns)
    pd.DataFrame(columns).to_csv(tmp_path / "labels.csv", index=False)
    named = {"labels": ["text"], "label_file": tmp_path / "labels.csv"}
    data = read_data(tmp_path / source, **(named if source == "cells.h5ad" else {}))  # type: ignore[arg-type]
    checked: list[int] = []
    monkeypatch.setattr("ctsne.io.maps.check_space", lambda _, needed: checked.append(needed))
    check_room(tmp_path / "map.h5ad", dataset=data)
    reserve, taken = maps._reserve, []

    def watched(path: Path, size: int) -> None:
        reserve(path, size)
        taken.append(path.stat().st_size)

    monkeypatch.setattr(maps, "_reserve", watched)
    diagnostics = dict.fromkeys(KEPT_DIAGNOSTICS, np.ones(12))
    store(tmp_path / "map.h5ad", POSITIONS, data, diagnostics=diagnostics)
    assert max(taken) <= checked[0] < max(taken) + 100_000


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
