from __future__ import annotations

import gzip
import json
import os
import resource
import tempfile
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne.io import (
    Dataset,
    read_columns,
    read_data,
    read_map,
    read_settings,
    write_columns,
)
from ctsne.labels import encode_column

from .conftest import RECORD, refused, store

NAMES = ["m.csv", "m.csv.gz", "m.tsv", "m.tsv.gz", "m.parquet", "m.h5ad"]


def values(n: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    return (rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-30, 30, (n, 1))).astype(np.float32)


@pytest.fixture
def data(tmp_path: Path, table: pd.DataFrame) -> Dataset:
    table.to_csv(tmp_path / "t.csv")
    return read_data(tmp_path / "t.csv", labels=["batch"])


def write(path: Path, data: Dataset, embedding: np.ndarray | None = None, **more: str) -> None:
    n = len(data.X)
    embedding = values(n) if embedding is None else embedding
    diagnostics = {"perplexity": np.linspace(1, 30, n), "other_share": values(n)[:, 0]}
    store(path, embedding, data, diagnostics=diagnostics, **more)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_back_the_same(name: str, tmp_path: Path, data: Dataset) -> None:
    write(tmp_path / name, data)
    found = read_map(tmp_path / name)
    n = len(data.X)
    assert found.embedding.dtype == np.float32
    np.testing.assert_array_equal(found.embedding, values(n))
    np.testing.assert_array_equal(found.columns["ctsne_perplexity"], np.linspace(1, 30, n))
    np.testing.assert_array_equal(
        np.asarray(found.columns["ctsne_other_share"], np.float32), values(n)[:, 0]
    )
    assert set(found.columns) == {"ctsne_perplexity", "ctsne_other_share", "batch", "type"}
    assert found.names is not None and data.names is not None
    assert found.names.tolist() == data.names.tolist()
    for column in ("batch", "type"):
        before, after = (encode_column(x.columns[column]) for x in (data, found))
        assert after.codes.tolist() == before.codes.tolist() and after.names == before.names
    assert json.loads(str(found.settings)) == RECORD


@pytest.mark.parametrize("name", NAMES)
def test_the_same_twice_gives_the_same_bytes(name: str, tmp_path: Path, data: Dataset) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        write(folder / name, data)
    files = [sorted(file.name for file in folder.iterdir()) for folder in folders]
    assert files[0] == files[1]
    beside = [f"{name}.json"] if name.startswith(("m.csv", "m.tsv")) else []
    assert files[0] == sorted([name, *beside])
    for file in files[0]:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()


@settings(max_examples=25)
@given(
    embedding=hnp.arrays(
        np.float32, (3, 3), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
    ),
    texts=st.lists(
        st.none()
        | st.sampled_from(["NA", "nan", "None", "=1+1", "a\r\nb", "'", '"', "مرحبا", "👩‍🔬", " x "])
        | st.text("abc\n\r\t,;\"' \\<>&", min_size=1),
        min_size=3,
        max_size=3,
    ),
)
@pytest.mark.parametrize("name", ["m.csv", "m.tsv.gz"])
def test_bits_and_hostile_text_come_back(
    name: str,
    embedding: np.ndarray,
    texts: list[str | None],
) -> None:
    column = pd.Series(texts, dtype=object)
    names = np.array(["NA", "007", 'a,"b\n\tc'])
    data = Dataset(np.eye(3), (), {"te,xt\n": column}, names, path=Path("t.csv"))
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, name), data, embedding)
        found = read_map(Path(folder, name))
    assert found.embedding.tobytes() == embedding.tobytes()
    assert found.names is not None and found.names.tolist() == names.tolist()
    again = pd.Series(found.columns["te,xt\n"], dtype=object)
    assert again.where(again.notna(), None).tolist() == texts


