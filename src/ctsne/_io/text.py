"""Tables as text: what usually goes wrong in them is found and said in plain words."""

from __future__ import annotations

import gzip
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from ctsne._core.messages import listed
from ctsne._io.paths import load, suffix_of

__all__ = ["example_of_text", "has_semicolons", "read_text", "separator_of"]

# Of text, only this is missing: "NA" or "None" may well be the name of something.
_MISSING = ("", "NaN", "nan")
# A column of text in which this share of cells are numbers was meant to be numbers.
_MOSTLY = 0.5
_OTHERS = {";": "semicolons", "\t": "tabs", ",": "commas"}


def separator_of(path: Path) -> str:
    """Return what stands between the cells of a row in this kind of file."""
    return "," if suffix_of(path).startswith(".csv") else "\t"


def has_semicolons(path: Path) -> bool:
    """Tell a .csv of spreadsheets in countries where the comma is for decimals by its header."""
    if separator_of(path) != ",":
        return False
    zipped = path.name.lower().endswith(".gz")
    with gzip.open(path, "rb") if zipped else path.open("rb") as file:
        header: bytes = file.readline()
    return b";" in header and b"," not in header and b"\t" not in header


def read_text(path: Path, *, own: str | None = None) -> Any:
    """Return the table as a data frame; refuse files that pandas would read as something else.

    ``own`` is as in :func:`ctsne._io.tables.read_frame`.
    """
    pandas = load("pandas")
    separator = separator_of(path)
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    options: dict[str, Any] = {"sep": separator, "compression": compression, "encoding": "utf-8"}
    try:
        if own is None and has_semicolons(path):
            options["sep"] = separator = ";"
        head = pandas.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, **options)
        header = head.iloc[0].tolist()
        _check_header(header, separator, path)
        if not header[0] or own in header[1:2]:
            options["converters"] = {0: str}  # names stay as they are: 007, NA
        if own is not None:
            options |= {"keep_default_na": False, "na_values": [""]}
        # The slower way to read numbers gives exactly those that were written.
        exact: dict[str, Any] = {"float_precision": "round_trip", "low_memory": False}
        frame = pandas.read_csv(path, **exact, **options)
        if separator == ";":
            with_commas = pandas.read_csv(path, decimal=",", **exact, **options)
            if _n_numeric(with_commas) > _n_numeric(frame):
                frame = with_commas
        return frame if own is not None else _with_text(frame, path, options)
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty") from error
    except pandas.errors.ParserError as error:
        raise ValueError(
            f"{path} is not a table with {_OTHERS[separator]} between its columns: {error}"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8 ({error.reason} at byte {error.start}); save it again "
            "with that encoding"
        ) from error
    except (OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _n_numeric(frame: Any) -> int:
    return int(frame.select_dtypes("number").shape[1])


def _with_text(frame: Any, path: Path, options: dict[str, Any]) -> Any:
    """Return the table with text as it is, where pandas takes much of it for missing numbers."""
    pandas = load("pandas")
    infer = pandas.api.types.infer_dtype
    columns = [
        position
        for position, (_, column) in enumerate(frame.items())
        if column.isna().any()
        and infer(column, skipna=True) == "string"
        and example_of_text(column) is None
    ]
    if not columns:
        return frame
    before = 0 if isinstance(frame.index, pandas.RangeIndex) else frame.index.nlevels
    width = before + len(frame.columns)
    texts = pandas.read_csv(
        path,
        header=None,
        names=range(width),
        usecols=[before + position for position in columns],
        dtype=str,
        na_filter=False,
        **{name: options[name] for name in ("sep", "compression", "encoding")},
    ).iloc[1:]
    for position in columns:
        column = texts[before + position].set_axis(frame.index)
        frame.isetitem(position, column.where(~column.isin(_MISSING), None))
    return frame


def example_of_text(column: Any) -> tuple[int, str] | None:
    """Return row (from 1) and text of the first cell that keeps a column from being numbers."""
    pandas = load("pandas")
    if pandas.api.types.infer_dtype(column, skipna=True) not in ("string", "mixed"):
        return None
    present = column.notna().to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = pandas.to_numeric(column.where(present, None), errors="coerce")
    wrong = present & numbers.isna().to_numpy()
    if not wrong.any() or wrong.sum() > _MOSTLY * present.sum():
        return None
    row = int(wrong.argmax())
    return row + 1, str(column.iloc[row])


def _check_header(header: list[str], separator: str, path: Path) -> None:
    if len(header) == 1:
        for other, word in _OTHERS.items():
            if other != separator and other in header[0]:
                kind = ".tsv" if other == "\t" else ".csv"
                hint = f"name it {kind}" if separator != other != ";" else "save it with commas"
                raise ValueError(
                    f"{path} has one column only, but {word} in its first line; in a file of this "
                    f"name {_OTHERS[separator]} must stand between columns: {hint}"
                )
    named = [name for name in header if name]
    twice = sorted(name for name, count in Counter(named).items() if count > 1)
    if twice:
        raise ValueError(
            f"{path} has more than one column named {listed(twice)}; give each a name of its own"
        )
    if all(_is_number(name) for name in named) and any(re.search(r"[.eE]", n) for n in named):
        raise ValueError(
            f"the first line of {path} holds numbers ({listed(named, most=3)}); put a line with "
            "the names of the columns before it"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
