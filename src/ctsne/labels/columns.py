"""The labels of a map: one to three columns, each factored out by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.messages import did_you_mean, label_text, quoted, shown
from ctsne._core.stores import in_memory
from ctsne.labels.column import (
    Column,
    as_columns,
    as_number,
    encode_column,
    encode_number,
    is_table_column,
    joint_names,
)

# Every column doubles the number of lists that neighbours are divided into.
MOST_COLUMNS = 3
# The name of a single column that came without one.
UNNAMED = "label"
NUMBER = "number"
_MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Labels:
    """One, two or three label columns of the same points.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    columns : tuple of Column
    combined : Column
        Every combination of values that occurs is a label, also where some of the columns are
        missing; only points without any label are unlabelled. A single column is its own
        combination.

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

    @property
    def by_name(self) -> dict[str, Column]:
        """The columns by name."""
        return dict(zip(self.names, self.columns, strict=True))

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Codes of all columns, one row per point; -1 where a label is missing."""
        return np.ascontiguousarray(np.stack([column.codes for column in self.columns], axis=1))

    @property
    def numbers(self) -> dict[str, NDArray[np.float64]]:
        """The columns that are numbers, by name."""
        found = {name: column.numbers for name, column in self.by_name.items()}
        return {name: values for name, values in found.items() if values is not None}

    def nested(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of columns (inner, outer) of which one is nested in the other."""
        # Every value of the inner one occurs with one of the outer, and has a label where that has.
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
        """Summarize every column, and say which are nested."""
        if self.n_columns == 1:
            return self.combined.describe()
        texts = [f"{name}: {column.describe()}" for name, column in self.by_name.items()]
        pairs = self.nested()
        for inner, outer in pairs:
            if (outer, inner) not in pairs:
                texts.append(f"{self.names[inner]} is nested in {self.names[outer]}")
            elif inner < outer:
                texts.append(f"{self.names[inner]} and {self.names[outer]} are the same")
        return "; ".join(texts)

    def take(self, rows: ArrayLike) -> Labels:
        """Return the labels of some points; unused labels keep their codes."""
        columns = tuple(column.take(rows) for column in self.columns)
        combined = columns[0] if self.n_columns == 1 else self.combined.take(rows)
        return Labels(self.names, columns, combined)

    def keep(self, places: Sequence[int]) -> Labels:
        """Return some of the columns."""
        if list(places) == list(range(self.n_columns)):
            return self
        names = tuple(self.names[place] for place in places)
        return join_columns(names, [self.columns[place] for place in places])

    def without_unused(self) -> Labels:
        """Return the labels without those that no point has, which :meth:`take` keeps."""
        if self.combined.counts.all() and all(column.counts.all() for column in self.columns):
            return self
        return join_columns(self.names, [column.without_unused() for column in self.columns])

    def refuse_identifiers(self, argument: str = "labels") -> None:
        """Refuse a column that numbers or names the points, which every map mixes perfectly."""
        for name, column in self.by_name.items():
            if column.is_identifier:
                what = argument if name == UNNAMED else f"{argument}: {shown(name)}"
                points = (
                    f"{column.n_labels:,} different values for {int(column.counts.sum()):,} points"
                )
                raise ValueError(
                    f"{what} has {points}, so it identifies points and cannot be factored out; "
                    "give labels that several points share, such as a batch or a donor"
                )

    def per_label(self, value: Any, *, argument: str) -> tuple[NDArray[np.float64], ...]:
        """Spread a parameter over the labels: one array per column, with a number per label."""
        # A mapping gives every column, by name, a number or a mapping of label to number; if there
        # is one column, it may also map its labels directly.
        if not isinstance(value, Mapping) or self.maps_labels(value):
            return tuple(column.per_label(value, argument=argument) for column in self.columns)
        values = self.per_column(value, argument=argument)
        return tuple(
            column.per_label(values[name], argument=f"{argument}[{shown(name)}]")
            for name, column in self.by_name.items()
        )

    def per_column(self, value: Any, *, argument: str) -> dict[str, Any]:
        """Return the value of every column by its name: one for all, or a mapping by column."""
        if not isinstance(value, Mapping):
            return dict.fromkeys(self.names, value)
        values = {label_text(key): number for key, number in value.items()}
        check_columns(values, self.names, argument)
        return {name: values[name] for name in self.names}

    def one_or_by_name(self, values: Sequence[Any]) -> Any:
        """Return the value of the only column, or those of several by name."""
        return values[0] if self.n_columns == 1 else dict(zip(self.names, values, strict=True))

    def maps_labels(self, value: Mapping[Any, Any]) -> bool:
        """Whether a mapping is by label: of a single column, unless it names just that column."""
        return self.n_columns == 1 and list(map(label_text, value)) != list(self.names)


