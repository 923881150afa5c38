"""Maps as files: positions, diagnostics and the columns of the data, with a settings record."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.files import SETTINGS, check_space, replaced_file, replaced_files, write_file
from ctsne._core.guards import read_text, reading
from ctsne._core.npz import write_archive
from ctsne.io.anndata import RECORD_MARKS, find_entry, map_name
from ctsne.io.arrays import array_columns, read_arrays, read_npy
from ctsne.io.dataset import Dataset, Names, plain_array, storable
from ctsne.io.h5ad_maps import check_key, free_names, read_h5ad_map, room_in_h5ad, write_h5ad_map
from ctsne.io.hdf5 import opened, read_element
from ctsne.io.paths import (
    TEXT_SUFFIXES,
    check_input,
    check_output,
    load,
    new_sidecar_of,
    sidecar_of,
    suffix_of,
)
from ctsne.io.tables import (
    is_of_map,
    read_frame,
    row_names,
    separator_of,
    stored_text,
    table_columns,
)

# Roughly, for the space that a map needs: bytes per value, values that are added to a row, and
# bytes of the settings.
_BYTES, _ADDED, _SETTINGS = 8, 8, 10_000
# Where a map keeps its settings record: an array of a .npz, metadata of parquet and feather.
_RECORD, _METADATA_KEY = "record", b"ctsne"
# Values of a table that are text at a time, so that writing it needs little memory.
_BLOCK = 10**6


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map read from a file."""

    embedding: NDArray[np.float32]
    columns: dict[str, Any]  # diagnostics, and the columns of the data
    names: Names
    settings: str | None  # the record of how it was made; None for a table that lost its sidecar


def write_map(
    path: str | os.PathLike[str],
    embedding: ArrayLike,
    *,
    dataset: Dataset,
    diagnostics: Mapping[str, Any],
    settings: str,
    key: str = "ctsne",
) -> None:
    """Write a map, whole or not at all; equal maps give equal bytes.

    An .h5ad made from an .h5ad is a copy of it with the map added, and may replace it. A map in
    .csv, .tsv or .npy has its settings record, a JSON text, in ``PATH.json``. Names of positions
    and diagnostics begin with ``key``; an .h5ad holds the map in ``obsm["X_" + key]`` and the rest
    in ``uns[key]``.
    """
    target = check_output(path)
    check_key(target, dataset=dataset, key=key)
    suffix = suffix_of(target)
    key = map_name(key) if suffix == ".h5ad" else key
    n = dataset.X.shape[0]
    positions = np.ascontiguousarray(embedding, np.float32)
    if positions.ndim != 2 or len(positions) != n:
        wanted = f"a row for each of the {n} points"
        raise ValueError(f"embedding must have {wanted}, got shape {positions.shape}")
    added = {f"{key}_{name}": np.asarray(values) for name, values in diagnostics.items()}
    for name, values in added.items():
        if values.shape != (n,):
            wanted = f"one value for each of the {n} points"
            raise ValueError(f"the diagnostic {name} must have {wanted}, got shape {values.shape}")
    # Columns of an earlier map of this key are replaced; this one may have fewer.
    kept = {name: each for name, each in dataset.columns.items() if not is_of_map(name, key)}
    if suffix == ".h5ad":
        dataset = replace(dataset, columns=kept)
        write_h5ad_map(target, positions, dataset, added, settings, key)
    elif suffix == ".npz":
        arrays = {"embedding": positions, _RECORD: np.array(settings)}
        if dataset.names is not None:
            arrays["names"] = np.asarray(dataset.names, str)
        for name, column in (added | kept).items():
            places = (each for each in free_names(name) if each not in {*arrays, "names"})
            arrays[next(places)] = plain_array(column)
        write_archive(target, arrays)
    elif suffix == ".npy":
        content = io.BytesIO()
        np.save(content, positions)
        with _with_settings(target, settings) as temporary:
            temporary.write_bytes(content.getbuffer())
    else:
        axes = {f"{key}_{axis}": column for axis, column in enumerate(positions.T, start=1)}
        columns = axes | added | kept
        called = None if dataset.called in columns else dataset.called
        _write_table(target, columns, dataset.names, called, settings)


def check_room(target: Path, *, dataset: Dataset) -> None:
    """Refuse a target whose disk is too full for the map, before any work is done."""
    n = dataset.X.shape[0]
    size = n * _BYTES * _ADDED + _SETTINGS
    if suffix_of(target) == ".h5ad":
        check_space(target, room_in_h5ad(dataset, size))
    else:
        check_space(target, size + n * _BYTES * len(dataset.columns))


def _write_table(
    target: Path,
    columns: Mapping[str, Any],
    names: Any,
    called: str | None = None,
    settings: str | None = None,
) -> None:
    pandas = load("pandas")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    index = names is not None
    if index:
        frame.index = pandas.Index(names, dtype=object, name=called)
    suffix = suffix_of(target)
    if suffix in TEXT_SUFFIXES:
        pair = replaced_file(target) if settings is None else _with_settings(target, settings)
        with pair as temporary:
            _write_text(temporary, frame, target, index=index)
        return
    table = load("pyarrow").Table.from_pandas(frame, preserve_index=index)
    if settings is not None:
        metadata = {**(table.schema.metadata or {}), _METADATA_KEY: settings.encode()}
        table = table.replace_schema_metadata(metadata)
    content = io.BytesIO()
    if suffix == ".parquet":
        load("pyarrow.parquet").write_table(table, content)
    else:
        load("pyarrow.feather").write_feather(table, content)
    write_file(target, content.getbuffer())


