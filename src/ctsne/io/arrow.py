"""Tables in parquet and feather files, which may hold far more than their size suggests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctsne._core.guards import reading, require_room
from ctsne.io.paths import load

_VALUE = 8  # bytes in memory
_OLD = b"FEA1"  # the first version of feather, without compression and metadata


def read_arrow(path: Path, suffix: str) -> Any:
    """Return a parquet or feather file as a data frame."""
    with reading(path, f"a valid {suffix[1:]} file"):
        (_check_parquet if suffix == ".parquet" else _check_feather)(path)
        table = load(f"pyarrow{suffix}").read_table(path)
        table.validate(full=True)  # damaged buffers would crash the interpreter
        return table.to_pandas()


def stored_text(path: Path, suffix: str, key: bytes) -> str | None:
    """Return a text that is stored with a table, or None; the table itself is not read."""
    with reading(path, f"a valid {suffix[1:]} file"):
        stored = (_schema(path, suffix).metadata or {}).get(key)
        return None if stored is None else stored.decode("utf-8")


def _schema(path: Path, suffix: str) -> Any:
    if suffix == ".parquet":
        return load("pyarrow.parquet").read_schema(path)
    with load("pyarrow").OSFile(str(path)) as file:
        empty = file.read(len(_OLD)) == _OLD
        return load("pyarrow").schema([]) if empty else load("pyarrow.ipc").open_file(file).schema


def _check_parquet(path: Path) -> None:
    """Refuse a table that does not fit in memory, by what the file says about its parts."""
    found = load("pyarrow.parquet").read_metadata(path)
    sizes = (found.row_group(place).total_byte_size for place in range(found.num_row_groups))
    # A column of equal values takes no space in the file.
    require_room(max(_VALUE * found.num_rows * found.num_columns, sum(sizes)), path)


def _check_feather(path: Path) -> None:
    """Refuse a table that does not fit in memory, by the length of its first column."""
    ipc = load("pyarrow.ipc")
    columns, rows = len(_schema(path, ".feather")), 0
    if not columns:
        return
    with load("pyarrow").OSFile(str(path)) as file:
        first = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=[0]))
        for number in range(first.num_record_batches):
            rows += first.get_batch(number).num_rows
            require_room(_VALUE * rows * columns, path)
