"""How many threads may run: those of the machine, less where others are at work beside us."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

__all__ = ["limit_blas_here", "one_blas_thread", "threads_for", "usable_cpus", "workers_for"]

# More threads than this for each core only cost memory.
_MOST_THREADS_PER_CORE = 4
# Read once, as OpenMP does: Dask sets it in its own process for those that it starts.
_OMP_NUM_THREADS = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
_blas_lock = threading.RLock()


def _unlock_in_child() -> None:
    global _blas_lock
    _blas_lock = threading.RLock()  # a thread that held it does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)


def usable_cpus() -> int:
    """Return how many threads this call may keep busy.

    That is what affinity, container and ``LOKY_MAX_CPU_COUNT`` leave of the machine, at most
    ``OMP_NUM_THREADS``. Inside a worker of joblib, of a process pool or of Dask its share of
    that: loky and Dask set ``OMP_NUM_THREADS`` to it, elsewhere it is one.
    """
    cpus = int(joblib.cpu_count())
    if _OMP_NUM_THREADS.isdigit():
        cpus = max(1, min(cpus, int(_OMP_NUM_THREADS)))
    backend, _ = get_active_backend()
    worker_process = multiprocessing.parent_process() is not None
    among_threads = backend.nesting_level > 0 and not worker_process
    unshared = worker_process and not _OMP_NUM_THREADS.isdigit()
    return 1 if among_threads or unshared or _in_dask_task() else cpus


def threads_for(n_jobs: int | None) -> int:
    """Return the threads that ``n_jobs`` asks for; negative numbers count down from all of them."""
    if n_jobs is None:
        n_jobs = get_active_backend()[1] or 1  # what joblib.parallel_config says, or one
    if n_jobs < 0:
        return max(1, usable_cpus() + 1 + n_jobs)
    return min(n_jobs, _MOST_THREADS_PER_CORE * int(joblib.cpu_count()))


def workers_for(n_jobs: int | None) -> int:
    """Return the workers that ``n_jobs`` asks joblib's active backend for; it may be a cluster."""
    if get_active_backend()[0].nesting_level > 0:
        return threads_for(n_jobs)
    most = max(int(joblib.effective_n_jobs(-1)), _MOST_THREADS_PER_CORE * int(joblib.cpu_count()))
    local = int(joblib.effective_n_jobs(-1)) == int(joblib.cpu_count())
    return threads_for(n_jobs) if local else min(int(joblib.effective_n_jobs(n_jobs)), most)


def _in_dask_task() -> bool:
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:  # not inside one
        return False
    return True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: its sums depend on their number, in the last bits.

    The number belongs to the whole process, so calls from several threads wait for each other.
    """
    with _blas_lock, threadpool_limits(1, user_api="blas"):
        yield


def limit_blas_here() -> None:
    """Tell a thread of one's own the limit: some builds of BLAS keep a number for each thread."""
    threadpool_limits(1, user_api="blas")
