"""``ctsne cite``: references, and a paragraph about how an output was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

import ctsne
from ctsne import tl
from ctsne.cli.cite import ORIGINAL, REVISED, TSNE, Reference, software

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]
ROOT = Path(__file__).parents[2]
SHORT = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20}


@pytest.fixture
def describe(cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson) -> Run:
    """Make a map with some options and return the paragraph about it, or about its model."""
    frame.assign(plate=[f"p{i}" for i in frame["plate"]]).to_csv(cells, index=False)

    def text(options: str, output: str = "map.csv", cited: str = "") -> str:
        labels = "" if "--labels" in options or "--method tsne" in options else "--labels batch"
        run(f"embed cells.csv {labels} --n-iter 40 --perplexity 8 -o {output} -q {options}")
        return str(run_json(f"cite {cited or output}")["text"])

    return text


def test_how_to_cite(run: Run) -> None:
    text = " ".join(run("cite").split())
    for reference in (REVISED, ORIGINAL, software(version("ctsne"))):
        assert reference.text in text
    assert run("cite --bibtex").count("\n@") == 2


def test_the_papers_are_those_of_the_citation_file() -> None:
    content = pytest.importorskip("yaml").safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    papers = [content["preferred-citation"], *content["references"]]
    for reference, paper in zip((REVISED, ORIGINAL), papers, strict=True):
        names = [f"{each['given-names']} {each['family-names']}" for each in paper["authors"]]
        assert reference.text.startswith(f"{', '.join(names)}. {paper['title']}. ")
        pages = f"{paper['start']}-{paper['end']}"
        assert f"{paper['volume']}, {pages} ({paper['year']})" in reference.text
        facts = (paper["title"], paper["doi"], paper["year"], pages.replace("-", "--"))
        for fact in (*facts, paper["volume"]):
            assert f"{{{fact}}}" in reference.bibtex
        assert reference.cited == f"{paper['authors'][0]['family-names']} et al. {paper['year']}"
    own = software(content["version"])
    assert own.text.startswith(f"{content['authors'][0]['name']}. {content['title']}. ")


@pytest.mark.parametrize("reference", [REVISED, ORIGINAL, TSNE, software("1.0")])
def test_bibtex_is_ascii_with_balanced_braces(reference: Reference) -> None:
    entry = reference.bibtex
    assert entry.isascii() and entry.count("{") == entry.count("}")
    assert entry.startswith("@") and entry.endswith("\n}")


@pytest.mark.parametrize(
    ("method", "knob", "papers"),
    [
        ("joint", "(strength 0.7, on a scale from 0 to 1)", ["kang2021", "heiter2023"]),
        ("revised", "(beta 0.0001)", ["kang2021", "heiter2023"]),
        ("balanced", "(strength 1, on a scale from 0 to 1)", ["kang2021", "heiter2023"]),
        ("original", "(beta 0.1)", ["kang2021"]),
    ],
)
def test_every_method(
    method: str, knob: str, papers: list[str], describe: Run, run_json: RunJson
) -> None:
    text = describe(f"--method {method}")
    assert "map of 120 points in 2 dimensions was computed by conditional t-SNE (Kang" in text
    assert f"with ctsne {version('ctsne')}, python" in text
    assert f'The known label "batch" was factored out with the method {method}, ' in text
    assert knob in text and "perplexity was 8" in text and "optimised in 40 iterations" in text
    assert "seed" not in text and "Further settings" not in text
    assert ("compared after each point was shifted" in text) == (method == "joint")
    content = run_json("cite map.csv")
    entries = [line for line in content["bibtex"].splitlines() if line.startswith("@")]
    assert len(entries) == len(content["references"]) == len(papers) + 1
    assert all(paper in entry for paper, entry in zip(papers, entries, strict=False))


@pytest.mark.parametrize("options", ["--method tsne", "--labels one"])
def test_without_labels_to_factor_out_it_is_tsne(options: str, describe: Run, cells: str) -> None:
    pd.read_csv(cells).assign(one="x").to_csv(cells, index=False)
    text = describe(options)
    assert "computed by t-SNE (van der Maaten and Hinton 2008)" in text
    assert "conditional" not in text and "factored" not in text


@pytest.mark.parametrize("cited", ["map.csv", "m.ctsne"])
def test_what_a_search_has_found(cited: str, describe: Run) -> None:
    text = describe("--mixing 0.5 --align auto --model m.ctsne", cited=cited)
    model = ctsne.load("m.ctsne")
    assert f"(strength {model.strength_:.3g}, on" in text
    assert "The strength was found by a search for 0.5 of random mixing" in text
    assert "10 numeric columns [describe them]. Distances were euclidean" in text
    assert model.diagnostics_.alignment in ("none", "mutual", "mean") and "commutes" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--align mutual", "compared after each label was shifted towards its mutual nearest"),
        ("--align local", "compared after each point was shifted"),
        ("--align mean", "compared after the mean of each label was removed"),
        ("--init random --seed 7", "random positions (seed 7)"),
        ("--init spectral", "started from a spectral embedding"),
        ("--pca 5", "[describe them], reduced to 5 principal components."),
        ("--pca none", "[describe them]. Distances"),
        ("--metric cosine", "Distances were cosine"),
        ("--dimensions 3", "in 3 dimensions"),
        ("--odds 3", "differ from the defaults of ctsne: odds 3."),
        ("--dof 0.8 --learning-rate 100", "ctsne: learning_rate 100 and dof 0.8."),
        ("--strength blue=0.5 orange=1", '(strength 0.5 for "blue" and 1 for "orange",'),
        ("--method revised --bandwidth p", "ctsne: bandwidth p."),
        ("--labels batch plate", '"batch" and "plate" were factored out'),
        ("--labels batch plate --combine", 'combinations of "batch" and "plate" was'),
    ],
)
def test_settings_that_matter(options: str, words: str, describe: Run) -> None:
    assert words in describe(options)


def test_placed_points_are_refused(describe: Run, run: Run, fail: Run) -> None:
    describe("--model m.ctsne")
    run("transform m.ctsne cells.csv -o placed.csv -q")
    assert "placed.csv is not a map of ctsne embed" in fail("cite placed.csv")


@pytest.fixture
def adata(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> anndata.AnnData:
    monkeypatch.chdir(tmp_path)
    names = frame["cell"].to_numpy()
    obs = frame[["batch", "plate"]].set_index(names).astype("category")
    return anndata.AnnData(frame.filter(like="PC").to_numpy("float32"), obs=obs)


def test_maps_made_in_python(adata: anndata.AnnData, run_json: RunJson) -> None:
    adata.obsm["X_other"] = adata.X.copy()
    start = np.random.default_rng(0).normal(size=(120, 2))
    tl.ctsne(adata, "batch", strength=0.5, align="X_other", init=start, key_added="a", **SHORT)
    tl.ctsne(adata, ["batch", "plate"], strength={"batch": 0.5, "plate": 1}, key_added="b", **SHORT)
    adata.write_h5ad("cells.h5ad")
    text = run_json("cite cells.h5ad --key a")["text"]
    assert "(strength " in text and 'compared in the representation "X_other".' in text
    assert "started from given positions [describe them]" in text
    assert f"with ctsne {ctsne.__version__}, " in text
    text = run_json("cite cells.h5ad --key X_b")["text"]
    assert '(strength 0.5 for "batch" and 1 for "plate", on' in text


def test_a_model_made_in_python(adata: anndata.AnnData, run_json: RunJson) -> None:
    model = ctsne.ConditionalTSNE(align=adata.X.copy(), init="random", **SHORT)
    model.fit(adata.X, labels=adata.obs["batch"]).save("m.ctsne")
    text = run_json("cite m.ctsne")["text"]
    assert 'The known label "batch" was factored out' in text
    assert 'compared in the representation "[describe it]"' in text
    assert "started from random positions (seed None) and" in text
    assert run_json("info m.ctsne")["map"]["labels"].startswith("batch: 2 labels (")


@pytest.mark.parametrize("suffix", [".parquet", ".h5ad"])
def test_every_format(suffix: str, describe: Run) -> None:
    text = describe("--labels batch", output=f"map{suffix}")
    assert 'The known label "batch" ' in text


def test_records_of_strangers_are_checked(describe: Run, fail: Run, run_json: RunJson) -> None:
    describe("--labels batch")
    record = json.loads(Path("map.csv.json").read_text())
    for name, value in {"method": "magic", "n_iter": "many", "pca": {"array": [2]}}.items():
        changed = {**record, "parameters": {**record["parameters"], name: value}}
        Path("map.csv.json").write_text(json.dumps(changed))
        if name == "method":
            assert "map.csv was made with an unknown method, 'magic'" in fail("cite map.csv")
        else:  # only shown
            assert run_json("cite map.csv")["text"]
    long = {**record, "versions": {"ctsne": "1\n" * 500, "python": "\x1b[31m"}}
    Path("map.csv.json").write_text(json.dumps(long))
    assert len(run_json("cite map.csv")["text"]) < 1500


def test_what_cannot_be_described(cells: str, fail: Run) -> None:
    Path("map.png").touch()
    Path("empty").mkdir()
    assert "there is no file missing.csv" in fail("cite missing.csv")
    assert "cannot read map.png" in fail("cite map.png")
    assert "has no record of how it was made" in fail("cite cells.csv")
    assert "empty is not the folder of a sweep" in fail("cite empty")
