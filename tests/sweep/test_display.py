from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from ctsne.sweep import SweepResult, SweptMap, sweep

from ..markup import DATA, HOSTILE, LABELS, make, read


def swept(beta: Any, mixing: float = 0.1, error: str | None = None) -> SweptMap:
    measures = {} if error else {"mixing": mixing, "adjusted_rnx": 0.5, "kl_divergence": 1.0}
    return SweptMap({"beta": beta}, None if error else DATA.X[:, :2], measures, 1.0, error)


@pytest.fixture(scope="module")
def result() -> SweepResult:
    return sweep(
        DATA.X,
        DATA.known,
        {"method": "joint", "strength": [0, 0.5, 1]},
        other=DATA.hidden,
        estimator=make(n_iter=250),
        progress=False,
    )


def test_a_sweep_is_a_table_with_the_suggested_row_marked(result: SweepResult) -> None:
    markup = result._repr_html_()
    read(markup)
    rows = [re.sub("<[^>]+>", " ", row) for row in re.findall("<tr.*?</tr>", markup)]
    assert len(rows) == 1 + len(result.maps)
    assert re.split(r"\s{2,}", rows[0].strip()) == [
        "setting",
        "mixing of the label",
        "neighbours kept",
        "mixing of the other label",
        "seconds",
    ]
    marked = [row for row in rows if "★" in row]
    assert len(marked) == 1 and result.best().title in marked[0]
    assert f"{result.best().measures['mixing']:.2f}" in marked[0]


def test_a_sweep_shows_its_page_above_the_table(result: SweepResult) -> None:
    markup = result._repr_html_()
    assert markup.startswith("<iframe srcdoc=") and markup.count("<iframe") == 1
    assert "<details><summary>As a table" in markup
    lost = replace(result, labels=None, other=None)
    assert "<iframe" not in lost._repr_html_() and "<table" in lost._repr_html_()


def test_a_sweep_that_mixes_too_little_says_so(result: SweepResult) -> None:
    low = tuple(
        SweptMap(m.parameters, m.embedding, {**m.measures, "mixing": 0.1}, m.seconds, None)
        for m in result.maps
    )
    markup = SweepResult(low, result.points, result.estimator)._repr_html_()
    assert "★" not in markup
    assert "no setting mixes the label to 0.5 of random; the most is 0.10" in read(markup).text


def test_a_map_says_what_its_measures_mean(result: SweepResult) -> None:
    best = result.best()
    text = read(best._repr_html_()).text
    assert best.title in text and "no points have a neighbour" in text
    value = f"{best.measures['mixing']:.2f}"
    assert f"mixing of the label{value} (How far the label factored out is mixed" in text


def test_failed_maps_say_why(result: SweepResult) -> None:
    failed = swept(0.1, error="MemoryError: <none> left")
    assert "failedMemoryError: <none> left" in read(failed._repr_html_()).text
    for maps in ((failed, *result.maps[1:]), (failed,) * 3):
        text = read(SweepResult(maps, result.points, result.estimator)._repr_html_()).text
        assert text.count("failed: MemoryError: <none> left") == maps.count(failed)
        assert ("no finished map" in text) == (maps.count(failed) == 3)


def test_hostile_labels_are_text() -> None:
    beta = dict.fromkeys(HOSTILE, 0.1)
    paper = make(method="revised")
    found = sweep(DATA.X, LABELS, {"beta": [beta, 1]}, estimator=paper, progress=False)
    failed = swept(beta, error=HOSTILE[0])
    for markup in (
        found._repr_html_(),
        found.maps[0]._repr_html_(),
        failed._repr_html_(),
    ):
        reader = read(markup)
        assert {tag for tag, _ in reader.elements}.isdisjoint({"script", "img", "b"})
        assert not any(name.startswith("on") for _, attrs in reader.elements for name in attrs)
        assert HOSTILE[0] in reader.text


def test_long_settings_are_cut() -> None:
    text = read(swept({f"label {i}": 0.1 for i in range(1000)})._repr_html_()).text
    assert len(text) < 1000 and "…" in text
