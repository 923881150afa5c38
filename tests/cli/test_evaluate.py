"""``ctsne evaluate``: the measures of a map, from what it knows of its data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne._io import read_map, read_provenance
from ctsne.evaluate import evaluate


@pytest.fixture
def made(cells: str, run: Callable[..., str], quick: list[str]) -> str:
    run("embed", cells, "--labels", "batch", "-o", "map.csv", "--pca", "5", *quick)
    return "map.csv"


def test_measures_are_those_of_the_library(
    made: str, frame: pd.DataFrame, run_json: Callable[..., dict[str, Any]]
) -> None:
    from ctsne._core.components import principal_components

    content = run_json("evaluate", made, "--other", "type", "-k", "10", "20")
    X = principal_components(frame.filter(like="PC").to_numpy(), 5, n_jobs=1)
    found = {(row["measure"], row["label"], row["k"]): row["value"] for row in content["measures"]}
    for k in (10, 20):
        table = evaluate(
            read_map(made).embedding, X, frame["batch"], other=frame["type"], k=k
        ).astype({"k": int})
        for row in table.itertuples():
            label = None if row.label is None else row.label
            assert found[row.measure, label, row.k] == pytest.approx(row.value), row.measure
    # The area over all k is there once.
    assert [row["measure"] for row in content["measures"]].count("adjusted_rnx_area") == 1


def test_a_table_to_read_and_to_keep(made: str, run: Callable[..., str]) -> None:
    text = run("evaluate", made, "--labels", "type", "-o", "measures.csv")
    assert text.splitlines()[0].split() == [
        "measure", "label", "k", "value", "expected", "points",
    ]  # fmt: skip
    assert any(line.split()[:2] == ["laplacian", "type"] for line in text.splitlines())
    kept = pd.read_csv("measures.csv")
    assert len(kept) == len(text.splitlines()) - 2
    assert read_provenance("measures.csv").command == "evaluate"


def test_data_that_have_moved(made: str, run: Callable[..., str], fail: Callable[..., str]) -> None:
    Path("cells.csv").rename("moved.csv")
    assert "was made from cells.csv" in fail("evaluate", made)
    assert "--data FILE" in fail("evaluate", made)
    run("evaluate", made, "--data", "moved.csv", "-o", "measures.csv")
    assert [record.file for record in read_provenance("measures.csv").inputs] == [
        "map.csv", "moved.csv",
    ]  # fmt: skip
    assert "made by ctsne evaluate map.csv " in fail("rerun", "measures.csv")


def test_data_that_have_changed(made: str, frame: pd.DataFrame, fail: Callable[..., str]) -> None:
    frame["PC1"] += 1
    frame.drop(columns="plate").to_csv("cells.csv", index=False)
    assert "cells.csv has changed" in fail("evaluate", made)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cells.csv"], "not a map"),
        (["mapp.csv"], "did you mean map.csv?"),
        (["map.csv", "--other", "typ"], "did you mean 'type'?"),
        (["map.csv", "-o", "table.doc"], "must end in one of .csv, .tsv"),
        (["map.csv", "-k", "500"], "k must be"),
        (["map.csv", "-o", "map.csv"], "would replace the input map.csv"),
        (["map.csv", "-o", "cells.csv"], "would replace the input cells.csv"),
    ],
)
def test_what_cannot_work(
    arguments: list[str], message: str, made: str, fail: Callable[..., str]
) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert message in fail("evaluate", *arguments)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_labels_that_were_features(
    cells: str,
    frame: pd.DataFrame,
    run: Callable[..., str],
    run_json: Callable[..., dict[str, Any]],
    quick: list[str],
) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    run("embed", cells, "--labels", "batch", "-o", "map.csv", *quick)
    for labels, name in ((["plate"], "plate"), (["plate", "type"], "plate | type")):
        rows = run_json("evaluate", "map.csv", "--labels", *labels)["measures"]
        assert ("laplacian", name) in {(row["measure"], row["label"]) for row in rows}


def test_a_map_without_its_settings(made: str, fail: Callable[..., str]) -> None:
    Path("map.csv.json").unlink()
    assert "map.csv.json beside it, which is not there" in fail("evaluate", made)
    assert np.isfinite(read_map(made).embedding).all()
