"""Damaged files of every format: read, or an error in one line with the file's name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne.io import (
    read_columns,
    read_data,
    read_map,
    read_settings,
    write_columns,
)

from .conftest import store

N = 30
CASES = 25


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, label files and maps in every format."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        batch=pd.Categorical(["u", "v"] * (N // 2)), type=["x", None, "z"] * (N // 3)
    )
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv.gz", index=False, sep="\t")
    frame.to_parquet(folder / "t.parquet")
    np.savez_compressed(folder / "t.npz", X=X, batch=np.array(["u", "v"] * (N // 2)))
    sp.save_npz(folder / "s.npz", sp.random(N, 8, 0.3, "csr", random_state=rng))
    np.save(folder / "t.npy", X)
    frame.index = [f"c{i}" for i in range(N)]
    sparse = sp.random(N, 8, 0.3, "csr", random_state=rng)
    adata = anndata.AnnData(sparse, obs=frame[["batch"]])
    adata.obsm["X_pca"] = X
    adata.write_h5ad(folder / "t.h5ad", compression="gzip")
    data = read_data(folder / "t.h5ad")
    for name in ("m.csv", "m.tsv.gz", "m.parquet", "m.h5ad"):
        store(folder / name, X[:, :2], data)
    write_columns(folder / "columns.parquet", {"batch": frame["batch"]}, names=None)
    return folder


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    kind, places = rng.integers(4), rng.integers(len(content), size=4)
    if kind == 0:
        return bytes(changed[: places[0]])
    if kind == 1:  # a piece of the file in another place
        changed[places[0] : places[0] + 40] = changed[places[1] : places[1] + 40]
        return bytes(changed)
    for place in places:
        changed[place] = rng.integers(256) if kind == 2 else changed[place] ^ 1 << rng.integers(8)
    return bytes(changed)


def labels_of(path: Path) -> object:
    return read_data(path.with_name("X.npy"), label_file=path, labels=["batch"])


def settings_of(path: Path) -> object:
    return read_settings(path, "ctsne")


READERS: list[tuple[str, str, Callable[[Path], object]]] = [
    *((name, name, read_data) for name in ("t.csv", "t.tsv.gz", "t.parquet", "t.npz")),
    *((name, name, read_data) for name in ("s.npz", "t.npy", "t.h5ad")),
    *((name, name, labels_of) for name in ("t.csv", "t.parquet")),
    *((name, name, read_map) for name in ("m.csv", "m.tsv.gz", "m.parquet", "m.h5ad")),
    *((name, name, settings_of) for name in ("m.parquet", "m.h5ad")),
    ("m.csv.json", "m.csv", read_map),
    ("columns.parquet", "columns.parquet", read_columns),
]


@pytest.mark.parametrize(
    ("changed", "name", "read"),
    READERS,
    ids=[f"{getattr(read, '__name__', '')}-{changed}" for changed, _, read in READERS],
)
def test_a_damaged_file(
    changed: str, name: str, read: Callable[[Path], object], files: Path, tmp_path: Path
) -> None:
    for each in files.glob(f"{name}*"):
        shutil.copy(each, tmp_path)
    np.save(tmp_path / "X.npy", np.ones((N, 2)))
    read(tmp_path / name)
    whole = (tmp_path / changed).read_bytes()
    messages = []
    for case in range(CASES):
        (tmp_path / changed).write_bytes(damaged(whole, np.random.default_rng([7, case])))
        try:
            read(tmp_path / name)
        except (ValueError, MemoryError) as error:
            messages.append(str(error))
    assert messages
    assert not [each for each in messages if name not in each or "\n" in each or len(each) > 999]
