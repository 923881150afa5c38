"""Zarr arrays, alone or below Dask: all their chunks are files, and a damaged one is named."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import reading, require_room


def in_memory(values: Any, argument: str) -> Any:
    """Return values of zarr or Dask as computed, once their stores are checked; others as given."""
    if type(values).__name__ == "LazyFrame":  # of polars
        raise TypeError(f"{argument} is a LazyFrame without values yet; call .collect() on it")
    if type(values).__module__.startswith("zarr."):
        return _checked(values)[(slice(None),) * values.ndim]
    if type(values).__module__.startswith("dask."):
        return (with_checked_stores(values) if hasattr(values, "chunks") else values).compute()
    return values


def with_checked_stores(array: Any) -> Any:
    """Refuse zarr arrays in local folders that lack chunks; return an array that names bad ones."""
    zarr: Any = sys.modules.get("zarr")  # if it is not imported, no value is one of its arrays
    layers = dict(getattr(array.dask, "layers", {})) if zarr else {}
    for name, layer in layers.items():
        inlined = getattr(layer, "indices", None)  # in all tasks, which are not made to look
        values = layer.items() if inlined is None else enumerate(value for value, _ in inlined)
        nodes = [(key, getattr(node, "value", node)) for key, node in values]
        found = {key: _checked(node) for key, node in nodes if isinstance(node, zarr.Array)}
        if found and inlined is None:
            layers[name] = type(layer)({**layer, **found}, annotations=layer.annotations)
        # Sparse matrices are read by tasks of anndata, from several arrays in a group.
        read = [part for _, node in nodes for part in getattr(node, "args", ())]
        groups = [x.group for x in read if isinstance(getattr(x, "group", None), zarr.Group)]
        for stored in (array for group in groups for _, array in group.arrays() if array.size):
            _checked(stored)
    if not layers:
        return array
    graph = type(array.dask)(layers, array.dask.dependencies)
    return type(array)(graph, array.name, array.chunks, meta=array)


def _checked(array: Any) -> Any:
    """Return a zarr array that names damaged chunks, or as it is if not in a local folder."""
    local = "file" in getattr(getattr(array.store, "fs", None), "protocol", ())
    root = array.store.path if local else getattr(array.store, "root", None)
    if root is None:
        return array
    folder = Path(root).resolve() / array.path
    if array.shape[:1] == (0,):
        raise ValueError(f"{folder} has no rows")
    checked = _Checked(array, folder, array.shards or array.chunks)
    for file, _ in checked.chunks((slice(None),) * array.ndim):
        if not file.exists():
            how = 'write it with zarr.config.set({"array.write_empty_chunks": True})'
            raise ValueError(f"{file} is missing; if the chunk is all zeros, {how}")
        if file.resolve() != file or not file.is_file() or not file.stat().st_size:
            raise ValueError(f"{file} is empty or not a regular file; links and pipes are not read")
    return checked


@dataclass(frozen=True)
class _Checked:
    array: Any
    folder: Path
    size: tuple[int, ...]  # shape of what a file holds

    def __getitem__(self, index: tuple[Any, ...]) -> Any:
        """Read a part of the array if its chunks, of any declared size, fit; runs on a worker."""
        require_room(prod(self.size) * self.array.dtype.itemsize, self.folder)
        try:
            return self.array[index]
        except Exception:
            for file, part in self.chunks(index):
                with reading(file, "a valid chunk of a zarr array"):
                    self.array[part]
            raise

    def chunks(self, index: tuple[Any, ...]) -> Iterator[tuple[Path, tuple[slice, ...]]]:
        """Yield the files of a part of the array, and the slices that each holds."""
        ends = []
        for n, size, part in zip(self.array.shape, self.size, index, strict=True):
            rows = range(n)[part] if isinstance(part, slice) else np.sort(part, axis=None)
            ends.append(sorted(int(row) // size for row in rows[:: max(1, len(rows) - 1)]))
        counts = [own[-1] - own[0] + 1 if own else 0 for own in ends]
        for number in range(prod(counts)):  # not a list, as a store may declare any number
            steps = zip(ends, np.unravel_index(number, counts), strict=True)
            place = tuple(own[0] + int(step) for own, step in steps)
            slices = tuple(slice(k * n, k * n + n) for k, n in zip(place, self.size, strict=True))
            yield self.folder / self.array.metadata.encode_chunk_key(place), slices
