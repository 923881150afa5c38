"""Provenance: what an output was made from and how, stored with it and read back."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ctsne._core.files import SETTINGS, file_checksum, reason, write_file
from ctsne._core.messages import shown
from ctsne.io.anndata import find_entry
from ctsne.io.dataset import Dataset, Source
from ctsne.io.hdf5 import opened
from ctsne.io.maps import read_settings
from ctsne.io.paths import MAP_SUFFIXES, check_input, sidecar_of, suffix_of
from ctsne.storage.record import Input, Record

FORMAT = 1
_PACKAGES = ("ctsne", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class InputRecord:
    """A file that an output was made from."""

    file: str  # relative to the folder of the output
    sha256: str | None = None  # of its bytes; None if the output is written into this file
    data: str | None = None  # checksum of matrix and labels, the same for every format


@dataclass(frozen=True)
class Provenance:
    """How an output was made, without time stamps, so that equal work gives equal bytes."""

    command: str
    settings: dict[str, Any]  # every option as it was resolved
    inputs: list[InputRecord] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"ctsne provenance": FORMAT, **asdict(self)}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON in ASCII, with keys in a fixed order."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Provenance:
        """Make it from the text of `to_json`; refuse others."""
        try:
            content = json.loads(text, parse_constant=_refuse_constant)
            stored = content["ctsne provenance"]
            if stored == FORMAT:
                _check_kinds(content)
                inputs = [InputRecord(**record) for record in content["inputs"]]
                found = cls(content["command"], content["settings"], inputs, content["versions"])
                found._check_types()
                return found
        except Exception as error:  # also of nested lists without end
            raise ValueError(f"not a ctsne settings record: {reason(error)}") from error
        formats = f"format {stored!r:.20}, this version reads {FORMAT}"
        raise ValueError(f"the settings are of another version of ctsne ({formats}); upgrade ctsne")

    def _check_types(self) -> None:
        """Refuse values of other types where every reader relies on them."""
        checksums = [each for record in self.inputs for each in (record.sha256, record.data)]
        optional = [each for each in (*checksums, self.settings.get("other")) if each is not None]
        labels = self.settings.get("labels") or []
        texts = [self.command, *self.versions.values(), *(each.file for each in self.inputs)]
        if not all(isinstance(each, str) for each in (*texts, *optional, *labels)):
            raise ValueError("it has values of the wrong type")

    def write(self, path: Path) -> None:
        """Write it to a JSON file."""
        write_file(path, f"{self.to_json(indent=1)}\n".encode("ascii"))


def _check_kinds(content: dict[str, Any]) -> None:
    """Refuse lists, numbers and texts where a record has names with values."""
    if not isinstance(content["inputs"], list):
        raise ValueError(f"its inputs must be a list, got {shown(content['inputs'])}")
    for what, value in (
        ("settings", content["settings"]),
        ("versions", content["versions"]),
        *(("inputs", each) for each in content["inputs"]),
    ):
        if not isinstance(value, dict):
            raise ValueError(f"its {what} must be names with values, got {shown(value)}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def current_versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    from ctsne import _native

    return {
        **{package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "instruction set": _native.instruction_set(),
    }


def input_records(
    dataset: Dataset,
    output: Path,
    labels: Sequence[str] = (),
    *,
    aligned: Any = None,
    start: Path | None = None,
) -> list[InputRecord]:
    """Describe the files that an output is made from: the data, labels, and a start, if any."""
    sha256 = None if _place(output) == dataset.path.resolve() else dataset.sha256
    checksum = dataset.checksum(labels, aligned)
    records = [InputRecord(relative_path(dataset.path, output), sha256, checksum)]
    if dataset.label_path is not None:
        path = relative_path(dataset.label_path, output)
        records.append(InputRecord(path, dataset.label_sha256))
    if start is not None:
        records.append(InputRecord(relative_path(start, output), file_checksum(start)))
    return records


def relative_path(path: Path, output: Path) -> str:
    """Return a path relative to the folder of an output."""
    return Path(os.path.relpath(path.resolve(), _place(output).parent)).as_posix()


def _place(output: Path) -> Path:
    """Return where an output is written: a link to a file is replaced, not followed."""
    return output.resolve() if output.is_dir() else output.parent.resolve() / output.name


def read_provenance(path: str | os.PathLike[str], *, key: str = "ctsne") -> Provenance:
    """Read how a map or a sweep folder was made; ``key`` names the map in an .h5ad."""
    source = Path(path) if Path(path).is_dir() else check_input(path, MAP_SUFFIXES)
    found = find_provenance(source, key)
    if found is None and source.is_dir():
        raise ValueError(f"{source} is not the folder of a sweep: it has no {SETTINGS}")
    if found is None:
        raise ValueError(f"{source} has no record of how it was made{_why_not(source, key)}")
    return found


def find_provenance(source: Path, key: str) -> Provenance | None:
    """Return the provenance stored with a map or in the folder of a sweep, or None."""
    text = read_settings(source, key)
    try:
        return None if text is None else Provenance.from_json(text)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _why_not(source: Path, key: str) -> str:
    """Explain why an output does not record how it was made."""
    if suffix_of(source) == ".h5ad":
        with opened(source) as file:
            if find_entry(file.get("uns", {}), key) is not None:
                how = "Repeat it with ctsne.tl.ctsne, and measure it with ctsne.tl.evaluate"
                return f": the map {key!r:.60} was made in Python. {how}"
    if source.suffix == ".npy" or suffix_of(source).startswith((".csv", ".tsv")):
        return f": {sidecar_of(source).name} is missing"
    return "; was it written by ctsne?"


@dataclass(frozen=True)
class Origin:
    """Where the data of a model came from, if the command line made it."""

    provenance: Provenance
    source: Source
    features: tuple[str, ...] | None  # names of the columns, if the file has them

    def part(self) -> tuple[str | None, str | None]:
        """Return the representation or the layer of an .h5ad file that the map was made of."""
        layer = self.source.layer
        return (self.source.use_rep or "X", None) if layer is None else (None, layer)

    def record(self) -> Record:
        """Return it as a settings record."""
        made = self.provenance
        files = tuple(Input(file.file, file.sha256, file.data) for file in made.inputs)
        labels = tuple(made.settings.get("labels") or ())
        return Record(
            f"ctsne {made.command}",
            {},
            labels,
            self.source,
            made.settings,
            files,
            {},
            self.features,
            made.versions,
        )


def origin_of(model: Any) -> Origin | None:
    """Return where the data of a loaded model came from, if the file says so."""
    record: Record | None = getattr(model, "_record", None)
    if record is None or record.command is None or record.source is None:
        return None
    files = [InputRecord(file.file, file.sha256, file.data) for file in record.inputs]
    made = Provenance(record.command, dict(record.options), files, dict(record.versions))
    return Origin(made, record.source, record.features)
