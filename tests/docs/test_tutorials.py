"""The tutorials run without warnings, their statements are true, and the site shows them.

Each notebook runs once, both for the tests of its statements and for the site.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
MADE = ("_build", "_generated", "__pycache__")


def load_builder() -> Any:
    spec = spec_from_file_location("notebook_builder", FOLDER / "build.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILDER = load_builder()


# An expression of each notebook's variables that the tests check.
FACTS = {
    "from_file_to_decision": """{
        "counts": cells.groupby(["cell_type", "lab"]).size().unstack(fill_value=0).to_dict(),
        "best": best.title,
        "tsne": result.find(method="tsne")[0].measures,
        "chosen": best.measures,
        "strongest": strongest.measures,
        "types": {" / ".join(name): column for name, column in types.to_dict().items()},
        "dominated": float(dominated),
        "value": table[table["measure"] == "adjusted_rnx"]["value"].item(),
    }""",
    "single_cells": """{
        "counts": pd.crosstab(adata.obs["type"], adata.obs["dividing"])["dividing"].to_dict(),
        "mixing": {name: mixing_in("tsne", name) for name in ("phase", "type")},
        "suggested": [best.title, suggested.map.title],
        "measures": [
            each.measures
            for each in (result.find(method="tsne")[0], best, *result.find(strength=1))
        ],
        "found": found.T.to_numpy().tolist(),
    }""",
    "explore_digits": """{
        "order": order.to_dict(),
        "mixing": [
            laplacian(each.embedding_, digit, k=30) / expected_laplacian(digit)
            for each in (first, second)
        ],
    }""",
}


class Executed(NamedTuple):
    notebook: Any
    facts: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Executed]:
    """Run a notebook once for all tests, with a temporary last cell that prints the facts."""

    @cache
    def run(name: str) -> Executed:
        folder = tmp_path_factory.mktemp(name)
        notebook = BUILDER.build(name)
        imports = "import json\nfrom ctsne.evaluate.mixing import expected_laplacian, laplacian\n"
        probe = nbformat.v4.new_code_cell(f"{imports}print(json.dumps({FACTS[name]}))")
        notebook.cells.append(probe)
        BUILDER.execute(notebook, folder)
        notebook.cells.pop()
        return Executed(notebook, json.loads(probe.outputs[-1].text), folder)

    return run


def outputs(notebook: Any) -> list[Any]:
    return [each for cell in notebook.cells if cell.cell_type == "code" for each in cell.outputs]


def check_shown(notebook: Any, *, pictures: int) -> None:
    shown = outputs(notebook)
    assert not [each.text for each in shown if each.get("name") == "stderr"]
    assert sum("image/png" in each.get("data", {}) for each in shown) == pictures


@pytest.mark.parametrize("name", BUILDER.SCRIPTS)
def test_the_same_script_gives_the_same_notebook(name: str) -> None:
    notebook = BUILDER.build(name)
    assert nbformat.writes(notebook) == nbformat.writes(BUILDER.build(name))
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds[0] == "markdown" and notebook.cells[0].source.startswith("# ")
    assert "noqa: B018" not in notebook.cells[0].source
    for cell in notebook.cells:
        assert cell.source.strip()
        if cell.cell_type == "code":
            compile(cell.source, name, "exec")
        else:
            assert not any(line.startswith("# %") for line in cell.source.splitlines())


def test_every_script_is_built() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py")} - {"build"}
    assert scripts == set(BUILDER.SCRIPTS)


def test_the_builder_writes_the_files(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder"
    subprocess.run(
        [sys.executable, str(FOLDER / "build.py"), str(target)],
        check=True,
        capture_output=True,
        timeout=1800,
    )
    for name in BUILDER.SCRIPTS:
        nbformat.validate(nbformat.read(target / f"{name}.ipynb", as_version=4))


@pytest.mark.slow
def test_from_a_file_to_a_decision(executed: Callable[[str], Executed]) -> None:
    notebook, facts, folder = executed("from_file_to_decision")
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == 11
    check_shown(notebook, pictures=4)
    assert facts["counts"]["lab 1"]["NK cell"] == 0 < facts["counts"]["lab 2"]["NK cell"]
    tsne, chosen, strongest = facts["tsne"], facts["chosen"], facts["strongest"]
    assert tsne["mixing"] < 0.05
    assert chosen["mixing"] >= 0.8 and strongest["mixing"] > 0.7
    assert 0.15 < 1 - chosen["adjusted_rnx"] / tsne["adjusted_rnx"] < 0.35
    assert facts["value"] == pytest.approx(chosen["adjusted_rnx"], abs=0.02)
    assert facts["dominated"] < 0.02
    types = facts["types"]
    best = facts["best"]
    for shared in ("T cell", "B cell", "monocyte"):
        assert types["t-SNE / other lab"][shared] < 0.05
        assert types[f"{best} / other lab"][shared] >= 0.23
        assert types[f"{best} / other type"][shared] < 0.05
    weak, strong = (
        types[f"{title} / other lab"]["NK cell"] for title in (best, "revised, beta 1e-08")
    )
    assert weak < 0.15 and strong > 2.5 * weak
    assert types["revised, beta 1e-08 / other type"]["NK cell"] >= strong
    table = (folder / "map.csv").read_text().splitlines()
    assert len(table) == 1201 and table[0] == "lab,cell_type,x,y"
    assert (folder / "sweep.npz").stat().st_size > 0
    assert "NK cell" in (folder / "report.html").read_text()


@pytest.mark.slow
def test_single_cells(executed: Callable[[str], Executed]) -> None:
    notebook, facts, folder = executed("single_cells")
    check_shown(notebook, pictures=3)
    assert facts["counts"].pop("CD14+ Monocyte") == 0 and min(facts["counts"].values()) > 0
    assert facts["mixing"]["phase"] > 0.8 and facts["mixing"]["type"] < 0.35
    assert all(title.endswith("strength 0.2, align mutual") for title in facts["suggested"])
    tsne, chosen, *strongest = facts["measures"]
    assert tsne["mixing"] + 0.15 < chosen["mixing"] >= 0.5
    assert chosen["other_mixing"] < tsne["other_mixing"] - 0.1
    for each in strongest:
        assert each["adjusted_rnx"] < 0.8 * tsne["adjusted_rnx"]
        assert each["other_mixing"] > chosen["other_mixing"]
    for chance, in_the_data, in_tsne, in_the_map in facts["found"]:
        assert chance < 0.1 < in_tsne < in_the_data < in_the_map
    _, in_the_data, in_tsne, in_the_map = facts["found"][1]
    assert 0.45 < in_the_data < 0.55 and 0.25 < in_tsne < 0.4 and in_the_map > 0.68
    assert {"cells.h5ad", "page.html", "with-map.h5ad"} <= {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_explore_digits(executed: Callable[[str], Executed]) -> None:
    notebook, facts, _ = executed("explore_digits")
    check_shown(notebook, pictures=6)
    assert facts["mixing"][0] < 0.1 and facts["mixing"][1] > 0.9
    first, second, third = facts["order"].values()
    assert all(second[name] > first[name] + 0.15 for name in first)
    assert min(second["slant"], second["width"], second["ink to the right"]) > 0.4
    assert second["ink in all"] == min(second.values())
    assert abs(third["slant"]) < 0.15 and third["width"] < second["width"]
    assert max(third, key=third.__getitem__) == "ink to the right" and max(third.values()) > 0.45


@pytest.mark.slow
def test_the_site_builds_without_warnings_or_broken_links(
    executed: Callable[[str], Executed], tmp_path: Path
) -> None:
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    for name in BUILDER.SCRIPTS:
        nbformat.write(executed(name).notebook, notebooks / f"{name}.ipynb")
    # Built from a copy, as a build writes its generated pages beside the others.
    for entry in ROOT.iterdir():
        if entry.name == "docs":
            shutil.copytree(entry, tmp_path / "docs", ignore=shutil.ignore_patterns(*MADE))
        elif not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    site = tmp_path / "site"
    sphinx = [sys.executable, "-P", "-m", "sphinx", "-q", "-W", "-n", "--keep-going"]
    built = subprocess.run(
        [*sphinx, str(tmp_path / "docs"), str(site)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "CTSNE_TUTORIALS": os.fspath(notebooks)},
        timeout=1800,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    for page in ("start", "method", "strength", "measures", "limits", "_generated/commands"):
        assert (site / f"{page}.html").is_file()
    for name in BUILDER.SCRIPTS:
        shown = (site / "_generated" / f"{name}.html").read_text()
        assert shown.count('class="cell_output') >= 5


def test_what_to_install_is_said() -> None:
    program = (
        f"import runpy, sys; sys.modules['nbformat'] = None; runpy.run_path({BUILDER.__file__!r})"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "pip install nbformat nbclient ipykernel" in done.stderr
