"""Hostile .h5ad files: an error in one line that names the file, never a crash, quickly."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from ctsne.io import hdf5, read_data, read_map

from .conftest import refused, store


def replaced(group: Any, name: str, value: Any) -> None:
    kept = dict(group[name].attrs) if name in group else {}
    if name in group:
        del group[name]
    group[name] = value
    for key, each in kept.items():
        group[name].attrs[key] = each


def virtual(file: h5py.File, folder: Path) -> None:
    with h5py.File(folder / "other.h5", "w") as other:
        other["X"] = np.ones((12, 7))
    layout = h5py.VirtualLayout((12, 7), "f8")
    layout[:] = h5py.VirtualSource(folder / "other.h5", "X", (12, 7))
    del file["X"]
    file.create_virtual_dataset("X", layout).attrs["encoding-type"] = "array"


def external(file: h5py.File, folder: Path) -> None:
    (folder / "secret").write_bytes(bytes(range(96)))
    del file["obsm/X_pca"]
    stored = [(str(folder / "secret"), 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("obsm/X_pca", (12, 1), "f8", external=stored)


def declared(file: h5py.File, _: Path) -> None:
    del file["obsm/X_pca"]
    file.create_dataset("obsm/X_pca", (12, 10**12), "f4")


def declared_chunks(file: h5py.File, _: Path) -> None:
    del file["obsm/X_pca"]
    file.create_dataset("obsm/X_pca", (10**9, 2), "f4", chunks=(1000, 2), compression="gzip")


def diamonds(file: h5py.File, folder: Path) -> None:
    group = file["obs"]
    for _ in range(60):
        group["a"] = group.create_group("b")
        group = group["b"]


def edit(place: str, change: Callable[[Any], Any]) -> Callable[[h5py.File, Path], None]:
    return lambda file, _: change(file[place])


def attribute(place: str, name: str, value: Any) -> Callable[[h5py.File, Path], None]:
    return edit(place, lambda element: element.attrs.__setitem__(name, value))


def member(place: str, name: str, value: Any) -> Callable[[h5py.File, Path], None]:
    return edit(place, lambda group: replaced(group, name, value))


# X is a sparse matrix by column (12 rows, 7 columns), the layer too; obsm/sparse one by row.
SPARSE = {
    "indices too large": edit("X", lambda X: X["indices"].__setitem__(3, 10**7)),
    "indices negative": edit("X", lambda X: X["indices"].__setitem__(3, -5)),
    "row starts too large": edit("X", lambda X: X["indptr"].__setitem__(3, 10**7)),
    "row starts fall": edit("X", lambda X: X["indptr"].__setitem__(3, 0)),
    "no values, wild starts": edit("X", lambda X: X["indptr"].__setitem__(-1, 0)),
    "row starts 2-D": member("X", "indptr", np.zeros((8, 1), np.int32)),
    "row starts short": member("X", "indptr", np.zeros(3, np.int32)),
    "row starts as text": member("X", "indptr", np.array(["a"] * 8, object)),
    "indices as fractions": member("X", "indices", np.array([0.5])),
    "fewer values": member("X", "data", np.array([1.0])),
    "values 2-D": member("X", "data", np.ones((3, 3))),
    "values as text": member("X", "data", np.array(["a"], object)),
    "no indices": edit("X", lambda X: X.__delitem__("indices")),
    "shape of 3": attribute("X", "shape", [12, 7, 1]),
    "shape negative": attribute("X", "shape", [-12, 7]),
    "shape enormous": attribute("X", "shape", [10**12, 7]),
    "shape wider": attribute("X", "shape", [12, 10**12]),
    "shape as text": attribute("X", "shape", "12, 7"),
    "another type": attribute("X", "encoding-type", "csr_matrix"),
    "unknown type": attribute("X", "encoding-type", "matrix"),
    "unknown version": attribute("X", "encoding-version", "9.9.9"),
    "type is a number": attribute("X", "encoding-type", 3),
    "in another file": virtual,
}
OTHERS = {
    "codes out of range": edit("obs/type", lambda c: c["codes"].__setitem__(0, 99)),
    "codes missing": edit("obs/type", lambda c: c.__delitem__("codes")),
    "categories twice": member("obs/type", "categories", np.array(["a"] * 3, object)),
    "a column missing": edit("obs", lambda obs: obs.__delitem__("type")),
    "a column too short": member("obs", "batch", np.arange(3)),
    "no index": edit("obs", lambda obs: obs.attrs.__delitem__("_index")),
    "index elsewhere": attribute("obs", "_index", "none"),
    "columns elsewhere": attribute("obs", "column-order", ["/X"]),
    "columns not a list": attribute("obs", "column-order", 3),
    "group in itself": edit("obs", lambda obs: obs.__setitem__("loop", obs)),
    "group in itself, as a column": edit("obs/type", lambda c: c.__setitem__("codes2", c)),
    "soft link to itself": edit("obs", lambda o: o.__setitem__("l", h5py.SoftLink("/obs/l"))),
    "soft link to nothing": edit("obs", lambda o: o.__setitem__("l", h5py.SoftLink("/none"))),
    "soft link in a circle": edit("obs", lambda o: o.__setitem__("l", h5py.SoftLink("/obs"))),
    "a sparse matrix as a column": edit("obs", lambda o: o.__setitem__("s", o.file["X"])),
    "text that cannot be decoded": member("obs", "_index", np.array([b"\xff\xfe"] * 12, "S2")),
    "references": member("obs", "batch", np.array([None] * 12, h5py.ref_dtype)),
    "diamonds": diamonds,
}
REPRESENTATION = {
    "declared, not stored": declared,
    "declared in chunks, not stored": declared_chunks,
    "stored elsewhere": external,
    "three dimensions": member("obsm", "X_pca", np.ones((12, 2, 2))),
    "no rows": member("obsm", "X_pca", np.ones((0, 2))),
    "no columns": member("obsm", "X_pca", np.ones((12, 0))),
    "text": member("obsm", "X_pca", np.array([["a"]] * 12, object)),
}


@pytest.mark.parametrize(
    ("change", "use_rep"),
    [
        *(
            pytest.param(each, "X", id=name)
            for name, each in {**SPARSE, "virtual": virtual}.items()
        ),
        *(pytest.param(each, "X", id=name) for name, each in OTHERS.items()),
        *(pytest.param(each, "X_pca", id=name) for name, each in REPRESENTATION.items()),
    ],
)
def test_hostile_content(
    change: Callable[[h5py.File, Path], None], use_rep: str, cells: Path, tmp_path: Path
) -> None:
    with h5py.File(cells, "r+") as file:
        change(file, tmp_path)
    begin = time.perf_counter()
    with pytest.raises((ValueError, MemoryError), match=r"cells\.h5ad") as caught:
        read_data(cells, use_rep=use_rep)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 700
    assert time.perf_counter() - begin < 5
    with h5py.File(cells) as file:  # it was closed
        assert "obs" in file


@pytest.mark.parametrize("place", ["obs", "obsm/other", "uns/ctsne", "layers/x", "anything"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_links_to_other_files_are_not_followed(
    place: str, kind: str, cells: Path, tmp_path: Path
) -> None:
    target = tmp_path / "other.h5"
    if kind == "pipe":
        os.mkfifo(target)
    else:
        with h5py.File(target, "w") as other:
            other.create_group("obs")
    with h5py.File(cells, "r+") as file:
        if place in file:
            del file[place]
        file[place] = h5py.ExternalLink(target, "/obs")
    for read in (read_data, read_map):
        refused(rf"cells\.h5ad links to another file at '/{place}'", read, cells)


def test_links_inside_a_file_are_fine(cells: Path) -> None:
    plain = read_data(cells, use_rep="X_umap")
    with h5py.File(cells, "r+") as file:
        file["obsm/soft"] = h5py.SoftLink("/obsm/X_umap")
        file["obsm/hard"] = file["obsm/X_umap"]
    for name in ("soft", "hard"):
        assert np.array_equal(read_data(cells, use_rep=name).X, plain.X)


def test_groups_nested_without_end(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        group = file["uns"]
        for _ in range(200):
            group = group.create_group("deeper")
    refused(r"cells\.h5ad .* nested more than 100 deep", read_data, cells)


def test_heaps_in_which_the_library_would_loop(cells: Path) -> None:
    whole = cells.read_bytes()
    place = whole.index(b"GCOL\x01\0\0\0") + 16
    for header in (bytes(16), bytes(8) + b"\x08" + bytes(7)):
        cells.write_bytes(whole[:place] + header + whole[place + 16 :])
        refused(r"cells\.h5ad .* the heap of text .* does not end", read_data, cells)
    for size, reason in (
        (len(whole) - place + 16, r"heaps? of text .*anndata\.read_h5ad"),  # up to the end
        (len(whole), "cannot be read"),  # beyond it: the library says so itself
    ):
        cells.write_bytes(whole[: place - 8] + size.to_bytes(8, "little") + whole[place:])
        refused(rf"cells\.h5ad .*{reason}", read_data, cells)


def test_data_that_look_like_heaps(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        like = np.frombuffer(b"GCOL\x01\0\0\0" + b"\x3f" * 16, "u1")
        file["uns/like"] = np.concatenate([like, like, np.ones(3, "u1"), like])
    assert read_data(cells).X.shape[0] == 12


def test_a_copy_of_a_checked_file_is_not_searched(
    cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []
    monkeypatch.setattr(hdf5, "_check_heaps", lambda path, _: searched.append(path))
    data = read_data(cells, use_rep="X_umap")
    store(cells, np.zeros((12, 2)), data, key="new")
    assert searched == [cells]


def test_types_in_which_the_library_would_crash(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        lists = np.empty(1, object)
        lists[0] = np.array([1, 2], np.int32)
        file["obs"].attrs.create("encoding-type", lists, dtype=h5py.vlen_dtype(np.int32))
    refused(r"attribute 'encoding-type' holds lists of any length", read_data, cells)


def same_column(file: h5py.File, column: Any) -> None:
    file["obs/again"] = column
    file["obs"].attrs["column-order"] = [*file["obs"].attrs["column-order"], "again"]


def scales(file: h5py.File) -> None:
    file["uns/scale"] = np.arange(12)
    file["uns/scale"].make_scale("cells")
    file["obsm/X_umap"].dims[0].attach_scale(file["uns/scale"])
    lists = np.array([np.arange(3), np.arange(2)], object)
    file["uns"].attrs.create("ragged", lists, dtype=h5py.vlen_dtype(np.int32))


def put_together(file: h5py.File) -> None:
    file["uns/source"] = file["obsm/X_umap"][()]
    layout = h5py.VirtualLayout(file["uns/source"].shape, file["uns/source"].dtype)
    layout[:] = h5py.VirtualSource(file["uns/source"])
    del file["obsm/X_umap"]
    file["obsm"].create_virtual_dataset("X_umap", layout).attrs["encoding-type"] = "array"
    file["obsm/X_umap"].attrs["encoding-version"] = "0.2.0"


@pytest.mark.parametrize(
    "change",
    [
        lambda file: same_column(file, file["obs/type"]),
        lambda file: same_column(file, h5py.SoftLink("/obs/type")),
        scales,
    ],
    ids=["hard link to a column", "soft link to a column", "dimension scales"],
)
def test_unusual_files_that_anndata_reads(change: Callable[[h5py.File], None], cells: Path) -> None:
    before = read_data(cells, use_rep="X_umap")
    with h5py.File(cells, "r+") as file:
        change(file)
    after = read_data(cells, use_rep="X_umap")
    assert np.array_equal(after.X, before.X)
    assert after.columns.get("again", after.columns["type"]).equals(before.columns["type"])


def test_parts_put_together_from_themselves(cells: Path) -> None:
    with h5py.File(cells, "r+") as file:
        put_together(file)
        layout = h5py.VirtualLayout((12, 2), "f8")
        layout[:] = h5py.VirtualSource(".", "obsm/X_umap", (12, 2))
        file["obsm"].create_virtual_dataset("twice", layout)
        layout = h5py.VirtualLayout((12, 2), "f8")
        layout[:] = h5py.VirtualSource(".", "obsm/self", (12, 2))
        file["obsm"].create_virtual_dataset("self", layout)
    for name in ("X_umap", "twice", "self"):
        refused(r"cells\.h5ad cannot be read .* which are not read", read_data, cells, use_rep=name)
