"""What the attackers share: findings, typed errors, and the parent that watches the workers.

A worker is a process (``worker.py``) that runs case after case. It announces every case on a
*board*, a few bytes of shared memory, before it starts it. So the parent knows exactly which case
crashed the interpreter or took too long: it notes the case, ends the worker, and starts another one
with the next case.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent

#: What can be wrong with a case, in the order of the table.
KINDS = (
    "crash",
    "hang",
    "not finite",
    "exception",
    "changed input",
    "touched file",
    "wrong",
)

#: Errors that bad input may raise. Each attacker may allow fewer.
TYPED = (ValueError, TypeError, MemoryError, OSError, ImportError)

#: The folder of the package in the paths of a traceback: of the sources, or installed.
PACKAGE = r"(?:src|-packages)/(ctsne/)"

#: On the board in place of the number of a case: before the first one, and after the last.
STARTING, FINISHED = -1, -2

#: Seconds a worker may take to import what it needs and to prepare its folder.
START_LIMIT = 300.0


class Finding(Exception):
    """A case went wrong without an exception: ``kind`` is one of ``KINDS``.

    Findings with the same first line are reported once (numbers in it do not matter), so what is
    particular to the case belongs in further lines.
    """

    def __init__(self, message: str, kind: str = "wrong") -> None:
        super().__init__(message)
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
        self.kind = kind


def expect_typed(
    call: Callable[[], Any], allowed: tuple[type[Exception], ...] = TYPED
) -> tuple[str, Any]:
    """Return ``("ok", result)``, or the class name of a typed error and the error.

    An error outside ``allowed`` passes through and so becomes a finding. A typed error must have a
    message of one line.
    """
    try:
        return "ok", call()
    except allowed as error:
        lines = str(error).strip().splitlines()
        if len(lines) != 1 and not isinstance(error, MemoryError):
            where = f"{type(error).__name__} in {own_frame(error)}"
            message = f"message of {len(lines)} lines: {where}\n{error}"
            raise Finding(message, "exception") from error
        return type(error).__name__, error


def own_frame(error: BaseException) -> str:
    """Return where the error left ctsne: the last frame of its traceback inside the package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if re.search(PACKAGE, frame.filename)] or frames
    last = own[-1]
    return f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno} {last.name}"


