"""The page of placed points: in colour above the reference in grey."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE, Placement
from ctsne.pl.palette import REFERENCE
from ctsne.report import write_placed
from ctsne.report.data import DISTANCE, PLACED

from .conftest import Opened

Open = Callable[..., Opened]
N, M = 50, 12


def placement(m: int = M, dimensions: int = 2) -> Placement:
    rng = np.random.default_rng(0)
    values = np.linspace(0, 2, m, dtype=np.float32)
    positions = rng.normal(size=(m, dimensions)).astype(np.float32)
    return Placement(positions, values, values > 1.5, 1.5, values, None, None, values)


def reference(n: int = N, dimensions: int = 2) -> Any:
    return np.random.default_rng(1).normal(size=(n, dimensions)) * 3


def facts_of(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    found = re.search(r'id="ctsne-facts">(.*?)</script>', text)
    assert found is not None
    facts: dict[str, Any] = json.loads(found[1])
    return facts


def test_columns_are_those_of_the_placed_points(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    columns = {"kind": ["a", "b", None] * 4, "depth": np.arange(M) / 2}
    write_placed(placement(), path, reference=reference(), columns=columns)
    facts = facts_of(path)
    assert [each["name"] for each in facts["columns"]] == ["kind", "depth", PLACED, DISTANCE]
    assert facts["columns"][0]["missing"] == N + 4
    assert facts["columns"][2]["labels"] == ["far", "near"]
    assert facts["placed"] == {"points": M, "reference": N, "far": 3, "limit": 1.5}
    assert facts["missingText"] == "reference" and facts["missingColor"] == REFERENCE


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        write_placed(placement(), page, reference=reference(), names=[f"c{i}" for i in range(M)])
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"placed": 3}, "placed must be"),
        ({"reference": ConditionalTSNE()}, "not fitted"),
        ({"reference": reference(dimensions=1)}, "1 columns, but the placed points have 2"),
        ({"columns": {PLACED: [1] * M}}, "cannot be the name of a column"),
        ({"columns": {"a": [1]}}, "one entry for each of the 12 points"),
        ({"names": ["a"]}, "names has 1 entries but 12 points were placed"),
        ({"title": 3}, "title must be text"),
        ({"path": "no/folder/page.html"}, "folder that does not exist"),
    ],
)
def test_wrong_arguments(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    given = {"placed": placement(), "path": tmp_path / "page.html", "reference": reference()}
    with pytest.raises((ValueError, TypeError), match=message):
        write_placed(**(given | changes))
    assert not list(tmp_path.iterdir())


def test_the_page_in_a_browser(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    columns = {"kind": ["a", "b", "c"] * 4}
    write_placed(placement(), path, reference=reference(), columns=columns, title="New <b>cells")
    page = opened(path)
    assert page.text("#title") == "New <b>cells"
    assert page.text("#about").startswith("12 points placed in a map of 50 (grey) · 3 are far")
    for hidden in ("#strength", "#left", "#suggestion", "#charts", "#settings", "#take"):
        assert not page.page.is_visible(hidden)
    assert page.page.is_visible("#right")
    labels = page.text("#legend-right .labels")
    assert "reference" in labels and "missing" not in labels
    page.page.fill("#find", "placed 11")
    facts = page.text("#point-facts")
    assert "far" in facts and "distance to map\n2" in facts
