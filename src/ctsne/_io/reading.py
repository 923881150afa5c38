"""Reading data of any format, with labels from a second file if there is one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import file_checksum
from ctsne._core.messages import listed, unknown
from ctsne._io.anndata import read_h5ad
from ctsne._io.arrays import (
    array_columns,
    label_array,
    read_arrays,
    read_matrix,
    read_npy,
    refuse_pickled,
)
from ctsne._io.dataset import (
    Dataset,
    check_numbers,
    first_difference,
    label_texts,
    select_features,
    take_rows,
)
from ctsne._io.paths import TABLE_SUFFIXES, check_input, suffix_of
from ctsne._io.tables import (
    like_id,
    like_missing,
    read_frame,
    read_table,
    row_names,
    table_columns,
)

__all__ = ["read_data"]

LABEL_SUFFIXES = (*TABLE_SUFFIXES, ".npz", ".npy")
# Values of join_on that do not have to be columns.
INDEX, ORDER = "index", "order"
# Two columns in which this share of the values agree hold the same identifiers.
_MOSTLY = 0.5

_Texts = list[str | None]


def read_data(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    label_file: str | os.PathLike[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    features: Sequence[str] | None = None,
    index: str | None = None,
    join_on: str | None = None,
) -> Dataset:
    """Read data from a file; its suffix says which format it has.

    In a table (.csv, .tsv, both with .gz, .parquet, .feather) numeric columns that are not
    ``labels`` are the features. An .npz holds them as ``X``, with an array for each column; an
    .npy is the matrix alone. For an .h5ad, with ``use_rep`` and ``layer``, see
    :func:`ctsne._io.anndata.choose_representation`. ``features`` chooses columns by name or
    pattern.

    ``index`` is the column of a table with the row names. Without it, row names are those that
    pandas or R stored as such: the index of a parquet or feather file, or a first column without
    a name.

    ``label_file`` is a table or NumPy file with more columns for the same points; a column that
    both files have must be the same in both. It is joined by its column ``join_on``, whose values
    must be unique, matched with the column of the same name in the data, or else with the row
    names; ``"index"`` joins by the row names of both files. By default, and with ``"order"``, rows
    are joined by order; the default refuses files with identifiers in a different order.
    """
    source = check_input(path)
    suffix = suffix_of(source)
    if suffix != ".h5ad" and (use_rep is not None or layer is not None):
        raise ValueError(f"--use-rep and --layer are for .h5ad files; {source} is not one")
    if suffix not in TABLE_SUFFIXES and index is not None:
        own = "obs_names" if suffix == ".h5ad" else "the array 'names', if there is one"
        raise ValueError(f"--index is for tables; the row names of {source} are {own}")
    if join_on is not None and label_file is None:
        raise ValueError("--join-on needs a label file: add --label-file FILE, or leave it out")
    # Before reading: a file replaced meanwhile must not pass for the one that was read.
    sha256 = file_checksum(source)
    extra = None if label_file is None else _read_label_file(label_file, labels, join_on)
    elsewhere = () if extra is None else tuple(extra.columns)
    if suffix in TABLE_SUFFIXES:
        data = read_table(
            source, labels, elsewhere, features=features, index=index, join_on=join_on
        )
    else:
        if suffix == ".h5ad":
            data = read_h5ad(source, labels, elsewhere, use_rep=use_rep, layer=layer)
        else:
            data = read_matrix(source, labels, elsewhere)
        data = select_features(data, features)
    data = replace(check_numbers(data), sha256=sha256)
    return data if extra is None else _joined(data, extra, labels, join_on)


def _read_label_file(
    path: str | os.PathLike[str], labels: Sequence[str], join_on: str | None
) -> Dataset:
    """Read the columns of a table or NumPy file; an .npy is the column of the only label."""
    source = check_input(path, LABEL_SUFFIXES)
    sha256 = file_checksum(source)
    suffix = suffix_of(source)
    called, names = None, None
    columns: dict[str, Any]
    if suffix in TABLE_SUFFIXES:
        frame = read_frame(source, as_text=() if join_on is None else (join_on,))
        names, columns, n = row_names(frame), table_columns(frame), len(frame)
        called = None if frame.index.name is None else str(frame.index.name)
    elif suffix == ".npy":
        array = read_npy(source)
        if array.ndim != 1 and array.shape[1:] != (1,):
            raise ValueError(
                f"{source} must hold one label per point, got an array of shape {array.shape}"
            )
        columns = {labels[0] if len(labels) == 1 else source.stem: label_array(array)}
        n = len(array)
    else:
        arrays, pickled = read_arrays(source)
        refuse_pickled(labels, pickled, source)
        flat = {name: array for name, array in arrays.items() if len(array.shape) == 1}
        # The longest arrays are the columns; shorter ones describe something else.
        lengths = {len(flat[name]) for name in labels if name in flat}
        n = max(lengths or map(len, flat.values()), default=0)
        if len(lengths) > 1 or n == 0:
            raise ValueError(f"{source} must hold arrays of equal length with one label per point")
        columns, names = array_columns(flat, n)
    return Dataset(np.empty((n, 0)), (), columns, names, path=source, sha256=sha256, called=called)


def _joined(data: Dataset, extra: Dataset, labels: Sequence[str], join_on: str | None) -> Dataset:
    """Return the data with the columns of the label file added."""
    rows, how = _rows(data, extra, labels, join_on)
    # Columns that both files have stay as the data have them, with the order of their categories.
    new = {}
    for name, column in extra.columns.items():
        if name == join_on and join_on not in data.columns:
            continue
        taken = column if rows is None else take_rows(column, rows)
        if name not in data.columns and name not in data.features:
            new[name] = taken
            continue
        known = data.column(name)
        row = first_difference(known, taken)
        if row is not None:
            values = [np.asarray(each, object)[row] for each in (known, taken)]
            raise ValueError(
                f"{data.path} and {extra.path} both have a column {name!r:.60}, and they differ "
                f"(point {row + 1}: {values[0]!r:.40} and {values[1]!r:.40}); rename or remove it "
                f"in {extra.path}"
            )
    notes = (*data.notes, f"labels of {extra.path} joined by {how}", *like_missing(new))
    return replace(
        data, columns=data.columns | new, notes=notes,
        label_path=extra.path, label_sha256=extra.sha256,
    )  # fmt: skip


def _rows(
    data: Dataset, extra: Dataset, labels: Sequence[str], join_on: str | None
) -> tuple[NDArray[np.intp] | None, str]:
    """Return the row of the label file for each point (None: the same row), and how in words."""
    keys = dict(_keys(extra))
    if join_on is None or (join_on == ORDER and ORDER not in keys):
        agreed = None if join_on == ORDER else _agreed_key(data, extra, labels)
        n, length = data.X.shape[0], extra.X.shape[0]
        if length != n:
            header = "; its first line is read as column names" if length == n - 1 else ""
            raise ValueError(
                f"{extra.path} has {length} rows but {data.path} has {n}{header}. Joined by order, "
                "there must be one for each point; --join-on COLUMN joins by a column instead"
            )
        sure = f"in which {agreed} agree" if agreed else "which must be the same in both files"
        return None, f"order, {sure}"
    own = dict(_keys(data, (join_on,)))
    there = INDEX if join_on == extra.called else join_on
    here = join_on if join_on in own or join_on in data.columns else INDEX
    for name, known, file in ((there, keys, extra.path), (here, own, data.path)):
        if name not in known:
            columns = [each for each in known if each != INDEX]
            how = f"; {file} has no row names" if name == INDEX else ""
            text = unknown(join_on, columns, what="column to join by", where=str(file))
            raise ValueError(f"--join-on: {text}{how}")
    how = _described(here)
    if here != there:
        how = f"{_described(here)} of {data.path} and {_described(there)} of {extra.path}"
    return _matched(own[here], keys[there], data.path, extra.path, _described(there)), how


def _keys(data: Dataset, features: Collection[str] = ()) -> Iterator[tuple[str, _Texts]]:
    """Yield what rows may be joined by: the row names, and columns of text or whole numbers."""
    if data.names is not None:
        yield INDEX, data.names.tolist()
    for name in (*data.columns, *(name for name in data.features if name in features)):
        column = data.column(name)
        kind = column.dtype.kind
        if kind in "iuOU" or (kind == "f" and not np.mod(column, 1).any()):
            yield name, label_texts(column).tolist()


def _matched(
    wanted: _Texts, found: _Texts, path: Path, label_path: Path, what: str
) -> NDArray[np.intp]:
    row_of: dict[str | None, int] = {}
    for row, value in enumerate(found):
        if value is not None and row_of.setdefault(value, row) != row:
            raise ValueError(
                f"{what} of {label_path} must be unique to join by, but {value!r:.60} appears in "
                f"rows {row_of[value] + 1} and {row + 1}"
            )
    absent = [value for value in wanted if value not in row_of]
    if absent:
        raise ValueError(
            f"{len(absent)} of the {len(wanted)} rows of {path} have no match in {what} of "
            f"{label_path}: {listed(absent, most=3)}"
        )
    return np.array([row_of[value] for value in wanted], np.intp)


def _agreed_key(data: Dataset, extra: Dataset, labels: Sequence[str]) -> str | None:
    """Return which identifiers agree, row by row; refuse files in which they do not."""
    own = {name: texts for name, texts in _keys(data, extra.columns) if name not in labels}
    agreed = None
    for there, found in _keys(extra):
        if there in labels or None in found or len(set(found)) < len(found):
            continue
        for here, wanted in own.items():
            if wanted == found:
                agreed = agreed or _described(here)
            elif _related(here, wanted, there, found):
                raise ValueError(
                    f"{data.path} and {extra.path} both identify their rows "
                    f"({_described(here)} and {_described(there)}), but not in the same order; "
                    f"join them with {_option(here, there, data)}, or with --join-on order if the "
                    "rows correspond as they are"
                )
    return agreed


def _related(here: str, wanted: _Texts, there: str, found: _Texts) -> bool:
    """Tell whether two keys identify the same rows."""
    if here == there != INDEX:
        return True
    if len(set(wanted)) < len(wanted):
        return False
    if here == there:  # row numbers say nothing
        return not (_counts(wanted) or _counts(found))
    numbers = all(text is not None and text.isdigit() for text in found)
    if numbers and there != INDEX and not like_id(there):
        return False  # ranks, say, which agree with row numbers by chance
    values = set(found)
    return sum(text in values for text in wanted) > _MOSTLY * len(wanted)


def _counts(texts: _Texts) -> bool:
    return any(texts == [str(row) for row in range(k, k + len(texts))] for k in (0, 1))


def _described(name: str) -> str:
    return "the row names" if name == INDEX else f"column {name!r:.60}"


def _option(here: str, there: str, data: Dataset) -> str:
    """Return the options that join by these two keys."""
    if here in (INDEX, there):
        return f"--join-on {there}"
    if suffix_of(data.path) in TABLE_SUFFIXES:
        return f"--index {here} --join-on {there}"
    return f"--join-on {here} after renaming {_described(there)} of the label file to {here!r:.60}"
