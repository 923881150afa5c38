"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctsne._core.locks import locked_folder, uninterrupted

# The files of a sweep folder, besides those of its maps.
SETTINGS, INDEX, COLUMNS, TABLE = "settings.json", "sweep.npz", "columns.feather", "table.csv"
FEATURES = "features.feather"  # of a sweep with features to colour its page by
# The name of a new file begins with that of its target, but names must not be too long.
_SHOWN_NAME = 50


class WriteError(OSError):
    """A file cannot be written; the message names it and gives the reason."""


@contextlib.contextmanager
def replaced_files(*targets: Path) -> Iterator[list[Path]]:
    """Give new empty files that replace the targets at the end, unless there is an error.

    No link is followed: a link with the name of a target is replaced, and the file that it leads to
    stays as it is. Files keep their permissions. Raises WriteError for errors of the system.

    Of several files that belong together, name those that describe the first after it: a process
    killed between them leaves none, rather than the description of another file. Two processes that
    write the same files replace them one after the other.
    """
    modes = [_checked_mode(target) for target in targets]
    parts = [_hidden(target) for target in targets]
    try:
        for part, mode in zip(parts, modes, strict=True):
            # tempfile makes files that only the user can read, which results should not be.
            part.touch(exist_ok=False)
            if mode is not None:  # before there is anything to read
                part.chmod(mode | stat.S_IWUSR)
        yield parts
        for part, mode in zip(parts, modes, strict=True):
            if mode is not None:
                part.chmod(mode)
        alone = contextlib.nullcontext() if len(targets) == 1 else locked_folder(targets[0].parent)
        with alone, uninterrupted(), _put_aside(targets[1:]):
            for part, each in zip(parts, targets, strict=True):
                os.replace(part, each)  # atomic within a folder: never half a file
    except WriteError:
        raise
    except OSError as error:
        named = dict(zip(map(str, parts), targets, strict=True))
        target = named.get(str(error.filename or parts[0]))
        if target is None:
            raise  # of another file, such as one that is read meanwhile
        raise WriteError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        with uninterrupted(), contextlib.suppress(OSError):
            for part in parts:
                part.unlink(missing_ok=True)


@contextlib.contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Give a new empty file that replaces the target at the end, unless there is an error."""
    with replaced_files(target) as (part,):
        yield part


@contextlib.contextmanager
def _put_aside(targets: Sequence[Path]) -> Iterator[None]:
    """Rename files, which come back if there is an error and are removed if there is none."""
    aside = {target: _hidden(target) for target in targets if os.path.lexists(target)}
    try:
        for target, name in aside.items():
            target.rename(name)
        yield
    except BaseException:
        for target, name in aside.items():
            with contextlib.suppress(OSError):
                name.rename(target)
        raise
    for name in aside.values():
        name.unlink()


def _hidden(target: Path) -> Path:
    """Return a new name next to a file."""
    return target.with_name(f".{target.name[:_SHOWN_NAME]}.{uuid.uuid4().hex}.part")


def _checked_mode(target: Path) -> int | None:
    """Return the permissions of a file to replace; None if there is none."""
    check_target(target)
    return stat.S_IMODE(target.stat().st_mode) if target.exists() else None


def write_file(target: Path, content: bytes | memoryview) -> None:
    """Write a file, whole or not at all.

    Libraries write to memory first: few of them survive a disk that fills up meanwhile.
    """
    with replaced_file(target) as temporary:
        temporary.write_bytes(content)


def check_target(target: Path) -> None:
    """Refuse to replace anything other than a file, such as a device or a pipe."""
    if target.exists() and not target.is_file():
        what = "a folder; name a file in it" if target.is_dir() else "not a regular file"
        raise ValueError(f"cannot write {target}: it is {what}")


def check_space(target: Path, needed: int) -> None:
    """Refuse to begin if the result will not fit on the disk."""
    free = shutil.disk_usage(target if target.is_dir() else target.parent).free
    if needed > free:
        sizes = f"about {needed / 1e6:.1f} MB are needed, {free / 1e6:.1f} MB are free"
        raise WriteError(f"cannot write {target}: {os.strerror(errno.ENOSPC)} ({sizes})")
