"""The page of a sweep in which several label columns were factored out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.report import write_report

from .conftest import Made, Opened, made_up, written

Open = Callable[..., Opened]


def several(n: int = 60, seed: int = 0, **options: Any) -> Made:
    """Return a made-up sweep in which two columns are mixed to different degrees."""
    made = made_up(n, **options)
    rng = np.random.default_rng(seed)
    maps = []
    for swept in made.result.maps:
        low = min(1.0, swept.measures["mixing"] * rng.uniform(0.7, 1.3))
        by_column = {"mixing (batch)": swept.measures["mixing"], "mixing (kind)": low}
        maps.append(replace(swept, measures={**swept.measures, **by_column}))
    return Made(replace(made.result, maps=tuple(maps)), made.columns)


KNOWN = {"known": ["batch", "kind"], "other": None}


def test_colours_and_targets_for_each(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, several(), **KNOWN, mixing={"batch": 0.5, "kind": 0.4}))
    assert page.page.input_value("#share") == "0.5" and page.page.input_value("#share-1") == "0.4"
    assert "factored out: batch, kind" in page.text("#about")
    about = str(page.page.text_content("#about-full"))
    assert "factored out: batch (2 labels), kind (3 labels)" in about
    assert "mixing of batch" in page.text("#right-measures")
    assert "mixing of kind" in page.text("#right-measures")
    heads = page.page.locator("#settings th").all_text_contents()
    assert heads[1:3] == ["mixing of batch", "mixing of kind"]
    page.page.select_option("#right-column", label="kind")
    assert page.text("#legend-left-title") == "kind"
    assert page.page.locator("#course-key li").count() == 4


def test_suggests_what_the_sweep_would_choose(opened: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    grid = [
        {"method": "joint", "strength": [1, 0, 0.5], "random_state": [0, 1]},
        {"method": "revised", "beta": [1e-9, 1, 1e-3], "random_state": [0, 1]},
    ]
    made = several(20, grid=grid, scores=[tuple(pair) for pair in rng.uniform(0, 1, (12, 2))])
    page = opened(written(tmp_path, made, **KNOWN))
    for batch, kind in rng.uniform(0, 0.9, (30, 2)):
        try:
            best = made.result.best(mixing={"batch": batch, "kind": kind})
            wanted = made.result.maps.index(best)
        except ValueError:
            wanted = None
        asked = [float(batch), float(kind)]
        assert page.page.evaluate("shares => ctsnePage.suggest(shares)", asked) == wanted


def test_a_target_that_is_changed(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, several(), **KNOWN))
    page.page.fill("#share-1", "1")
    assert "no setting mixes that far: the nearest is" in page.text("#suggested")
    page.page.fill("#share-1", "0.1")
    assert page.state()["suggested"] is not None
    assert page.page.evaluate("ctsnePage.state().targets") == [0.5, 0.1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"known": ["batch", "kidn"]}, "known must be one of the columns.*did you mean 'kind'"),
        ({"known": []}, "known must name at least one"),
        ({"mixing": {"batch": 0.5}}, "mixing must give a number for every label column"),
        ({"mixing": {"batch": 0.5, "kidn": 1}}, "did you mean 'kind'"),
    ],
)
def test_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    made = several()
    given = {"columns": made.columns, "known": ["batch", "kind"], **change}
    with pytest.raises(ValueError, match=message):
        write_report(made.result, tmp_path / "page.html", **given)
    assert not (tmp_path / "page.html").exists()
