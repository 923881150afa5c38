"""``ctsne cite``: references, and a paragraph about how an output was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

import ctsne
from ctsne import tl
from ctsne.cli.references import ORIGINAL, REVISED, TSNE, Reference, software
from ctsne.evaluate import mixing
from ctsne.io import read_map

ROOT = Path(__file__).parents[2]
Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]
SHORT = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20}


@pytest.fixture
def made(
    cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson, quick: list[str]
) -> Callable[..., dict[str, Any]]:
    """Make a map with some options and describe it."""
    frame.assign(plate=[f"p{i}" for i in frame["plate"]]).to_csv(cells, index=False)

    def describe(*options: str, output: str = "map.csv", cited: str = "") -> dict[str, Any]:
        run("embed", cells, "-o", output, "-q", *quick, *options)
        return run_json("cite", cited or output)

    return describe


def test_how_to_cite(run: Run) -> None:
    text = run("cite")
    for reference in (REVISED, ORIGINAL, software(version("ctsne"))):
        assert reference.text() in " ".join(text.split())
    assert run("cite", "--bibtex").count("\n@") == 2


def test_the_papers_are_those_of_the_citation_file() -> None:
    content = pytest.importorskip("yaml").safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    papers = [content["preferred-citation"], *content["references"]]
    for reference, paper in zip((REVISED, ORIGINAL), papers, strict=True):
        authors = [(each["family-names"], each["given-names"]) for each in paper["authors"]]
        assert authors == list(reference.authors)
        assert (paper["title"], paper["doi"]) == (reference.title, reference.doi)
        assert str(paper["year"]) == reference.year
        pages = f"{paper['start']}-{paper['end']}"
        assert f"{paper['volume']}, {pages} ({paper['year']})" in reference.where
        assert reference.fields["pages"].replace("--", "-") == pages
        assert reference.fields["volume"] == str(paper["volume"])
    own = software(content["version"])
    assert own.title == content["title"]
    assert [name for name, _ in own.authors] == [each["name"] for each in content["authors"]]


@pytest.mark.parametrize("reference", [REVISED, ORIGINAL, TSNE, software("1.0")])
def test_bibtex_is_ascii_with_balanced_braces(reference: Reference) -> None:
    entry = reference.bibtex()
    assert entry.isascii() and entry.count("{") == entry.count("}")
    assert entry.startswith(f"@{reference.kind}{{{reference.key},\n") and entry.endswith("}")


def test_accents_are_those_of_latex() -> None:
    assert r"Garc{\'i}a Garc{\'i}a, Dar{\'i}o" in ORIGINAL.bibtex()


@pytest.mark.parametrize(
    ("method", "knob", "papers"),
    [
        ("joint", "(strength 0.6, on a scale from 0 to 1)", ["kang2021", "heiter2023"]),
        ("revised", "(beta 0.0001, with the perplexity set after", ["kang2021", "heiter2023"]),
        ("balanced", "(strength 1, on a scale from 0 to 1)", ["kang2021", "heiter2023"]),
        ("original", "(beta 0.1)", ["kang2021"]),
    ],
)
def test_every_method(method: str, knob: str, papers: list[str], made: RunJson) -> None:
    content = made("--labels", "batch", "--method", method)
    text = content["text"]
    assert "map of 120 points was computed by conditional t-SNE (Kang et al. 2021" in text
    assert ("; Heiter et al. 2023) with" in text) == (len(papers) > 1)
    assert f"with ctsne {version('ctsne')}." in text
    assert f'The known label "batch" (2 values) was factored out with the method {method}, ' in text
    assert knob in text and "perplexity was 8" in text and "40 iterations, the first 20" in text
    assert "seed" not in text and "compared" not in text
    entries = [line for line in content["bibtex"].splitlines() if line.startswith("@")]
    assert len(entries) == len(papers) + 1
    assert all(paper in entry for paper, entry in zip(papers, entries, strict=False))


def test_tsne(made: RunJson) -> None:
    content = made("--method", "tsne")
    assert "computed by t-SNE (van der Maaten and Hinton 2008)" in content["text"]
    assert "conditional" not in content["text"] and "factored" not in content["text"]
    assert len(content["references"]) == 2


def test_mixing_is_that_of_the_map(made: RunJson) -> None:
    text = made("--labels", "batch", "--mixing", "0.5")["text"]
    found = read_map("map.csv")
    share = mixing(found.embedding, found.columns["batch"])
    assert "The strength was found by a search for a mixing of 0.5, as a share of random" in text
    assert f'30 nearest neighbours was {share:.2f} for "batch"' in text
    assert "(strength" not in text  # a map does not record what was found


def test_a_model_knows_what_was_found(made: RunJson) -> None:
    arguments = ("--labels", "batch", "--mixing", "0.5", "--model", "m.ctsne", "--align", "auto")
    text = made(*arguments, cited="m.ctsne")["text"]
    model = ctsne.load("m.ctsne")
    assert f"(strength {model.strength_:.3g}, on" in text
    assert "The features were 10 columns [describe them]. Distances were Euclidean" in text
    assert model.diagnostics_.alignment in ("none", "mutual", "mean")
    assert "commutes" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--align", "mutual"], "compared after each label was shifted towards its mutual nearest"),
        (["--align", "local"], "averaged over the nearest paired points of its own label"),
        (["--align", "mean"], "compared after the mean of each label was removed"),
        (["--align", "auto"], "after the alignment of none, mutual and mean that commutes best"),
        (["--init", "random", "--seed", "7"], "random positions (seed 7)"),
        (["--init", "spectral"], "started from a spectral embedding"),
        (["--pca", "5"], "The features were [describe them], reduced to 5 principal components."),
        (["--pca", "none"], "The features were [describe them]. Distances"),
        (["--metric", "cosine"], "Distances were cosine"),
        (["--dimensions", "3"], "A three-dimensional map"),
        (["--odds", "3"], "The repulsion in the map was conditioned with odds of 3."),
        (
            ["--dof", "0.8", "--learning-rate", "100"],
            "with 0.8 degrees of freedom of the kernel in the map and a learning rate of 100.",
        ),
        (["--strength", "blue=0.5", "orange=1"], '(strength 0.5 for "blue" and 1 for "orange",'),
        (["--method", "revised", "--bandwidth", "p"], "with the perplexity set before"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_settings_that_matter(options: list[str], words: str, made: RunJson) -> None:
    assert words in made("--labels", "batch", *options)["text"]


def test_several_columns(made: RunJson) -> None:
    strengths = ("--strength", "batch=0.5", "plate=0.2")
    text = made("--labels", "batch", "plate", *strengths)["text"]
    assert 'The known labels "batch" (2 values) and "plate" (3 values) were factored out' in text
    assert '(strength 0.5 for "batch" and 0.2 for "plate", on a scale' in text
    assert ' for "batch" and ' in text.split("In the map, ")[1]
    text = made("--labels", "batch", "plate", "--combine", output="c.parquet")["text"]
    assert 'label of all combinations of "batch" and "plate" (6 values) was factored out' in text


def test_a_single_value_is_tsne(cells: str, run: Run, run_json: RunJson, quick: list[str]) -> None:
    pd.read_csv(cells).assign(batch="one").to_csv("one.csv", index=False)
    run("embed", "one.csv", "--labels", "batch", "-o", "map.csv", "-q", *quick)
    assert "computed by t-SNE" in run_json("cite", "map.csv")["text"]


def test_a_sweep(cells: str, run: Run, run_json: RunJson, quick: list[str]) -> None:
    grid = ["--methods", "joint", "revised", "--strengths", "0.5", "1", "--betas", "1e-4"]
    run("sweep", cells, "--labels", "batch", "-o", "out", "-q", *grid, *quick)
    text = run_json("cite", "out")["text"]
    assert 'how far to factor out the label "batch" (2 values), 4 maps of 120 points' in text
    assert "t-SNE; joint at strength 0.5 and 1; revised at beta 0.0001." in text
    assert "(adjusted R_NX). For a mixing of 0.5, the suggested map was " in text
    assert "Every map started from" in text


def test_placed_points(made: RunJson, run: Run, run_json: RunJson) -> None:
    made("--labels", "batch", "--model", "m.ctsne")
    run("transform", "m.ctsne", "cells.csv", "-o", "placed.csv", "-q")
    text = run_json("cite", "placed.csv")["text"]
    assert text.startswith("120 points were placed in a finished map (m.ctsne) with ctsne ")


@pytest.fixture
def adata(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> anndata.AnnData:
    monkeypatch.chdir(tmp_path)
    names = frame["cell"].to_numpy()
    obs = frame[["batch", "plate"]].set_index(names).astype("category")
    return anndata.AnnData(frame.filter(like="PC").to_numpy("float32"), obs=obs)


def test_a_map_made_in_python(adata: anndata.AnnData, run_json: RunJson) -> None:
    adata.obsm["X_other"] = adata.X.copy()
    start = np.random.default_rng(0).normal(size=(120, 2))
    tl.ctsne(adata, "batch", mixing=0.9, align="X_other", init=start, key_added="a", **SHORT)
    tl.ctsne(adata, ["batch", "plate"], strength={"batch": 0.5, "plate": 1}, key_added="b", **SHORT)
    adata.write_h5ad("cells.h5ad")
    text = run_json("cite", "cells.h5ad", "--key", "a")["text"]
    assert f"(strength {adata.uns['a']['results']['strength']:.3g}, on a scale" in text
    assert 'compared in the representation "X_other".' in text
    assert "started from given positions [describe them]" in text
    assert f"with ctsne {ctsne.__version__}." in text
    text = run_json("cite", "cells.h5ad", "--key", "X_b")["text"]
    assert '(strength 0.5 for "batch" and 1 for "plate", on' in text


def test_a_model_made_in_python(adata: anndata.AnnData, run_json: RunJson) -> None:
    model = ctsne.ConditionalTSNE(align=adata.X.copy(), init="random", **SHORT)
    model.fit(adata.X, labels=adata.obs["batch"].to_numpy()).save("m.ctsne")
    text = run_json("cite", "m.ctsne")["text"]
    assert "The known label [name of the label] (2 values) was factored out" in text
    assert "compared in another representation [describe it]" in text
    assert "started from random positions and" in text
    model.fit(adata.X, labels=adata.obs["batch"]).save("m.ctsne")
    assert 'The known label "batch" (2 values)' in run_json("cite", "m.ctsne")["text"]
    assert run_json("info", "m.ctsne")["labels"].startswith("batch: 2 labels (")


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".npy", ".h5ad"])
def test_every_format(suffix: str, made: RunJson) -> None:
    text = made("--labels", "batch", output=f"map{suffix}")["text"]
    assert 'The known label "batch" ' in text
    assert ("In the map, the mixing" in text) == (suffix != ".npy")  # which holds no labels


def test_records_of_strangers_are_checked(
    made: RunJson, adata: anndata.AnnData, fail: Run, run_json: RunJson
) -> None:
    made("--labels", "batch")
    record = json.loads(Path("map.csv.json").read_text())
    for name, value in {"method": "magic", "n_iter": "many", "strength": [1, 2]}.items():
        changed = {**record, "settings": {**record["settings"], name: value}}
        Path("map.csv.json").write_text(json.dumps(changed))
        assert "the settings stored in map.csv cannot be read" in fail("cite", "map.csv")
    long = {**record, "versions": {"ctsne": "1\n" * 500, "python": "\x1b[31m"}}
    Path("map.csv.json").write_text(json.dumps(long))
    assert len(run_json("cite", "map.csv")["text"]) < 1500
    tl.ctsne(adata, "batch", **SHORT)
    adata.write_h5ad("cells.h5ad")
    for name, value in {"method": "magic", "perplexity": "x", "strength": {"a": 1}}.items():
        with h5py.File("cells.h5ad", "r+") as file:
            params = file["uns/ctsne/params"]
            kept = params.pop(name, None) if name in params else None
            if isinstance(value, dict):
                params.create_group(name).create_dataset("a", data=1)
            else:
                params[name] = value
            assert kept is None or name in params
        line = fail("cite", "cells.h5ad")
        assert "cells.h5ad" in line and len(line) < 300


def test_what_cannot_be_described(
    made: RunJson, fail: Run, run: Run, quick: list[str], cells: str
) -> None:
    made("--labels", "batch", "--plot", "map.png")
    assert "there is no missing.csv" in fail("cite", "missing.csv")
    assert "map.png shows maps; name the map, model or sweep folder" in fail("cite", "map.png")
    assert "has no record of how it was made" in fail("cite", cells)
    Path("empty").mkdir()
    assert "empty holds no finished sweep" in fail("cite", "empty")
