"""Run and report the stages of a fit: log lines and bars."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count
from ctsne._core.progress import Progress, output_stream
from ctsne.layout import Layout
from ctsne.layout.descent import check_callback

_log = logging.getLogger("ctsne")

# Seconds between lines of progress in a log file, where lines cannot be redrawn.
_LOGGED_EVERY = 30.0
# What follows a map usually takes this share of its time: its loss, measures, writing it.
_AFTERWARDS = 0.1


class StageLog:
    """Run and report the stages of a fit, as the estimator's parameters ask for.

    Messages go to the logger ``ctsne`` if it passes them on, else to the terminal or the notebook.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        verbose, self._callback = given["verbose"], given["callback"]
        as_number = int(verbose) if isinstance(verbose, bool) else verbose
        self._verbose = check_count(as_number, "verbose", low=0)
        check_callback(self._callback)
        self._every = check_count(given["callback_every"], "callback_every", low=1)
        self._last = time.perf_counter()

    @property
    def watched(self) -> bool:
        """Whether something is to be reported of every map from its first iteration on."""
        return self._callback is not None or self._verbose > 1

    def stage(self, name: str, text: str) -> None:
        """Report that a stage is done, with the seconds it took; log records name it."""
        now = time.perf_counter()
        if self._verbose:
            self.write(f"{name}: {text} ({now - self._last:.2f} s)", stage=name)
        self._last = now

    def bar(self, total: int, name: str, **more: Any) -> Progress:
        """Return a bar for some work; it stays hidden where the loss is logged."""
        return Progress(total, name, shown=self._verbose == 1, every=_LOGGED_EVERY, **more)

    def run(
        self, layout: Layout, n_iter: int, name: str = "iterations", *, later: float = 0.0
    ) -> bool:
        """Run some iterations, ``later`` may follow; return whether they were stopped early."""
        told = self._called if self._verbose > 1 else self._callback
        with closing(self.bar(n_iter, name, later=later + _AFTERWARDS * n_iter)) as bar:
            every, step = self._every, bar.step
            return layout.run(n_iter, callback=told, callback_every=every, after_step=step)

    def _called(self, iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
        self.write(f"iteration {iteration}: KL divergence {loss:.4f}")
        return self._callback and self._callback(iteration, loss, embedding)

    def write(self, message: str, *, stage: str = "") -> None:
        """Log a message, or print it if nobody listens to the log."""
        if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
            _log.info(message, extra={"stage": stage})
        else:
            print(message, file=output_stream(), flush=True)
