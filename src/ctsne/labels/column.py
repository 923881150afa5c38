"""One label column of any kind as integer codes, label names and counts."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.messages import did_you_mean, label_text, quoted, shown
from ctsne._core.stores import in_memory

# Separates the values of several columns in the name of their combination.
JOINT = " | "
# Of more points than this, nearly all with a value of their own, the values are identifiers.
_FEW_POINTS = 20
# Messages spell out this many labels, so that a million of them still give a readable one.
_SHOWN = 5
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_VALUES = "must hold values such as text, numbers or dates"
# A number is divided into this many groups by rank, fewer if it has fewer values.
GROUPS = 10

_Encoded = tuple[NDArray[np.int32], list[object]]
_Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """A label column in the form that every stage works with.

    Parameters
    ----------
    codes : ndarray of int32, shape (n,)
        The label of each point as a number from 0 to L-1; -1 where it is missing.
    names : tuple
        The label values as given; the position is the code.
    counts : ndarray of int64, shape (L,)
        Number of points per label.
    numbers : ndarray of float64, shape (n,), optional
        Of a number that is factored out: its values, NaN where they are missing. Its labels are
        groups of about equal size, in the order of the values.
    period : float, optional
        Of a number that is circular, such as 24 for hours; its values are below the period.

    Examples
    --------
    >>> from ctsne.labels import encode_column
    >>> labels = encode_column(["b", "a", None, "b"])
    >>> labels.codes.tolist(), labels.names, labels.counts.tolist()
    ([1, 0, -1, 1], ('a', 'b'), [1, 2])
    """

    codes: NDArray[np.int32]
    names: tuple[object, ...]
    counts: NDArray[np.int64]
    numbers: _Values | None = None
    period: float | None = None

    @property
    def n_points(self) -> int:
        """Number of points, labelled or not."""
        return len(self.codes)

    @property
    def n_labels(self) -> int:
        """Number of distinct labels."""
        return len(self.names)

    @property
    def n_missing(self) -> int:
        """Number of points without a label."""
        return self.n_points - int(self.counts.sum())

    @property
    def is_identifier(self) -> bool:
        """Whether nearly every labelled point has a value of its own: there is nothing to share."""
        if self.numbers is not None:
            return False
        labelled, used = int(self.counts.sum()), np.count_nonzero(self.counts)
        alone = np.count_nonzero(self.counts == 1)
        return bool(labelled > _FEW_POINTS and 2 * labelled < 3 * used and 2 * alone > used)

    @cached_property
    def ranks(self) -> _Values:
        """Ranks of the numbers from 0 to 1, the same for equal ones; NaN where they are missing."""
        assert self.numbers is not None
        values, place, counts = np.unique(self.numbers, return_inverse=True, return_counts=True)
        counts = counts * np.isfinite(values)
        ranks = (np.cumsum(counts) - 0.5 * counts) / max(1, counts.sum())
        return np.where(np.isfinite(self.numbers), ranks[place.reshape(-1)], np.nan)

    def rank_gaps(self, one: NDArray[Any], two: NDArray[Any]) -> _Values:
        """Return how far ranks are apart, the shorter way round if the number is circular."""
        gaps: _Values = np.abs(one - two)
        return gaps if self.period is None else np.minimum(gaps, 1 - gaps)

    def groups_of(self, values: _Values) -> NDArray[np.int32]:
        """Return the groups of further numbers: those of the nearest known ones, -1 if missing."""
        assert self.numbers is not None
        known = [self.numbers[self.codes == code] for code in range(self.n_labels)]
        edges = [(one.max() + two.min()) / 2 for one, two in pairwise(known)]
        values = values if self.period is None else values % self.period
        return np.where(np.isnan(values), -1, np.searchsorted(edges, values)).astype(np.int32)

    @cached_property
    def appearance(self) -> NDArray[np.int64]:
        """The place of each label in the order of first rows, which no container changes."""
        if self.numbers is not None:  # groups have one order
            return np.arange(self.n_labels)
        first = np.full(self.n_labels + 1, self.n_points)  # the last is for missing labels
        first[self.codes[::-1]] = np.arange(self.n_points)[::-1]
        return np.argsort(np.argsort(first[:-1], kind="stable"))

    def take(self, rows: ArrayLike) -> Column:
        """Return the labels of some points; unused labels keep their codes."""
        from ctsne._core.checks import check_rows

        rows = check_rows(rows, self.n_points)
        codes, numbers = self.codes[rows], None if self.numbers is None else self.numbers[rows]
        counts = np.bincount(codes[codes >= 0], minlength=self.n_labels)
        return Column(codes, self.names, counts.astype(self.counts.dtype), numbers, self.period)

    def without_unused(self) -> Column:
        """Return the column without labels that no point has."""
        used = np.flatnonzero(self.counts)
        if len(used) == self.n_labels:
            return self
        codes = np.full(self.n_labels + 1, -1, np.int32)  # the last is for missing labels
        codes[used] = np.arange(len(used))
        names = tuple(self.names[code] for code in used)
        return replace(self, codes=codes[self.codes], names=names, counts=self.counts[used])

    def describe(self) -> str:
        """Summarize the column: how many labels, counts of the first few, how many are missing."""
        missing = f", {self.n_missing} missing" if self.n_missing else ""
        if self.numbers is not None and self.n_labels:
            low, high = np.nanmin(self.numbers), np.nanmax(self.numbers)
            return f"a number from {low:g} to {high:g} in {self.n_labels} groups{missing}"
        texts = [label_text(name) for name in self.names[:_SHOWN]]
        short = [text if len(text) <= 40 else f"{text[:37]}..." for text in texts]
        some = [f"{text}: {count}" for text, count in zip(short, self.counts, strict=False)]
        some += ["..."] if self.n_labels > _SHOWN else []
        text = f"{self.n_labels} label{'' if self.n_labels == 1 else 's'}"
        text += f" ({', '.join(some)})" if some else ""
        return text + missing

    def per_label(self, value: float | Mapping[Any, float], *, argument: str) -> _Values:
        """Spread a number, or a mapping from every label to a number, over the labels."""
        # A key finds its label by value, or by its text if that is unambiguous ("1" finds 1).
        if not isinstance(value, Mapping):
            return np.full(self.n_labels, as_number(value, argument))
        key_of = self._keys_by_code(value, argument)
        absent = [name for code, name in enumerate(self.names) if code not in key_of]
        if absent:
            what = f"{argument} must give a number for every label, but has none for"
            names = quoted(absent, most=_SHOWN)
            raise ValueError(f"{what} {names}; the column has {self.describe()}")
        keys = [key_of[code] for code in range(self.n_labels)]
        return np.array([as_number(value[key], f"{argument}[{shown(key)}]") for key in keys])

    def _keys_by_code(self, mapping: Mapping[Any, float], argument: str) -> dict[int, Any]:
        by_value = {name: code for code, name in enumerate(self.names)}
        by_text: dict[str, set[int]] = {}
        if any(key not in by_value for key in mapping):
            for code, name in enumerate(self.names):
                for text in (str(name), label_text(name)):
                    by_text.setdefault(text, set()).add(code)
        key_of: dict[int, Any] = {}
        for key in mapping:
            found = {by_value[key]} if key in by_value else by_text.get(label_text(key), set())
            if len(found) != 1:
                hint = did_you_mean(label_text(key), map(label_text, self.names))
                known = f"not one of the labels ({quoted(self.names, most=_SHOWN)})"
                how = f"{hint or '.'} For the whole column, give one number"
                raise ValueError(f"{argument} names {shown(key)}, {known}{how}")
            (code,) = found
            if code in key_of:
                raise ValueError(
                    f"{argument} names the label {shown(self.names[code])} twice, "
                    f"as {shown(key_of[code])} and as {shown(key)}; keep one of them"
                )
            key_of[code] = key
        return key_of


def encode_column(labels: object, *, n: int | None = None, argument: str = "labels") -> Column:
    """Turn a label column into codes.

    Pandas categoricals and polars enums keep the order of their categories, without the unused
    ones. Other labels are sorted, numbers written as text like numbers; labels that cannot be
    compared are ordered by type and text.
    ``None``, NaN, NaT, ``pandas.NA`` and masked entries are missing.

    Parameters
    ----------
    labels : array-like of shape (n,) or (n, c)
        A list, tuple, array, pandas or polars column. With several columns (a data frame, a
        two-dimensional array, `Labels`), each combination of values is a label, named like
        ``"a | f"``. A `Column` object is returned unchanged.
    n : int, optional
        Number of points that the column must have.
    argument : str, default="labels"
        Name of the argument, for messages.
    """
    from ctsne._core.checks import check_count  # imported here: loads SciPy, which no help needs

    columns = [labels] if isinstance(labels, Column) else as_columns(labels, argument)
    length = columns[0].n_points if isinstance(columns[0], Column) else len(columns[0])
    if n is not None and length != check_count(n, "n", low=0):
        wanted = f"one entry for each of the {n} points, in the same order"
        raise ValueError(f"{argument} must have {wanted}, got {length} entries")
    column = columns[0] if len(columns) == 1 else combine_columns(columns, argument=argument)
    if isinstance(column, Column):
        return column
    codes, names = _encode(column, argument)
    if not hasattr(column, "cat") and not is_categorical(column):
        codes, names = _by_value(codes, names)
    counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.int64)
    return Column(codes, tuple(names), counts)


def encode_number(
    values: object, *, n: int | None = None, period: float | None = None, argument: str = "numbers"
) -> Column:
    """Turn a number to factor out into groups of about equal size, in its order.

    Parameters are those of :func:`encode_column`, and the period of a circular number.

    Examples
    --------
    >>> from ctsne.labels import encode_number
    >>> number = encode_number([3.5, 1.0, None, 8.0, 1.0])
    >>> number.names, number.codes.tolist(), number.counts.tolist()
    (('1', '3.5', '8'), [1, 0, -1, 2, 0], [2, 1, 1])
    """
    values = as_values(encode_column(values, n=n, argument=argument), argument)
    if period is not None:
        values = values % period
    none = np.zeros(0, np.int64)
    ranks = Column(none.astype(np.int32), (), none, values, period).ranks
    groups = np.where(np.isnan(ranks), -1.0, np.floor(ranks * GROUPS)).astype(np.int32)
    used = np.unique(groups[groups >= 0])
    codes = np.where(groups < 0, -1, np.searchsorted(used, groups)).astype(np.int32)
    members = [values[codes == code] for code in range(len(used))]
    counts = np.array([len(own) for own in members], np.int64)
    names = _range_names([(own.min(), own.max()) for own in members])
    return Column(codes, names, counts, values, period)


def as_values(column: Column, argument: str) -> _Values:
    """Return the labels of a column as finite numbers, NaN where they are missing."""
    if column.numbers is not None:
        return column.numbers
    try:
        known = np.array([*map(float, column.names), np.nan])  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        wrong = next((name for name in column.names if not isinstance(name, numbers.Real)), None)
        raise TypeError(f"{argument} must hold numbers, got {shown(wrong)}") from None
    if not np.isfinite(known[:-1]).all():
        raise ValueError(f"{argument} must hold finite numbers, or missing ones, got inf")
    return np.asarray(known[column.codes])


def _range_names(ends: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Name ranges of numbers, with as many digits as tell them apart."""
    for digits in (4, 7, 17):
        texts = [(f"{low:.{digits}g}", f"{high:.{digits}g}") for low, high in ends]
        names = tuple(low if low == high else f"{low} to {high}" for low, high in texts)
        if len(set(names)) == len(names):
            break
    return names if ends else ()


