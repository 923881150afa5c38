"""Files from outside: only regular ones are read, and a damaged one is an error in one line."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ctsne._core.memory import free_memory, in_words

# Settings and options are far smaller.
_MOST_TEXT = 2**26
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def check_regular(path: str | os.PathLike[str]) -> None:
    """Refuse what exists but is not a file: reading a pipe or a device may never end."""
    kind = _KINDS.get(stat.S_IFMT(os.stat(path).st_mode))
    if kind == "a folder":
        raise ValueError(f"{path} is a folder, not a file")
    if kind is not None:
        how = "save its content to a file first; <(...) and /dev/stdin are not supported"
        raise ValueError(f"{path} is {kind}, not a file; {how}")


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever is raised while a file is read into an error that names the file.

    An exception that names it already is passed on: a ValueError, a MemoryError, or what the system
    says about it. So is an ImportError. All others become ``ValueError("PATH is not WHAT: ...")``.
    """
    try:
        check_regular(path)
        yield
    except ImportError:
        raise
    except Exception as error:
        named = str(path) in str(error) and type(error) in (ValueError, MemoryError)
        if named or (isinstance(error, OSError) and error.filename is not None):
            raise
        if isinstance(error, MemoryError):
            raise MemoryError(f"{path} does not fit in memory: {reason(error)}") from error
        raise ValueError(f"{path} is not {what}: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Return what an exception says in one line, with its type where the text alone is unclear."""
    text = " ".join(str(error).split())
    if not text or not isinstance(error, ValueError | OSError | MemoryError):
        text = f"{type(error).__name__} {text}".rstrip()
    return text if len(text) <= 300 else f"{text[:297]}..."


def require_room(needed: int, path: str | os.PathLike[str]) -> None:
    """Refuse a file whose content does not fit in the free memory, before it is read."""
    free = free_memory()
    if free is not None and needed > free:
        room = f"about {in_words(needed)} of memory, but only {in_words(free)} are free"
        raise MemoryError(f"{path} needs {room}")


def read_text(path: Path, what: str) -> str:
    """Return the text of a small file, such as settings, in UTF-8."""
    with reading(path, what), path.open("rb") as file:
        content = file.read(_MOST_TEXT + 1)
        if len(content) > _MOST_TEXT:
            raise ValueError(f"{path} is not {what}: it has more than {_MOST_TEXT} bytes")
        return content.decode("utf-8")
