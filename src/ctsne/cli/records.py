"""The files that an output was made from: described with it, and found again."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.choices import STARTS
from ctsne.cli.folders import SWEEP
from ctsne.cli.inputs import HOW_TO_NAME, Input, data_checksum
from ctsne.cli.main import command_parser
from ctsne.cli.options import UNRECORDED
from ctsne.cli.values import value_of

if TYPE_CHECKING:
    from ctsne._io import InputRecord, Provenance

__all__ = [
    "checksum_of",
    "file_record",
    "find_inputs",
    "names_of_files",
    "options_again",
    "records_of",
]

# Commands whose outputs tell how they were made.
REPEATABLE = ("embed", "sweep", "report", "evaluate", "plot")


def records_of(data: Input, options: argparse.Namespace, output: Path) -> list[InputRecord]:
    """Describe all files that an output is made from: data, labels, start."""
    from ctsne._io import input_records

    labels = list(options.labels or ())
    first, *rest = input_records(data.dataset, output, labels)
    # With the representation that other labels are compared in, where one is named.
    whole = replace(first, data=data_checksum(data.dataset, labels, data.aligned))
    records = [whole, *rest]
    if options.init not in STARTS:
        records.append(file_record(Path(options.init), output))
    return records


def file_record(path: Path, output: Path) -> InputRecord:
    """Describe a file, or the folder of a sweep, that an output is made from."""
    from ctsne._io import InputRecord

    seen = os.path.relpath(path.resolve(), output.resolve().parent)
    return InputRecord(Path(seen).as_posix(), checksum_of(path))


def checksum_of(path: Path) -> str:
    """Return the checksum of a file, or of what counts in the folder of a sweep."""
    from ctsne._io import file_sha256

    return file_sha256(path / SWEEP if path.is_dir() else path)


def options_again(
    provenance: Provenance, output: Path, *, given: str | None = None
) -> argparse.Namespace:
    """Return the options that an output was made with, its input files found again."""
    if provenance.command not in REPEATABLE:
        raise ValueError(f"{output} was made by {provenance.command!r:.40}, no command of ctsne")
    parser = command_parser(provenance.command)
    actions = {action.dest: action for action in parser._actions if action.dest != "help"}
    values = {name: action.default for name, action in actions.items()}
    # What a file says is not trusted further than that: it names no place to write to.
    unknown = [name for name in provenance.settings if name not in values or name in UNRECORDED]
    if unknown:
        raise ValueError(
            f"{output} was made with settings that this version does not know: "
            f"{', '.join(map(repr, unknown[:3]))}; upgrade ctsne"
        )
    files = list(names_of_files(provenance.settings))
    if len(provenance.inputs) != 1 + len(files):
        raise ValueError(f"{output} does not name all files that it was made from")
    for name, value in provenance.settings.items():
        values[name] = _setting(actions[name], value, output)
    found = find_inputs(provenance.inputs, output, given=given)
    values |= {name: str(path) for name, path in zip(["input", *files], found, strict=True)}
    return argparse.Namespace(**values)


def _setting(action: argparse.Action, value: Any, output: Path) -> Any:
    """Return a stored setting as the command line would have read it."""
    if value is None and action.default is None:
        return None
    try:
        return value_of(action, value)
    except argparse.ArgumentTypeError as error:
        raise ValueError(
            f"the settings stored in {output} cannot be read: {action.dest} {error}"
        ) from None


def names_of_files(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that name a further file, in the order of the records."""
    if settings.get("label_file") is not None:
        yield "label_file"
    if settings.get("init", "pca") not in STARTS:
        yield "init"
    if settings.get("data") is not None:
        yield "data"


def find_inputs(
    records: Sequence[InputRecord], output: Path, *, given: str | None = None
) -> list[Path]:
    """Find the files that an output was made from: as seen from it, from here, beside either.

    Their content is checked afterwards.

    Raises
    ------
    ValueError
        If one is in neither place, with the way to name it.
    """
    found = []
    for place, record in enumerate(records):
        beside = output.resolve().parent
        named = Path(record.file)
        candidates = [beside / named, named, beside / named.name, Path(named.name)]
        if place == 0 and given is not None:
            candidates = [Path(given)]
        there = [candidate for candidate in candidates if candidate.exists()]
        if not there:
            how = f"; name it with {HOW_TO_NAME}" if place == 0 and given is None else ""
            raise ValueError(
                f"{output} was made from {record.file}, but there is no {candidates[0]}{how}"
            )
        found.append(_short(there[0]))
    return found


def _short(path: Path) -> Path:
    """Write a path as seen from here, if that is shorter."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
