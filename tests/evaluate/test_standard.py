"""The measures of scib-metrics: the figures of its own benchmark, and what it cannot take."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.evaluate import (
    data_neighbors,
    evaluate,
    map_neighbors,
    measure_map,
    standard_measures,
)

pytest.importorskip("scib_metrics")
pytestmark = pytest.mark.slow  # the libraries compile for half a minute


DATA = make_synthetic(400, random_state=0)
BATCH, KIND = np.asarray(DATA.known), np.asarray(DATA.hidden)
NAMES = {
    "Isolated labels": "isolated_labels",
    "KMeans NMI": "kmeans_nmi",
    "KMeans ARI": "kmeans_ari",
    "Silhouette label": "silhouette_label",
    "cLISI": "clisi",
    "BRAS": "bras",
    "iLISI": "ilisi",
    "KBET": "kbet",
    "Graph connectivity": "graph_connectivity",
    "Bio conservation": "bio_conservation",
    "Batch correction": "batch_correction",
    "Total": "total",
}


# The solver of kBET starts at random, and its scale makes rounding visible; the rest is exact.
NOISE = {"kbet": 0.1, "batch_correction": 0.025, "total": 0.01}


def _agree(measured: dict[str, float], expected: dict[str, float], *, exact: float = 1e-5) -> bool:
    return measured.keys() == expected.keys() and all(
        value == pytest.approx(expected[name], abs=NOISE.get(name, exact), nan_ok=True)
        for name, value in measured.items()
    )


def _map(dimensions: int) -> NDArray[np.float32]:
    """A map in which types are apart and batches half mixed."""
    rng = np.random.default_rng(dimensions)
    codes = [np.unique(labels, return_inverse=True)[1] for labels in (KIND, BATCH)]
    centres = [rng.normal(size=(9, dimensions)) * scale for scale in (4, 1)]
    places = centres[0][codes[0]] + centres[1][codes[1]] + rng.normal(size=(400, dimensions))
    return places.astype(np.float32)


def _benchmark(positions: Any, neighbors: Any = None) -> dict[str, float]:
    """The figures of scib-metrics' own benchmark."""
    import anndata
    from scib_metrics.benchmark import BatchCorrection, Benchmarker

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = anndata.AnnData(np.ones((len(positions), 2), np.float32))
        adata.obs["batch"], adata.obs["kind"] = BATCH.astype(str), KIND.astype(str)
        adata.obsm["Y"] = positions.copy()
        run = Benchmarker(
            adata,
            "batch",
            "kind",
            ["Y"],
            batch_correction_metrics=BatchCorrection(pcr_comparison=False),
            pre_integrated_embedding_obsm_key="Y",
            progress_bar=False,
        )
        run.prepare(neighbors)
        run.benchmark()
        row = run.get_results(min_max_scale=False).loc["Y"]
    return {NAMES[name]: float(value) for name, value in row.items()}


@pytest.mark.parametrize("dimensions", [1, 2, 20])
def test_the_figures_are_those_of_the_benchmark_of_scib_metrics(dimensions: int) -> None:
    from scib_metrics.nearest_neighbors import NeighborsResults

    positions = _map(dimensions)
    before = positions.copy()
    measured = standard_measures(positions, BATCH, KIND)
    assert np.array_equal(positions, before)
    assert measured.pop("points") == 400

    def exact(X: Any, k: int) -> Any:
        found = map_neighbors(X, k=k - 1)
        own = np.arange(len(X))
        return NeighborsResults(
            indices=np.column_stack([own, found.indices]),
            distances=np.column_stack([np.zeros(len(X), np.float32), found.distances]),
        )

    assert _agree(measured, _benchmark(positions, exact))
    # Its own search is approximate.
    assert _agree(measured, _benchmark(positions), exact=0.02)


def test_a_graph_has_the_measures_that_need_no_positions() -> None:
    positions = _map(2)
    found = map_neighbors(positions, k=89)
    graph = sp.csr_array(
        (found.distances.ravel(), found.indices.ravel(), np.arange(0, 400 * 89 + 1, 89)),
        shape=(400, 400),
    )
    whole = standard_measures(positions, BATCH, KIND)
    of_graph = standard_measures(graph, BATCH, KIND, sample=100)
    assert _agree(of_graph, standard_measures(found, BATCH, KIND))
    present = {name for name, value in of_graph.items() if not np.isnan(value)}
    assert present == {"clisi", "ilisi", "kbet", "graph_connectivity", "points"}
    assert _agree(
        {name: of_graph[name] for name in present}, {name: whole[name] for name in present}
    )


