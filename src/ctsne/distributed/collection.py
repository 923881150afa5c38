"""Collections: Dask arrays, Dask data frames and files, as shards that are read in blocks."""

import contextlib
import glob
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.arrays import content_checksum
from ctsne._core.checks import is_sparse
from ctsne._core.files import reading
from ctsne._core.messages import load, shown, warn
from ctsne._core.stores import with_checked_stores
from ctsne.distributed.cluster import all_results
from ctsne.io import Dataset, Source, check_input, suffix_of
from ctsne.io.anndata import read_h5ad_blocks
from ctsne.io.dataset import check_labels
from ctsne.io.hdf5 import opened
from ctsne.io.tables import frame_data, read_schema, read_table_blocks

# Rows that are placed at a time: enough to keep the search busy, 50 MB for 100 columns.
BLOCK_ROWS = 2**16
FILE_SUFFIXES = (".parquet", ".h5ad")
# Rows by which a collection is known again, and from which its features are chosen.
_HEAD = 1000
_WANTED = "a Dask array, a Dask data frame, or the names of files"


@dataclass(frozen=True)
class Choice:
    """What to read of every shard."""

    columns: tuple[str, ...] = ()  # labels and strata
    features: tuple[str, ...] | None = None  # by name; None takes a whole matrix
    use_rep: str | None = None  # of .h5ad files
    others: bool = False  # whether all other columns are read too


@dataclass(frozen=True, eq=False)
class Shard:
    """A part of a collection that is read and placed in one task."""

    name: str  # in messages
    output: str  # name of the file for its points, without suffix
    content: Any  # the path of a file, or what Dask computes: a Dataset or a data frame
    counted: Any  # the same, perhaps without features, to count labels
    state: str = ""  # by which a changed file is recognized


@dataclass(frozen=True, eq=False)
class Collection:
    """All shards, and what to read of each."""

    shards: tuple[Shard, ...]
    choice: Choice
    labels: tuple[str, ...]  # those to factor out; more columns may be read
    head: Dataset  # the first rows
    state: str  # by which the same Dask collection is recognized


def open_collection(
    collection: Any,
    client: Any,
    *,
    labels: Any = None,
    strata: Sequence[str] = (),
    features: Sequence[str] | None = None,
    use_rep: str | None = None,
    others: bool = False,
) -> Collection:
    """Return the shards of a collection, after a look at its first rows."""
    # ``features`` are those of a model; by default as ctsne.io.read_data chooses in the first file.
    if _is_array(collection):
        if strata:
            raise ValueError("stratify names columns, but an array has none; pass them as labels")
        collection = with_checked_stores(collection)
        if np.isnan([*collection.shape[:1], *getattr(labels, "shape", ())[:1]]).any():
            how = "call compute_chunk_sizes() on the array and its labels first"
            raise ValueError(f"the partitions of the array have unknown lengths; {how}")
        label_arrays = _label_arrays(labels, collection)
        names, shards = tuple(label_arrays), _of_array(collection, label_arrays)
    else:
        names = check_column_names(labels, "labels")
        if _is_frame(collection):
            shards = tuple(
                Shard(f"partition {number}", f"part-{number:05d}", part, part)
                for number, part in enumerate(collection.to_delayed())
            )
        else:
            shards = _of_files(collection)
    if not shards:
        raise ValueError("the collection is empty: it has no partitions")
    files = isinstance(shards[0].content, str)
    if use_rep is not None and not (files and suffix_of(shards[0].content) == ".h5ad"):
        raise ValueError("use_rep is for .h5ad files, which this collection does not have")
    columns = tuple(dict.fromkeys((*names, *strata)))
    known = None if features is None else tuple(features)
    choice = Choice(columns, known, use_rep, others)
    head = _first_rows(shards, choice, client)
    for doubt in head.warnings:
        warn(str(doubt), type(doubt))
    # All shards are read as the first one was.
    named = head.source.kind in ("table", "X")
    choice = replace(choice, features=head.features if named else None, use_rep=head.source.use_rep)
    state = ""
    if not files:  # which are known by their names, and may be corrected
        state = content_checksum(head.X, *(head.columns[name] for name in columns))
    return Collection(shards, choice, names, head, state)


