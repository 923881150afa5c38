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
from ctsne.sweep import worker

GRID = ["--methods", "balanced", "--strengths", "0", "1"]


@pytest.fixture
def made(cells: str, run: Callable[..., str], quick: list[str]) -> str:
    run("embed", cells, "--labels", "batch", "-o", "map.csv", "--plot", "map.png", *quick)
    return "map.csv"


def test_a_map_in_its_place(made: str, run: Callable[..., str]) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert run("rerun", made) == "map.csv: made again, identical to the one before\n"
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_map_elsewhere_and_from_moved_data(
    made: str, run_json: Callable[..., dict[str, Any]], fail: Callable[..., str]
) -> None:
    Path("cells.csv").rename("moved.csv")
    assert "name it with --input FILE" in fail("rerun", made)
    content = run_json("rerun", made, "-o", "again.npz", "--input", "moved.csv")
    assert content["identical"] is True and content["output"] == "again.npz"
    assert np.array_equal(read_map("again.npz").embedding, read_map(made).embedding)


def test_output_and_input_moved_together(made: str, run: Callable[..., str]) -> None:
    Path("away").mkdir()
    for name in ("cells.csv", "map.csv", "map.csv.json"):
        Path(name).rename(Path("away", name))
    assert "again, identical" in run("rerun", "away/map.csv")


def test_only_the_output_moved(cells: str, run: Callable[..., str], quick: list[str]) -> None:
    Path("deep/down").mkdir(parents=True)
    run("sweep", cells, "--labels", "batch", "-o", "deep/down/out", *GRID, *quick)
    Path("deep").rename("moved")
    Path("moved/down/out").rename("moved/out")
    assert "again, identical" in run("rerun", "moved/out")


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


def test_more_columns_beside_do_not_matter(
    made: str, frame: pd.DataFrame, run: Callable[..., str]
) -> None:
    frame.drop(columns="plate").assign(note="x").to_csv("cells.csv", index=False)
    assert "again, identical" in run("rerun", made)


def test_only_maps_and_sweeps_are_repeated(
    made: str, run: Callable[..., str], fail: Callable[..., str], quick: list[str]
) -> None:
    run("evaluate", made, "-o", "measures.tsv", "--other", "type")
    run("report", "cells.csv", "--labels", "batch", "-o", "page.html", *GRID, *quick)
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    for name in ("map.png", "page.html"):
        assert f"{name} is not a map or sweep; to make it again" in fail("rerun", name)
    assert "measures.tsv has no record of how it was made" in fail("rerun", "measures.tsv")
    after = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert after == before


def test_a_sweep_is_made_anew(cells: str, run: Callable[..., str], quick: list[str]) -> None:
    run("sweep", cells, "--labels", "batch", "-o", "out", *GRID, *quick)
    maps = {path: path.stat().st_mtime_ns for path in Path("out").glob("map-*.npz")}
    before = {name: Path("out", name).read_bytes() for name in ("sweep.npz", "settings.json")}
    assert run("rerun", "out") == "out: made again, identical to the one before\n"
    again = {path: path.stat().st_mtime_ns for path in Path("out").glob("map-*.npz")}
    assert set(maps) == set(again) and not set(maps.values()) & set(again.values())
    assert {name: Path("out", name).read_bytes() for name in before} == before
    assert sorted(path.name for path in Path().iterdir()) == ["cells.csv", "out"]


