"""Damage that keeps a file of NumPy or Arrow readable for its own library, or nearly so."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from damage_text import Rng, hurt_bytes, hurt_json, pick
from pyarrow import parquet

_DTYPES = (
    "'<f4'",
    "'>f8'",
    "'<f2'",
    "'<c8'",
    "'|O'",
    "'|V8'",
    "'<M8[ns]'",
    "'<m8[s]'",
    "'<U0'",
    "'<U3'",
    "'|S4'",
    "'|S0'",
    "'<i8'",
    "'|b1'",
    "'<f16'",
    "'|V0'",
    "'<U1000000000'",
    "[('a', '<f4'), ('b', '<i4')]",
    "[('x', '<f4', (1000000,))]",
    "'<f4,<f4'",
    "''",
    "None",
    "5",
    "'x'",
    "'f4' if 1 else 2",
    "[]",
    "('<f4', (2,))",
    "{'names': ['a']}",
    "'<M8[foo]'",
)
_SHAPES = (
    "()",
    "(0,)",
    "(40,)",
    "(40, 0)",
    "(0, 4)",
    "(40, 4, 1)",
    "(-1,)",
    "(-40, -4)",
    "(1 << 62,)",
    "(4611686018427387904, 8)",
    "(1000000000, 1000000000)",
    "(3000000000,)",
    "(40.0, 4)",
    "('40', 4)",
    "[40, 4]",
    "None",
    "(True, 4)",
    "(10**30,)",
    "(1,)" + " " * 500,
    "(((((40,),),),),)",
    "(40, 2)",
    "(41, 4)",
    "(1,) * 40",
    "(" + "1," * 70 + ")",
)


def hurt_npy(rng: Rng, content: bytes, outside: Path) -> tuple[str, bytes]:
    """Change the header or the numbers of a .npy file."""
    array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    way = int(rng.integers(5))
    if way == 0:
        return "npy values", _npy(_odd_array(rng, array, outside))
    fields = {"descr": repr(array.dtype.str), "fortran_order": "False", "shape": repr(array.shape)}
    if way <= 2:
        fields["descr"] = pick(rng, _DTYPES)
    if way in (2, 3):
        fields["shape"] = pick(rng, _SHAPES)
    if way == 4:
        name = pick(rng, list(fields))
        odd = pick(
            rng,
            (
                "1",
                "None",
                "True",
                "'x'",
                "__import__('os')",
                "[" * 300 + "]" * 300,
                "-" * 3000 + "1",
            ),
        )
        fields[name] = odd
        if rng.random() < 0.3:
            del fields[name]
        if rng.random() < 0.2:
            fields["x"] = "1"
    header = "{" + ", ".join(f"'{name}': {value}" for name, value in fields.items()) + "}"
    if way == 4 and rng.random() < 0.3:
        header = pick(
            rng,
            (
                "",
                "{",
                "x",
                "()",
                header[:-1],
                "\0" * 50,
                header * 2,
                "(" * 5000,
                "1e999",
                "{'descr': 1" * 99,
            ),
        )
    version = pick(rng, ((1, 0),) * 6 + ((2, 0), (3, 0), (9, 9)))
    size = struct.pack("<H" if version[0] == 1 else "<I", len(header) % 2**16)
    body = array.tobytes() if array.dtype.kind != "O" else b""
    return "npy header", b"\x93NUMPY" + bytes(version) + size + header.encode() + body


class _Trap:
    """Tells that a pickle was read: loading it makes a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self._file,)


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=array.dtype.kind == "O")
    return stream.getvalue()


