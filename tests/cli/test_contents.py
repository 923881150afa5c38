"""What counts of an output when it is made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ctsne.cli.contents import content_of

GRID = ["--methods", "balanced", "--strengths", "0", "1"]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_count_by_what_they_show(
    suffix: str, cells: str, run: Callable[..., str], quick: list[str]
) -> None:
    Path("sub").mkdir()
    run("embed", cells, "--labels", "batch", "-o", "map.csv", *quick)
    contents = []
    for name, color in ((f"a{suffix}", "batch"), (f"sub/b{suffix}", "batch"), ("c.png", "type")):
        target = name.replace(".png", suffix)
        run("plot", "map.csv", "-o", target, "--color", color)
        contents.append(content_of(Path(target), key="ctsne"))
    assert Path(f"a{suffix}").read_bytes() != Path(f"sub/b{suffix}").read_bytes()
    assert contents[0] == contents[1] != contents[2]


def test_pages_count_by_their_data(cells: str, run: Callable[..., str], quick: list[str]) -> None:
    Path("sub").mkdir()
    run("sweep", cells, "--labels", "batch", "-o", "out", *GRID, *quick)
    contents = []
    for name, title in (("a.html", "x"), ("sub/other.html", "x"), ("c.html", "y")):
        run("report", "out", "-o", name, "--title", title)
        contents.append(content_of(Path(name), key="ctsne"))
    assert len(contents[0]) > 3
    assert contents[0] == contents[1] != contents[2]


def test_tables_count_by_their_cells(cells: str, run: Callable[..., str], quick: list[str]) -> None:
    run("embed", cells, "--labels", "batch", "-o", "map.csv", *quick)
    contents = []
    for name, k in (("a.csv", "10"), ("b.tsv", "10"), ("c.csv", "20")):
        run("evaluate", "map.csv", "-o", name, "-k", k)
        contents.append(content_of(Path(name), key="ctsne"))
    assert len(contents[0][0]) == 6
    assert contents[0] == contents[1] != contents[2]
