"""Files: written whole or not at all, read only if they are regular, locked while they change."""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import signal
import stat
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ctsne._core.memory import free_memory, in_words

# The files of a sweep folder, besides those of its maps.
SETTINGS, INDEX, COLUMNS, TABLE = "settings.json", "sweep.npz", "columns.parquet", "table.csv"
FEATURES = "features.parquet"  # of a sweep with features to colour its page by
PICTURE = "maps.png"  # if matplotlib is installed
NEIGHBORS = "neighbors.npy"  # the rows nearest in the data, for its page
# The name of a new file begins with that of its target, but names must not be too long.
_SHOWN_NAME = 50
_MOST_TEXT = 2**26  # settings and options are far smaller
_LOCK = ".lock"  # marks a sweep folder while a sweep writes to it
# Seconds that a writer waits for others, at most: any program may hold a lock on a folder.
_PATIENCE = 10.0


class WriteError(OSError):
    """A file cannot be written; the message names it and gives the reason."""


@contextlib.contextmanager
def replaced_files(*targets: Path) -> Iterator[list[Path]]:
    """Give new empty files that replace the targets at the end, unless there is an error.

    A link with the name of a target is replaced, not followed. Files keep their permissions. Of
    several files, name those that describe the first after it: a process killed between them leaves
    none, rather than the description of another file. Raises WriteError for errors of the system.
    """
    for target in targets:
        check_target(target)
    modes = [stat.S_IMODE(path.stat().st_mode) if path.exists() else None for path in targets]
    new_files = [_hidden(target) for target in targets]
    try:
        for file, mode in zip(new_files, modes, strict=True):
            # tempfile makes files that only the user can read, which results should not be.
            file.touch(exist_ok=False)
            if mode is not None:  # before there is anything to read
                file.chmod(mode | stat.S_IWUSR)
        yield new_files
        for file, mode in zip(new_files, modes, strict=True):
            if mode is not None:
                file.chmod(mode)
        alone = contextlib.nullcontext() if len(targets) == 1 else locked_folder(targets[0].parent)
        with alone, uninterrupted(), _put_aside(targets[1:]):
            for file, target in zip(new_files, targets, strict=True):
                os.replace(file, target)  # atomic within a folder: never half a file
    except WriteError:
        raise
    except OSError as error:
        target_of = dict(zip(map(str, new_files), targets, strict=True))
        failed = target_of.get(str(error.filename or new_files[0]))
        if failed is None:
            raise  # of another file, such as one that is read meanwhile
        raise WriteError(f"cannot write {failed}: {error.strerror or error}") from error
    finally:
        with uninterrupted(), contextlib.suppress(OSError):
            for file in new_files:
                file.unlink(missing_ok=True)


@contextlib.contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Give a new empty file that replaces the target at the end, unless there is an error."""
    with replaced_files(target) as (file,):
        yield file


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
    return target.with_name(f".{target.name[:_SHOWN_NAME]}.{uuid.uuid4().hex}.part")


def write_file(target: Path, content: bytes | memoryview) -> None:
    """Write a file, whole or not at all."""
    # Libraries write to memory first: few of them survive a disk that fills up meanwhile.
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
        sizes = f"about {needed / 1e6:.1f} MB is needed, {free / 1e6:.1f} MB is free"
        raise WriteError(f"cannot write {target}: {os.strerror(errno.ENOSPC)} ({sizes})")


def check_regular(path: str | os.PathLike[str]) -> None:
    """Refuse what exists but is not a file: reading a pipe or a device may never end."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path} is a folder, not a file")
    if not stat.S_ISREG(mode):
        how = "save its content to a file first; <(...) and /dev/stdin are not supported"
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device"
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
        room = f"about {in_words(needed)} of memory, but only {in_words(free)} is free"
        raise MemoryError(f"{path} needs {room}")


def read_text(path: Path, what: str) -> str:
    """Return the text of a small file, such as settings, in UTF-8."""
    with reading(path, what), path.open("rb") as file:
        content = file.read(_MOST_TEXT + 1)
        if len(content) > _MOST_TEXT:
            raise ValueError(f"{path} is not {what}: it has more than {_MOST_TEXT} bytes")
        return content.decode("utf-8")


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals that end the program, such as Ctrl-C, back until the end of the block."""
    if threading.current_thread() is not threading.main_thread():  # others never get them
        yield
        return
    caught: list[int] = []
    handlers: dict[int, Any] = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handlers[number] = signal.getsignal(number)
            if handlers[number] not in (None, signal.SIG_IGN):
                signal.signal(number, lambda number, _: caught.append(number))
        yield
    finally:
        for changed, handler in handlers.items():
            if handler is not None:
                signal.signal(changed, handler)
        if caught:
            signal.raise_signal(caught[0])


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Wait a while until no other process replaces files that belong together here."""
    # A writer that got no lock goes on: an input that changes is found by its checksum.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder may be writable but not readable
        yield
        return
    try:
        end = time.monotonic() + _PATIENCE
        while _is_taken(descriptor) and time.monotonic() < end:
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    """Take a lock, or return that another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # not every file system has locks
        return False
    return False


@contextlib.contextmanager
def sole_writer(folder: Path, what: str = "sweep") -> Iterator[None]:
    """Refuse a second sweep (or other ``what``) in a folder while the first is at work."""
    # Not by a lock on the folder itself: single maps may be written to it meanwhile.
    lock = folder / _LOCK
    if os.path.lexists(lock) and (lock.is_symlink() or not lock.is_file()):
        raise ValueError(f"{lock} is not a file of ctsne; remove it")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        # A lock without a name belongs to a sweep that has just ended.
        if _is_taken(descriptor) or os.fstat(descriptor).st_nlink == 0:
            raise ValueError(f"another {what} is writing to {folder}; wait until it has ended")
        try:
            yield
        finally:
            with uninterrupted():
                lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
