"""Labels from a second file: joined by the names of the points, or by order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctsne._core.files import file_checksum
from ctsne.io import Dataset, read_data

from .conftest import refused

X = np.random.default_rng(0).normal(size=(4, 2))
NAMES = ["w", "x", "y", "z"]
CELLS = "a,cell,b\n1,w,5\n2,x,5\n5,y,6\n"


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    np.save(tmp_path / "m.npy", X)
    return tmp_path / "m.npy"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    pd.DataFrame(X, columns=["a", "b"], index=NAMES).to_csv(tmp_path / "m.csv")
    return tmp_path / "m.csv"


def join(folder: Path, content: str, labels: str, **options: object) -> Dataset:
    (folder / "m.csv").write_text(content)
    (folder / "labels.csv").write_text(labels)
    return read_data(
        folder / "m.csv", labels=["batch"], label_file=folder / "labels.csv", **options
    )  # type: ignore[arg-type]


def test_labels_of_a_matrix_by_order(matrix: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("batch,type\n1,u\n2,\n1,v\n,v\n")
    data = read_data(matrix, labels=["batch"], label_file=labels)
    assert data.labels(["batch"]).tolist() == [1, 2, 1, pd.NA]
    assert data.labels(["batch", "type"]).tolist() == ["1 | u", None, "1 | v", None]
    assert data.label_path == labels and data.label_sha256 == file_checksum(labels)
    assert data.notes == (
        f"labels of {labels} joined by order, which must be the same in both files",
    )


def test_labels_as_arrays(matrix: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array(["u", "", "v", "u"]))
    data = read_data(matrix, labels=["batch"], label_file=tmp_path / "l.npy")
    assert data.labels(["batch"]).tolist() == ["u", None, "v", "u"]
    np.save(tmp_path / "wide.npy", X)
    with pytest.raises(ValueError, match=r"one label per point, got .* of shape \(4, 2\)"):
        read_data(matrix, labels=["batch"], label_file=tmp_path / "wide.npy")


@pytest.mark.parametrize(
    ("content", "labels", "options", "how"),
    [
        (CELLS, "cell,batch\ny,3\nq,9\nx,2\nw,1\n", {}, "column cell"),
        (CELLS, "batch,cell\n3,y\n2,x\n1,w\n", {}, "column cell"),
        (CELLS, "id,batch\ny,3\nx,2\nw,1\n", {}, "column cell of m.csv and column id"),
        (CELLS, ",batch\ny,3\nx,2\nw,1\n", {}, "column cell of m.csv and the row names of lab"),
        (CELLS, ",batch\ny,3\nx,2\nw,1\n", {"index": "cell"}, "the row names"),
        (CELLS, "cell,batch\ny,3\nx,2\nw,1\n", {"index": "cell"}, "the row names of m.csv and col"),
        (",a\nw,1\nx,2\ny,5\n", ",batch,cell\n0,3,y\n1,2,x\n2,1,w\n", {}, "the row names of m.c"),
        (
            "patient,a\n30,1\n10,2\n20,5\n",
            "patient,batch\n20,3\n10,2\n30,1\n",
            {"index": "patient"},
            "the row names of m.csv and column patient",
        ),
        (
            "id,a\n007,1\nNA,2\n7,5\n",
            "id,batch\n7,3\nNA,2\n007,1\n",
            {"index": "id"},
            "the row names of m.csv and column id",
        ),
        # Row numbers and ranks say nothing.
        (",a\nw,1\nx,2\ny,5\n", ",batch\n0,1\n1,2\n2,3\n", {}, "order, which must"),
        (",a\n0,1\n1,2\n2,5\n", "batch,rank\n1,2\n2,1\n3,0\n", {}, "order, which must"),
        ("a,b\n1,5\n2,5\n5,6\n", "cell,batch\nw,1\nx,2\ny,3\n", {}, "order, which must"),
    ],
)
def test_by_name_if_both_have_names_else_by_order(
    tmp_path: Path,
    content: str,
    labels: str,
    options: dict[str, str],
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    data = join(Path(), content, labels, **options)
    assert data.labels(["batch"]).tolist() == [1, 2, 3]
    assert data.notes[-1].startswith(f"labels of labels.csv joined by {how}")


def test_labels_of_groups(tmp_path: Path) -> None:
    content = "patient,a\nP2,1\nP1,2\nP2,5\n"
    data = join(tmp_path, content, "patient,batch\nP1,u\nP2,v\n")
    assert data.labels(["batch"]).tolist() == ["v", "u", "v"]
    assert data.columns["patient"].tolist() == ["P2", "P1", "P2"]
    data = join(tmp_path, content, "patient,batch\nP2,u\nP1,v\nP2,w\n")  # by order
    assert data.labels(["batch"]).tolist() == ["u", "v", "w"]


def test_labels_by_the_names_of_an_h5ad(cells: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    for name in ("cell", ""):
        rows = "".join(f"cell{i},{i}\n" for i in reversed(range(12)))
        labels.write_text(f"{name},mine\n{rows}")
        data = read_data(cells, labels=["mine", "type"], label_file=labels)
        assert data.labels(["mine"]).tolist() == list(range(12)) and "cell" not in data.columns
    refused(r"--index is for tables; .* are obs_names", read_data, cells, index="type")


def test_labels_that_do_not_match(named: Path, matrix: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    for text, message in {
        "cell,batch\nw,1\nx,2\nY,3\nz,4\n": r"1 of the 4 rows .* match in column cell .*: 'y'$",
        "cell,batch\nw,1\nx,2\ny,3\n": r"1 of the 4 rows .* match in column cell .*: 'z'$",
        ",batch\nq,1\nr,2\ns,3\nt,4\n": r"4 of the 4 rows .* no match in the row names",
        ",batch\nw,1\nw,2\nx,2\ny,2\nz,2\n": "must be unique to join by, but repeats 'w'",
    }.items():
        labels.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_data(named, labels=["batch"], label_file=labels)
    labels.write_text("batch\n1\n1\n2\n")
    with pytest.raises(ValueError, match=r"has 3 rows but .* has 4; its first line .*--index"):
        read_data(matrix, labels=["batch"], label_file=labels)
    labels.write_text("batch\n1\n1\n2\n2\n")
    with pytest.raises(ValueError, match=r"no column 'bacth' in .*did you mean 'batch'"):
        read_data(matrix, labels=["bacth"], label_file=labels)
    content = "patient,a\n30,1\n10,2\n20,5\n"
    refused("use --index patient", join, tmp_path, content, "patient,batch\n20,3\n10,2\n30,1\n")


def test_a_column_of_both_must_be_the_same(cells: Path, tmp_path: Path) -> None:
    obs = read_data(cells).columns
    names = [f"cell{i}" for i in range(12)]
    frame = pd.DataFrame(obs).set_axis(names).assign(new=list("ab") * 6)[::-1]
    labels = tmp_path / "labels.csv"
    frame.to_csv(labels)
    data = read_data(cells, labels=["new"], label_file=labels)
    assert data.columns["type"].cat.categories.tolist() == ["z", "unused", "a"]
    frame.loc["cell3", "type"] = "a"
    frame.to_csv(labels)
    with pytest.raises(
        ValueError, match=r"a column 'type', and they differ \(point 4: 'z' and 'a'"
    ):
        read_data(cells, labels=["type"], label_file=labels)


def test_a_column_named_like_a_feature_must_be_the_same(named: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame = pd.DataFrame({"a": X[:, 0], "batch": list("uvuv")}, index=NAMES)
    frame[::-1].to_csv(labels)
    data = read_data(named, labels=["batch"], label_file=labels)
    assert list(data.columns) == ["batch"] and data.features == ("a", "b")
    frame.assign(a="text").to_csv(labels)
    with pytest.raises(ValueError, match="both have a column 'a', and they differ"):
        read_data(named, labels=["batch"], label_file=labels)


def test_names_that_are_long_numbers_are_not_close(tmp_path: Path) -> None:
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(id=np.arange(4) + 4_815_162_342)
    rows.to_csv(tmp_path / "data.csv", index=False)
    table = rows[["id"]].assign(batch=list("uvuv"))
    table[::-1].to_csv(tmp_path / "labels.csv", index=False)
    given = {"labels": ["batch"], "label_file": tmp_path / "labels.csv"}
    with pytest.raises(ValueError, match=r"a column 'id', and they differ.*use --index id"):
        read_data(tmp_path / "data.csv", **given)
    data = read_data(tmp_path / "data.csv", index="id", **given)
    assert data.columns["batch"].tolist() == list("uvuv")


def test_a_label_file_without_columns_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    pd.DataFrame(index=["a", "b", "c"]).to_parquet(tmp_path / "labels.parquet")
    with pytest.raises(ValueError, match=r"labels\.parquet holds no column of labels"):
        read_data(tmp_path / "X.npy", labels=["batch"], label_file=tmp_path / "labels.parquet")
