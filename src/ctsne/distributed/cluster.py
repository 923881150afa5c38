"""The Dask cluster: a client that is given or made, and tasks that run on its workers."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ctsne._core.files import reason
from ctsne._core.jobs import usable_cpus
from ctsne._core.messages import shown
from ctsne.io.paths import load

# Tasks given to the cluster at a time, per thread of its workers: one that runs, and one whose
# input is read meanwhile. More would keep more shards in memory.
_TASKS_PER_THREAD = 2


@contextlib.contextmanager
def opened_client(client: Any) -> Iterator[Any]:
    """Give the client, the current one of Dask, or one of a local cluster closed at the end."""
    distributed = load("distributed", extra="dask")
    if client is None:
        with contextlib.suppress(ValueError):
            client = distributed.default_client()
    elif not isinstance(client, distributed.Client) or client.asynchronous:
        how = "client must be a distributed.Client that is not asynchronous"
        raise TypeError(f"{how}, got {shown(client)}")
    if client is not None:
        yield client
        return
    with _ignore_interrupts():
        started = distributed.LocalCluster(
            n_workers=usable_cpus(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any free port
            preload=[__name__],
            silence_logs=logging.CRITICAL,  # what fails is reported with its shard
        )
    with started as cluster, distributed.Client(cluster, set_as_default=False) as own:
        yield own


def dask_setup(_: object) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the process that waits.

    Workers of a local cluster call this by its name when they start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Give a client of the scheduler at an address, or None without one.

    Dask does not write about its own processes meanwhile: the program reports what happened.
    """
    distributed = load("distributed", extra="dask")
    log = logging.getLogger(distributed.__name__)
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        if address is None:
            yield None
            return
        try:
            client = distributed.Client(address, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"no Dask scheduler answers at {address!r:.100}: {error}") from error
        with client:
            yield client
    finally:
        log.setLevel(before)


@contextlib.contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C for a moment, here and in processes that are started meanwhile.

    A cluster that is interrupted as it starts cannot be closed, and its processes all complain.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone hears it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run_tasks(client: Any, tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Run delayed tasks, a few at a time; yield the number and the result of each as it ends.

    A task that failed has its exception as the result. Those that still run when the caller stops
    are cancelled.
    """
    distributed = load("distributed", extra="dask")
    done = distributed.as_completed(with_results=True, raise_errors=False, loop=client.loop)
    numbered = iter(enumerate(tasks))
    running: dict[Any, int] = {}

    def submit() -> None:
        room = _TASKS_PER_THREAD * max(1, sum(client.nthreads().values())) - len(running)
        for number, task in islice(numbered, max(0, room)):
            future = client.compute(task)
            running[future] = number
            done.add(future)

    try:
        submit()
        for future, result in done:
            failed = future.status == "error"
            yield running.pop(future), result[1] if failed else result
            del future  # so that a worker that dies later does not take its result along
            submit()
    finally:
        if running:
            client.cancel(list(running), force=True)


def why_failed(error: Exception) -> str:
    """Return why a task failed, in one line."""
    if type(error).__name__ == "KilledWorker":
        return "every worker that worked on it died, perhaps out of memory"
    return reason(error)
