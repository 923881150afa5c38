"""Columns that stand in a file of their own, joined to the data by name or by order."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.io.arrays import label_array, read_arrays, read_npy
from ctsne.io.names import unknown
from ctsne.io.parts import Parts
from ctsne.io.paths import TABLE_SUFFIXES, check_input, suffix_of
from ctsne.io.tables import read_frame, split_names, tidy_columns

__all__ = ["LabelFile", "read_label_file"]

LABEL_SUFFIXES = (*TABLE_SUFFIXES, ".npz", ".npy")


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The columns of a file of labels."""

    path: Path
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    length: int

    def joined_to(self, parts: Parts, path: Path) -> Parts:
        """Return the data with these columns beside their own, which they replace."""
        order = self._order(parts, path)
        columns = {name: _taken(column, order) for name, column in self.columns.items()}
        how = "in the order of the rows" if order is None else "by the names of the rows"
        note = f"labels of {self.path} joined {how}"
        return dataclasses.replace(
            parts, columns={**parts.columns, **columns}, notes=(*parts.notes, note)
        )

    def _order(self, parts: Parts, path: Path) -> NDArray[np.intp] | None:
        """Return for each point its row in this file; None if that is the same row."""
        n = parts.X.shape[0]
        if self.names is None or parts.names is None:
            if self.length != n:
                hint = ""
                if self.length == n - 1:
                    hint = "; its first line is read as the names of its columns"
                raise ValueError(
                    f"{self.path} has {self.length} rows, but {path} has {n}; without row names "
                    f"in both, there must be one for each, in the same order{hint}"
                )
            return None
        row_of = {name: row for row, name in enumerate(self.names.tolist())}
        if len(row_of) < self.length:
            raise ValueError(f"the row names of {self.path} are not all different")
        absent = [name for name in parts.names.tolist() if name not in row_of]
        if absent:
            known = self.names.tolist()
            text = unknown(absent[0], known[:1000], what="row", where=str(self.path))
            raise ValueError(
                f"{len(absent)} of the {n} rows of {path} have no row of that name in the file of "
                f"labels: {text}"
            )
        return np.array([row_of[name] for name in parts.names.tolist()], np.intp)


def _taken(column: Any, order: NDArray[np.intp] | None) -> Any:
    if order is None:
        return column
    if isinstance(column, np.ndarray):
        return column[order]
    return column.iloc[order].reset_index(drop=True)


def read_label_file(path: str | os.PathLike[str], *, labels: Sequence[str]) -> LabelFile:
    """Read the columns of a table or NumPy file; a single unnamed one has the label's name."""
    source = check_input(path, LABEL_SUFFIXES)
    suffix = suffix_of(source)
    if suffix in TABLE_SUFFIXES:
        names, frame, _ = split_names(read_frame(source), keep=set(labels))
        return LabelFile(source, tidy_columns(frame), names, len(frame))
    if suffix == ".npy":
        array = read_npy(source)
        if array.ndim != 1 and array.shape[1:] != (1,):
            raise ValueError(
                f"{source} must hold one label for each point, got an array of shape {array.shape}"
            )
        name = labels[0] if len(labels) == 1 else source.stem
        return LabelFile(source, {name: label_array(array)}, None, len(array))
    return _from_arrays(source, labels)


def _from_arrays(source: Path, labels: Sequence[str]) -> LabelFile:
    arrays, _ = read_arrays(source)
    columns = {name: array for name, array in arrays.items() if getattr(array, "ndim", 2) == 1}
    lengths = {len(columns[name]) for name in labels if name in columns}
    if not lengths:  # the longest are the columns; shorter ones describe something else
        lengths = {max((len(array) for array in columns.values()), default=0)}
    if len(lengths) > 1 or lengths == {0}:
        raise ValueError(f"{source} must hold arrays with one label for each point, all as long")
    (length,) = lengths
    names = columns.pop("names", None)
    if names is not None and (len(names) != length or names.dtype.kind != "U"):
        names = None
    kept = {name: label_array(array) for name, array in columns.items() if len(array) == length}
    return LabelFile(source, kept, names, length)
