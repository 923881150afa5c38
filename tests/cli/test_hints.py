"""What to do next: every command that is suggested can be typed, and works."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctsne.cli.info import missing_labels, report_command
from ctsne.cli.main import main, make_parser

Run = Callable[..., str]

NO_READING = dict.fromkeys(("label_file", "use_rep", "layer", "features", "index"), None)


def next_commands(text: str) -> list[list[str]]:
    """Return the commands that a result ends with."""
    lines = [line for line in text.splitlines() if line.startswith("next, ")]
    return [shlex.split(line.partition(": ")[2]) for line in lines]


def test_a_missing_label_names_the_columns(cells: str) -> None:
    options = Namespace(input=cells, **NO_READING)
    assert missing_labels(options) == (
        "--labels COLUMN is missing: name the label to factor out. "
        "Columns that could be labels: batch (2 values), type (3 values)"
    )
    options.input = "none.csv"  # is reported once the label is named
    assert missing_labels(options, ", or not").endswith("name the label to factor out, or not")


def test_no_column_could_be_a_label(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(20, 3)))
    options = Namespace(input=str(tmp_path / "X.npy"), **NO_READING)
    assert missing_labels(options).endswith("X.npy has no column that looks like a label")


def test_names_are_quoted() -> None:
    command = report_command("my cells.csv", {"labels": ["batch id"]}, "a b.html")
    assert command == "ctsne report 'my cells.csv' --labels 'batch id' -o 'a b.html'"


@pytest.mark.parametrize("output", ["my map.csv", "cells.csv.gz"])
def test_a_map_ends_with_commands_that_work(output: str, cells: str, run: Run) -> None:
    text = run(f"embed cells.csv --labels batch -o '{output}'")
    draw, beside, compare = next_commands(text)
    stem = output.partition(".")[0]
    assert draw[:2] == ["ctsne", "plot"] and draw[draw.index("-o") + 1] == f"{stem}.png"
    assert "--color" in draw
    assert main(draw[1:]) == 0 and Path(f"{stem}.png").is_file()
    assert "--before-after" in beside
    assert main(beside[1:]) == 0 and Path(f"{stem}-before-after.png").is_file()
    assert compare[:3] == ["ctsne", "report", cells] and "--perplexity" in compare
    assert make_parser().parse_args(compare[1:]).output == f"{stem}-strengths.html"


def test_what_was_asked_for_is_not_suggested_again(cells: str, run: Run) -> None:
    done = "--plot map.png --mixing 0.2"
    text = run(f"embed cells.csv --labels batch -o map.csv {done}")
    assert next_commands(text) == []
    for option in ("--quiet", "--json"):
        text = run("embed", cells, "--labels", "batch", "-o", "map.csv", option)
        assert next_commands(text) == []


def test_from_an_unknown_file_to_a_map(
    cells: str, frame: pd.DataFrame, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Type only what the step before suggests."""
    frame.assign(n_counts=np.arange(len(frame)) * 50).to_csv("my cells.csv", index=False)
    (report,) = next_commands(run("info 'my cells.csv'"))
    assert report[1:] == [
        "report",
        "my cells.csv",
        "--labels",
        "batch",
        "--other",
        "type",
        "-o",
        "my cells.html",
        "--features",
        "PC*",
    ]
    text = run(*report[1:], "--methods", "joint", "--mixing", "0.05")
    lines = [line.strip() for line in text.splitlines() if line.startswith("  ctsne embed")]
    text = run(*shlex.split(lines[0])[1:])
    assert text.startswith("map: map.csv (120 points; ")
    draw, *_ = next_commands(text)
    assert main(draw[1:]) == 0 and Path("map.png").is_file()
    assert capsys.readouterr().err.count("error") == 0


def test_what_follows_a_transform_without_labels_works(
    cells: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("embed cells.csv --labels batch -o map.csv --model model.ctsne")
    pd.read_csv(cells).drop(columns="batch").to_csv("new.csv", index=False)
    transform = "transform model.ctsne new.csv -o placed.csv"
    (draw,) = next_commands(run(transform))
    assert main(draw[1:]) == 0 and Path("placed.png").is_file()
    monkeypatch.setattr("ctsne.cli.transform.find_spec", lambda name: None)
    assert next_commands(run(transform)) == []  # nothing can be drawn without matplotlib


def test_too_few_iterations_are_reported(cells: str, tell: Run) -> None:
    command = "embed cells.csv --labels batch -o map.csv --n-iter"
    assert "--n-iter 10 leaves the map unfinished; use 750 or so" in tell(f"{command} 10")
    assert "unfinished" not in tell(f"{command} 300")
