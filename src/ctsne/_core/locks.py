"""Moments that nothing may disturb: locks against other processes, and signals held back."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Marks a sweep folder while a sweep writes to it.
_LOCK = ".lock"
# Seconds that a writer waits for others, at most: any program may hold a lock on a folder.
_PATIENCE = 10.0


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
    """Wait a while until no other process replaces files that belong together in this folder.

    A writer that got no lock goes on: an input that changes meanwhile is found by its checksum.
    """
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
    """Take a lock, or tell that another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # not every file system has locks
        return False
    return False


@contextlib.contextmanager
def sole_writer(folder: Path, what: str = "sweep") -> Iterator[None]:
    """Refuse a second sweep in a folder, or ``what`` else, while the first is at work.

    Not by a lock on the folder itself: single maps may be written to it meanwhile.
    """
    lock = folder / _LOCK
    if os.path.lexists(lock) and (lock.is_symlink() or not lock.is_file()):
        raise ValueError(f"{lock} is not a file of ctsne; remove it")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        # Without a name, it is that of a sweep that has just ended.
        if _is_taken(descriptor) or os.fstat(descriptor).st_nlink == 0:
            raise ValueError(f"another {what} is writing to {folder}; wait until it has ended")
        try:
            yield
        finally:
            with uninterrupted():
                lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
