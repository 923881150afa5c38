"""Density contours on the maps."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Open, Opened, made_up, written
from .test_page_points import saved

BLOBS = made_up(3000, grid=[{"method": "joint", "strength": [0.5, 1]}])


def inside(lines: list[float], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which points are inside closed lines: an odd number of pieces is to their right."""
    x1, y1, x2, y2 = np.reshape(lines, (-1, 4)).T[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        crosses = ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) / (y2 - y1) * (x2 - x1))
    odd: NDArray[np.bool_] = crosses.sum(axis=0) % 2 == 1
    return odd


def contours(page: Opened, side: str = "right") -> list[tuple[int, list[float]]]:
    page.settle()
    found = page.page.evaluate("side => ctsnePage.contours(side)", side)
    return [
        (each["code"], [float(x) for x in re.findall(r"[\d.-]+", each["path"])]) for each in found
    ]


def positions(page: Opened, side: str = "right") -> NDArray[np.float64]:
    found = page.page.evaluate(
        "side => { const { x, y } = ctsnePage.positions(side); return [[...x], [...y]]; }", side
    )
    return np.asarray(found)


def choose(page: Opened, what: str) -> None:
    page.page.click("#look-menu summary")
    page.page.select_option("#contours", what)
    page.page.keyboard.press("Escape")


def test_lines_enclose_their_share_of_all_points(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, BLOBS))
    assert contours(page) == []
    choose(page, "all")
    lines = contours(page)
    assert [code for code, _ in lines] == [0, 0, 0, 0]
    shares = [inside(line, *positions(page)).mean() for _, line in lines]
    assert shares == pytest.approx([0.25, 0.5, 0.75, 0.95], abs=0.06)
    assert page.page.evaluate("location.hash") == "#contours=all"
    choose(page, "none")
    assert contours(page) == []


def test_each_label_has_its_own_lines(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, BLOBS))
    choose(page, "labels")
    kind = np.asarray(BLOBS.columns["kind"])[page.page.evaluate("ctsnePage.rows()")]
    x, y = positions(page)
    lines = contours(page)
    assert sorted({code for code, _ in lines}) == [1, 2, 3]
    for place, (code, line) in enumerate(lines):
        own = kind == ("alpha", "beta", "gamma")[code - 1]
        within = inside(line, x, y)
        assert within[own].mean() == pytest.approx((0.5, 0.85)[place % 2], abs=0.07)
        assert within[~own].mean() < 0.05
    page.page.select_option("#right-column", label="depth")  # numbers have no labels
    assert [code for code, _ in contours(page)] == [0, 0, 0, 0]


def test_lines_follow_the_map(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, BLOBS))
    choose(page, "all")
    before = contours(page)
    page.page.select_option("#right-map", label="joint, strength 1")
    after = contours(page)
    assert after != before
    assert inside(after[-1][1], *positions(page)).mean() == pytest.approx(0.95, abs=0.06)


def test_pictures_have_the_lines(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, BLOBS))
    texts = []
    for what in ("none", "all"):
        choose(page, what)
        page.settle()
        texts.append(saved(page, "svg").decode())
    assert [text.count("<path") for text in texts] == [0, 2 * 2 * 4]  # with halos, in two panels
