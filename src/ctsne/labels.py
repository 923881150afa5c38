"""Any label column as integer codes, label names, counts and missing entries."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import closest, label_text

__all__ = ["JOINT", "Labels", "combine_columns", "encode_labels"]

# Between the values of several columns in the name of their combination.
JOINT = " | "

# What a message spells out at most, so that a million labels still give a readable one.
_SHOWN_LABELS = 5
_SHOWN_CHARACTERS = 40
# Close matches are looked for among this many labels: difflib is slow.
_SEARCHED_LABELS = 1000

_Encoded = tuple[NDArray[np.int32], list[object]]


@dataclass(frozen=True, eq=False)
class Labels:
    """A label column in the form every stage works with.

    Parameters
    ----------
    codes : ndarray of int32, shape (n,)
        The label of each point as a number from 0 to L-1; -1 where it is missing.
    names : tuple
        The label values as they were given; the position is the code.
    counts : ndarray of int64, shape (L,)
        How many points carry each label.

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> labels = encode_labels(["b", "a", None, "b"])
    >>> labels.codes.tolist(), labels.names, labels.counts.tolist()
    ([1, 0, -1, 1], ('a', 'b'), [1, 2])
    """

    codes: NDArray[np.int32]
    names: tuple[object, ...]
    counts: NDArray[np.int64]

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

    def describe(self) -> str:
        """Say in a few words what the column holds, for messages and reports.

        Returns
        -------
        str
            Number of labels, the first few with their counts, number of missing entries.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> encode_labels(["b", "a", None, "b"]).describe()
        '2 labels (a: 1, b: 2), 1 missing'
        """
        pairs = islice(zip(self.names, self.counts, strict=True), _SHOWN_LABELS)
        shown = [f"{_shorten(label_text(name))}: {count}" for name, count in pairs]
        if self.n_labels > _SHOWN_LABELS:
            shown.append("...")
        text = f"{self.n_labels} label{'' if self.n_labels == 1 else 's'}"
        if shown:
            text += f" ({', '.join(shown)})"
        if self.n_missing:
            text += f", {self.n_missing} missing"
        return text

    def per_label(
        self, value: float | Mapping[Any, float], *, argument: str
    ) -> NDArray[np.float64]:
        """Spread a parameter over the labels.

        Parameters
        ----------
        value : float or mapping of label to float
            One number for all labels, or a number for every label. A key finds its label by
            value, or by its text when that is unambiguous (``"1"`` finds the label ``1``).
        argument : str
            The parameter's name, for messages.

        Returns
        -------
        ndarray of float64, shape (L,)
            The number of each label, in the order of ``names``.

        Examples
        --------
        >>> from ctsne.labels import encode_labels
        >>> labels = encode_labels(["b", "a", "b"])
        >>> labels.per_label({"a": 0.1, "b": 0.5}, argument="beta").tolist()
        [0.1, 0.5]
        >>> labels.per_label(0.2, argument="beta").tolist()
        [0.2, 0.2]
        """
        if not isinstance(value, Mapping):
            return np.full(self.n_labels, _number(value, argument))
        values = np.empty(self.n_labels)
        key_of = self._keys_by_code(value, argument)
        absent = [name for code, name in enumerate(self.names) if code not in key_of]
        if absent:
            raise ValueError(
                f"{argument} must give a number for every label, but has none for "
                f"{_listing(absent)}; the column has {self.describe()}"
            )
        for code, key in key_of.items():
            values[code] = _number(value[key], f"{argument}[{key!r}]")
        return values

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
                raise ValueError(self._unknown_key(key, argument))
            (code,) = found
            if code in key_of:
                raise ValueError(
                    f"{argument} names the label {self.names[code]!r} twice, "
                    f"as {key_of[code]!r} and as {key!r}; keep one of them"
                )
            key_of[code] = key
        return key_of

    def _unknown_key(self, key: object, argument: str) -> str:
        texts = {label_text(name): name for name in self.names[:_SEARCHED_LABELS]}
        close = [texts[text] for text in closest(label_text(key), texts, most=3)]
        hint = f"; did you mean {_listing(close, joint=' or ')}?" if close else ""
        known = _listing(self.names) if self.names else "none"
        return f"{argument} names {key!r}, not one of the labels ({known}){hint}"


def encode_labels(labels: object, *, n: int | None = None, argument: str = "labels") -> Labels:
    """Turn a label column into codes.

    Pandas categoricals and polars enums keep the order of their categories, without the unused
    ones. Other labels are sorted, or ordered by type and text where they cannot be compared.
    ``None``, NaN, NaT, ``pandas.NA`` and masked entries are missing.

    Parameters
    ----------
    labels : array-like of shape (n,) or (n, c)
        A list, tuple, array, pandas or polars column. Of several columns (a data frame, a
        two-dimensional array) each combination of values is a label, named like ``"a | f"``. A
        `Labels` object is returned as it is.
    n : int, optional
        The number of points the column must describe.
    argument : str, default="labels"
        The argument's name, for messages.

    Returns
    -------
    Labels
        Codes, names and counts.

    Raises
    ------
    TypeError
        If this is no column, or its entries cannot be labels.
    ValueError
        If it has the wrong length or number of dimensions.

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> encode_labels([3.0, 1.0, float("nan"), 3.0], n=4).codes.tolist()
    [1, 0, -1, 1]
    """
    if isinstance(labels, Labels):
        _check_length(labels.n_points, n, argument)
        return labels
    columns = _as_columns(labels, argument)
    for each in columns:
        _check_length(len(each), n, argument)
    column = columns[0] if len(columns) == 1 else combine_columns(columns, argument=argument)
    codes, names = _encode(column, argument)
    counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.int64)
    return Labels(codes, tuple(names), counts)


def combine_columns(columns: Sequence[Any], *, argument: str = "labels") -> NDArray[np.object_]:
    """Join several label columns into one: each combination of values is a label.

    Parameters
    ----------
    columns : sequence of array-like of shape (n,)
    argument : str, default="labels"
        The argument's name, for messages.

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
    encoded = [encode_labels(column, argument=argument) for column in columns]
    codes = np.stack([labels.codes for labels in encoded], axis=1)
    present: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
    found, inverse = np.unique(codes[present], axis=0, return_inverse=True)
    parts = [
        [label_text(labels.names[code]) for labels, code in zip(encoded, row, strict=True)]
        for row in found
    ]
    texts = [JOINT.join(part) for part in parts]
    if len(set(texts)) < len({tuple(part) for part in parts}):
        # Values that contain the joint: quotes separate ("a | b", "c") from ("a", "b | c").
        texts = [JOINT.join(map(repr, part)) for part in parts]
    result: NDArray[np.object_] = np.full(len(present), None, np.object_)
    result[present] = np.array([*texts, None], np.object_)[inverse.reshape(-1)]
    return result


