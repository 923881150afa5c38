"""What a worker of a local cluster does first."""

from __future__ import annotations

import signal


def dask_setup(_: object) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
