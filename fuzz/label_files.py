"""Label columns of every type, in files of every format: different labels must stay different."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from damage_text import Rng, pick

from ctsne.labels import encode_column

LABEL = "batch"
FORMATS = (".csv", ".csv.gz", ".tsv", ".txt", ".parquet", ".h5ad", ".npz")


def _whole(name: str) -> list[int]:
    """Return whole numbers of a type: its limits, and those that a float confuses."""
    limits = np.iinfo(name)
    near = (0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2)
    inside = [value for value in near if value < limits.max]
    return [int(limits.min), int(limits.min) + 1, *inside[2:], int(limits.max) - 1, int(limits.max)]


_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_TIMES = pd.to_datetime([0, 1, 1_000, 10**18, 10**18 + 1, -1])
_DAYS = [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]
# The first keeps the column from being numbers, in which NA is missing and 1 is 1.0.
TEXTS = (
    *("a", "A", " a", "a ", "a\tb", "a\nb", 'a"b', "a'b", "a,b", "a;b", "a | b", "é", "e\u0301"),
    *("NA", "None", "null", "True", "true", "1", "01", "1.0", "+1", "1e0", "1_000", "inf", "-"),
    *("\u202e", "\ufeffa", "\u00a0", "😀", "\\", "\\N", "#x", "=1+1", "$x^2$", "x" * 300),
)
#: Different labels of every kind.
LABELS: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: pd.Series(_whole(name), dtype=name) for name in _WHOLE},
    "Int64": lambda: pd.Series(_whole("int64"), dtype="Int64"),
    "UInt64": lambda: pd.Series(_whole("uint64"), dtype="UInt64"),
    "float32": lambda: pd.Series([0.1, 1 / 3, 1e30, 1e-45, 3.0, 2.0**24], dtype="float32"),
    "float64": lambda: pd.Series([0.1, 0.1 + 2**-56, 1e300, 5e-324, 3.0, 2.0**53, np.inf]),
    "bool": lambda: pd.Series([True, False]),
    "boolean": lambda: pd.Series([True, False], dtype="boolean"),
    "decimal": lambda: pd.Series([Decimal("0.1"), Decimal("12345678901234567890.5"), Decimal(3)]),
    "timestamp": lambda: pd.Series(_TIMES),
    "timestamp with zone": lambda: pd.Series(_TIMES.tz_localize("Europe/Berlin")),
    "span": lambda: pd.Series(_TIMES - _TIMES[0]),
    "date": lambda: pd.Series(_DAYS, dtype=object),
    "text": lambda: pd.Series(TEXTS, dtype=object),
    "string": lambda: pd.Series(TEXTS, dtype="string"),
    "category": lambda: pd.Series(pd.Categorical(TEXTS)),
    "ordered": lambda: pd.Series(pd.Categorical(TEXTS, categories=TEXTS[::-1], ordered=True)),
    "category of numbers": lambda: pd.Series(pd.Categorical(_whole("int64"))),
    "category of fractions": lambda: pd.Series(pd.Categorical([0.1, 0.1 + 2**-56, 1e300])),
    "mixed": lambda: pd.Series(["a", 1, 2.5, False, Decimal("0.25")], dtype=object),
    "missing": lambda: pd.Series([None, None], dtype=object),
}
# Kinds whose columns have a value for missing ones.
_GAPS = ("Int64", "UInt64", "float", "boolean", "decimal", "time", "span", "date", "text", "string")


def make_labels(rng: Rng, kind: str, n: int) -> Any:
    """Return a column of one kind, in which some different labels occur, and gaps if it has any."""
    values = LABELS[kind]()
    some = rng.choice(len(values), min(len(values), int(rng.integers(2, 9))), replace=False)
    some[0] = 0 if values[0] == "a" else some[0]
    rows = np.concatenate([some, rng.choice(some, n - len(some))])
    column = values.iloc[rows].reset_index(drop=True)
    if rng.random() < 0.4 and (kind.startswith(_GAPS) or "cat" in kind or kind == "ordered"):
        column[rng.integers(len(some), n, size=3)] = None
    return column


def write_labels(path: Path, X: Any, column: Any) -> bool:
    """Write features and a label column; return whether the format can hold such a column."""
    table = pd.DataFrame(X, columns=[f"PC{c + 1}" for c in range(X.shape[1])])
    name = path.name
    try:
        if name.endswith(".h5ad"):
            from anndata import AnnData

            obs = pd.DataFrame({LABEL: column.to_numpy() if column.dtype == object else column})
            obs.index = obs.index.astype(str)
            AnnData(X, obs=obs).write_h5ad(path)
        elif name.endswith(".npz"):
            array = column.to_numpy()
            if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
                array = array.astype(str)
            if array.dtype.kind == "O" or written_groups(array) != written_groups(column):
                return False
            np.savez(path, X=X, **{LABEL: array})
        elif name.endswith(".parquet"):
            table.assign(**{LABEL: column}).to_parquet(path)
        else:
            separator = "," if ".csv" in name else "\t"
            table.assign(**{LABEL: column}).to_csv(path, sep=separator, index=False)
    except Exception:  # the library that writes this format has no such type
        path.unlink(missing_ok=True)
        return False
    return True


def groups_of(column: Any) -> list[int]:
    """Return for each row the first one with the same label, -1 where it is missing."""
    codes = encode_column(column).codes.tolist()
    return [-1 if code < 0 else codes.index(code) for code in codes]


def written_groups(column: Any) -> list[int]:
    """Return the same for a column before it is written, by the values that Python compares."""
    values = column.tolist()
    return [-1 if pd.isna(value) else values.index(value) for value in values]


def random_labels(rng: Rng, folder: Path, X: Any) -> tuple[Path, str, Any]:
    """Write labels of any kind in any format that holds them; return the file, kind and column."""
    while True:
        kind = pick(rng, list(LABELS))
        column = make_labels(rng, kind, len(X))
        path = folder / f"labels{pick(rng, FORMATS)}"
        if write_labels(path, X, column):
            return path, kind, column
