"""The log of a fit: each stage with the seconds it took, and the bar of the iterations."""

from __future__ import annotations

import logging
import sys
import time

import numpy as np
from numpy.typing import NDArray

from ctsne._core.progress import Progress, in_notebook
from ctsne.layout.descent import Callback

__all__ = ["StageLog"]

_log = logging.getLogger("ctsne")


class StageLog:
    """Report the stages of a fit, as verbosely as the user asked for.

    Messages go to the logger ``ctsne`` if it passes them on. Otherwise they are written to standard
    error, in a notebook to the cell's output. Neither changes how logging is configured.
    """

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._last = time.perf_counter()

    def stage(self, message: str) -> None:
        """Report that a stage is done."""
        now = time.perf_counter()
        if self._verbose:
            _write(f"{message} ({now - self._last:.2f} s)")
        self._last = now

    def bar(self, n_iter: int, name: str = "iterations") -> Progress:
        """Return a bar for some iterations; it stays hidden where their loss is logged."""
        return Progress(n_iter, name, shown=self._verbose == 1, logged=False)

    def watch(self, callback: Callback | None) -> Callback | None:
        """Return a callback that also logs the loss, if the user asked for that."""
        if self._verbose < 2:
            return callback

        def logged(iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
            _write(f"iteration {iteration}: KL divergence {loss:.4f}")
            return callback(iteration, loss, embedding) if callback is not None else None

        return logged


def _write(message: str) -> None:
    if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
        _log.info(message)
    else:
        # Jupyter shows standard error on red, as if something had failed.
        print(message, file=sys.stdout if in_notebook() else sys.stderr, flush=True)
