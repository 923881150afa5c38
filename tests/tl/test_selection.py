"""Selections of a page in obs, and as labels of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

from ctsne import tl
from ctsne.io import read_data

HEAD = '"row","name","selection","batch","map_1","map_2"'


def saved(folder: Path, *lines: str, head: str = HEAD) -> Path:
    path = folder / "selected-points.csv"
    path.write_text("\n".join([head, *lines, ""]), "utf-8")
    return path


@pytest.fixture
def cells() -> Any:
    obs = pd.DataFrame(index=["007", "b", "NA", "d,e"])
    return anndata.AnnData(np.eye(4, dtype=np.float32), obs=obs)


def test_selections_become_categories(cells: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, '3,"d,e","z | 1","a",0,1', '0,"007","1","a",0,1', '2,"NA","z","b",2,2')
    assert tl.read_selection(cells, path) is None
    assert cells.obs["selection"].tolist() == ["1", np.nan, "z", "z | 1"]
    assert cells.obs["selection"].cat.categories.tolist() == ["z | 1", "1", "z"]
    other = tl.read_selection(cells, path, key="mine", copy=True)
    assert other is not None and "mine" in other.obs and "mine" not in cells.obs


def test_cells_without_names_are_found_by_row(cells: Any, tmp_path: Path) -> None:
    tl.read_selection(cells, saved(tmp_path, '1,"row 1","x","a",0,1', '3,"row 3","x","a",0,1'))
    assert cells.obs["selection"].tolist() == [np.nan, "x", np.nan, "x"]


@pytest.mark.parametrize(
    ("lines", "head", "message"),
    [
        (['0,"c","x","a",0,1'], HEAD, r"1 of the 1 points of .* are not in adata.obs_names: 'c'"),
        (['0,"b","x","a",0,1'] * 2, HEAD, r"must be unique, but .*points.csv repeats 'b'"),
        (["1,2"], "row,name", "was not saved by a page: it needs a column 'selection'"),
        ([], HEAD, "has column names but no rows"),
        (['0,"b","x"'] * 2, "a,a,b", "more than one column named 'a'"),
    ],
)
def test_other_files_are_refused(
    cells: Any, tmp_path: Path, lines: list[str], head: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tl.read_selection(cells, saved(tmp_path, *lines, head=head))
    assert "selection" not in cells.obs


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_other_arguments_are_refused(cells: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, '0,"b","x","a",0,1')
    with pytest.raises(TypeError, match="key must be the name of a column, got 3"):
        tl.read_selection(cells, path, key=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="adata must be an AnnData object"):
        tl.read_selection({}, path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"there is no file|not found|does not exist"):
        tl.read_selection(cells, tmp_path / "none.csv")
    cells.obs_names = ["b", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"but adata.obs_names repeats 'b'"):
        tl.read_selection(cells, path)


def test_a_selection_is_a_file_of_labels(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "kind": ["u", "v", "w"]}, index=["a", "b", "c"])
    frame.to_csv(tmp_path / "cells.csv")
    path = saved(tmp_path, '1,"c","mine","v",0,1')
    data = read_data(tmp_path / "cells.csv", labels=["selection"], label_file=path)
    assert data.columns["selection"].tolist() == [None, None, "mine"]
    assert list(data.columns) == ["kind", "selection"] and "batch" not in data.columns
    assert any(note.endswith("points.csv: 1") for note in data.notes)
    with pytest.raises(ValueError, match=r"are not in .*cells.csv: 'zz'"):
        read_data(tmp_path / "cells.csv", label_file=saved(tmp_path, '1,"zz","mine","v",0,1'))