def _odd_array(rng: Rng, array: Any, outside: Path) -> Any:
    """Return an array of another shape or type, or with other values."""
    way = int(rng.integers(10))
    n = max(1, array.size)
    if array.dtype.kind in "iuf" and array.size and way <= 4:
        odd = array.copy().reshape(-1)
        values = (-1, 0, 7, 2**31 - 1) if array.dtype.kind in "iu" else (np.nan, np.inf, -1e30, 0)
        places = rng.integers(n, size=int(pick(rng, (1, 1, 3, n))))
        odd[places] = np.array(pick(rng, values)).astype(array.dtype)
        return odd.reshape(array.shape)
    if array.dtype.kind == "U" and array.ndim == 0 and way <= 7:
        try:
            return np.array(hurt_json(rng, str(array))[1])
        except json.JSONDecodeError:
            return np.array(pick(rng, ("", "csc", "dia", "coo", "bsr", "xyz", "\0", "csr")))
    flat = array.reshape(-1)
    ways = (
        lambda: flat[:0],
        lambda: flat[: n // 2],
        lambda: array.reshape(1, -1),
        lambda: flat,
        lambda: np.char.encode(flat.astype(str), "utf-8"),
        lambda: np.array(5),
        lambda: np.array("text"),
        lambda: array.astype(str),
        lambda: np.array([None, _Trap(outside / "pickled")], object),
        lambda: np.zeros((3, 2), complex),
        lambda: np.array([["x"]]),
        lambda: np.full((40, 2), np.nan),
        lambda: np.tile(flat, 2),
        lambda: flat[::-1],
    )
    return pick(rng, ways)()


def hurt_npy_file(rng: Rng, path: Path, outside: Path) -> str:
    """Change the header or the numbers of a .npy file."""
    how, content = hurt_npy(rng, path.read_bytes(), outside)
    path.write_bytes(content)
    return how


def hurt_npz_file(rng: Rng, path: Path, outside: Path) -> str:
    """Rename, double, remove or change entries of a .npz file; checksums are right."""
    with zipfile.ZipFile(path) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    place = int(rng.integers(len(entries)))
    name, content = entries[place]
    way = int(rng.integers(13))
    packing = pick(
        rng,
        (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
            zipfile.ZIP_DEFLATED,
            zipfile.ZIP_BZIP2,
            zipfile.ZIP_LZMA,
        ),
    )
    if way <= 3:
        how, content = hurt_npy(rng, content, outside)
        entries[place] = (name, content)
    elif way == 4 or way > 9:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        how, entries[place] = "npz values", (name, _npy(_odd_array(rng, array, outside)))
    elif way == 5:
        how, content = hurt_bytes(rng, content, [content])
        entries[place] = (name, content)
    elif way == 6:
        odd = pick(
            rng,
            (
                "",
                "x",
                "x.npy",
                "../x.npy",
                "/x.npy",
                "X.npy",
                ".npy",
                "names.npy",
                "é.npy",
                "a/b.npy",
                "format.npy",
            ),
        )
        how, entries[place] = "npz entry renamed", (odd, content)
    elif way == 7:
        how = "npz entry removed"
        del entries[place]
    elif way == 8:
        how = "npz entry doubled"
        entries.append((name, content if rng.random() < 0.5 else pick(rng, entries)[1]))
    else:
        how, packing = "npz entry too long", zipfile.ZIP_DEFLATED
        entries[place] = (name, content + bytes(int(pick(rng, (1, 1000, 10**6)))))
    with zipfile.ZipFile(path, "w", packing) as archive:
        for entry, inner in entries:
            archive.writestr(zipfile.ZipInfo(entry), inner, packing)  # with a fixed date
    if rng.random() < 0.15:  # the fields of the directory and of the entries: sizes, flags, method
        data = bytearray(path.read_bytes())
        starts = [
            at
            for at in range(len(data) - 4)
            if data[at : at + 3] in (b"PK\x01", b"PK\x03", b"PK\x05")
        ]
        at = pick(rng, starts) + int(rng.integers(4, 30))
        data[at % len(data)] = int(pick(rng, (0, 1, 8, 99, 255)))
        path.write_bytes(bytes(data))
        how += ", field changed"
    return how


def _nested(table: Any) -> dict[str, Any]:
    """Return columns of types that a table of data should not have."""
    n = table.num_rows
    codes = pa.array([row % 2 for row in range(n)], pa.int8())
    return {
        "list": pa.array([[1.0, 2.0]] * n),
        "struct": pa.array([{"a": 1}] * n),
        "none": pa.nulls(n),
        "decimal": pa.array([1] * n).cast(pa.decimal128(30)),
        "binary": pa.array([b"\xff"] * n),
        "time": pa.array([1] * n, pa.time64("ns")),
        "date": pa.array([1] * n, pa.date32()),
        "stamp": pa.array([2**62] * n, pa.timestamp("s", "Europe/Berlin")),
        "length": pa.array([2**62] * n, pa.duration("us")),
        "half": pa.array(np.ones(n, np.float16)),
        "dictionary": pa.DictionaryArray.from_arrays(codes, pa.array(["", "x"])),
        "numbers": pa.DictionaryArray.from_arrays(codes, pa.array([0.5, np.nan])),
        "map": pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        "nan": pa.array([float("nan")] * n),
        "large": pa.array([2**63] * n, pa.uint64()),
    }


def hurt_parquet_file(rng: Rng, path: Path, _: Path) -> str:
    """Change the schema, its metadata or a column of a parquet file; or its footer."""
    way = int(rng.integers(9))
    content = path.read_bytes()
    if way <= 2:
        # The footer holds the schema and all offsets, before its length and a mark.
        size = 8
        length = min(struct.unpack("<I", content[-size : 4 - size])[0], len(content) - size)
        cut = len(content) - size - length
        how, footer = hurt_bytes(rng, content[cut:-size], [content])
        mark = struct.pack("<I", len(footer)) + content[4 - size :]
        path.write_bytes(content[:cut] + footer + mark)
        return f"footer: {how}"
    table = parquet.read_table(path)
    metadata = dict(table.schema.metadata or {})
    how = "column changed"
    place = int(rng.integers(table.num_columns))
    if way <= 5 and metadata:
        key = pick(rng, list(metadata))
        how, text = hurt_json(rng, metadata[key].decode())
        metadata[key] = text.encode()
        how = f"metadata {key.decode()}: {how}"
    elif way == 6:
        name, column = pick(rng, list(_nested(table).items()))
        how = f"column of type {name}"
        table = table.set_column(place, table.column_names[place], column)
    elif way == 7:
        names = list(table.column_names)
        names[place] = pick(
            rng, ("", names[0], "\0", "Unnamed: 0", "x" * 10_000, "ctsne_1", "__index_level_0__")
        )
        table, how = table.rename_columns(names), "column renamed"
    else:
        table = pick(
            rng,
            (table.slice(0, 0), table.select([]), table.remove_column(place), table.slice(0, 3)),
        )
    table = table.replace_schema_metadata(metadata)
    parquet.write_table(table, str(path))
    return how