def are_files(collection: Any) -> bool:
    """Return whether a collection is names of files, which can be opened without a cluster."""
    return not _is_array(collection) and not _is_frame(collection)


def _is_array(collection: Any) -> bool:
    return hasattr(collection, "dask") and hasattr(collection, "chunks")


def _is_frame(collection: Any) -> bool:
    return hasattr(collection, "npartitions") and hasattr(collection, "columns")


def check_column_names(columns: Any, argument: str) -> tuple[str, ...]:
    """Return names of columns from one name, several or none."""
    if columns is None:
        return ()
    names = (columns,) if isinstance(columns, str) else columns
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        wanted = "the name of a column, or a list of names"
        raise TypeError(f"{argument} must be {wanted}, got {shown(columns)}")
    return tuple(dict.fromkeys(names))


# Blocks of rows, so that memory does not depend on the size of a shard


def shard_blocks(content: Any, choice: Choice, rows: int = BLOCK_ROWS) -> Iterator[Dataset]:
    """Yield the rows of a shard in blocks; one without rows yields nothing."""
    for block in _blocks(content, choice, rows):
        kept = block.columns if choice.others else choice.columns
        yield replace(block, columns={name: block.columns[name] for name in kept})


def _blocks(content: Any, choice: Choice, rows: int) -> Iterator[Dataset]:
    named: dict[str, Any] = {"features": choice.features, "labels": choice.columns}
    if isinstance(content, str):
        path = Path(content)
        with reading(path, "valid data"):
            if suffix_of(path) == ".h5ad":
                yield from read_h5ad_blocks(path, rows, **named, use_rep=choice.use_rep)
            else:
                yield from read_table_blocks(path, rows, **named, others=choice.others)
    elif isinstance(content, Dataset):
        for start in range(0, content.X.shape[0], rows):
            yield content.take(slice(start, start + rows))
    else:
        check_labels(choice.columns, [*map(str, content.columns)], (), where="the data frame")
        for start in range(0, len(content), rows):
            yield frame_data(content.iloc[start : start + rows], **named, where="the data frame")


def _array_data(part: Any, columns: dict[str, Any]) -> Dataset:
    X: Any = part.tocsr() if is_sparse(part) else np.asarray(part)
    if X.ndim != 2:
        raise ValueError(f"X must be a 2D array, got shape {X.shape}")
    for name, column in columns.items():
        if len(column) != X.shape[0]:
            raise ValueError(f"{name} has {len(column)} entries, but X has {X.shape[0]} rows")
    return Dataset(X, (), columns, None, Source("array", None, X.shape[1]))


