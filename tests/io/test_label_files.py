from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctsne.io import file_sha256, read_data

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
    assert data.notes == (f"labels of {labels} joined in the order of the rows",)


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
    with pytest.raises(ValueError, match=r"1 of the 4 rows .*no row 'y' .*did you mean 'Y'\?"):
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
