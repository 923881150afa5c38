from __future__ import annotations

import os
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ctsne.io import read_data
from ctsne.labels import encode_column

from .conftest import refused

X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def test_a_matrix_with_its_columns(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz",
        X=X,
        batch=np.array(["a", "b", "", "a", "b"]),
        bytes=np.array([b"u", b"v"] * 2 + [b"u"]),
        number=np.array([[1], [2], [1], [2], [1]]),
        names=np.array(list("vwxyz")),
        features=np.array(["PC1", "PC2", "age"]),
        columns=np.array(["batch"]),
        note=np.array("what this is"),
    )
    data = read_data(tmp_path / "a.npz", labels=["batch", "number"])
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float32 and str(data.source) == "X (3 columns)"
    assert data.features == ("PC1", "PC2", "age")
    assert data.names is not None and data.names.tolist() == list("vwxyz")
    assert list(data.columns) == ["batch", "bytes", "number"]
    assert encode_column(data.labels(["batch"])).describe() == "2 labels (a: 2, b: 2), 1 missing"
    assert data.labels(["bytes", "number"]).tolist() == [
        "u | 1",
        "v | 2",
        "u | 1",
        "v | 2",
        "u | 1",
    ]
    assert read_data(tmp_path / "a.npz", features=["PC?"]).X.shape == (5, 2)
    refused("did you mean 'batch'", read_data, tmp_path / "a.npz", labels=["bach"])


def test_the_only_matrix_needs_no_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", cells=X, batch=np.arange(5).reshape(5, 1))
    data = read_data(tmp_path / "a.npz")
    assert data.features == ("cells1", "cells2", "cells3") and list(data.columns) == ["batch"]
    np.savez(tmp_path / "b.npz", one=X, two=X)
    refused(r"a matrix named X.*'one \(5, 3\)', 'two \(5, 3\)'", read_data, tmp_path / "b.npz")


def test_a_matrix_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    assert read_data(tmp_path / "a.npy").features == ("X1", "X2", "X3")
    with pytest.raises(
        ValueError,
        match=r"'batch' in .*there are none; pass .* with --label-file",
    ):
        read_data(tmp_path / "a.npy", labels=["batch"])
    np.save(tmp_path / "b.npy", X[:, 0])
    refused(r"got shape \(5,\)", read_data, tmp_path / "b.npy")
    np.save(tmp_path / "c.npy", X.astype(complex))
    refused("real numbers", read_data, tmp_path / "c.npy")
    np.save(tmp_path / "d.npy", X[:0])
    refused("holds no data to make a map of: 0 rows", read_data, tmp_path / "d.npy")


def test_sparse_matrices(tmp_path: Path) -> None:
    dense = np.where(X > 0, X, 0)
    sp.save_npz(tmp_path / "a.npz", sp.csc_matrix(dense))
    data = read_data(tmp_path / "a.npz")
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), dense)
    dense[3, 1] = np.nan
    sp.save_npz(tmp_path / "b.npz", sp.csr_matrix(dense))
    refused("a missing value in row 4, column 'X2'", read_data, tmp_path / "b.npz")


class Dangerous:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("unpickled",)


def test_pickles_are_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    harm = np.array([Dangerous()] * 5, object)
    np.savez("labels.npz", X=X, batch=harm, good=np.arange(5))
    data = read_data("labels.npz")
    assert list(data.columns) == ["good"]
    assert data.notes[0].startswith("skipped Python objects: 'batch' (save text with .astype(str)")
    message = r"'batch' in .* holds Python objects \(a pickle\).*save text with \.astype\(str\)"
    refused(message, read_data, "labels.npz", labels=["batch"])
    np.savez("matrix.npz", X=harm, batch=np.arange(5))
    np.save("matrix.npy", harm)
    for name in ("matrix.npz", "matrix.npy"):
        refused(r"a pickle.*save text with \.astype\(str\)", read_data, name)
    assert not Path("unpickled").exists()


@pytest.mark.parametrize("name", ["a.npz", "a.npy"])
def test_files_that_are_something_else(tmp_path: Path, name: str) -> None:
    for content in (b"", b"a,b\n1,2\n", b"PK\x03\x04 and then nothing"):
        (tmp_path / name).write_bytes(content)
        refused(rf"{name} (is not a valid NumPy file|holds Python)", read_data, tmp_path / name)


def test_real_data(real_data: Callable[[str], Any]) -> None:
    expected = real_data("pancreas3")
    data = read_data(Path(os.environ["CTSNE_DATA"]) / "pancreas3.npz", labels=["study"])
    np.testing.assert_array_equal(data.X, expected.X)
    np.testing.assert_array_equal(data.labels(["study"]), expected.known)
    assert list(data.columns) == ["study", "cell_type"]
    assert len(encode_column(data.labels(["study", "cell_type"])).names) == len(
        set(zip(expected.known.tolist(), expected.hidden.tolist(), strict=True))
    )


