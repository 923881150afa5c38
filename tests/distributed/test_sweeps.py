"""Sweeps and searches for a mixing on a cluster: threads follow the worker, the bits stay."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne._core import jobs
from ctsne._core.checks import check_jobs
from ctsne.datasets import make_synthetic
from ctsne.sweep import sweep

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

DATA = make_synthetic(300, random_state=0)
SMALL = ConditionalTSNE(perplexity=20, n_iter=40, random_state=0)
GRID = {"strength": [0.2, 0.8]}


def same_maps(one: Any, other: Any) -> None:
    for first, second in zip(one.maps, other.maps, strict=True):
        assert first.error is None and second.error is None
        np.testing.assert_array_equal(first.embedding, second.embedding)
        assert first.measures == second.measures


@pytest.mark.slow
@pytest.mark.parametrize(("share", "here"), [("1", 4), ("2", 1)])
def test_threads_of_a_map_follow_the_worker(
    share: str, here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda *_, **__: here)  # in this process alone
    monkeypatch.setattr(jobs, "_OMP_NUM_THREADS", "")
    assert check_jobs(-1) == here
    expected = sweep(DATA.X, DATA.known, GRID, estimator=SMALL, progress=False, n_jobs=1)

    # Not at the top of the module, which workers cannot import.
    def note_threads() -> None:
        from ctsne.sweep import worker

        original: Any = worker.layout_of

        def noting(matrix: Any, features: Any, settings: Any) -> Any:
            noted = getattr(worker, "noted", [])
            worker.noted = [*noted, settings.n_jobs]  # type: ignore[attr-defined]
            return original(matrix, features, settings)

        worker.layout_of = noting

    def noted_threads() -> list[int]:
        from ctsne.sweep import worker

        return getattr(worker, "noted", [])

    environment = "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS"
    with (
        dask.config.set({environment: share}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(note_threads)
        cores = min(client.run(joblib.cpu_count).values())
        with joblib.parallel_config(backend="dask"):
            found = sweep(DATA.X, DATA.known, GRID, estimator=SMALL, progress=False)
        noted = [each for own in client.run(noted_threads).values() for each in own]
    assert noted == [min(int(share), cores)] * 2
    same_maps(found, expected)


@pytest.mark.filterwarnings("ignore:mixing=.* was not reached")  # in so few iterations
def test_estimators_run_on_workers(client: Any) -> None:
    model = ConditionalTSNE(perplexity=20, n_iter=60, mixing=0.6, random_state=0)
    fitted = client.submit(model.fit, DATA.X, labels=DATA.known).result()
    here = model.fit(DATA.X, labels=DATA.known)
    np.testing.assert_array_equal(fitted.embedding_, here.embedding_)
    assert fitted.strength_ == here.strength_ and fitted.mixing_ == here.mixing_
    assert client.submit(check_jobs, -1).result() == 1