def test_points_without_a_label_are_left_out() -> None:
    positions = _map(2)
    kind = KIND.astype(object)
    kind[::4] = None
    batch = BATCH.astype(object)
    batch[1] = None
    kept = np.arange(400) % 4 > 0
    kept[1] = False
    measured = standard_measures(positions, batch, kind)
    assert measured["points"] == 299
    assert _agree(measured, standard_measures(positions[kept], BATCH[kept], KIND[kept]))
    graph = standard_measures(map_neighbors(positions, k=89), batch, kind)
    assert graph["clisi"] == pytest.approx(measured["clisi"], abs=0.05)
    assert graph["ilisi"] == pytest.approx(measured["ilisi"], abs=0.1)


def test_a_sample_is_seeded_and_close_to_the_whole() -> None:
    positions = _map(2)
    whole = standard_measures(positions, BATCH, KIND)
    drawn = [standard_measures(positions, BATCH, KIND, sample=300, random_state=s) for s in (0, 0)]
    assert _agree(*drawn)
    assert drawn[0]["points"] == 300
    assert drawn[0]["total"] == pytest.approx(whole["total"], abs=0.1)


def test_labels_that_say_nothing_are_refused_and_measures_that_cannot_be_taken_are_nan() -> None:
    positions = _map(2)
    with pytest.raises(ValueError, match="other must have at least two values"):
        standard_measures(positions, BATCH, ["a"] * 400)
    with pytest.raises(ValueError, match="no point has both labels"):
        standard_measures(positions, [None] * 400, KIND)
    with pytest.raises(ValueError, match="not of a sample"):
        standard_measures(map_neighbors(positions, k=20, sample=50), BATCH, KIND)
    nested = standard_measures(positions, KIND, KIND)
    assert np.isnan(nested["bras"]) and np.isnan(nested["kbet"])
    assert nested["batch_correction"] == pytest.approx(
        (nested["ilisi"] + nested["graph_connectivity"]) / 2
    )


def test_nothing_is_printed_or_logged(capfd: pytest.CaptureFixture[str]) -> None:
    handlers = list(logging.getLogger().handlers)
    small = np.r_[:60]
    standard_measures(_map(2)[small], BATCH[small], KIND[small])
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger().handlers == handlers


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scib_metrics", None)
    with pytest.raises(ImportError, match=r"pip install \"ctsne\[scib\]\""):
        standard_measures(_map(2), BATCH, KIND)


def test_the_table_has_t_sne_and_the_data_next_to_the_map() -> None:
    import pandas as pd

    positions, kind = _map(2), pd.Series(KIND, name="kind")
    found = map_neighbors(DATA.X, k=40)
    table = evaluate(positions, DATA.X, BATCH, other=kind, standard={"graph": found})
    own = evaluate(positions, DATA.X, BATCH, other=kind)
    pd.testing.assert_frame_equal(table.iloc[: len(own)][list(own.columns)], own)
    scores = table.iloc[len(own) :].set_index("measure")
    tsne = ConditionalTSNE(method="tsne", random_state=0).fit_transform(DATA.X)
    columns = {"value": positions, "tsne": tsne, "data": DATA.X, "graph": found}
    for column, each in columns.items():
        expected = standard_measures(each, BATCH, KIND)
        assert (scores["points"] == expected.pop("points")).all()
        measured = {name.removeprefix("scib_"): value for name, value in scores[column].items()}
        assert _agree(measured, expected), column
    assert scores["label"].to_dict().items() >= {
        ("scib_clisi", "kind"),
        ("scib_kbet", "label"),
        ("scib_bio_conservation", "kind"),
    }
    plain = measure_map(tsne, data_neighbors(DATA.X, BATCH), other=KIND)
    assert table["tsne"][: len(plain)].tolist() == pytest.approx(list(plain.values()))


@pytest.mark.parametrize("kind", ["cosine", "distances", "graph"])
def test_the_table_of_other_metrics(kind: str) -> None:
    X: Any = np.asarray(DATA.X, np.float32)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    if kind != "cosine":
        X = rows = cdist(X, X)
    if kind == "graph":
        X = sp.csr_array(np.where(np.sort(X, axis=1)[:, [60]] >= X, X, 0))
    metric = "cosine" if kind == "cosine" else "precomputed"
    table = evaluate(_map(2), X, BATCH, other=KIND, metric=metric, standard=True)
    scores = table.set_index("measure")
    assert np.isfinite(scores.loc["scib_total", ["value", "tsne"]].astype(float)).all()
    assert np.isnan(scores.loc["scib_total", "data"]) == (kind != "cosine")
    assert np.isfinite(scores.loc["scib_clisi", "data"])
    if kind == "cosine":
        expected = standard_measures(rows, BATCH, KIND)
        value = scores.loc["scib_bio_conservation", "data"]
        assert value == pytest.approx(expected["bio_conservation"])


def test_both_labels_are_needed_for_the_table() -> None:
    for labels, other in ((None, KIND), (BATCH, None), (BATCH, {"a": KIND, "b": KIND})):
        with pytest.raises(ValueError, match="standard=True needs labels and one column of other"):
            evaluate(_map(2), DATA.X, labels, other=other, standard=True)