def test_invalid_sparse_matrices_are_refused(tmp_path: Path) -> None:
    matrix = sp.csr_matrix(np.eye(4))
    matrix.indices[2] = 10**6
    sp.save_npz(tmp_path / "a.npz", matrix)
    with pytest.raises(ValueError, match=r"a\.npz is damaged: its sparse matrix is invalid"):
        read_data(tmp_path / "a.npz", features=["X1"])


def header(shape: str, dtype: str = "<f8") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        header(f"({10**15},)") + bytes(24),
        header(f"({2**62}, 8)"),
        header(f"(0, {10**15})"),
        header("(-1, 3)") + bytes(24),
        header("(40.0, 4)") + bytes(1280),
        header("(True, 3)") + bytes(24),
        header(f"({10**12},)", "<U0"),
        header("(3, 2)", "|O") + bytes(48),
        header("(3, 2)", "<U1") + b"\xff" * 24,
        header("(3, 2)").replace(b"\x01\x00", b"\x03\x00", 1) + bytes(48),
        header("(" * 2000),
        header("[" * 5000),
        b"",
    ],
    ids=range(13),
)
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_headers_that_lie(content: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name == "a.npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", content)
    begin = time.perf_counter()
    with pytest.raises((ValueError, MemoryError), match=rf"{name} ") as caught:
        read_data(path)
    assert time.perf_counter() - begin < 5 and len(str(caught.value)) < 500


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **{"format": b"csr", "shape": [4, 3], "data": [1.0, 2.0], **arrays})
    return path


CSR = {"indices": [0, 2], "indptr": [0, 1, 1, 2, 2]}


@pytest.mark.parametrize(
    "change",
    [
        {"indices": [0, 10**7]},
        {"indices": [0, -3]},
        {"indices": [0.0, 1.0]},
        {"indices": [[0, 1]]},
        {"indices": [0]},
        {"indptr": [0, 10**7, 1, 2, 2]},
        {"indptr": [0, 9, 9, 9, 0]},
        {"indptr": [0, 2, 1, 2, 2]},
        {"indptr": [[0, 1, 1, 2, 2]]},
        {"indptr": [0, 1]},
        {"indptr": [1, 1, 1, 2, 2]},
        {"shape": [4, 3, 1]},
        {"shape": [-4, 3]},
        {"shape": [10**12, 3]},
        {"shape": [4, 10**13]},
        {"shape": [4.0, 3.0]},
        {"shape": 4},
        {"shape": ["4", "3"]},
        {"data": [[1.0, 2.0]]},
        {"data": ["a", "b"]},
        {"format": b"lil"},
        {"format": b"\xff"},
        {"format": "coo", "row": [0, 9], "col": [0, 1]},
        {"format": "coo", "row": [0], "col": [0, 1]},
        {"format": "coo", "shape": [10**12, 3], "row": [0, 1], "col": [0, 1]},
        {"format": "csc"},
        {"format": "bsr"},
        {"format": "bsr", "data": np.ones((2, 0, 0))},
        {"format": "dia", "offsets": [10**9], "data": [[1.0]]},
        {"format": "dia", "offsets": [0, 0]},
        {"format": ["csr", "csr"]},
        {"indptr": None},
    ],
    ids=str,
)
def test_sparse_matrices_that_lie(change: dict[str, object], tmp_path: Path) -> None:
    arrays = {name: each for name, each in {**CSR, **change}.items() if each is not None}
    begin = time.perf_counter()
    with pytest.raises((ValueError, MemoryError), match=r"a\.npz[: ]") as caught:
        read_data(save(tmp_path / "a.npz", **arrays))
    assert time.perf_counter() - begin < 5 and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("of", ["matrix", "array"])
def test_sparse_matrices_of_every_format(kind: str, of: str, tmp_path: Path) -> None:
    X = sp.random(12, 6, 0.4, random_state=0)
    sp.save_npz(tmp_path / "a.npz", getattr(sp, f"{kind}_{of}")(X))
    assert np.array_equal(read_data(tmp_path / "a.npz").X.toarray(), X.toarray().astype("f4"))


def test_an_archive_larger_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((2**17, 8)))
    assert (tmp_path / "a.npz").stat().st_size < 2**15
    monkeypatch.setattr("ctsne._core.files.free_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"a\.npz needs about 8 MiB of memory, but only 1 MiB"):
        read_data(tmp_path / "a.npz")


def test_archives_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.ones((4, 2)))
    whole = path.read_bytes()
    for place, value in ((6, 1), (8, 99)):  # encrypted; an unknown compression
        content = bytearray(whole)
        content[place] = content[whole.index(b"PK\x01\x02") + place + 2] = value
        path.write_bytes(content)
        refused(r"a\.npz is not a valid NumPy file: ", read_data, path)
