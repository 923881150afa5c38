"""Measure one program in its own process.

This way its peak memory is its own, and the threads, caches and compiled code of one library do not
affect another. :func:`measure` starts the process, which runs one function, ``module:function``.
The function receives a :class:`Clock` and returns what it measured.
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
# Loading libraries, just-in-time compilation, warming up and tuning are not counted, but they are
# limited too: to this, plus twice the limit of the counted part.
SETUP_SECONDS = 300
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Clock:
    """Time a measured function and store its results."""

    def __init__(self, target: Path, limit: float | None) -> None:
        self._target = target
        self._limit = limit
        self._found: dict[str, Any] = {}
        self._begin = time.perf_counter()

    def begin(self) -> None:
        """Start or restart the clock; everything before is preparation."""
        self._found.setdefault("memory_before", peak_mebibytes())
        self.report()
        self._begin = time.perf_counter()
        if self._limit is not None:
            # No handler is set, so this signal ends the process anywhere, also in native code.
            signal.setitimer(signal.ITIMER_REAL, self._limit)

    def seconds(self) -> float:
        """Return the seconds since the start or since the last call."""
        now = time.perf_counter()
        passed, self._begin = now - self._begin, now
        return passed

    @contextlib.contextmanager
    def uncounted(self) -> Iterator[None]:
        """Pause the time limit."""
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        yield
        signal.setitimer(signal.ITIMER_REAL, left)

    def stop(self) -> None:
        """Record the peak memory; later work, such as saving, does not count."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.report(memory_peak=peak_mebibytes())

    def report(self, **found: Any) -> None:
        """Store intermediate results, which are kept if the time runs out."""
        self._found.update(found)
        write_json(self._target, self._found)


def measure(
    task: str, arguments: dict[str, Any], *, jobs: int, limit: float | None = None
) -> dict[str, Any]:
    """Run ``module:function`` in a new process, which is killed ``limit`` seconds after its start.

    Returns its results and ``status``: "done", "too slow", "missing" (a package) or "failed", the
    last two with ``error``.
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
    """Return the peak resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux, getrusage starts from the peak of the parent process.
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


def write_json(path: Path, content: Any) -> None:
    """Write a file next to its target and move it into place."""
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
