"""Reading data of any format, with labels from a second file if there is one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import file_checksum, reading
from ctsne._core.messages import quoted
from ctsne.io import arrays
from ctsne.io.anndata import find_h5ad_data
from ctsne.io.dataset import Dataset, check_numbers, first_difference, label_texts, take_rows
from ctsne.io.hdf5 import opened
from ctsne.io.paths import TABLE_SUFFIXES, check_input, suffix_of
from ctsne.io.tables import like_missing, read_frame, read_table, row_names, table_columns

LABEL_SUFFIXES = (*TABLE_SUFFIXES, ".npy")
_ROW_NAMES = "the row names"


def read_data(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    label_file: str | os.PathLike[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    features: Sequence[str] | None = None,
    index: str | None = None,
    fewest: int = 2,
) -> Dataset:
    """Read data from a file; its suffix says which format it has.

    In a table, numeric columns that are not ``labels`` are the features, and ``index`` is the
    column with the row names (default: those that pandas or R stored as such). An .npz holds the
    matrix as ``X``, with an array for each column. ``features`` chooses columns by name or pattern.

    ``label_file`` is a table with more columns for the same points, or an .npy with one label per
    point. Its rows are matched by name if it holds the row names of the data or one of their
    columns of unique texts, or if a column of the same name has each value once, such as one row
    per donor. Else they must be in the same order.

    Data with fewer than ``fewest`` rows are refused: a map needs two, placing points in it one.
    """
    source = check_input(path)
    suffix = suffix_of(source)
    if layer is not None and use_rep is not None:
        raise ValueError(f"give --use-rep or --layer, not both: {use_rep!r:.60}, {layer!r:.60}")
    if suffix != ".h5ad" and (use_rep is not None or layer is not None):
        raise ValueError(f"--use-rep and --layer are for .h5ad files; {source} is not one")
    if suffix not in TABLE_SUFFIXES and index is not None:
        own = "obs_names" if suffix == ".h5ad" else "the array 'names', if there is one"
        raise ValueError(f"--index is for tables; the row names of {source} are {own}")
    # Before reading: a file replaced meanwhile must not pass for the one that was read.
    sha256 = file_checksum(source)
    extra = None if label_file is None else _read_label_file(label_file, labels, index)
    elsewhere = () if extra is None else tuple(extra.columns)
    with reading(source, "valid data"):
        if suffix in TABLE_SUFFIXES:
            data = read_table(source, labels, elsewhere, features, index)
        elif suffix == ".h5ad":
            chosen: dict[str, Any] = {"use_rep": use_rep, "layer": layer}
            with opened(source) as file:
                data = find_h5ad_data(file, source, labels, elsewhere, **chosen).select(features)
        else:
            data = arrays.read_matrix(source, labels, elsewhere).select(features)
        data = replace(check_numbers(data, fewest=fewest), sha256=sha256)
    return data if extra is None else _joined(data, extra)


def _read_label_file(
    path: str | os.PathLike[str], labels: Sequence[str], index: str | None
) -> Dataset:
    """Read the columns of a table; an .npy is the column of the only label."""
    source = check_input(path, LABEL_SUFFIXES)
    sha256 = file_checksum(source)
    with reading(source, "a valid file of labels"):
        if suffix_of(source) == ".npy":
            array = arrays.read_npy(source)
            if (array.ndim != 1 and array.shape[1:] != (1,)) or array.dtype.kind not in "biufSUmM":
                got = f"{array.dtype} of shape {array.shape}"
                raise ValueError(f"{source} must hold one label per point, got {got}")
            name = labels[0] if len(labels) == 1 else source.stem
            columns, names, n = {name: arrays.label_array(array)}, None, len(array)
        else:
            frame = read_frame(source, as_text=index)
            columns, names, n = table_columns(frame), row_names(frame)[0], len(frame)
    if not columns:
        raise ValueError(f"{source} holds no column of labels")
    return Dataset(np.empty((n, 0)), (), columns, names, path=source, sha256=sha256)


def _joined(data: Dataset, extra: Dataset) -> Dataset:
    """Return the data with the columns of the label file added."""
    rows, key, how = _matching_rows(data, extra)
    # Columns that both files have stay as the data have them, with the order of their categories.
    new: dict[str, Any] = {}
    for name, column in extra.columns.items():
        taken = take_rows(column, rows)
        if name not in data.columns and name not in data.features:
            new |= {} if name == key else {name: taken}
            continue
        known = data.column(name)
        row = first_difference(known, taken)
        if row is not None:
            one, other = (np.asarray(values, object)[row] for values in (known, taken))
            files = f"{data.path} and {extra.path} both have a column {name!r:.60}"
            where = f"point {row + 1}: {one!r:.40} and {other!r:.40}"
            remedy = f"rename or remove one of them; if it names the points, use --index {name}"
            raise ValueError(f"{files}, and they differ ({where}); {remedy}")
    notes = (*data.notes, f"labels of {extra.path} joined by {how}", *like_missing(new))
    data = replace(data, columns=data.columns | new, notes=notes)
    return replace(data, label_path=extra.path, label_sha256=extra.sha256)


def _matching_rows(data: Dataset, extra: Dataset) -> tuple[NDArray[np.intp], str, str]:
    """Return the row of the label file for each point, its column used, and how in words."""
    n, length = data.X.shape[0], extra.X.shape[0]
    for here, wanted in _names(data, "OU").items():
        alone = len({*wanted} - {None}) == n
        for there, found in _names(extra, "iuOU").items():
            row_of = {name: row for row, name in enumerate(found) if name is not None}
            once = len(row_of) == length - found.count(None)
            absent = [name for name in wanted if name not in row_of]
            same = here == there == _ROW_NAMES or 2 * len(absent) < n
            if not same or not (alone or (once and here == there)):
                continue
            one, two = (f"{'' if x == _ROW_NAMES else 'column '}{x:.60}" for x in (here, there))
            what = f"{two} of {extra.path}"
            if absent:
                rows = f"{len(absent)} of the {n} rows of {data.path}"
                raise ValueError(f"{rows} have no match in {what}: {quoted(absent, most=3)}")
            if not once:
                twice = next(name for name, row in row_of.items() if found.index(name) != row)
                raise ValueError(f"{what} must be unique to join by, but repeats {twice!r:.60}")
            how = one if here == there else f"{one} of {data.path} and {what}"
            return np.array([row_of[str(name)] for name in wanted], np.intp), there, how
    if length != n:
        header = "; its first line is read as column names" if length == n - 1 else ""
        how = "to join by name, it needs a column with the row names of the data (--index COLUMN)"
        raise ValueError(f"{extra.path} has {length} rows but {data.path} has {n}{header}; {how}")
    return np.arange(n), "", "order, which must be the same in both files"


def _names(data: Dataset, kinds: str) -> dict[str, list[str | None]]:
    """Return what may name the rows: row names that do not only count, and columns by name."""
    keys = {
        name: label_texts(column).tolist()
        for name, column in data.columns.items()
        if column.dtype.kind in kinds
    }
    names = [] if data.names is None else data.names.tolist()
    if not any(names == [str(row) for row in range(k, k + len(names))] for k in (0, 1)):
        return {_ROW_NAMES: names, **keys}
    return keys
