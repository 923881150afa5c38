"""The page on a phone: fingers, and a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import Open, Opened, made_up, written
from .test_geometry import WALKER

PHONE = {"width": 390, "height": 844}
LEAST = 32  # pixels that a finger needs


@pytest.fixture
def page(opened: Open, path: Path) -> Opened:
    return opened(path, viewport=PHONE, has_touch=True, is_mobile=True)


def touch(page: Opened, *paths: Sequence[Any]) -> None:
    """Move fingers along these paths, all at once, as the system reports them."""
    session = page.page.context.new_cdp_session(page.page)

    def send(kind: str, places: Sequence[Any]) -> None:
        fingers = [{"x": float(x), "y": float(y), "id": i} for i, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    steps = list(zip(*paths, strict=True))
    send("touchStart", steps[0])
    for places in steps[1:]:
        send("touchMove", places)
    send("touchEnd", [])
    session.detach()
    page.settle()


def in_sight(page: Opened) -> Any:
    page.page.locator("#right").scroll_into_view_if_needed()
    return page.pixels("right")


def test_one_finger_selects_or_moves_as_chosen(page: Opened) -> None:
    places = in_sight(page)
    low, high = places.min(axis=0) - 4, places.max(axis=0) + 4
    round_all = [low, (high[0], low[1]), high, (low[0], high[1]), low]
    touch(page, round_all)
    assert len(page.state()["selected"]) == 60
    page.page.keyboard.press("Escape")
    page.page.tap("[data-drag=move]")
    page.page.tap("#zoom-in")
    page.settle()
    before = in_sight(page)
    middle = before.mean(axis=0)
    move = np.array([20, 10])
    touch(page, [middle, middle + move / 2, middle + move])
    assert page.state()["selected"] == []
    np.testing.assert_allclose(page.pixels("right") - before, np.full((60, 2), move), atol=0.1)


def test_two_fingers_zoom_and_move(page: Opened) -> None:
    start = in_sight(page)
    middle = start.mean(axis=0)
    apart = np.array([40, 0])
    first = [middle - apart, middle - 1.5 * apart, middle - 2 * apart]
    second = [middle + apart, middle + 1.5 * apart, middle + 2 * apart]
    touch(page, first, second)
    assert page.state()["view"]["side"] == pytest.approx(1.06 / 2)
    assert page.state()["selected"] == []  # no lasso of the first finger
    zoomed, view = page.pixels("right"), page.state()["view"]
    page.page.wait_for_timeout(700)  # what follows at once is the same step of undo
    np.testing.assert_allclose(zoomed - middle, 2 * (start - middle), atol=0.5)
    move = np.array([15, -10])
    touch(page, [middle - apart, middle - apart + move], [middle + apart, middle + apart + move])
    np.testing.assert_allclose(page.pixels("right") - zoomed, np.full((60, 2), move), atol=0.5)
    page.page.tap("#undo")
    assert page.state()["view"] == view


def test_a_tap_keeps_a_point(page: Opened) -> None:
    places = in_sight(page)
    page.page.touchscreen.tap(*places[0])
    page.wait("ctsnePage.state().pinned !== null")
    assert page.page.is_visible("#point-facts")


def test_fits_a_phone(page: Opened) -> None:
    page.page.evaluate(WALKER)
    assert page.page.evaluate("geometry.problems()") == []
    for menu in ("#look-menu", "#save-menu", "#about-menu", "#why"):
        page.page.tap(f"{menu} summary")
        assert page.page.evaluate("geometry.problems()") == [], menu
        page.page.keyboard.press("Escape")
    page.page.locator(".labels button").first.tap()
    assert page.page.evaluate("geometry.problems()") == []


def test_fingers_hide_labels_and_show_them_again(page: Opened) -> None:
    label = page.page.locator("#legend-left .labels li").first
    assert not label.locator(".hide").is_visible()
    label.locator("button").tap()
    box = label.locator(".hide").bounding_box()
    assert box is not None and box["height"] >= 30
    label.locator(".hide").tap()
    assert page.text("#filter-count") == "30 of 60 points shown"
    page.page.locator("h1").tap()  # elsewhere
    label.locator(".hide").tap()
    assert not page.page.is_visible("#filter")


def test_fingers_hit_every_control(page: Opened, opened: Open, tmp_path: Path) -> None:
    laptop = opened(written(tmp_path, made_up()), viewport={"width": 1366, "height": 768})
    small = """least => [...document.querySelectorAll("#screen :is(button, select, summary)")]
        .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < least)
        .map((each) => each.id || each.className || each.textContent)"""
    assert page.page.evaluate(small, LEAST) == []
    # A pointer is finer: lists and small buttons are denser, but never below what WCAG asks for.
    assert laptop.page.evaluate(small, 24) == []
    assert all(
        laptop.page.evaluate(small.replace("#screen", part), LEAST) == []
        for part in ("header", "#controls", "#suggestion", "figcaption", "#tabs")
    )
