"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path

__all__ = ["file_beside", "replaced_file"]


@contextlib.contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Give a new empty file that takes the target's place at the end.

    Moving within one folder is atomic, so a run that is killed never leaves half a file; after an
    error the target is as it was. A link stays a link, and a file keeps who may read it.
    """
    target = target.resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    with file_beside(target) as temporary:
        if mode is not None:  # before there is anything to read
            temporary.chmod(mode | stat.S_IWUSR)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)


@contextlib.contextmanager
def file_beside(target: Path) -> Iterator[Path]:
    """Give a new empty file in the target's folder, removed at the end if it is still there."""
    # Not tempfile: its files are private to the user, and results should not be.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    temporary.touch(exist_ok=False)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
