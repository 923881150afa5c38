"""``ctsne info``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

import ctsne
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
    assert content["extras"]["plot"]["missing"] == []


def test_missing_extras_come_with_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "find_spec", lambda name: None if name == "matplotlib" else object())
    assert 'missing matplotlib: pip install "ctsne[plot]"' in run("info")


def test_all_extras_for_users_are_named() -> None:
    known = set(metadata("ctsne").get_all("Provides-Extra") or ())
    assert set(info._EXTRAS) == known - {"all"}


def test_info_of_data(
    cells: str, frame: pd.DataFrame, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    frame["stim"] = frame["batch"].eq("blue").map({True: "yes", False: "no"})
    frame.loc[:4, "batch"] = None
    frame.to_csv(cells, index=False)
    assert main(["info", cells]) == 0
    out, err = capsys.readouterr()
    head, table, relations, proposal = out.split("\n\n")
    assert head.splitlines() == [
        "data       cells.csv (120 points)",
        "features   10 numeric columns: PC1 ... PC10",
        "others     'cell'",
    ]
    assert re.match("column +values +mixing in the data +note\n", table)
    rows = table.splitlines()[2:]
    assert [row.split()[0] for row in rows] == ["stim", "batch", "type", "plate"]
    assert rows[1].endswith("5 missing") and rows[0].endswith("looks like a treatment")
    assert relations == "- stim and batch are the same: factoring out one removes the other too"
    assert proposal.startswith("proposal: factor out batch") and "also removes stim" in proposal
    assert "left out of the map: 'plate'" in err
    content = json.loads(run("info cells.csv --json"))
    assert content["points"] == 120 and content["features"][-1] == "PC10"
    batch = content["labels"]["batch"]
    assert (batch["values"], batch["missing"], batch["kind"]) == (2, 5, "nuisance")
    assert batch["mixing"] < 0.3 < content["labels"]["plate"]["mixing"]
    assert content["relations"][0]["kind"] == "same" and content["proposal"] == "batch"
    assert content["next"].startswith("ctsne report cells.csv --labels batch --other type")


def test_features_that_are_doubted_are_not_screened(
    cells: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    frame.assign(depth=np.arange(len(frame)) * 999.0).to_csv(cells, index=False)
    content = run_json("info cells.csv")
    assert content["proposal"] == "batch" and content["next"].endswith("--features 'PC*'")


def test_info_of_data_without_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.random.default_rng(0).normal(size=(20, 3)))
    out = run("info X.npy")
    assert "proposal: nothing to factor out: no column has a few values that repeat\n" in out
    assert out.endswith("ctsne embed X.npy -o X-map.csv --method tsne\n")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".h5ad"])
def test_info_of_a_map(suffix: str, cells: str, run: Run, run_json: RunJson) -> None:
    run(f"embed cells.csv --labels batch --perplexity 8 --n-iter 40 -o map{suffix}")
    text, content = run(f"info map{suffix}"), run_json(f"info map{suffix}")["map"]
    assert f"map        map{suffix} (120 points in 2 dimensions, " in text
    assert "method     joint, strength 0." in text and "perplexity=8" in content["settings"]
    assert "made by    ctsne embed cells.csv --labels batch" in text
    assert content["labels"].startswith("batch: 2 labels (")
    assert content["mixing"].keys() == {"batch"}
    assert content["record"]["labels"] == ["batch"]


def test_info_of_an_object_with_data_and_a_map(
    cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson
) -> None:
    adata = anndata.AnnData(frame.filter(like="PC").to_numpy())
    adata.obs["batch"], adata.obs["type"] = frame["batch"].to_numpy(), frame["type"].to_numpy()
    ctsne.tl.ctsne(adata, ["batch"], n_iter=40, perplexity=8, key_added="mine")
    adata.write_h5ad("cells.h5ad")
    content = run_json("info cells.h5ad --key mine")
    assert content["map"]["made by"] == "ctsne.tl.ctsne" and content["proposal"] == "batch"
    assert "map" not in run_json("info cells.h5ad")
    adata.X = None
    adata.write_h5ad("map.h5ad")
    assert "proposal" not in run_json("info map.h5ad --key mine")


def test_settings_of_another_program_beside_the_data(
    cells: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cells.csv.json").write_text('{"made by": "another program"}')
    assert main(["info", cells]) == 0
    out, err = capsys.readouterr()
    assert "proposal: factor out batch" in out and "not a ctsne settings record" in err


def test_info_of_no_file(fail: Run) -> None:
    assert fail("info none.csv").startswith("ctsne: error: there is no file none.csv")
    assert "there is no file none.ctsne" in fail("info none.ctsne")


def test_a_number_that_dominates_is_proposed_as_one(run_json: RunJson, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    age = rng.normal(size=200)
    cells = anndata.AnnData(np.column_stack([10 * age, *rng.normal(size=(4, 200))]))
    cells.obs["age"] = age
    cells.write_h5ad(tmp_path / "cells.h5ad")
    content = run_json("info", str(tmp_path / "cells.h5ad"))
    assert content["proposal"] == "age" and content["labels"]["age"]["kind"] == "number"
    assert "--numbers age" in content["next"] and "--labels" not in content["next"]


def test_features_that_the_next_command_leaves_out_are_listed(
    run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 8)), columns=[f"Dim.{i}" for i in range(1, 9)])
    table["n UMI"] = rng.integers(1000, 9000, len(table))
    table["run"] = np.arange(len(table)) % 3
    table["run"] = "R" + table["run"].astype(str)
    table["Dim.1"] += 9 * (table["run"] == "R0")
    table.to_csv(tmp_path / "cells.csv", index=False, sep=";", decimal=",")
    text = run(f"info {tmp_path / 'cells.csv'}")
    assert "left out   'n UMI': choose with --features\n" in text
    assert "--features 'Dim.*'" in text
    assert "included in the map" not in capsys.readouterr().err
