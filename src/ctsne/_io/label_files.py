"""Columns that stand in a file of their own, joined to the data by name or by order."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.messages import label_text, listed
from ctsne._io.arrays import (
    columns_from,
    is_ours,
    label_array,
    read_arrays,
    read_npy,
    refuse_pickled,
)
from ctsne._io.columns import first_difference
from ctsne._io.parts import Parts, feature_values
from ctsne._io.paths import TABLE_SUFFIXES, check_input, file_sha256, suffix_of
from ctsne._io.tables import (
    called_like_names,
    like_missing,
    name_of_names,
    read_frame,
    split_names,
    tidy_columns,
)
from ctsne.labels import Labels, encode_labels

__all__ = ["LabelFile", "read_label_file"]

LABEL_SUFFIXES = (*TABLE_SUFFIXES, ".npz", ".npy")
# A column in which this share of the data's names is found was meant to hold them.
_MOSTLY = 0.5

_Texts = list[str | None]


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The columns of a file of labels.

    ``called`` is the name of the column that holds the names of the rows, if it has one; ``asked``
    are the columns that were asked for as labels.
    """

    path: Path
    sha256: str
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    length: int
    called: str | None = None
    asked: Sequence[str] = ()

    def joined_to(self, parts: Parts, path: Path) -> Parts:
        """Return the data with these columns beside their own."""
        order, key, how = self._order(parts, path)
        columns = {
            name: _taken(column, order) for name, column in self.columns.items() if name != key
        }
        compared = dict(columns)
        if self.called is not None and self.called != key:
            compared[self.called] = _taken(self.names, order)
        for name in compared.keys() & parts.columns.keys():
            self._check_same(name, parts.columns[name], compared[name], path)
        for name in columns.keys() & set(parts.features):
            feature = feature_values(parts.X, parts.features, name)
            self._check_same(name, feature, columns[name], path)
        note = f"labels of {self.path} joined {how}"
        # What is the same in both stays as the data have it, with the order of categories.
        there = {*parts.columns, *parts.features}
        new = {name: column for name, column in columns.items() if name not in there}
        notes = (*parts.notes, note, *like_missing(new))
        return dataclasses.replace(parts, columns=parts.columns | new, notes=notes)

    def _check_same(self, name: str, known: Any, new: Any, path: Path) -> None:
        row = first_difference(known, new)
        if row is not None:
            values = [np.asarray(column, object)[row] for column in (known, new)]
            raise ValueError(
                f"{path} and {self.path} both have a column {name!r:.60}, and they differ (point "
                f"{row + 1}: {values[0]!r:.40} and {values[1]!r:.40}); rename or remove it in "
                f"{self.path}"
            )

    def _order(self, parts: Parts, path: Path) -> tuple[NDArray[np.intp] | None, str | None, str]:
        """Return for each point its row here (None: the same row), by which column, and how."""
        for key, wanted, found, how in self._ways(parts):
            there = set(found)
            if sum(name in there for name in wanted) > _MOSTLY * len(wanted):
                return self._rows(wanted, found, path), key, how
        if self.names is not None and parts.names is not None:
            rows = self._rows(parts.names.tolist(), self.names.tolist(), path)
            return rows, self.called, "by the names of the rows"
        n = parts.X.shape[0]
        if self.length != n:
            hint = ""
            if self.length == n - 1:
                hint = "; its first line is read as the names of its columns"
            raise ValueError(
                f"{self.path} has {self.length} rows, but {path} has {n}; without row names "
                f"in both, there must be one for each, in the same order{hint}"
            )
        how = (
            "in the order of the rows: there are no names in both files to join them by, so make "
            "sure that the order is the same"
        )
        return None, None, how

    def _ways(self, parts: Parts) -> Iterator[tuple[str | None, _Texts, _Texts, str]]:
        """Yield what the files may be joined by: the column here, texts of both, in words."""
        names: _Texts | None = None if self.names is None else self.names.tolist()
        own: dict[str, _Texts] = {}
        for name, column in self.columns.items():
            if name not in self.asked and (texts := _identifiers(column)) is not None:
                own[name] = texts
        if parts.names is not None:
            wanted: _Texts = parts.names.tolist()
            if names is not None:
                yield self.called, wanted, names, "by the names of the rows"
            for name, texts in own.items():
                # Numbers that only happen to be a count of the rows, such as ranks, are no names.
                if _is_number(self.columns[name]) and not called_like_names(name):
                    continue
                yield name, wanted, texts, f"by the names of the rows (column {name!r:.60})"
        if names is not None and self.called is not None:
            own[self.called] = names
        for shared in (name for name in own if name in parts.columns):
            known = _identifiers(parts.columns[shared])
            if known is not None and None not in known and len(set(known)) == len(known):
                yield shared, known, own[shared], f"by column {shared!r:.60} of both"
        for shared in (name for name in own if name in parts.features):
            known = _texts(encode_labels(_feature(parts, shared)))
            if len(set(known)) == len(known) and set(known) <= set(own[shared]):
                yield shared, known, own[shared], f"by column {shared!r:.60} of both"

    def _rows(self, wanted: _Texts, found: _Texts, path: Path) -> NDArray[np.intp]:
        row_of: dict[str | None, int] = {}
        for row, name in enumerate(found):
            if name is not None and row_of.setdefault(name, row) != row:
                raise ValueError(
                    f"the row names of {self.path} are not all different: {name!r:.60} stands in "
                    f"rows {row_of[name] + 1} and {row + 1}"
                )
        absent = [name for name in wanted if name not in row_of]
        if absent:
            raise ValueError(
                f"{len(absent)} of the {len(wanted)} rows of {path} have no row of that name in "
                f"the file of labels, {self.path}: {listed(absent, most=3)}"
            )
        return np.array([row_of[name] for name in wanted], np.intp)


