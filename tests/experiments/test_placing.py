"""The experiments on clusters, held-out points, reference embeddings and several columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import clustering
import columns
import held_out
import numpy as np
import pandas as pd
import pytest
import reference_embedding
from common import Data

from ctsne.evaluate import adjusted_rnx
from ctsne.evaluate.mixing import knn_accuracy

# Clusters


def test_the_resolution_is_chosen_by_the_number_of_clusters(tmp_path: Path) -> None:
    found = [(0.1, 2, 0.2, 0.0), (0.2, 4, 0.5, 0.1), (0.3, 4, 0.6, 0.2), (0.4, 7, 0.9, 0.3)]
    names = ["resolution", "clusters", "ari_type", "ari_batch"]
    named = [
        {"dataset": "kang_muscat", "graph": graph, "seed": 0, "types": 4, **row}
        for graph in clustering.GRAPHS
        for row in pd.DataFrame(found, columns=names).to_dict("records")
    ]
    chosen = clustering.choose(pd.DataFrame(named))
    assert len(chosen) == len(clustering.GRAPHS)
    # The first of equally fitting ones, whatever their scores.
    assert set(chosen["resolution"]) == {0.2} and set(chosen["highest"]) == {0.9}
    clustering.report(pd.DataFrame(named), tmp_path)
    text = (tmp_path / "clustering.md").read_text()
    assert ".50 ± .00" in text and "better on none; worse on none" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_clusters_of_a_graph(small: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("igraph")
    monkeypatch.setattr(clustering, "SEEDS", range(2))
    monkeypatch.setattr(clustering, "RESOLUTIONS", clustering.RESOLUTIONS[::4])
    hidden = small.hidden.astype(object)
    hidden[:5] = None
    rows = clustering.clusters(replace(small, hidden=hidden), "ctsne")
    assert {row["seed"] for row in rows} == set(clustering.SEEDS)
    assert {row["types"] for row in rows} == {3}
    assert max(row["ari_type"] for row in rows) > 0.9


# Held-out points


@pytest.mark.parametrize("unseen", [False, True])
def test_every_point_is_fitted_once_unless_its_label_is_left_out(small: Data, unseen: bool) -> None:
    (first, out), (second, again) = (
        held_out.split(small, unseen=unseen, swap=swap) for swap in (False, True)
    )
    assert np.array_equal(out, again) and out.any() == unseen
    assert not (first & second).any() and np.array_equal(first | second, ~out)
    names, counts = np.unique(small.known, return_counts=True)
    assert set(small.known[out]) <= {names[counts.argmin()]}


@pytest.mark.parametrize("missing", [0, 220])
def test_measures_of_fitted_points_are_those_of_the_package(small: Data, missing: int) -> None:
    hidden = small.hidden.astype(object)
    hidden[np.random.default_rng(0).permutation(len(hidden))[:missing]] = None
    small = replace(small, hidden=hidden)
    positions = small.X[:, :2].astype(np.float32)
    every = np.ones(len(positions), np.bool_)
    found = held_out.measure(small, positions, every, every)
    assert found.accuracy == pytest.approx(knn_accuracy(positions, small.hidden, k=15))
    assert found.accuracy_data == pytest.approx(knn_accuracy(small.X, small.hidden, k=15))
    assert found.rnx == pytest.approx(adjusted_rnx(positions, small.X, small.known, k=30))


def test_new_points_are_measured_against_fitted_ones_only(small: Data) -> None:
    fitted = np.arange(len(small.X)) % 2 == 0
    # Placed points on top of each other, far from all fitted ones, have the same neighbours.
    positions = np.where(fitted[:, None], small.X[:, :2], 1e3).astype(np.float32)
    found = held_out.measure(small, positions, fitted, ~fitted)
    nearest = np.argsort(-positions[fitted].sum(axis=1))[:15]
    names, counts = np.unique(small.hidden[fitted][nearest], return_counts=True)
    assert found.accuracy == pytest.approx((small.hidden[~fitted] == names[counts.argmax()]).mean())
    exact = held_out.measure(small, small.X, fitted, ~fitted)
    assert exact.rnx == pytest.approx(1) and exact.accuracy == exact.accuracy_data


# Reference embedding


def test_methods_are_read_at_the_mixing_of_the_reference() -> None:
    values = {"rnx": 0.5, "area": 0.4, "other_laplacian": 0.1, "other_accuracy": 0.9}
    lines = [{"line": "t-SNE", "setting": np.nan, "mixing": 0.1, **values}]
    for line in reference_embedding.COMPARED:
        top = 0.5 if line == "original" else 0.9
        for at, setting in enumerate(reference_embedding.LINES[line][2], 1):
            share = at / len(reference_embedding.LINES[line][2])
            row = {"line": line, "setting": setting, "mixing": 0.1 + (top - 0.1) * share}
            lines.append({**row, **values, "rnx": 0.5 - 0.4 * share})
    reference = {"dataset": "small", "mixing": 0.7}
    rows = reference_embedding._at_equal_mixing(reference, {"small": pd.DataFrame(lines)})
    found = {row["line"]: row for row in rows}
    assert found["joint"]["reached"] and not found["original"]["reached"]
    assert found["joint"]["rnx"] == pytest.approx(0.5 - 0.4 * 0.6 / 0.8)
    assert found["original"]["mixing"] == pytest.approx(0.5)


def test_the_reference_is_the_largest_label(small: Data) -> None:
    inside = reference_embedding.largest_label(small)
    names, counts = np.unique(small.known, return_counts=True)
    assert inside.sum() == counts.max() and set(small.known[inside]) == {names[counts.argmax()]}


# Columns


def test_mixing_of_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(400, 2))
    data: dict[str, Any] = {
        "X": positions,
        "stim": np.where(positions[:, 0] > 0, "a", "b"),
        "donor": rng.choice(["x", "y", "z"], 400),
        columns.HIDDEN: np.array([None, "t"] * 200, dtype=object),
    }
    monkeypatch.setattr(columns, "MEASURED", 400)
    found = columns.measure(positions, data)
    assert found["mixing_stim"] < 0.4 < 0.9 < found["mixing_donor"] < 1.1
    assert found["rnx"] == pytest.approx(1) and found["other_accuracy"] == 1
