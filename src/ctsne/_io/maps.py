"""Maps as files: positions, diagnostics and the columns of the data, with their provenance."""

from __future__ import annotations

import dataclasses
import gzip
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.files import replaced_file
from ctsne._io.arrays import array_columns, read_arrays, read_npy, write_arrays
from ctsne._io.dataset import Dataset, plain_array, storable
from ctsne._io.h5ad_maps import check_key, free_names, read_h5ad_map, write_h5ad_map
from ctsne._io.paths import (
    DATA_SUFFIXES,
    TEXT_SUFFIXES,
    check_input,
    check_output,
    load,
    sidecar_of,
    suffix_of,
)
from ctsne._io.provenance import SCHEMA_KEY, Provenance, find_provenance, write_sidecar
from ctsne._io.tables import is_of_map, read_frame, row_names, separator_of, table_columns

__all__ = ["MapFile", "read_columns", "read_map", "write_columns", "write_map"]

# Arrays of an .npz map that are not columns.
_EMBEDDING, _NAMES, _PROVENANCE = "embedding", "names", "provenance"


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map read from a file; ``columns`` holds diagnostics and the columns of the data.

    ``provenance`` is None for a table that lost its sidecar.
    """

    embedding: NDArray[np.float32]
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    provenance: Provenance | None


def write_map(
    path: str | os.PathLike[str],
    embedding: ArrayLike,
    *,
    dataset: Dataset,
    diagnostics: Mapping[str, Any],
    provenance: Provenance,
    key: str = "ctsne",
) -> None:
    """Write a map, whole or not at all; equal maps give equal bytes.

    The suffix of ``path`` says which format to write. An .h5ad made from an .h5ad is a copy of it
    with the map added, and may replace it. A map in .csv, .tsv or .npy has its provenance in
    ``PATH.json``. Names of positions and diagnostics begin with ``key``; in an .h5ad it is the key
    of ``obsm`` and ``uns``.

    Raises ValueError if the file cannot be written, lengths do not match, or the .h5ad holds
    something else under this key; nothing is changed then.
    """
    target = check_output(path)
    check_key(target, dataset=dataset, key=key)
    n = dataset.X.shape[0]
    positions = np.ascontiguousarray(embedding, np.float32)
    if positions.ndim != 2 or len(positions) != n:
        raise ValueError(
            f"embedding must have a row for each of the {n} points, got shape {positions.shape}"
        )
    added = {f"{key}_{name}": np.asarray(values) for name, values in diagnostics.items()}
    for name, values in added.items():
        if values.shape != (n,):
            raise ValueError(
                f"the diagnostic {name} must have one value for each of the {n} points, got shape "
                f"{values.shape}"
            )
    # Columns of an earlier map of this key are replaced; this one may have fewer.
    kept = {name: v for name, v in dataset.columns.items() if not is_of_map(name, key)}
    suffix = suffix_of(target)
    if suffix == ".h5ad":
        dataset = dataclasses.replace(dataset, columns=kept)
        write_h5ad_map(target, positions, dataset, added, provenance, key=key)
    elif suffix == ".npz":
        _write_npz(target, positions, added | kept, dataset.names, provenance)
    elif suffix == ".npy":
        with replaced_file(target) as temporary:
            with temporary.open("wb") as file:
                np.save(file, positions)
            write_sidecar(target, provenance)
    else:
        axes = {f"{key}_{axis + 1}": positions[:, axis] for axis in range(positions.shape[1])}
        columns = axes | added | kept
        called = None if dataset.called in columns else dataset.called
        _write_table(target, _frame(columns, dataset.names, called), provenance)


def _write_npz(
    target: Path,
    positions: NDArray[np.float32],
    columns: Mapping[str, Any],
    names: NDArray[np.str_] | None,
    provenance: Provenance,
) -> None:
    arrays = {_EMBEDDING: positions, _PROVENANCE: np.array(provenance.to_json())}
    if names is not None:
        arrays[_NAMES] = np.asarray(names, str)
    taken = {_EMBEDDING, _PROVENANCE, _NAMES}
    for name, column in columns.items():
        place = next(each for each in free_names(name) if each not in taken)
        taken.add(place)
        arrays[place] = plain_array(column)
    write_arrays(target, arrays)


def _frame(columns: Mapping[str, Any], names: Any, called: str | None = None) -> Any:
    pandas = load("pandas")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    if names is not None:
        frame.index = pandas.Index(names, dtype=object, name=called)
    return frame


def _write_table(target: Path, frame: Any, provenance: Provenance | None) -> None:
    suffix = suffix_of(target)
    index = not isinstance(frame.index, load("pandas").RangeIndex)
    with replaced_file(target) as temporary:
        if suffix in TEXT_SUFFIXES:
            content = _as_text(frame, separator_of(target), index=index)
            temporary.write_bytes(
                gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content
            )
            if provenance is not None:
                write_sidecar(target, provenance)
            return
        table = load("pyarrow").Table.from_pandas(frame, preserve_index=index)
        if provenance is not None:
            metadata = {**(table.schema.metadata or {}), SCHEMA_KEY: provenance.to_json().encode()}
            table = table.replace_schema_metadata(metadata)
        if suffix == ".parquet":
            load("pyarrow.parquet").write_table(table, temporary)
        else:
            load("pyarrow.feather").write_feather(table, str(temporary))


def _as_text(frame: Any, separator: str, *, index: bool) -> bytes:
    text: str = frame.to_csv(sep=separator, index=index, lineterminator="\n")
    if "\r" in text:  # not quoted unless it is part of the line terminator
        text = frame.to_csv(sep=separator, index=index, lineterminator="\r\n")
    return text.encode("utf-8", "surrogatepass")


def read_map(path: str | os.PathLike[str], *, key: str = "ctsne") -> MapFile:
    """Read a map that `write_map` wrote; raise ValueError for other files."""
    source = check_input(path, DATA_SUFFIXES)
    suffix = suffix_of(source)
    columns: dict[str, Any] = {}
    names = None
    if suffix == ".h5ad":
        positions, columns, names = read_h5ad_map(source, key=key)
    elif suffix == ".npz":
        arrays, _ = read_arrays(source)
        if not {_EMBEDDING, _PROVENANCE} <= arrays.keys():
            raise ValueError(f"{source} is not a map written by ctsne")
        positions = np.asarray(arrays.pop(_EMBEDDING), np.float32)
        columns, names = array_columns(arrays, len(positions))
    elif suffix == ".npy":
        positions = np.asarray(read_npy(source), np.float32)
        if not sidecar_of(source).exists():
            raise ValueError(
                f"{source} is not a map written by ctsne: {sidecar_of(source).name} is missing"
            )
    else:
        positions, columns, names = _read_table(source, key)
    return MapFile(positions, columns, names, find_provenance(source, key))


def _read_table(
    source: Path, key: str
) -> tuple[NDArray[np.float32], dict[str, Any], NDArray[np.str_] | None]:
    first = f"{key}_1"
    frame = read_frame(source, own=first)
    if suffix_of(source) in TEXT_SUFFIXES and first in frame.columns[1:2]:  # row names before it
        frame = frame.set_index(frame.columns[0])
    axes = [name for name in frame.columns if re.fullmatch(rf"{re.escape(key)}_\d+", name)]
    if not axes:
        raise ValueError(f"{source} is not a map written by ctsne: it has no column {first}")
    try:
        positions = np.ascontiguousarray(frame[axes].to_numpy(np.float32))
    except ValueError as error:
        raise ValueError(f"{source} is damaged: {error}") from error
    return positions, table_columns(frame.drop(columns=axes)), row_names(frame)


def write_columns(path: Path, columns: Mapping[str, Any], *, names: Any = None) -> None:
    """Write columns and row names to a feather file, which keeps their types."""
    _write_table(path, _frame(columns, names), None)


def read_columns(path: Path) -> tuple[dict[str, Any], NDArray[np.str_] | None]:
    """Read the columns that `write_columns` wrote, and the row names."""
    frame = read_frame(path)
    return table_columns(frame), row_names(frame)