def combine_columns(columns: Sequence[Any], *, argument: str = "labels") -> NDArray[np.object_]:
    """Join several label columns into one: each combination of values is a label.

    Parameters
    ----------
    columns : sequence of array-like of shape (n,)
    argument : str, default="labels"
        For messages.

    Returns
    -------
    ndarray of object, shape (n,)
        Text such as ``"a | f"``; None where one of the columns is missing.

    Examples
    --------
    >>> from ctsne.labels import combine_columns
    >>> combine_columns([["a", "b", None], [1, 2, 2]]).tolist()
    ['a | 1', 'b | 2', None]
    """
    in_order = isinstance(columns, Sequence) and not isinstance(columns, str | bytes)
    if not (in_order or (isinstance(columns, np.ndarray) and columns.ndim)) or len(columns) == 0:
        raise TypeError(f"columns must be a list of label columns, got {shown(columns)}")
    encoded = [encode_column(column, argument=argument) for column in columns]
    codes = np.stack([labels.codes for labels in encoded], axis=1)
    present: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
    found, inverse = np.unique(codes[present], axis=0, return_inverse=True)
    texts = joint_names([labels.names for labels in encoded], found)
    result: NDArray[np.object_] = np.full(len(present), None, np.object_)
    result[present] = np.array([*texts, None], np.object_)[inverse.reshape(-1)]
    return result