class Board:
    """Shared memory of one worker: its case, until when, and how many cases ended how."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(32)
            memory = mmap.mmap(file.fileno(), 32)
        # Stored as single words: the parent never reads half of a number.
        self._counts = np.frombuffer(memory, np.int64, 3)
        self._deadline = np.frombuffer(memory, np.float64, 1, offset=24)

    def write(self, number: int, limit: float, ok: int, typed: int) -> None:
        """Announce a case that must end within ``limit`` seconds."""
        self._deadline[0] = time.monotonic() + limit
        self._counts[:] = number, ok, typed

    def read(self) -> tuple[int, int, int]:
        """Return the number of the case and the counts of those before it."""
        number, ok, typed = self._counts.tolist()
        return number, ok, typed

    def is_late(self) -> bool:
        """Return whether the case should be over by now."""
        return bool(time.monotonic() > self._deadline[0])


@dataclass
class Outcome:
    """What came of attacking: counts by kind, and each distinct finding with its first case."""

    attacker: str
    ok: int = 0
    typed: int = 0
    found: Counter[str] = field(default_factory=Counter)
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        return self.ok + self.typed + self.found.total()

    def add(self, finding: dict[str, Any]) -> bool:
        """Count a finding, and return whether it is a new one."""
        self.found[finding["kind"]] += 1
        known = self.findings.setdefault(finding["key"], {**finding, "times": 0})
        known["times"] += 1
        return known["times"] == 1


def finding_of(error: Exception, number: int) -> dict[str, Any]:
    """Describe what a case raised, with the key that makes equal ones one finding."""
    text = "".join(traceback.format_exception(error))
    if isinstance(error, Finding):
        first = str(error).strip().splitlines()[0]
        key = f"{error.kind}: {re.sub(r'[0-9][0-9.e+-]*', '#', first)}"
        return {"kind": error.kind, "number": number, "key": key, "text": text}
    key = f"exception: {type(error).__name__} in {own_frame(error)}"
    return {"kind": "exception", "number": number, "key": key, "text": text}


class Worker:
    """One worker process and what the parent knows of it."""

    def __init__(self, attacker: Path, seed: int, numbers: range, until: float) -> None:
        self._stack = ExitStack()
        prefix = f"ctsne-fuzz-{attacker.stem}-"
        # A case may leave folders that cannot be removed, for example without permissions.
        self.folder = Path(
            self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
            )
        )
        self.board = Board(self.folder / "board")
        self.board.write(STARTING, START_LIMIT, 0, 0)
        self._findings = self._stack.enter_context((self.folder / "findings").open("w+"))
        self._output = self._stack.enter_context((self.folder / "output").open("w+b"))
        command = [sys.executable, FOLDER / "worker.py", attacker, self.folder, seed]
        command += [numbers.start, numbers.stop, numbers.step, until]
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            env=worker_environment(),
            start_new_session=True,
        )

    def new_findings(self) -> list[dict[str, Any]]:
        """Return the findings written since the last call."""
        found = []
        while True:
            place = self._findings.tell()
            line = self._findings.readline()
            if not line.endswith("\n"):  # nothing, or half a line
                self._findings.seek(place)
                return found
            found.append(json.loads(line))

    def output(self) -> str:
        """Return the end of what the worker printed, tracebacks of crashes included."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - 20_000))
        lines = self._output.read().decode(errors="replace").splitlines()
        lines = [line for line in lines if not line.startswith("Extension modules")]
        for place, line in enumerate(lines):
            if line.startswith(("Fatal Python error", "==")):  # faulthandler or a sanitizer
                return "\n".join(lines[place : place + 40])
        return "\n".join(lines[-20:])

    def end(self) -> None:
        """End the worker and everything it started, first in a way that prints tracebacks."""
        for number in (signal.SIGABRT, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                try:
                    self.process.wait(5)
                except subprocess.TimeoutExpired:
                    continue
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.end()
        self._stack.close()


def worker_environment() -> dict[str, str]:
    """Return the environment of a worker: repeatable, without windows, one thread per library."""
    threads = ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")
    return {
        **os.environ,
        **{f"{name}_NUM_THREADS": "1" for name in threads},
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        "PYTHONFAULTHANDLER": "1",
    }


def load(attacker: Path) -> ModuleType:
    """Import an attacker from its file."""
    sys.path[:0] = [str(FOLDER)] if str(FOLDER) not in sys.path else []
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(attacker.stem, attacker)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[attacker.stem] = module
    spec.loader.exec_module(module)
    return module


def run(
    attacker: Path,
    *,
    seconds: float,
    seed: int,
    workers: int,
    cases: int = sys.maxsize,
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Attack for some seconds, or until all ``cases`` are run.

    Worker ``w`` runs the cases ``w``, ``w + workers``, ``w + 2 * workers`` ... ``tell`` is called
    with a line for every new finding.
    """
    until = time.monotonic() + seconds
    outcome = Outcome(attacker.stem)

    def start(first: int) -> Worker:
        return Worker(attacker, seed, range(first, cases, workers), until)

    def note(finding: dict[str, Any]) -> None:
        if outcome.add(finding):
            tell(f"{attacker.stem} case {finding['number']}: {finding['key']}")

    active = [start(first) for first in range(workers)]
    try:
        while active:
            time.sleep(0.05)
            for worker in list(active):
                code = worker.process.poll()
                if code is None and not worker.board.is_late():
                    for finding in worker.new_findings():
                        note(finding)
                    continue
                worker.end()
                for finding in worker.new_findings():
                    note(finding)
                number, ok, typed = worker.board.read()
                outcome.ok += ok
                outcome.typed += typed
                died = code != 0 or number != FINISHED  # a case may exit with 0
                if died:
                    note(_death(worker, number, code))
                worker.close()
                active.remove(worker)
                if died and number >= 0 and time.monotonic() < until:
                    active.append(start(number + workers))
    finally:
        for worker in active:
            worker.close()
    return outcome


def _death(worker: Worker, number: int, code: int | None) -> dict[str, Any]:
    """Describe the end of a worker in the middle of a case."""
    text = worker.output()
    kind = "hang" if code is None else "crash"
    # Python's fatal-error handler prints the most recent call first.
    frames = re.search(rf'File "[^"]*{PACKAGE}([^"]+)", line (\d+) in (\S+)', text)
    place = "{}{}:{} {}".format(*frames.groups()) if frames else "unknown place"
    how = "no end" if code is None else f"exit code {code}"
    if code is not None and code < 0:
        how = signal.Signals(-code).name
    return {"kind": kind, "number": number, "key": f"{kind}: {how} in {place}", "text": text}
