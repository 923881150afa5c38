"""The page on the screen of a laptop: visible without scrolling, and commands to copy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import SCORES, Made, Open, Opened, made_up, written

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


def test_the_command_is_that_of_the_map_in_focus(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    assert page.text("#command") == (
        'ConditionalTSNE(method="joint", strength=0.5, random_state=0)'
    )
    page.page.click("#settings button:has-text('revised, beta 1e-10')")
    assert page.text("#command") == (
        'ConditionalTSNE(method="revised", beta=1e-10, random_state=0)'
    )
    assert page.text("#command-where") == "To make this map:"


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


@pytest.mark.parametrize("other", ["kind", None])
@pytest.mark.parametrize("plain", [0.1, 0.7])
def test_the_suggestion_never_contradicts_itself(
    opened: Open, tmp_path: Path, other: str | None, plain: float
) -> None:
    made = made_up(scores=[(plain, 0.6), (plain, 0.6), *SCORES[2:]])
    for swept in made.result.maps:
        swept.measures["other_mixing"] = 0.5 + 0.1 * swept.measures["mixing"]
        if other is None:
            del swept.measures["other_mixing"]
        elif swept.parameters.get("method") == "tsne" and plain < 0.5:
            swept.measures["other_mixing"] = 0.9
    page = opened(written(tmp_path, made, other=other))
    for share in ("0", "0.05", "0.3", "0.55", "0.65", "0.8", "0.85", "0.9", "0.91", "1"):
        page.page.fill("#share", share)
        line = str(page.page.get_attribute("#suggested", "title"))
        assert line.startswith(page.text("#suggested")[:-1])
        why, advice = (page.page.text_content(f"#why-{part}") for part in ("reason", "advice"))
        found = made.result.suggest(float(share))
        assert page.state()["suggested"] == made.result.maps.index(found.map)
        wanted = found.reason.replace(f"a mixing of {share}", "the target")
        assert line == f"{found.map.title} ({found.map.measures['mixing']:.2f}): {wanted}."
        assert why is not None and advice is not None and why.lower() == f"{wanted}.".lower()
        assert advice.startswith("The target is a starting point, not a rule")
        most = found.map.measures["mixing"] == 0.9
        assert ("no setting of this page mixes further" in advice) is most
        assert ("try stronger settings" in advice) is not most


def test_all_labels_and_panels_are_in_sight(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    last = page.page.locator("#legend-right .labels button").last
    assert bottom(page, "#legend-right .labels button >> nth=8") <= bottom(page, "#legend-right")
    page.page.click("[data-preset=one]")  # one legend has room for all of them
    assert (
        bottom(page, "#legend-right button >> nth=12") <= bottom(page, "#legend-right .labels") + 1
    )
    assert page.text("#legend-right .more") == ""
    for selector in ("#right", "#copy", "#find", "#trade"):
        assert bottom(page, selector) <= 768, selector
    last.click()
    page.page.locator("#legend-right .labels button").first.click()
    assert bottom(page, "#selection-tables tr >> nth=4") <= bottom(page, "#selection") <= 768
    page.page.fill("#find", "17")
    for selector in ("#right", "#copy", "#find", "#point"):
        assert bottom(page, selector) <= 768, selector
    assert bottom(page, "#point-facts dd >> nth=2") <= bottom(page, "#point")
    assert bottom(page, "#point-facts dd >> nth=1") > bottom(page, "#point-facts dd >> nth=0") + 10


def test_tells_how_many_labels_are_below(opened: Open, path: Path) -> None:
    page = opened(path, viewport={"width": 1366, "height": 620})
    assert page.text("#legend-left .more") == ""
    count, _, word = page.text("#legend-right .more").partition(" ")
    assert 1 <= int(count) <= 12 and word == "more ↓"
    box, pill = (
        page.page.locator(f"#legend-right {each}").bounding_box() for each in (".labels", ".more")
    )
    assert box is not None and pill is not None
    assert pill["y"] + pill["height"] <= box["y"]  # it hides no count
    page.page.evaluate("document.querySelector('#legend-right .labels').scrollTo(0, 9999)")
    page.wait("document.querySelector('#legend-right .more').textContent === ''")


def test_long_names_that_differ_at_the_end_are_told_apart(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up(60)
    stem = "a population of cells with a name that nobody can read to its end, type "
    columns["kind"] = np.array([f"{stem}{i}" for i in range(3)])[np.arange(60) % 3]
    page = opened(written(tmp_path, Made(result, columns)), viewport=LAPTOP)
    names = page.page.locator("#legend-right .name")
    assert names.all_text_contents() == [f"{stem}{i}" for i in range(3)]
    assert names.first.get_attribute("title") == f"{stem}0"
    room = page.page.locator("#legend-right .count").first.bounding_box()
    for place in range(3):
        tail = names.nth(place).locator(".tail")
        box = tail.bounding_box()
        assert tail.text_content() == f"end, type {place}"
        assert box is not None and room is not None and box["x"] + box["width"] <= room["x"]


def test_the_suggestion_ends_with_a_clause_that_fits(opened: Open, tmp_path: Path) -> None:
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.5, 1]}]
    made = made_up(300, grid=grid, scores=[(0.1, 0.6), (0.2, 0.5), (0.3, 0.4)])
    page = opened(written(tmp_path, made, known="batch"), viewport=LAPTOP)
    reason = str(page.page.get_attribute("#suggested", "title"))
    for width in (1366, 1920, 1000, 1366):
        page.page.set_viewport_size({"width": width, "height": 768})
        page.page.wait_for_timeout(100)
        shown = page.text("#suggested")
        assert shown.endswith(".") and reason.startswith(shown[:-1])
        fits = "scrollWidth <= document.getElementById('suggested').clientWidth"
        if width > 1000:
            assert page.page.evaluate(f"document.getElementById('suggested').{fits}")
    page.page.click("#why summary")
    assert page.text("#why-reason").lower() in reason.lower()


def test_facts_at_the_pointer_leave_the_legend_in_sight(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    places = page.pixels("right")
    page.page.mouse.move(*places[places[:, 0].argmax()])
    page.wait("!document.getElementById('tip').hidden")
    tip, aside = (page.page.locator(each).bounding_box() for each in ("#tip", "aside"))
    assert tip["x"] + tip["width"] <= aside["x"]


def test_points_and_selections_move_nothing(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)

    def places() -> list[float]:
        fixed = ["#left", "#legend-left", "#legend-right", "#tabs", "[role=tabpanel]:not(.closed)"]
        return [bottom(page, selector) for selector in fixed]

    before = places()
    page.page.mouse.move(*page.pixels("right")[0])
    page.wait("ctsnePage.state().point !== null")
    assert places() == before
    page.page.locator("#legend-right .labels button").first.click()
    assert page.page.is_visible("#clear") and places() == before
    page.page.fill("#find", "17")
    assert page.page.is_visible("#point-facts") and places() == before
    page.page.click("#tab-trade-off")
    assert page.page.is_visible("#trade") and places() == before


def test_no_empty_chart_for_tsne(opened: Open, path: Path) -> None:
    page = opened(path, viewport=LAPTOP)
    assert page.page.is_visible("#course")
    page.page.select_option("#line", label="t-SNE")
    assert not page.page.is_visible("#course") and page.page.is_visible("#trade")


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
    page.page.click("#again-all summary")
    rows = page.text("#provenance").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["command", "settings · seed", "settings · path"]
