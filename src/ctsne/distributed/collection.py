"""Collections: Dask arrays, Dask data frames and files, as a list of shards to read."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checksums import content_checksum
from ctsne._core.guards import reason
from ctsne._core.messages import CtsneWarning, listed, shown, unknown, warn
from ctsne.distributed.blocks import (
    FILE_SUFFIXES,
    TABLES,
    Block,
    Choice,
    Part,
    check_file,
    genes_of,
    key_in,
    read_blocks,
    read_frames,
)
from ctsne.distributed.cluster import load_dask
from ctsne.io.hdf5 import opened
from ctsne.io.paths import suffix_of
from ctsne.io.tables import numeric_columns

# Small chunks of a zarr store are joined to shards of about this many rows.
_SHARD_ROWS = 100_000
# Rows by which a collection is known again, and from which its features are chosen.
_HEAD = 1000
_WANTED = "a Dask array, a Dask data frame, or the names of files"


@dataclass(frozen=True, eq=False)
class Shard:
    """A part of a collection that is read and placed in one task."""

    name: str  # in messages
    output: str  # name of the file for its points, without suffix
    content: Any  # the path of a file, or what Dask computes: a Part or a data frame
    counted: Any  # the same, perhaps without features, to count labels
    state: str = ""  # by which a changed file is recognized


@dataclass(frozen=True, eq=False)
class Collection:
    """All shards, and what to read of each."""

    shards: tuple[Shard, ...]
    choice: Choice
    labels: tuple[str, ...]  # those to factor out; more columns may be read
    head: Block  # the first rows
    state: str  # by which the same Dask collection is recognized


def open_collection(
    collection: Any,
    client: Any,
    *,
    labels: Any = None,
    more: Sequence[str] = (),
    features: Sequence[str] | None = None,
    use_rep: str | None = None,
    others: bool = False,
) -> Collection:
    """Return the shards of a collection, after a look at its first rows.

    ``features`` are the columns of tables that a model was fitted to; by default all numeric ones
    that are neither labels nor ``more``, which are further columns to read.
    """
    if _is_array(collection):
        names, label_arrays = _label_arrays(labels, collection)
        shards = _of_array(collection, label_arrays)
    else:
        names = column_names(labels, "labels")
        if _is_frame(collection):
            shards = _of_frame(collection)
        else:
            shards = _of_files(collection, tuple(dict.fromkeys((*names, *more))))
    columns = tuple(dict.fromkeys((*names, *more)))
    if _is_array(collection) and columns != names:
        raise ValueError("stratify names columns, but an array has none; pass them as labels")
    if not shards:
        raise ValueError("the collection is empty: it has no partitions")
    first = shards[0].content
    h5ad = isinstance(first, str) and suffix_of(first) == ".h5ad"
    if use_rep is not None and not h5ad:
        raise ValueError(f"use_rep is for .h5ad files, but the collection is {_kind(collection)}")
    choice = Choice(None, columns, others, use_rep)
    if h5ad:
        with opened(Path(first)) as file:
            if features is not None and key_in(file, use_rep) == "X":
                choice = replace(choice, features=tuple(features))
            else:
                choice = replace(choice, genes=genes_of(file, use_rep))
    found = _first_rows(shards, choice, client)
    if hasattr(found, "iloc"):
        choice = replace(choice, features=_features(found, columns, features))
    matrix = isinstance(found, Part)
    head = next(read_blocks(found, replace(choice, features=None) if matrix else choice, _HEAD))
    state = ""
    if not isinstance(first, str):  # files are known by their names, and may be corrected
        values = head.X.to_numpy() if hasattr(head.X, "to_numpy") else head.X
        state = content_checksum(values, *(head.columns[name] for name in columns))
    return Collection(shards, choice, names, head, state)


def are_files(collection: Any) -> bool:
    """Return whether a collection is names of files, which can be opened without a cluster."""
    return not _is_array(collection) and not _is_frame(collection)


def _is_array(collection: Any) -> bool:
    return hasattr(collection, "dask") and hasattr(collection, "chunks")


def _is_frame(collection: Any) -> bool:
    return hasattr(collection, "npartitions") and hasattr(collection, "columns")


def _kind(collection: Any) -> str:
    lazy = _is_array(collection) or _is_frame(collection)
    return f"a Dask {'array' if _is_array(collection) else 'data frame'}" if lazy else "not of them"


def column_names(columns: Any, argument: str) -> tuple[str, ...]:
    """Return names of columns from one name, several or none."""
    if columns is None:
        return ()
    names = (columns,) if isinstance(columns, str) else columns
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        wanted = "the name of a column, or a list of names"
        raise TypeError(f"{argument} must be {wanted}, got {shown(columns)}")
    return tuple(dict.fromkeys(names))


# The first rows


def _first_rows(shards: Sequence[Shard], choice: Choice, client: Any) -> Any:
    """Return the first rows of the first shard that has any: a data frame, or a Part."""
    delayed = load_dask("dask").delayed
    for shard in shards:
        if isinstance(shard.content, str):
            found = _head_of(shard.content, choice)
        else:
            head = delayed(_head_of)(shard.content, choice)
            here = client is None  # of files, which need no cluster to be opened
            found = head.compute(scheduler="synchronous") if here else client.compute(head).result()
        if found is not None:
            return found
    raise ValueError("the collection is empty: none of its partitions has rows")


def _head_of(content: Any, choice: Choice) -> Any:
    """Return the first rows of a shard, or None if it is empty; runs on a worker."""
    if hasattr(content, "iloc"):
        return content.iloc[:_HEAD] if len(content) else None
    if isinstance(content, str) and suffix_of(content) in TABLES:
        frames = read_frames(Path(content), None, _HEAD)
        return next((frame for frame in frames if len(frame)), None)
    block = next(read_blocks(content, choice, _HEAD), None)
    return block and Part(block.X, tuple(block.columns[name] for name in choice.columns))


def _features(
    frame: Any, columns: Sequence[str], features: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns of a table that are features; warn of those left out by doubt."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    known = list(frame.columns)
    for name in (*columns, *(features or ())):
        if name not in known:
            raise ValueError(unknown(name, known, what="column", where="the collection"))
    if features is not None:
        return tuple(features)
    doubts: list[CtsneWarning] = []
    chosen = numeric_columns(frame, columns, [], doubts)
    for doubt in doubts:
        warn(str(doubt))
    if not chosen:
        raise ValueError(f"the collection has no numeric columns; its columns are {listed(known)}")
    return tuple(chosen)


# Dask arrays and data frames


def _label_arrays(labels: Any, X: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return names and columns of labels: a Dask or NumPy array, or a mapping of names to them."""
    if labels is None:
        return (), []
    if isinstance(labels, str):
        raise TypeError(f"an array has no column {shown(labels)}; pass the labels as an array")
    if isinstance(labels, Mapping):
        named = {str(name): each for name, each in labels.items()}
    else:
        array = labels if _is_array(labels) else np.asarray(labels)
        if array.ndim not in (1, 2):
            raise ValueError(f"labels must have shape (n,) or (n, c), got {array.shape}")
        wide = array.ndim == 2 and array.shape[1] > 1
        columns = array.T if array.ndim == 2 else [array]
        named = {str(place) if wide else "labels": each for place, each in enumerate(columns, 1)}
    for name, each in named.items():
        if not hasattr(each, "shape"):
            named[name] = each = np.asarray(each)
        n, length = X.shape[0], each.shape[0]
        if n == n and length == length and n != length:  # unknown lengths are NaN
            raise ValueError(f"labels must have one entry per row: {name} has {length}, X has {n}")
    return tuple(named), list(named.values())


