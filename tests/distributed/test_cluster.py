"""A scheduler or workers that go away are one error that says how to go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.distributed import cluster, fit_sample, place

from .conftest import DATA

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a scheduler with one worker."""
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_"]
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    with ExitStack() as stack:

        def start(kind: str, *words: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [*command[:-1], command[-1] + kind, *common, *words], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait, 30)
            stack.callback(process.kill)
            return process

        process = start("scheduler", "--port", "0")
        for _ in range(600):
            if file.exists():
                break
            time.sleep(0.1)
        start("worker", "--no-nanny", "--nthreads", "1")
        yield json.loads(file.read_text())["address"], process.pid


def test_a_lost_scheduler_is_one_error(
    scheduler: tuple[str, int], model: Any, tmp_path: Path
) -> None:
    address, pid = scheduler

    def kill(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info[0]["chunk-location"][0] == 2:
            os.kill(pid, signal.SIGKILL)
            time.sleep(5)
        return block

    whole = da.from_array(DATA.X, chunks=(300, -1))
    array = whole.map_blocks(kill, dtype=DATA.X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(ConnectionError, match=r"scheduler is lost; run it again") as caught:
        place(model, array, tmp_path / "out", labels=DATA.known, client=address, progress=False)
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "out").glob(".*.part"))


def test_lost_workers_are_one_error(
    scheduler: tuple[str, int], model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info[0]["chunk-location"][0] == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    monkeypatch.setattr(cluster, "_PATIENCE", 2)
    whole = da.from_array(DATA.X, chunks=(300, -1))
    array = whole.map_blocks(end, dtype=DATA.X.dtype, meta=np.empty((0, 0)))
    options = {"labels": DATA.known, "progress": False}
    message = "has had no workers for 2 s; start some and run it again: files that are finished"
    with distributed.Client(scheduler[0], set_as_default=False) as client:
        client.wait_for_workers(1, timeout=120)
        with pytest.raises(ConnectionError, match=message) as caught:
            place(model, array, tmp_path / "out", client=client, **options)
        assert "\n" not in str(caught.value)
        assert not list((tmp_path / "out").glob(".*.part"))
        for work in (
            lambda: place(model, whole, tmp_path / "out", client=client, **options),
            lambda: fit_sample(whole, 300, labels=DATA.known, client=client),
        ):
            with pytest.raises(ConnectionError, match=message):
                work()
