from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ctsne import ConditionalTSNE
from ctsne.report import write_report

from .conftest import made_up


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"result": 3}, TypeError, "result must be .* or a fitted ConditionalTSNE, got int"),
        ({"columns": [1]}, TypeError, "columns must be a mapping from names"),
        ({"columns": {1: [0] * 60}}, TypeError, "names of columns must be text, got 1"),
        ({"columns": {"batch": [0]}}, ValueError, "one entry for each of the 60 points"),
        ({"known": "bacth"}, ValueError, "known must be one of .* did you mean 'batch'?"),
        ({"known": None}, ValueError, "known must name the columns that were factored out"),
        ({"known": []}, ValueError, "known must name at least one of the columns"),
        ({"result": ConditionalTSNE()}, ValueError, "not fitted"),
        ({"features": [1]}, TypeError, "features must be a mapping from names"),
        ({"features": {1: [0] * 60}}, TypeError, "names of features must be text, got 1"),
        ({"features": {"g": [0]}}, ValueError, "shape .60,., got .1,."),
        ({"other": "kin"}, ValueError, "other must be one of .* did you mean 'kind'?"),
        ({"mixing": 1.5}, ValueError, "mixing must be"),
        ({"mixing": "half"}, TypeError, "mixing must be"),
        ({"names": ["a"]}, ValueError, "names has 1 entries but the maps have 60 points"),
        ({"names": "a"}, TypeError, "names must be a list with one name per point, got str"),
        ({"title": 3}, TypeError, "title must be text, got int"),
        (
            {"commands": "ctsne embed"},
            TypeError,
            "commands must be a list .* got str",
        ),
        ({"commands": [1] * 7}, TypeError, "commands must be a list with one text per map"),
        ({"commands": ["a"]}, ValueError, "commands has 1 entries but result has 7 maps"),
        ({"provenance": [1]}, TypeError, "provenance must be a mapping, got list"),
        ({"provenance": {"a": {1, 2}}}, TypeError, "provenance must hold values that JSON"),
        ({"provenance": {"a": float("nan")}}, TypeError, "provenance must hold values that JSON"),
        ({"result": made_up(9, dimensions=3).result}, ValueError, "3 dimensions.*n_components=2"),
        ({"result": made_up(9, failed=tuple(range(7))).result}, ValueError, "no finished map"),
    ],
)
def test_refuses(tmp_path: Path, change: dict[str, Any], error: Any, message: str) -> None:
    result, columns = made_up()
    path = tmp_path / "page.html"
    path.write_text("old")
    given = {"result": result, "columns": columns, "known": "batch", **change}
    with pytest.raises(error, match=message):
        write_report(given.pop("result"), path, **given)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_refuses_where_it_cannot_write(tmp_path: Path) -> None:
    result, columns = made_up()
    for path, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "page.html", "not exist")):
        with pytest.raises(ValueError, match=message):
            write_report(result, path, columns=columns, known="batch")


def test_a_data_frame_of_columns_is_understood(tmp_path: Path) -> None:
    result, columns = made_up()
    pages = [tmp_path / name for name in ("mapping.html", "frame.html")]
    for page, given in zip(pages, (columns, pd.DataFrame(columns)), strict=True):
        write_report(result, page, columns=given, known="batch", other="kind", title="maps")
    assert pages[0].read_bytes() == pages[1].read_bytes()