@pytest.mark.parametrize("name", ["out", "link", "."])
def test_a_folder_keeps_its_place_and_other_files(
    name: str,
    cells: str,
    run: Callable[..., str],
    quick: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("far").mkdir()
    command = ["sweep", cells, "--labels", "batch", "-o", "far/out", *GRID, *quick]
    run(*command)
    Path("link").symlink_to("far/out")
    run("report", "far/out", "-o", "far/out/page.html")
    Path("far/out/notes.txt").write_text("mine")
    run(*command)  # goes on, whatever else is there
    files = {path.name: path.read_bytes() for path in Path("far/out").iterdir()}
    home = Path.cwd()
    monkeypatch.chdir({"out": "far", "link": ".", ".": "far/out"}[name])
    assert "made again, identical" in run("rerun", name)
    monkeypatch.chdir(home)
    again = {path.name: path.read_bytes() for path in Path("far/out").iterdir()}
    # Kept maps know how long they took.
    assert again.keys() == files.keys()
    assert {name: again[name] for name in files if "map-" not in name} == {
        name: files[name] for name in files if "map-" not in name
    }
    assert Path("link").is_symlink()
    assert [path.name for path in Path("far").iterdir()] == ["out"]


def test_maps_of_another_folder_are_not_taken_for_new(
    cells: str, run: Callable[..., str], quick: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        run("sweep", cells, "--labels", "batch", "-o", folder, *GRID, *quick)
    original, made = worker._make, []
    monkeypatch.setattr(worker, "_make", lambda *a: (made.append(1), original(*a))[1])
    assert "b: made again, identical" in run("rerun", "a", "-o", "b", "--jobs", "1")
    assert len(made) == 3


def test_measures_count_too(
    cells: str, frame: pd.DataFrame, run: Callable[..., str], quick: list[str]
) -> None:
    run("sweep", cells, "--labels", "batch", "--other", "type", "-o", "out", *GRID, *quick)
    shuffled = frame["type"].sample(frac=1, random_state=0).to_numpy()
    frame.assign(type=shuffled).drop(columns="plate").to_csv(cells, index=False)
    assert "NOT identical" in run("rerun", "out")


def test_a_sweep_that_a_page_has_kept(
    cells: str, run: Callable[..., str], quick: list[str]
) -> None:
    run(
        "report",
        cells,
        "--labels",
        "batch",
        "-o",
        "page.html",
        "--title",
        "mine",
        "--keep",
        "out",
        *GRID,
        *quick,
    )
    assert "again, identical" in run("rerun", "out")


def test_a_link_to_a_map(made: str, run: Callable[..., str]) -> None:
    Path("sub").mkdir()
    Path("sub/link.csv").symlink_to("../map.csv")
    before = {path.name: path.read_bytes() for path in Path().glob("map.csv*")}
    assert "again, identical" in run("rerun", "sub/link.csv")
    assert not Path("sub/link.csv").is_symlink()  # replaced
    assert Path("sub/link.csv").read_bytes() == before["map.csv"]
    assert {path.name: path.read_bytes() for path in Path().glob("map.csv*")} == before
    assert "again, identical" in run("rerun", "sub/link.csv")


def test_ctrl_c_leaves_the_old_sweep(
    cells: str,
    run: Callable[..., str],
    quick: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    run("sweep", cells, "--labels", "batch", "-o", "out", *GRID, *quick)
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    monkeypatch.setattr(worker, "_make", stop)
    assert main(["rerun", "out", "--jobs", "1"]) == 130
    assert capsys.readouterr().err.endswith("ctsne: interrupted: out is unchanged\n")
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before
    assert sorted(path.name for path in Path().iterdir()) == ["cells.csv", "out"]


def test_a_start_and_labels_from_files(
    cells: str, frame: pd.DataFrame, run: Callable[..., str], quick: list[str]
) -> None:
    np.save("start.npy", np.random.default_rng(0).normal(size=(len(frame), 2)) * 1e-4)
    np.save("X.npy", frame.filter(like="PC").to_numpy())
    frame[["batch"]].to_csv("labels.csv", index=False)
    run(
        "embed",
        "X.npy",
        "--label-file",
        "labels.csv",
        "--labels",
        "batch",
        "--init",
        "start.npy",
        "-o",
        "map.npy",
        *quick,
    )
    assert "again, identical" in run("rerun", "map.npy")


@pytest.mark.parametrize(("name", "more"), [("map.tsv", []), ("map.h5ad", ["--key", "mine"])])
def test_a_map_of_another_name(
    name: str, more: list[str], cells: str, run: Callable[..., str], quick: list[str]
) -> None:
    run("embed", cells, "--labels", "batch", "-o", name, "--key", "mine", *quick)
    assert "again, identical" in run("rerun", name, *more)


def test_other_versions_are_told(made: str, capsys: pytest.CaptureFixture[str]) -> None:
    beside = Path("map.csv.json")
    content = json.loads(beside.read_text())
    content["versions"] |= {"numpy": "1.0", "instruction set": "abacus"}
    beside.write_text(json.dumps(content))
    assert main(["rerun", made]) == 0
    err = capsys.readouterr().err
    assert "made with numpy 1.0, repeated with" in err and "instruction set abacus" in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "there is no none.csv"),
        ("cells.csv", "cells.csv has no record of how it was made: cells.csv.json is missing"),
        ("page.html", "to make it again, use the command shown at its end"),
        ("map.png", "to make it again, use the command in its metadata"),
        ("map.csv.json", "name the output that they belong to"),
    ],
)
def test_what_cannot_be_made_again(
    name: str, message: str, made: str, fail: Callable[..., str]
) -> None:
    Path("page.html").touch()
    Path("map.png").touch()
    assert message in fail("rerun", name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"command": "demo"}, "map.csv was made by an unknown command, 'demo'"),
        ({"command": "../x"}, "made by an unknown command, '../x'"),
        ({"settings": {"plot": "/tmp/elsewhere.png"}}, "'plot' is not a setting of ctsne embed"),
        ({"settings": {"new": 1}}, "does not know: 'new'; upgrade ctsne"),
        ({"settings": {"features": {"a": 1}}}, "map.csv cannot be read: features must be one"),
        ({"settings": {"perplexity": [3]}}, "map.csv cannot be read: perplexity must be one"),
        ({"settings": {"perplexity": None}}, "map.csv cannot be read: perplexity must be one"),
        ({"settings": {"n_iter": 2.5}}, "cannot be read: n_iter must be a whole number"),
        ({"settings": {"beta": {"a": "b"}}}, "cannot be read: beta must be a number"),
        ({"settings": {"method": "best"}}, "cannot be read: method must be one of"),
        ({"settings": {"features": 5, "method": "tsne"}}, "no column '5'"),
        ({"inputs": []}, "do not name all files"),
        ({"ctsne provenance": 99}, "another version of ctsne"),
    ],
)
def test_settings_of_strangers_are_not_trusted(
    change: dict[str, Any], message: str, made: str, fail: Callable[..., str]
) -> None:
    beside = Path("map.csv.json")
    content = json.loads(beside.read_text())
    beside.write_text(json.dumps(content | change))
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert message in fail("rerun", made)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_map_replaces_a_link(cells: str, run: Callable[..., str], quick: list[str]) -> None:
    Path("far").mkdir()
    Path("map.csv").symlink_to("far/real.csv")
    run("embed", cells, "--labels", "batch", "-o", "map.csv", *quick)
    assert not Path("map.csv").is_symlink() and not list(Path("far").iterdir())
    assert "identical to the one before" in run("rerun", "map.csv")


