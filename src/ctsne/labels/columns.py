"""Several label columns, each conditioned on by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.messages import did_you_mean, label_text, listed, shown
from ctsne.labels.column import (
    Column,
    as_columns,
    as_number,
    encode_column,
    is_categorical,
    is_polars,
    joint_names,
)

# Every column doubles the number of lists that neighbours are divided into.
MOST_COLUMNS = 3
_MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Labels:
    """Two or three label columns of the same points.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    columns : tuple of Column
    combined : Column
        Every combination of values that occurs is a label, also where some of the columns are
        missing; only points without any label are unlabelled.

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> labels = encode_labels({"donor": [1, 1, 2, 3], "batch": ["a", "a", "a", "b"]})
    >>> labels.names, labels.combined.names
    (('donor', 'batch'), ('1 | a', '2 | a', '3 | b'))
    >>> labels.nested()
    ((0, 1),)
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    combined: Column

    @property
    def n_points(self) -> int:
        """Number of points, labelled or not."""
        return self.combined.n_points

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Codes of all columns, one row per point; -1 where a label is missing."""
        return np.ascontiguousarray(np.stack([each.codes for each in self.columns], axis=1))

    def nested(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of columns (inner, outer) of which one is nested in the other.

        Every value of the inner column occurs with one value of the outer one, and points that
        have an outer label also have an inner one. Points that differ in the outer column then
        differ in the inner one too.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> encode_labels([["a", "a", "b", "b"], [1, 2, 3, 3]]).nested()
        ((1, 0),)
        """
        places = range(self.n_columns)
        pairs = [(inner, outer) for inner in places for outer in places if inner != outer]
        return tuple(pair for pair in pairs if self._is_nested(*pair))

    def _is_nested(self, inner: int, outer: int) -> bool:
        a, b = self.columns[inner], self.columns[outer]
        known = b.codes >= 0
        if (a.codes[known] < 0).any():
            return False
        outer_of = np.full(a.n_labels, -1, np.int32)
        outer_of[a.codes[known]] = b.codes[known]
        return bool((outer_of[a.codes[known]] == b.codes[known]).all())

    def describe(self) -> str:
        """Summarize every column, and say which are nested.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> encode_labels({"donor": [1, 2, 2], "batch": ["a", "b", "b"]}).describe()
        'donor: 2 labels (1: 1, 2: 2); batch: 2 labels (a: 1, b: 2); donor and batch are the same'
        """
        parts = [
            f"{name}: {column.describe()}"
            for name, column in zip(self.names, self.columns, strict=True)
        ]
        pairs = self.nested()
        for inner, outer in pairs:
            if (outer, inner) not in pairs:
                parts.append(f"{self.names[inner]} is nested in {self.names[outer]}")
            elif inner < outer:
                parts.append(f"{self.names[inner]} and {self.names[outer]} are the same")
        return "; ".join(parts)

    def take(self, rows: ArrayLike) -> Labels:
        """Return the labels of some points; unused labels keep their codes.

        Examples
        --------
        >>> import numpy as np
        >>> from ctsne.labels import encode_labels
        >>> labels = encode_labels([["a", "a", "b"], [1, 2, 2]])
        >>> labels.take(np.array([0, 2])).codes.tolist()
        [[0, 0], [1, 1]]
        """
        columns = tuple(each.take(rows) for each in self.columns)
        return Labels(self.names, columns, self.combined.take(rows))

    def keep(self, places: Sequence[int]) -> Column | Labels:
        """Return some of the columns; a single one as `Column`.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> encode_labels([["a", "a", "b"], [1, 2, 2]]).keep([1]).names
        (1, 2)
        """
        from ctsne._core.checks import check_rows  # imported here: loads SciPy, which no help needs

        kept: list[int] = check_rows(places, self.n_columns, argument="places").tolist()
        if kept == list(range(self.n_columns)):
            return self
        columns = [self.columns[place] for place in kept]
        if len(columns) == 1:
            return columns[0]
        return join_columns(tuple(self.names[place] for place in kept), columns)

    def per_column(
        self, value: float | Mapping[Any, float], *, argument: str
    ) -> NDArray[np.float64]:
        """Spread a parameter over the columns: one number for all, or one for each by its name.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> labels = encode_labels({"donor": [1, 2, 2], "batch": ["a", "b", "b"]})
        >>> labels.per_column({"batch": 0.5, "donor": 1}, argument="strength").tolist()
        [1.0, 0.5]
        """
        if not isinstance(value, Mapping):
            return np.full(self.n_columns, as_number(value, argument, each="label column"))
        key_of = {label_text(key): key for key in value}
        for name in key_of:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                known = listed(self.names)
                raise ValueError(
                    f"{argument} names {shown(name)}, not one of the label columns ({known}){hint}"
                )
        absent = [name for name in self.names if name not in key_of]
        if absent:
            wanted = "must give a number for every label column"
            raise ValueError(f"{argument} {wanted}, but has none for {listed(absent)}")
        keys = [key_of[name] for name in self.names]
        each = [as_number(value[key], f"{argument}[{shown(key)}]") for key in keys]
        return np.array(each)


