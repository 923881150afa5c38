"""``ctsne evaluate``: the measures of a map, from what it knows of its data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne.evaluate import evaluate
from ctsne.io import read_map

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture
def made(after: Callable[..., None]) -> str:
    after("embed cells.csv --labels batch -o map.csv --pca 5")
    return "map.csv"


def test_measures_are_those_of_the_library(
    made: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    content = run_json("evaluate map.csv --other type -k 10 20")
    X = frame.filter(like="PC").to_numpy()
    found = {(row["measure"], row["label"], row["k"]): row["value"] for row in content["measures"]}
    for k in (10, 20):
        table = evaluate(
            read_map(made).embedding, X, frame["batch"], other=frame["type"], k=k, pca=5
        ).astype({"k": int})
        for row in table.itertuples():
            label = None if pd.isna(row.label) else row.label
            assert found[row.measure, label, row.k] == pytest.approx(row.value), row.measure
    # The area over all k is there once.
    assert [row["measure"] for row in content["measures"]].count("adjusted_rnx_area") == 1


@pytest.mark.parametrize("kind", ["cosine", "precomputed", "sparse", "graph", "aligned", "tsne"])
def test_measures_are_those_that_embed_reports(
    kind: str,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_json: RunJson,
    quick: list[str],
) -> None:
    import scipy.sparse as sp
    from scipy.spatial.distance import cdist

    monkeypatch.chdir(tmp_path)
    X = frame.filter(like="PC").to_numpy()
    frame[["batch", "type"]].to_csv("labels.csv", index=False)
    words = ["--label-file", "labels.csv", "-o", "map.csv", *quick]
    words += ["--method", "tsne"] if kind == "tsne" else ["--labels", "batch", "--other", "type"]
    if kind in ("precomputed", "graph"):
        X = cdist(X, X)
        words += ["--metric", "precomputed", "--init", "random"]
    words += {"cosine": ["--metric", "cosine"], "aligned": ["--align", "mean"]}.get(kind, [])
    if kind in ("sparse", "graph"):
        sp.save_npz("X.npz", sp.csr_array(np.where(np.median(X) < X, X, 0)))
    else:
        np.save("X.npy", X)
    name = "X.npz" if kind in ("sparse", "graph") else "X.npy"
    reported = run_json("embed", name, *words)["measures"]
    other = [] if kind == "tsne" else ["--other", "type"]
    rows = run_json("evaluate", "map.csv", *other)["measures"]
    compared = 0
    for row in rows:
        prefix = "other_" if row["label"] == "type" else ""
        measure = prefix + row["measure"]
        if measure in reported:
            assert row["value"] == reported[measure], measure
            compared += 1
    assert compared == {"tsne": 1, "precomputed": 8, "graph": 8}.get(kind, 10)
    assert (reported["rnx"] is None) == (kind == "graph")


def test_a_table_to_read_and_to_keep(made: str, run: Run) -> None:
    text = run("evaluate map.csv --labels type -o measures.csv")
    assert text.splitlines()[0].split() == ["measure", "label", "k", "value", "expected", "points"]
    assert any(line.split()[:2] == ["laplacian", "type"] for line in text.splitlines())
    kept = pd.read_csv("measures.csv")
    assert len(kept) == len(text.splitlines()) - 2


def test_data_that_have_moved(made: str, run: Run, fail: Run) -> None:
    Path("cells.csv").rename("moved.csv")
    assert "was made from cells.csv" in fail("evaluate map.csv")
    assert "--data FILE" in fail("evaluate map.csv")
    run("evaluate map.csv --data moved.csv")


def test_data_that_have_changed(made: str, frame: pd.DataFrame, fail: Run) -> None:
    frame["PC1"] += 1
    frame.drop(columns="plate").to_csv("cells.csv", index=False)
    assert "cells.csv has changed" in fail("evaluate map.csv")


@pytest.mark.parametrize("command", ["evaluate map.csv", "plot map.csv --before-after -o new.png"])
def test_stored_settings_that_do_not_suit_the_data(command: str, made: str, fail: Run) -> None:
    file = Path("map.csv.json")
    record = json.loads(file.read_text())
    record["options"]["index"] = "absent"
    file.write_text(json.dumps(record))
    message = fail(command)
    assert "map.csv is not a map of these data: --index: no column 'absent'" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("cells.csv", "not a map"),
        ("mapp.csv", "did you mean map.csv?"),
        ("map.csv --other typ", "did you mean 'type'?"),
        ("map.csv --other batch", "'batch' is already the label to factor out"),
        ("map.csv -o table.doc", "must end in one of .csv, .tsv"),
        ("map.csv -k 500", "k must be"),
        ("map.csv --standard", "--standard needs --other"),
        ("map.csv -o map.csv", "would replace the input map.csv"),
        ("map.csv -o cells.csv", "would replace the input cells.csv"),
    ],
)
def test_what_cannot_work(arguments: str, message: str, made: str, fail: Run) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert message in fail(f"evaluate {arguments}")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_labels_that_were_features(
    cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson
) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    run("embed cells.csv --labels batch -o map.csv")
    for labels, name in ((["plate"], "plate"), (["plate", "type"], "plate | type")):
        rows = run_json("evaluate", "map.csv", "--labels", *labels)["measures"]
        assert ("laplacian", name) in {(row["measure"], row["label"]) for row in rows}


def test_a_map_without_its_settings(made: str, fail: Run) -> None:
    Path("map.csv.json").unlink()
    assert "no record of how it was made: map.csv.json is missing" in fail("evaluate map.csv")
    assert np.isfinite(read_map(made).embedding).all()


@pytest.fixture
def others(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with maps and a representation that ctsne did not make."""
    import anndata

    monkeypatch.chdir(tmp_path)
    X = frame.filter(like="PC").to_numpy()
    adata = anndata.AnnData(X, obs=frame[["batch", "type"]].set_axis(frame["cell"]))
    adata.obsm.update({"X_pca": X, "X_umap": X[:, :2], "scvi": X[:, :7]})
    adata.write_h5ad("cells.h5ad")
    return "cells.h5ad"


