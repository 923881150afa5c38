"""``ctsne rerun``: a map or a sweep again, from the settings stored with it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

from ctsne.cli.main import main
from ctsne.io import read_map

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

INPUT = {"sha256": None, "data": None, "role": "data"}
GRID = "--methods balanced --strengths 0 1"


def store(path: str, **changes: Any) -> None:
    """Change the record beside a map, or in the folder of a sweep."""
    file = Path(path, "settings.json") if Path(path).is_dir() else Path(f"{path}.json")
    content = json.loads(file.read_text())
    for name in ("parameters", "options"):
        changes[name] = content[name] | changes.get(name, {})
    file.write_text(json.dumps(content | changes))


def contents(folder: str = ".") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


@pytest.fixture
def made(after: Callable[..., None]) -> str:
    after("embed cells.csv --labels batch -o map.csv --plot map.png")
    return "map.csv"


@pytest.fixture
def swept(after: Callable[..., None]) -> str:
    after(f"sweep cells.csv --labels batch -o out {GRID}")
    return "out"


def test_a_map_in_its_place(made: str, run: Run) -> None:
    before = contents()
    assert run("rerun map.csv") == "map.csv: made again, identical to the one before\n"
    assert contents() == before


def test_a_map_elsewhere_and_from_moved_data(made: str, run_json: RunJson, fail: Run) -> None:
    Path("cells.csv").rename("moved.csv")
    assert "name it with --input FILE" in fail("rerun map.csv")
    content = run_json("rerun map.csv -o again.tsv --input moved.csv")
    assert content["identical"] is True and content["output"] == "again.tsv"
    assert np.array_equal(read_map("again.tsv").embedding, read_map(made).embedding)


def test_output_and_input_moved_together(made: str, run: Run) -> None:
    Path("away").mkdir()
    for name in ("cells.csv", "map.csv", "map.csv.json"):
        Path(name).rename(Path("away", name))
    assert "again, identical" in run("rerun away/map.csv")


def test_data_that_have_changed_are_refused_and_nothing_is_lost(
    made: str, frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(made).read_bytes()
    frame.loc[3, "batch"] = "another"
    frame.drop(columns="plate").to_csv("cells.csv", index=False)
    assert main(["rerun", made]) == 1
    (line,) = capsys.readouterr().err.splitlines()  # no warning before
    assert "cells.csv has changed: its numbers or labels" in line
    assert Path(made).read_bytes() == before


def test_more_columns_beside_do_not_matter(made: str, frame: pd.DataFrame, run: Run) -> None:
    frame.drop(columns="plate").assign(note="x").to_csv("cells.csv", index=False)
    assert "again, identical" in run("rerun map.csv")


def test_a_link_to_a_map(made: str, run: Run) -> None:
    Path("sub").mkdir()
    Path("sub/link.csv").symlink_to("../map.csv")
    before = {path.name: path.read_bytes() for path in Path().glob("map.csv*")}
    assert "again, identical" in run("rerun sub/link.csv")
    assert not Path("sub/link.csv").is_symlink()  # replaced
    assert Path("sub/link.csv").read_bytes() == before["map.csv"]
    assert {path.name: path.read_bytes() for path in Path().glob("map.csv*")} == before
    assert "again, identical" in run("rerun sub/link.csv")


def test_a_start_and_labels_from_files(cells: str, frame: pd.DataFrame, run: Run) -> None:
    np.save("start.npy", np.random.default_rng(0).normal(size=(len(frame), 2)) * 1e-4)
    np.save("X.npy", frame.filter(like="PC").to_numpy())
    frame[["batch"]].to_csv("labels.csv", index=False)
    run("embed X.npy --label-file labels.csv --labels batch --init start.npy -o map.csv")
    assert "again, identical" in run("rerun map.csv")


@pytest.mark.parametrize(("name", "more"), [("map.tsv", ""), ("map.h5ad", "--key mine")])
def test_a_map_of_another_name(name: str, more: str, cells: str, run: Run) -> None:
    run(f"embed cells.csv --labels batch -o {name} --key mine")
    assert "again, identical" in run("rerun", name, *more.split())


def test_other_versions_are_told(made: str, capsys: pytest.CaptureFixture[str]) -> None:
    store(made, versions={"numpy": "1.0", "instruction set": "abacus"})
    assert main(["rerun", made]) == 0
    err = capsys.readouterr().err
    assert "made with numpy 1.0, repeated with" in err and "instruction set abacus" in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "there is no file none.csv"),
        ("cells.csv", "cells.csv has no record of how it was made: cells.csv.json is missing"),
        ("page.html", "cannot read page.html"),
        ("map.png", "cannot read map.png"),
        ("map.csv.json", "cannot read map.csv.json"),
    ],
)
def test_what_cannot_be_made_again(name: str, message: str, made: str, fail: Run) -> None:
    Path("page.html").touch()
    Path("map.png").touch()
    assert message in fail(f"rerun {name}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"made_by": "ctsne demo"}, "map.csv was made by an unknown command, 'ctsne demo'"),
        ({"made_by": "../x"}, "made by an unknown command, '../x'"),
        ({"options": {"plot": "/tmp/elsewhere.png"}}, "does not know: 'plot'"),
        ({"options": {"new": 1}}, "does not know: 'new'; upgrade ctsne"),
        ({"options": {"features": {"a": 1}}}, "map.csv cannot be read: features must be one"),
        ({"options": {"features": 5}}, "no column '5'"),
        ({"options": {"label_file": "cells.csv"}}, "do not name all files"),
        ({"parameters": {"perplexity": "x"}}, "map.csv cannot be read: perplexity must be a"),
        ({"parameters": {"perplexity": None}}, "map.csv cannot be read: perplexity must be one"),
        ({"parameters": {"n_iter": 2.5}}, "cannot be read: n_iter must be a whole number"),
        ({"parameters": {"method": "best"}}, "cannot be read: method must be one of"),
        ({"parameters": {"init": "cells.npy"}}, "do not name all files"),
        ({"labels": [1]}, "map.csv"),
        ({"inputs": []}, "do not name all files"),
        ({"ctsne record": 99}, "another version of ctsne"),
    ],
)
def test_settings_of_strangers_are_not_trusted(
    change: dict[str, Any], message: str, made: str, fail: Run
) -> None:
    store(made, **change)
    before = contents()
    assert message in fail("rerun", made)
    assert contents() == before


def test_a_map_replaces_a_link(cells: str, run: Run) -> None:
    Path("far").mkdir()
    Path("map.csv").symlink_to("far/real.csv")
    run("embed cells.csv --labels batch -o map.csv")
    assert not Path("map.csv").is_symlink() and not list(Path("far").iterdir())
    assert "identical to the one before" in run("rerun map.csv")


@pytest.mark.parametrize("n_iter", [10**5 + 1, 10**18])
def test_a_record_cannot_ask_for_endless_work(n_iter: int, made: str, fail: Run) -> None:
    store(made, parameters={"n_iter": n_iter})
    assert f"map.csv asks for {n_iter} iterations" in fail("rerun map.csv")


def test_data_without_a_checksum_are_only_read_if_named(made: str, fail: Run, run: Run) -> None:
    before = Path(made).read_bytes()
    store(made, inputs=[INPUT | {"file": "cells.csv"}])
    assert "cells.csv is not the file that map.csv was made from" in fail("rerun map.csv")
    assert "cells.csv is not the file that map.csv was" in fail("evaluate map.csv")
    store(made, inputs=[INPUT | {"file": "cells.csv", "sha256": "0" * 64}])
    assert "cells.csv is not the file that map.csv was made from" in fail("rerun map.csv")
    assert Path(made).read_bytes() == before
    assert "made again, identical" in run("rerun map.csv --input cells.csv")


def test_files_of_labels_and_starts_must_be_the_same(
    cells: str, frame: pd.DataFrame, run: Run, fail: Run
) -> None:
    np.save("X.npy", frame.filter(like="PC").to_numpy())
    frame[["batch"]].to_csv("labels.csv", index=False)
    run("embed X.npy --label-file labels.csv --labels batch -o map.csv")
    frame[["batch", "type"]].to_csv("labels.csv", index=False)  # more than it was made from
    assert "labels.csv is not the file that map.csv was made from" in fail("rerun map.csv")
    inputs = json.loads(Path("map.csv.json").read_text())["inputs"]
    store("map.csv", inputs=[inputs[0], inputs[1] | {"sha256": None}])
    assert "labels.csv is not the file that map.csv was made" in fail("rerun map.csv")


def test_a_record_names_a_pipe(made: str, fail: Run) -> None:
    os.mkfifo("pipe.csv")
    store(made, inputs=[INPUT | {"file": "pipe.csv", "data": "x"}])
    assert "pipe.csv is a pipe, not a file" in fail("rerun map.csv")


def test_a_map_is_written_where_the_user_says(cells: str, run: Run) -> None:
    run("embed cells.csv --labels batch -o map.h5ad")
    adata = anndata.read_h5ad("map.h5ad")
    record = json.loads(adata.uns["ctsne"]["record"])
    record["options"]["key"] = "elsewhere"
    adata.uns["ctsne"]["record"] = json.dumps(record)
    adata.write_h5ad("map.h5ad")  # so that it is no longer as ctsne wrote it
    assert "made again, identical" in run("rerun map.h5ad --force")
    assert sorted(anndata.read_h5ad("map.h5ad").obsm) == ["X_ctsne"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {"mixing": "a"}}, "mixing must be a number"),
        ({"options": {"all_points": "yes"}}, "all_points must be true or false"),
        ({"labels": []}, "cannot be read: a sweep needs labels"),
        ({"options": {"output": "/tmp/x"}}, "does not know: 'output'"),
    ],
)
def test_settings_of_a_sweep_are_not_trusted(
    change: dict[str, Any], message: str, swept: str, fail: Run
) -> None:
    store("out", **change)
    for command in ("rerun out", "report out -o page.html"):
        assert message in fail(command)