def _identifiers(column: Any) -> _Texts | None:
    """Return a column as text if it may tell rows apart: text, or whole numbers, each once."""
    labels = encode_labels(column)
    text = all(isinstance(name, str) for name in labels.names)
    whole = all(isinstance(name, int) and not isinstance(name, bool) for name in labels.names)
    if not (text or (whole and labels.n_labels == labels.n_points)):
        return None
    return _texts(labels)


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iuf"


def _texts(labels: Labels) -> _Texts:
    texts = np.array([*map(label_text, labels.names), None], object)
    found: _Texts = texts[labels.codes].tolist()
    return found


def _feature(parts: Parts, name: str) -> NDArray[Any]:
    column = parts.X[:, [parts.features.index(name)]]
    return np.asarray(column.toarray() if is_sparse(column) else column).reshape(-1)


def _taken(column: Any, order: NDArray[np.intp] | None) -> Any:
    if order is None:
        return column
    if isinstance(column, np.ndarray):
        return column[order]
    return column.iloc[order].reset_index(drop=True)


def read_label_file(path: str | os.PathLike[str], *, labels: Sequence[str]) -> LabelFile:
    """Read the columns of a table or NumPy file; a single unnamed one has the label's name."""
    source = check_input(path, LABEL_SUFFIXES)
    sha256 = file_sha256(source)
    suffix = suffix_of(source)
    if suffix in TABLE_SUFFIXES:
        whole = read_frame(source)
        names, frame, _ = split_names(whole, keep=set(labels))
        called = name_of_names(whole, frame)
        columns = tidy_columns(frame)
        return LabelFile(source, sha256, columns, names, len(frame), called, labels)
    if suffix == ".npy":
        array = read_npy(source)
        if array.ndim != 1 and array.shape[1:] != (1,):
            raise ValueError(
                f"{source} must hold one label for each point, got an array of shape {array.shape}"
            )
        name = labels[0] if len(labels) == 1 else source.stem
        columns = {name: label_array(array)}
        return LabelFile(source, sha256, columns, None, len(array), asked=labels)
    return _from_arrays(source, sha256, labels)


def _from_arrays(source: Path, sha256: str, labels: Sequence[str]) -> LabelFile:
    arrays, pickled = read_arrays(source)
    refuse_pickled(labels, pickled, source)
    if is_ours(arrays):
        own = columns_from(arrays)
        length = len(next(iter(own.values()), ()))
        return LabelFile(source, sha256, own, arrays.get("names"), length, asked=labels)
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
    return LabelFile(source, sha256, kept, names, length, asked=labels)
