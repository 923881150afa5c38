"""Stages of a fit, logged with the seconds they took."""

from __future__ import annotations

import logging
import sys
import time

import numpy as np
from numpy.typing import NDArray

from ctsne._core.progress import Progress, in_notebook
from ctsne.layout.descent import Callback

__all__ = ["Clock"]

_log = logging.getLogger("ctsne")


class Clock:
    """Logs stages with the seconds they took.

    Who asks for it sees it: where logging is not set up, the messages go to standard error, in a
    notebook to the cell's output.
    """

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._last = time.perf_counter()
        if verbose and not _log.isEnabledFor(logging.INFO):
            _log.setLevel(logging.INFO)
        if verbose and not _log.hasHandlers():
            # In a notebook, standard error has the red ground of errors.
            _log.addHandler(logging.StreamHandler(sys.stdout if in_notebook() else None))

    def log(self, message: str) -> None:
        """Say that a stage is done."""
        now = time.perf_counter()
        if self._verbose:
            _log.info("%s (%.2f s)", message, now - self._last)
        self._last = now

    def bar(self, n_iter: int, name: str = "iterations") -> Progress:
        """Make a bar for some iterations, unless the loss is logged on the way.

        It appears only where it can be replaced: a log has the stages.
        """
        return Progress(n_iter, name, shown=self._verbose == 1, logged=False)

    def watch(self, callback: Callback | None) -> Callback | None:
        """Log the loss on the way too, if asked to."""
        if self._verbose < 2:
            return callback

        def logged(iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
            _log.info("iteration %d: KL divergence %.4f", iteration, loss)
            return callback(iteration, loss, embedding) if callback is not None else None

        return logged
