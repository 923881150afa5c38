"""Progress of long work: tqdm's bar in terminals and notebooks, a few plain lines in log files."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any


class Progress:
    """Count finished pieces of work and show how long the rest will take."""

    def __init__(self, total: int, name: str, *, shown: bool, logged: bool = True) -> None:
        notebook, stream = in_notebook(), output_stream()
        drawn = shown and stream is not None and (notebook or stream.isatty())
        self._bar: Any = _bar(total, name, stream, notebook=notebook) if drawn else None
        # Where no bar can be drawn, write a line per tenth of the work instead.
        self._stream = stream if shown and logged and not drawn else None
        self._total, self._name = total, name
        self._begin = time.monotonic()
        self._done = self._loaded = 0

    def step(self, *, worked: bool = True) -> None:
        """Count one more piece; one that took no work does not enter the estimate of time left."""
        self._done += 1
        self._loaded += not worked
        if self._bar is not None:
            self._bar.initial = self._loaded
            self._bar.update()
        elif self._stream is not None and 10 * self._done % self._total < 10:  # a tenth more
            print(self._line(), file=self._stream, flush=True)

    def close(self) -> None:
        """End the bar's line."""
        if self._bar is not None:
            self._bar.close()

    def _line(self) -> str:
        text = f"{self._name}: {self._done} of {self._total}"
        worked, remaining = self._done - self._loaded, self._total - self._done
        if worked and remaining:
            left = (time.monotonic() - self._begin) / worked * remaining
            text += f", {clock(left)} left"
        return text


def _bar(total: int, name: str, stream: Any, *, notebook: bool) -> Any:
    # tqdm.auto would choose the widget without ipywidgets too, and warn that it does not work.
    widget = notebook and find_spec("ipywidgets") is not None
    tqdm = import_module("tqdm.notebook" if widget else "tqdm").tqdm
    # Without smoothing the estimate is the mean over all pieces. The delay keeps work that never
    # began, or is over at once, from leaving a line.
    return tqdm(total=total, desc=name, file=stream, smoothing=0, delay=0.1, dynamic_ncols=True)


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
