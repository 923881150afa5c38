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
    for more in ("page.html", "picture.png", "picture.svg", "picture.pdf"):
        Path(more).write_bytes(b"mine")
        others[more] = f"cells.csv -o new.csv --{'page' if more == 'page.html' else 'plot'} {more}"
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
