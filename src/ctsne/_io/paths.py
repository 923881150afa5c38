"""Files before they are opened: known by their suffix, there, readable, or with room to be made."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctsne._io.provenance import Provenance

__all__ = [
    "DATA_SUFFIXES",
    "MAP_SUFFIXES",
    "PICTURE_SUFFIXES",
    "check_input",
    "check_output",
    "file_sha256",
    "load",
    "sidecar_of",
    "suffix_of",
]

TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".feather")
DATA_SUFFIXES = (*TABLE_SUFFIXES, ".npz", ".npy", ".h5ad")
# What is written is named plainly: tables with tabs are .tsv.
MAP_SUFFIXES = tuple(suffix for suffix in DATA_SUFFIXES if not suffix.startswith(".txt"))
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")

# The modules that a file of this kind needs, and the extra that brings them.
_NEEDED = {
    **dict.fromkeys(TEXT_SUFFIXES, (("pandas",), "cli")),
    **dict.fromkeys((".parquet", ".feather"), (("pandas", "pyarrow"), "cli")),
    ".h5ad": (("pandas", "h5py", "anndata"), "cli"),
    **dict.fromkeys(PICTURE_SUFFIXES, (("matplotlib",), "plot")),
    ".html": (("bokeh",), "report"),
}


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return what a file's name ends in, in small letters, ``.gz`` with what stands before it.

    Examples
    --------
    >>> from ctsne._io import suffix_of
    >>> suffix_of("Cells.v2.CSV.gz"), suffix_of("map.h5ad")
    ('.csv.gz', '.h5ad')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def load(module: str, *, extra: str = "cli") -> Any:
    """Import an optional module, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this kind of file needs {module.split('.')[0]}, which cannot be imported ({error}): "
            f'pip install "ctsne[{extra}]"'
        ) from error


def sidecar_of(path: Path) -> Path:
    """Return the file that says how a table was made, beside it; of a link, beside the table."""
    path = path.resolve() if path.is_symlink() else path
    return path.with_name(f"{path.name}.json")


def check_input(path: str | os.PathLike[str], suffixes: Sequence[str] = DATA_SUFFIXES) -> Path:
    """Return the path of a file that is there and can be read, or refuse it.

    Parameters
    ----------
    path : path
        The file.
    suffixes : sequence of str
        The kinds of files that can be read here.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ValueError
        If there is no such file, with the file that may have been meant; if it is a folder; if
        its suffix is unknown.

    Examples
    --------
    >>> from ctsne._io import check_input
    >>> check_input("no-such-folder/cells.csv")
    Traceback (most recent call last):
        ...
    ValueError: there is no file no-such-folder/cells.csv: there is no folder no-such-folder
    """
    source = Path(path)
    if source.is_dir():
        inside = sorted(p.name for p in source.iterdir() if suffix_of(p) in suffixes)
        hint = f"; give a file in it, such as {source / inside[0]}" if inside else ""
        raise ValueError(f"{source} is a folder, not a file{hint}")
    if not source.exists():
        raise ValueError(f"there is no file {source}{_missing_hint(source)}")
    if suffix_of(source) not in suffixes:
        raise ValueError(
            f"cannot tell what {source} holds by the end of its name "
            f"({suffix_of(source) or 'no suffix'}); files that can be read end in "
            f"{', '.join(suffixes)}"
        )
    if not os.access(source, os.R_OK):
        raise ValueError(f"{source} is there but may not be read; check its permissions")
    return source


def _missing_hint(source: Path) -> str:
    folder = source.parent
    if not folder.is_dir():
        return f": there is no folder {folder}"
    # By their stems, as the same suffix makes any two short names look alike.
    entries = sorted(folder.iterdir(), key=lambda entry: (entry.suffix == source.suffix, entry))
    there = {entry.stem: entry.name for entry in entries}
    close = difflib.get_close_matches(source.stem, there, n=1)
    if not close:
        return f" (looked in {folder.resolve()})"
    return f"; did you mean {folder / there[close[0]]}?"


def check_output(path: str | os.PathLike[str], suffixes: Sequence[str] = MAP_SUFFIXES) -> Path:
    """Return the path of a file that can be written, or refuse it before any work is done.

    Parameters
    ----------
    path : path
        The file to be written; it need not be there.
    suffixes : sequence of str
        The kinds of files that can be written here.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ValueError
        If the suffix is unknown, or the folder is not there or cannot be written to, or a file
        stands beside it that is not ours and has the name of the one that tells how it was made.
    ImportError
        If this kind of file needs a package that is not installed.

    Examples
    --------
    >>> from ctsne._io import check_output
    >>> check_output("map.docx", (".csv", ".h5ad"))
    Traceback (most recent call last):
        ...
    ValueError: cannot write map.docx: its name must end in one of .csv, .h5ad
    """
    target = Path(path)
    suffix = suffix_of(target)
    if target.is_dir():
        raise ValueError(f"cannot write {target}: it is a folder; name a file in it")
    if suffix not in suffixes:
        raise ValueError(
            f"cannot write {target}: its name must end in one of {', '.join(suffixes)}"
        )
    folder = target.resolve().parent  # of a link, where the file itself is
    if not target.parent.is_dir():
        raise ValueError(
            f"cannot write {target}: there is no folder {target.parent}; make it first"
        )
    # The file is written beside its target and moved, so the folder must allow it.
    if not os.access(folder, os.W_OK):
        raise ValueError(f"cannot write {target}: the folder {folder} may not be written to")
    if suffix in (*TEXT_SUFFIXES, ".npy"):
        _check_sidecar(target)
    modules, extra = _NEEDED.get(suffix, ((), ""))
    for module in modules:
        load(module, extra=extra)
    return target


def _check_sidecar(target: Path) -> None:
    """Refuse to write over a file of the user's own that has the name of the one beside ours."""
    beside = sidecar_of(target)
    if not beside.exists():
        return
    try:
        Provenance.from_json(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"cannot write {target}: how it is made would be written to {beside}, which is there "
            "and not written by ctsne; move it, or choose another name"
        ) from error


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, read piece by piece.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ctsne._io import file_sha256
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a").write_bytes(b"")
    ...     file_sha256(pathlib.Path(folder, "a"))[:12]
    'e3b0c44298fc'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
