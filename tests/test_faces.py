"""Every face reports the same measures of the same map: one measuring path for all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne._core.vocabulary import MEASURES
from ctsne.cli.main import main
from ctsne.evaluate import adjusted_rnx, data_neighbors, evaluate, measure_map
from ctsne.sweep import load_sweep, sweep

N = 150
RNG = np.random.default_rng(0)
BATCH, KIND = RNG.choice(["u", "v", "w"], N), RNG.choice(["p", "q"], N)
CENTRES = 3.0 * (BATCH == "u")[:, None] + 4.0 * (KIND == "p")[:, None] * [1, -1, 1, 1, -1]
FEATURES = 5.0 + RNG.normal(size=(N, 5)) * [3, 2, 1, 1, 1] + CENTRES
SPARSE = sp.random_array((N, 80), density=0.2, random_state=RNG).tocsr() + sp.csr_array(
    np.hstack([0.3 * (BATCH == "u")[:, None], 0.5 * (KIND == "p")[:, None], np.zeros((N, 78))])
)
WIDE = RNG.normal(size=(N, 80)) + 2.0 * (KIND == "p")[:, None] + 9.0
DISTANCES = np.abs(FEATURES[:, None] - FEATURES[None]).sum(axis=2)  # not those of the features

# Every metric, and every kind of input in memory.
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "dense": (FEATURES, {}),
    "dense, cosine": (FEATURES, {"metric": "cosine"}),
    "dense, three components": (FEATURES, {"pca": 3}),
    "data frame": (pd.DataFrame(FEATURES), {}),
    "80 columns": (WIDE, {}),
    "80 columns, cosine": (WIDE, {"metric": "cosine"}),
    "80 columns, not reduced": (WIDE, {"pca": None}),
    "sparse": (SPARSE, {}),
    "sparse, cosine": (SPARSE, {"metric": "cosine"}),
    "distances": (DISTANCES, {"metric": "precomputed", "init": "spectral"}),
    "aligned": (FEATURES, {"align": "mean"}),
    "aligned, cosine": (FEATURES, {"align": "mutual", "metric": "cosine"}),
}
QUICK: dict[str, Any] = {
    "perplexity": 8,
    "n_iter": 40,
    "early_exaggeration_iter": 20,
    "random_state": 0,
    "align": "none",
}
HOW = ("metric", "pca", "align")


def fitted(case: str) -> ConditionalTSNE:
    X, parameters = CASES[case]
    return ConditionalTSNE(**{**QUICK, **parameters}).fit(X, labels=BATCH)


def measures_of(model: ConditionalTSNE, X: Any) -> dict[str, float]:
    """Measure a map by the object that all faces ask."""
    how = {name: getattr(model, name) for name in HOW}
    return measure_map(model.embedding_, data_neighbors(X, BATCH, **how), other=KIND)


def in_table(table: pd.DataFrame, other: str) -> dict[str, float]:
    """Return measures of a table under the names of measure_map."""
    return {
        f"other_{row.measure}" if row.label == other else row.measure: row.value
        for row in table.itertuples()
        if not row.measure.endswith("_area")
    }


def agree(found: dict[str, Any], expected: dict[str, float]) -> None:
    """Compare all standard measures; the faces may add more."""
    assert set(expected) <= set(MEASURES)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert all(math.isfinite(value) for value in expected.values())


@pytest.mark.parametrize("case", CASES)
def test_evaluate(case: str) -> None:
    X, model = CASES[case][0], fitted(case)
    expected = measures_of(model, X)
    assert ("aligned_rnx" in expected) == ("align" in CASES[case][1])
    how = {name: getattr(model, name) for name in HOW}
    table = evaluate(model.embedding_, X, BATCH, other=KIND, **how)
    agree(in_table(table, "other"), expected)


@pytest.mark.parametrize("case", CASES)
def test_sweep(case: str, tmp_path: Path) -> None:
    X, model = CASES[case][0], fitted(case)
    grid = {"strength": [model.strength_, 0]}
    result = sweep(
        X, BATCH, grid, other=KIND, estimator=model, folder=tmp_path, progress=False, n_jobs=1
    )
    agree(result.maps[0].measures, measures_of(model, X))
    assert load_sweep(tmp_path).maps[0].measures == result.maps[0].measures


def test_the_metric_matters_in_these_cases() -> None:
    """The comparison could not fail if all metrics kept the same neighbours."""
    embedding = fitted("dense").embedding_
    kept = [
        measure_map(embedding, data_neighbors(X, BATCH, metric=metric))["adjusted_rnx"]
        for X, metric in (
            (FEATURES, "euclidean"),
            (FEATURES, "cosine"),
            (DISTANCES, "precomputed"),
            (DISTANCES, "euclidean"),
        )
    ]
    assert len({round(value, 4) for value in kept}) == 4
    wide = fitted("80 columns").embedding_
    reduced, whole = (
        measure_map(wide, data_neighbors(WIDE, BATCH, pca=pca))["adjusted_rnx"]
        for pca in ("auto", None)
    )
    assert abs(reduced - whole) > 0.0005


def test_single_measures_reduce_features_too() -> None:
    for case in ("80 columns", "sparse"):
        X, model = CASES[case][0], fitted(case)
        kept = measures_of(model, X)["adjusted_rnx"]
        assert adjusted_rnx(model.embedding_, X, BATCH) == pytest.approx(kept, abs=1e-12)


def test_a_graph_does_not_hold_all_neighbours() -> None:
    graph = sp.csr_array(np.where(np.quantile(DISTANCES, 0.3) > DISTANCES, DISTANCES, 0.0))
    data = data_neighbors(graph, BATCH, metric="precomputed")
    assert not data.complete
    embedding = fitted("dense").embedding_
    measures = measure_map(embedding, data, other=KIND)
    expected = measure_map(embedding, data_neighbors(FEATURES, BATCH), other=KIND)
    assert measures.keys() == expected.keys() - {"other_rnx_within"}
    unknown = {name for name, value in measures.items() if math.isnan(value)}
    assert unknown == {"adjusted_rnx", "rnx", "adjusted_jaccard"}
    assert all(measures[name] == expected[name] for name in measures.keys() - unknown)
    table = evaluate(embedding, graph, BATCH, metric="precomputed").set_index("measure").value
    assert math.isnan(table["adjusted_rnx_area"]) and table["mixing"] == measures["mixing"]
    with pytest.raises(ValueError, match="sparse graph of distances, which does not hold all"):
        adjusted_rnx(embedding, data)


@pytest.mark.parametrize(
    "case", ["dense", "dense, cosine", "80 columns", "sparse", "sparse, cosine", "aligned"]
)
def test_anndata(case: str) -> None:
    anndata = pytest.importorskip("anndata")
    from ctsne import tl

    X, parameters = CASES[case]
    adata = anndata.AnnData(sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X))
    adata.obs["batch"], adata.obs["kind"] = BATCH, KIND
    tl.ctsne(adata, "batch", **{**QUICK, **parameters})
    model = fitted(case)
    np.testing.assert_array_equal(adata.obsm["X_ctsne"], model.embedding_)
    table = tl.evaluate(adata, "batch", other="kind")
    agree(in_table(table, "kind"), measures_of(model, X))
    grid = {"strength": [model.strength_]}
    (swept,) = tl.sweep(adata, "batch", grid, other="kind", estimator=model, progress=False).maps
    agree(swept.measures, measures_of(model, X))


def write_csv(X: Any, path: str) -> str:
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame.assign(batch=BATCH, kind=KIND).to_csv(f"{path}.csv", index=False)
    return f"{path}.csv"


def write_npz(X: Any, path: str) -> str:
    np.savez(f"{path}.npz", X=X, batch=BATCH, kind=KIND)
    return f"{path}.npz"


def write_h5ad(X: Any, path: str) -> str:
    anndata = pytest.importorskip("anndata")
    frame = pd.DataFrame({"batch": BATCH, "kind": KIND}, index=[f"c{i}" for i in range(N)])
    whole = anndata.AnnData(sp.csr_matrix(X) if sp.issparse(X) else X, obs=frame)
    whole.write_h5ad(f"{path}.h5ad")
    return f"{path}.h5ad"


@pytest.mark.parametrize(
    ("case", "write"),
    [
        ("dense", write_csv),
        ("dense", write_npz),
        ("dense", write_h5ad),
        ("dense, cosine", write_csv),
        ("dense, cosine", write_h5ad),
        ("dense, three components", write_csv),
        ("80 columns", write_csv),
        ("80 columns", write_npz),
        ("80 columns", write_h5ad),
        ("80 columns, cosine", write_npz),
        ("80 columns, not reduced", write_csv),
        ("sparse", write_h5ad),
        ("sparse, cosine", write_h5ad),
        ("distances", write_npz),
        ("distances", write_csv),
        ("aligned", write_csv),
        ("aligned, cosine", write_npz),
    ],
)
def test_command_line(
    case: str,
    write: Callable[[Any, str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    X, parameters = CASES[case]
    file = write(X, "cells")

    def run(*arguments: str) -> dict[str, Any]:
        code = main([*arguments, "--json"])
        out, err = capsys.readouterr()
        assert code == 0, err
        content: dict[str, Any] = json.loads(out)
        return content

    quick = [
        text
        for name, value in QUICK.items()
        if name not in parameters
        if name != "random_state"
        for text in ("--" + name.replace("_", "-"), str(value))
    ]
    how = [
        text
        for name, value in parameters.items()
        for text in (f"--{name}", "none" if value is None else str(value))
    ]
    labels = ["--labels", "batch", "--other", "kind"]
    made = run("embed", file, *labels, "-o", "map.csv", *quick, *how)
    model = fitted(case)
    expected = measures_of(model, X)
    agree(made["measures"], expected)
    rows = run("evaluate", "map.csv", "--other", "kind")["measures"]
    agree(in_table(pd.DataFrame(rows), "kind"), expected)
    strength = ["--methods", "joint", "--strengths", str(model.strength_)]
    swept = run("sweep", file, *labels, *strength, "-o", "out", *quick, *how)
    assert swept["maps"][1]["parameters"]["method"] == "joint"
    agree(swept["maps"][1], expected)
