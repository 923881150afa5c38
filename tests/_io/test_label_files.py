from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctsne._io import file_sha256, read_data

X = np.random.default_rng(0).normal(size=(4, 2))
NAMES = ["w", "x", "y", "z"]


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    np.save(tmp_path / "m.npy", X)
    return tmp_path / "m.npy"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    pd.DataFrame(X, columns=["a", "b"], index=NAMES).to_csv(tmp_path / "m.csv")
    return tmp_path / "m.csv"


def test_labels_of_a_matrix_by_order(matrix: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("batch,type\n1,u\n2,\n1,v\n,v\n")
    data = read_data(matrix, labels=["batch"], label_file=labels)
    assert data.labels(["batch"]).tolist() == [1, 2, 1, pd.NA]
    assert data.labels(["batch", "type"]).tolist() == ["1 | u", None, "1 | v", None]
    assert data.label_path == labels and data.label_sha256 == file_sha256(labels)
    (note,) = data.notes
    assert note.startswith(
        f"labels of {labels} joined in the order of the rows: there are no names"
    )


def test_labels_as_arrays(matrix: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array(["u", "", "v", "u"]))
    data = read_data(matrix, labels=["batch"], label_file=tmp_path / "l.npy")
    assert data.labels(["batch"]).tolist() == ["u", None, "v", "u"]
    np.savez(tmp_path / "l.npz", X=X, batch=np.arange(4), columns=np.array(["batch"]))
    data = read_data(matrix, labels=["batch"], label_file=tmp_path / "l.npz")
    assert data.labels(["batch"]).tolist() == [0, 1, 2, 3] and list(data.columns) == ["batch"]
    np.save(tmp_path / "wide.npy", X)
    with pytest.raises(ValueError, match=r"one label for each point, got .* shape \(4, 2\)"):
        read_data(matrix, labels=["batch"], label_file=tmp_path / "wide.npy")


def test_labels_by_the_names_of_rows_in_any_order(named: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("cell\tbatch\nz\t4\nother\t9\ny\t3\nx\t2\nw\t1\n")
    data = read_data(named, labels=["batch"], label_file=labels)
    assert data.labels(["batch"]).tolist() == [1, 2, 3, 4]
    assert data.notes == (f"labels of {labels} joined by the names of the rows",)


def test_labels_by_the_names_of_an_h5ad(cells: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,mine\n" + "".join(f"cell{i},{i}\n" for i in reversed(range(12))))
    data = read_data(cells, labels=["mine", "type"], label_file=labels)
    assert data.labels(["mine"]).tolist() == list(range(12))


def test_labels_that_do_not_fit(named: Path, matrix: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,batch\nw,1\nx,2\nY,3\nz,4\n")
    with pytest.raises(ValueError, match=r"1 of the 4 rows .* have no row of that name .*: 'y'$"):
        read_data(named, labels=["batch"], label_file=labels)
    labels.write_text("batch\n1\n1\n2\n")
    with pytest.raises(ValueError, match=r"has 3 rows, but .* has 4;.*first line is read as"):
        read_data(matrix, labels=["batch"], label_file=labels)
    labels.write_text(",batch\nw,1\nw,2\nx,2\ny,2\nz,2\n")
    with pytest.raises(ValueError, match=r"row names .* not all different"):
        read_data(named, labels=["batch"], label_file=labels)
    labels.write_text("batch\n1\n1\n2\n2\n")
    with pytest.raises(ValueError, match=r"no column 'bacth' in .*did you mean 'batch'"):
        read_data(matrix, labels=["bacth"], label_file=labels)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("cell,batch\nNA,4\nnull,3\nx,2\nw,1\n", "the names of the rows"),
        ("batch,cell\n4,NA\n3,null\n2,x\n1,w\n", r"the names of the rows \(column 'cell'\)"),
        (",batch,cell\n0,4,NA\n1,3,null\n2,2,x\n3,1,w\n", r"the names .* \(column 'cell'\)"),
    ],
)
def test_names_are_found_wherever_they_stand(tmp_path: Path, text: str, how: str) -> None:
    (tmp_path / "m.csv").write_text("cell,a,b\nw,1,5\nx,2,5\nnull,3,6\nNA,4,7\n")
    (tmp_path / "labels.csv").write_text(text)
    data = read_data(tmp_path / "m.csv", labels=["batch"], label_file=tmp_path / "labels.csv")
    assert data.labels(["batch"]).tolist() == [1, 2, 3, 4]
    assert list(data.columns) == ["batch"]
    assert re.search(f"joined by {how}$", data.notes[-1])


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("a,cell,b\n1,w,5\n2,x,5\n5,y,6\n", "cell,batch\ny,3\nx,2\nw,1\n"),
        ("a,cell,b\n1,w,5\n2,x,5\n5,y,6\n", "batch,cell\n3,y\n2,x\n1,w\n"),
        ("patient,a\n30,1\n10,2\n20,5\n", "patient,batch\n20,3\n10,2\n30,1\n"),
    ],
)
def test_a_column_of_both_that_tells_the_points_apart(
    tmp_path: Path, content: str, labels: str
) -> None:
    (tmp_path / "m.csv").write_text(content)
    (tmp_path / "labels.csv").write_text(labels)
    data = read_data(tmp_path / "m.csv", labels=["batch"], label_file=tmp_path / "labels.csv")
    assert data.labels(["batch"]).tolist() == [1, 2, 3]
    assert re.search(r"joined by column '(cell|patient)' of both$", data.notes[-1])


