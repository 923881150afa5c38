from __future__ import annotations

import json
import os
from pathlib import Path

import anndata
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.io import (
    InputRecord,
    Provenance,
    current_versions,
    input_records,
    read_data,
    read_provenance,
)
from ctsne.tl import ctsne

SWEEP = Provenance("sweep", {"seed": 0})

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(settings=st.dictionaries(st.text(), VALUES, max_size=4), file=st.text())
def test_json_and_back(settings: dict[str, object], file: str) -> None:
    made = Provenance("embed", settings, [InputRecord(file, None, "x")], {"ctsne": "1"})
    text = made.to_json()
    assert text.isascii() and "\n" not in text
    assert Provenance.from_json(text) == made


@pytest.mark.parametrize("text", ["", "[]", "{}", "1", '{"ctsne provenance": 1}', "{not json"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a ctsne settings record"):
        Provenance.from_json(text)


def test_another_format_is_named() -> None:
    content = Provenance("embed", {}).to_dict() | {"ctsne provenance": 99}
    with pytest.raises(ValueError, match=r"another version of ctsne \(format 99"):
        Provenance.from_json(json.dumps(content))


def test_no_numbers_that_json_cannot_hold() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Provenance("embed", {"beta": float("nan")}).to_json()


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
    records = input_records(data, Path("../results/map.csv"), ["batch"])
    assert [record.file for record in records] == ["../data/x.npy", "../data/l.npy"]
    assert records[0] == InputRecord("../data/x.npy", data.sha256, data.checksum(["batch"]))
    assert records[1].sha256 == data.label_sha256 and records[1].data is None


def test_the_folder_of_a_sweep(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not the folder of a sweep: it has no settings\.json"):
        read_provenance(tmp_path)
    (tmp_path / "settings.json").write_text(SWEEP.to_json(indent=1))
    assert read_provenance(tmp_path) == SWEEP


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        read_provenance(tmp_path / "map.csv")
    (tmp_path / "map.docx").write_text("")
    with pytest.raises(ValueError, match=r"the name must end in one of .*\.h5ad"):
        read_provenance(tmp_path / "map.docx")


def test_a_map_of_python_says_so(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    ctsne(adata, "type", method="balanced", perplexity=2, n_iter=5, key_added="mine")
    adata.write_h5ad(cells)
    with pytest.raises(ValueError, match=r"the map 'mine' was made in Python.*ctsne\.tl\.ctsne"):
        read_provenance(cells, key="mine")
    with pytest.raises(ValueError, match=r"has no record of how it was made; was it written by"):
        read_provenance(cells)


GOOD = Provenance("embed", {"labels": ["a"]}, [InputRecord("a.csv", "x", "y")], {"ctsne": "1"})


@pytest.mark.parametrize(
    "change",
    [
        {"command": 3},
        {"command": None},
        {"settings": [1]},
        {"settings": []},
        {"inputs": "x"},
        {"inputs": ["x"]},
        {"settings": {"labels": "batch", "other": 3}},
        {"settings": {"labels": [3]}},
        {"settings": {"labels": 5}},
        {"inputs": {"file": "a"}},
        {"inputs": [{"file": 3}]},
        {"inputs": [{"file": "a", "sha256": 3}]},
        {"inputs": [{"file": "a", "data": ["x"]}]},
        {"inputs": [{"file": "a", "more": 1}]},
        {"inputs": 7},
        {"versions": {"numpy": 2}},
        {"versions": None},
    ],
    ids=str,
)
def test_records_of_the_wrong_types(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a ctsne settings record: ."):
        Provenance.from_json(json.dumps(GOOD.to_dict() | change))


@pytest.mark.parametrize(
    "text",
    ["[" * 10**5, '{"a":' * 10**5, "1" * 5000, '{"a": NaN}', '{"a": -Infinity}', "\0", '"\\ud800'],
)
def test_hostile_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a ctsne settings record: .") as caught:
        Provenance.from_json(text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 10**5, b"", b"null", b"{}"])
def test_damaged_settings_are_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(content)
    with pytest.raises(ValueError, match=str(tmp_path)):
        read_provenance(tmp_path)
    (tmp_path / "settings.json").unlink()
    os.mkfifo(tmp_path / "settings.json")
    with pytest.raises(ValueError, match=r"settings\.json is a pipe, not a file"):
        read_provenance(tmp_path)
