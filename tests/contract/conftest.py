"""A fit that may not start."""

import pytest

import ctsne.fit.pipeline


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stage of a fit fails, so that what is refused is refused before it."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("work was started before the input was refused")

    stages = ("find_neighbors", "read_neighbors")
    for stage in (*stages, "projected_features", "start_positions", "Layout"):
        monkeypatch.setattr(ctsne.fit.pipeline, stage, work)