def test_names_that_stand_twice(named: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,batch\nz,1\ny,2\nw,2\nw,3\n")
    with pytest.raises(ValueError, match="not all different: 'w' stands in rows 3 and 4"):
        read_data(named, labels=["batch"], label_file=labels)


def test_a_column_of_both_must_be_the_same(cells: Path, tmp_path: Path) -> None:
    obs = read_data(cells).columns
    names = [f"cell{i}" for i in range(12)]
    frame = pd.DataFrame(obs).set_axis(names).assign(new=list("ab") * 6)[::-1]
    frame.to_csv(tmp_path / "labels.csv")
    data = read_data(cells, labels=["new"], label_file=tmp_path / "labels.csv")
    assert data.columns["type"].cat.categories.tolist() == ["z", "unused", "a"]
    frame.loc["cell3", "type"] = "a"
    frame.to_csv(tmp_path / "labels.csv")
    with pytest.raises(
        ValueError, match=r"a column 'type', and they differ \(point 4: 'z' and 'a'"
    ):
        read_data(cells, labels=["type"], label_file=tmp_path / "labels.csv")


def test_a_column_named_like_a_feature_must_be_the_same(named: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame = pd.DataFrame({"a": X[:, 0], "batch": list("uvuv")}, index=NAMES)
    frame[::-1].to_csv(labels)
    data = read_data(named, labels=["batch"], label_file=labels)
    assert list(data.columns) == ["batch"] and data.features == ("a", "b")
    frame.assign(a="text").to_csv(labels)
    with pytest.raises(ValueError, match="both have a column 'a', and they differ"):
        read_data(named, labels=["batch"], label_file=labels)


def test_ranks_are_not_taken_for_names(tmp_path: Path) -> None:
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "m.csv")  # named 0 to 3
    (tmp_path / "labels.csv").write_text("batch,rank\nu,3\nv,2\nw,1\nx,0\n")
    data = read_data(tmp_path / "m.csv", labels=["batch"], label_file=tmp_path / "labels.csv")
    assert data.labels(["batch"]).tolist() == ["u", "v", "w", "x"]
    (tmp_path / "labels.csv").write_text("batch,cell\nu,3\nv,2\nw,1\nx,0\n")
    data = read_data(tmp_path / "m.csv", labels=["batch"], label_file=tmp_path / "labels.csv")
    assert data.labels(["batch"]).tolist() == ["x", "w", "v", "u"]