def _as_columns(labels: Any, argument: str) -> list[Any]:
    """Return one or more columns: lists, one-dimensional arrays, pandas or polars columns."""
    wanted = "give one label per point, as a list, an array or a column of a data frame"
    if labels is None or isinstance(labels, str | bytes | Mapping | Set):
        raise TypeError(f"{argument} must be a label column, got {_brief(labels)}; {wanted}")
    if hasattr(labels, "columns"):
        if len(labels.columns) == 0:
            raise ValueError(f"{argument} is a data frame without columns; {wanted}")
        return [labels[name] for name in labels.columns]
    if _is_pandas(labels) or _is_polars(labels) or _is_categorical(labels):
        return [labels]
    if isinstance(labels, Sequence):
        entries = list(labels)
        if not (entries and isinstance(entries[0], list | np.ndarray)):
            return [entries]
        labels = np.array(entries, dtype=object)
    array = labels if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)
    if array.ndim == 0:
        raise TypeError(f"{argument} must be a label column, got {_brief(labels)}; {wanted}")
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(
            f"{argument} must be one column or several, of shape (n,) or (n, c), got an array of "
            f"shape {array.shape}; {wanted}"
        )
    return [array] if array.ndim == 1 else [array[:, column] for column in range(array.shape[1])]


def _is_pandas(labels: object) -> bool:
    return hasattr(labels, "isna") and hasattr(labels, "to_numpy")


def _is_polars(labels: object) -> bool:
    return hasattr(labels, "is_null") and hasattr(labels, "drop_nulls")


def _is_categorical(labels: object) -> bool:
    return hasattr(labels, "categories") and hasattr(labels, "codes")


def _check_length(length: int, n: int | None, argument: str) -> None:
    if n is not None and length != n:
        raise ValueError(
            f"{argument} must have one entry for each of the {n} points, in the same order, "
            f"got {length} entries"
        )


