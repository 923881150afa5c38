"""Measure one program in a process of its own.

So its peak of memory is its own, and no library's threads, caches or compiled code help or disturb
another. :func:`measure` starts the process; the process runs one function, ``module:function``,
which is given a :class:`Clock` and returns what it measured.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Loading libraries, compiling them just in time, warming up and turning knobs is not counted, but
# has an end too: this, and twice the limit of what counts.
SETUP_SECONDS = 300
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Clock:
    """What a measured function is given: the start of its time, and a place for what it finds."""

    def __init__(self, target: Path, limit: float | None) -> None:
        self._target = target
        self._limit = limit
        self._found: dict[str, Any] = {}
        self._begin = time.perf_counter()

    def begin(self) -> None:
        """Start the time, or start it anew; all before it was preparation."""
        self._found.setdefault("memory_before", peak_mebibytes())
        self.report()
        self._begin = time.perf_counter()
        if self._limit is not None:
            # Nobody handles this signal, so it ends the process wherever it is, native code too.
            signal.setitimer(signal.ITIMER_REAL, self._limit)

    def seconds(self) -> float:
        """Return the time since the start, or since the last call."""
        now = time.perf_counter()
        passed, self._begin = now - self._begin, now
        return passed

    @contextlib.contextmanager
    def uncounted(self) -> Iterator[None]:
        """Stop the time limit for a while."""
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        yield
        signal.setitimer(signal.ITIMER_REAL, left)

    def stop(self) -> None:
        """Note the memory; what is done after this, such as saving, is not part of the program."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.report(memory_peak=peak_mebibytes())

    def report(self, **found: Any) -> None:
        """Keep what was found so far, also for the case that the time runs out."""
        self._found.update(found)
        write_json(self._target, self._found)


def measure(
    task: str, arguments: dict[str, Any], *, jobs: int, limit: float | None = None
) -> dict[str, Any]:
    """Run ``module:function`` in a new process.

    Parameters
    ----------
    task : str
    arguments : dict
        Passed on as keywords; they travel as JSON.
    jobs : int
        Threads that any library may use.
    limit : float, optional
        Seconds after ``clock.begin()`` at which the process is ended.

    Returns
    -------
    dict
        What the function reported, and ``status``: "done", "too slow", "missing" (a package) or
        "failed", the last two with ``error``.
    """
    environment = os.environ | dict.fromkeys(_THREADS, str(jobs))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "found.json"
        errors = Path(folder) / "errors.txt"
        command = [sys.executable, str(HERE / "child.py"), task, str(target), json.dumps(limit)]
        with errors.open("w") as stderr:
            try:
                code = subprocess.run(
                    command,
                    input=json.dumps(arguments),
                    text=True,
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    timeout=None if limit is None else SETUP_SECONDS + 3 * limit,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -signal.SIGALRM
        found = json.loads(target.read_text()) if target.exists() else {}
        if code == 0:
            return found | {"status": "done"}
        if code == -signal.SIGALRM:
            return found | {"status": "too slow", "limit": limit}
        lines = errors.read_text(errors="replace").strip().splitlines() or [f"exit code {code}"]
        status = "missing" if lines[-1].startswith("ModuleNotFoundError") else "failed"
        return found | {"status": status, "error": lines[-1].replace(str(HERE), "")[:200]}


def peak_mebibytes() -> float:
    """Largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage: on Linux its peak begins with that of the process that started this one.
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


def write_json(path: Path, content: Any) -> None:
    """Write a file beside its target and move it into place."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, path)


def main() -> int:
    task, target, limit = sys.argv[1:]
    module, function = task.split(":")
    clock = Clock(Path(target), json.loads(limit))
    found = getattr(importlib.import_module(module), function)(clock, **json.load(sys.stdin))
    clock.report(**found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
