"""The folder of a sweep: maps, measures, labels and settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._files import replaced_file

if TYPE_CHECKING:
    from ctsne.io import Provenance
    from ctsne.sweep import SweepResult

__all__ = [
    "SweepFolder",
    "check_folder",
    "files_of",
    "is_sweep_folder",
    "move_folder",
    "read_folder",
    "write_folder",
]

SETTINGS, SWEEP, COLUMNS, TABLE = "settings.json", "sweep.npz", "columns.npz", "table.csv"
# Maps that :mod:`ctsne.sweep.store` keeps.
_KEPT_MAP = re.compile(r"map-[0-9a-f]{32}\.npz")


@dataclass(frozen=True, eq=False)
class SweepFolder:
    """What a sweep left behind."""

    result: SweepResult
    columns: dict[str, Any]
    names: Any
    provenance: Provenance


def is_sweep_folder(path: Path) -> bool:
    """Tell whether a finished sweep is there."""
    return (path / SETTINGS).is_file() and (path / SWEEP).is_file()


def check_folder(path: Path) -> None:
    """Refuse a folder that is somebody else's, before any work is done."""
    from ctsne.io.paths import load

    load("pandas")  # for the table
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; a sweep needs a folder of its own: -o FOLDER")
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise ValueError(f"cannot make {path}: there is no folder {path.parent}")
        return
    if _is_ours(path):
        return
    others = sorted(each.name for each in path.iterdir() if not each.name.startswith("."))
    if others:
        raise ValueError(
            f"the folder {path} holds other files ({others[0]}); a sweep needs a folder of its "
            "own, which need not exist yet"
        )


def _is_ours(path: Path) -> bool:
    """Tell whether a sweep was made here, or begun; names such as table.csv anybody may use."""
    from ctsne.io import read_provenance

    if (path / SETTINGS).is_file():
        try:
            return read_provenance(path).command == "sweep"
        except ValueError:
            return False
    return any(_KEPT_MAP.fullmatch(each.name) for each in path.iterdir())


def files_of(path: Path) -> list[Path]:
    """Return the files that :func:`write_folder` writes."""
    return [path / name for name in (SWEEP, COLUMNS, TABLE, SETTINGS)]


def move_folder(new: Path, target: Path) -> None:
    """Put a finished sweep in its place; files beside it that are not its own stay."""
    if not target.exists():
        new.rename(target)
        return
    for each in sorted(new.iterdir(), key=lambda each: each.name == SETTINGS):
        os.replace(each, target / each.name)
    new.rmdir()


def write_folder(
    path: Path,
    result: SweepResult,
    columns: Mapping[str, Any],
    names: Any,
    provenance: Provenance,
) -> None:
    """Put the result beside the maps; the settings come last, so that they tell it is whole."""
    from ctsne.io import write_columns

    result.save(path / SWEEP)
    write_columns(path / COLUMNS, columns, names=names)
    with replaced_file(path / TABLE) as temporary:
        result.table.drop(columns="seconds").to_csv(temporary, index=False, lineterminator="\n")
    with replaced_file(path / SETTINGS) as temporary:
        temporary.write_text(provenance.to_json(indent=2) + "\n", encoding="utf-8")


def read_folder(path: Path) -> SweepFolder:
    """Read what :func:`write_folder` wrote.

    Raises
    ------
    ValueError
        If the folder holds no finished sweep.
    """
    from ctsne.io import read_columns, read_provenance
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    if not is_sweep_folder(path):
        raise ValueError(
            f"{path} holds no finished sweep; make one with ctsne sweep INPUT --labels COLUMN "
            f"-o {path}, or run the same command again to go on"
        )
    columns, names = read_columns(path / COLUMNS)
    return SweepFolder(load_sweep(path / SWEEP), columns, names, read_provenance(path))
