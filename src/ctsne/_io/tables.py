"""Tables: text with commas or tabs, parquet and feather."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text, listed
from ctsne._io.column_names import matching
from ctsne._io.parts import Parts, check_labels, check_numbers
from ctsne._io.paths import TEXT_SUFFIXES, load, suffix_of
from ctsne._io.suspects import suspects
from ctsne._io.text import example_of_text, has_semicolons, read_text

__all__ = [
    "called_like_names",
    "is_of_map",
    "like_missing",
    "name_of_names",
    "no_empty_text",
    "read_frame",
    "split_names",
    "storable",
    "table_parts",
    "tidy_columns",
]

# The first column holds the names of the rows if it counts them, or is called like this and tells
# all rows apart.
_NAME_LIKE = re.compile(
    r"(^|[\W_])(id|ids|index|name|names|barcode|barcodes|cell|sample|row|rownames)$", re.IGNORECASE
)
_OF_MAP = re.compile(r"(.+)_(\d+|perplexity|other_share|matched|largest_weight)")
# A table with all of these holds a map, whatever its key.
_COMPANIONS = ("1", "perplexity", "largest_weight")
# Text that many programs write for what is missing.
_LIKE_MISSING = {"#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"}


def read_frame(path: Path, *, own: str | None = None) -> Any:
    """Return a table as a data frame with text for column names, none of them twice.

    In a table that we wrote ourselves, which has this column first (``own``) or only names of rows
    before it, text such as "NA" is text.
    """
    suffix = suffix_of(path)
    if suffix in TEXT_SUFFIXES:
        frame = read_text(path, own=own)
    else:
        load("pyarrow")
        pandas = load("pandas")
        reader = pandas.read_parquet if suffix == ".parquet" else pandas.read_feather
        try:
            frame = reader(path)
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"{path} cannot be read as {suffix[1:]}: {error}") from error
    frame.columns = [str(name) for name in frame.columns]
    if frame.index.nlevels > 1:
        raise ValueError(
            f"the rows of {path} have several names each, or more cells than there are names of "
            "columns; write them as columns of their own (in pandas: frame.reset_index())"
        )
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise ValueError(
            f"{path} has more than one column named {listed(twice)}; give each a name of its own"
        )
    if not len(frame):
        raise ValueError(f"{path} has names of columns but no rows")
    return frame


def table_parts(
    path: Path, *, labels: Sequence[str], elsewhere: Sequence[str], features: Sequence[str] | None
) -> Parts:
    """Return the numeric columns as the matrix, all others as columns."""
    whole = read_frame(path)
    check_labels(labels, [*whole.columns, *elsewhere], where=str(path))
    names, frame, notes = split_names(whole, keep={*labels, *(features or ())})
    if suffix_of(path) in TEXT_SUFFIXES and has_semicolons(path):
        notes += ("read with semicolons between columns, and decimal commas if there are any",)
    warnings: tuple[str, ...] = ()
    if features is None:
        chosen, more, warnings = _numeric_columns(frame, set(labels))
        notes += more
    else:
        known = [name for name in frame.columns if name not in labels]
        for name in set(labels) & set(features):
            raise ValueError(f"{name!r:.60} cannot be both a label and a feature; name it once")
        chosen = matching(features, known, where=str(path))
        for name in chosen:
            _refuse_text(frame[name], path)
    if not chosen:
        raise ValueError(
            f"{path} has no columns of numbers to make a map of; its columns are "
            f"{listed(frame.columns)}" + "".join(f"; {warning}" for warning in warnings)
        )
    X = _matrix(frame[chosen])
    check_numbers(X, chosen, names, path=path)
    columns = tidy_columns(frame.drop(columns=chosen))
    notes += like_missing(columns)
    source = f"{len(chosen)} numeric column{'' if len(chosen) == 1 else 's'}"
    if features is None:  # those that were named were meant
        warnings += suspects(X, chosen)
    called = name_of_names(whole, frame)
    return Parts(X, tuple(chosen), columns, names, source, notes, warnings, called)


def split_names(
    frame: Any, *, keep: set[str]
) -> tuple[NDArray[np.str_] | None, Any, tuple[str, ...]]:
    """Return row names, the frame without them, and what is to be said about it.

    Names are the frame's index if it has one. Else the first column (unless it is to be kept): if
    it has no name; if it is text that tells all rows apart; or if it counts the rows, or is called
    like names and tells them apart.
    """
    pandas = load("pandas")
    if not isinstance(frame.index, pandas.RangeIndex):
        return np.array(frame.index.astype(str), str), frame.reset_index(drop=True), ()
    first = frame.columns[0]
    column = frame.iloc[:, 0]
    unnamed = re.fullmatch(r"Unnamed: 0|", first) is not None
    if first in keep or len(frame.columns) < 2:
        return None, frame, ()
    if not unnamed and not _tells_apart(column, first):
        return None, frame, ()
    frame = frame.iloc[:, 1:]
    notes = () if unnamed else (f"names of the points: column {first!r}",)
    return np.array(column.astype(str), str), frame, notes


def name_of_names(whole: Any, frame: Any) -> str | None:
    """Return what the names of the rows are called, given what :func:`split_names` left."""
    gone = [name for name in whole.columns if name not in frame.columns]
    name = next((name for name in gone if name not in ("Unnamed: 0", "")), whole.index.name)
    return None if name is None else str(name)


def _tells_apart(column: Any, name: str) -> bool:
    types = load("pandas").api.types
    kind = types.infer_dtype(column, skipna=False)
    if kind == "string":
        return bool(column.is_unique)
    if kind != "integer":
        return False
    values = column.to_numpy()
    counts = len(values) > 2 and values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    return counts or (called_like_names(name) and bool(column.is_unique))


def called_like_names(column: str) -> bool:
    """Tell whether a column is called as columns of names often are."""
    return _NAME_LIKE.search(column) is not None


def _numeric_columns(
    frame: Any, labels: set[str]
) -> tuple[list[str], tuple[str, ...], tuple[str, ...]]:
    """Return the columns that are features, notes on the others, and warnings."""
    chosen, text, empty, earlier = [], [], [], []
    notes, warnings = [], []
    keys = {"ctsne", *_keys_of_maps(frame.columns)}
    gone = frame.isna().all().to_dict()
    for name in frame.columns:
        column = frame[name]
        if name in labels:
            continue
        if any(is_of_map(name, key) for key in keys):
            earlier.append(name)
        elif gone[name]:
            empty.extend([] if name.startswith("Unnamed: ") else [name])
        elif _is_number(column):
            chosen.append(name)
        elif found := example_of_text(column):
            row, value = found
            warnings.append(
                f"column {name!r:.60} is left out of the map: it is numbers but for some text (row "
                f"{row}: {value!r:.40})"
            )
        else:
            text.append(name)
    if text:
        notes.append(f"not numbers, so not part of the map: {listed(text)}")
    if empty:
        notes.append(f"empty, left out: {listed(empty)}")
    if earlier:
        notes.append(f"an earlier map, left out: {listed(earlier)}")
    return chosen, tuple(notes), tuple(warnings)


def is_of_map(name: str, key: str) -> bool:
    """Tell whether a column is named like positions or diagnostics of a map of this key."""
    match = _OF_MAP.fullmatch(name)
    return match is not None and match[1] == key


def _keys_of_maps(names: Any) -> Iterator[str]:
    there = set(names)
    for match in filter(None, map(_OF_MAP.fullmatch, names)):
        if match[2] == "1" and there.issuperset(f"{match[1]}_{part}" for part in _COMPANIONS):
            yield match[1]


def _is_number(column: Any) -> bool:
    types = load("pandas").api.types
    return bool(
        types.is_numeric_dtype(column.dtype)
        and not types.is_bool_dtype(column.dtype)
        and not types.is_complex_dtype(column.dtype)
    )


def _refuse_text(column: Any, path: Path) -> None:
    """Refuse a column that was asked for as a feature and holds no numbers."""
    if _is_number(column):
        return
    row = 1
    value = column.iloc[0]
    if found := example_of_text(column):
        row, value = found
    raise ValueError(
        f"column {column.name!r:.60} of {path} is not numbers (row {row}: {str(value)!r:.40}); "
        "leave it out of --features or correct the file"
    )


def _matrix(frame: Any) -> NDArray[np.floating]:
    single = all(dtype == np.float32 for dtype in frame.dtypes)
    matrix: NDArray[np.floating] = frame.to_numpy(
        np.float32 if single else np.float64, na_value=np.nan
    )
    return np.ascontiguousarray(matrix)


def tidy_columns(frame: Any) -> dict[str, Any]:
    """Return columns by name; whole numbers that became fractions because of gaps are whole."""
    columns = {}
    for name in frame.columns:
        column = frame[name].reset_index(drop=True)
        if name.startswith("Unnamed: ") and column.isna().all():
            continue  # a separator at the end of each line
        if column.dtype.kind == "f" and column.isna().any():
            values = column.dropna().to_numpy()
            if len(values) and (np.abs(values) < 2**53).all() and (values % 1 == 0).all():
                column = column.astype("Int64")
        elif load("pandas").api.types.infer_dtype(column) == "mixed":
            column = storable(column)
        columns[str(name)] = no_empty_text(column)
    return columns


def no_empty_text(column: Any) -> Any:
    """Return a column in which empty text is missing, as it is in files of text."""
    if hasattr(column, "cat"):
        return column.cat.remove_categories([""]) if "" in column.cat.categories else column
    if column.dtype.kind != "O":
        return column
    empty = column.eq("").fillna(False).astype(bool)
    return column.mask(empty, None) if empty.any() else column


def like_missing(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Say which columns hold labels that may have been meant to be missing."""
    notes = []
    for name, column in columns.items():
        if not hasattr(column, "unique"):
            continue  # arrays of NumPy, in which text is what it is
        if load("pandas").api.types.infer_dtype(column, skipna=True) in ("string", "categorical"):
            found = sorted(_LIKE_MISSING.intersection(column.unique().tolist()))
            if found:
                notes.append(
                    f"column {name!r:.60} holds {listed(found)}, a label like any other here; "
                    "leave cells empty where the label is missing"
                )
    return tuple(notes)


def storable(column: Any) -> Any:
    """Return a column as files can hold it: text instead of mixed or unusual values."""
    pandas = load("pandas")
    series = pandas.Series(column).reset_index(drop=True)
    if isinstance(series.dtype, pandas.CategoricalDtype):
        categories = series.cat.categories
        if categories.dtype.kind in "biuf":
            return series
        texts = [label_text(value) for value in categories]
        if len(set(texts)) == len(texts):
            return series.cat.rename_categories(texts)
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    if series.dtype.kind == "f":
        return pandas.Series(series.to_numpy(series.dtype.type, na_value=np.nan))
    kind = pandas.api.types.infer_dtype(series)
    # Numbers, true and false, and dates are what they are; of the rest, only text.
    if series.dtype.kind in "biufmM" or kind in ("string", "empty"):
        return series
    series = series.astype(object)
    return series.where(series.notna(), None).map(label_text, na_action="ignore")
