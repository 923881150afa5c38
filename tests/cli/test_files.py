"""Outputs of commands: what they may replace, and what a file cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from ctsne.io.maps import _has_nul

Run = Callable[..., str]


@pytest.mark.parametrize("name", ["map.csv", "map.tsv.gz", "map.parquet", "map.h5ad"])
def test_files_of_others_are_replaced_only_by_force(
    name: str, cells: str, run: Run, fail: Run, quick: list[str]
) -> None:
    usual = f"--labels batch {' '.join(quick)}"
    write = {".csv": "to_csv", ".gz": "to_csv", ".parquet": "to_parquet"}.get(Path(name).suffix)
    frame = pd.DataFrame({"patient": [1, 2, 3]})
    if write is None:
        anndata.AnnData(np.ones((3, 2))).write_h5ad(name)
    else:
        getattr(frame, write)(name)
    others = {name: f"cells.csv -o {name}"}
    options = {".html": "page", ".ctsne": "model"}
    for more in ("page.html", "picture.png", "picture.svg", "picture.pdf", "some.ctsne"):
        Path(more).write_bytes(b"mine: ctsne and others")  # such as the title of a figure
        option = options.get(Path(more).suffix, "plot")
        others[more] = f"cells.csv -o new.csv --{option} {more}"
    for path, command in others.items():
        before = Path(path).read_bytes()
        message = f"{path} exists and was not written by ctsne; name another output"
        assert message in fail(f"embed {command} {usual}")
        assert Path(path).read_bytes() == before and not Path("new.csv").exists()
        run(f"embed {command} {usual} --force")
        assert Path(path).read_bytes() != before
        Path("new.csv").unlink(missing_ok=True)
        run(f"embed {command} {usual}")  # what ctsne wrote, it may replace
        Path("new.csv").unlink(missing_ok=True)


def test_a_map_of_another_key_is_replaced(cells: str, run: Run, quick: list[str]) -> None:
    usual = f"--labels batch {' '.join(quick)}"
    run(f"embed cells.csv -o map.h5ad --key second {usual}")
    with h5py.File("map.h5ad", "r+") as file:
        file["uns"]["a number"] = 1.0  # other entries do not matter
    run(f"embed cells.csv -o map.h5ad {usual}")


def test_data_that_hold_a_map_are_not_replaced(
    cells: str, frame: pd.DataFrame, run: Run, fail: Run, quick: list[str]
) -> None:
    usual = f"--labels batch {' '.join(quick)}"
    run(f"embed cells.csv -o map.h5ad {usual}")
    run(f"embed map.h5ad -o copy.h5ad {usual}")
    run(f"embed cells.csv -o copy.h5ad {usual}")  # both were made by ctsne
    adata = anndata.read_h5ad("map.h5ad")
    adata.layers["counts"] = adata.X
    adata.write_h5ad("map.h5ad")
    del adata.uns["ctsne"], adata.obsm["X_ctsne"]
    adata.obs = adata.obs[["batch"]]
    adata.write_h5ad("data.h5ad")
    run(f"embed data.h5ad -o data.h5ad {usual}")  # a map is added to the user's data
    run(f"embed cells.csv -o map.csv {usual}")
    frame.to_csv("map.csv")  # beside the record of the map that was there
    for name in ("map.h5ad", "data.h5ad", "map.csv"):
        before = Path(name).read_bytes()
        message = f"{name} exists and was not written by ctsne"
        assert message in fail(f"embed cells.csv -o {name} {usual}")
        assert Path(name).read_bytes() == before


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_of_files_with_any_name_are_replaced(
    suffix: str, cells: str, run: Run, quick: list[str]
) -> None:
    run(f"embed cells.csv -o π.csv --labels batch {' '.join(quick)}")
    for _ in range(2):
        run(f"plot π.csv -o π.{suffix}")


def test_labels_with_nul_are_refused_where_a_file_cannot_hold_them(
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    fail: Run,
    quick: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    frame.assign(batch=np.where(np.arange(len(frame)) % 2, "a\0b", "a")).to_parquet("x.parquet")
    usual = f"--labels batch {' '.join(quick)}"
    for name in ("map.csv", "map.tsv", "map.h5ad"):
        message = f"cannot write {name}: column 'batch' contains NUL characters"
        assert message in fail(f"embed x.parquet -o {name} {usual}")
        assert not Path(name).exists()
    run(f"embed x.parquet -o map.parquet {usual}")
    assert set(pd.read_parquet("map.parquet")["batch"]) == {"a\0b", "a"}


def test_values_that_cannot_be_counted_have_no_nul() -> None:
    assert not _has_nul(pd.Series([[1], {"a": 2}, "b"], dtype=object))
    assert _has_nul(pd.Series([[1], "b\0"], dtype=object))
