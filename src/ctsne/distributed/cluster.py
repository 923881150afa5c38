"""The Dask cluster: a client that is given or made, and tasks that run on its workers."""

import contextlib
import logging
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from ctsne._core.files import reason
from ctsne._core.jobs import usable_cpus
from ctsne._core.messages import load, shown

# Seconds that tasks wait while the cluster has no workers.
_PATIENCE = 60
_AGAIN = "run it again: files that are finished are kept"


@contextlib.contextmanager
def opened_client(client: Any) -> Iterator[Any]:
    """Give a client; a scheduler that goes away is a ConnectionError."""
    distributed = load("distributed", extra="dask")
    lost = (distributed.client.ClosedClientError, distributed.comm.CommClosedError, CancelledError)
    try:
        with contextlib.ExitStack() as stack:
            yield _client_of(client, distributed, stack)
    except lost as error:
        raise ConnectionError(f"the connection to the Dask scheduler is lost; {_AGAIN}") from error


def _client_of(client: Any, distributed: Any, stack: contextlib.ExitStack) -> Any:
    """Return a client: as given, of an address, the current one, or of a local cluster."""
    if client is None:
        with contextlib.suppress(ValueError):
            client = distributed.default_client()
    elif isinstance(client, str):
        for name in (distributed.__name__, distributed.client.__name__):  # errors say enough
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            return stack.enter_context(distributed.Client(client, set_as_default=False))
        except (OSError, ValueError) as error:
            raise ValueError(f"no Dask scheduler answers at {client!r:.100}: {error}") from error
    elif not isinstance(client, distributed.Client) or client.asynchronous:
        how = "client must be a distributed.Client that is not asynchronous, or an address"
        raise TypeError(f"{how}, got {shown(client)}")
    if client is not None:
        return client
    # A cluster that is interrupted as it starts cannot be closed, and its processes all complain.
    alone = threading.current_thread() is threading.main_thread()  # which alone hears Ctrl-C
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if alone else None
    try:
        started = distributed.LocalCluster(
            n_workers=usable_cpus(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any free port
            preload=[__name__],
            silence_logs=logging.CRITICAL,  # what fails is reported with its shard
        )
    finally:
        if alone:
            signal.signal(signal.SIGINT, before)
    cluster = stack.enter_context(started)
    return stack.enter_context(distributed.Client(cluster, set_as_default=False))


def dask_setup(_: object) -> None:
    """Leave Ctrl-C to the process that waits; workers of a local cluster call this by its name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_tasks(client: Any, tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Run delayed tasks; yield the number and the result, or exception, of each as it ends."""
    # Tasks that still run when the caller stops are cancelled. Dask limits how many begin.
    as_completed = load("distributed", extra="dask").as_completed
    running = {future: number for number, future in enumerate(client.compute(list(tasks)))}
    done = as_completed(list(running), loop=client.loop, with_results=True, raise_errors=False)
    try:
        while running:
            _wait_for_one(done, client)
            future, result = next(done)
            if future.status == "cancelled":  # not by this program: the scheduler is gone
                running.clear()
                raise CancelledError
            failed = future.status == "error"
            yield running.pop(future), result[1] if failed else result
            del future  # so that a worker that dies later does not take its result along
    finally:
        if running:
            client.cancel(list(running), force=True)


def all_results(client: Any, tasks: list[Any], names: list[str]) -> list[Any]:
    """Return all results in the order of the tasks; raise the first error."""
    results: dict[int, Any] = {}
    for number, result in run_tasks(client, tasks):
        if isinstance(result, ImportError | MemoryError | OSError | TypeError | ValueError):
            raise result
        if isinstance(result, Exception):
            raise ValueError(f"{names[number]}: {why_failed(result)}") from result
        results[number] = result
    return [results[number] for number in range(len(tasks))]


def _wait_for_one(done: Any, client: Any) -> None:
    """Wait until a task ends; a cluster that has no workers meanwhile is a ConnectionError."""
    ready, absent = done.thread_condition, 0  # replies without workers, one per second
    while absent < _PATIENCE:
        with ready:
            if ready.wait_for(done.has_ready, 1):
                return
        with contextlib.suppress(OSError):  # the tasks of a lost scheduler are cancelled
            absent = 0 if client.nthreads() else absent + 1
    what = f"the Dask cluster has had no workers for {_PATIENCE} s"
    raise ConnectionError(f"{what}; start some and {_AGAIN}")


def why_failed(error: Exception) -> str:
    """Return why a task failed, in one line."""
    if type(error).__name__ == "KilledWorker":
        return "every worker that worked on it died, perhaps out of memory"
    return reason(error)
