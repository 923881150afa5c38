"""A bar with the time left, on standard error."""

from __future__ import annotations

import io
import sys
import time
from typing import TextIO

__all__ = ["Progress"]

_WIDTH = 30
# Where a line cannot be written over (a log file), a new one appears after this share of the work.
_LOGGED_SHARE = 0.1


class Progress:
    """Tell how much of the work is done and how long the rest will take.

    Parameters
    ----------
    total : int
        Pieces of work.
    name : str
        What is done.
    shown : bool
        Nothing is written if false.
    stream : text file, optional
        Where to; standard error by default.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> progress = Progress(2, "sweep", shown=True, stream=stream)
    >>> progress.step()
    >>> stream.getvalue().split(" in ")[0]
    'sweep: 1 of 2 [###############...............]'
    """

    def __init__(self, total: int, name: str, *, shown: bool, stream: TextIO | None = None) -> None:
        self._total = total
        self._name = name
        self._shown = shown
        self._stream = stream or sys.stderr or io.StringIO()  # there may be no standard error
        self._rewritable = shown and (self._stream.isatty() or _in_notebook())
        self._begin = time.monotonic()
        self._done = 0
        self._worked = 0
        self._logged = 0
        self._length = 0

    def step(self, *, worked: bool = True) -> None:
        """Count one more piece as done; one that took no work says nothing of the rest."""
        self._done += 1
        self._worked += worked
        if not self._shown:
            return
        if self._rewritable:
            text = self._text()
            self._stream.write("\r" + text.ljust(self._length))
            self._length = len(text)
        elif self._done - self._logged >= _LOGGED_SHARE * self._total or self._done == self._total:
            self._stream.write(self._text() + "\n")
            self._logged = self._done
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._rewritable and self._length:
            self._stream.write("\n")
            self._stream.flush()

    def _text(self) -> str:
        elapsed = time.monotonic() - self._begin
        filled = _WIDTH * self._done // self._total
        text = f"{self._name}: {self._done} of {self._total} [{'#' * filled:.<{_WIDTH}}]"
        text += f" in {_clock(elapsed)}"
        if self._worked and self._done < self._total:
            left = elapsed / self._worked * (self._total - self._done)
            text += f", {_clock(left)} left"
        return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _in_notebook() -> bool:
    """Notebooks write over a line too, though they are no terminal."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
