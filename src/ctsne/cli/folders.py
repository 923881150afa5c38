"""Sweep folders: maps, measures, labels and settings of a sweep."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import (
    COLUMNS,
    FEATURES,
    INDEX,
    SETTINGS,
    TABLE,
    check_target,
    sole_writer,
    uninterrupted,
    write_file,
)

if TYPE_CHECKING:
    from ctsne.io import Provenance
    from ctsne.sweep import SweepResult


@dataclass(frozen=True, eq=False)
class SweepFolder:
    """A finished sweep with its columns, row names and provenance."""

    result: SweepResult
    columns: dict[str, Any]
    names: Any
    provenance: Provenance
    features: dict[str, Any] = field(default_factory=dict)  # to colour the page by


def is_sweep_folder(path: Path) -> bool:
    """Tell whether a folder holds a finished sweep."""
    return all(file.is_file() for file in files_of(path) if file.name != FEATURES)


def check_folder(path: Path) -> None:
    """Refuse a folder with other files, before any work is done."""
    from ctsne.io.paths import load

    load("pyarrow")  # for the columns
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise ValueError(f"cannot create {path}: there is no folder {path.parent}")
    elif not path.is_dir():
        raise ValueError(f"{path} is a file; a sweep needs its own folder: -o FOLDER")
    elif not _is_ours(path):
        others = sorted(each.name for each in path.iterdir() if not each.name.startswith("."))
        if others:
            what = f"the folder {path} holds other files ({others[0]})"
            raise ValueError(f"{what}; a sweep needs its own folder, which need not exist yet")
    for file in files_of(path):
        check_target(file)


def _is_ours(path: Path) -> bool:
    """Tell whether a sweep was made or begun here; a file called table.csv does not mean that."""
    from ctsne.io import read_provenance

    if not (path / SETTINGS).is_file():
        return bool(map_files(path))
    try:
        return read_provenance(path).command == "sweep"
    except ValueError:
        return False


def map_files(path: Path) -> set[str]:
    """Return the names of the files of maps in a folder."""
    from ctsne.storage.sweep import MAP_FILE

    return {each.name for each in path.iterdir() if MAP_FILE.fullmatch(each.name)}


def check_same_data(path: Path, provenance: Provenance) -> None:
    """Refuse a folder with a sweep of other data or labels; else its maps are kept and reused."""
    from ctsne.cli.inputs import label_names
    from ctsne.io import read_provenance

    if not (path / SETTINGS).is_file():
        return
    before = read_provenance(path)
    labels = label_names(before.settings)
    same = before.inputs and before.inputs[0].data == provenance.inputs[0].data
    what = "" if same else "other data or features"
    if labels != label_names(provenance.settings):
        what = f"other labels ({', '.join(map(str, labels))})"
    if what:
        raise ValueError(f"{path} holds a sweep of {what}; choose another folder")


def files_of(path: Path) -> list[Path]:
    """Return the files that :func:`write_folder` writes."""
    return [path / name for name in (INDEX, COLUMNS, FEATURES, TABLE, SETTINGS)]


def move_folder(new: Path, target: Path) -> None:
    """Move a finished sweep to its place; other files there are kept."""
    if not target.exists():
        new.rename(target)
        return
    with uninterrupted():
        for each in sorted(new.iterdir(), key=lambda each: each.name == SETTINGS):
            os.replace(each, target / each.name)
        new.rmdir()


def begin_folder(path: Path, provenance: Provenance) -> None:
    """Write how to continue an interrupted sweep, unless a finished one is there."""
    if not (path / INDEX).exists():
        provenance.write(path / SETTINGS)


def write_folder(path: Path, sweep: SweepFolder) -> None:
    """Write the result; the settings come last, so that they mark a complete folder."""
    from ctsne.io import write_columns

    table = sweep.result.table.drop(columns="seconds").to_csv(index=False, lineterminator="\n")
    with sole_writer(path), uninterrupted():
        sweep.result.save(path)
        (path / SETTINGS).unlink(missing_ok=True)  # those of another sweep
        write_columns(path / COLUMNS, sweep.columns, names=sweep.names)
        (path / FEATURES).unlink(missing_ok=True)
        if sweep.features:
            write_columns(path / FEATURES, sweep.features)
        write_file(path / TABLE, table.encode("utf-8", "surrogatepass"))
        sweep.provenance.write(path / SETTINGS)


def read_folder(path: Path) -> SweepFolder:
    """Read a finished sweep; raise ValueError if the folder has none."""
    from ctsne.cli.records import checked_settings
    from ctsne.io import read_columns, read_provenance
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    if not is_sweep_folder(path):
        raise ValueError(_not_finished(path))
    provenance = read_provenance(path)
    if provenance.command != "sweep":
        raise ValueError(f"{path} is not the folder of a sweep: {SETTINGS} is of another command")
    provenance = replace(provenance, settings=checked_settings(provenance, path))
    columns, names = read_columns(path / COLUMNS)
    features = read_columns(path / FEATURES)[0] if (path / FEATURES).is_file() else {}
    return SweepFolder(load_sweep(path), columns, names, provenance, features)


def _not_finished(path: Path) -> str:
    if (path / SETTINGS).is_file():
        return f"the sweep in {path} is not finished; ctsne rerun {path} shows how to continue"
    if map_files(path):
        how = "Run the same ctsne sweep again, or use ctsne.report.write_report in Python"
        return f"{path} holds maps of a sweep that is not finished, or was made in Python. {how}"
    return f"{path} holds no finished sweep; make one: ctsne sweep INPUT --labels COLUMN -o {path}"
