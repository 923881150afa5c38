"""``ctsne plot``: pictures of maps and sweeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne.cli import plot
from ctsne.cli.main import main
from ctsne.cli.plot import draw_map
from ctsne.io import read_map

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.fixture
def made(after: Callable[..., None]) -> str:
    after("embed cells.csv --labels batch type -o map.csv")
    return "map.csv"


@pytest.fixture
def swept(after: Callable[..., None]) -> str:
    grid = "--methods balanced revised --strengths 0 1 --betas 1 1e-6"
    after(f"sweep cells.csv --labels batch --other type -o out {grid}")
    return "out"


@pytest.mark.parametrize("suffix", STARTS)
def test_pictures_of_a_map_are_the_same_each_time(suffix: str, made: str, run: Run) -> None:
    name = f"map{suffix}"
    assert run("plot", made, "-o", name) == f"picture: {name}\n"
    first = Path(name).read_bytes()
    assert first.startswith(STARTS[suffix])
    run("plot", made, "-o", name)
    assert Path(name).read_bytes() == first
    assert f"ctsne plot map.csv -o {name}".encode() in first


def test_a_panel_for_each_colour(made: str, run_json: RunJson) -> None:
    import matplotlib.image

    one = run_json("plot map.csv -o one.png --color type --shape batch")
    assert one["settings"]["color"] == ["type"] and one["settings"]["shape"] == "batch"
    run_json("plot map.csv -o three.png --color type batch ctsne_perplexity")
    wide = matplotlib.image.imread("three.png").shape[1]
    assert wide > 2 * matplotlib.image.imread("one.png").shape[1]


def test_positions_alone_are_drawn_without_colour(
    cells: str, quick: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", cells, "--labels", "batch", "type", "-o", "map.csv", *quick]) == 0
    pd.read_csv("map.csv")[["ctsne_1", "ctsne_2"]].to_csv("map.csv", index=False)
    assert main(["plot", "map.csv", "-o", "map.png"]) == 0
    told = capsys.readouterr().err
    assert "map.csv has no column 'batch' to colour by; choose one with --color" in told
    assert Path("map.png").read_bytes().startswith(STARTS[".png"])


def test_three_dimensions_are_seen_from_one_side(
    cells: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("embed cells.csv --labels batch -o map.csv --dimensions 3")
    flat = read_map("map.csv").embedding[:, :2]
    drawn: list[Any] = []

    def draw(*arguments: Any, **options: Any) -> Any:
        drawn.append(draw_map(*arguments, **options))
        return drawn[0]

    monkeypatch.setattr(plot, "draw_map", draw)
    run("plot map.csv -o map.png")
    (points,) = drawn[0].axes[0].collections
    assert {*map(tuple, np.asarray(points.get_offsets()))} == {*map(tuple, flat.astype(float))}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("map.csv -o a.png --color tpye", "did you mean 'type'?"),
        ("map.csv -o a.png --shape tpye", "did you mean 'type'?"),
        (". -o a.png", "holds no finished sweep; make one"),
        ("map.csv -o a.gif", "must end in one of .png, .svg, .pdf"),
        ("cells.csv -o a.png", "not a map"),
        ("no.csv -o a.png", "there is no file no.csv"),
    ],
)
def test_what_cannot_work(arguments: str, message: str, made: str, fail: Run) -> None:
    assert message in fail(f"plot {arguments}")
    assert not list(Path().glob("*.png"))


def figure_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep the figures that are saved."""
    kept: list[Any] = []
    save = plot.save_picture

    def keep(figure: Any, *arguments: Any, **options: Any) -> None:
        kept.append([ax.get_title(loc="left") for ax in figure.axes])
        save(figure, *arguments, **options)

    monkeypatch.setattr(plot, "save_picture", keep)
    return kept