def stored(path: str, **changes: Any) -> None:
    """Change the record beside a map, or in the folder of a sweep."""
    file = Path(path, "settings.json") if Path(path).is_dir() else Path(f"{path}.json")
    content = json.loads(file.read_text())
    settings = content["settings"] | changes.pop("settings", {})
    file.write_text(json.dumps(content | changes | {"settings": settings}))


@pytest.mark.parametrize("n_iter", [10**5 + 1, 10**18])
def test_a_record_cannot_ask_for_endless_work(
    n_iter: int, made: str, fail: Callable[..., str]
) -> None:
    stored(made, settings={"n_iter": n_iter})
    text = fail("rerun", made)
    assert f"map.csv ask for 1 map of {n_iter} iterations; rerun makes up to 100,000" in text
    assert "to make more, run ctsne embed cells" in text and f"--n-iter {n_iter}" in text


def test_the_maps_of_a_search_count(made: str, fail: Callable[..., str]) -> None:
    stored(made, settings={"n_iter": 10**4, "mixing": 0.5})
    assert "ask for 17 maps of 10000 iterations (as many as a search" in fail("rerun", made)


def test_a_record_cannot_ask_for_endless_maps(
    cells: str, run: Callable[..., str], fail: Callable[..., str], quick: list[str]
) -> None:
    run("sweep", cells, "--labels", "batch", "-o", "out", *GRID, *quick)
    stored("out", settings={"strengths": [i / 20_000 for i in range(20_000)]})
    text = fail("rerun", "out")
    assert "out ask for 20001 maps of 40 iterations" in text
    assert text.endswith("to make more, run ctsne sweep with these settings")


