"""Labels from a second file: joined by a key that the user names, or by order."""

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
    np.savez(tmp_path / "l.npz", X=X, batch=np.arange(4), columns=np.array(["batch"]))
    data = read_data(matrix, labels=["batch"], label_file=tmp_path / "l.npz")
    assert data.labels(["batch"]).tolist() == [0, 1, 2, 3] and list(data.columns) == ["batch"]
    np.save(tmp_path / "wide.npy", X)
    with pytest.raises(ValueError, match=r"one label per point, got .* of shape \(4, 2\)"):
        read_data(matrix, labels=["batch"], label_file=tmp_path / "wide.npy")


def test_row_names_of_an_npz_are_a_key(named: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "l.npz", batch=np.array(list("dcba")), names=np.array(NAMES[::-1]))
    data = read_data(named, labels=["batch"], label_file=tmp_path / "l.npz", join_on="index")
    assert data.labels(["batch"]).tolist() == list("abcd")
    with pytest.raises(ValueError, match="not in the same order; join them with --join-on index,"):
        read_data(named, labels=["batch"], label_file=tmp_path / "l.npz")


@pytest.mark.parametrize(
    ("content", "labels", "options", "how"),
    [
        (CELLS, "cell,batch\ny,3\nq,9\nx,2\nw,1\n", {"join_on": "cell"}, "column 'cell'"),
        (CELLS, "batch,cell\n3,y\n2,x\n1,w\n", {"join_on": "cell"}, "column 'cell'"),
        (CELLS, ",batch\ny,3\nx,2\nw,1\n", {"join_on": "index", "index": "cell"}, "the row names"),
        (
            CELLS,
            "cell,batch\ny,3\nx,2\nw,1\n",
            {"join_on": "cell", "index": "cell"},
            "the row names of m.csv and column 'cell' of labels.csv",
        ),
        (
            ",a\nw,1\nx,2\ny,5\n",
            "cell,batch\ny,3\nx,2\nw,1\n",
            {"join_on": "cell"},
            "the row names of m.csv and column 'cell' of labels.csv",
        ),
        (
            "patient,a\n30,1\n10,2\n20,5\n",
            "patient,batch\n20,3\n10,2\n30,1\n",
            {"join_on": "patient"},
            "column 'patient'",
        ),
        (
            "id,a\n007,1\nNA,2\n7,5\n",
            "id,batch\n7,3\nNA,2\n007,1\n",
            {"join_on": "id"},
            "column 'id'",
        ),
        ("a,b\n1,5\n2,5\n5,6\n", "batch\n1\n2\n3\n", {"join_on": "order"}, "order, which must"),
    ],
)
def test_the_key_is_named_by_the_user(
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
    assert "patient" not in data.features and "index" not in data.columns


def test_labels_of_groups(tmp_path: Path) -> None:
    content = "patient,a\nP2,1\nP1,2\nP2,5\n"
    data = join(tmp_path, content, "patient,batch\nP1,u\nP2,v\n", join_on="patient")
    assert data.labels(["batch"]).tolist() == ["v", "u", "v"]
    assert data.columns["patient"].tolist() == ["P2", "P1", "P2"]
    with pytest.raises(ValueError, match=r"2 rows but .* has 3; join them with --join-on patient$"):
        join(tmp_path, content, "patient,batch\nP1,u\nP2,v\n")


def test_labels_by_the_names_of_an_h5ad(cells: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,mine\n" + "".join(f"cell{i},{i}\n" for i in reversed(range(12))))
    data = read_data(cells, labels=["mine", "type"], label_file=labels, join_on="cell")
    assert data.labels(["mine"]).tolist() == list(range(12)) and "cell" not in data.columns
    with pytest.raises(ValueError, match=r"labels.csv has no row names; use --join-on cell$"):
        read_data(cells, labels=["mine"], label_file=labels, join_on="index")
    with pytest.raises(
        ValueError, match=r"the row names and column 'cell'\), but .* --join-on cel"
    ):
        read_data(cells, labels=["mine"], label_file=labels)
    labels.write_text(",mine\n" + "".join(f"cell{i},{i}\n" for i in reversed(range(12))))
    data = read_data(cells, labels=["mine"], label_file=labels, join_on="index")
    assert data.labels(["mine"]).tolist() == list(range(12))
    refused(r"--index is for tables; .* are obs_names", read_data, cells, index="type")


@pytest.mark.parametrize(
    ("content", "labels", "option"),
    [
        (",a\nw,1\nx,2\ny,5\n", ",batch\ny,3\nx,2\nw,1\n", "--join-on index,"),
        (",a\nw,1\nx,2\ny,5\n", ",batch\nq,3\nr,2\ns,1\n", "--join-on index,"),
        (",a\nw,1\nx,2\ny,5\n", "batch,cell\n3,y\n2,x\n1,w\n", "--join-on cell,"),
        (",a\nw,1\nx,2\ny,5\n", ",batch,cell\n0,3,y\n1,2,x\n2,1,w\n", "--join-on cell,"),
        (CELLS, "cell,batch\ny,3\nx,2\nw,1\n", "--join-on cell,"),
        (CELLS, ",batch\ny,3\nx,2\nw,1\n", "--index cell --join-on index,"),
        (CELLS, "id,batch\ny,3\nx,2\nw,1\n", "--index cell --join-on id,"),
        (
            "patient,a\n30,1\n10,2\n20,5\n",
            "patient,batch\n20,3\n10,2\n30,1\n",
            "--join-on patient,",
        ),
        (",a\n0,1\n1,2\n2,5\n", "batch,cell\n3,2\n2,1\n1,0\n", "--join-on cell,"),
    ],
)
def test_identifiers_in_another_order_are_never_joined_by_order(
    tmp_path: Path, content: str, labels: str, option: str
) -> None:
    refused(f"join them with {option} or with --join-on order", join, tmp_path, content, labels)


@pytest.mark.parametrize(
    ("content", "labels", "agree"),
    [
        (",a\nw,1\nx,2\ny,5\n", ",batch\nw,1\nx,2\ny,3\n", "the row names agree in both files"),
        (
            ",a\nw,1\nx,2\ny,5\n",
            "cell,batch\nw,1\nx,2\ny,3\n",
            "the row names of m.csv and column 'cell' of labels.csv agree",
        ),
        (CELLS, "cell,batch\nw,1\nx,2\ny,3\n", "column 'cell' agrees in both files"),
        (",a\nw,1\nx,2\ny,5\n", ",batch\n0,1\n1,2\n2,3\n", ""),  # row numbers say nothing
        (",a\n0,1\n1,2\n2,5\n", "batch,rank\n1,2\n2,1\n3,0\n", ""),
        ("a,b\n1,5\n2,5\n5,6\n", "cell,batch\nw,1\nx,2\ny,3\n", ""),
    ],
)
def test_order_is_used_where_nothing_contradicts_it(
    tmp_path: Path, content: str, labels: str, agree: str
) -> None:
    data = join(tmp_path, content, labels)
    assert data.labels(["batch"]).tolist() == [1, 2, 3]
    expected = f"order; {agree}" if agree else "order, which must be the same"
    assert expected in data.notes[-1].replace(f"{tmp_path}/", "")


def test_labels_that_do_not_match(named: Path, matrix: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,batch\nw,1\nx,2\nY,3\nz,4\n")
    with pytest.raises(ValueError, match=r"1 of the 4 rows .* no match in column 'cell' .*: 'y'$"):
        read_data(named, labels=["batch"], label_file=labels, join_on="cell")
    labels.write_text("batch\n1\n1\n2\n")
    with pytest.raises(ValueError, match=r"has 3 rows but .* has 4; its first line .*--join-on"):
        read_data(matrix, labels=["batch"], label_file=labels)
    labels.write_text("cell,batch\nw,1\nx,2\ny,3\n")
    with pytest.raises(ValueError, match=r"3 rows but .* has 4; join them with --join-on cell$"):
        read_data(named, labels=["batch"], label_file=labels)
    labels.write_text(",batch\nw,1\nw,2\nx,2\ny,2\nz,2\n")
    with pytest.raises(ValueError, match="must be unique to join by, but 'w' appears in rows 1 an"):
        read_data(named, labels=["batch"], label_file=labels, join_on="index")
    labels.write_text("batch\n1\n1\n2\n2\n")
    with pytest.raises(ValueError, match=r"no column 'bacth' in .*did you mean 'batch'"):
        read_data(matrix, labels=["bacth"], label_file=labels)
    with pytest.raises(ValueError, match=r"labels.csv has no column 'cell' to join by; its"):
        read_data(named, labels=["batch"], label_file=labels, join_on="cell")
    labels.write_text("cell,batch\nw,1\nx,2\ny,3\nz,4\n")
    with pytest.raises(ValueError, match=r"--join-on: .*m.npy has no column 'cell' to join by"):
        read_data(matrix, labels=["batch"], label_file=labels, join_on="cell")
    labels.write_text("id,batch\nw,1\nx,2\ny,3\nz,4\n")
    with pytest.raises(ValueError, match=r"no column 'cell' to join by; use --join-on id$"):
        read_data(named, labels=["batch"], label_file=labels, join_on="cell")
    refused("--join-on needs a label file", read_data, named, join_on="cell")


def test_a_column_of_both_must_be_the_same(cells: Path, tmp_path: Path) -> None:
    obs = read_data(cells).columns
    names = [f"cell{i}" for i in range(12)]
    frame = pd.DataFrame(obs).set_axis(names).assign(new=list("ab") * 6)[::-1]
    labels = tmp_path / "labels.csv"
    frame.to_csv(labels)
    data = read_data(cells, labels=["new"], label_file=labels, join_on="index")
    assert data.columns["type"].cat.categories.tolist() == ["z", "unused", "a"]
    frame.loc["cell3", "type"] = "a"
    frame.to_csv(labels)
    with pytest.raises(
        ValueError, match=r"a column 'type', and they differ \(point 4: 'z' and 'a'"
    ):
        read_data(cells, labels=["type"], label_file=labels, join_on="index")


def test_a_column_named_like_a_feature_must_be_the_same(named: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame = pd.DataFrame({"a": X[:, 0], "batch": list("uvuv")}, index=NAMES)
    frame[::-1].to_csv(labels)
    data = read_data(named, labels=["batch"], label_file=labels, join_on="index")
    assert list(data.columns) == ["batch"] and data.features == ("a", "b")
    frame.assign(a="text").to_csv(labels)
    with pytest.raises(ValueError, match="both have a column 'a', and they differ"):
        read_data(named, labels=["batch"], label_file=labels)


def test_a_label_file_without_columns_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    pd.DataFrame(index=["a", "b", "c"]).to_parquet(tmp_path / "labels.parquet")
    with pytest.raises(ValueError, match=r"labels\.parquet holds no column of labels"):
        read_data(tmp_path / "X.npy", labels=["batch"], label_file=tmp_path / "labels.parquet")