def encode_labels(
    labels: object, *, n: int | None = None, argument: str = "labels"
) -> Column | Labels:
    """Turn one or several label columns into codes.

    Parameters
    ----------
    labels : data frame, array of shape (n, c), mapping or list of columns, or one column
        At most three columns. A mapping or a data frame names them, otherwise they are called
        ``"1"``, ``"2"`` and ``"3"``. One column is read as by :func:`ctsne.labels.encode_column`.
    n : int, optional
        Number of points that every column must have.
    argument : str, default="labels"
        Name of the argument, for messages.

    Returns
    -------
    Column or Labels

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> encode_labels({"donor": [1, 2, 2], "batch": ["a", "b", None]}, n=3).codes.tolist()
    [[0, 0], [1, 1], [1, -1]]
    >>> encode_labels(["a", "b"]).names
    ('a', 'b')
    """
    if isinstance(labels, Labels):
        encode_column(labels.combined, n=n, argument=argument)  # checks the number of points
        return labels
    found = _columns_of(labels, n, argument)
    if found is None:
        return encode_column(labels, n=n, argument=argument)
    names, columns = found
    if len(columns) == 1:
        return encode_column(columns[0], n=n, argument=argument)
    if len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"{argument} has {len(columns)} columns; at most {MOST_COLUMNS} can be factored out. "
            "Join some of them into one with ctsne.labels.combine_columns, or all of them with "
            "--combine on the command line"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{argument} has several columns named {shown(twice[0])}; rename them")
    encoded = []
    for name, column in zip(names, columns, strict=True):
        encoded.append(encode_column(column, n=n, argument=f"column {shown(name)} of {argument}"))
        if encoded[-1].n_points != encoded[0].n_points:
            raise ValueError(
                f"the columns of {argument} must have the same length, got "
                f"{encoded[0].n_points} entries in {shown(names[0])} and {encoded[-1].n_points} "
                f"in {shown(name)}"
            )
    return join_columns(names, encoded)


def join_columns(names: Sequence[str], columns: Sequence[Column]) -> Labels:
    """Return columns of the same points as labels, with their combination."""
    if len(columns) == 1:
        return Labels(tuple(names), tuple(columns), columns[0])
    # Missing labels count as a value of their own, the last.
    values = [(*each.names, _MISSING) for each in columns]
    each_code = [np.where(each.codes < 0, each.n_labels, each.codes) for each in columns]
    first, inverse = number_rows(each_code)
    rows = np.stack(each_code, axis=1)[first]
    none = (rows == [each.n_labels for each in columns]).all(axis=1)  # the last, if any
    kept = rows[~none]
    codes = inverse.astype(np.int32)
    codes[codes >= len(kept)] = -1
    counts = np.bincount(codes[codes >= 0], minlength=len(kept)).astype(np.int64)
    combined = Column(codes, tuple(joint_names(values, kept)), counts)
    return Labels(tuple(names), tuple(columns), combined)


