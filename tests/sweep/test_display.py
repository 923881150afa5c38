from __future__ import annotations

from dataclasses import replace

import pytest

from ctsne.sweep import SweepResult, SweptMap, sweep

from ..markup import DATA, HOSTILE, LABELS, make, read


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


def test_a_sweep_shows_its_page_above_its_measures(result: SweepResult) -> None:
    markup = result._repr_html_()
    assert markup.startswith("<iframe srcdoc=") and markup.count("<iframe") == 1
    assert "<details><summary>In short" in markup and str(result.maps[-1]) in read(markup).text
    lost = replace(result, labels=None, other=None)
    assert "<iframe" not in lost._repr_html_() and str(result.maps[-1]) in lost._repr_html_()


def test_hostile_labels_are_text() -> None:
    beta = dict.fromkeys(HOSTILE, 0.1)
    paper = make(method="revised")
    found = sweep(DATA.X, LABELS, {"beta": [beta, 1]}, estimator=paper, progress=False)
    failed = SweptMap({"beta": beta}, None, {}, 1.0, HOSTILE[0])
    for swept in (found, replace(found, maps=(failed,), points=found.points[:1])):
        reader = read(swept._repr_html_())
        assert {tag for tag, _ in reader.elements}.isdisjoint({"script", "img", "b"})
        assert not any(name.startswith("on") for _, attrs in reader.elements for name in attrs)
        assert HOSTILE[0] in reader.text
