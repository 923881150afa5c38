"""Sections beside the maps that share one place."""

from __future__ import annotations

from pathlib import Path

from .conftest import Open, Opened, made_up, written
from .test_geometry import model_page

SECTIONS = {"trade-off", "selection", "point"}


def section(page: Opened) -> str:
    """Return the section that is shown, which is the one that its tab announces."""
    shown = [each for each in SECTIONS if page.page.is_visible(f"#{each}")]
    tab = page.page.locator("[role=tab][aria-selected=true]")
    assert tab.count() == 1 and [tab.get_attribute("aria-controls")] == shown
    return shown[0]


def test_a_selection_and_a_point_bring_up_their_section(opened: Open, path: Path) -> None:
    page = opened(path)
    assert section(page) == "trade-off"
    page.page.locator(".labels button").first.click()
    assert section(page) == "selection" and page.text("#tab-selection") == "Selection 30"
    page.page.click("#tab-trade-off")
    page.page.locator(".labels button").nth(2).click()
    assert section(page) == "trade-off"  # chosen by the reader, so another selection leaves it
    page.page.fill("#find", "7")
    assert section(page) == "point"
    page.page.keyboard.press("Escape")
    assert section(page) == "trade-off" and page.text("#tab-selection") == "Selection"


def test_clearing_returns_to_the_section_before(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator(".labels button").first.click()
    page.page.mouse.click(*page.pixels("right")[0])
    assert section(page) == "point"
    page.page.keyboard.press("Escape")
    assert section(page) == "trade-off"


def test_a_search_without_result_is_explained(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.fill("#find", "nobody")
    assert section(page) == "point" and "No point shown" in page.text("#point-hint")


def test_arrow_keys_change_the_section(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator("#tab-trade-off").focus()
    for key, wanted in (("ArrowRight", "selection"), ("ArrowRight", "point")):
        page.page.keyboard.press(key)
        assert section(page) == wanted
    page.page.keyboard.press("ArrowRight")
    assert section(page) == "trade-off"
    page.page.keyboard.press("ArrowLeft")
    assert section(page) == "point"
    assert page.page.evaluate("document.activeElement.id") == "tab-point"


def test_there_is_no_tab_without_a_chart(opened: Open, tmp_path: Path) -> None:
    unmeasured = made_up(scores=[(float("nan"), float("nan"))])
    for path in (written(tmp_path, unmeasured), model_page(tmp_path)):
        page = opened(path)
        assert not page.page.is_visible("#tab-trade-off")
        assert section(page) == "selection"


def test_paper_has_the_chart_of_a_closed_section(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator(".labels button").first.click()
    page.page.emulate_media(media="print")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.page.is_visible("#trade .dot >> nth=0")
    assert page.page.is_visible("#selection-tables")
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.page.emulate_media(media="screen")
    assert section(page) == "selection"