def check_columns(given: Mapping[Any, Any], names: Sequence[Any], argument: str) -> None:
    """Refuse a mapping that names anything but all label columns."""
    for name in given:
        if name not in names:
            known = f"not one of the label columns ({quoted(names)}){did_you_mean(name, names)}"
            raise ValueError(f"{argument} names {shown(name)}, {known}")
    if absent := [name for name in names if name not in given]:
        wanted = "must give a number for every label column"
        raise ValueError(f"{argument} {wanted}, but has none for {quoted(absent)}")


def encode_labels(labels: object, *, n: int | None = None, argument: str = "labels") -> Labels:
    """Turn one or several label columns into codes.

    Parameters
    ----------
    labels : data frame, array of shape (n, c), mapping or list of columns, or one column
        At most three columns. A mapping or a data frame names them, otherwise they are called
        ``"1"``, ``"2"`` and ``"3"``, and a single one ``"label"``.
    n : int, optional
        Number of points that every column must have.
    argument : str, default="labels"
        Name of the argument, for messages.
    """
    if isinstance(labels, Labels):
        encode_column(labels.combined, n=n, argument=argument)  # checks the number of points
        return labels
    names, columns = _columns_of(labels, n, argument)
    if len(columns) == 1:
        return join_columns(names, [encode_column(columns[0], n=n, argument=argument)])
    if len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"{argument} has {len(columns)} columns; at most {MOST_COLUMNS} are possible. "
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


def add_numbers(
    labels: object, numbers: Any, *, n: int | None = None, period: Any = None
) -> Labels | None:
    """Return encoded labels with the columns of numbers after them; None if there are neither.

    ``period`` is that of the only number, or a mapping by column.
    """
    known = None if labels is None else encode_labels(labels, n=n)
    if numbers is None:
        columns_known = () if known is None else known.columns
        if period is not None and all(column.numbers is None for column in columns_known):
            raise ValueError("numbers_period needs numbers, but none were given")
        return known
    given, columns = _columns_of(numbers, n, "numbers")
    names = tuple(NUMBER if name == UNNAMED else name for name in given)
    if period is not None and not isinstance(period, Mapping):
        if len(names) > 1:
            must = "must be a mapping from a column of numbers to its period"
            raise ValueError(f"numbers_period {must}, because there are several")
        period = {names[0]: period}
    periods = {label_text(name): check_period(value) for name, value in (period or {}).items()}
    for name in periods:
        if name not in names:
            what = f"not one of the numbers ({quoted(names)}){did_you_mean(name, names)}"
            raise ValueError(f"numbers_period names {shown(name)}, {what}")
    encoded = [
        encode_number(
            column, n=n, period=periods.get(name), argument=f"column {shown(name)} of numbers"
        )
        for name, column in zip(names, columns, strict=True)
    ]
    before = () if known is None else known.names
    if twice := [name for name in names if name in before or names.count(name) > 1]:
        raise ValueError(f"labels and numbers have several columns named {shown(twice[0])}")
    if len(before) + len(names) > MOST_COLUMNS:
        count = f"{len(before)} label columns and {len(names)} numbers"
        raise ValueError(f"{count} were given; at most {MOST_COLUMNS} are possible in all")
    return join_columns([*before, *names], [*(() if known is None else known.columns), *encoded])


