"""The page on the screen of a laptop: visible without scrolling, and commands to copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .conftest import Made, Opened, made_up, written

Open = Callable[..., Opened]

LAPTOP = {"width": 1366, "height": 768}
# As browsers have it that let no file near the clipboard.
NO_CLIPBOARD = 'Object.defineProperty(navigator, "clipboard", {value: undefined});'
NO_COPYING = f"{NO_CLIPBOARD} document.execCommand = () => false;"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with as many types as a tissue has."""
    result, columns = made_up(130)
    columns["kind"] = np.array([f"type {i:02}" for i in range(13)])[np.arange(130) % 13]
    return written(tmp_path_factory.mktemp("laptop"), Made(result, columns))


def bottom(page: Opened, selector: str) -> float:
    """Return where an element ends, in the window."""
    box = page.page.locator(selector).bounding_box()
    assert box is not None and box["height"] > 0
    return float(box["y"] + box["height"])


def test_the_command_is_that_of_the_map_on_the_right(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    assert page.text("#command") == (
        'ConditionalTSNE(method="joint", strength=0.5, random_state=0)'
    )
    page.page.click("#settings button:has-text('revised, beta 1e-10')")
    assert page.text("#command") == (
        'ConditionalTSNE(method="revised", beta=1e-10, random_state=0)'
    )
    assert page.text("#command-where") == "To make the map on the right:"


def test_commands_of_the_command_line_are_for_the_page_s_folder(
    opened: Open, tmp_path: Path
) -> None:
    commands = [f"ctsne embed cells.csv {i}" for i in range(7)]
    page = opened(written(tmp_path, commands=commands, provenance={"command": "ctsne report"}))
    assert page.text("#command") == "ctsne embed cells.csv 2"
    assert page.text("#command-where").endswith("in this page's folder:")


def test_copies_the_command(opened: Open, path: Path) -> None:
    page = opened(path, permissions=["clipboard-read", "clipboard-write"])
    page.page.click("#copy")
    page.page.wait_for_selector("#copy:has-text('Copied')")
    assert page.page.evaluate("navigator.clipboard.readText()") == page.text("#command")
    page.page.click("#settings button:has-text('t-SNE')")
    assert page.text("#copy") == "Copy"


def test_copies_without_a_clipboard(opened: Open, path: Path) -> None:
    page = opened(path, before=NO_CLIPBOARD)
    page.page.evaluate(
        "document.addEventListener('copy', () => { window.taken = String(getSelection()); })"
    )
    page.page.click("#copy")
    page.page.wait_for_selector("#copy:has-text('Copied')")
    assert page.page.evaluate("taken") == page.text("#command")


def test_selects_the_command_where_it_cannot_be_copied(opened: Open, path: Path) -> None:
    page = opened(path, before=NO_COPYING)
    page.page.click("#copy")
    page.page.wait_for_selector("#copy:has-text('Press Ctrl+C')")
    assert page.page.evaluate("String(getSelection())") == page.text("#command")


def test_the_suggestion_says_how_far_to_trust_it(opened: Open, path: Path, tmp_path: Path) -> None:
    page = opened(path)
    words = page.text("#suggestion")
    assert (
        "0.5 is a starting point, not a rule" in words
        and "as long as “mixing of kind” stays low and nothing merges" in words
    )
    page.page.fill("#share", "0.3")
    assert "0.3 is a starting point, not a rule" in page.text("#suggestion")
    result, columns = made_up()
    for swept in result.maps:
        del swept.measures["other_mixing"]
    alone = opened(written(tmp_path, Made(result, columns), other=None))
    assert "as long as nothing merges that should stay apart" in alone.text("#suggestion")


def test_all_labels_and_panels_are_in_sight(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    page.page.click("text=other: kind")
    last = page.page.locator("#labels button").last
    assert bottom(page, "#labels button >> nth=12") <= bottom(page, "#labels") + 1
    assert not page.page.is_visible("#labels-below")
    for selector in ("#right", "#copy", "#selection-count", "#find"):
        assert bottom(page, selector) <= 768, selector
    last.click()
    page.page.locator("#labels button").first.click()
    page.page.fill("#find", "17")
    for selector in ("#right", "#copy", "#clear", "#find", "#point"):
        assert bottom(page, selector) <= 768, selector
    assert bottom(page, "#legend") <= bottom(page, "#selection") <= bottom(page, "#point")
    assert bottom(page, "#point-facts dd >> nth=2") <= bottom(page, "#point")
    assert bottom(page, "#point-facts dd >> nth=1") > bottom(page, "#point-facts dd >> nth=0") + 10


def test_tells_how_many_labels_are_below(opened: Open, path: Path) -> None:
    page = opened(path, viewport={"width": 1366, "height": 620})
    assert not page.page.is_visible("#labels-below")
    page.page.click("text=other: kind")
    page.page.wait_for_selector("#labels-below")
    count, _, word = page.text("#labels-below").partition(" ")
    assert 1 <= int(count) <= 12 and word == "more"
    page.page.evaluate("document.getElementById('labels').scrollTo(0, 9999)")
    page.page.wait_for_selector("#labels-below", state="hidden")


def test_a_point_under_the_pointer_moves_no_panel(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    before = bottom(page, "#legend"), bottom(page, "#selection"), bottom(page, "#point")
    page.page.mouse.move(*page.pixels("right")[0])
    page.page.wait_for_function("ctsnePage.state().point !== null")
    assert (bottom(page, "#legend"), bottom(page, "#selection"), bottom(page, "#point")) == before


def test_settings_are_folded_except_on_paper(opened: Open, tmp_path: Path) -> None:
    command = "ctsne report cells.csv -o page.html"
    made = {
        "command": command,
        "settings": {"pca": None, "seed": 0, "path": False},
    }
    page = opened(written(tmp_path, provenance=made))
    assert not page.page.is_visible("#provenance")
    assert page.text("#made-by") == command
    for event, shown in (("beforeprint", True), ("afterprint", False)):
        page.page.evaluate("event => window.dispatchEvent(new Event(event))", event)
        assert page.page.is_visible("#provenance") is shown
    page.page.click("summary")
    rows = page.text("#provenance").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["command", "settings · seed", "settings · path"]
