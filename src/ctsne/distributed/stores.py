"""Zarr arrays below a Dask array: all their chunks are files, and a damaged one is named."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import reading, require_room
from ctsne._core.messages import load

_WRITE = 'write it with zarr.config.set({"array.write_empty_chunks": True})'


def with_checked_stores(array: Any) -> Any:
    """Refuse zarr arrays in local folders that lack chunks; return an array that names bad ones."""
    zarr: Any = sys.modules.get("zarr")  # if it is not imported, no value is one of its arrays
    layers = getattr(array.dask, "layers", {}) if zarr else {}
    changed = {}
    for name, layer in layers.items():
        inlined = getattr(layer, "indices", None)  # in all tasks, which are not made to look
        values = layer.items() if inlined is None else enumerate(value for value, _ in inlined)
        found = {
            key: _Checked(value, root)
            for key, value in ((key, getattr(node, "value", node)) for key, node in values)
            if isinstance(value, zarr.Array) and (root := _root_of(value)) is not None
        }
        for checked in found.values():
            checked.check_files()
        if found and inlined is None:
            changed[name] = type(layer)({**layer, **found}, annotations=layer.annotations)
    if not changed:
        return array
    graph = type(array.dask)({**layers, **changed}, array.dask.dependencies)
    return load("dask.array", extra="dask").Array(graph, array.name, array.chunks, meta=array)


def _root_of(array: Any) -> Path | None:
    """Return the folder of the store of a zarr array, or None if it is not in a local folder."""
    store = array.store
    local = "file" in getattr(getattr(store, "fs", None), "protocol", ())
    root = store.path if local else getattr(store, "root", None)
    return None if root is None else Path(root)


@dataclass(frozen=True)
class _Checked:
    """A zarr array whose chunks are files in a folder."""

    array: Any
    root: Path

    def check_files(self) -> None:
        """Refuse a chunk that is missing, or not a regular file in a folder of the store."""
        known = {self.root}  # which may be a link, as the name of any file may be
        for file, _ in self._chunks((slice(None),) * self.array.ndim):
            for path in (file, *file.parents):
                if path in known:
                    break
                known.add(path)
                try:
                    mode = path.lstat().st_mode
                except (FileNotFoundError, NotADirectoryError):
                    what = f"{file} is missing, and a lost chunk would be read as zeros"
                    raise ValueError(f"{what}; if the chunk is all zeros, {_WRITE}") from None
                if not (stat.S_ISREG(mode) if path == file else stat.S_ISDIR(mode)):
                    what = "regular file" if path == file else "folder"
                    how = "links, pipes and devices in a zarr store are not read"
                    raise ValueError(f"{path} is not a {what}; {how}")

    def __getitem__(self, index: tuple[Any, ...]) -> Any:
        """Read a part of the array; runs on a worker."""
        # A few bytes may declare chunks of any size.
        require_room(prod(self._size()) * self.array.dtype.itemsize, self.root)
        try:
            return self.array[index]
        except Exception:
            for file, part in self._chunks(index):
                with reading(file, "a valid chunk of a zarr array"):
                    self.array[part]
            raise

    def _size(self) -> tuple[int, ...]:
        """Return the shape of what a file holds."""
        size: tuple[int, ...] = self.array.shards or self.array.chunks
        return size

    def _chunks(self, index: tuple[Any, ...]) -> Iterator[tuple[Path, tuple[slice, ...]]]:
        """Yield the files of a part of the array, and the slices that each holds."""
        first, counts = [], []
        for n, size, part in zip(self.array.shape, self._size(), index, strict=True):
            rows = range(n)[part] if isinstance(part, slice) else np.sort(part, axis=None)
            places = sorted(int(row) // size for row in rows[:: max(1, len(rows) - 1)])
            first.append(places[0] if places else 0)
            counts.append(places[-1] - places[0] + 1 if places else 0)
        for number in range(prod(counts)):  # not a list, as a store may declare any number
            steps = np.unravel_index(number, counts)
            place = tuple(at + int(step) for at, step in zip(first, steps, strict=True))
            corners = zip(place, self._size(), strict=True)
            slices = tuple(slice(at * size, at * size + size) for at, size in corners)
            yield self.root / self.array.path / self.array.metadata.encode_chunk_key(place), slices
