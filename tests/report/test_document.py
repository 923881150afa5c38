"""The file itself, as a parser reads it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ctsne.report import write

from .conftest import made_up
from .conftest import written as write_page

EVIL = "</script><script>alert(1)</script>\u2028<!--"


class Written(NamedTuple):
    """The text of a page, and the content of its elements by name."""

    text: str

    def data(self, name: str) -> Any:
        (text,) = re.findall(rf'<script [^>]*id="ctsne-{name}">([^<]*)</script>', self.text)
        return json.loads(text) if text[0] in "{[" else base64.b64decode(text)


def written(folder: Path, **options: Any) -> Written:
    return Written(write_page(folder, **{"other": None, **options}).read_text("utf-8"))


def test_only_scripts_with_a_known_digest_may_run(tmp_path: Path) -> None:
    page = written(tmp_path)
    (run,) = re.findall("<script>(.*?)</script>", page.text, re.DOTALL)
    (style,) = re.findall("<style>(.*?)</style>", page.text, re.DOTALL)
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', page.text)
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, run)
    ]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert policy.startswith("default-src 'none';") and "http" not in policy
    assert "unsafe" not in policy


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
    one, other = (written(tmp_path, provenance={"b": 1, "a": 2}).text for _ in range(2))
    assert one == other
    (stated,) = re.findall(r"one file of (\d+) kB", one)
    size = len(one.encode())
    assert float(stated) == pytest.approx(size / 1e3, abs=1)
    assert size < 250_000  # 60 points take next to nothing


def test_technical_names_appear_in_the_explanations_only(tmp_path: Path) -> None:
    page = written(tmp_path, other="kind")
    measures = page.data("facts")["measures"]
    names = {each["key"]: each["name"] for each in measures}
    assert names["mixing"] == "mixing of batch"
    assert names["adjusted_rnx"] == "neighbours kept" and names["other_mixing"] == "mixing of kind"
    explained = " ".join(each["meaning"] for each in measures)
    assert "adjusted R_NX" in explained and "Laplacian score" in explained
    assert page.text.count("R_NX") == 1 and page.text.count("Laplacian") == 1


def test_long_names_of_columns_are_cut_in_those_of_measures(tmp_path: Path) -> None:
    columns = {"x" * 300: ["a", "b"] * 30}
    measures = written(tmp_path, columns=columns, known="x" * 300).data("facts")["measures"]
    assert measures[0]["name"] == "mixing of " + "x" * 39 + "…"


def test_holds_a_command_for_each_map(tmp_path: Path) -> None:
    page = written(tmp_path, commands=[f"make {EVIL} {i}" for i in range(7)])
    assert page.data("commands") == [f"make {EVIL} {i}" for i in range(7)]
    # No text of the data can end the element that holds it.
    assert page.text.count("<script") == written(tmp_path).text.count("<script")


def test_size_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MOST_POINTS", 5_000)
    n = 6_001
    made = made_up(n, grid={"method": "joint", "strength": [0, 1]})
    made.columns["rare"] = np.where(np.arange(n) == 17, "one of a kind", "common")
    page = Written(write_page(tmp_path, made).read_text("utf-8"))
    facts, rows = page.data("facts"), np.frombuffer(page.data("rows"), "<u4")
    assert len(rows) == 5_000 and facts["n"] == n and facts["notShown"] == 1_001
    assert 17 in rows
    assert facts["columns"][0]["counts"] == np.bincount(rows % 2).tolist()


def test_no_name_of_the_script_is_defined_twice() -> None:
    # All files share one scope, in which the last of two functions of a name would win silently.
    assets = resources.files("ctsne.report") / "assets"
    texts = [path.read_text("utf-8") for path in assets.iterdir() if path.name.endswith(".js")]
    names = re.findall(r"^(?:async )?function (\w+)", "\n".join(texts), re.MULTILINE)
    assert len(names) > 100 and sorted(names) == sorted(set(names))