def encode_mixed(
    columns: Mapping[str, Any], numbers: Sequence[str], *, period: Any = None
) -> Labels | None:
    """Return columns of which some are numbers, by their names; None if there are none."""
    plain = {name: column for name, column in columns.items() if name not in numbers}
    rest = {name: column for name, column in columns.items() if name in numbers}
    return add_numbers(plain or None, rest or None, period=period)


def check_period(value: Any) -> float:
    """Return the period of a circular number."""
    number = as_number(value, "numbers_period", each="number")
    if number <= 0:
        raise ValueError(f"numbers_period must be above 0, got {number:g}")
    return number


def join_columns(names: Sequence[str], columns: Sequence[Column]) -> Labels:
    """Return encoded columns as labels, with their combinations."""
    if len(columns) == 1:
        return Labels(tuple(names), tuple(columns), columns[0])
    # Missing labels count as a value of their own, the last.
    values = [(*column.names, _MISSING) for column in columns]
    codes = [np.where(column.codes < 0, column.n_labels, column.codes) for column in columns]
    first, inverse = number_rows(codes)
    rows = np.stack(codes, axis=1)[first]
    none = (rows == [column.n_labels for column in columns]).all(axis=1)  # the last, if any
    kept = rows[~none]
    combined = inverse.astype(np.int32)
    combined[combined >= len(kept)] = -1
    counts = np.bincount(combined[combined >= 0], minlength=len(kept)).astype(np.int64)
    return Labels(
        tuple(names), tuple(columns), Column(combined, tuple(joint_names(values, kept)), counts)
    )


def number_rows(
    columns: Sequence[NDArray[np.integer]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of every combination of some columns, and the number of all rows."""
    number = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        # Numbered anew after each column, so that products stay far below 64 bits.
        key = number * (int(codes.max(initial=0)) + 1) + codes
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    return first, number


def given_columns(labels: Any) -> list[Any]:
    """Return the columns of a mapping or a short list as given, and anything else by itself."""
    if isinstance(labels, Mapping):
        return list(labels.values())
    several = isinstance(labels, list | tuple) and len(labels) <= MOST_COLUMNS
    return list(labels) if several else [labels]


def _columns_of(labels: Any, n: int | None, argument: str) -> tuple[tuple[str, ...], list[Any]]:
    labels = in_memory(labels, argument)
    if isinstance(labels, Mapping):
        if not labels:
            raise ValueError(f"{argument} is a mapping without columns; give one or more")
        return tuple(map(label_text, labels)), list(labels.values())
    if hasattr(labels, "columns"):
        names = getattr(labels, "column_names", labels.columns)  # Arrow's, or a data frame's
        return tuple(map(label_text, names)), as_columns(labels, argument)
    name = getattr(labels, "name", None)
    columns = [labels]
    if isinstance(labels, list | tuple):
        if labels and all(map(_is_column, labels)):
            columns = list(labels) if _are_columns(labels, n) else as_columns(labels, argument)
    elif not _is_column(labels) and np.ndim(labels) == 2:
        columns = as_columns(labels, argument)
    if len(columns) > 1:
        return tuple(str(place + 1) for place in range(len(columns))), columns
    return (name if isinstance(name, str) and name else UNNAMED,), columns


def _is_column(entry: Any) -> bool:
    """Return whether an entry of a list is a column (or a row) rather than a label."""
    if isinstance(entry, np.ndarray):
        return entry.ndim == 1
    whole_table = hasattr(entry, "columns")
    return isinstance(entry, list | Column) or (is_table_column(entry) and not whole_table)


def _are_columns(entries: Sequence[Any], n: int | None) -> bool:
    lengths = [entry.n_points if isinstance(entry, Column) else len(entry) for entry in entries]
    if n is not None and all(length == n for length in lengths):
        return True
    return len(entries) != n if n is not None else len(entries) <= max(lengths)
