"""A bar with the time left: on standard error, or as an output of its own in a notebook."""

from __future__ import annotations

import html
import io
import sys
import time
from importlib import import_module
from typing import Any, TextIO

__all__ = ["Progress", "clock", "in_notebook"]

_WIDTH = 30
# Where a line cannot be written over (a log file), a new one appears after this share of the work.
_LOGGED_SHARE = 0.1
# Seconds between two writings over: more often nobody sees, and a notebook has to keep up.
_BETWEEN = 0.1


class Progress:
    """Tell how much of the work is done and how long the rest will take.

    A terminal has one line that is written over, a notebook one output that is replaced, and a log
    file a line for each tenth of the work.

    Parameters
    ----------
    total : int
        Pieces of work.
    name : str
        What is done.
    shown : bool
        Nothing is written if false.
    logged : bool
        Whether lines are written where none can be written over.
    stream : text file, optional
        Where to; by default standard error, or the cell's outputs in a notebook.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> progress = Progress(2, "sweep", shown=True, stream=stream)
    >>> progress.step()
    >>> stream.getvalue().split(" in ")[0]
    'sweep: 1 of 2 [###############...............]'
    """

    def __init__(
        self,
        total: int,
        name: str,
        *,
        shown: bool,
        logged: bool = True,
        stream: TextIO | None = None,
    ) -> None:
        self._total = total
        self._name = name
        self._panel = _Panel() if shown and stream is None and in_notebook() else None
        self._stream = stream or sys.stderr or io.StringIO()  # there may be no standard error
        self._replaced = shown and (self._panel is not None or self._stream.isatty())
        self._logged = shown and logged and not self._replaced
        self._begin = time.monotonic()
        self._done = 0
        self._worked = 0
        self._told = 0
        self._told_at: float | None = None
        self._length = 0
        self._ended = False

    def step(self, *, worked: bool = True) -> None:
        """Count one more piece as done; one that took no work says nothing of the rest."""
        self._done += 1
        self._worked += worked
        if self._replaced:
            now = time.monotonic()
            if self._told_at is None or now - self._told_at >= _BETWEEN:
                self._replace(now)
        elif self._logged and (
            self._done - self._told >= _LOGGED_SHARE * self._total or self._done == self._total
        ):
            self._stream.write(self._text(time.monotonic()) + "\n")
            self._stream.flush()
            self._told = self._done

    def close(self) -> None:
        """Show how far it came, and end the line."""
        if not self._replaced or not self._done:
            return
        self._ended = True  # it may have been stopped: nothing is left to do
        self._replace(time.monotonic())
        if self._panel is None:
            self._stream.write("\n")
            self._stream.flush()

    def _replace(self, now: float) -> None:
        self._told, self._told_at = self._done, now
        if self._panel is not None:
            self._panel.show(self._text(now), self._markup(now))
            return
        text = self._text(now)
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)

    def _text(self, now: float) -> str:
        filled = _WIDTH * self._done // self._total
        bar = f"[{'#' * filled:.<{_WIDTH}}]"
        return f"{self._name}: {self._done} of {self._total} {bar} {self._times(now)}"

    def _markup(self, now: float) -> str:
        bar = f'<progress value="{self._done}" max="{self._total}"></progress>'
        told = f"{self._done} of {self._total} {self._times(now)}"
        return f"<div>{html.escape(self._name)}: {bar} {told}</div>"

    def _times(self, now: float) -> str:
        elapsed = now - self._begin
        text = f"in {clock(elapsed)}"
        if self._worked and self._done < self._total and not self._ended:
            left = elapsed / self._worked * (self._total - self._done)
            text += f", {clock(left)} left"
        return text


class _Panel:
    """An output of a notebook's cell that is replaced in its place.

    Every front end knows how to, none needs a widget, and the notebook's file keeps the last state
    only. A stream would keep all of them, on the red ground of errors.
    """

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, markup: str) -> None:
        bundle = {"text/plain": text, "text/html": markup}
        if self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def in_notebook() -> bool:
    """Tell whether this is a Jupyter kernel, where outputs are more than text."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    # By name, so that nothing is imported; Colab has a shell of its own on top of it.
    kinds = type(shell.get_ipython()).__mro__
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in kinds)


def clock(seconds: float) -> str:
    """Write a time as a clock shows it: minutes and seconds, hours if there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