def without_unused(labels: Column | Labels) -> Column | Labels:
    """Return labels without those that no point has, which :meth:`Column.take` keeps."""
    if isinstance(labels, Labels):
        if labels.combined.counts.all() and all(each.counts.all() for each in labels.columns):
            return labels
        return join_columns(labels.names, [_without_unused(each) for each in labels.columns])
    return _without_unused(labels)


def _without_unused(labels: Column) -> Column:
    used = np.flatnonzero(labels.counts)
    if len(used) == labels.n_labels:
        return labels
    codes = np.full(labels.n_labels + 1, -1, np.int32)  # the last is for missing labels
    codes[used] = np.arange(len(used))
    names = tuple(labels.names[code] for code in used)
    return Column(codes[labels.codes], names, labels.counts[used])


def columns_by_name(labels: Column | Labels, name: str | None = None) -> dict[str, Column]:
    """Return label columns by name; a single one has this name, if any."""
    if isinstance(labels, Labels):
        return dict(zip(labels.names, labels.columns, strict=True))
    return {name or "label": labels}


def name_of(given: Any) -> str | None:
    """Return the name of a single label column, as part of a table or by itself, if it has one."""
    names = list(given) if isinstance(given, Mapping) else list(getattr(given, "columns", ()))
    name = names[0] if len(names) == 1 else getattr(given, "name", None)
    return str(name) if isinstance(name, str) and name else None


def listed_columns(labels: Any) -> list[Any]:
    """Return the columns of a mapping or a short list as given, and anything else by itself."""
    if isinstance(labels, Mapping):
        return list(labels.values())
    several = isinstance(labels, list | tuple) and len(labels) <= MOST_COLUMNS
    return list(labels) if several else [labels]


def number_rows(
    columns: Sequence[NDArray[np.integer]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give every combination of several columns of codes a number, in order.

    Returns the first row of each combination, and the number of every row.
    """
    number = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        # Numbered anew after each column, so that products stay far below 64 bits.
        key = number * (int(codes.max(initial=0)) + 1) + codes
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    return first, number


def _columns_of(
    labels: Any, n: int | None, argument: str
) -> tuple[tuple[str, ...], list[Any]] | None:
    """Return names and columns; None for a single column that is not in a table."""
    if isinstance(labels, Mapping):
        if not labels:
            raise ValueError(f"{argument} is a mapping without columns; give one or more")
        return tuple(map(label_text, labels)), list(labels.values())
    if hasattr(labels, "columns"):
        columns = as_columns(labels, argument)
        return tuple(map(label_text, labels.columns)), columns
    if isinstance(labels, list | tuple):
        columns = list(labels)
        if not columns or not all(map(_is_column, columns)):
            return None
        if not _are_columns(columns, n):
            columns = as_columns(labels, argument)
    elif not _is_column(labels) and np.ndim(labels) == 2:
        columns = as_columns(labels, argument)
    else:
        return None
    return tuple(str(place + 1) for place in range(len(columns))), columns


def _is_column(entry: Any) -> bool:
    """Return whether an entry of a list is a column (or a row) rather than a label."""
    if isinstance(entry, np.ndarray):
        return entry.ndim == 1
    return (
        isinstance(entry, list | Column)
        or (hasattr(entry, "isna") and not hasattr(entry, "columns"))
        or is_polars(entry)
        or is_categorical(entry)
    )


def _are_columns(entries: list[Any], n: int | None) -> bool:
    """Return whether the entries of a list are columns; otherwise they are rows."""
    lengths = [each.n_points if isinstance(each, Column) else len(each) for each in entries]
    if n is not None and all(length == n for length in lengths):
        return True
    return len(entries) != n if n is not None else len(entries) <= max(lengths)
