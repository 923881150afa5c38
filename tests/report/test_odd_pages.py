"""Pages of odd data in a real browser: text that means harm, and sweeps that lack something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.report import write, write_report

from .conftest import Made, Open, made_up, written

EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    '"><b id=evil>',
    "' onload='alert(4)",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "{{data}}",
    "$$x^2$$",
    "__proto__",
    "constructor",
    "toString",
    "line\u2028break\u2029",
    "🧬🐁",
    "\u202eright to left",
    "שלום עולם",
    "",
    " ",
    "x" * 5000,
    "\ud800 alone",
    "\x00nul",
    "missing",
    "1",
    "@y{safe}",
]


def test_hostile_text_is_only_text(opened: Open, tmp_path: Path) -> None:
    n = 4 * len(EVIL)
    made = made_up(n, failed=(3,))
    labels = [EVIL[i % len(EVIL)] for i in range(n)]
    gaps = [None if i % 7 == 0 else labels[i] for i in range(n)]
    columns = {name: labels for name in EVIL if name} | {"gaps": gaps}
    path = written(
        tmp_path,
        made,
        columns=columns,
        known="__proto__",
        other="constructor",
        names=labels,
        title="</title><script>alert(5)</script>\ud800",
        provenance={"<script>alert(6)</script>": {"__proto__": "</script>\u2028<b id=evil>"}},
    )
    (tmp_path / "plain").mkdir()
    plain = opened(written(tmp_path / "plain", made_up(n, failed=(3,))))
    kinds = "[...new Set([...document.querySelectorAll('*')].map(each => each.localName))].sort()"
    page = opened(path)
    assert page.page.title().startswith("</title><script>alert(5)</script>")
    for place in range(len(columns)):
        page.page.select_option("#right-column", value=str(place))
        shown = page.page.locator("#legend-right .name").evaluate_all(
            "all => all.map(e => e.textContent)"
        )
        for evil in ("<script>alert(1)</script>", '"><b id=evil>', "__proto__", "שלום עולם"):
            assert evil in shown
    page.page.click("#legend-right button >> nth=0")
    for side in ("left", "right"):
        for place in page.pixels(side)[:20]:
            page.page.mouse.move(*place)
    page.page.fill("#find", "<script>")
    assert page.page.locator("#evil").count() == 0
    assert page.page.evaluate(kinds) == plain.page.evaluate(kinds)
    assert (
        page.page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length")
        == 0
    )
    assert "failed: MemoryError: <b>no</b>" in page.text("#settings")
    page.page.click("#again-all summary")
    assert "</script>" in page.text("#provenance")


def test_page_of_one_map(opened: Open, tmp_path: Path) -> None:
    made = made_up(10, grid={"method": "joint", "strength": 0.5})
    page = opened(written(tmp_path, made, other=None))
    assert page.page.is_disabled("#strength") and not page.page.is_visible("#line")
    assert page.shown("left") == page.shown("right") == "joint, strength 0.5"
    assert not page.page.is_visible("#trade-off") and not page.page.is_visible("#course")


def model(labels: object, n: int = 60, **parameters: Any) -> ConditionalTSNE:
    rng = np.random.default_rng(0)
    estimator = ConditionalTSNE(n_iter=20, perplexity=5, random_state=0, **parameters)
    return estimator.fit(rng.normal(size=(n, 4)), labels=labels)


def test_page_of_a_model(opened: Open, tmp_path: Path) -> None:
    columns = {"batch": ["one", "two"] * 30, "kind": ["a", "b", "c"] * 20}
    path = tmp_path / "page.html"
    write_report(model(columns["batch"]), path, columns=columns, known="batch", other="kind")
    page = opened(path, viewport={"width": 900, "height": 620})
    for hidden in ("#strength", "#suggestion", "#trade", "#settings", "#left-map", "#course"):
        assert not page.page.is_visible(hidden), hidden
    assert page.text("#legend-left-title") == "Left: batch"
    assert page.text("#legend-right-title") == "Right: kind"
    assert page.text("#command").startswith("ConditionalTSNE(")
    box = page.page.locator("#right").bounding_box()
    assert box is not None and box["y"] + box["height"] < 620 and box["height"] > 300


def test_page_of_a_model_without_labels(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_report(model(None, method="tsne"), path)
    page = opened(path)
    assert not page.page.is_visible("#left") and page.page.is_visible("#right")
    page.page.fill("#find", "17")
    assert "row\n17" in page.text("#point-facts")


def test_page_of_maps_on_a_line(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, made_up(30, dimensions=1)))
    assert "heights are random and have no meaning" in str(page.page.text_content("#about-full"))


def test_measures_that_cannot_be_measured(opened: Open, tmp_path: Path) -> None:
    made = made_up(12, scores=[(float("nan"), float("nan"))])
    page = opened(written(tmp_path, made))
    assert not page.page.is_visible("#suggestion")
    assert not page.page.is_visible("#trade-off")
    assert "could not be measured" in page.text("#unmeasured")


def test_strengths_for_each_label(opened: Open, tmp_path: Path) -> None:
    betas = [{"one": 1, "two": 1}, {"one": 1e-3, "two": 1}]
    grid = {"method": "revised", "beta": betas}
    page = opened(written(tmp_path, made_up(12, grid=grid, scores=[(0.2, 0.5), (0.7, 0.4)])))
    assert page.shown() == "revised, beta one=0.001, two=1"


def test_more_labels_than_can_be_shown(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MOST_POINTS", 50_000)
    n = 60_000
    result, columns = made_up(n, grid={"method": "joint", "strength": [0]}, scores=[(0.1, 0.5)])
    columns["donor"] = [f"donor {i // 2}" for i in range(n)]
    columns["barcode"] = [f"barcode {i}" for i in range(n)]
    page = opened(written(tmp_path, Made(result, columns), other="donor"))
    assert "chosen at random without some rare labels" in str(page.page.text_content("#about-full"))
    option = page.page.locator("#right-column option", has_text="barcode")
    assert option.text_content() == "barcode (60,000 different values, too many for colours)"
    assert option.is_disabled()
    assert page.page.locator("#legend-right li").count() == 1000
    assert "The 1,000 largest of 30,000 labels" in page.text("#legend-right .note")
    row = page.page.evaluate("ctsnePage.rows()[7]")
    page.page.fill("#find", str(row))
    assert f"barcode {row}" in page.text("#point-facts")


def test_more_points_than_can_be_shown(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MOST_POINTS", 50_000)
    grid = {"method": "joint", "strength": [0, 1]}
    made = made_up(60_000, grid=grid, scores=[(0.1, 0.5), (0.8, 0.4)])
    names = [f"cell {row}" for row in range(60_000)]
    page = opened(written(tmp_path, made, names=names))
    assert page.text("#about").startswith("50,000 of 60,000 points shown")
    shown = "50,000 of 60,000 points are shown, chosen at random with every label among them"
    assert shown in str(page.page.text_content("#about-full"))
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    counts = [f"{(rows % 2 == batch).sum():,}" for batch in (0, 1)]
    assert page.text("#legend-left .labels").split() == ["one", counts[0], "two", counts[1]]
    # Some of the points move; then all are where they belong, and what is selected still is.
    page.page.click("#legend-left button:has-text('two')")
    assert page.text("#selection-count").startswith(f"{counts[1]} of 50,000 points shown")
    page.page.click("[data-preset=maps]")
    page.page.click("#settings button:has-text('strength 0')")
    page.settle()
    assert page.shown() == "joint, strength 0"
    same = """() => {
        const [left, right] = ["left", "right"].map(ctsnePage.positions);
        return left.x.every((x, i) => x === right.x[i] && left.y[i] === right.y[i]);
    }"""
    assert page.page.evaluate(same)
    assert page.page.evaluate("ctsnePage.drawn('right')") == 50_000
    assert len(page.page.evaluate("ctsnePage.highlighted('right')")) == (rows % 2 == 1).sum()
    with page.page.expect_download() as download:
        page.page.click("#download")
    assert download.value.suggested_filename == "selected-points-of-those-shown.csv"
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == 1 + (rows % 2 == 1).sum()
    hidden = min(set(range(60_000)) - set(rows.tolist()))
    page.page.fill("#find", f"{hidden}")
    assert page.text("#point-hint") == f"Row {hidden} exists, but is not among the points shown."
    page.page.fill("#find", f"cell {hidden}x")
    assert "10,000 points are not shown, and may have it" in page.text("#point-hint")


def test_a_sweep_of_a_sample_says_so(opened: Open, tmp_path: Path) -> None:
    made = made_up()
    made = Made(replace(made.result, sampled_from=158_000), made.columns)
    page = opened(written(tmp_path, made))
    assert page.text("#about").startswith("60 of 158,000 points · 7 maps")
    page.page.click("#legend-left button:has-text('two')")
    assert page.text("#selection-count") == "30 of 60 points shown (50 %); 158,000 in all"
    with page.page.expect_download() as download:
        page.page.click("#download")
    assert download.value.suggested_filename == "selected-points-of-those-shown.csv"
    assert (
        Path(download.value.path())
        .read_text()
        .startswith('"row in sample","name","selection","batch"')
    )
