"""The programs that make pages from what the repository has."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from ctsne.cli.main import make_parser

Tool = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[2]


def test_reference_of_a_parser(tool: Tool) -> None:
    parser = argparse.ArgumentParser("prog", description="It works.")
    commands = parser.add_subparsers(title="commands")
    make = commands.add_parser("make", help="make <it>", epilog="examples:\n  prog make a|b")
    make.add_argument("--size", metavar="N", default=3, help="how *large* (default: %(default)s)")
    make.add_argument("--secret", help=argparse.SUPPRESS)
    page = tool("commands").page(parser)
    assert "It works." in page
    assert "| [`make`](#prog-make) | make \\<it\\> |" in page
    assert "| `--size N` | how \\*large\\* (default: 3) |" in page
    assert "**Examples**\n\n```text\nprog make a|b\n```" in page
    assert "--secret" not in page


def test_reference_has_every_option_of_every_command(tool: Tool) -> None:
    module = tool("commands")
    parser = make_parser()
    page = module.page(parser)
    for name, command in module.subcommands(parser).items():
        section = page.split(f"\n## ctsne {name}\n")[1].split("\n## ")[0]
        for action in command._actions:
            if action.help != argparse.SUPPRESS:
                assert all(f"{option}" in section for option in action.option_strings)


def test_every_public_module_has_a_page(tool: Tool, tmp_path: Path) -> None:
    module = tool("api_pages")
    module.write(tmp_path)
    overview = (tmp_path / "api.md").read_text()
    for name in {"ConditionalTSNE", "evaluate", "sweep", "tl", "pl", "report", "labels"}:
        assert name in overview
    for name in ("evaluate", "sweep", "tl", "pl", "report", "labels"):
        page = (tmp_path / f"api-{name}.md").read_text()
        assert all(f"   {each}\n" in page for each in import_module(f"ctsne.{name}").__all__)


def test_a_module_without_a_place_is_an_error(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tool("api_pages")
    monkeypatch.setattr(module, "GROUPS", {"All": ("evaluate",)})
    with pytest.raises(ValueError, match="no place for ctsne"):
        module.write(tmp_path)


def test_pages_of_the_root_lead_to_each_other(tool: Tool, tmp_path: Path) -> None:
    tool("root_pages").write(ROOT, tmp_path)
    assert "(changelog.md)" in (tmp_path / "contributing.md").read_text()
    assert (
        "(files/experiments/results/figure1.png)"
        in (tmp_path / "experiments-results.md").read_text()
    )
    assert (tmp_path / "files/experiments/results/figure1.png").is_file()


def test_a_link_of_the_root_that_leads_nowhere_is_an_error(tool: Tool, tmp_path: Path) -> None:
    module = tool("root_pages")
    with pytest.raises(FileNotFoundError):
        module._target("missing.csv", ROOT, ROOT, tmp_path)


def test_tables_of_speed_are_those_measured(tool: Tool, tmp_path: Path) -> None:
    results = ROOT / "benchmarks" / "results"
    tool("speed").write(results, tmp_path)
    run = json.loads((results / "maps-100000.json").read_text())
    seconds = {each["name"]: each["seconds"] for each in run["results"]}
    table = (tmp_path / "speed-sizes.txt").read_text()
    lines = table.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    (line,) = [line for line in lines if line.startswith("| 100,000")]
    assert f"{seconds['ctsne revised-r']:.2g} s" in line
    assert f"{seconds['openTSNE-FFT'] / seconds['ctsne revised-r']:.0f} |" in line
    assert run["command"] in table


def test_results_are_those_of_the_experiments(tool: Tool, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tool("results").write(ROOT, tmp_path)
    made = tmp_path / "results"
    section = (made / "figure1.txt").read_text()
    assert "`python experiments/run.py figure1` (" in section
    assert "(../_generated/files/experiments/results/figure1.png)" in section
    assert (tmp_path / "files/experiments/results/figure1.png").is_file()
    whole = (ROOT / "experiments" / "RESULTS.md").read_text()
    answers = sorted(made.glob("*-answer.txt"))
    assert len(answers) >= 7
    for answer in answers:
        for line in answer.read_text().splitlines():
            assert line.split("](")[0] in whole
    drawn = {file.stem for file in made.glob("*.png")}
    assert {"equal-mixing", "alignment", "private", "mixing", "clustering", "speed"} <= drawn


def test_every_figure_of_the_paper_is_listed(tool: Tool, tmp_path: Path) -> None:
    figures = tool("paper_figures")
    made = figures.table(ROOT / "experiments" / "results")
    assert made.count("\n") == 2 + 15
    for name in {experiment for _, experiment, _ in figures.FIGURES.values()}:
        assert (ROOT / "experiments" / f"{name}.py").is_file()
    # A section made from the file changes the state of its figures.
    assert figures.table(tmp_path).count("ready for the file;") == 10
    (tmp_path / "immune.md").write_text("## Immune\n")
    assert figures.table(tmp_path).count("computed from the file;") == 4


def test_pages_of_results_include_every_section(tool: Tool, tmp_path: Path) -> None:
    pages = [*(ROOT / "docs" / "results").glob("*.md"), ROOT / "docs" / "joint.md"]
    text = "".join(page.read_text() for page in pages)
    sections = {file.stem for file in (ROOT / "experiments" / "results").glob("*.md")}
    missing = [name for name in sections - {"constants"} if f"results/{name}.txt" not in text]
    assert not missing and "results/joint-answer.txt" in text
    overview = (ROOT / "docs" / "results.md").read_text()
    for page in (ROOT / "docs" / "results").glob("*.md"):
        assert overview.count(f"(results/{page.name})") == 1
        first = page.read_text().split("\n\n")[1]
        assert first.startswith("![")  # the picture comes first


def test_tables_of_pages_are_read(tool: Tool, tmp_path: Path) -> None:
    pictures = tool("result_pictures")
    page = tmp_path / "page.md"
    page.write_text("# T\n\n| a | b |\n| - | -: |\n| **x** | -.5 / .2 |\n| y | – |\n\ntext\n")
    (table,) = pictures.read_tables(page)
    assert table == [{"a": "x", "b": "-.5 / .2"}, {"a": "y", "b": "–"}]
    assert pictures.number("-.5 / .2") == -0.5 and pictures.number("[.62]") == 0.62
    assert pictures.number("–") != pictures.number("–")


def test_the_page_on_citing_has_a_paragraph(tool: Tool, tmp_path: Path) -> None:
    tool("citing").write(ROOT, tmp_path)
    assert (tmp_path / "citing-references.txt").read_text().count("> ") == 3
    assert (tmp_path / "citing-bibtex.txt").read_text().count("\n@") == 3
    text = (tmp_path / "citing-paragraph.txt").read_text()
    assert text.startswith("> A map of 600 points in 2 dimensions was computed by conditional")
    assert "found by a search for 0.7 of random mixing" in text
    assert (tmp_path / "files" / "CITATION.cff").is_file()