def test_the_label_to_look_for_is_drawn_beside(
    cells: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = figure_of(monkeypatch)
    known = "embed cells.csv --labels batch"
    run(f"{known} --other type -o a.csv --plot a.png")
    run(f"{known} -o b.csv --plot b.png")  # type is the only other label
    run("plot a.csv -o c.png")
    run("plot b.csv -o d.png")
    assert drawn == [["batch", "type"]] * 4
    run("plot a.csv -o e.png --color type")
    assert drawn[-1] == ["type"]


@pytest.mark.parametrize(("width", "mm"), [("single", 89), ("double", 183), ("120", 120)])
def test_the_width_for_print(width: str, mm: float, made: str, run: Run) -> None:
    import matplotlib.image

    run(f"plot map.csv -o map.png --width {width}")
    assert matplotlib.image.imread("map.png").shape[1] == pytest.approx(mm / 25.4 * 300, abs=1.5)
    run(f"plot map.csv -o map.svg --width {width}")
    text = Path("map.svg").read_text()
    points = float(text.split('width="')[1].split("pt")[0])
    assert points == pytest.approx(mm / 25.4 * 72, abs=0.1)
    assert ">batch</text>" in text and "<image" in text
    run(f"plot map.csv -o map.pdf --width {width}")
    assert b"/CIDFontType2" in Path("map.pdf").read_bytes()


def test_titles_legends_dots_and_pixels(
    made: str, run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.image

    kept: list[Any] = []
    save = plot.save_picture

    def keep(figure: Any, *arguments: Any, **options: Any) -> None:
        kept.append([figure, [ax.get_legend() is not None for ax in figure.axes]])
        save(figure, *arguments, **options)

    monkeypatch.setattr(plot, "save_picture", keep)
    look = "--title 'By batch' 'By type' --legend map --size 9 --dpi 100"
    content = run_json(f"plot map.csv --color batch type -o map.png {look}")
    assert content["settings"]["title"] == ["By batch", "By type"]
    figure, legends = kept.pop()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["By batch", "By type"]
    assert legends == [False, False] and all(ax.artists for ax in figure.axes)
    assert figure.axes[0].collections[0].get_sizes().tolist() == [9]
    small = matplotlib.image.imread("map.png").shape[1]
    assert b"--dpi 100" in Path("map.png").read_bytes()
    run(f"plot map.csv --color batch type -o map.png {look} --dpi 300")
    assert matplotlib.image.imread("map.png").shape[1] == pytest.approx(3 * small, abs=6)
    run("plot map.csv --color batch -o map.png --legend none")
    assert kept.pop()[1] == [False]
    run("plot map.csv --color batch -o map.png --legend both")
    assert kept.pop()[1] == [True]


def test_one_number_has_a_named_colour_bar(made: str, run: Run) -> None:
    run("plot map.csv --color ctsne_perplexity -o map.svg")
    text = Path("map.svg").read_text()
    assert text.count(">ctsne_perplexity</text>") == 2  # title and colour bar


def test_wrong_looks(made: str, fail: Run) -> None:
    told = fail("plot map.csv --color batch type --title one -o a.png")
    assert "title must hold one text per panel, 2, got 1" in told
    assert "size must be" in fail("plot map.csv -o a.png --size 0")
    assert "from 30 to 2400" in fail("plot map.csv -o a.png --dpi 3", code=2)
    assert "did you mean margin?" in fail("plot map.csv -o a.png --legend margn", code=2)
    assert not Path("a.png").exists()


def kept_figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep the titles, notes and number of points of the figures that are saved."""
    kept: list[Any] = []
    save = plot.save_picture

    def keep(figure: Any, *arguments: Any, **options: Any) -> None:
        axes = figure.axes
        notes = [[text.get_text() for text in ax.texts] for ax in axes]
        kept.append(([ax.get_title(loc="left") for ax in axes], notes))
        save(figure, *arguments, **options)

    monkeypatch.setattr(plot, "save_picture", keep)
    return kept


@pytest.fixture
def by_batch(after: Callable[..., None]) -> str:
    after("embed cells.csv --labels batch --other type -o map.csv")
    return "map.csv"


def test_before_and_after(
    by_batch: str, run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = kept_figures(monkeypatch)
    run("plot map.csv --before-after -o both.png")
    titles, notes = kept.pop()
    assert titles == ["t-SNE", "batch factored out", "", ""]
    # The same settings with method tsne give the map of before, and its measures.
    settings = "--perplexity 8 --n-iter 40 --early-exaggeration-iter 20"
    made = run_json(f"embed cells.csv --labels batch --method tsne -o tsne.csv {settings}")
    measures = [made["measures"], run_json("sweep", *SWEEP.split())["maps"][0]]
    for found in measures:
        mixed = f"mixing of batch {found['mixing']:.2f}"
        assert notes[2] == [f"{mixed}\nneighbours kept {found['adjusted_rnx']:.2f}"]
    assert notes[3][0] != notes[2][0]
    run("plot map.csv --before-after --color batch -o both.png")
    assert kept.pop()[0] == ["t-SNE", "batch factored out"]  # one row


SWEEP = "cells.csv --labels batch -o swept --methods joint --strengths 1"


def test_before_and_after_needs_the_data(by_batch: str, run: Run, fail: Run) -> None:
    Path("cells.csv").rename("moved.csv")
    told = fail("plot map.csv --before-after -o a.png")
    assert "there is no" in told and "--data FILE for evaluate and plot" in told
    run("plot map.csv --before-after --data moved.csv -o a.png")
    Path("a.png").unlink()
    Path("map.csv.json").unlink()
    told = fail("plot map.csv --before-after -o a.png")
    assert "is not a map by ctsne embed with a label factored out" in told
    assert not Path("a.png").exists()


def test_one_map_per_value(by_batch: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = kept_figures(monkeypatch)
    run("plot map.csv --split batch -o split.png")
    counts = pd.read_csv("cells.csv")["batch"].value_counts().sort_index()
    assert kept.pop()[0] == [f"{name} ({count})" for name, count in counts.items()]
    run("plot map.csv --split type --color batch -o split.svg")
    assert ">batch</text>" in Path("split.svg").read_text()


def test_a_sweep_is_drawn_as_a_strip(swept: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = kept_figures(monkeypatch)
    run("plot out -o strip.pdf --width double")
    titles, notes = kept.pop()
    assert titles[0] == "t-SNE" and 3 <= len([title for title in titles if title]) <= 4
    assert sum("suggested" in note for note in notes) == 1
    assert Path("out/maps.png").read_bytes().startswith(STARTS[".png"])
    files = sorted(file.name.rsplit("-", 1)[0] for file in Path("out").glob("map-*.npz"))
    assert files == [
        "map-balanced-strength-0",
        "map-balanced-strength-1",
        "map-revised-beta-1",
        "map-revised-beta-1e-06",
        "map-tsne",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("map.csv --split batch --before-after", "--before-after cannot be used with --split"),
        ("map.csv --split batch --legend map", "--legend cannot be used with --split"),
        ("map.csv --split bacth", "did you mean 'batch'?"),
        ("map.csv --split batch --color type batch", "name one column, or none"),
        ("map.csv --before-after --shape type", "--shape cannot be used with --before-after"),
        ("map.csv --data cells.csv", "--data cannot be used with a map"),
        ("out --color batch", "--color cannot be used with a sweep"),
    ],
)
def test_pictures_that_exclude_each_other(
    arguments: str, message: str, by_batch: str, fail: Run
) -> None:
    Path("out").mkdir()
    assert message in fail(f"plot {arguments} -o a.png")
    assert not Path("a.png").exists()


def test_a_wrong_width(made: str, fail: Run) -> None:
    told = fail("plot map.csv -o a.png --width dubble", code=2)
    assert "must be one of single, double, or a number in mm" in told and "double?" in told
    assert "a number of millimetres from 40" in fail("plot map.csv -o a.png --width 4")
    assert not Path("a.png").exists()
