"""Tables as text: what usually goes wrong in them is found and said in plain words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from ctsne.io.names import listed
from ctsne.io.paths import load, suffix_of

__all__ = ["read_text", "separator_of"]

_OTHERS = {";": "semicolons", "\t": "tabs", ",": "commas"}


def separator_of(path: Path) -> str:
    """Return what stands between the cells of a row in this kind of file."""
    return "," if suffix_of(path).startswith(".csv") else "\t"


def read_text(path: Path, *, own: bool = False) -> Any:
    """Return the table as a data frame; refuse files that pandas would read as something else."""
    pandas = load("pandas")
    separator = separator_of(path)
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    options: dict[str, Any] = {"sep": separator, "compression": compression, "encoding": "utf-8"}
    try:
        head = pandas.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, **options)
        header = head.iloc[0].tolist()
        _check_header(header, separator, path)
        if not header[0]:
            options["converters"] = {0: str}  # names stay as they are: 007, NA
        if own:
            options |= {"keep_default_na": False, "na_values": [""]}
        # The slower way to read numbers gives exactly those that were written.
        return pandas.read_csv(path, float_precision="round_trip", low_memory=False, **options)
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
