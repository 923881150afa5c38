"""``ctsne report``: a page from a sweep, or from data in one command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctsne.cli.main import main
from ctsne.sweep import load_sweep, worker

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

GRID = "--methods balanced --strengths 0 1"


def part_of(page: str, name: str) -> Any:
    """Return a part of the data of a page."""
    found = re.search(rf'id="ctsne-{name}">(.*?)</script>', Path(page).read_text("utf-8"))
    assert found is not None
    return json.loads(found[1])


def parts(page: str) -> list[tuple[bytes, bytes]]:
    """Return all that a page shows, except how it was made."""
    content = Path(page).read_bytes()
    found = re.findall(rb'<script[^>]*\bid="ctsne-([^"]*)"[^>]*>(.*?)</script>', content, re.DOTALL)
    return [part for part in found if part[0] != b"provenance"]


def test_a_page_of_a_sweep_and_of_data_are_the_same(cells: str, run: Run) -> None:
    data = f"--labels batch type {GRID}"
    for folder in ("a", "b"):
        Path(folder).mkdir()
    run(f"sweep cells.csv {data} -o out")
    text = run("report out -o a/page.html")
    size = Path("a/page.html").stat().st_size
    made = f"3 maps of 120 points, {size / 1e3:.0f} kB"
    assert f"page: a/page.html ({made}); open it in a browser" in text
    run(f"report cells.csv {data} -o b/page.html --keep kept")
    first, second = part_of("a/page.html", "provenance"), part_of("b/page.html", "provenance")
    assert first.pop("command") == "ctsne report out -o a/page.html"
    assert second.pop("command").startswith("ctsne report cells.csv --labels batch type -o b/page.")
    assert first == second and first["inputs"][0]["file"] == "../cells.csv"
    assert parts("a/page.html") == parts("b/page.html") and len(parts("a/page.html")) > 3
    assert Path("kept/sweep.npz").read_bytes() == Path("out/sweep.npz").read_bytes()


def test_a_page_of_a_sweep_replaces_any_file_with_force(
    cells: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run(f"sweep {cells} --labels batch --methods joint --strengths 1 -o swept")
    Path("page.html").write_text("of another program")
    assert main(["report", "swept", "-o", "page.html"]) == 1
    assert "was not written by ctsne" in capsys.readouterr().err
    run("report swept -o page.html --force")
    assert "ctsne-facts" in Path("page.html").read_text("utf-8")


def test_the_page_asks_for_the_mixing_of_the_sweep(cells: str, run: Run) -> None:
    run(f"sweep cells.csv --labels batch --mixing 0.3 -o out {GRID}")
    run("report out -o page.html")
    assert part_of("page.html", "facts")["targets"] == [["mixing", 0.3]]


def test_the_commands_on_the_page_make_its_maps(
    cells: str, run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = "--methods joint revised --strengths 1 --betas 1e-4"
    more = f"--seed 3 --bandwidth p --label-file cells.csv {grid}"
    run(f"sweep cells.csv --labels batch -o out {more}")
    Path("sub").mkdir()
    run("report out -o sub/page.html")
    maps, commands = load_sweep("out/sweep.npz").maps, part_of("sub/page.html", "commands")
    monkeypatch.chdir("sub")
    assert len(commands) == 3
    for swept, command, setting in zip(
        maps, commands, ["--method tsne", "--strength 1", "--bandwidth p"], strict=True
    ):
        assert command.startswith("ctsne embed ../cells.csv --labels batch")
        assert setting in command and ("--bandwidth" in command) == (setting == "--bandwidth p")
        made = run_json(*shlex.split(command)[1:])
        assert made["measures"]["kl_divergence"] == pytest.approx(swept.measures["kl_divergence"])


def test_features_to_colour_by_travel_with_the_sweep(
    cells: str, run: Run, run_json: RunJson
) -> None:
    show = f"--labels batch --show PC3 'PC1*' --informative 0 {GRID}"
    text = run(f"report cells.csv {show} -o page.html --keep kept")
    assert "3 features to colour by add 0 kB" in text
    columns = part_of("page.html", "facts")["columns"]
    genes = [each["name"] for each in columns if each["group"] == "gene"]
    assert genes == ["PC3", "PC1", "PC10"]
    assert run_json("report kept -o again.html")["features"] == genes
    assert parts("again.html") == parts("page.html")
    assert "--show PC3 'PC1*'" in part_of("page.html", "provenance")["command"]
    run(f"sweep cells.csv --labels batch --informative 0 {GRID} -o kept")
    assert run_json("report kept -o again.html")["features"] == []


def test_pages_have_the_most_informative_features(cells: str, run: Run, run_json: RunJson) -> None:
    made = run_json(f"report cells.csv --labels batch --show PC9 --informative 3 {GRID} -o a.html")
    assert len(made["features"]) == 4 and made["features"][0] == "PC9"
    text = run("embed cells.csv --labels batch --n-iter 20 -o map.csv --page map.html --show PC9")
    assert "10 features to colour by add 2 kB" in text
    facts = part_of("map.html", "facts")
    names = [each["name"] for each in facts["columns"] if each["group"] == "gene"]
    assert names[0] == "PC9" and sorted(names) == sorted(f"PC{i}" for i in range(1, 11))
    assert facts["neighbors"] == 10 == part_of("a.html", "facts")["neighbors"]


def test_features_need_a_page(cells: str, fail: Run) -> None:
    command = "embed cells.csv --labels batch -o map.csv"
    assert "--show needs a page: add --page FILE" in fail(f"{command} --show PC1")
    assert "must be a whole number from 0 to 200" in fail(f"{command} --informative 201", code=2)


def test_features_are_resolved_before_any_work(
    cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_make", None)
    command = "report cells.csv --labels batch -o page.html"
    assert "--show: no feature 'pc3' in cells.csv; did you mean 'PC3'?" in fail(
        f"{command} --show pc3"
    )
    assert not Path("page.html").exists()


def test_json(cells: str, run: Run, run_json: RunJson) -> None:
    run(f"sweep cells.csv --labels batch -o out {GRID}")
    content = run_json("report out -o page.html --title Mine")
    assert content["output"] == "page.html"
    assert content["bytes"] == Path("page.html").stat().st_size
    assert "--title Mine" in part_of("page.html", "provenance")["command"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "cells.csv -o page.html",
            "--labels COLUMN is missing: name the label to factor out. Columns that could be",
        ),
        ("cells.csv --labels batch -o page.pdf", "must end in .html"),
        ("cells.csv --labels batch -o p.html --keep .", "holds other files"),
        (
            "cells.csv --labels batch --dimensions 3 -o page.html",
            "a page can only show maps of one or two dimensions",
        ),
        ("own.html --labels batch -o own.html", "would replace the input own.html"),
        ("empty -o page.html", "holds no finished sweep"),
        ("empty --labels batch -o page.html", "--labels has no effect on a fin"),
        ("empty --perplexity 5 --pca 3 -o p.html", "--perplexity, --pca have"),
        ("emptyy -o page.html --labels a", "there is no file emptyy"),
        ("emptyy -o page.html", "there is no file emptyy; did you mean empty?"),
    ],
)
def test_what_cannot_work(
    arguments: str, message: str, cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(worker, "_make", never)
    Path("empty").mkdir()
    Path("own.html").write_text("seed = 1\n")
    assert message in fail(f"report {arguments}")


def test_ctrl_c_says_how_to_keep_maps(
    cells: str, monkeypatch: pytest.MonkeyPatch, fail: Run
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_make", stop)
    command = "report cells.csv --labels batch -o page.html --jobs 1"
    said = "interrupted: nothing was written; --keep FOLDER would keep finished maps"
    assert said in fail(command, code=130)
    said = "interrupted: before the first map was finished"
    assert said in fail(f"{command} --keep kept", code=130)
    assert not Path("page.html").exists()