def joint_names(names: Sequence[Sequence[object]], rows: NDArray[np.integer]) -> list[str]:
    """Name combinations of labels, given as rows of one code per column."""
    written = [list(map(label_text, column)) for column in names]
    parts = [[each[code] for each, code in zip(written, row, strict=True)] for row in rows]
    texts = [JOINT.join(part) for part in parts]
    if len(set(texts)) < len({tuple(part) for part in parts}):
        # Values that contain the separator: quotes separate ("a | b", "c") from ("a", "b | c").
        texts = [JOINT.join(map(repr, part)) for part in parts]
    return texts


def as_columns(labels: Any, argument: str) -> list[Any]:
    """Return one or more columns: lists, one-dimensional arrays, pandas or polars columns."""
    wanted = "give one label per point, as a list, an array or a column of a data frame"
    labels = in_memory(labels, argument)
    if hasattr(labels, "combined"):
        return list(labels.columns)  # of Labels
    if hasattr(labels, "columns"):
        if len(labels.columns) == 0:
            raise ValueError(f"{argument} is a data frame without columns; {wanted}")
        if hasattr(labels, "column_names"):  # an Arrow table
            return list(labels.columns)
        if hasattr(labels, "iloc"):  # two columns may have the same name
            return [labels.iloc[:, place] for place in range(len(labels.columns))]
        return [labels[name] for name in labels.columns]
    if hasattr(labels, "levels"):
        raise TypeError(f"{argument} is a MultiIndex; call .to_frame(index=False) on it")
    if is_table_column(labels):
        return [labels]
    array = labels
    if isinstance(labels, Sequence) and not isinstance(labels, str | bytes):
        entries = list(labels)
        if not (entries and isinstance(entries[0], list | np.ndarray)):
            return [entries]
        array = np.array(entries, dtype=object)
    elif not isinstance(labels, Mapping | Set | np.ma.MaskedArray):
        array = np.asarray(labels)
    if np.ndim(array) == 0 or not isinstance(array, np.ndarray):
        got = "None" if labels is None else f"{type(labels).__name__} {shown(labels, 40)}"
        raise TypeError(f"{argument} must be a label column, got {got}; {wanted}")
    if array.dtype.kind == "V":
        raise TypeError(f"{argument} {_VALUES}, got records of {shown(array.dtype)}")
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] == 0):
        shapes = f"of shape (n,) or (n, c), got an array of shape {array.shape}"
        raise ValueError(f"{argument} must be one column or several, {shapes}; {wanted}")
    return [array] if array.ndim == 1 else list(array.T)