def _of_array(array: Any, labels: Sequence[Any]) -> tuple[Shard, ...]:
    delayed = load_dask("dask").delayed
    if array.ndim != 2:
        raise ValueError(f"the array must have 2 dimensions, got {array.ndim}: {array.shape}")
    if array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    lengths = array.chunks[0]
    parts = array.to_delayed().ravel()
    columns = [_aligned(column, lengths) for column in labels]
    shards = []
    for number, (length, X, *own) in enumerate(zip(lengths, parts, *columns, strict=True)):
        content = counted = delayed(Part)(X, tuple(own))
        if length == length:  # known, so that there is no need to compute X
            counted = delayed(Part)(np.empty((length, 0)), tuple(own))
        shards.append(Shard(f"partition {number}", f"part-{number:05d}", content, counted))
    return tuple(shards)


def _aligned(column: Any, lengths: tuple[int, ...]) -> Any:
    """Return the labels of every partition of an array."""
    unknown_lengths = any(length != length for length in lengths)
    if _is_array(column):
        if not unknown_lengths:
            column = column.rechunk({0: lengths})
        elif column.numblocks[0] != len(lengths):
            raise ValueError(
                f"labels have {column.numblocks[0]} partitions and X has {len(lengths)}, of "
                "unknown length; call compute_chunk_sizes() on both first"
            )
        return column.to_delayed().ravel()
    if unknown_lengths:
        how = "call X.compute_chunk_sizes() first, or pass the labels as a Dask array"
        raise ValueError(f"the partitions of the array have unknown lengths; {how}")
    return np.split(np.asarray(column), np.cumsum(lengths)[:-1])


