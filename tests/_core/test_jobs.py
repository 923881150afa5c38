"""How many threads a call takes, alone and among others."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from ctsne._core import jobs as _jobs
from ctsne._core.checks import check_jobs, check_workers
from ctsne._core.jobs import one_blas_thread


@pytest.fixture(autouse=True)
def _no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_jobs, "_OMP_NUM_THREADS", "")


def output_of(program: str, **environment: str) -> list[str]:
    """Run a program by itself, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_alone_all_usable_cpus_are_taken() -> None:
    cpus = joblib.cpu_count()
    assert check_jobs(-1) == check_workers(-1) == cpus
    assert check_jobs(-cpus) == check_jobs(-cpus - 5) == 1
    assert check_jobs(3) == check_workers(3) == 3  # as asked for, though there may be fewer cores
    assert check_jobs(10**9) == 4 * cpus
    assert check_jobs(None) == check_workers(None) == 1
    with joblib.parallel_config(n_jobs=2):
        assert check_jobs(None) == check_workers(None) == 2


def test_the_limit_of_the_environment_is_respected() -> None:
    program = "from ctsne._core.checks import check_jobs; print(check_jobs(-1), check_jobs(2))"
    assert output_of(program, OMP_NUM_THREADS="1,2") == ["1", "2"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity_is_respected() -> None:
    program = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from ctsne._core.checks import check_jobs
print(check_jobs(-1))
"""
    assert output_of(program) == ["1"]


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_in_workers_of_joblib_cores_are_shared(backend: str) -> None:
    workers = max(2, joblib.cpu_count())
    calls = [(check_jobs, -1), (check_workers, -1), (check_jobs, 2)] * workers
    run = joblib.Parallel(n_jobs=workers, backend=backend, batch_size=3)
    assert run(joblib.delayed(check)(n_jobs) for check, n_jobs in calls) == [1, 1, 2] * workers


def test_in_workers_of_a_process_pool_there_is_one() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(check_jobs, [-1])) == [1]


def test_one_worker_of_joblib_has_all_cores() -> None:
    run = joblib.Parallel(n_jobs=1)
    assert run([joblib.delayed(check_jobs)(-1)]) == [joblib.cpu_count()]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [True, False])
def test_in_workers_of_dask_there_is_one(processes: bool) -> None:
    program = f"""
import joblib
from distributed import Client, LocalCluster
from ctsne._core.checks import check_jobs, check_workers
if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=3, processes={processes}, dashboard_address=":0"
    ) as cluster, Client(cluster) as client:
        print(client.submit(check_jobs, -1).result())
        with joblib.parallel_config(backend="dask"):
            print(*joblib.Parallel()(joblib.delayed(check_jobs)(-1) for _ in range(2)))
            print(check_workers(-1), check_jobs(-1) == joblib.cpu_count())
"""
    assert output_of(program) == ["1", "1", "1", "3", "True"]


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_limited_and_let_go() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) <= {1}
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_blas_is_limited_for_one_thread_after_the_other() -> None:
    before = blas_threads()
    inside, seen = threading.Event(), []

    def other() -> None:
        inside.set()
        with one_blas_thread():
            seen.append(blas_threads())

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        inside.wait(60)
        assert not seen
    thread.join(60)
    assert set(seen[0]) <= {1} and blas_threads() == before
