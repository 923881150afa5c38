"""``ctsne info``."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import _native
from ctsne.cli import info
from ctsne.cli.main import main

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


def test_tells_what_is_in_use(run: Run) -> None:
    text = run("info")
    assert f"ctsne            {version('ctsne')}\n" in text
    assert f"instruction set  {_native.instruction_set()}\n" in text
    assert "extras" in text


def test_json(run_json: RunJson) -> None:
    content = run_json("info")
    assert content["threads"] >= 1
    assert content["extras"]["plot"]["installed"] is True


def test_missing_extras_come_with_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "find_spec", lambda name: None if name == "matplotlib" else object())
    assert 'missing matplotlib: pip install "ctsne[plot]"' in run("info")


def test_all_extras_for_users_are_named() -> None:
    known = set(metadata("ctsne").get_all("Provides-Extra") or ())
    assert set(info._EXTRAS) == known - {"all"}


def test_info_of_data(
    cells: str, frame: pd.DataFrame, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    frame.loc[:4, "batch"] = None
    frame.to_csv(cells, index=False)
    assert main(["info", cells]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:6] == [
        "data       cells.csv (120 points)",
        "features   11 numeric columns: PC1 ... PC10, plate",
        f"labels     batch: 2 values, {_counted(frame['batch'])}; 5 missing",
        "           plate (whole numbers): 3 values, 0 (40), 1 (40), 2 (40)",
        f"           type: 3 values, {_counted(frame['type'])}",
        "others     'cell'",
    ]
    assert "whole numbers among fractions, included in the map: 'plate'" in err
    content = json.loads(run("info cells.csv --json"))
    assert content["points"] == 120 and content["features"][-1] == "plate"
    assert content["labels"]["batch"] == {"values": 2, "missing": 5}


def _counted(column: pd.Series) -> str:
    counts = column.value_counts()
    order = sorted(counts.index, key=lambda label: (-counts[label], label))
    return ", ".join(f"{label} ({counts[label]})" for label in order)


def test_info_of_data_without_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.random.default_rng(0).normal(size=(20, 3)))
    out = run("info X.npy")
    assert out.endswith("labels     none: no column has a few values that repeat\n")


def test_info_of_no_file(fail: Run) -> None:
    assert fail("info none.csv").startswith("ctsne: error: there is no file none.csv")
    assert "there is no file none.ctsne" in fail("info none.ctsne")
