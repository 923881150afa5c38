"""Reading data of any format, with labels from a second file if there is one."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import file_checksum, reading
from ctsne._core.messages import did_you_mean, quoted
from ctsne.io import arrays
from ctsne.io.anndata import find_h5ad_data
from ctsne.io.dataset import (
    Dataset,
    check_numbers,
    first_difference,
    label_texts,
    take_rows,
)
from ctsne.io.hdf5 import opened
from ctsne.io.paths import TABLE_SUFFIXES, check_input, suffix_of
from ctsne.io.tables import (
    IDENTIFIER,
    like_missing,
    read_frame,
    read_table,
    row_names,
    table_columns,
)

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
    fewest: int = 2,
) -> Dataset:
    """Read data from a file; its suffix says which format it has.

    In a table, numeric columns that are not ``labels`` are the features, and ``index`` is the
    column with the row names (default: those that pandas or R stored as such). An .npz holds the
    matrix as ``X``, with an array for each column. ``features`` chooses columns by name or pattern.

    ``label_file`` is a table or NumPy file with more columns for the same points. It is joined by
    its column ``join_on``, matched with the column of the same name in the data, or else with the
    row names; ``"index"`` joins by the row names of both files. By default, and with ``"order"``,
    rows are joined by order; the default refuses files with identifiers in a different order.

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
    if join_on is not None and label_file is None:
        raise ValueError("--join-on needs a label file: add --label-file FILE, or leave it out")
    # Before reading: a file replaced meanwhile must not pass for the one that was read.
    sha256 = file_checksum(source)
    extra = None if label_file is None else _read_label_file(label_file, labels, join_on)
    elsewhere = () if extra is None else tuple(extra.columns)
    with reading(source, "valid data"):
        if suffix in TABLE_SUFFIXES:
            data = read_table(source, labels, elsewhere, features, index, join_on)
        elif suffix == ".h5ad":
            chosen: dict[str, Any] = {"use_rep": use_rep, "layer": layer}
            with opened(source) as file:
                data = find_h5ad_data(file, source, labels, elsewhere, **chosen).select(features)
        else:
            data = arrays.read_matrix(source, labels, elsewhere).select(features)
        data = replace(check_numbers(data, fewest=fewest), sha256=sha256)
    return data if extra is None else _joined(data, extra, labels, join_on)


def _read_label_file(
    path: str | os.PathLike[str], labels: Sequence[str], join_on: str | None
) -> Dataset:
    """Read the columns of a table or NumPy file; an .npy is the column of the only label."""
    source = check_input(path, LABEL_SUFFIXES)
    sha256 = file_checksum(source)
    columns: dict[str, Any]
    called, names = None, None
    with reading(source, "a valid file of labels"):
        if suffix_of(source) in TABLE_SUFFIXES:
            frame = read_frame(source, as_text=join_on)
            (names, called), columns, n = row_names(frame), table_columns(frame), len(frame)
        elif suffix_of(source) == ".npy":
            array = arrays.read_npy(source)
            if (array.ndim != 1 and array.shape[1:] != (1,)) or array.dtype.kind not in "biufSUmM":
                got = f"{array.dtype} of shape {array.shape}"
                raise ValueError(f"{source} must hold one label per point, got {got}")
            name = labels[0] if len(labels) == 1 else source.stem
            columns, n = {name: arrays.label_array(array)}, len(array)
        else:
            found, pickled = arrays.read_arrays(source)
            arrays.refuse_pickled(labels, pickled, source)
            flat = {name: array for name, array in found.items() if len(array.shape) == 1}
            # The longest arrays are the columns; shorter ones describe something else.
            lengths = {len(flat[name]) for name in labels if name in flat}
            n = max(lengths or map(len, flat.values()), default=0)
            if len(lengths) > 1 or n == 0:
                raise ValueError(
                    f"{source} must hold arrays of equal length with one label per point"
                )
            columns, names = arrays.array_columns(flat, n)
    if not columns:
        raise ValueError(f"{source} holds no column of labels")
    X = np.empty((n, 0))
    return Dataset(X, (), columns, names, path=source, called=called, sha256=sha256)


