from __future__ import annotations

import json
import os
from pathlib import Path

import anndata
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import ConditionalTSNE
from ctsne.io import read_data, write_map
from ctsne.io.anndata import uns_entry
from ctsne.io.dataset import Source
from ctsne.storage.archive import write_archive
from ctsne.storage.record import (
    GivenArray,
    Input,
    Record,
    current_versions,
    fit_results,
    input_files,
    read_record,
    record_in,
    record_of,
)

GOOD = Record(
    "ctsne embed",
    {"strength": {"a": 0.5, 3: 1.0}, "init": GivenArray((3, 2)), "pca": None},
    ("donor", "batch"),
    Source("obsm", "X_pca", 5),
    {"other": "type", "features": ["PC*"], "n_pcs": 3},
    (Input("a.csv", "x", "y"), Input("l.csv", "z", role="labels")),
    {"mixing": {"donor": 0.5}, "n_iter": 3},
    ("gene 1",),
    {"ctsne": "1"},
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    options=st.dictionaries(st.text(), VALUES, max_size=4),
    file=st.text(),
    numbers=st.dictionaries(st.text() | st.integers(), st.floats(0, 1), max_size=5),
)
def test_json_and_back(options: dict[str, object], file: str, numbers: dict[object, float]) -> None:
    parameters = {"strength": numbers, "beta": {"column": numbers}, "mixing": None}
    record = Record("ctsne embed", parameters, (file,), options=options, inputs=(Input(file),))
    text = record.to_json()
    assert text.isascii() and "\n" not in text
    assert Record.from_json(text) == record
    assert Record.from_json(GOOD.to_json()) == GOOD


def test_arrays_callbacks_and_random_states_are_not_stored() -> None:
    given = {"init": np.zeros((4, 2)), "align": [[1, 2]], "callback": print, "n_iter": np.int64(3)}
    found = Record("x", {**given, "random_state": np.random.RandomState(0)}).to_json()
    parameters = {"init": GivenArray((4, 2)), "align": GivenArray((1, 2)), "n_iter": 3}
    assert Record.from_json(found).parameters == {**parameters, "random_state": None}


def test_other_text_and_formats_are_refused() -> None:
    for text in ("", "[]", "{}", "1", '{"ctsne record": 1}', "{not json"):
        with pytest.raises(ValueError, match="not a ctsne settings record"):
            Record.from_json(text)
    with pytest.raises(ValueError, match=r"another version of ctsne \(format 99"):
        Record.from_json(json.dumps(GOOD.to_dict() | {"ctsne record": 99}))
    with pytest.raises(ValueError, match="JSON"):
        Record("ctsne embed", {"beta": float("nan")}).to_json()


def test_a_model_with_a_damaged_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.ctsne"
    write_archive(path, "model", {"record": GOOD.to_dict() | {"results": 3}})
    with pytest.raises(ValueError, match=r"model\.ctsne: not a ctsne settings record: its record"):
        read_record(path)


def test_files_without_a_record(cells: Path, tmp_path: Path) -> None:
    (tmp_path / "map.docx").touch()
    for path, says in (
        (tmp_path, r"not the folder of a sweep: it has no settings\.json"),
        (tmp_path / "map.csv", "there is no file"),
        (tmp_path / "map.docx", r"the name must end in one of .*\.h5ad"),
        (cells, "has no record of how it was made"),
    ):
        with pytest.raises(ValueError, match=says):
            read_record(path)
    (tmp_path / "settings.json").write_text(GOOD.to_json(indent=1))
    assert read_record(tmp_path) == GOOD
    assert GOOD.command == "embed" and Record("ctsne.tl.ctsne", {}).command is None
    assert GOOD.input("labels") == Input("l.csv", "z", role="labels")
    assert GOOD.input("init") is None


def test_versions() -> None:
    versions = current_versions()
    assert versions["numpy"] == np.__version__
    assert versions["instruction set"] in ("baseline", "avx2", "avx512", "neon")


