"""Run ``ctsne`` and send it a signal right before one of its changes of files.

``python dying.py COUNT SIGNAL STEP ...`` runs ``ctsne ...`` and sends SIGNAL before change number
STEP of files in the working folder, counted from 1. The file COUNT is made at the beginning; the
number of changes is written to it if the program lives to its end. ``kills.py`` uses it to hit
every moment of writing, which is short.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from pathlib import Path
from typing import Any

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate")


def main() -> None:
    """Watch what Python does to files, and run the program."""
    count, number, step, *words = sys.argv[1:]
    here, seen = os.getcwd(), 0
    Path(count).touch()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        opens = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if not (opens or event in _CHANGES) or not isinstance(arguments[0], str | os.PathLike):
            return
        if os.path.abspath(arguments[0]).startswith(here):
            seen += 1
            if seen == int(step):
                os.kill(os.getpid(), int(number))

    atexit.register(lambda: Path(count).write_text(str(seen)))
    sys.addaudithook(watch)
    sys.argv[1:] = words
    runpy.run_module("ctsne.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
