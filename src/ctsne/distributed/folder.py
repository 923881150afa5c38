"""The folder of placed points: one file per shard, and a record of what it was made from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ctsne._core.arrays import content_checksum
from ctsne._core.files import read_text, reading, write_file
from ctsne.io.paths import load

# Readers of Parquet folders skip names that begin like this.
RECORD = "_placing.json"
MODEL = "_model.ctsne"
SUFFIX = ".parquet"
_FORMAT = 1
# What to call a difference to an earlier run, by the field of the record.
_DIFFERENCES = {
    "model": "with another model",
    "labels": "with other labels",
    "features": "with other features",
    "use_rep": "with another use_rep",
    "shards": "of other shards",
    "collection": "of other data",
}
# Where a file of placed points keeps what it was made from.
_KEY = b"ctsne placing"


@dataclass(frozen=True)
class Record:
    """What the points of a folder were made from."""

    model: str  # checksum of the model
    collection: str  # checksum of its first rows, if these are not files
    labels: tuple[str, ...]
    features: tuple[str, ...] | None
    use_rep: str | None
    shards: Mapping[str, str]  # names of the shards, by the file that they are written to
    shifts: Mapping[str, list[float]] = field(default_factory=dict)  # of labels not in the map

    def token(self, output: str, state: str) -> str:
        """Return a checksum of all that the points of a shard depend on."""
        settings = (self.model, self.collection, self.labels, self.features, self.use_rep)
        own = (self.shards[output], state, self.shifts)
        return content_checksum(json.dumps([*settings, *own]))


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


def check_same(out: Path, record: Record) -> Mapping[str, list[float]] | None:
    """Refuse to continue with another model or collection; return the shifts of an earlier run."""
    path = out / RECORD
    if not path.exists():
        return None
    before, now = _read(path), json.loads(json.dumps(asdict(record)))
    for name, what in _DIFFERENCES.items():
        if now[name] != before.get(name):
            new = [] if name != "shards" else [*{*now[name].values()} - {*before[name].values()}]
            which = f" ({min(new)!s:.80} was not among them)" if new else ""
            how = "choose another folder, or remove this one"
            raise ValueError(f"{out} holds points placed {what}{which}; {how}")
    shifts: Mapping[str, list[float]] = before["shifts"]
    return shifts


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a record, of which only the shifts and names of shards are used."""
    what = "a record of placed points of this version of ctsne"
    with reading(path, what):
        content = json.loads(read_text(path, what))
        lists = content["shifts"].values()
        numbers = [number for values in lists for number in values]
        fits = content["ctsne placing"] == _FORMAT and isinstance(content["shards"], dict)
        if not fits or not all(isinstance(x, list) for x in lists):
            raise ValueError(f"{path} is not {what}")
        if not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
            raise ValueError(f"{path} is not {what}: its shifts are not numbers")
    return dict(content)


def write_record(out: Path, record: Record) -> None:
    """Write the record, unless it is there."""
    if not (out / RECORD).exists():
        text = json.dumps({"ctsne placing": _FORMAT, **asdict(record)}, indent=1)
        write_file(out / RECORD, text.encode("utf-8", "surrogatepass"))


def remove_unfinished(out: Path) -> None:
    """Remove unfinished files, which only a process that was killed leaves."""
    for path in (*out.glob(".*.part"), *out.glob(f".*{MODEL}")):
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Written:
    """A finished file of placed points."""

    rows: int
    far: int


def find_finished(path: Path, token: str) -> Written | None:
    """Return what a file holds if it is complete and made from the same, else None."""
    if not path.is_file():
        return None
    try:
        found = load("pyarrow.parquet").read_metadata(path)
        stored = json.loads((found.metadata or {})[_KEY])
        return Written(found.num_rows, int(stored["far"])) if stored["token"] == token else None
    except (OSError, ValueError, KeyError, TypeError):  # damaged, or of another program
        return None


def mark_finished(writer: Any, token: str, far: int) -> None:
    """Note in an open file what it was made from."""
    writer.add_key_value_metadata({_KEY: json.dumps({"token": token, "far": far}).encode()})