@contextlib.contextmanager
def _with_settings(target: Path, settings: str) -> Iterator[Path]:
    """Give a new file that replaces a map at the end, together with its settings."""
    with replaced_files(target, new_sidecar_of(target)) as (temporary, sidecar):
        yield temporary
        sidecar.write_text(f"{json.dumps(json.loads(settings), indent=1)}\n", "ascii")


def _write_text(file: Path, frame: Any, target: Path, *, index: bool) -> None:
    options = {"sep": separator_of(target), "index": index, "lineterminator": _line_end(frame)}
    rows = max(1, _BLOCK // frame.shape[1])
    packer = zlib.compressobj(9, wbits=31) if suffix_of(target).endswith(".gz") else None
    with file.open("wb") as out:
        for start in range(0, len(frame), rows):
            text = frame[start : start + rows].to_csv(header=start == 0, **options)
            block = text.encode("utf-8", "surrogatepass")
            out.write(block if packer is None else packer.compress(block))
        if packer is not None:
            out.write(packer.flush())


def _line_end(frame: Any) -> str:
    """Return the end of every line: a carriage return is not quoted unless it is part of it."""
    texts = [frame.columns, frame.index.names, frame.index]
    texts += [each for _, each in frame.items() if each.dtype.kind == "O"]
    return "\r\n" if any("\r" in str(text) for part in texts for text in part) else "\n"


def read_map(path: str | os.PathLike[str], *, key: str = "ctsne") -> MapFile:
    """Read a map that `write_map` wrote; raise ValueError for other files."""
    source = check_input(path)
    with reading(source, "a map written by ctsne"):
        positions, columns, names = _read_parts(source, key)
        if positions.ndim != 2 or not np.isfinite(positions).all():
            what = f"positions of shape {positions.shape}, or infinite or missing ones"
            raise ValueError(f"{source} is damaged: it holds {what}")
        return MapFile(positions, columns, names, read_settings(source, key))


def read_settings(source: Path, key: str) -> str | None:
    """Return the settings record of a map or a sweep folder as text; None if it has none."""
    suffix = "" if source.is_dir() else suffix_of(source)
    if suffix == ".h5ad":
        with opened(source) as file:
            name = find_entry(file.get("uns", {}), key)
            entry = {} if name is None else file["uns"][name]
            mark = next((mark for mark in RECORD_MARKS if mark in entry), None)
            return None if mark is None else str(read_element(entry[mark]))
    if suffix == ".npz":
        arrays, _ = read_arrays(source, only=(_RECORD,))
        return str(arrays[_RECORD]) if _RECORD in arrays else None
    if suffix in (".parquet", ".feather"):
        return stored_text(source, suffix, _METADATA_KEY)
    file = source / SETTINGS if source.is_dir() else sidecar_of(source)
    return read_text(file, "a settings record") if file.exists() else None


def _read_parts(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    suffix = suffix_of(source)
    columns: dict[str, Any] = {}
    names: Names = None
    if suffix == ".h5ad":
        positions, columns, names = read_h5ad_map(source, key)
    elif suffix == ".npz":
        arrays, _ = read_arrays(source)
        if not {"embedding", _RECORD} <= arrays.keys():
            raise ValueError(f"{source} is not a map written by ctsne")
        positions = np.asarray(arrays.pop("embedding"), np.float32)
        columns, names = array_columns(arrays, len(positions))
    elif suffix == ".npy":
        positions = np.asarray(read_npy(source), np.float32)
        if not (sidecar := sidecar_of(source)).exists():
            raise ValueError(f"{source} is not a map written by ctsne: {sidecar.name} is missing")
    else:
        positions, columns, names = _read_table(source, key)
    return positions, columns, names


def _read_table(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    first = f"{key}_1"
    frame = read_frame(source, own=first)
    if suffix_of(source) in TEXT_SUFFIXES and first in frame.columns[1:2]:  # row names before it
        frame = frame.set_index(frame.columns[0])
    axes = [name for name in frame.columns if re.fullmatch(rf"{re.escape(key)}_\d+", name)]
    if not axes:
        raise ValueError(f"{source} is not a map written by ctsne: it has no column {first}")
    positions = np.ascontiguousarray(frame[axes].to_numpy(np.float32))
    return positions, table_columns(frame.drop(columns=axes)), row_names(frame)[0]


def write_columns(path: Path, columns: Mapping[str, Any], *, names: Any = None) -> None:
    """Write columns and row names to a feather file, which keeps their types."""
    _write_table(path, columns, names)


def read_columns(path: Path) -> tuple[dict[str, Any], Names]:
    """Read the columns that `write_columns` wrote, and the row names."""
    with reading(path, "a valid table of columns"):
        frame = read_frame(path)
        return table_columns(frame), row_names(frame)[0]
