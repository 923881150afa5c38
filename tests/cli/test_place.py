"""``ctsne place``: many files on a cluster, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ctsne
from ctsne.cli.main import main

RunJson = Callable[..., dict[str, Any]]

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Return the address of a scheduler with one worker."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as local:
        yield local.scheduler_address


@pytest.fixture
def shards(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """``model.ctsne``, made from a table, and three shards of it in ``cells``."""
    monkeypatch.chdir(tmp_path)
    frame = frame.drop(columns=["cell", "plate"])
    frame.to_parquet("all.parquet")
    Path("cells").mkdir()
    for part in range(3):
        frame[40 * part : 40 * part + 40].to_parquet(f"cells/{part}.parquet")
    arguments = "embed all.parquet --labels batch --other type -o map.csv --model model.ctsne"
    quick = "--perplexity 8 --n-iter 40 --early-exaggeration-iter 20 --quiet"
    assert main([*arguments.split(), *quick.split()]) == 0
    return frame


def test_files_are_placed_and_found_again(
    shards: pd.DataFrame, scheduler: str, run_json: RunJson, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    command = ["place", "model.ctsne", "cells/*.parquet", "-o", "maps", "--scheduler", scheduler]
    made = run_json(*command)
    assert made["command"] == "place" and made["points"] == 120 and made["found"] == 0
    assert made["labels"] == ["batch"]  # those of the model
    assert made["files"] == [f"maps/{part}.parquet" for part in range(3)]
    found = pd.read_parquet("maps")
    model = ctsne.load("model.ctsne")
    features = [name for name in shards if name.startswith("PC")]
    expected = model.transform(shards[features].to_numpy(), shards["batch"])
    assert (found[["ctsne_1", "ctsne_2"]].to_numpy() == expected).all()
    assert found["type"].tolist() == shards["type"].tolist()
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert "maps: maps (3 files, 120 points placed in the map of model.ctsne)" in out
    assert "files of an earlier run: 3" in out and "labels: batch, as in the model" in err


def test_errors_are_one_line(
    shards: pd.DataFrame, scheduler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shards[:40].assign(PC1=float("nan")).to_parquet("cells/1.parquet")
    common = ["-o", "maps", "--scheduler", scheduler, "--quiet"]
    capsys.readouterr()
    for arguments, message in (
        (["nothing.ctsne", "cells/*.parquet", *common], "there is no file nothing.ctsne"),
        (["model.ctsne", "cells/*.feather", *common], "no file matches 'cells/*.feather'"),
        (["model.ctsne", "cells/*.parquet", *common, "--labels", "bach"], "did you mean 'batch'?"),
        (["model.ctsne", "cells/*.parquet", *common, "--use-rep", "X"], "use_rep is for .h5ad"),
        (["model.ctsne", "cells/*.parquet", *common], "1 of 3 shards could not be placed"),
    ):
        assert main(["place", *arguments]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("ctsne: error: ") and err.count("\n") == 1
        assert message in err
    assert "cells/1.parquet: " in err
    assert main(["place", "model.ctsne"]) == 2


def test_a_scheduler_that_does_not_answer(
    shards: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "Client", fail)
    command = "place model.ctsne cells/0.parquet -o maps --scheduler tcp://10.0.0.1:1 --quiet"
    assert main(command.split()) == 1
    assert "no Dask scheduler answers at 'tcp://10.0.0.1:1'" in capsys.readouterr().err
    assert not Path("maps").exists()


def test_without_dask_the_extra_is_named(
    shards: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["place", "model.ctsne", "cells/0.parquet", "-o", "maps", "--quiet"]) == 1
    assert 'pip install "ctsne[dask]"' in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_leaves_finished_files(shards: pd.DataFrame, tmp_path: Path) -> None:
    large = pd.concat([shards] * 400)
    for part in range(12):
        large.to_parquet(tmp_path / "cells" / f"large{part:02d}.parquet")
    command = [
        sys.executable,
        "-P",
        "-m",
        "ctsne.cli",
        "place",
        "model.ctsne",
        "cells/large*.parquet",
        "-o",
        "maps",
        "--json",
    ]
    limit = time.monotonic() + 300
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            while not list(tmp_path.glob("maps/large*")):
                time.sleep(0.05)
                assert process.poll() is None and time.monotonic() < limit
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes
            out, err = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130 and out == ""
    finished = len(list(tmp_path.glob("maps/large*")))
    last = err.splitlines()[-1]
    assert last.startswith("ctsne: interrupted: ") and "Traceback" not in err
    assert " of 12 shards are finished" in last and "to continue" in last
    assert 1 <= int(last.split()[2]) <= finished  # some may have ended since
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert json.loads(again.stdout)["found"] == finished
    assert not list(tmp_path.glob("maps/.*"))