def _joined(data: Dataset, extra: Dataset, labels: Sequence[str], join_on: str | None) -> Dataset:
    """Return the data with the columns of the label file added."""
    rows = None
    if join_on is None or (join_on == ORDER and ORDER not in _keys(extra)):
        agreed = None if join_on == ORDER else _agreed_key(data, extra, labels)
        _check_lengths(data, extra)
        how = f"order; {agreed}" if agreed else "order, which must be the same in both files"
    else:
        rows, how = _rows(data, extra, join_on)
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
            one, other = (np.asarray(values, object)[row] for values in (known, taken))
            files = f"{data.path} and {extra.path} both have a column {name!r:.60}"
            where = f"point {row + 1}: {one!r:.40} and {other!r:.40}"
            raise ValueError(f"{files}, and they differ ({where}); rename or remove one of them")
    notes = (*data.notes, f"labels of {extra.path} joined by {how}", *like_missing(new))
    data = replace(data, columns=data.columns | new, notes=notes)
    return replace(data, label_path=extra.path, label_sha256=extra.sha256)


def _keys(data: Dataset, features: Collection[str] = ()) -> dict[str, _Texts]:
    """Return what rows may be joined by: the row names, and columns of text or whole numbers."""
    keys = {} if data.names is None else {INDEX: data.names.tolist()}
    for name in (*data.columns, *(name for name in data.features if name in features)):
        column = data.column(name)
        kind = column.dtype.kind
        if kind in "iuOU" or (kind == "f" and not np.mod(column, 1).any()):
            keys[name] = label_texts(column).tolist()
    return keys


def _check_lengths(data: Dataset, extra: Dataset, how: str = "") -> None:
    n, length = data.X.shape[0], extra.X.shape[0]
    if length != n:
        header = "; its first line is read as column names" if length == n - 1 else ""
        how = how or f"{header}. To join by a column instead of by order, use --join-on COLUMN"
        raise ValueError(f"{extra.path} has {length} rows but {data.path} has {n}{how}")


def _rows(data: Dataset, extra: Dataset, join_on: str) -> tuple[NDArray[np.intp], str]:
    """Return the row of the label file for each point, and how it was found in words."""
    own, keys = _keys(data, (join_on,)), _keys(extra)
    there = INDEX if join_on == extra.called else join_on
    here = join_on if join_on in own or join_on in data.columns else INDEX
    for name, known, file in ((there, keys, extra.path), (here, own, data.path)):
        if name not in known:
            what = f"column {join_on!r:.60} to join by" if join_on != INDEX else "row names"
            columns = [column for column in known if column != INDEX]
            how = did_you_mean(join_on, columns) or f"; its columns are {quoted(columns)}"
            for key, found in keys.items():
                if here in own and _related(here, own[here], key, found):
                    how = f"; use {_option(here, key, data)}"
            raise ValueError(f"--join-on: {file} has no {what}{how}")
    what = f"{_described(there)} of {extra.path}"
    row_of: dict[str | None, int] = {}
    for row, value in enumerate(keys[there]):
        if value is not None and row_of.setdefault(value, row) != row:
            twice = f"{value!r:.60} appears in rows {row_of[value] + 1} and {row + 1}"
            raise ValueError(f"{what} must be unique to join by, but {twice}")
    absent = [value for value in own[here] if value not in row_of]
    if absent:
        rows = f"{len(absent)} of the {len(own[here])} rows of {data.path}"
        raise ValueError(f"{rows} have no match in {what}: {quoted(absent, most=3)}")
    how = _described(here) if here == there else f"{_described(here)} of {data.path} and {what}"
    return np.array([row_of[value] for value in own[here]], np.intp), how


def _agreed_key(data: Dataset, extra: Dataset, labels: Sequence[str]) -> str | None:
    """Say which identifiers agree, row by row; refuse files in which they do not."""
    agreed = None
    own = _keys(data, extra.columns)
    for there, found in _keys(extra).items():
        if there in labels or None in found or len(set(found)) < len(found):
            continue
        for here in [name for name in own if name not in labels]:
            one, two = _described(here), _described(there)
            if own[here] == found and here == there:
                agreed = agreed or f"{one} agree{'' if here == INDEX else 's'} in both files"
            elif own[here] == found:
                agreed = agreed or f"{one} of {data.path} and {two} of {extra.path} agree"
            elif _related(here, own[here], there, found):
                how = f"; join them with {_option(here, there, data)}"
                _check_lengths(data, extra, how)
                raise ValueError(
                    f"{data.path} and {extra.path} both identify their rows ({one} and {two}), but "
                    f"not in the same order{how}, or with --join-on order if the rows correspond "
                    "as they are"
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
    if numbers and there != INDEX and not IDENTIFIER.search(there):
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
