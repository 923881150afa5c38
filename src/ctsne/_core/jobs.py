"""How many threads may run: all cores, or a share of them inside a worker."""

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

_MOST_THREADS_PER_CORE = 4  # more threads than this per core only cost memory
# Read once, as OpenMP does: Dask sets it in its own process for the workers it starts.
_OMP_NUM_THREADS = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
_blas_lock = threading.RLock()


def _unlock_in_child() -> None:
    global _blas_lock
    _blas_lock = threading.RLock()  # a thread that held it does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)


def usable_cpus() -> int:
    """Return how many threads this call may keep busy: all cores, or a worker's share of them."""
    # loky and Dask set OMP_NUM_THREADS to the share of a worker; elsewhere it is one.
    cpus = int(joblib.cpu_count())
    if _OMP_NUM_THREADS.isdigit():
        cpus = max(1, min(cpus, int(_OMP_NUM_THREADS)))
    backend, _ = get_active_backend()
    worker_process = multiprocessing.parent_process() is not None
    among_threads = backend.nesting_level > 0 and not worker_process
    tasks = _tasks_in_dask_worker()
    unshared = (worker_process or tasks) and not _OMP_NUM_THREADS.isdigit()
    return 1 if among_threads or unshared else max(1, cpus // max(1, tasks))


def threads_for(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``; negative numbers count down from all cores."""
    if n_jobs is None:
        n_jobs = get_active_backend()[1] or 1  # set by joblib.parallel_config
    if n_jobs < 0:
        return max(1, usable_cpus() + 1 + n_jobs)
    return min(n_jobs, _MOST_THREADS_PER_CORE * int(joblib.cpu_count()))


def workers_for(n_jobs: int | None) -> int:
    """Return the number of workers of joblib's active backend, which may be a cluster."""
    cores, all_workers = int(joblib.cpu_count()), int(joblib.effective_n_jobs(-1))
    if get_active_backend()[0].nesting_level > 0 or all_workers == cores:
        return threads_for(n_jobs)
    most = max(all_workers, _MOST_THREADS_PER_CORE * cores)
    return min(int(joblib.effective_n_jobs(n_jobs)), most)


def _tasks_in_dask_worker() -> int:
    """Return how many tasks run at once in this Dask worker; 0 outside of workers."""
    distributed: Any = sys.modules.get("distributed")
    try:
        return 0 if distributed is None else int(distributed.get_worker().state.nthreads)
    except ValueError:  # not inside a worker
        return 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, because its sums depend on their number in the last bits."""
    # The limit holds for the whole process, so calls from several threads wait for each other.
    with _blas_lock, threadpool_limits(1, user_api="blas"):
        yield
