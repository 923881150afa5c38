"""The code on the pages and in the README: Python runs as it stands, commands are understood."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn import config_context

from ctsne.cli.main import main, make_parser
from ctsne.datasets import make_synthetic

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _code(page: Path, language: str) -> list[str]:
    return [code for name, code in _BLOCK.findall(page.read_text()) if name == language]


def _commands(page: Path) -> list[str]:
    lines = "".join(_code(page, "")).replace("\\\n", " ").splitlines()
    return [line.split("  #")[0].strip() for line in lines if line.startswith("ctsne ")]


WITH_PYTHON = [page for page in PAGES if _code(page, "python")]
COMMANDS = [(page.name, line) for page in PAGES for line in _commands(page)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Go to a folder with the files that the pages speak of."""
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    data = make_synthetic(300, random_state=0)
    names = [f"cell{i}" for i in range(300)]
    labels = {"batch": data.known, "cell_type": data.hidden}
    table = pandas.DataFrame(data.X, names, [f"PC{i}" for i in range(1, 11)]).assign(**labels)
    table.to_csv(tmp_path / "cells.csv")
    adata = anndata.AnnData(data.X.astype("float32"), pandas.DataFrame(labels, names))
    adata.obsm["X_pca"] = adata.X.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.chdir(tmp_path)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield tmp_path
    pyplot.close("all")


def test_links_of_the_readme_lead_somewhere() -> None:
    """Sphinx checks the links of all pages of the site, which the README is not."""
    for link in re.findall(r"\]\((?!https)([^)]+)\)", (ROOT / "README.md").read_text()):
        name, _, place = link.partition("#")
        target = ROOT / (name or "README.md")
        assert target.exists(), link
        headings = re.findall("^#+ (.+)$", target.read_text(), re.M) if place else []
        assert not place or place in [title.lower().replace(" ", "-") for title in headings], link


def test_pages_have_code_of_both_kinds() -> None:
    assert {"README.md", "start.md", "strength.md"} <= {page.name for page in WITH_PYTHON}
    assert {"start.md", "strength.md"} <= {name for name, _ in COMMANDS}


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_on_a_page_runs(page: Path, folder: Path) -> None:
    program = folder / "page.py"
    program.write_text("\n".join(_code(page, "python")))
    if page.name == "scaling.md":  # its worker processes import the program
        subprocess.run(
            [sys.executable, "-P", program], check=True, capture_output=True, timeout=600
        )
        return
    with warnings.catch_warnings(), config_context():  # which a page may change
        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda value: value)
def test_command_lines_are_understood(page: str, line: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == "ctsne"
    make_parser().parse_args(arguments)  # ends the process if it does not understand


@pytest.mark.slow
def test_commands_of_the_first_page_do_what_it_says(folder: Path) -> None:
    for line in _commands(ROOT / "docs" / "start.md"):
        assert main(shlex.split(line)[1:]) == 0
    made = {"map.csv", "map.png", "page.html"}
    assert made <= {file.name for file in folder.iterdir()}
