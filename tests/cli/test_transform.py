"""``ctsne transform``: new points in the map of a model, and what a model file says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

import ctsne
from ctsne._core.files import WriteError
from ctsne.io import read_map
from ctsne.storage.record import read_record

Run = Callable[..., str]

NEW = 30


@pytest.fixture
def model(frame: pd.DataFrame, after: Callable[..., None]) -> str:
    """``model.ctsne`` of all but the last points, which are in ``new.csv``, columns shuffled."""
    words = "embed cells.csv --labels batch --index cell -o map.csv --model model.ctsne"
    after(words, len(frame) - NEW)
    frame[-NEW:].iloc[:, ::-1].to_csv("new.csv", index=False)
    return "model.ctsne"


def expected(frame: pd.DataFrame, model: str, **more: Any) -> ctsne.Placement:
    new = frame[-NEW:]
    X = pd.read_csv("new.csv")[[name for name in frame if name.startswith("PC")]].to_numpy()
    return ctsne.load(model).place(X, new["batch"].to_numpy(), **more)


def test_points_are_placed_as_in_python(model: str, frame: pd.DataFrame, run: Run) -> None:
    out = run("transform model.ctsne new.csv --index cell -o placed.csv")
    made, wanted = read_map("placed.csv"), expected(frame, model)
    assert np.array_equal(made.embedding, wanted.embedding)
    assert np.allclose(made.columns["ctsne_distance"], wanted.distance)
    assert np.array_equal(made.columns["ctsne_far"], wanted.far)
    assert np.allclose(made.columns["ctsne_perplexity"], wanted.perplexity)
    assert list(made.columns["type"]) == list(frame["type"][-NEW:])
    assert made.names is not None and list(made.names) == list(frame["cell"][-NEW:])
    assert f"{NEW} points placed in the map of model.ctsne" in out
    assert f"batch: {NEW} known, 0 new to the model, 0 missing" in out
    assert f"of {NEW} (farther than" in out


@pytest.mark.parametrize("name", ["placed.csv", "placed.parquet", "placed.h5ad"])
def test_every_format_and_rerun(model: str, run: Run, run_json: Any, name: str) -> None:
    run(f"transform model.ctsne new.csv -o {name} --perplexity 4")
    record = read_record(name)
    assert record.command == "transform" and record.options["perplexity"] == 4
    assert [each.file for each in record.inputs] == ["new.csv", "model.ctsne"]
    before = Path(name).read_bytes()
    found = run_json(f"rerun {name}")
    assert found["identical"] and found["made by"] == "transform"
    if name != "placed.h5ad":
        assert Path(name).read_bytes() == before


def test_rerun_needs_the_model_it_was_made_with(model: str, run: Run, fail: Run) -> None:
    run("transform model.ctsne new.csv -o placed.csv")
    Path("model.ctsne").rename("moved.ctsne")
    assert "there is no" in fail("rerun placed.csv")
    Path("model.ctsne").write_bytes(b"another")
    assert "is not the file that placed.csv was made from" in fail("rerun placed.csv")


def test_labels_new_and_missing(model: str, frame: pd.DataFrame, run_json: Any) -> None:
    new = frame[-NEW:].copy()
    new["colour"] = ["purple"] * 5 + [None] * 4 + list(new["batch"][9:])
    new.drop(columns="batch").to_csv("new.csv", index=False)
    found = run_json("transform model.ctsne new.csv --labels colour -o placed.csv")
    counts = found["labels"]["colour"]
    assert counts == {"known": NEW - 9, "unseen": 5, "missing": 4, "unseen labels": ["purple"]}
    assert found["far_distance"] > 0 and found["points"] == NEW


def test_without_labels_it_says_so(model: str, frame: pd.DataFrame, tell: Run) -> None:
    frame[-NEW:].drop(columns="batch").to_csv("new.csv", index=False)
    told = tell("transform model.ctsne new.csv -o placed.csv")
    assert "new.csv has no column 'batch': the points are placed without labels" in told


def test_the_wrong_column_is_suspected(model: str, tell: Run) -> None:
    said = tell("transform model.ctsne new.csv --labels type -o placed.csv")
    assert "the model has none of the labels of 'type', but" in said
    assert "if this is not a new batch, name another column with --labels" in said


def test_the_label_column_that_is_missing_is_named(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, tell: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    frame.to_csv("cells.csv", index=False)
    words = "embed cells.csv --labels batch type -o map.csv"
    run(f"{words} --index cell --model two.ctsne")
    frame[-NEW:].drop(columns="type").to_csv("new.csv", index=False)
    said = tell("transform two.ctsne new.csv -o placed.csv")
    assert "new.csv has no column 'type': the points are placed without labels" in said
    assert "--labels names 2 columns" in said


def test_data_on_another_scale_are_suspected(model: str, frame: pd.DataFrame, tell: Run) -> None:
    new = frame[-NEW:].copy()
    new[[name for name in new if name.startswith("PC")]] *= 1000
    new.to_csv("new.csv", index=False)
    said = tell("transform model.ctsne new.csv -o placed.csv")
    assert f"warning: {NEW} of {NEW} points are far from the reference. Are the features" in said


def test_far_points_are_marked(model: str, frame: pd.DataFrame, run: Run) -> None:
    new = frame[-NEW:].copy()
    new.loc[new.index[:3], "PC1"] += 1000
    new.to_csv("new.csv", index=False)
    out = run("transform model.ctsne new.csv -o placed.csv --plot placed.png")
    assert f"far from every reference point: 3 of {NEW}" in out
    assert "do not trust their places" in out
    assert read_map("placed.csv").columns["ctsne_far"].tolist() == [True] * 3 + [False] * (NEW - 3)
    assert Path("placed.png").stat().st_size > 5000


def test_one_point_is_enough(model: str, frame: pd.DataFrame, run: Run) -> None:
    frame[-1:].to_csv("new.csv", index=False)
    run("transform model.ctsne new.csv -o placed.csv --plot placed.svg")
    assert read_map("placed.csv").embedding.shape == (1, 2)


def test_columns_are_found_by_name(model: str, frame: pd.DataFrame, fail: Run) -> None:
    new = frame[-NEW:].rename(columns={"PC3": "other"})
    new.to_csv("new.csv", index=False)
    assert "'PC3'" in fail("transform model.ctsne new.csv -o placed.csv")
    assert not Path("placed.csv").exists()


def test_arrays_are_found_by_number(model: str, frame: pd.DataFrame, run: Run, fail: Run) -> None:
    X = frame[-NEW:].filter(like="PC").to_numpy()
    np.save("new.npy", X)
    run("transform model.ctsne new.npy -o placed.csv -q")
    np.save("new.npy", X[:, :4])
    message = fail("transform model.ctsne new.npy -o placed.csv")
    assert "new.npy has 4 columns" in message and "the model was made from 10" in message


def test_into_an_h5ad(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, fail: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    obs = frame.set_index("cell")[["batch", "type"]].astype("category")
    X = frame.filter(like="PC").to_numpy()
    whole = anndata.AnnData(X, obs=obs)
    whole.obsm["X_pca"], whole.obsm["X_more"] = X, np.hstack([X, X])
    whole[:-NEW].copy().write_h5ad("cells.h5ad")
    new = whole[-NEW:].copy()
    new.write_h5ad("new.h5ad")
    words = "embed cells.h5ad --labels batch -o cells.h5ad"
    run(f"{words} --model model.ctsne")
    run("transform model.ctsne new.h5ad -o new.h5ad")
    made = anndata.read_h5ad("new.h5ad")
    wanted = ctsne.load("model.ctsne").place(X[-NEW:], obs["batch"][-NEW:])
    assert np.array_equal(made.obsm["X_ctsne"], wanted.embedding)
    assert made.obs["ctsne_far"].dtype == bool and "ctsne_distance" in made.obs
    assert "made from 10" in fail("transform model.ctsne new.h5ad --use-rep X_more -o x.csv")
    # Genes are found by name, whatever their order.
    run(f"{words} --use-rep X --model genes.ctsne")
    new[:, ::-1].copy().write_h5ad("shuffled.h5ad")
    for name in ("new", "shuffled"):
        run(f"transform genes.ctsne {name}.h5ad -o {name}.csv -q")
    assert np.array_equal(read_map("new.csv").embedding, read_map("shuffled.csv").embedding)
    new[:, 2:].copy().write_h5ad("fewer.h5ad")
    message = fail("transform genes.ctsne fewer.h5ad -o x.csv")
    assert "fewer.h5ad lacks 2 of the 10 columns that the model was made from: '0', '1'" in message


def test_evaluate_leaves_placed_points_alone(model: str, run: Run, fail: Run) -> None:
    run("transform model.ctsne new.csv -o placed.csv")
    assert "holds points placed in another map" in fail("evaluate placed.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("model.ctsne none.csv -o x.csv", "there is no file none.csv"),
        ("none.ctsne new.csv -o x.csv", "there is no file none.ctsne"),
        ("new.csv model.ctsne -o x.csv", "the model comes first: model.ctsne new.csv"),
        ("model.ctsne new.csv -o new.csv", "would replace the input"),
        ("model.ctsne new.csv -o x.csv --plot x.gif", "must end in one of"),
        ("model.ctsne new.csv -o x.csv --color type", "--color needs a picture"),
        (
            "model.ctsne new.csv -o x.csv --labels batch type",
            "the model has 1 label column (batch), got 2",
        ),
        ("model.ctsne new.csv -o x.csv --labels bach", "did you mean 'batch'?"),
        ("model.ctsne new.csv -o x.csv --align-rep X", "made without one"),
        ("model.ctsne new.csv -o x.csv --perplexity 0", "perplexity"),
    ],
)
def test_wrong_arguments_change_nothing(model: str, fail: Run, words: str, message: str) -> None:
    before = sorted(Path().iterdir())
    assert message in fail(f"transform {words}")
    assert sorted(Path().iterdir()) == before


def test_the_map_stays_if_the_model_cannot_be_written(
    cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise WriteError("cannot write m.ctsne: No space left on device")

    monkeypatch.setattr("ctsne.estimator.save_model", full)
    words = "embed cells.csv --labels batch -o map.csv --model m.ctsne"
    assert "No space left on device; the map is in map.csv" in fail(f"{words}")
    assert read_map("map.csv").embedding.shape[1] == 2


def test_the_model_changes_nothing_about_the_map(cells: str, run: Run) -> None:
    words = "embed cells.csv --labels batch"
    run(f"{words} -o one.csv")
    run(f"{words} -o two.csv --model m.ctsne")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert Path("one.csv.json").read_bytes() == Path("two.csv.json").read_bytes()


def test_info_of_a_model(model: str, run: Run, run_json: Any) -> None:
    out = run("info model.ctsne")
    for line in (
        "map        model.ctsne (90 points in 2 dimensions, ",
        "method     joint, strength 0.7",
        "data       10 numeric columns of cells.csv",
        "made by    ctsne embed cells.csv",
        "columns    10: 'PC1', ",
    ):
        assert line in out
    assert run_json("info model.ctsne")["file"] == model
    assert "labels     batch: 2 labels (" in out


def test_settings_of_a_stranger_are_only_a_proposal(model: str, run: Run, fail: Run) -> None:
    run("transform model.ctsne new.csv -o placed.csv")
    assert "made by    ctsne transform model.ctsne new.csv --labels batch\n" in run(
        "info placed.csv"
    )
    record = json.loads(Path("placed.csv.json").read_text())
    record["inputs"].pop()
    Path("placed.csv.json").write_text(json.dumps(record))
    assert "do not name all files" in fail("rerun placed.csv")