@pytest.mark.parametrize("place", ["none", "header", "names", "name", "text", "category"])
def test_a_table_has_the_same_bytes_in_blocks(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctsne.io.maps._BLOCK", 12)  # two rows at a time
    odd = {each: each + "\n\r"[each == place] for each in ("header", "names", "name")}
    text, category = ["\udcff", "é", "\r" if place == "text" else ""], [place, "x", "y"]
    columns = {odd["header"]: np.arange(3.0), "t": pd.Series(text, dtype=object)}
    columns["c"] = pd.Categorical(["\r" if each == "category" else each for each in category])
    names = np.array(["1", odd["names"], "\udcff"])
    data = Dataset(np.eye(3), (), columns, names, path=Path("t.csv"), called=odd["name"])
    for name in ("m.csv", "m.csv.gz"):
        store(tmp_path / name, np.eye(3), data)
    axes = {f"ctsne_{i + 1}": np.eye(3, dtype=np.float32)[i] for i in range(3)}
    frame = pd.DataFrame(axes | columns)
    frame.index = pd.Index(names, dtype=object, name=odd["name"])
    end = "\n" if place == "none" else "\r\n"
    expected = frame.to_csv(lineterminator=end).encode("utf-8", "surrogatepass")
    assert (tmp_path / "m.csv").read_bytes() == expected
    assert (tmp_path / "m.csv.gz").read_bytes()[10:] == gzip.compress(expected, mtime=0)[10:]


def test_a_table_can_be_read_by_anyone(tmp_path: Path, data: Dataset) -> None:
    write(tmp_path / "m.csv.gz", data)
    packed = (tmp_path / "m.csv.gz").read_bytes()
    assert packed[3:8] == bytes(5)  # neither a name nor a time in it
    content = gzip.decompress(packed).decode()
    header, first = content.split("\n")[:2]
    assert header == ",ctsne_1,ctsne_2,ctsne_perplexity,ctsne_other_share,batch,type"
    assert first == f"cell0,{values(12)[0, 0]!s},{values(12)[0, 1]!s},1.0,{values(12)[0, 0]!s},1,a"
    write(tmp_path / "m.parquet", data)
    assert pd.read_parquet(tmp_path / "m.parquet").index.tolist()[:2] == ["cell0", "cell1"]


@pytest.mark.parametrize("name", NAMES)
def test_unusual_columns_can_be_stored(name: str, tmp_path: Path) -> None:
    columns = {
        "mixed": [1, "a", None],
        "when": pd.Series(pd.to_datetime(["2020-01-02", None, "2021-01-01"])),
        "bins": pd.Series(pd.cut([1, 5, 9], 3)),
        "complex": np.array([1j, 2, 3]),
        "a/b": ["x", "y", "x"],
        "_index": ["x", "y", "x"],
        "maybe": pd.Series([True, None, False], dtype="boolean"),
        "period": pd.Series(pd.period_range("2020-01", periods=3, freq="M")),
        "interval": pd.Series(pd.interval_range(0, 3)),
        "zone": pd.Series(pd.date_range("2020-01-01", periods=3, tz="Europe/Vienna")),
        "took": pd.Series(pd.to_timedelta([1, None, 3], "s")),
        "gaps": pd.Series([0.5, None, 1.5], dtype="Float64"),
        "half": np.float16([0.5, 1, 2]),
        "same text": pd.Series(pd.Categorical([1, "1", "b"])),
        "flags": pd.Series(pd.Categorical([True, False, None])),
        "days": pd.Series(pd.Categorical(pd.to_datetime(["2020-01-02", None, "2021-01-01"]))),
        "string": pd.Series(["a", None, "b"], dtype="string"),
        "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 1])),
        "nothing": [None, None, None],
        "lists": pd.Series([[1], [2], None]),
    }
    data = Dataset(np.eye(3), ("a", "b", "c"), columns, None, path=tmp_path / "t.csv")
    write(tmp_path / name, data)
    found = read_map(tmp_path / name)
    assert len(found.columns) == len(columns) + 2
    assert encode_column(found.columns["mixed"]).describe() == "2 labels (1: 1, a: 1), 1 missing"
    assert encode_column(found.columns["when"]).n_missing == 1
    for column in ("bins", "period", "interval", "zone", "half"):
        assert encode_column(found.columns[column]).n_labels == 3
    assert encode_column(found.columns["gaps"]).n_missing == 1


def test_an_earlier_map_is_replaced(tmp_path: Path, data: Dataset) -> None:
    for name in ("ctsne_1", "ctsne_3", "ctsne_largest_weight", "other_1"):
        data.columns[name] = np.zeros(12)
    for name in NAMES:
        write(tmp_path / name, data)
        found = read_map(tmp_path / name)
        np.testing.assert_array_equal(found.embedding, values(12))
        assert [column for column in found.columns if "_" in column] == [
            *(["other_1"] if name.endswith("h5ad") else []),
            "ctsne_perplexity",
            "ctsne_other_share",
            *([] if name.endswith("h5ad") else ["other_1"]),
        ]


def test_another_name(tmp_path: Path, data: Dataset) -> None:
    for name in NAMES:
        write(tmp_path / name, data, key="mine")
        found = read_map(tmp_path / name, key="mine")
        assert "mine_perplexity" in found.columns
        np.testing.assert_array_equal(found.embedding, values(12))
    refused("is not a map written by ctsne: it has no column ctsne_1", read_map, tmp_path / "m.csv")
    refused(r"no map 'ctsne' in obsm of .*there are 'X_mine'", read_map, tmp_path / "m.h5ad")


@pytest.mark.parametrize("dimensions", [1, 3])
def test_other_dimensions(dimensions: int, tmp_path: Path, data: Dataset) -> None:
    embedding = np.random.default_rng(0).normal(size=(12, dimensions)).astype(np.float32)
    for name in NAMES:
        write(tmp_path / name, data, embedding)
        np.testing.assert_array_equal(read_map(tmp_path / name).embedding, embedding)


@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails_leaves_the_old_map(
    name: str, tmp_path: Path, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / name
    write(target, data)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr("ctsne._core.files.os.replace", full)
    refused("full", write, target, data, values(12) + 1, error=OSError)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_reported_with_the_name_of_the_file(
    name: str, tmp_path: Path, data: Dataset
) -> None:
    target = tmp_path / name
    write(target, data)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match=f"^cannot write {target}: File too large$"):
            write(target, data, values(12) + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["m.csv", "m.tsv.gz"])
def test_settings_are_written_after_their_map_and_through_no_link(
    name: str, tmp_path: Path, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "precious").write_text("mine")
    sidecar = tmp_path / f"{name}.json"
    sidecar.symlink_to("precious")
    write(tmp_path / name, data)
    assert (tmp_path / "precious").read_text() == "mine" and not sidecar.is_symlink()
    moved = []
    replace = os.replace

    def watched(source: Path, target: Path) -> None:
        moved.append((target.name, sidecar.exists()))
        replace(source, target)

    monkeypatch.setattr("ctsne._core.files.os.replace", watched)
    write(tmp_path / name, data)
    assert moved == [(name, False), (sidecar.name, False)]  # never those of another map


def test_what_does_not_fit_is_refused(tmp_path: Path, data: Dataset) -> None:
    target, wrong = tmp_path / "m.csv", {"sigma": [1]}
    refused(r"embedding .* 12 points, got shape \(3, 2\)", write, target, data, values(3))
    refused("the diagnostic ctsne_sigma", store, target, values(12), data, diagnostics=wrong)
    refused("there is no folder", write, tmp_path / "nowhere" / "m.csv", data)
    refused("key must be a name without slashes", write, tmp_path / "m.csv", data, key="a/b")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_files_that_are_no_maps(tmp_path: Path, data: Dataset) -> None:
    data_frame = pd.DataFrame({"a": [1.0, 2.0]})
    data_frame.to_parquet(tmp_path / "x.parquet")
    data_frame.to_csv(tmp_path / "x.csv")
    anndata.AnnData(np.eye(3)).write_h5ad(tmp_path / "x.h5ad")
    for name in ("x.parquet", "x.csv", "x.h5ad"):
        refused(r"is not a map written by ctsne|no map 'ctsne' in", read_map, tmp_path / name)
        assert read_settings(tmp_path / name, "ctsne") is None


def test_a_table_that_lost_its_companion_is_still_a_map(tmp_path: Path, data: Dataset) -> None:
    write(tmp_path / "m.csv", data)
    (tmp_path / "m.csv.json").unlink()
    assert read_map(tmp_path / "m.csv").settings is None


@pytest.mark.parametrize("name", ["m.csv", "m.tsv.gz", "m.parquet"])
@pytest.mark.parametrize("called", ["id", "anything", "b"])
def test_the_names_of_the_points_keep_their_name(tmp_path: Path, name: str, called: str) -> None:
    names = np.array(["007", "NA", "x"])
    columns = {"b": np.array(["u", "v", "u"])}
    data = Dataset(np.eye(3), (), columns, names, path=Path("t.csv"), called=called)
    target = tmp_path / name
    store(target, np.eye(3), data)
    if name == "m.csv":
        head = target.read_text().splitlines()[0]
        assert head == ("" if called == "b" else called) + ",ctsne_1,ctsne_2,ctsne_3,b"
    again = read_map(target)
    assert again.names is not None and again.names.tolist() == names.tolist()
    assert list(again.columns) == ["b"] and again.embedding.shape == (3, 3)


def test_the_name_of_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("cell,a,b\nx,1,0.5\ny,2,3\n")
    assert read_data(tmp_path / "t.csv", index="cell").called == "cell"
    (tmp_path / "t.csv").write_text(",a,b\nx,1,0.5\ny,2,3\n")
    assert read_data(tmp_path / "t.csv").called is None


def test_columns_keep_their_types(tmp_path: Path) -> None:
    columns = {
        "whole": np.arange(3),
        "gaps": pd.Series([1, None, 3], dtype="Int64"),
        "ordered": pd.Series(pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"])),
        "numbered": pd.Series(pd.Categorical([2, 1, None], categories=[2, 1])),
        "mixed": [1, "a", None],
        "text": ["NA", None, "<b>"],
    }
    for name in ("a.parquet", "b.parquet"):
        write_columns(tmp_path / name, columns, names=np.array(["007", "NA", "z"]))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    again, names = read_columns(tmp_path / "a.parquet")
    assert names is not None and names.tolist() == ["007", "NA", "z"]
    assert list(again) == list(columns)
    assert again["whole"].dtype == np.int64 and again["gaps"].isna().tolist() == [0, 1, 0]
    assert again["ordered"].cat.categories.tolist() == ["lo", "mid", "hi"]
    assert again["numbered"].tolist()[:2] == [2, 1]  # a parquet file has no such categories
    assert again["mixed"].tolist()[:2] == ["1", "a"] and again["mixed"].isna().tolist()[2]
    assert again["text"].tolist()[::2] == ["NA", "<b>"] and again["text"].isna().tolist()[1]
    write_columns(tmp_path / "c.parquet", columns)
    assert read_columns(tmp_path / "c.parquet")[1] is None
