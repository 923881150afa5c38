"""The folder of placed points: one file per shard, and a record of what it was made from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctsne._core.arrays import content_checksum
from ctsne._core.files import read_text, reading, write_file
from ctsne._core.messages import load
from ctsne.storage.schema import TEXT, Number, check, strict_json

# Readers of Parquet folders skip names that begin like this.
RECORD = "_placing.json"
MODEL = "_model.ctsne"
SUFFIX = ".parquet"
# What the points depend on, and what to call a difference to an earlier run.
_DIFFERENCES = {
    "model": "with another model",  # its checksum
    "labels": "with other labels",
    "features": "with other features",
    "use_rep": "with another use_rep",
    "shards": "of other shards",  # their names, by the file that they are written to
    "collection": "of other data",  # checksum of its first rows, if these are not files
}
_SCHEMA = {
    "ctsne placing": Number(1, 1, whole=True),
    **dict.fromkeys(("model", "collection"), str),
    "labels": [str],
    "features": (None, [str]),
    "use_rep": TEXT,
    "shards": {str: str},
    "shifts": {str: [Number()]},  # of labels that the map does not have
}
# Where a file of placed points keeps what it was made from.
_KEY = b"ctsne placing"


def check_folder(out: Path) -> None:
    """Refuse what is not a folder, or one with other files."""
    if not out.exists():
        if not out.parent.is_dir():
            raise ValueError(f"there is no folder {out.parent}; create it first")
        return
    if not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder for the placed points")
    others = sorted(path.name for path in out.iterdir() if not path.name.startswith("."))
    if others and not (out / RECORD).is_file():
        what = f"the folder {out} holds other files ({others[0]!s:.60})"
        raise ValueError(f"{what}; name a new folder, or an empty one")


def check_same(out: Path, record: Mapping[str, Any]) -> Mapping[str, list[float]] | None:
    """Refuse to continue with another model or collection; return the shifts of an earlier run."""
    path, what = out / RECORD, "a record of placed points of this version of ctsne"
    if not path.exists():
        return None
    with reading(path, what):
        before = strict_json(read_text(path, what))
        check(before, _SCHEMA, "record")
    for name, difference in _DIFFERENCES.items():
        if record[name] != before[name]:
            how = "choose another folder, or remove this one"
            raise ValueError(f"{out} holds points placed {difference}; {how}")
    shifts: Mapping[str, list[float]] = before["shifts"]
    return shifts


def write_record(out: Path, record: Mapping[str, Any]) -> None:
    """Write the record, unless it is there."""
    if not (out / RECORD).exists():
        text = json.dumps({"ctsne placing": 1, **record}, indent=1)
        write_file(out / RECORD, text.encode("utf-8", "surrogatepass"))


def token_of(record: Mapping[str, Any], output: str, state: str) -> str:
    """Return a checksum of all that the points of a shard depend on."""
    return content_checksum(json.dumps([{**record, "shards": record["shards"][output]}, state]))


@dataclass(frozen=True)
class Outcome:
    """A finished file of placed points, or why there is none."""

    rows: int = 0
    far: int = 0
    error: str | None = None
    disk: bool = False  # whether the error is one of writing, which will meet all others too
    warnings: Mapping[str, type[Warning]] = field(default_factory=dict)  # classes by text


def find_finished(path: Path, token: str) -> Outcome | None:
    """Return what a file holds if it is complete and made from the same, else None."""
    if not path.is_file():
        return None
    try:
        found = load("pyarrow.parquet").read_metadata(path)
        stored = json.loads((found.metadata or {})[_KEY])
        return Outcome(found.num_rows, int(stored["far"])) if stored["token"] == token else None
    except (OSError, ValueError, KeyError, TypeError):  # damaged, or of another program
        return None


def mark_finished(writer: Any, token: str, far: int) -> None:
    """Note in an open file what it was made from."""
    writer.add_key_value_metadata({_KEY: json.dumps({"token": token, "far": far}).encode()})