@contextlib.contextmanager
def name_errors(shard: str) -> Iterator[None]:
    """Add the name of a shard to errors in its data."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if shard in str(error):
            raise
        raise ValueError(f"{shard}: {error}") from error


def _first_rows(shards: Sequence[Shard], choice: Choice, client: Any) -> Dataset:
    delayed = load("dask", extra="dask").delayed
    for shard in shards:
        head = delayed(_head_of)(shard.content, choice)
        here = client is None or isinstance(shard.content, str)  # files need no cluster
        found: Dataset | None = (
            head.compute(scheduler="sync") if here else all_results(client, [head], [shard.name])[0]
        )
        if found is not None:
            return found
    raise ValueError("the collection is empty: none of its partitions has rows")


def _head_of(content: Any, choice: Choice) -> Dataset | None:
    """Return the first rows of a shard, or None if it is empty; runs on a worker."""
    return next(shard_blocks(content, choice, _HEAD), None)


# Dask arrays and data frames


def _label_arrays(labels: Any, X: Any) -> dict[str, Any]:
    """Return columns of labels by name: of a Dask or NumPy array, or of a mapping to arrays."""
    if labels is None:
        return {}
    if isinstance(labels, str):
        raise TypeError(f"an array has no column {shown(labels)}; pass the labels as an array")
    if isinstance(labels, Mapping):
        columns = {str(name): column for name, column in labels.items()}
    else:
        array = labels if _is_array(labels) else np.asarray(labels)
        if array.ndim not in (1, 2):
            raise ValueError(f"labels must have shape (n,) or (n, c), got {array.shape}")
        wide = array.ndim == 2 and array.shape[1] > 1
        parts = array.T if array.ndim == 2 else [array]
        columns = {str(at) if wide else "labels": column for at, column in enumerate(parts, 1)}
    for name, column in columns.items():
        columns[name] = column if hasattr(column, "shape") else np.asarray(column)
        n, length = X.shape[0], columns[name].shape[0]
        if n != length:
            raise ValueError(f"labels must have one entry per row: {name} has {length}, X has {n}")
    return columns


def _of_array(array: Any, labels: Mapping[str, Any]) -> tuple[Shard, ...]:
    delayed = load("dask", extra="dask").delayed
    if array.ndim != 2:
        raise ValueError(f"the array must have 2 dimensions, got {array.ndim}: {array.shape}")
    if array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    lengths = array.chunks[0]
    columns = {
        name: with_checked_stores(column).rechunk({0: lengths}).to_delayed().ravel()
        if _is_array(column)
        else np.split(column, np.cumsum(lengths)[:-1])
        for name, column in labels.items()
    }
    shards = []
    for number, (length, X) in enumerate(zip(lengths, array.to_delayed().ravel(), strict=True)):
        own = {name: column[number] for name, column in columns.items()}
        content = delayed(_array_data)(X, own)
        # Bytes, as NumPy refuses to count more than it could hold; X need not be computed.
        counted = delayed(_array_data)(np.empty((length, 0), np.int8), own)
        shards.append(Shard(f"partition {number}", f"part-{number:05d}", content, counted))
    return tuple(shards)


# Files


def file_paths(files: Any) -> list[Path]:
    """Return the files that are named, all of one format that can be read."""
    given = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(given, list | tuple) or not all(
        isinstance(name, str | os.PathLike) for name in given
    ):
        how = "for data in memory, use model.place"
        raise TypeError(f"the collection must be {_WANTED}, got {shown(files)}; {how}")
    paths = [path for name in given for path in _matches(os.fspath(name))]
    if not paths:
        raise ValueError("the collection is empty: name at least one file")
    suffixes = {suffix_of(path) for path in paths}
    if len(suffixes) > 1:
        raise ValueError(f"the files must be of one format, got {', '.join(sorted(suffixes))}")
    for path in paths:
        check_input(path, FILE_SUFFIXES)
    return paths


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns that a file has."""
    with reading(path, "valid data"):
        if suffix_of(path) == ".h5ad":
            with opened(path) as file:
                return [str(name) for name in file["obs"]]
        return list(read_schema(path).names)


def _matches(name: str) -> list[Path]:
    if not glob.has_magic(name) or os.path.exists(name):
        return [Path(name)]
    found = sorted(glob.glob(name))
    if not found:
        raise ValueError(f"no file matches {name!r:.100}; formats are {', '.join(FILE_SUFFIXES)}")
    return [Path(path) for path in found]


def _of_files(files: Any) -> tuple[Shard, ...]:
    paths = file_paths(files)
    stems = Counter(path.stem for path in paths)
    shards = []
    for number, path in enumerate(paths):
        output = path.stem if stems[path.stem] == 1 else f"{number:05d}-{path.stem}"
        state, name = path.stat(), str(path.absolute())
        mark = f"{state.st_size} {state.st_mtime_ns}"
        shards.append(Shard(str(path), output, name, name, mark))
    return tuple(shards)
