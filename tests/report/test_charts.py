"""The chart of the cost of mixing: its range, its ticks and the spread between seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Open, Opened, made_up, written

LAPTOP = {"width": 1366, "height": 768}


def centers(page: Opened, selector: str) -> NDArray[np.float64]:
    """Return the middles of shapes in the chart, in its pixels."""
    return np.array(
        page.page.eval_on_selector_all(
            f"#trade {selector}",
            """all => all.map((each) => {
              const { x, y, width, height } = each.getBBox();
              return [x + width / 2, y + height / 2];
            })""",
        )
    )


def ticks(page: Opened) -> tuple[list[str], list[str]]:
    """Return the numbers along the axes, horizontal ones first."""
    found = page.page.eval_on_selector_all(
        "#trade .tick",
        "all => all.map((tick) => [tick.textContent, tick.getAttribute('text-anchor')])",
    )
    x, y = ([text for text, anchor in found if anchor == end] for end in ("middle", "end"))
    return x, y


@pytest.mark.parametrize("scores", [None, [(0.81, 0.5), (0.83, 0.51)], [(0.3, 0.1), (0.9, 0.78)]])
@pytest.mark.parametrize("height", [768, 560])
def test_both_axes_have_ticks(
    opened: Open, tmp_path: Path, scores: list[tuple[float, float]] | None, height: int
) -> None:
    page = opened(
        written(tmp_path, made_up(scores=scores)), viewport={"width": 1366, "height": height}
    )
    for axis in ticks(page):
        assert len(axis) >= 3
        steps = np.diff([float(text.replace("−", "-")) for text in axis])
        np.testing.assert_allclose(steps, steps[0])


def test_noise_is_not_drawn_as_a_trend(opened: Open, tmp_path: Path) -> None:
    scores = [(0.801, 0.502), (0.803, 0.501), (0.802, 0.5)]
    page = opened(written(tmp_path, made_up(scores=scores)), viewport=LAPTOP)
    assert np.ptp(centers(page, ".dot"), axis=0).max() < 5


@pytest.mark.parametrize("last", [(1.02, 0.48), (0.99, 0.45), (1.05, 0.5)])
def test_the_name_of_a_map_hides_no_dot(
    opened: Open, tmp_path: Path, last: tuple[float, float]
) -> None:
    scores = [(0.97, 0.59), (1.0, 0.55), (1.01, 0.53), last]
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.4, 0.7, 1]}]
    page = opened(written(tmp_path, made_up(grid=grid, scores=scores)), viewport=LAPTOP)
    page.page.locator("#settings button").last.click()
    boxes = page.page.eval_on_selector_all(
        "#trade .dot-name",
        """all => all.map((each) => {
          const { x, y, width, height } = each.getBBox();
          return [x, y, x + width, y + height];
        })""",
    )
    assert boxes
    for left, top, right, low in boxes:
        x, y = centers(page, ".dot").T
        assert not ((left < x) & (x < right) & (top < y) & (y < low)).any()


def test_whiskers_span_the_seeds(opened: Open, tmp_path: Path) -> None:
    grid = [{"method": "joint", "strength": [0.5, 1], "random_state": [0, 1, 2]}]
    scores = [(0.5, 0.6), (0.54, 0.58), (0.52, 0.62), (0.8, 0.4), (0.82, 0.42), (0.9, 0.5)]
    made = made_up(grid=grid, scores=scores)
    page = opened(written(tmp_path, made), viewport=LAPTOP)
    dots = centers(page, ".dot")
    assert page.page.locator("#trade .line").count() == 1  # one for all seeds
    lines = page.page.eval_on_selector_all(
        "#trade .whisker",
        "all => all.map(({ x1, x2, y1, y2 }) => [x1, x2, y1, y2].map((end) => end.baseVal.value))",
    )
    assert len(lines) == 4
    strengths = [swept.parameters["strength"] for swept in made.result.maps]
    for place, strength in enumerate((0.5, 1)):
        measured = [m for m, s in zip(made.result.maps, strengths, strict=True) if s == strength]
        mixing = [each.measures["mixing"] for each in measured]
        x1, x2, *_ = lines[2 * place]
        *_, y1, y2 = lines[2 * place + 1]
        own = dots[3 * place : 3 * place + 3]
        assert [x1, x2] == pytest.approx([own[:, 0].min(), own[:, 0].max()])
        assert sorted([y1, y2]) == pytest.approx([own[:, 1].min(), own[:, 1].max()])
        assert x2 - x1 == pytest.approx(
            np.ptp(mixing) * (dots[:, 0].max() - dots[:, 0].min()) / 0.4
        )
    page.page.click("#trade .dot >> nth=4")
    assert page.page.locator("#trade .shown").count() == 1