def is_table_column(labels: object) -> bool:
    """Return whether this is a column of pandas, polars or Arrow."""
    known = hasattr(labels, "isna") or hasattr(labels, "to_pylist")
    return known or is_polars(labels) or is_categorical(labels)


def is_polars(labels: object) -> bool:
    """Return whether this is a polars column."""
    return hasattr(labels, "is_null") and hasattr(labels, "drop_nulls")


def is_categorical(labels: object) -> bool:
    """Return whether this is a pandas categorical."""
    return hasattr(labels, "categories") and hasattr(labels, "codes")


def _encode(column: Any, argument: str) -> _Encoded:
    if isinstance(column, list):
        return _encode_objects(column, argument)
    if isinstance(column, np.ndarray):
        return _encode_array(column, argument)
    if hasattr(column, "to_pylist"):  # of Arrow
        return _encode_objects(column.to_pylist(), argument)
    if is_polars(column):
        # Without the nulls: with them, integers would become floats and lose digits.
        present, values = ~column.is_null().to_numpy(), column.drop_nulls()
        # The user chose an enum's order; that of a polars categorical is the order of appearance.
        if str(column.dtype).startswith("Enum"):
            categories = column.dtype.categories.to_list()
            return _spread(present, _encode_categories(values.to_physical().to_numpy(), categories))
        if str(column.dtype).endswith("Int128"):  # which NumPy does not have
            return _spread(present, _encode_objects(values.to_list(), argument))
        return _spread(present, _encode_array(values.to_numpy(), argument))
    column = getattr(column, "cat", column)
    if is_categorical(column):
        return _encode_categories(np.asarray(column.codes), list(column.categories))
    present = ~np.asarray(column.isna())
    return _spread(present, _encode_array(column[present].to_numpy(), argument))