def test_data_without_a_checksum_are_only_read_if_named(
    made: str, fail: Callable[..., str], run: Callable[..., str]
) -> None:
    before = Path(made).read_bytes()
    stored(made, inputs=[{"file": "cells.csv"}])
    assert "map.csv have no checksum of cells.csv; name it with --input" in fail("rerun", made)
    assert "have no checksum of cells.csv" in fail("evaluate", made)
    stored(made, inputs=[{"file": "cells.csv", "sha256": "0" * 64}])
    assert "cells.csv is not the file that map.csv was made from" in fail("rerun", made)
    assert Path(made).read_bytes() == before
    assert "made again, identical" in run("rerun", made, "--input", "cells.csv")


def test_files_of_labels_and_starts_must_be_the_same(
    cells: str,
    frame: pd.DataFrame,
    run: Callable[..., str],
    fail: Callable[..., str],
    quick: list[str],
) -> None:
    np.save("X.npy", frame.filter(like="PC").to_numpy())
    frame[["batch"]].to_csv("labels.csv", index=False)
    run(
        "embed", "X.npy", "--label-file", "labels.csv", "--labels", "batch", "-o", "map.npy", *quick
    )
    frame[["batch", "type"]].to_csv("labels.csv", index=False)  # more than it was made from
    assert "labels.csv is not the file that map.npy was made from" in fail("rerun", "map.npy")
    inputs = json.loads(Path("map.npy.json").read_text())["inputs"]
    stored("map.npy", inputs=[inputs[0], inputs[1] | {"sha256": None}])
    assert "map.npy have no checksum of labels.csv" in fail("rerun", "map.npy")


def test_a_record_names_a_pipe(made: str, fail: Callable[..., str]) -> None:
    os.mkfifo("pipe.csv")
    stored(made, inputs=[{"file": "pipe.csv", "sha256": "0" * 64, "data": "x"}])
    assert "pipe.csv is a pipe, not a file" in fail("rerun", made)


def test_a_map_is_written_where_the_user_says(
    cells: str, run: Callable[..., str], quick: list[str]
) -> None:
    run("embed", cells, "--labels", "batch", "-o", "map.h5ad", *quick)
    adata = anndata.read_h5ad("map.h5ad")
    record = json.loads(adata.uns["ctsne"]["provenance"])
    record["settings"]["key"] = "elsewhere"
    adata.uns["ctsne"]["provenance"] = json.dumps(record)
    adata.write_h5ad("map.h5ad")
    assert "made again, identical" in run("rerun", "map.h5ad")
    assert sorted(anndata.read_h5ad("map.h5ad").obsm) == ["X_ctsne"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mixing": "a"}, "mixing must be a number"),
        ({"path": "yes"}, "path must be true or false"),
        ({"labels": None}, "labels must be one number or text"),
        ({"output": "/tmp/x"}, "'output' is not a setting of ctsne sweep"),
    ],
)
@pytest.mark.parametrize("command", ["rerun", "report", "plot"])
def test_settings_of_a_sweep_are_not_trusted(
    settings: dict[str, Any],
    message: str,
    command: str,
    cells: str,
    run: Callable[..., str],
    fail: Callable[..., str],
    quick: list[str],
) -> None:
    run("sweep", cells, "--labels", "batch", "-o", "out", *GRID, *quick)
    stored("out", settings=settings)
    more = {"rerun": [], "report": ["-o", "page.html"], "plot": ["-o", "a.png"]}[command]
    assert message in fail(command, "out", *more)
