"""The file itself, as a parser reads it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.report import write_report
from ctsne.report.payload import MOST_POINTS

from .conftest import made_up

EVIL = "</script><script>alert(1)</script>\u2028<!--"


class Reader(HTMLParser):
    """Collects elements and the content of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.scripts: list[tuple[dict[str, Any], str]] = []
        self.policy = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append((dict(attrs), ""))
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = str(dict(attrs)["content"])

    def handle_data(self, data: str) -> None:
        if self._inside:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def data(self, name: str) -> Any:
        (text,) = [text for attrs, text in self.scripts if attrs.get("id") == f"ctsne-{name}"]
        return json.loads(text) if text[0] in "{[" else base64.b64decode(text)


def written(folder: Path, **options: Any) -> Reader:
    result, columns = made_up()
    path = folder / "page.html"
    write_report(result, path, **{"columns": columns, "known": "batch", **options})
    return Reader(path.read_text("utf-8"))


def test_only_scripts_with_a_known_digest_may_run(tmp_path: Path) -> None:
    page = written(tmp_path)
    (run,) = [text for attributes, text in page.scripts if "type" not in attributes]
    (style,) = re.findall("<style>(.*?)</style>", (tmp_path / "page.html").read_text(), re.DOTALL)
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, run)
    ]
    assert re.findall(r"'sha256-([^']+)'", page.policy) == digests
    assert page.policy.startswith("default-src 'none';") and "http" not in page.policy
    assert "unsafe" not in page.policy


def test_arrays_are_those_of_the_sweep(tmp_path: Path) -> None:
    result, _ = made_up()
    page = written(tmp_path)
    rows = np.frombuffer(page.data("rows"), "<u4")
    assert sorted(rows.tolist()) == list(range(60))
    swept = result.maps[2]
    assert swept.embedding is not None
    steps = np.frombuffer(page.data("map-2-positions"), "<u2").reshape(-1, 2)
    spread = np.ptp(swept.embedding, axis=0).max()
    turned = swept.embedding[rows] - steps / 65535 * spread
    np.testing.assert_allclose(np.ptp(turned, axis=0), 0, atol=spread / 30_000)
    for name in ("perplexity", "other_share", "largest_weight"):
        highest = page.data("facts")["maps"][2]["highest"][name]
        values = np.frombuffer(page.data(f"map-2-{name}"), "u1") / 255 * highest
        np.testing.assert_allclose(values, swept.diagnostics[name][rows], atol=highest / 500)


def test_dominated_points_are_counted_and_listed_worst_first(tmp_path: Path) -> None:
    facts = written(tmp_path).data("facts")
    for place, each in enumerate(facts["maps"]):
        assert each["dominated"]["count"] == place
        assert [row for row, _ in each["dominated"]["worst"]] == list(range(place))


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    pages = []
    for _ in range(2):
        written(tmp_path, provenance={"b": 1, "a": 2})
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


def test_states_its_size(tmp_path: Path) -> None:
    written(tmp_path)
    page = (tmp_path / "page.html").read_bytes()
    (stated,) = re.findall(rb"one file of (\d+) kB", page)
    assert float(stated) == pytest.approx(len(page) / 1e3, abs=1)
    assert len(page) < 200_000  # 60 points take next to nothing


def test_technical_names_appear_in_the_explanations_only(tmp_path: Path) -> None:
    measures = written(tmp_path, other="kind").data("facts")["measures"]
    names = {each["key"]: each["name"] for each in measures}
    assert names["mixing"] == "mixing of batch"
    assert names["adjusted_rnx"] == "neighbours kept" and names["other_mixing"] == "mixing of kind"
    explained = " ".join(each["meaning"] for each in measures)
    assert "adjusted R_NX" in explained and "Laplacian score" in explained
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("R_NX") == 1 and page.count("Laplacian") == 1


def test_long_names_of_columns_are_cut_in_those_of_measures(tmp_path: Path) -> None:
    columns = {"x" * 300: ["a", "b"] * 30}
    measures = written(tmp_path, columns=columns, known="x" * 300).data("facts")["measures"]
    assert measures[0]["name"] == "mixing of " + "x" * 39 + "…"


def test_holds_a_command_for_each_map(tmp_path: Path) -> None:
    page = written(tmp_path, commands=[f"make {EVIL} {i}" for i in range(7)])
    assert page.data("commands") == [f"make {EVIL} {i}" for i in range(7)]
    assert page.elements == written(tmp_path).elements


def test_size_stays_bounded(tmp_path: Path) -> None:
    n = MOST_POINTS + 10_001
    result, columns = made_up(n, grid={"method": "joint", "strength": [0, 1]})
    columns["rare"] = np.where(np.arange(n) == 17, "one of a kind", "common")
    path = tmp_path / "page.html"
    write_report(result, path, columns=columns, known="batch")
    page = Reader(path.read_text("utf-8"))
    facts, rows = page.data("facts"), np.frombuffer(page.data("rows"), "<u4")
    assert len(rows) == MOST_POINTS and facts["n"] == n
    assert 17 in rows
    batch = facts["columns"][0]
    assert sum(batch["counts"]) == MOST_POINTS
    shown = np.bincount(rows % 2)
    assert batch["counts"] == shown.tolist() and facts["notShown"] == 10_001