def test_paths_are_seen_from_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("data", "results"):
        (tmp_path / folder).mkdir()
    np.save(tmp_path / "data" / "x.npy", np.eye(3))
    np.save(tmp_path / "data" / "l.npy", np.arange(3))
    monkeypatch.chdir(tmp_path / "data")
    data = read_data("x.npy", labels=["batch"], label_file="l.npy")
    records = input_files(data, Path("../results/map.csv"), ["batch"])
    assert [record.file for record in records] == ["../data/x.npy", "../data/l.npy"]
    assert records[0] == Input("../data/x.npy", data.sha256, data.checksum(["batch"]))
    assert records[1].sha256 == data.label_sha256 and records[1].data is None


@pytest.mark.parametrize("name", ["m.csv", "m.tsv.gz", "m.parquet", "m.h5ad"])
def test_every_format_of_a_map_keeps_it(name: str, tmp_path: Path, cells: Path) -> None:
    data, target = read_data(cells), tmp_path / name
    positions = np.zeros((len(data.X), 2))
    write_map(target, positions, dataset=data, diagnostics={}, settings=GOOD.to_json())
    assert read_record(target) == GOOD


def test_entries_of_an_anndata(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    adata.uns["mine"] = uns_entry(GOOD.to_json())
    adata.write_h5ad(cells)
    assert read_record(cells, key="mine") == GOOD == record_in(adata.uns["mine"])
    assert record_in({"params": {}}) is None
    params = anndata.read_h5ad(cells).uns["mine"]["params"]
    assert params["use_rep"] == "X_pca" and params["n_pcs"] == 3 and params["init"] == "array"
    assert list(params["labels"]) == ["donor", "batch"]
    assert json.loads(params["strength"]) == {"a": 0.5, "3": 1.0}


def test_the_record_of_a_model() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    labels = {"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5}
    model = ConditionalTSNE(perplexity=3, n_iter=5).fit(X, labels=labels)
    record = record_of(model)
    assert record.labels == ("a", "b") and record.parameters["perplexity"] == 3
    assert record.results == fit_results(model)
    assert record.results["strength"] == model.strength_ and record.results["n_iter"] == 5
    assert Record.from_json(record.to_json()).results == record.results


@pytest.mark.parametrize(
    "change",
    [
        {"made_by": 3},
        {"parameters": [1]},
        {"parameters": {"strength": {"per label": 3}}},
        {"options": []},
        {"results": {"mixing": ["x"]}},
        {"labels": "batch"},
        {"labels": [3]},
        {"source": {"kind": "X"}},
        {"source": {"kind": "?", "key": "x", "n_columns": 1, "n_variable": 1, "n_selected": 1}},
        {"inputs": "x"},
        {"inputs": [{"file": 3}]},
        {"inputs": [{"file": "a", "sha256": 3, "data": None, "role": "data"}]},
        {"inputs": [{"file": "a", "sha256": None, "data": ["x"], "role": "data"}]},
        {"inputs": [{"file": "a", "more": 1}]},
        {"features": [1]},
        {"versions": {"numpy": 2}},
        {"more": 1},
    ],
    ids=str,
)
def test_records_of_the_wrong_types(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a ctsne settings record: ."):
        Record.from_json(json.dumps(GOOD.to_dict() | change))


@pytest.mark.parametrize(
    "text",
    ["[" * 10**5, '{"a":' * 10**5, "1" * 5000, '{"a": NaN}', '{"a": -Infinity}', "\0", '"\\ud800'],
)
def test_hostile_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a ctsne settings record: .") as caught:
        Record.from_json(text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 10**5, b"", b"null", b"{}"])
def test_damaged_settings_are_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(content)
    with pytest.raises(ValueError, match=str(tmp_path)):
        read_record(tmp_path)
    (tmp_path / "settings.json").unlink()
    os.mkfifo(tmp_path / "settings.json")
    with pytest.raises(ValueError, match=r"settings\.json is a pipe, not a file"):
        read_record(tmp_path)


def test_durations_are_kept_as_their_text() -> None:
    from ctsne.storage.record import plain_labels

    spans = [np.timedelta64(1, "ns"), np.timedelta64(2, "ns")]
    assert plain_labels(spans) == [str(span) for span in spans]