def _of_frame(frame: Any) -> tuple[Shard, ...]:
    return tuple(
        Shard(f"partition {number}", f"part-{number:05d}", part, part)
        for number, part in enumerate(frame.to_delayed())
    )


# Files


def file_paths(files: Any) -> list[Path]:
    """Return the files that are named, all of one format that can be read."""
    given = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(given, list | tuple) or not all(
        isinstance(each, str | os.PathLike) for each in given
    ):
        how = "for data in memory, use model.place"
        raise TypeError(f"the collection must be {_WANTED}, got {shown(files)}; {how}")
    paths = [path for each in given for path in _expanded(os.fspath(each))]
    if not paths:
        raise ValueError("the collection is empty: name at least one file")
    suffixes = {suffix_of(path) for path in paths}
    if len(suffixes) > 1:
        raise ValueError(f"the files must be of one format, got {', '.join(sorted(suffixes))}")
    for path in paths:
        check_file(path)
    return paths


def _of_files(files: Any, columns: Sequence[str]) -> tuple[Shard, ...]:
    """Return a shard for every file; a zarr store has one for some of its chunks."""
    paths = file_paths(files)
    stems = Counter(path.name.removesuffix(path.suffix) for path in paths)
    shards: list[Shard] = []
    for number, path in enumerate(paths):
        stem = path.name.removesuffix(path.suffix)
        output = stem if stems[stem] == 1 else f"{number:05d}-{stem}"
        if suffix_of(path) == ".zarr":
            shards += _of_zarr(path, output, columns)
        else:
            state = path.stat()
            mark = f"{state.st_size} {state.st_mtime_ns}"
            name = str(path.absolute())
            shards.append(Shard(str(path), output, name, name, mark))
    return tuple(shards)


def _expanded(name: str) -> list[Path]:
    """Return the files that match a pattern, or the file of this name."""
    if not glob.has_magic(name) or os.path.exists(name):
        return [Path(name)]
    found = sorted(glob.glob(name))
    if not found:
        raise ValueError(f"no file matches {name!r:.100}; formats are {', '.join(FILE_SUFFIXES)}")
    return [Path(each) for each in found]


def _of_zarr(path: Path, output: str, columns: Sequence[str]) -> list[Shard]:
    """Return the chunks of a matrix, alone or as X next to its label columns."""
    dask_array, zarr = load_dask("dask.array"), load_dask("zarr")
    try:
        store = zarr.open(str(path), mode="r")
        known = sorted(store.array_keys()) if hasattr(store, "array_keys") else None
    except Exception as error:  # of the many that zarr raises for a damaged store
        raise ValueError(f"{path} is not a valid zarr store: {reason(error)}") from error
    for name in columns if known is None else ("X", *columns):
        if known is None or name not in known:
            raise ValueError(unknown(name, known or [], what="array", where=str(path)))
    X = dask_array.from_zarr(store if known is None else store["X"])
    labels = [dask_array.from_zarr(store[name]) for name in columns]
    rows = X.chunks[0][0] if X.ndim else 1
    joined = X.rechunk({0: -(-_SHARD_ROWS // rows) * rows}) if X.ndim == 2 else X
    return [
        Shard(f"{path}, {shard.name}", f"{output}-{shard.output}", shard.content, shard.counted)
        for shard in _of_array(joined, labels)
    ]
