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
from ctsne._io.archives import column_arrays, write_archive
from ctsne._io.arrays import columns_from, is_ours, read_arrays, read_npy
from ctsne._io.data import Dataset
from ctsne._io.h5ad_maps import check_key, read_h5ad_map, write_h5ad_map
from ctsne._io.paths import (
    DATA_SUFFIXES,
    TEXT_SUFFIXES,
    check_input,
    check_output,
    load,
    sidecar_of,
    suffix_of,
)
from ctsne._io.provenance import Provenance
from ctsne._io.stored import SCHEMA_KEY, schema_metadata
from ctsne._io.tables import is_of_map, read_frame, split_names, storable, tidy_columns
from ctsne._io.text import separator_of

__all__ = ["MapFile", "read_map", "write_map", "write_sidecar"]


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map as it was read from a file.

    Parameters
    ----------
    embedding : ndarray of float32, shape (n, k)
        The positions.
    columns : dict
        Diagnostics (``ctsne_perplexity`` ...) and the columns of the data, by name.
    names : ndarray of str or None
        Names of the rows.
    provenance : Provenance or None
        How it was made; None if a table has lost the file beside it that says so.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne._io import MapFile
    >>> MapFile(np.zeros((2, 2), np.float32), {"batch": ["a", "b"]}, None, None).embedding.shape
    (2, 2)
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

    Parameters
    ----------
    path : path
        The file; the end of its name tells its format. An .h5ad made from an .h5ad is a copy of
        it with the map added, and may take its place. Of a map in .csv, .tsv or .npy, the
        provenance stands beside it in ``PATH.json``.
    embedding : array of shape (n, k)
        The positions; kept in single precision.
    dataset : Dataset
        What the map was made of; its columns and names are written too.
    diagnostics : mapping of str to array of length n
        Columns about the points, such as ``"perplexity"``; written as ``ctsne_perplexity``.
    provenance : Provenance
        How the map was made.
    key : str, default="ctsne"
        What the names of positions and diagnostics begin with; in an .h5ad, the key of ``obsm``
        and ``uns``.

    Raises
    ------
    ValueError
        If the file cannot be written, the lengths do not fit, or the .h5ad holds something else
        under this key. Nothing is changed then.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ctsne._io import Provenance, read_data, read_map, write_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/cells.npz", X=np.eye(3), batch=np.array(["a", "b", "a"]))
    ...     data = read_data(f"{folder}/cells.npz")
    ...     made = Provenance("embed", {"seed": 0})
    ...     positions = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], np.float32)
    ...     write_map(
    ...         f"{folder}/map.csv", positions, dataset=data, diagnostics={}, provenance=made
    ...     )
    ...     again = read_map(f"{folder}/map.csv")
    >>> bool((again.embedding == positions).all()), list(again.columns), again.provenance == made
    (True, ['batch'], True)
    """
    target = check_output(path)
    check_key(target, dataset=dataset, key=key)
    positions = _check_positions(embedding, dataset)
    added = {f"{key}_{name}": _check_length(name, v, dataset) for name, v in diagnostics.items()}
    suffix = suffix_of(target)
    # Columns of an earlier map give way to those of this one, which may have fewer.
    kept = {name: v for name, v in dataset.columns.items() if not is_of_map(name, key)}
    if suffix == ".h5ad":
        dataset = dataclasses.replace(dataset, columns=kept)
        write_h5ad_map(target, positions, dataset, added, provenance, key=key)
        return
    axes = {f"{key}_{axis + 1}": positions[:, axis] for axis in range(positions.shape[1])}
    if suffix == ".npz":
        arrays = column_arrays(added | kept, dataset.names)
        stored = {"embedding": positions, **arrays, "provenance": np.array(provenance.to_json())}
        write_archive(target, stored)
    elif suffix == ".npy":
        with replaced_file(target) as temporary:
            with temporary.open("wb") as file:
                np.save(file, positions)
            write_sidecar(target, provenance)
    else:
        columns = axes | added | kept
        called = None if dataset.called in columns else dataset.called
        _write_table(target, columns, dataset.names, called, provenance)


def _check_positions(embedding: ArrayLike, dataset: Dataset) -> NDArray[np.float32]:
    positions = np.ascontiguousarray(embedding, np.float32)
    n = dataset.X.shape[0]
    if positions.ndim != 2 or len(positions) != n:
        raise ValueError(
            f"embedding must have a row for each of the {n} points, got shape {positions.shape}"
        )
    return positions


def _check_length(name: str, values: Any, dataset: Dataset) -> NDArray[Any]:
    array = np.asarray(values)
    n = dataset.X.shape[0]
    if array.shape != (n,):
        raise ValueError(
            f"diagnostics[{name!r}] must have one value for each of the {n} points, got shape "
            f"{array.shape}"
        )
    return array


def _write_table(
    target: Path,
    columns: Mapping[str, Any],
    names: NDArray[np.str_] | None,
    called: str | None,
    provenance: Provenance,
) -> None:
    pandas = load("pandas")
    suffix = suffix_of(target)
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    if names is not None:
        frame.index = pandas.Index(names, dtype=object, name=called)
    with replaced_file(target) as temporary:
        if suffix in TEXT_SUFFIXES:
            content = _as_text(frame, separator_of(target), index=names is not None)
            temporary.write_bytes(
                gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content
            )
            write_sidecar(target, provenance)
            return
        pyarrow = load("pyarrow")
        table = pyarrow.Table.from_pandas(frame, preserve_index=names is not None)
        metadata = {**(table.schema.metadata or {}), SCHEMA_KEY: provenance.to_json().encode()}
        table = table.replace_schema_metadata(metadata)
        if suffix == ".parquet":
            load("pyarrow.parquet").write_table(table, temporary)
        else:
            load("pyarrow.feather").write_feather(table, str(temporary))


def _as_text(frame: Any, separator: str, *, index: bool) -> bytes:
    text: str = frame.to_csv(sep=separator, index=index, lineterminator="\n")
    if "\r" in text:  # left without quotes unless it is part of what ends a line
        text = frame.to_csv(sep=separator, index=index, lineterminator="\r\n")
    return text.encode("utf-8", "surrogatepass")


def write_sidecar(target: Path, provenance: Provenance) -> None:
    """Write how an output was made beside it."""
    with replaced_file(sidecar_of(target)) as temporary:
        temporary.write_text(provenance.to_json(indent=1) + "\n", encoding="ascii")


def read_map(path: str | os.PathLike[str], *, key: str = "ctsne") -> MapFile:
    """Read a map that `write_map` wrote.

    Parameters
    ----------
    path : path
        The file.
    key : str, default="ctsne"
        What the map was called when it was written.

    Returns
    -------
    MapFile
        Positions, columns, names and provenance.

    Raises
    ------
    ValueError
        If there is no such file, or it holds no map of ours.

    Examples
    --------
    >>> import json, tempfile
    >>> import numpy as np
    >>> from ctsne._io import Provenance, read_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/map.npy", np.zeros((3, 2)))
    ...     with open(f"{folder}/map.npy.json", "w") as file:
    ...         json.dump(Provenance("embed", {"seed": 7}).to_dict(), file)
    ...     found = read_map(f"{folder}/map.npy")
    >>> found.embedding.shape, found.provenance.settings
    ((3, 2), {'seed': 7})
    """
    source = check_input(path, DATA_SUFFIXES)
    suffix = suffix_of(source)
    if suffix == ".h5ad":
        return MapFile(*read_h5ad_map(source, key=key))
    if suffix == ".npz":
        arrays, _ = read_arrays(source)
        if not ({"embedding", "provenance"} <= arrays.keys() and is_ours(arrays)):
            raise ValueError(_no_map(source))
        made = Provenance.from_json(str(arrays["provenance"]))
        positions = np.asarray(arrays["embedding"], np.float32)
        return MapFile(positions, columns_from(arrays), arrays.get("names"), made)
    if suffix == ".npy":
        made_here = _sidecar(source)
        if made_here is None:
            raise ValueError(f"{_no_map(source)} ({sidecar_of(source).name} is not beside it)")
        return MapFile(np.asarray(read_npy(source), np.float32), {}, None, made_here)
    return _read_table(source, key)


def _read_table(source: Path, key: str) -> MapFile:
    first = f"{key}_1"
    frame = read_frame(source, own=first)
    if suffix_of(source) in TEXT_SUFFIXES and first in frame.columns[1:2]:  # names before it
        frame = frame.set_index(frame.columns[0])
    names, frame, _ = split_names(frame, keep=set(frame.columns))
    axes = [name for name in frame.columns if re.fullmatch(rf"{re.escape(key)}_\d+", name)]
    if not axes:
        raise ValueError(f"{_no_map(source)}: there is no column {first}")
    positions = np.ascontiguousarray(frame[axes].to_numpy(np.float32))
    made = _sidecar(source)
    if suffix_of(source) not in TEXT_SUFFIXES:
        stored = schema_metadata(source).get(SCHEMA_KEY)
        made = None if stored is None else Provenance.from_json(stored.decode())
    return MapFile(positions, tidy_columns(frame.drop(columns=axes)), names, made)


def _sidecar(source: Path) -> Provenance | None:
    beside = sidecar_of(source)
    if not beside.exists():
        return None
    return Provenance.from_json(beside.read_text(encoding="utf-8"))


def _no_map(source: Path) -> str:
    return f"{source} is not a map written by ctsne"
