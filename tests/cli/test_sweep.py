"""``ctsne sweep``: maps, measures, a suggestion that can be typed, and going on."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne._core.files import sole_writer
from ctsne.cli import sweep as sweep_command
from ctsne.cli.main import make_parser
from ctsne.cli.options import settings_of
from ctsne.cli.sweep import SweepFolder, embed_command, findings, make_grid
from ctsne.io import read_columns, write_columns
from ctsne.settings import DEFAULTS
from ctsne.storage.record import Record, read_record
from ctsne.sweep import SweepResult, SweptMap, load_sweep, worker
from ctsne.sweep.grid import default_grid, expand_grid

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

GRID = "--methods balanced --strengths 1 0 0.5"


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def grid_of(*words: str) -> list[dict[str, Any]]:
    return make_grid(make_parser().parse_args(["sweep", "x", "--labels", "a", "-o", "y", *words]))


def test_the_first_look_is_sixteen_maps_at_most() -> None:
    grid = grid_of()
    assert [entry["method"] for entry in grid] == ["tsne", "joint", "revised"]
    assert 1 + len(grid[1]["strength"]) + len(grid[2]["beta"]) <= 16
    # What conditions nothing is there already, as t-SNE.
    assert grid[1]["strength"] == [0.2, 0.4, 0.6, 0.8, 1.0] and grid[2]["beta"][0] == 0.1
    assert grid == default_grid()


def test_grids_go_from_weak_to_strong() -> None:
    words = ["--methods", "original", "joint", "joint", "--betas", "1e-3", "1", "--strengths", "1"]
    assert grid_of(*words) == [
        {"method": "tsne"},
        {"method": "original", "beta": [1.0, 1e-3]},
        {"method": "joint", "strength": [1.0]},
    ]


@pytest.mark.parametrize(
    ("mixings", "advice"),
    [
        ((0.1, 0.85, 0.9), "try stronger settings as long as the picture shows"),
        ((0.1, 0.3, 0.8), "no setting of this sweep mixes further."),
        ((0.1, 0.2, 0.3), "no setting reaches a mixing of 0.8; this one mixes the label to 0.30"),
        ((np.nan,) * 3, "or hardly any point has one"),
    ],
)
def test_the_advice_never_contradicts_the_suggestion(
    mixings: tuple[float, ...], advice: str
) -> None:
    estimator = {**DEFAULTS, "random_state": 0}
    points = expand_grid([{"method": "joint", "strength": [0, 0.5, 1]}], estimator)
    made = [
        SweptMap(
            point.parameters,
            np.zeros((9, 2), np.float32),
            {"mixing": mixing, "adjusted_rnx": 0.5 - mixing / 2},
            1.0,
            None,
        )
        for point, mixing in zip(points, mixings, strict=True)
    ]
    result = SweepResult(tuple(made), tuple(points), estimator)
    options = make_parser().parse_args(["sweep", "x.csv", "--labels", "batch", "-o", "y"])
    sweep = SweepFolder(result, {}, None, Record("ctsne sweep", {}), settings_of(options))
    text = " ".join("\n".join(findings(sweep, "x.csv")[0]).split())
    assert advice in text
    assert ("stronger settings" in text) == (mixings[1] == 0.85)


def test_a_sweep_leaves_all_that_is_needed(cells: str, run: Run) -> None:
    text = run(f"sweep cells.csv --labels batch --other type --index cell -o out --mixing 0 {GRID}")
    head, _, *rows = text.split("\n\n")[0].splitlines()
    titles = "method setting mixing of batch neighbours kept mixing of type"
    assert " ".join(head.split()) == titles
    firsts = [" ".join(row.split()[:2]) for row in rows]
    assert firsts == ["tsne -", "balanced 0", "balanced 0.5", "balanced 1"]
    assert sum("<- suggested" in row for row in rows) == 1
    flat = " ".join(text.split())
    assert "0 is a starting point, not a rule: try stronger settings as long as" in flat
    assert "as long as mixing of type shows that nothing merges that should stay apart." in flat
    assert text.endswith("next, to look at the maps: ctsne report out -o out.html\n")
    result = load_sweep("out/sweep.npz")
    assert [swept.title for swept in result.maps][:2] == ["t-SNE", "balanced, strength 0"]
    table = pd.read_csv("out/table.csv")
    assert list(table["method"]) == ["tsne"] + 3 * ["balanced"] and "seconds" not in table
    columns, names = read_columns(Path("out/columns.parquet"))
    assert list(columns) == ["batch", "type"] and names is not None and names[1] == "c1"
    made = read_record("out")
    assert made.command == "sweep" and made.inputs[0].file == "cells.csv"
    assert made.options["strengths"] == [1.0, 0.0, 0.5]


def test_the_suggested_command_makes_that_map(cells: str, run_json: RunJson) -> None:
    swept = run_json(
        "sweep cells.csv --labels batch type -o out --mixing 0.3 --features 'PC[1-4]' --seed 3 "
        f"--jobs 2 --bandwidth p {GRID}"
    )["suggested"]
    assert swept["parameters"]["method"] in ("balanced", "tsne")
    words = shlex.split(swept["command"])
    assert words[:2] == ["ctsne", "embed"] and "--n-iter" in words
    assert not {"--json", "--mixing", "--jobs"} & set(words)
    made = run_json(*words[1:])
    assert made["measures"]["mixing"] == pytest.approx(swept["mixing"], abs=1e-9)
    assert made["measures"]["kl_divergence"] == pytest.approx(swept["kl_divergence"])
    assert made["measures"]["adjusted_rnx"] == pytest.approx(swept["adjusted_rnx"], abs=1e-9)


def test_the_suggested_command_leaves_out_the_same_columns(
    cells: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    swept = run_json(
        "sweep cells.csv --labels batch --other plate -o out --mixing 0 --beta-low 0.9 --dof 0.8 "
        f"--pca 4 --metric cosine {GRID}"
    )["suggested"]
    made = run_json(*shlex.split(swept["command"])[1:])
    assert made["measures"]["kl_divergence"] == pytest.approx(swept["kl_divergence"])
    assert made["measures"]["adjusted_rnx"] == pytest.approx(swept["adjusted_rnx"], abs=1e-9)


def test_the_command_for_the_suggested_map(cells: str, run: Run) -> None:
    command = f"sweep cells.csv --labels batch --mixing 0 {GRID}"
    text = " ".join(run(f"{command} -o a").split())
    assert "To make this map: ctsne embed" in text


@pytest.mark.parametrize("label", ["x", None])
def test_nothing_to_factor_out(
    label: str | None, cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson
) -> None:
    frame.assign(batch=label).to_csv(cells, index=False)
    command = f"sweep cells.csv --labels batch {GRID} -o out"
    content = run_json(command)
    assert content["suggested"] is None and len(content["maps"]) == 4
    assert "suggested: none, because there is nothing to choose by" in run(command)
    run("report out -o page.html")


def test_no_map_at_all(cells: str, monkeypatch: pytest.MonkeyPatch, fail: Run) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(worker, "_make", broken)
    message = fail(f"sweep cells.csv --labels batch {GRID} -o out --jobs 1")
    assert "no map could be made: " in message and "no such luck" in message
    assert not Path("out/settings.json").exists()


def test_a_stranger_s_table_is_not_replaced(cells: str, fail: Run) -> None:
    Path("out").mkdir()
    Path("out/table.csv").write_text("mine")
    assert "holds other files (table.csv)" in fail("sweep cells.csv --labels batch -o out")
    assert Path("out/table.csv").read_text() == "mine"


def test_the_own_labels_are_not_replaced(cells: str, run: Run, fail: Run) -> None:
    command = f"sweep cells.csv --labels batch -o out {GRID}"
    run(command)
    assert "would replace the input out/columns.parquet" in fail(
        f"{command} --label-file out/columns.parquet"
    )


def test_the_same_command_goes_on_where_it_was_stopped(
    cells: str, run: Run, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"sweep cells.csv --labels batch -o out {GRID} --jobs 1"
    original, made = worker._make, []

    def make(*arguments: Any) -> Any:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(1)
        return original(*arguments)

    monkeypatch.setattr(worker, "_make", make)
    said = "interrupted: 2 of 4 maps are finished in out; run the same command again to continue\n"
    assert fail(command, code=130).endswith(said)
    assert "the sweep in out is not finished; ctsne rerun out shows" in fail(
        "report out -o page.html"
    )
    message = fail("rerun out")
    assert (
        "out is a sweep; to continue it, or with another folder to repeat it, run ctsne" in message
    )
    command = f"{message.partition('run ctsne ')[2]} --jobs 1"
    more = []
    monkeypatch.setattr(worker, "_make", lambda *a: (more.append(1), original(*a))[1])
    run(command)
    assert len(more) == 2  # those that were missing
    files = contents("out")
    run(command)
    assert len(more) == 2
    assert contents("out") == files


def test_files_of_a_sweep_are_replaced_but_never_gone(
    cells: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"sweep cells.csv --labels batch -o out {GRID}"
    run(command)
    before, seen = {*contents("out")} - {"settings.json"}, []
    assert {"features.parquet", "neighbors.npy", "maps.png"} <= before

    def write(*arguments: Any, **more: Any) -> None:
        seen.append({*contents("out")})
        write_columns(*arguments, **more)

    monkeypatch.setattr("ctsne.io.write_columns", write)
    run(f"{command} --jobs 1")
    assert len(seen) == 2 and all(before <= names for names in seen)


def test_damaged_neighbours_of_a_folder_are_named(cells: str, run: Run, fail: Run) -> None:
    run(f"sweep cells.csv --labels batch -o out {GRID}")
    near = np.load("out/neighbors.npy")
    for damaged, says in ((near + len(near), "from 0 to"), (near[1:], "of shape")):
        np.save("out/neighbors.npy", damaged)
        assert f"out/neighbors.npy must be rows {says}" in fail("report out -o page.html")


def test_stopped_before_the_first_map(
    cells: str, run: Run, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"sweep cells.csv --labels batch -o out {GRID} --jobs 1"
    with monkeypatch.context() as patch:
        patch.setattr(worker, "_make", stop)
        assert "interrupted: before the first map was finished" in fail(command, code=130)
    run(command)
    before = contents("out")
    monkeypatch.setattr(worker, "_make", stop)
    fail(f"{command} --seed 1", code=130)
    assert contents("out") == before


def test_a_folder_with_a_sweep_of_something_else_is_left_alone(
    cells: str, frame: pd.DataFrame, run: Run, fail: Run, tell: Run
) -> None:
    run(f"sweep cells.csv --labels batch -o out {GRID}")
    note = f"kept in out, but not listed in its table.csv: {len(load_sweep('out').maps)}"
    assert note in tell(f"sweep cells.csv --labels batch -o out {GRID} --seed 1")
    before = contents("out")
    message = fail(f"sweep cells.csv --labels type -o out {GRID}")
    assert "out holds a sweep of other labels (batch); choose another folder" in message
    frame.drop(columns=["plate", "PC1"]).to_csv(cells, index=False)
    told = fail(f"sweep cells.csv --labels batch -o out {GRID}")
    assert "holds a sweep of other data or features" in told
    page = "report cells.csv --labels batch --keep out -o page.html"
    assert "holds a sweep of other data" in fail(page)
    assert contents("out") == before


def test_no_setting_mixes_so_far(cells: str, run: Run) -> None:
    text = run("sweep cells.csv --labels batch -o out --mixing 1 --methods tsne")
    assert "no setting reaches a mixing of 1; this one mixes the label to" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--labels batch -o cells.csv", "cells.csv is a file"),
        ("--labels batch -o no/out", "there is no folder no"),
        ("--labels batch -o .", "holds other files (cells.csv)"),
        ("--labels batch -o out --other typ", "did you mean 'type'?"),
        ("--labels batch -o out --other batch", "already the label to factor out"),
        ("--labels batch -o out --mixing 2", "mixing must be a number"),
        ("--labels batch -o out --betas 0", "beta must be a number above 0"),
        ("--labels batch -o out --strengths 7", "strength must be a number"),
        ("--labels batch -o out --odds 0.5", "odds must be a number"),
        ("--labels batch -o out --align-rep X", "--align-rep is for .h5ad files"),
    ],
)
def test_what_cannot_work_is_told_before_any_computing(
    arguments: str, message: str, cells: str, fail: Run
) -> None:
    assert message in fail("sweep", cells, *arguments.split())
    assert [path.name for path in Path().iterdir()] == ["cells.csv"]


def test_a_label_in_numbers_is_no_feature(frame: pd.DataFrame, cells: str, run: Run) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    run(f"sweep cells.csv --labels batch --other plate -o out {GRID}")
    with_other = json.loads(Path("out/settings.json").read_text())["inputs"][0]["data"]
    run(f"sweep cells.csv --labels batch --features 'PC*' -o out2 {GRID}")
    assert json.loads(Path("out2/settings.json").read_text())["inputs"][0]["data"] == with_other


def test_many_points_are_swept_by_a_sample(
    cells: str,
    frame: pd.DataFrame,
    run: Run,
    run_json: RunJson,
    tell: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweep_command, "SWEPT_POINTS", 80)
    command = f"sweep cells.csv --labels batch --other type {GRID} --mixing 0 --index cell"
    said = "sweeping a random sample of 80 of 120 points; add --all-points to use all of them"
    assert said in tell(f"{command} -o out")
    out = run(f"{command} -o out")
    assert "To make this map of all points: ctsne embed" in " ".join(out.split())
    content = run_json(f"{command} -o out")  # the same sample again
    assert content["points"] == 80
    result = load_sweep("out/sweep.npz")
    embedding = result.maps[0].embedding
    assert embedding is not None and embedding.shape == (80, 2)
    columns, names = read_columns(Path("out/columns.parquet"))
    assert names is not None and len(names) == 80
    own = frame.set_index("cell").loc[list(names)]
    assert list(columns["batch"]) == list(own["batch"])
    assert list(columns["type"]) == list(own["type"])
    run("report out -o page.html")
    # What is suggested is a map of all points.
    made = run_json(*shlex.split(content["suggested"]["command"])[1:])
    assert made["points"] == 120
    # Kept maps hold the seconds they took; all else is the same to the byte.
    results = ("sweep.npz", "columns.parquet", "table.csv", "settings.json")
    before = {name: Path("out", name).read_bytes() for name in results}
    run(f"{command} -o again")
    assert {name: Path("again", name).read_bytes() for name in results} == before
    whole = run_json(f"{command} --all-points -o whole")
    assert whole["points"] == 120 and "--all-points" not in whole["suggested"]["command"]
    page = f"report cells.csv --labels batch --keep kept -o b.html {GRID}"
    assert "sweeping a random sample of 80" in tell(page)
    assert load_sweep("kept/sweep.npz").maps[0].embedding.shape == (80, 2)  # type: ignore[union-attr]
    # Without names, points are named by their rows in the file.
    columns, names = read_columns(Path("kept/columns.parquet"))
    assert names is not None
    rows = [int(name.removeprefix("row ")) for name in names]
    assert list(columns["cell"]) == list(frame["cell"].iloc[rows])


def test_few_points_are_all_swept(cells: str, run_json: RunJson, quick: list[str]) -> None:
    command = ["sweep", cells, "--labels", "batch", *GRID.split(), *quick]
    plain, whole = (run_json(*command, *more, "-o", "out") for more in ([], ["--all-points"]))
    assert plain["points"] == whole["points"] == 120
    assert plain["maps"] == whole["maps"]


def test_the_reason_is_told(cells: str, run: Run, run_json: RunJson) -> None:
    command = f"sweep cells.csv --labels batch -o out {GRID} --mixing 0"
    content = run_json(command)
    assert content["reason"] in " ".join(run(command).split())


def test_the_suggested_command_has_the_alignment(
    cells: str, run_json: RunJson, quick: list[str]
) -> None:
    words = ["--methods", "joint", "--strengths", "1", "--align", "mean", "--odds", "5"]
    swept = run_json("sweep", cells, "--labels", "batch", "-o", "out", *words)["maps"][1]
    assert swept["parameters"] == {"method": "joint", "strength": 1.0}
    made = run_json("embed cells.csv --labels batch -o map.csv --strength 1 --align mean --odds 5")
    assert made["measures"]["kl_divergence"] == pytest.approx(swept["kl_divergence"])
    plain = run_json("embed cells.csv --labels batch -o m.csv --strength 1")
    assert plain["measures"]["kl_divergence"] != pytest.approx(swept["kl_divergence"])
    parsed = make_parser().parse_args(
        ["sweep", cells, "--labels", "batch", "-o", "out", *words, *quick]
    )
    best = load_sweep("out/sweep.npz").maps[1]
    command = embed_command(best, cells, settings_of(parsed))
    assert "--align mean" in command and "--odds 5" in command


def test_links_in_the_folder_are_replaced_and_not_followed(cells: str, run: Run) -> None:
    command = "sweep cells.csv --labels batch -o out --strengths 1 --methods joint"
    run(command)
    Path("far").mkdir()
    before = {}
    for file in sorted(Path("out").iterdir()):
        file.rename(Path("far") / file.name)
        file.symlink_to(Path("../far") / file.name)
        before[file.name] = (Path("far") / file.name).read_bytes()
    # What is written must not be what is there already.
    for name in ("table.csv", "sweep.npz", "columns.parquet"):
        (Path("far") / name).write_bytes(b"precious")
        before[name] = b"precious"
    run(command)
    assert {file.name: file.read_bytes() for file in Path("far").iterdir()} == before
    assert not any(file.is_symlink() for file in Path("out").iterdir())
    assert len(list(Path("out").iterdir())) == len(before)


def test_two_sweeps_in_one_folder(cells: str, fail: Run) -> None:
    Path("out").mkdir()
    with sole_writer(Path("out")):
        message = fail("sweep cells.csv --labels batch -o out")
    assert message.endswith("another sweep is writing to out; wait until it has ended")
    assert not list(Path("out").iterdir())


def _write_as(path: Path, X: np.ndarray, columns: dict[str, np.ndarray]) -> None:
    names = [f"f{place}" for place in range(X.shape[1])]
    table = pd.concat([pd.DataFrame(X, columns=names), pd.DataFrame(columns)], axis=1)
    match path.suffix:
        case ".csv" | ".tsv":
            table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
        case ".parquet":
            table.to_parquet(path)
        case ".npz":
            np.savez(path, X=X, **columns)
        case ".h5ad":
            anndata = pytest.importorskip("anndata")
            rows = [f"c{row}" for row in range(len(X))]
            anndata.AnnData(X, obs=pd.DataFrame(columns, index=rows)).write_h5ad(path)


def test_every_format_gives_the_same_maps_and_suggestion(tmp_path: Path, run_json: RunJson) -> None:
    folder = os.environ.get("CTSNE_DATA")
    if folder is None:
        pytest.skip("CTSNE_DATA is not set")
    with np.load(Path(folder) / "kang_muscat.npz") as data:
        X, columns = data["X"], {name: data[name] for name in ("stim", "cell_type")}
    found = []
    for name in ("a.csv", "double.csv", "a.tsv", "a.parquet", "a.npz", "a.h5ad"):
        _write_as(tmp_path / name, X.astype(float) if "double" in name else X, columns)
        out = tmp_path / f"{name}-maps"
        content = run_json(
            *("sweep", str(tmp_path / name), "--labels", "stim", "--other", "cell_type"),
            *("--methods", "joint", "--strengths", "0.8", "1", "--n-iter", "250", "-o", str(out)),
            *("--align", "mutual"),
        )
        maps = [swept.embedding.tobytes() for swept in load_sweep(out).maps if swept.error is None]
        assert len(maps) == 3
        parameters = content["suggested"]["parameters"]
        found.append((maps, content["reason"], parameters, read_record(out).inputs[0].data))
    assert all(each == found[0] for each in found[1:])
