from __future__ import annotations

import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne._io import read_columns, read_data, write_columns

# No zero bytes (NumPy's text and archives end at them), no halves of characters.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=40)
@given(
    columns=st.dictionaries(
        TEXT | st.sampled_from(["names", "columns", "X", "x", "a/b", "../up", "x.npy", "x/labels"]),
        st.lists(st.none() | TEXT.filter(bool), min_size=3, max_size=3),
        max_size=4,
    ),
    names=st.none() | st.lists(TEXT, min_size=3, max_size=3),
)
def test_any_text_comes_back(
    columns: dict[str, list[str | None]],
    names: list[str] | None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "c.npz")
        write_columns(path, columns, names=None if names is None else np.array(names, str))
        again, names_again = read_columns(path)
    assert {name: column.tolist() for name, column in again.items()} == columns
    assert (None if names_again is None else names_again.tolist()) == names


def test_types_come_back(tmp_path: Path) -> None:
    columns = {
        "whole": np.arange(3),
        "flag": pd.Series([True, False, True]),
        "gaps": pd.Series([1, None, 3], dtype="Int64"),
        "single": np.float32([0.1, np.nan, 0.3]),
        "when": pd.Series(pd.to_datetime(["2020-01-02", None, "2021-01-01"])),
        "ordered": pd.Series(pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"])),
        "numbered": pd.Series(pd.Categorical([2, 1, None], categories=[2, 1])),
        "maybe": pd.Series([True, None, False], dtype="boolean"),
        "mixed": [1, "a", None],
    }
    write_columns(tmp_path / "c.npz", columns)
    again, _ = read_columns(tmp_path / "c.npz")
    assert list(again) == list(columns)
    assert again["whole"].dtype == np.int64 and again["flag"].dtype == bool
    np.testing.assert_array_equal(again["gaps"], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(again["single"], columns["single"])
    assert np.isnat(again["when"]).tolist() == [False, True, False]
    assert again["ordered"].cat.categories.tolist() == ["lo", "mid", "hi"]
    assert again["ordered"].isna().tolist() == [False, True, False]
    assert again["numbered"].cat.categories.tolist() == [2, 1]
    assert again["numbered"].cat.codes.tolist() == [0, 1, -1]
    assert again["maybe"].tolist() == ["True", None, "False"]
    assert again["mixed"].tolist() == ["1", "a", None]


def test_equal_columns_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_columns(tmp_path / name, {"batch": ["a", None, "b"]}, names=np.array(list("xyz")))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_archives_of_others(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    with pytest.raises(ValueError, match="was not written by ctsne"):
        read_columns(tmp_path / "a.npz")


def test_names_that_numpy_takes_for_each_other(tmp_path: Path) -> None:
    columns = {"foo": np.arange(3), "foo.npy": np.arange(3) * 2, "kinds": ["a", "b", "c"]}
    write_columns(tmp_path / "c.npz", columns)
    again, _ = read_columns(tmp_path / "c.npz")
    assert {name: list(column) for name, column in again.items()} == {
        name: list(column) for name, column in columns.items()
    }


def test_empty_text_is_missing(tmp_path: Path) -> None:
    columns = {"a": ["", "x"], "b": pd.Series(pd.Categorical(["", "y"]))}
    write_columns(tmp_path / "c.npz", columns)
    again, _ = read_columns(tmp_path / "c.npz")
    assert again["a"].tolist() == [None, "x"]
    assert again["b"].isna().tolist() == [True, False]
    assert again["b"].cat.categories.tolist() == ["y"]


def test_categories_of_the_same_text(tmp_path: Path) -> None:
    write_columns(tmp_path / "c.npz", {"a": pd.Series(pd.Categorical([1, "1", "b"]))})
    again, _ = read_columns(tmp_path / "c.npz")
    assert again["a"].tolist() == ["1", "1", "b"]


def test_one_long_text_does_not_make_all_long(tmp_path: Path) -> None:
    texts = [*map(str, range(20_000)), "x" * 5_000]
    tracemalloc.start()
    write_columns(tmp_path / "c.npz", {"a": texts})
    again, _ = read_columns(tmp_path / "c.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert again["a"].tolist() == texts
    assert peak < 20e6


def test_an_archive_of_ours_as_data_and_as_labels(tmp_path: Path) -> None:
    columns = {"batch": ["a", None, "b"], "when/then": pd.Series(pd.Categorical(["y", "x", "y"]))}
    write_columns(tmp_path / "c.npz", columns, names=np.array(["u", "v", "w"]))
    (tmp_path / "t.csv").write_text(",x\nw,1\nu,2\nv,3\n")
    data = read_data(tmp_path / "t.csv", labels=["batch"], label_file=tmp_path / "c.npz")
    assert data.columns["batch"].tolist() == ["b", "a", None]
    assert data.columns["when/then"].tolist() == ["y", "y", "x"]