@pytest.mark.parametrize(("key", "columns"), [("umap", 2), ("X_umap", 2), ("scvi", 7)])
def test_any_entry_of_obsm_is_measured(
    key: str, columns: int, others: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    words = ["--key", key, "--labels", "batch", "--other", "type"]
    content = run_json("evaluate", others, *words)
    X = frame.filter(like="PC").to_numpy()
    expected = evaluate(X[:, :columns].astype(np.float32), X, frame["batch"], other=frame["type"])
    found = [row["value"] for row in content["measures"]]
    assert found == pytest.approx(expected["value"].tolist())
    assert {row["label"] for row in content["measures"]} == {"batch", "type", None}


def test_maps_of_others_that_cannot_be_measured(others: str, fail: Run) -> None:
    assert "'X_pca', 'X_umap', 'scvi'" in fail(f"evaluate {others}").replace('"', "'")
    assert "did you mean 'X_umap'?" in fail(f"evaluate {others} --key umpa")
    assert "no column 'bach'" in fail(f"evaluate {others} --key umap --labels bach")
    assert "--standard needs --labels" in fail(
        f"evaluate {others} --key umap --other type --standard"
    )


@pytest.mark.slow
def test_standard_measures_of_a_map(others: str, run_json: RunJson, run: Run) -> None:
    pytest.importorskip("scib_metrics")
    words = f"evaluate {others} --key umap --labels batch --other type --standard -k 10 20"
    rows = {row["measure"]: row for row in run_json(*words.split())["measures"]}
    assert {"value", "tsne", "data"} <= rows["scib_total"].keys()
    assert rows["scib_bio_conservation"]["label"] == "type"
    assert rows["scib_kbet"]["label"] == "batch"
    # Once, whatever the number of neighbourhood sizes.
    assert run(words).count("scib_total") == 1
