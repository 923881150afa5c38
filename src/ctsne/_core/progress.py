"""Progress of long work: tqdm's bar in terminals and notebooks, a few plain lines in log files."""

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Report = Callable[[float], object]  # takes the share of some work that is done, from 0 to 1
_Item = TypeVar("_Item", bound=np.generic)

# Seconds after which the speed so far says how long the rest takes; before, nothing is shown.
_SETTLED = 1.5
_WORTH = 3.0  # work that is done in fewer seconds than this needs no estimate
# Parts of a long search, after each of which the bar moves, and the fewest points in one.
_PARTS, _FEWEST = 50, 4096


class Progress:
    """Count finished pieces of work and show how long the rest will take."""

    def __init__(
        self,
        total: int,  # number of pieces; a single one has no count
        name: str,
        *,
        shown: bool,
        every: float | None = 0.0,  # least seconds between lines of a log; None writes none
        later: float = 0.0,  # pieces of work that follow, which the time left includes
        then: str = "",  # what follows, if it is not in the time left
        grows: int = 0,  # how many more pieces to expect, if there are more than the total
        kept: bool = True,  # whether the finished bar stays visible
    ) -> None:
        self._total, self._name, self._then, self._kept = total, name, then, kept
        self._left = float(total)
        self._later, self._grows = later, grows
        self._pieces, self._done, self._inside = 0, 0.0, 0.0
        notebook, stream = in_notebook(), output_stream()
        drawn = shown and stream is not None and (notebook or stream.isatty())
        self._bar: Any = _bar(self._left, name, stream, notebook=notebook) if drawn else None
        self._stream = stream if shown and not drawn and every is not None else None
        self._every = every or 0.0
        self._worth_it = False
        self._begin = self._last = time.monotonic()

    def step(self, *, worked: bool = True) -> None:
        """Count one more piece; one that took no work does not enter the estimate of time left."""
        self._pieces += 1
        self._left -= 1
        if self._grows and self._pieces > self._total:
            self._total += self._grows
            self._left += self._grows
            if self._bar is not None:
                self._bar.total += self._grows
        self._done += worked
        self._show()
        # A line per tenth: this piece is the first one of it.
        if self._stream is not None and 10 * self._pieces % self._total < 10:
            now = time.monotonic()
            if now - self._last >= self._every:
                self._last = now
                print(f"{self._name}: {self._text(now)}", file=self._stream, flush=True)

    def inside(self, size: float) -> None:
        """Set how much work is done inside pieces that are not finished."""
        self._inside = size
        self._show()

    def close(self) -> None:
        """End the bar's line."""
        if self._bar is not None:
            self._bar.leave = self._kept
            if self._total == self._pieces:
                elapsed = clock(time.monotonic() - self._begin)
                self._bar.bar_format = _format(f"{self._counted()}in {elapsed}")
            self._bar.close()

    def seconds_left(self, now: float) -> float | None:
        """Return the time that the rest should take; None while it is unknown."""
        worked, seconds = self._done + self._inside, now - self._begin
        if worked <= 0 or seconds < _SETTLED:
            return None
        left = seconds / worked * max(0.0, self._left - self._inside + self._later)
        self._worth_it |= left >= _WORTH
        return left if self._worth_it else None

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.bar_format = _format(self._text(time.monotonic()))
            self._bar.update(self._bar.total - self._left + self._inside - self._bar.n)

    def _text(self, now: float) -> str:
        seconds = self.seconds_left(now)
        text = self._counted().rstrip()
        if seconds is None or self._pieces >= self._total:
            return text
        then = f", {self._then}" if self._then else ""
        return f"{text}{', ' if text else ''}{clock(seconds)} left{then}"

    def _counted(self) -> str:
        return f"{self._pieces} of {self._total} " if self._total > 1 else ""


def _bar(total: float, name: str, stream: Any, *, notebook: bool) -> Any:
    # tqdm.auto would choose the widget without ipywidgets too, and warn that it does not work.
    widget = notebook and find_spec("ipywidgets") is not None
    tqdm = import_module("tqdm.notebook" if widget else "tqdm").tqdm
    # The delay keeps work that never began, or is over at once, from leaving a line.
    often: dict[str, Any] = {"miniters": 0, "delay": 0.1, "dynamic_ncols": True}
    return tqdm(total=total, desc=name, file=stream, bar_format=_format(""), **often)


def _format(text: str) -> str:
    """Return tqdm's line with the time left in our words, not with its own estimate."""
    return f"{{desc}}: {{percentage:3.0f}}%|{{bar}}| {text}"


def within(report: Report | None, begin: float, end: float) -> Report | None:
    """Return how to report the progress of a part of the work, from one share to another."""
    if report is None:
        return None
    return lambda share: report(begin + share * (end - begin))


def in_parts(items: NDArray[_Item], report: Report | None) -> Iterator[NDArray[_Item]]:
    """Yield items in parts, and report the share done after each; without a report, in one."""
    if report is None:
        yield items
        return
    step = max(_FEWEST, -(-len(items) // _PARTS))
    for begin in range(0, len(items), step):
        yield items[begin : begin + step]
        report(min(1.0, (begin + step) / len(items)))


def in_notebook() -> bool:
    """Return whether this is a Jupyter kernel."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    # By name, so that nothing is imported; Colab derives a class of its own.
    kinds = type(shell.get_ipython()).__mro__
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in kinds)


def output_stream() -> Any:
    """Return where to write messages: Jupyter shows standard error on red, like a failure."""
    return sys.stdout if in_notebook() else sys.stderr


def clock(seconds: float) -> str:
    """Write a duration as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