def _encode(column: Any, argument: str) -> _Encoded:
    if isinstance(column, list):
        return _encode_objects(column, argument)
    if isinstance(column, np.ndarray):
        return _encode_array(column, argument)
    if _is_polars(column):
        return _encode_polars(column, argument)
    column = getattr(column, "cat", column)
    if _is_categorical(column):
        return _encode_categories(np.asarray(column.codes), list(column.categories))
    present = ~np.asarray(column.isna())
    return _spread(present, _encode_array(column[present].to_numpy(), argument))


def _encode_polars(column: Any, argument: str) -> _Encoded:
    # Nulls are left out first: with them, integers would become floats and lose digits.
    present = ~column.is_null().to_numpy()
    values = column.drop_nulls()
    # An enum's order was chosen by the user; a polars categorical's is only that of appearance.
    if str(column.dtype).startswith("Enum"):
        categories = column.dtype.categories.to_list()
        return _spread(present, _encode_categories(values.to_physical().to_numpy(), categories))
    return _spread(present, _encode_array(values.to_numpy(), argument))


def _encode_categories(codes: NDArray[Any], categories: list[object]) -> _Encoded:
    """Drop the categories nobody carries and keep the order of the rest."""
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
        raise TypeError(
            f"{argument} must hold values such as text, numbers or dates, "
            f"got {values.dtype} entries in an array of shape {values.shape}"
        )
    if kind in "fmM":
        present &= values == values
    unique, inverse = np.unique(values[present], return_inverse=True)
    return _spread(present, (inverse.astype(np.int32), _python_values(unique)))


def _spread(present: NDArray[np.bool_], encoded: _Encoded) -> _Encoded:
    """Put the codes of the present entries in their places; the others are missing."""
    codes = np.full(len(present), -1, np.int32)
    codes[present] = encoded[0]
    return codes, encoded[1]


def _python_values(unique: NDArray[Any]) -> list[object]:
    unit = np.datetime_data(unique.dtype)[0] if unique.dtype.kind in "mM" else ""
    if unit in ("ns", "ps", "fs", "as"):
        # Python's own dates end at microseconds; NumPy would turn finer ones into integers.
        coarse = unique.astype(f"{unique.dtype.kind}8[us]")
        if not np.array_equal(coarse.astype(unique.dtype), unique):
            return list(unique)
        unique = coarse
    values: list[object] = unique.tolist()
    return values


def _encode_objects(entries: list[Any], argument: str) -> _Encoded:
    """Encode anything hashable with work in Python per distinct value, not per point."""
    try:
        distinct = dict.fromkeys(entries)
    except TypeError as error:
        raise TypeError(
            f"{argument} must hold values such as text, numbers or dates, got others: {error}"
        ) from None
    names = _in_order([each for each in distinct if type(each) is str or not _is_missing(each)])
    code_of = dict.fromkeys(distinct, -1)
    code_of.update((name, code) for code, name in enumerate(names))
    codes = np.fromiter(map(code_of.__getitem__, entries), np.int32, len(entries))
    return codes, [_plain(name) for name in names]


def _in_order(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _is_missing(value: Any) -> bool:
    # NaN and NaT differ from themselves. pandas.NA gives NA for every comparison, and is known
    # by its type's name so that pandas need not be imported.
    if value is None or type(value).__name__ == "NAType":
        return True
    different = value != value
    return isinstance(different, bool | np.bool_) and bool(different)


def _plain(value: object) -> object:
    """Return the Python value of a NumPy scalar."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        plain: object = value.item()
        return plain
    return value


def _number(value: object, argument: str) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{argument} must be a number, or a mapping from each label to a number, "
            f"got {_brief(value)}"
        )
    if not math.isfinite(value):
        raise ValueError(f"{argument} must be finite, got {value}")
    return float(value)


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _listing(values: Iterable[object], *, joint: str = ", ") -> str:
    values = list(values)
    shown = [_shorten(repr(value)) for value in values[:_SHOWN_LABELS]]
    if len(values) > _SHOWN_LABELS:
        shown.append(f"... ({len(values)} in all)")
    return joint.join(shown)


def _brief(value: object) -> str:
    return f"{type(value).__name__} {_shorten(repr(value))}" if value is not None else "None"
