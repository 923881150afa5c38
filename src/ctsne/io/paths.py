"""File names: the formats they stand for, and whether a file can be read or written."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ctsne._core.files import SETTINGS, TABLE, check_regular, check_target, read_text
from ctsne._core.messages import closest, load, shown

TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, ".parquet")
DATA_SUFFIXES = (*TABLE_SUFFIXES, ".npz", ".npy", ".h5ad")
MAP_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".h5ad")
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
MODEL_SUFFIX = ".ctsne"

# The modules that a format needs, and the extra that installs them.
_NEEDED = {
    **dict.fromkeys(TEXT_SUFFIXES, (("pandas",), "cli")),
    ".parquet": (("pandas", "pyarrow"), "cli"),
    ".h5ad": (("pandas", "h5py", "anndata"), "cli"),
    **dict.fromkeys(PICTURE_SUFFIXES, (("matplotlib",), "plot")),
}


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix in lower case; ``.gz`` together with the suffix before it."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def sidecar_of(path: Path) -> Path:
    """Return the JSON file that records how an output was made; of a link, that of its target."""
    return new_sidecar_of(path.resolve() if path.is_symlink() else path)


def new_sidecar_of(path: Path) -> Path:
    """Return the JSON file to write next to a new output, which replaces a link of its name."""
    return path.with_name(f"{path.name}.json")


def check_input(path: str | os.PathLike[str], suffixes: Sequence[str] = DATA_SUFFIXES) -> Path:
    """Return the path of a file that exists and can be read, or raise ValueError."""
    source = _checked_name(path)
    if (source / SETTINGS).is_file() and (source / TABLE).is_file():
        raise ValueError(f"{source} is a sweep; its measures are in {source / TABLE}")
    if source.is_dir():
        inside = sorted(p.name for p in source.iterdir() if suffix_of(p) in suffixes)
        hint = f"; name a file in it, such as {source / inside[0]}" if inside else ""
        raise ValueError(f"{source} is a folder, not a file{hint}")
    if not source.exists():
        stdin = "; standard input is not read: save it to a file first" if path == "-" else ""
        raise ValueError(f"there is no file {source}{stdin or _missing_hint(source)}")
    check_regular(source)
    if suffix_of(source) not in suffixes:
        raise ValueError(f"cannot read {source}: the name must end in {_one_of(suffixes)}")
    if not os.access(source, os.R_OK):
        raise ValueError(f"cannot read {source}: permission denied")
    return source


def _checked_name(path: str | os.PathLike[str]) -> Path:
    """Return a path without control characters, which would break the line of every message."""
    if any(ord(character) < 32 for character in str(path)):
        raise ValueError(f"a file name cannot contain control characters; got {shown(path)}")
    return Path(path)


def _missing_hint(source: Path) -> str:
    folder = source.parent
    if not folder.is_dir():
        return f": there is no folder {folder}"
    # Compare stems: with equal suffixes any two short names look alike.
    entries = sorted(folder.iterdir())
    close = closest(source.stem, [entry.stem for entry in entries])
    if not close:
        return f" (looked in {folder.resolve()})"
    names = [entry.name for entry in entries if entry.stem == close[0]]
    return f"; did you mean {folder / (closest(source.name, names) or names)[0]}?"


def check_output(path: str | os.PathLike[str], suffixes: Sequence[str] = MAP_SUFFIXES) -> Path:
    """Return the path of a file that can be written, or raise an error before any work is done."""
    target = _checked_name(path)
    suffix = suffix_of(target)
    # The file is written next to its target and moved into place, so the folder must be writable.
    folder = target.parent.resolve()
    check_target(target)
    why = ""
    if suffix not in suffixes:
        why = f"its name must end in {_one_of(suffixes)}"
    elif not target.parent.is_dir():
        why = f"there is no folder {target.parent}; create it first"
    elif not os.access(folder, os.W_OK):
        why = f"no permission to write to the folder {folder}"
    elif suffix in TEXT_SUFFIXES and not _may_replace(sidecar := new_sidecar_of(target)):
        why = f"its settings go to {sidecar}, which exists and was not written by ctsne"
    if why:
        raise ValueError(f"cannot write {target}: {why}")
    modules, extra = _NEEDED.get(suffix, ((), ""))
    for module in modules:
        load(module, extra=extra)
    return target


def _one_of(suffixes: Sequence[str]) -> str:
    return suffixes[0] if len(suffixes) == 1 else f"one of {', '.join(suffixes)}"


def _may_replace(sidecar: Path) -> bool:
    """Tell whether a sidecar does not exist yet, is a link, or was written by ctsne."""
    if sidecar.is_symlink() or not sidecar.exists():
        return True
    try:
        content = json.loads(read_text(sidecar, "a settings record"))
        return {"ctsne record", "made_by", "parameters"} <= set(content)
    except (OSError, RecursionError, TypeError, ValueError):
        return False
