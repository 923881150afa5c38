"""Undo and redo on the page."""

from __future__ import annotations

from pathlib import Path

from .conftest import Open, Opened


def shown(page: Opened) -> tuple[object, ...]:
    state = page.settle()
    side = round(state["view"]["side"], 6)
    return (state["panels"], state["preset"], side, state["selected"], state["pinned"])


def test_every_step_is_undone_and_done_again(opened: Open, path: Path) -> None:
    page = opened(path)
    keyboard = page.page.keyboard
    assert page.page.is_disabled("#undo") and page.page.is_disabled("#redo")
    steps = [shown(page)]
    for act in (
        lambda: page.page.click("#zoom-in"),
        lambda: page.page.locator(".labels button").first.click(),
        lambda: page.page.locator(".labels button").nth(1).click(),
        lambda: page.page.click("[data-preset=maps]"),
        lambda: page.page.select_option("#right-column", label="depth"),
        lambda: page.page.mouse.click(*page.pixels("right")[0]),
    ):
        act()
        steps.append(shown(page))
        assert steps[-1] != steps[-2]
    pressed = "#legend-left .labels button[aria-pressed=true]"
    for before in steps[-2::-1]:
        keyboard.press("Control+z")
        assert shown(page) == before
    assert page.page.is_disabled("#undo")
    for after in steps[1:]:
        keyboard.press("Control+Shift+Z")
        assert shown(page) == after
    assert page.page.is_disabled("#redo")
    for _ in range(3):
        page.page.click("#undo")
    assert shown(page) == steps[3] and page.page.locator(pressed).count() == 2
    page.page.click("#zoom-out")
    assert page.page.is_disabled("#redo")  # another way was taken


def test_a_turn_of_the_wheel_is_one_step(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.mouse.move(*page.pixels("right")[0])
    for _ in range(5):
        page.page.mouse.wheel(0, -100)
    page.settle()
    assert page.state()["view"]["side"] < 0.7
    page.page.keyboard.press("Control+z")
    assert shown(page)[2] == 1.06 and page.page.is_disabled("#undo")


def test_what_changes_nothing_is_not_a_step(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.keyboard.press("Escape")
    page.page.click("#zoom-reset")
    assert page.page.is_disabled("#undo")


def test_text_has_an_undo_of_its_own(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#zoom-in")
    page.page.focus("#find")
    page.page.keyboard.type("x")
    page.page.keyboard.press("Control+z")
    assert page.page.input_value("#find") == ""
    assert page.state()["view"]["side"] < 1


def all_shown(page: Opened) -> tuple[object, ...]:
    state = page.settle()
    colours = page.page.evaluate("ctsnePage.colours()")
    filtered = page.text("#filter-count") if page.page.is_visible("#filter") else ""
    kept = page.page.locator("#kept-list input").evaluate_all("all => all.map(each => each.value)")
    return state["preset"], state["split"], state["selected"], filtered, colours, kept


def test_hidden_labels_colours_splits_ranges_and_kept_selections_are_undone(
    opened: Open, path: Path
) -> None:
    page = opened(path)
    steps = [all_shown(page)]
    drag = page.page.locator("#legend-right .histogram")

    def brush() -> None:
        box = drag.bounding_box()
        assert box is not None
        page.page.mouse.move(box["x"] + 5, box["y"] + 9)
        page.page.mouse.down()
        page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 9, steps=5)
        page.page.mouse.up()

    for act in (
        lambda: page.page.locator(".labels button").first.press("h"),
        lambda: page.page.evaluate("ctsnePage.paint({ kind: { alpha: '#123456' } })"),
        lambda: page.page.click("[data-preset=split]"),
        lambda: page.page.select_option("#split", label="kind"),
        lambda: page.page.locator("#legend-right .labels button").first.click(),
        lambda: page.page.click("#keep"),
        lambda: page.page.click("#kept-list button:last-child"),
    ):
        act()
        steps.append(all_shown(page))
        assert steps[-1] != steps[-2]
    page.page.select_option("#right-column", label="depth")
    steps.append(all_shown(page))
    brush()  # many small changes are one step
    steps.append(all_shown(page))
    for before in steps[-2::-1]:
        page.page.click("#undo")
        assert all_shown(page) == before
    assert page.page.is_disabled("#undo")
    for after in steps[1:]:
        page.page.click("#redo")
        assert all_shown(page) == after
    assert page.page.is_disabled("#redo")
