"""Zarr stores that damage, links or lies must not turn into points."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest

from ctsne.datasets import make_synthetic
from ctsne.distributed import place
from ctsne.distributed.collection import open_collection

from ..io.conftest import refused

da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr", minversion="3")

DATA = make_synthetic(1200, random_state=0)
FORMATS = [2, 3]


def store(path: Path, values: np.ndarray = DATA.X, rows: int = 300, **more: Any) -> Path:
    chunks = (rows, *values.shape[1:])
    options = {"shape": values.shape, "chunks": chunks, "dtype": values.dtype, **more}
    zarr.create_array(path, **options)[:] = values
    return path


def chunk_of(path: Path, number: int) -> Path:
    return path / (f"{number}.0" if (path / ".zarray").exists() else f"c/{number}/0")


def read(array: Any, **more: Any) -> np.ndarray:
    """Return all rows as workers read them."""
    found = open_collection(array, None, **more)
    parts = [shard.content.compute(scheduler="synchronous") for shard in found.shards]
    return np.concatenate([part.X for part in parts])


def edit(path: Path, **values: Any) -> None:
    """Change what a store of format 2 says about itself."""
    content = json.loads((path / ".zarray").read_text())
    (path / ".zarray").write_text(json.dumps(content | values))


@pytest.mark.parametrize("layout", FORMATS)
def test_whole_stores_are_read(layout: int, tmp_path: Path) -> None:
    array = da.from_zarr(store(tmp_path / "x.zarr", zarr_format=layout))
    np.testing.assert_array_equal(read(array), DATA.X)
    np.testing.assert_array_equal(read(array.rechunk((500, 2))[100:] * 2), DATA.X[100:] * 2)
    np.testing.assert_array_equal(read(array[[900, 3, 400]]), DATA.X[[900, 3, 400]])
    np.testing.assert_array_equal(read(dask.optimize(array)[0]), DATA.X)
    np.testing.assert_array_equal(read(array.persist(scheduler="synchronous")), DATA.X)
    link = tmp_path / "named.zarr"
    link.symlink_to(tmp_path / "x.zarr")  # like the name of a file, that of a store may be a link
    for opened in (da.from_zarr(link), da.from_array(zarr.open_array(link), inline_array=True)):
        np.testing.assert_array_equal(read(opened), DATA.X)


def test_groups_shards_and_other_stores_are_read(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "cells.zarr", mode="w", zarr_format=2)
    group.create_array("obsm/X", data=DATA.X, chunks=(500, 4))
    zarr.consolidate_metadata(tmp_path / "cells.zarr")
    inner = da.from_zarr(tmp_path / "cells.zarr", component="obsm/X")
    np.testing.assert_array_equal(read(inner), DATA.X)
    values = np.where(np.arange(1200)[:, None] < 100, 0, DATA.X)  # an empty chunk in a shard
    sharded = store(tmp_path / "y.zarr", values, rows=100, shards=(600, DATA.X.shape[1]))
    np.testing.assert_array_equal(read(da.from_zarr(sharded)), values)
    memory = zarr.create_array({}, data=DATA.X, chunks=(300, 10))
    np.testing.assert_array_equal(read(da.from_array(memory)), DATA.X)
    with zarr.storage.ZipStore(tmp_path / "z.zip", mode="w") as packed:
        zarr.create_array(packed, data=DATA.X, chunks=(300, 10))
    with zarr.storage.ZipStore(tmp_path / "z.zip", mode="r") as packed:
        np.testing.assert_array_equal(read(da.from_array(zarr.open_array(packed))), DATA.X)


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("layout", FORMATS)
def test_missing_chunks_are_refused(layout: int, inline: bool, tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", zarr_format=layout)
    chunk_of(path, 2).unlink()
    array = da.from_zarr(path, inline_array=inline)
    message = f"{chunk_of(path, 2)} is missing.*write_empty_chunks"
    refused(message, open_collection, array, None)
    refused(message, open_collection, array[:100].astype(np.float32) + 1, None)
    refused(message, open_collection, da.from_array(DATA.X), None, labels=array[:, 0])


@pytest.mark.parametrize("rows", [150, 300])
def test_empty_shards_are_not_zeros(rows: int, tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", rows=150, shards=(300, DATA.X.shape[1]))
    chunk_of(path, 1).write_bytes(b"")  # of which Zarr makes zeros if it reads all of it
    message = f"{chunk_of(path, 1)} is empty or not"
    refused(message, open_collection, da.from_zarr(path, chunks=(rows, -1)), None)


def test_empty_chunks_can_be_written(tmp_path: Path) -> None:
    values = np.where(np.arange(1200)[:, None] < 300, 0, DATA.X)
    refused("is missing", read, da.from_zarr(store(tmp_path / "x.zarr", values)))
    with zarr.config.set({"array.write_empty_chunks": True}):
        path = store(tmp_path / "y.zarr", values)
    np.testing.assert_array_equal(read(da.from_zarr(path)), values)


@pytest.mark.parametrize("layout", FORMATS)
def test_a_store_without_rows_is_named(layout: int, tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", DATA.X[:0], zarr_format=layout)
    refused(f"{path} has no rows", open_collection, da.from_zarr(path), None)
    both = da.concatenate([da.from_zarr(path), da.from_zarr(store(tmp_path / "y.zarr"))])
    np.testing.assert_array_equal(read(both), DATA.X)  # Dask leaves out the empty one


def test_declared_rows_cost_nothing(tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", zarr_format=2)
    edit(path, shape=[1800, DATA.X.shape[1]])
    refused(r"x\.zarr/4\.0 is missing", open_collection, da.from_zarr(path), None)
    edit(path, shape=[300_000_000, DATA.X.shape[1]])
    array = da.from_zarr(path)
    tracemalloc.start()
    try:
        refused(r"x\.zarr/4\.0 is missing", open_collection, array, None)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("declared", [10**13, 2**60])
def test_declared_chunks_are_not_allocated(tmp_path: Path, declared: int) -> None:
    path = store(tmp_path / "x.zarr", zarr_format=2, rows=1200)
    edit(path, shape=[declared, DATA.X.shape[1]], chunks=[declared, DATA.X.shape[1]])
    refused(r"x\.zarr needs about .* of memory", read, da.from_zarr(path), error=MemoryError)


@pytest.mark.parametrize("layout", FORMATS)
def test_links_and_pipes_are_refused(layout: int, tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", zarr_format=layout)
    chunk, outside = chunk_of(path, 1), tmp_path / "outside"
    array = da.from_zarr(path)
    chunk.rename(outside)
    chunk.symlink_to(outside)
    refused(f"{chunk} is empty or not a regular file; links", open_collection, array, None)
    chunk.unlink()
    os.mkfifo(chunk)
    refused(f"{chunk} is empty or not a regular file", open_collection, array, None)
    chunk.unlink()
    chunk.mkdir()
    refused(f"{chunk} is empty or not a regular file", open_collection, array, None)


def test_linked_folders_are_refused(tmp_path: Path) -> None:
    outside = store(tmp_path / "outside")
    path = store(tmp_path / "x.zarr")
    for number in range(4):
        chunk_of(path, number).unlink()
        chunk_of(path, number).parent.rmdir()
    (path / "c").rmdir()
    (path / "c").symlink_to(outside / "c")
    message = f"{chunk_of(path, 0)} is empty or not a regular file; links"
    refused(message, open_collection, da.from_zarr(path), None)


@pytest.mark.parametrize("layout", FORMATS)
def test_damaged_chunks_are_named(layout: int, tmp_path: Path) -> None:
    path = store(tmp_path / "x.zarr", zarr_format=layout)
    chunk_of(path, 2).write_bytes(chunk_of(path, 2).read_bytes()[:-50])
    for rows in (300, 500, 1200):
        array = da.from_zarr(path, chunks=(rows, -1))
        refused(f"{chunk_of(path, 2)} is not a valid chunk", read, array)
    refused(f"{chunk_of(path, 2)} is not a valid chunk", read, array[[700, 5]])
    for content, what in ((b"", "is empty"), (b"x" * 100, "is not a valid chunk")):
        chunk_of(path, 2).write_bytes(content)
        refused(f"{chunk_of(path, 2)} {what}", read, array)


def test_placed_points_of_a_store(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path
) -> None:
    pd = pytest.importorskip("pandas")
    path = store(tmp_path / "x.zarr")
    labels, out = DATA.known, tmp_path / "out"
    placed = place(model, da.from_zarr(path), out, labels=labels, progress=False)
    found = pd.concat([pd.read_parquet(file) for file in placed.files])
    np.testing.assert_array_equal(found[["ctsne_1", "ctsne_2"]], expected)
    for number, words in ((1, "1 of 4 shards .*partition 1: "), (0, "")):
        whole = chunk_of(path, number).read_bytes()
        chunk_of(path, number).write_bytes(whole[:-50])
        message = f"{words}{chunk_of(path, number)} is not a valid chunk"
        again = tmp_path / f"again{number}"
        refused(message, place, model, da.from_zarr(path), again, labels=labels, progress=False)
        chunk_of(path, number).write_bytes(whole)
