"""A label has one colour in every picture and page of a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import matplotlib
import numpy as np
import pandas as pd
import pytest

from ctsne import pl
from ctsne.cli.files import with_colors
from ctsne.io import read_map

Run = Callable[..., str]
OWN = {"a": "#112233", "b": "#445566", "c": "#778899"}


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    """An .h5ad file whose batches have colours that scanpy stored, and whose types have none."""
    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {
            "batch": pd.Categorical(rng.choice(list("abc"), 60)),
            "type": pd.Categorical(rng.choice(["T", "B"], 60)),
        },
        index=[f"cell {number}" for number in range(60)],
    )
    adata = anndata.AnnData(rng.normal(size=(60, 5)), obs=obs)
    adata.uns["batch_colors"] = list(OWN.values())
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def page_colors(page: Path) -> dict[str, dict[str, str]]:
    text = page.read_text("utf-8").split('id="ctsne-facts">')[1].split("</script>")[0]
    columns = [column for column in json.loads(text)["columns"] if column["kind"] == "labels"]
    return {
        column["name"]: dict(zip(column["labels"], column["colors"], strict=True))
        for column in columns
    }


def drawn_colors(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Collect the colours of every legend that is drawn."""
    found: list[dict[str, str]] = []
    embedding = pl.embedding

    def watched(*args: Any, **more: Any) -> Any:
        axes = embedding(*args, **more)
        for ax in np.atleast_1d(axes):
            legend = ax.get_legend()
            lines = zip(legend.get_texts(), legend.get_lines(), strict=True)
            found.append({text.get_text(): line.get_color() for text, line in lines})
        return axes

    monkeypatch.setattr(pl, "embedding", watched)
    return found


def small(*words: object) -> list[str]:
    return [*map(str, words), "--n-iter", "60", "--perplexity", "5", "-q"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_has_the_same_colours_everywhere(
    cells: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    matplotlib.use("Agg")
    drawn = drawn_colors(monkeypatch)
    made = {name: tmp_path / f"map.{name}" for name in ("h5ad", "parquet", "html", "png")}
    args = ["embed", cells, "--labels", "batch", "--other", "type", "--plot", made["png"]]
    run(*small(*args, "--page", made["html"], "-o", made["h5ad"]))
    run(*small(*args, "--force", "-o", made["parquet"]))
    types = pl.palette(anndata.read_h5ad(cells).obs["type"])
    by_type = {str(name): color for name, color in types.items()}
    assert page_colors(made["html"]) == {"batch": OWN, "type": by_type}
    for name in ("h5ad", "parquet"):
        run("plot", str(made[name]), "-o", str(tmp_path / f"{name}.png"), "-q")
    lower = {name: color.lower() for name, color in by_type.items()}
    assert len(drawn) == 8 and drawn[::2] == [OWN] * 4 and drawn[1::2] == [lower] * 4
    # Stored as scanpy does, so a subset has them too.
    adata = anndata.read_h5ad(made["h5ad"])
    assert list(adata.uns["type_colors"]) == [
        types[name] for name in adata.obs["type"].cat.categories
    ]
    some = adata[adata.obs["batch"].isin(["a", "c"])].copy()
    assert pl_colors(some, "batch") == {"a": OWN["a"], "c": OWN["c"]}


def pl_colors(adata: Any, column: str) -> dict[str, str]:
    legend = pl.embedding(adata, column).get_legend()
    lines = zip(legend.get_texts(), legend.get_lines(), strict=True)
    return {text.get_text(): line.get_color() for text, line in lines}


def test_a_sweep_keeps_the_colours_of_its_file(cells: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "page.html"
    args = ["report", cells, "--labels", "batch", "--other", "type", "--methods", "joint"]
    run(*small(*args, "--strengths", "1", "--keep", tmp_path / "kept", "-o", page))
    again = tmp_path / "again.html"
    run("report", str(tmp_path / "kept"), "-o", str(again), "-q")
    assert page_colors(page)["batch"] == page_colors(again)["batch"] == OWN


def test_drawing_stores_colours_as_scanpy_does(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    adata.obsm["X_ctsne"] = np.random.default_rng(0).normal(size=(60, 2))
    colors = pl_colors(adata, "type")
    stored = dict(zip(adata.obs["type"].cat.categories, adata.uns["type_colors"], strict=True))
    assert {name: color.lower() for name, color in stored.items()} == colors
    assert list(adata.uns["batch_colors"]) == list(OWN.values())
    view = adata[:30]
    del adata.uns["type_colors"]
    pl_colors(view, "type")
    assert view.is_view and "type_colors" not in adata.uns


def test_colours_of_a_page_colour_pictures(
    cells: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = drawn_colors(monkeypatch)
    run(*small("embed", cells, "--labels", "batch", "-o", tmp_path / "map.csv"))
    chosen = {"batch": {"a": "#aa0000", "b": "#00aa00", "c": "#0000aa"}, "donor": {"x": "#123456"}}
    palette = tmp_path / "colors.json"
    palette.write_text(json.dumps(chosen))
    plot = ["plot", str(tmp_path / "map.csv"), "--color", "batch", "-q", "--palette"]
    run(*plot, str(palette), "-o", str(tmp_path / "map.png"))
    run(*plot, "tab10", "-o", str(tmp_path / "map.png"))
    assert drawn == [chosen["batch"], {"a": "#1f77b4", "b": "#ff7f0e", "c": "#2ca02c"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a file of colours"),
        ("[]", "has no colours for 'batch'"),
        ('{"donor": {}}', "has no colours for 'batch'"),
        ('{"batch": {"a": "#aa0000"}}', "no colour for 'b'"),
        ('{"batch": {"a": "red", "b": "blurple"}}', "got 'blurple' for 'b'"),
        ('{"batch": 3}', "palette must be a mapping"),
    ],
)
def test_bad_files_of_colours_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "colors.json"
    file.write_text(content)
    with pytest.raises((ValueError, TypeError), match=message):
        with_colors({"batch": pd.Series(["a", "b"])}, str(file))


@pytest.mark.parametrize("stored", [["red", "blue", "nonsense"], ["#112233"], [1, 2, 3]])
def test_other_colours_in_a_file_are_left_alone(cells: Path, tmp_path: Path, stored: Any) -> None:
    adata = anndata.read_h5ad(cells)
    adata.uns["batch_colors"] = np.array(stored)
    adata.obsm["X_ctsne"] = np.zeros((60, 2), np.float32)
    adata.write_h5ad(tmp_path / "odd.h5ad")
    column = read_map(tmp_path / "odd.h5ad").columns["batch"]
    assert pl.palette(column) == pl.palette(list(column))
