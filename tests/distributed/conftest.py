"""One small cluster for all tests, and a model to place points with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic

DATA = make_synthetic(1200, random_state=0)


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def model() -> ConditionalTSNE:
    """A map of every third point."""
    few = np.arange(0, len(DATA.X), 3)
    return ConditionalTSNE(n_iter=60, random_state=0).fit(DATA.X[few], labels=DATA.known[few])


@pytest.fixture(scope="session")
def expected(model: ConditionalTSNE) -> np.ndarray:
    """All points, placed in one process."""
    return model.transform(DATA.X, DATA.known)
