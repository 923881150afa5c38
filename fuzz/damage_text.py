"""Damage to bytes, tables written as text, JSON and TOML."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator

# As little-endian numbers in a header: lengths, offsets, counts.
_EXTREMES = (0, 1, 2**7, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)


def pick(rng: Rng, options: Sequence[Any]) -> Any:
    """Return one of the options as it is; ``rng.choice`` would make an array of them."""
    return options[int(rng.integers(len(options)))]


def hurt_bytes(rng: Rng, content: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Return a name of the damage, and the damaged bytes."""
    data = bytearray(content)
    n = len(data)
    if not n:
        return "bytes added to nothing", rng.bytes(int(rng.integers(1, 200)))
    place, length = int(rng.integers(n)), int(min(rng.integers(1, 64), n))
    way = int(rng.integers(10))
    if way <= 2:
        # Most bytes of an HDF5 file are zeros that nothing reads.
        filled = np.flatnonzero(np.frombuffer(content, np.uint8))
        for _ in range(int(rng.integers(1, 9))):
            at = (
                int(pick(rng, filled))
                if len(filled) and rng.random() < 0.7
                else int(rng.integers(n))
            )
            data[at] ^= 1 << int(rng.integers(8))
        return "bits flipped", bytes(data)
    if way == 3:
        data[place : place + length] = rng.bytes(length)
        return "bytes overwritten", bytes(data)
    if way == 4:
        ends = [place, max(0, n - int(rng.integers(1, 20))), int(rng.integers(min(n, 100)))]
        return "truncated", content[: pick(rng, ends)]
    if way == 5:
        data[place:place] = rng.bytes(length) if rng.random() < 0.5 else content[:length]
        return "bytes inserted", bytes(data)
    if way == 6:
        other = pick(rng, others)
        at = int(rng.integers(len(other) + 1))
        return "spliced", content[:place] + other[at:]
    if way == 7:
        end = min(n, place + int(rng.integers(1, max(2, n // 2))))
        data[place:end] = bytes([int(pick(rng, (0, 0, 255)))]) * (end - place)
        return "filled", bytes(data)
    if way == 8:
        size = int(pick(rng, (2, 4, 8)))
        header = rng.random() < 0.5
        at = int(rng.integers(min(n, 200))) if header else max(0, n - int(rng.integers(1, 200)))
        value = int(pick(rng, _EXTREMES)) % 2 ** (8 * size)
        data[at : at + size] = value.to_bytes(size, "little")
        return "extreme number", bytes(data[: max(n, at + 1)])
    del data[place : place + length]
    return "bytes removed", bytes(data)


# Cells of a table, and values in general.
_CELLS = (
    "",
    "nan",
    "NA",
    "inf",
    "-inf",
    "1e400",
    "-1e-400",
    "0x10",
    "1_000",
    '"',
    "'",
    "\0",
    "\ufeff",
    "a,b",
    "1;2",
    "\r",
    "\n",
    '"\n"',
    "9" * 400,
    "x" * 100_000,
    "é",
    "TRUE",
    "1.5",
    "-0",
    "=1+1",
    "None",
    "2026-01-01",
    "1+2j",
    "\x1b[2J",
    "../x",
)


def hurt_text_file(rng: Rng, path: Path, _: Path) -> str:
    packed = path.suffix == ".gz"
    content = path.read_bytes()
    text = (gzip.decompress(content) if packed else content).decode()
    how, text = hurt_table(rng, text, "," if ".csv" in path.name else "\t")
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        how, content = (
            f"{how}, other encoding",
            text.encode(pick(rng, ("utf-16", "utf-32", "utf-7")), "replace"),
        )
    path.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
    return how


def hurt_table(rng: Rng, text: str, separator: str) -> tuple[str, str]:
    """Damage cells, rows or columns of a table written as text."""
    rows = [line.split(separator) for line in text.splitlines()]
    row = int(rng.integers(len(rows))) if rng.random() < 0.7 else 0
    column = int(rng.integers(len(rows[0])))
    way = int(rng.integers(9))
    if way <= 2:
        rows[row][min(column, len(rows[row]) - 1)] = pick(rng, _CELLS)
        how = "cell replaced"
    elif way == 3:
        rows = rows[: int(rng.integers(1, 5))] if rng.random() < 0.5 else [rows[0]] * 50
        how = "few rows"
    elif way == 4:
        rows = [line[:column] + line[column + 1 :] for line in rows]
        how = "column removed"
    elif way == 5:
        rows = [[*line, pick(rng, line)] for line in rows]
        how = "column doubled"
    elif way == 6:
        cell = pick(rng, _CELLS)
        rows[1:] = [[*line[:column], cell, *line[column + 1 :]] for line in rows[1:]]
        how = "column filled"
    elif way == 7:
        rows[row] = rows[row][: int(rng.integers(len(rows[row]) + 1))]
        how = "row shortened"
    else:
        rows[row] = rows[row] * int(pick(rng, (2, 3, 50)))
        how = "row lengthened"
    return how, "\n".join(separator.join(line) for line in rows) + "\n"


# Raw JSON, because json.dumps cannot write some of it.
_VALUES = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "1.5",
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "2147483648",
    "1e308",
    "9223372036854775808",
    "1" * 5000,
    '""',
    '"x"',
    '"\\u0000"',
    '"\\ud800"',
    '"' + "x" * 100_000 + '"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '{"a": 1}',
    '{"": {}}',
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 5000 + "1" + "}" * 5000,
    '"../outside/target.csv"',
    '"/dev/zero"',
    '"."',
    '"~"',
    '["a", 1, null]',
    '"nan"',
    '"-1"',
    '"1e9"',
)


def hurt_json_file(rng: Rng, path: Path, _: Path) -> str:
    how, text = hurt_json(rng, path.read_text("utf-8"))
    path.write_text(text, "utf-8")
    return how


def hurt_json(rng: Rng, text: str) -> tuple[str, str]:
    """Change a value of a JSON text to another type, or a key, or the order of things."""
    content = json.loads(text)
    places = list(_places(content))
    way = int(rng.integers(8))
    if way == 7 or not places:
        return "JSON replaced", pick(rng, _VALUES)
    holder, key = pick(rng, places)
    mark = "@here@"
    if way <= 4:
        holder[key] = mark
        return f"JSON {key} changed", json.dumps(content).replace(
            f'"{mark}"', pick(rng, _VALUES), 1
        )
    if way == 5:
        del holder[key]
        return f"JSON {key} removed", json.dumps(content)
    if isinstance(holder, dict):
        holder[
            pick(
                rng,
                (
                    "",
                    "x",
                    "input",
                    "output",
                    "help",
                    "run",
                    "command",
                    "n_jobs",
                    "ctsne record",
                ),
            )
        ] = holder.pop(key)
        return f"JSON {key} renamed", json.dumps(content)
    holder.extend(holder[:1] * int(pick(rng, (1, 3, 1000))))
    return "JSON list lengthened", json.dumps(content)


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value of JSON as the object that holds it, and its key there."""
    pairs: Any = ()
    if isinstance(content, dict):
        pairs = list(content.items())
    elif isinstance(content, list):
        pairs = list(enumerate(content[:50]))
    for key, value in pairs:
        yield content, key
        yield from _places(value)
