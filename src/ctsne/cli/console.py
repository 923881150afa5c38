"""What the command line says, and where: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ctsne._core.progress import clock

__all__ = ["Console", "aligned", "one_line"]

# Seconds between two lines about the iterations, where a line cannot be written over.
_LOGGED_EVERY = 30.0
# What the estimator logs at the end of a stage, and what it does next.
_NEXT_STAGE = {
    "memory": "neighbours",
    "neighbours": "similarities",
    "similarities": "first positions",
}


class Console:
    """Standard output and standard error, as loud as was asked for.

    Parameters
    ----------
    quiet : bool
        Only errors are told.
    verbose : bool
        Every stage is told, with its time.
    as_json : bool
        The result is one JSON object instead of text.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, as_json: bool = False):
        self.quiet = quiet
        self.verbose = verbose
        self.as_json = as_json
        self._begin = time.perf_counter()
        self._results = True
        self._unfinished = False  # whether the last line can still be written over

    @property
    def seconds(self) -> float:
        """Time since the command began."""
        return time.perf_counter() - self._begin

    def result(self, text: str, content: Mapping[str, Any]) -> None:
        """Write the result: text for people, or JSON for programs."""
        if not self._results:
            return
        self._clear()
        if self.as_json:
            text = json.dumps(plain(content), indent=2, allow_nan=False)
        if text:
            print("\n".join(map(_printable, text.split("\n"))), flush=True)

    @contextlib.contextmanager
    def without_results(self) -> Iterator[None]:
        """Keep results back: they are a step on the way to another one."""
        self._results = False
        try:
            yield
        finally:
            self._results = True

    def error(self, message: object) -> None:
        """Tell why it failed, in one line."""
        self._line(f"error: {one_line(message)}")

    def warn(self, message: object) -> None:
        """Tell what may not be as expected."""
        if not self.quiet:
            self._line(f"warning: {one_line(message)}")

    def say(self, message: str) -> None:
        """Tell what was decided or done."""
        if not self.quiet:
            self._line(message)

    def detail(self, message: str) -> None:
        """Tell what only a curious user wants to know."""
        if self.verbose:
            self._line(message)

    def stage(self, name: str) -> None:
        """Tell what is going on; the next line takes its place."""
        if self.quiet or self.verbose or not sys.stderr.isatty():
            return
        self._clear()
        sys.stderr.write(f"ctsne: {name} ...")
        sys.stderr.flush()
        self._unfinished = True

    def interrupted(self, what_remains: str = "") -> None:
        """Tell that the user stopped it, and what that left behind."""
        self._line(f"interrupted{what_remains and ': ' + what_remains}")

    @contextlib.contextmanager
    def library(self) -> Iterator[None]:
        """Tell the library's warnings and, if verbose, what it logs, in the words of a program."""
        log = logging.getLogger("ctsne")
        level, propagate, handlers = log.level, log.propagate, log.handlers
        log.handlers = [_Stages(self)]
        log.propagate = False
        log.setLevel(logging.INFO)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.filterwarnings("default", category=UserWarning)
                warnings.filterwarnings("ignore", message="interrupted")  # commands tell it
                warnings.showwarning = lambda message, *_, **__: self.warn(message)
                yield
        finally:
            log.setLevel(level)
            log.propagate, log.handlers = propagate, handlers

    def log(self, total: int) -> Callable[[int, float, object], None] | None:
        """Return a callback that tells now and then, in a log file, how far a long run is.

        A terminal has the estimator's own bar.
        """
        if self.quiet or self.verbose or sys.stderr.isatty():
            return None
        begin = last = time.monotonic()

        def callback(iteration: int, loss: float, embedding: object) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _LOGGED_EVERY:
                left = (now - begin) * (total - iteration) / iteration
                self.say(f"map: {iteration} of {total} iterations, {clock(left)} left")
                last = now

        return callback

    def _line(self, text: str) -> None:
        self._clear()
        print(_printable(f"ctsne: {text}"), file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self._unfinished:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._unfinished = False


class _Stages(logging.Handler):
    """Hears what the estimator logs."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self._console.detail(message)
        coming = _NEXT_STAGE.get(message.split(":")[0])
        if coming is not None:
            self._console.stage(coming)


def one_line(message: object) -> str:
    """Put a message, or what an error is called, on one line."""
    return " ".join(str(message).split()) or type(message).__name__


def _printable(line: str) -> str:
    """Put a sign in the place of control characters: what a file holds must not rule a terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


def aligned(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay a table out in columns; numbers to the right, text to the left."""
    cells = [list(head), *([_cell(value) for value in row] for row in rows)]
    numeric = [
        all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        for place in range(len(head))
    ]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)


def plain(value: Any) -> Any:
    """Return what JSON can hold: NumPy's numbers as Python's, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else str(value)
