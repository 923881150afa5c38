"""Several label columns on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import ConditionalTSNE
from ctsne.cli.main import main
from ctsne.cli.options import per_column
from ctsne.io import read_map
from ctsne.labels import combine_columns
from ctsne.storage.record import read_record

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

QUICK = {"perplexity": 8.0, "n_iter": 40, "early_exaggeration_iter": 20, "random_state": 0}
BOTH = "--labels batch plate"


@pytest.fixture
def plates(frame: pd.DataFrame, cells: str) -> str:
    """Write the cells with a second variable, the plate."""
    frame["plate"] = np.char.add("p", frame["plate"].astype(str).to_numpy(str))
    frame.to_csv(cells, index=False)
    return cells


def features(frame: pd.DataFrame) -> np.ndarray:
    return frame.filter(like="PC").to_numpy()


# ---- embed ---------------------------------------------------------------------------------------


def test_each_column_has_its_strength(plates: str, frame: pd.DataFrame, run_json: RunJson) -> None:
    strength = {"batch": 0.8, "plate": 0.3}
    given = "--strength batch=0.8 plate=0.3"
    content = run_json(f"embed cells.csv {BOTH} {given} -o map.csv")
    labels = frame[["batch", "plate"]]
    model = ConditionalTSNE(strength=strength, **QUICK).fit(features(frame), labels=labels)
    np.testing.assert_array_equal(read_map("map.csv").embedding, model.embedding_)
    assert content["found"]["strength"] == content["settings"]["strength"] == strength
    assert {"mixing", "mixing (batch)", "mixing (plate)"} <= set(content["measures"])
    again = run_json("rerun map.csv")
    assert again["identical"] is True


def test_new_points_with_columns_in_another_order(plates: str, run: Run) -> None:
    run(f"embed cells.csv {BOTH} -o map.csv --model model.ctsne")
    run(f"transform model.ctsne cells.csv {BOTH} -o placed.csv")
    out = run("transform model.ctsne cells.csv --labels plate batch -o turned.csv")
    assert "0 new to the model" in out
    maps = [read_map(name).embedding for name in ("placed.csv", "turned.csv")]
    np.testing.assert_array_equal(*maps)


def test_the_report_names_each_column(plates: str, run: Run) -> None:
    text = run(f"embed cells.csv {BOTH} --other type -o map.csv")
    first, *lines = text.splitlines()
    assert first == "map: map.csv (120 points; joint, strength batch=0.7, plate=0.7)"
    starts = [line.partition(":")[0] for line in lines]
    assert starts[:4] == ["mixing of batch", "mixing of plate", "mixing of type", "neighbours kept"]


def test_a_mixing_for_each(plates: str, run_json: RunJson) -> None:
    wanted = {"batch": 0.5, "plate": 0.9}
    given = "--mixing batch=0.5 plate=0.9"
    content = run_json(f"embed cells.csv {BOTH} {given} -o map.csv")
    assert content["settings"]["mixing"] == wanted
    assert set(content["found"]["strength"]) == {"batch", "plate"}
    assert run_json("rerun map.csv")["identical"] is True


def test_combined_columns_are_one_label(
    plates: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    content = run_json(f"embed cells.csv {BOTH} --combine -o map.csv")
    assert content["settings"]["combine"] is True and content["found"] == {"strength": 0.7}
    both = combine_columns([frame["batch"], frame["plate"]])
    model = ConditionalTSNE(**QUICK).fit(features(frame), labels=both)
    np.testing.assert_array_equal(read_map("map.csv").embedding, model.embedding_)
    assert not any("(" in name for name in content["measures"])


def test_a_picture_has_a_panel_for_each_column(plates: str, run: Run) -> None:
    import matplotlib.image

    run(f"embed cells.csv {BOTH} -o map.csv --plot both.png")
    run("plot map.csv -o drawn.png")
    run("plot map.csv --color batch -o one.png")
    widths = [matplotlib.image.imread(name).shape[1] for name in ("both.png", "one.png")]
    assert widths[0] > 1.5 * widths[1]
    assert matplotlib.image.imread("drawn.png").shape[1] == widths[0]


def test_every_column_is_measured(plates: str, run: Run, run_json: RunJson) -> None:
    run(f"embed cells.csv {BOTH} -o map.csv")
    rows = run_json("evaluate map.csv --other type -k 10 15")["measures"]
    mixed = {row["label"] for row in rows if row["measure"] == "mixing"}
    assert mixed == {"batch", "plate", "batch | plate", "type"}
    assert {row["label"] for row in rows if row["measure"] == "adjusted_rnx"} == {"batch | plate"}
    others = run_json("evaluate map.csv --labels type")["measures"]
    assert {row["label"] for row in others if row["measure"] == "mixing"} == {"type"}


# ---- sweep ---------------------------------------------------------------------------------------


def test_a_sweep_of_all_combinations(plates: str, run_json: RunJson) -> None:
    grid = ["--methods", "joint", "--strengths", "batch=0.3,0.9", "plate=0.5"]
    target = ["--mixing", "batch=0.2", "plate=0.3"]
    content = run_json("sweep", plates, *BOTH.split(), *grid, *target, "-o", "swept")
    assert [each["parameters"].get("strength") for each in content["maps"]] == [
        None,
        {"batch": 0.3, "plate": 0.5},
        {"batch": 0.9, "plate": 0.5},
    ]
    assert all("mixing (plate)" in each for each in content["maps"])
    best = content["suggested"]
    if best["parameters"]["method"] == "joint":
        assert "--labels batch plate" in best["command"]
        assert "--strength batch=" in best["command"]
    table = pd.read_csv("swept/table.csv")
    assert {"mixing (batch)", "mixing (plate)"} <= set(table)


def test_the_suggested_command_makes_its_map(plates: str, run_json: RunJson, run: Run) -> None:
    import shlex

    grid = "--methods joint --strengths batch=1 plate=0.5"
    content = run_json(f"sweep cells.csv {BOTH} {grid} --mixing 0 -o swept")
    assert content["suggested"]["parameters"] == {"method": "tsne"}
    from ctsne.cli.sweep import embed_command
    from ctsne.sweep import load_sweep

    swept = load_sweep("swept").maps[1]
    command = shlex.split(embed_command(swept, plates, content["settings"]))
    run(*command[1:])
    model = read_map("map.csv").embedding
    assert model.shape == swept.embedding.shape
    assert read_record("map.csv").parameters["strength"] == {"batch": 1.0, "plate": 0.5}


def test_the_sweep_prints_and_draws_each_column(plates: str, run: Run) -> None:
    grid = "--methods joint --strengths 0.3 0.9"
    text = run(f"sweep cells.csv {BOTH} {grid} --mixing 0.1 -o swept")
    head = text.splitlines()[0]
    assert "mixing of batch" in head and "mixing of plate" in head
    run("report swept -o page.html")
    assert "mixing of plate" in Path("page.html").read_text()


# ---- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--strength batch=0.5", "strength must give a number for every label column"),
        ("--strength batch=0.5 plat=1", "'plat', not one of the label columns"),
        ("--mixing batch=0.5 plat=1", "'plat', not one of the label columns"),
        ("--mixing batch=0.5", "mixing must give a number for every label column"),
        ("--mixing batch=0.5 plate=3", "mixing"),
        ("--other plate", "--other: 'plate' is already the label to factor out"),
        ("--labels batch batch", "--labels names 'batch' twice"),
        ("--labels batch type plate cell", "at most 3"),
        ("--labels batch plat", "no column 'plat'"),
    ],
)
def test_refused_in_one_line(words: str, message: str, plates: str, fail: Run) -> None:
    before = sorted(Path().iterdir())
    assert message in fail("embed", plates, *BOTH.split(), *words.split(), "-o", "map.csv")
    if words.split()[0] != "--strength":
        assert message in fail("sweep", plates, *BOTH.split(), *words.split(), "-o", "swept")
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a=1 0.5", "column=number,... for each column, got 'a=1 0.5'"),
        ("a=1 a=2", "names 'a' twice"),
        ("a=1,x", "must be a number, got 'x'"),
        ("a=", "must be a number, got ''"),
    ],
)
def test_numbers_by_column(texts: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        per_column(texts.split())
    assert per_column(["0.5", "1"]) == [0.5, 1.0]
    assert per_column(["a=0.5,1", "b=0"]) == {"a": [0.5, 1.0], "b": [0.0]}


def test_a_folder_of_the_combination_is_not_continued(plates: str, run: Run, fail: Run) -> None:
    grid = "--methods joint --strengths 0.5 -o swept"
    run(f"sweep cells.csv {BOTH} --combine {grid}")
    message = fail(f"sweep cells.csv {BOTH} {grid}")
    assert "swept holds a sweep of other labels (batch | plate)" in message


def test_columns_with_one_value(plates: str, frame: pd.DataFrame, quick: list[str]) -> None:
    frame.assign(lab="same").to_csv(plates, index=False)
    assert main(["embed", plates, "--labels", "batch", "lab", "-o", "map.csv", *quick]) == 0
    alone = ["embed", plates, "--labels", "batch", "--other", "lab", "-o", "alone.csv", *quick]
    assert main(alone) == 0
    made = [read_map(name).embedding for name in ("map.csv", "alone.csv")]
    np.testing.assert_array_equal(*made)


def test_several_labels_to_look_for(plates: str, run: Run, run_json: RunJson, fail: Run) -> None:
    made = run_json("embed cells.csv --labels batch --other type plate -o map.csv")["measures"]
    both = {"other_mixing (type)", "other_mixing (plate)"}
    assert both <= set(made) and "other_mixing" not in made
    rows = run_json("evaluate map.csv --other plate type")["measures"]
    mixed = {row["label"]: row["value"] for row in rows if row["measure"] == "mixing"}
    assert {f"other_mixing ({name})" for name in mixed} > both
    assert all(mixed[name] == made[f"other_mixing ({name})"] for name in ("type", "plate"))
    grid = "--methods balanced --strengths 0 1 --mixing 0"
    for first, second in (("type", "plate"), ("plate", "type")):
        out = f"by-{first}"
        swept = run_json(f"sweep cells.csv --labels batch --other {first} {second} -o {out} {grid}")
        assert first in swept["reason"] and second not in swept["reason"]
        assert f"mixing of {second}" in run(f"report {out} -o page.html")
    assert "names 'type' twice" in fail("embed cells.csv --labels batch --other type type -o m.csv")