def _encode_categories(codes: NDArray[Any], categories: list[object]) -> _Encoded:
    """Drop unused categories and keep the order of the others."""
    used = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
    # One more entry at the end: code -1 looks up itself.
    lookup = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
    return lookup[codes], [name for name, kept in zip(categories, used, strict=True) if kept]


def _encode_array(array: NDArray[Any], argument: str) -> _Encoded:
    present = ~np.ma.getmaskarray(array)
    values = np.ma.getdata(array)
    kind = values.dtype.kind
    if kind in "OT":
        return _spread(present, _encode_objects(values[present].tolist(), argument))
    if kind not in "biufUSmM" or values.ndim != 1:
        got = f"{values.dtype} entries in an array of shape {values.shape}"
        raise TypeError(f"{argument} {_VALUES}, got {got}")
    if kind in "fmM":
        present &= values == values
    unique, inverse = np.unique(values[present], return_inverse=True)
    return _spread(present, (inverse.astype(np.int32), _python_values(unique)))


def _spread(present: NDArray[np.bool_], encoded: _Encoded) -> _Encoded:
    """Put the codes of the present entries in their places; the others are missing."""
    codes = np.full(len(present), -1, np.int32)
    codes[present] = encoded[0]
    return codes, encoded[1]


def _by_value(codes: NDArray[np.int32], names: list[object]) -> _Encoded:
    """Return labels that are numbers written as text in the order of the numbers."""
    if not all(isinstance(name, str) and _NUMBER.fullmatch(name) for name in names):
        return codes, names
    order = sorted(range(len(names)), key=lambda code: (float(str(names[code])), names[code]))
    place = np.append(np.argsort(order), -1).astype(np.int32)  # the last is for missing labels
    return place[codes], [names[code] for code in order]


def _python_values(unique: NDArray[Any]) -> list[object]:
    unit = np.datetime_data(unique.dtype)[0] if unique.dtype.kind in "mM" else ""
    if unit in ("ns", "ps", "fs", "as"):
        # Python's dates end at microseconds; NumPy would turn finer ones into integers.
        coarse = unique.astype(f"{unique.dtype.kind}8[us]")
        if not np.array_equal(coarse.astype(unique.dtype), unique):
            return list(unique)
        unique = coarse
    return list(unique.tolist())


def _encode_objects(entries: list[Any], argument: str) -> _Encoded:
    """Encode anything hashable, with work in Python per distinct value, not per point."""
    try:
        distinct = dict.fromkeys(entries)
    except TypeError as error:
        raise TypeError(f"{argument} {_VALUES}, got others: {error}") from None
    names = [value for value in distinct if type(value) is str or not _is_missing(value)]
    try:
        names.sort()
    except TypeError:
        names.sort(key=lambda value: (type(value).__name__, str(value)))
    code_of = dict.fromkeys(distinct, -1)
    code_of.update((name, code) for code, name in enumerate(names))
    codes = np.fromiter(map(code_of.__getitem__, entries), np.int32, len(entries))
    return codes, [_plain(name) for name in names]


def _is_missing(value: Any) -> bool:
    # NaN and NaT differ from themselves. pandas.NA gives NA for every comparison; its type's name
    # identifies it without importing pandas.
    if value is None or type(value).__name__ == "NAType":
        return True
    different = value != value
    return isinstance(different, bool | np.bool_) and bool(different)


def _plain(value: object) -> object:
    dated = isinstance(value, np.datetime64 | np.timedelta64)
    return value.item() if isinstance(value, np.generic) and not dated else value


def as_number(value: object, argument: str, *, each: str = "label") -> float:
    """Return a finite number; the message says what a mapping would have a number for."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{argument} must be a number, or a mapping from each {each} to a number, "
            f"got {type(value).__name__} {shown(value, 40)}"
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{argument} must be finite, got {shown(value)}")
    return number
