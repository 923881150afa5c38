"""Output of the command line: results on standard output, messages on standard error."""

import contextlib
import json
import logging
import math
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctsne._core.messages import InterruptedWarning
from ctsne._core.vocabulary import CHOSEN_BY, MEASURES, chosen_by, measure_title, of_column

# The estimator logs the end of a stage; a terminal shows the stage that follows.
_NEXT_STAGE = {
    "memory": "neighbours",
    "neighbours": "similarities",
    "similarities": "first positions",
}


class Console:
    """Print results and messages, as the options of a command ask for."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, as_json: bool = False):
        self.quiet, self.verbose, self.as_json = quiet, verbose, as_json
        self._begin = time.perf_counter()
        self._results = True
        self._again: list[str] = []  # warnings that must not scroll away
        self._unfinished = False  # whether the last line can still be redrawn

    def result(self, text: str, content: Mapping[str, Any]) -> None:
        """Print the result: text for people, or JSON for programs, with the time it took."""
        if not self._results:
            return
        self._clear()
        if self.as_json:
            seconds = round(time.perf_counter() - self._begin, 3)
            text = json.dumps(plain({**content, "seconds": seconds}), indent=2, allow_nan=False)
        print("\n".join(map(_printable, text.split("\n"))), flush=True)
        for message in self._again:
            self.warn(message)

    def next(self, commands: Mapping[str, str]) -> None:
        """Print the commands that fit a result, by what they are for, to be typed by people."""
        if self._results and not self.quiet and not self.as_json:
            for why, command in commands.items():
                print(_printable(f"next, {why}: {command}"), flush=True)

    @contextlib.contextmanager
    def without_results(self) -> Iterator[None]:
        """Suppress results, for a command that is a step of another one."""
        self._results = False
        try:
            yield
        finally:
            self._results = True

    def line(self, text: str) -> None:
        """Print a line on standard error, even if quiet."""
        self._clear()
        print(_printable(f"ctsne: {text}"), file=sys.stderr, flush=True)

    def error(self, message: object) -> None:
        """Print an error in one line."""
        self.line(f"error: {one_line(message)}")

    def warn(self, message: object, *, again: bool = False) -> None:
        """Print a warning in one line; perhaps again after the result."""
        if not self.quiet:
            self.line(f"warning: {one_line(message)}")
        if again:
            self._again.append(str(message))

    def say(self, message: str) -> None:
        """Print what was decided or done."""
        if not self.quiet:
            self.line(message)

    def detail(self, message: str) -> None:
        """Print a detail if verbose."""
        if self.verbose:
            self.line(message)

    def stage(self, name: str) -> None:
        """Show what is going on, in a line that the next one replaces."""
        if self.quiet or self.verbose or not sys.stderr.isatty():
            return
        self._clear()
        print(f"ctsne: {name} ...", end="", file=sys.stderr, flush=True)
        self._unfinished = True

    @contextlib.contextmanager
    def library(self) -> Iterator[None]:
        """Print warnings of the library and, if verbose, its log as messages of this program."""
        from ctsne.cli.options import as_typed

        log = logging.getLogger("ctsne")
        level, propagate, handlers = log.level, log.propagate, log.handlers
        log.propagate, log.handlers = False, [_Stages(self)]
        log.setLevel(logging.INFO)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("default", UserWarning)
                warnings.simplefilter("ignore", InterruptedWarning)  # commands report it
                warnings.showwarning = lambda message, *_, **__: self.warn(as_typed(message))
                yield
        finally:
            log.setLevel(level)
            log.propagate, log.handlers = propagate, handlers

    def _clear(self) -> None:
        if self._unfinished:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._unfinished = False


class _Stages(logging.Handler):
    """Pass on the log of the estimator."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.detail(record.getMessage())
        if following := _NEXT_STAGE.get(getattr(record, "stage", "")):
            self._console.stage(following)


def one_line(message: object) -> str:
    """Return a message on one line; of a system error without its number, or else its type."""
    if isinstance(message, OSError) and message.strerror and message.filename is not None:
        message = f"{message.strerror}: {message.filename}"
    return " ".join(str(message).split()) or type(message).__name__


def _printable(line: str) -> str:
    """Replace control characters, so that text from files cannot control the terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


def aligned(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as text, numbers aligned right and text left."""
    columns = []
    for name, *values in zip(head, *rows, strict=True):
        texts = [name, *map(_cell, values)]
        width = max(map(len, texts))
        numeric = all(value is None or isinstance(value, int | float) for value in values)
        pad = str.rjust if numeric else str.ljust
        texts.insert(1, "-" * width)
        columns.append([pad(text, width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:z.2f}" if isinstance(value, float) else str(value)


def definitions(titles: Mapping[str, str]) -> str:
    """Return titles of measures and their meanings in two columns of a terminal, for the help."""
    width = 4 + max(map(len, titles.values()))
    wrapper, lines = textwrap.TextWrapper(79, subsequent_indent=" " * width), []
    for name, title in titles.items():
        wrapper.initial_indent = f"  {title}".ljust(width)
        lines += wrapper.wrap(MEASURES[name].meaning)
    return "\n".join(lines)


def titles_of(known: Sequence[str], other: Sequence[str] | None) -> dict[str, str]:
    """Return the titles of the measures to choose a map by, with the names of the labels."""
    present = [name for name in CHOSEN_BY if other or name != "other_mixing"]
    for measure, columns in (("mixing", known), ("other_mixing", other or ())):
        if len(columns) > 1:
            present += [of_column(measure, column) for column in columns]
    first = other[0] if other else ""
    return {name: measure_title(name, known=known[0], other=first) for name in chosen_by(present)}


def plain(value: Any) -> Any:
    """Return values that JSON can hold: NumPy numbers as Python ones, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else str(value)
