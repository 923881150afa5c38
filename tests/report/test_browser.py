"""The page in a real browser: maps, colours, charts and keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.labels import add_numbers, encode_labels

from .conftest import Made, Open, made_up, written


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


def test_starts_with_one_map_in_two_colours(opened: Open, path: Path) -> None:
    page = opened(path)
    assert page.shown("left") == page.shown("right") == "joint, strength 0.5"
    assert (
        page.page.input_value("#left-column") == "0"
        and page.page.input_value("#right-column") == "1"
    )
    assert "joint, strength 0.5" in page.text("#suggested")
    assert page.text("#right-measures").startswith("mixing of batch 0.55 · neighbours kept 0.50")


def test_starts_with_the_suggestion_next_to_tsne(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, other=None))
    assert page.shown("left") == "t-SNE" and page.shown("right") == "joint, strength 0.5"
    assert [each["column"] for each in page.state()["panels"]] == [0, 0]
    assert page.state()["preset"] == "maps"


def test_suggests_for_the_mixing_asked_for(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, mixing=0.72))
    assert page.page.input_value("#share") == "0.72"
    assert page.shown() == "joint, strength 1"
    words = page.text("#suggested")
    assert words.startswith("joint, strength 1 (0.80): of the maps that reach the target, this one")
    page.page.click("#why summary")
    assert page.text("#why-reason").startswith("Of the maps that reach the target, this one keeps")


def test_advice_follows_the_map_in_focus(opened: Open, path: Path, tmp_path: Path) -> None:
    assert opened(path).page.is_hidden("#advice")  # labels that this sweep does not know
    made = made_up()
    labels = encode_labels({"batch": made.columns["batch"]})
    page = opened(written(tmp_path, made._replace(result=replace(made.result, labels=labels))))
    page.page.select_option("#right-map", label="joint, strength 0.5")
    advice = page.text("#advice")
    assert advice.startswith("joint, strength 0.5: ") and len(advice) > 60
    page.page.click("#why summary")
    assert page.text("#why-apart") == advice
    page.page.select_option("#right-map", label="t-SNE")
    assert page.text("#advice") == "t-SNE: Nothing is factored out."


def test_a_number_that_was_factored_out_is_a_scale(opened: Open, tmp_path: Path) -> None:
    made = made_up()
    labels = add_numbers(None, {"depth": made.columns["depth"]})
    swept = made._replace(result=replace(made.result, labels=labels))
    page = opened(written(tmp_path, swept, known="depth"))
    assert page.text("#legend-left-title") == "Left: depth"
    assert page.page.inner_text("#about").endswith("factored out: depth")
    page.page.click("#about-menu summary")
    assert "depth (a number)" in page.text("#about-full")


def test_a_number_with_few_values_is_a_scale_if_it_was_factored_out(
    opened: Open, tmp_path: Path
) -> None:
    made = made_up()
    dose = np.arange(60) % 4
    made.columns["dose"] = dose.astype(str)  # as files of text have it
    labels = add_numbers(None, {"dose": dose})
    page = opened(
        written(tmp_path, made._replace(result=replace(made.result, labels=labels)), known="dose")
    )
    assert page.page.locator("#legend-left .histogram").count() == 1
    assert page.text("#legend-left .ends").split() == ["0", "3"]


def test_presets_arrange_both_panels(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("[data-preset=maps]")
    assert page.shown("left") == "t-SNE" and page.shown("right") == "joint, strength 0.5"
    assert [each["column"] for each in page.state()["panels"]] == [1, 1]
    page.page.select_option("#left-column", label="batch")  # one colour in both
    assert [each["column"] for each in page.state()["panels"]] == [0, 0]
    page.page.select_option("#right-map", label="joint, strength 1")
    assert page.shown("left") == "t-SNE"
    page.page.click("[data-preset=colours]")
    assert page.shown("left") == page.shown("right") == "joint, strength 1"
    assert [each["column"] for each in page.state()["panels"]] == [0, 1]
    page.page.select_option("#left-map", label="t-SNE")  # one map in both
    assert page.shown("right") == "t-SNE"
    page.page.click("[data-preset=maps]")  # t-SNE next to itself would show nothing
    assert page.shown("left") == "t-SNE" and page.shown("right") == "joint, strength 0.5"
    page.page.click("[data-preset=free]")
    page.page.select_option("#right-column", label="depth")
    page.page.select_option("#left-map", label="revised, beta 1")
    panels = page.state()["panels"]
    assert panels[0]["column"] != panels[1]["column"] and panels[0]["map"] != panels[1]["map"]
    assert page.page.locator("#presets [aria-pressed=true]").text_content() == "Free"
    page.page.click("[data-preset=one]")
    assert not page.page.is_visible("#panel-left") and page.page.is_visible("#right")


def test_slider_and_table_change_the_panel_in_focus(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("[data-preset=maps]")
    assert page.page.locator(".in-focus").get_attribute("id") == "panel-right"
    page.page.click("#left", position={"x": 5, "y": 5})  # t-SNE has nothing to slide
    assert page.page.locator(".in-focus").get_attribute("id") == "panel-right"
    page.page.locator("#left-map").focus()
    assert page.page.locator(".in-focus").get_attribute("id") == "panel-left"
    assert page.text("#setting") == "t-SNE" and page.page.is_disabled("#strength")
    page.page.click("#settings button:has-text('revised, beta 0.0001')")
    assert page.shown("left") == "revised, beta 0.0001"
    assert page.shown("right") == "joint, strength 0.5"
    assert page.page.evaluate("scrollY") == 0
    page.page.locator("#right").focus()
    page.page.locator("#strength").focus()
    page.page.keyboard.press("End")
    assert page.shown("right") == "joint, strength 1"
    assert page.shown("left") == "revised, beta 0.0001"
    page.page.click("#left", position={"x": 5, "y": 5})
    assert page.text("#setting") == "beta 0.0001"


def test_slider_moves_points_to_the_next_map(opened: Open, path: Path) -> None:
    page = opened(path)
    before = page.pixels("right")
    page.page.locator("#strength").focus()
    page.page.keyboard.press("ArrowRight")
    assert page.shown() == "joint, strength 1"
    assert page.state()["moving"]
    page.settle()
    assert page.text("#setting") == "strength 1"
    assert np.abs(page.pixels("right") - before).max() > 5
    assert "strength 1: mixing of batch 0.80" in page.text("#said")
    page.page.keyboard.press("Home")
    page.page.keyboard.press("End")
    page.settle()
    assert page.shown() == "joint, strength 1"


def test_positions_are_those_of_the_map(opened: Open, path: Path) -> None:
    result, _ = made_up()
    page = opened(path)
    positions = page.page.evaluate(
        "() => {const {x, y} = ctsnePage.positions('right'); return [[...x], [...y]]}"
    )
    rows = page.page.evaluate("ctsnePage.rows()")
    (swept,) = result.find(method="joint", strength=0.5)
    assert swept.embedding is not None
    low, high = swept.embedding.min(axis=0), swept.embedding.max(axis=0)
    wanted = 0.5 + (swept.embedding - (low + high) / 2) / (high - low).max()
    np.testing.assert_allclose(np.transpose(positions), wanted[rows], atol=1e-4)


def test_movements_in_quick_succession_end_at_the_last_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("[data-preset=maps]")
    page.page.click("#settings button:has-text('t-SNE')")
    for title in ("revised, beta 1e-10", "joint, strength 1", "t-SNE"):
        page.page.click(f"#settings button:has-text('{title}')")
        page.page.evaluate("() => new Promise(requestAnimationFrame)")  # the movement has started
    page.settle()
    apart = page.pixels("right") - page.pixels("left")
    np.testing.assert_allclose(np.ptp(apart, axis=0), 0, atol=0.01)


def test_method_keeps_the_place_on_the_slider(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.select_option("#line", label="revised")
    page.settle()
    assert page.shown() == "revised, beta 0.0001"
    page.page.select_option("#line", label="t-SNE")
    assert page.page.is_disabled("#strength") and page.page.is_disabled("#play")


def test_play_goes_to_the_end(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#play")
    page.wait("ctsnePage.state().panels.every(({map}) => map === 3)")
    page.page.wait_for_selector("#play:has-text('Play')")


def test_colour_by_any_column(opened: Open, path: Path) -> None:
    page = opened(path)
    assert page.text("#legend-left-title") == "Left: batch"
    assert page.text("#legend-right-title") == "Right: kind"
    right = "#legend-right .labels"
    assert page.text(right).split() == ["alpha", "20", "beta", "20", "gamma", "20"]
    page.page.select_option("#right-column", label="depth")
    assert page.text(right).split() == ["−1", "5", "missing", "1"]
    page.page.select_option("#right-column", label="batch")
    assert not page.page.is_visible("#legend-right")  # both have the same colours
    assert page.text("#legend-left-title") == "batch"


def test_colour_by_diagnostics_of_the_map(opened: Open, path: Path) -> None:
    result, _ = made_up()
    page = opened(path)
    groups = page.page.locator("#right-column optgroup")
    assert groups.evaluate_all("all => all.map(each => each.label)") == ["Columns", "Diagnostics"]
    page.page.select_option("#right-column", label="counterparts under other labels")
    assert "no counterpart under other labels" in page.text("#legend-right")
    page.page.select_option("#right-column", label="perplexity")
    highest = max(each.diagnostics["perplexity"].max() for each in result.maps)
    low, high = page.text("#legend-right .ends").split()
    assert low == "0" and float(high) == pytest.approx(highest, rel=0.01)
    page.page.click("[data-preset=maps]")  # one scale for both maps, so one legend
    assert page.text("#legend-left-title") == "perplexity"
    assert not page.page.is_visible("#legend-right")


def test_lines_of_one_method_differ(opened: Open, tmp_path: Path) -> None:
    joint = {"method": "joint", "align": ["none", "mutual"], "strength": [0, 1]}
    page = opened(written(tmp_path, made_up(grid=[{"method": "tsne"}, joint])))
    first, second = (page.page.locator("#trade .line").nth(place) for place in (0, 1))
    assert first.get_attribute("stroke") == second.get_attribute("stroke")
    assert first.get_attribute("stroke-dasharray") != second.get_attribute("stroke-dasharray")
    assert page.page.locator("#trade .dot.open").count() == 2
    assert page.page.locator("#trade-key .open").count() == 1


def test_click_on_the_trade_off_selects_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    for wanted in (3, 6, 5, 4):
        title = page.title(wanted)
        dots = page.page.locator("#trade .dot")
        box = dots.filter(has_text=f"{title}: mixing").first.bounding_box()
        assert box is not None
        page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait(f"ctsnePage.state().panels[1].map === {wanted}")
        assert page.page.text_content("#trade .dot-name >> nth=0") == page.text("#setting")
    place = page.page.locator("#trade .axis").first.bounding_box()
    assert place is not None
    page.page.mouse.click(place["x"] + 2, place["y"] - 1)  # far from any
    page.settle()
    assert page.map() == 4


def test_a_chart_or_table_never_changes_maps_out_of_sight(opened: Open, path: Path) -> None:
    page = opened(path, viewport={"width": 500, "height": 700})
    for selector in ("#trade .dot >> nth=3", "#settings button >> nth=5", "#course .dot >> nth=0"):
        page.page.locator(selector).scroll_into_view_if_needed()
        before = page.map()
        page.page.locator(selector).click(force=True)
        assert page.map() != before, selector
        box = page.page.locator("#right").bounding_box()
        assert box is not None
        assert box["y"] >= 0 and box["y"] + box["height"] <= 700, selector


def test_table_and_suggestion_select_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#settings button:has-text('revised, beta 1e-10')")
    assert page.shown() == "revised, beta 1e-10"
    assert page.page.locator("#settings tr[aria-current]").count() == 1
    page.page.fill("#share", "0.85")
    assert "revised, beta 1e-10" in page.text("#suggested")
    page.page.fill("#share", "0.3")
    page.page.click("#go")
    assert page.shown() == "joint, strength 0.5"
    page.page.fill("#share", "0.95")
    assert "revised, beta 1e-10 (0.90): no setting reaches the target" in page.text("#suggested")
    page.page.click("#go")
    assert page.shown() == "revised, beta 1e-10"
    assert not page.page.is_visible("#go")  # it is shown already


@pytest.mark.parametrize(("seeds", "columns"), [(1, 1), (3, 1), (2, 2)])
def test_suggests_what_the_sweep_would_choose(
    opened: Open, tmp_path: Path, seeds: int, columns: int
) -> None:
    rng = np.random.default_rng(0)
    grid = [
        {"method": "joint", "strength": [1, 0, 0.5], "random_state": list(range(seeds))},
        {"method": "revised", "beta": [1e-9, 1, 1e-3], "random_state": list(range(seeds))},
    ]
    make, known = (several, KNOWN) if columns == 2 else (made_up, {})
    made = make(20, grid=grid, scores=[tuple(pair) for pair in rng.uniform(0, 1, (18, 2))])
    page = opened(written(tmp_path, made, **known))
    asked = rng.uniform(0, 0.9, (30, 2)) if columns == 2 else np.linspace(0, 1, 21)
    for shares in asked.tolist():
        target = dict(zip(("batch", "kind"), shares, strict=True)) if columns == 2 else shares
        best = made.result.suggest(mixing=target)
        if columns == 2 and best.reason.startswith("no setting"):
            continue  # which map comes nearest depends on the targets themselves: rounded up
        wanted = made.result.maps.index(best.map)
        assert page.page.evaluate("shares => ctsnePage.suggest(shares)", shares) == wanted


def test_works_without_a_mouse(opened: Open, path: Path) -> None:
    page = opened(path)
    keyboard = page.page.keyboard
    visited = []
    while True:
        keyboard.press("Tab")
        if page.page.evaluate("document.activeElement === document.body"):
            break
        focus = "document.activeElement"
        visited.append(page.page.evaluate(f"{focus}.id || {focus}.localName"))
        outline = page.page.evaluate(f"getComputedStyle({focus}).outlineStyle")
        assert outline != "none", visited[-1]
    needed = {"line", "strength", "play", "left-map", "right-column", "left", "right"}
    assert needed | {"share", "find", "zoom-in"} <= set(visited)
    page.page.locator(".labels button").first.focus()
    keyboard.press("Enter")
    assert len(page.state()["selected"]) == 30
    assert "30 points selected" in page.text("#said")
    page.page.locator("#settings button").last.focus()
    keyboard.press("Space")
    assert page.shown() == "revised, beta 1e-10"
    page.page.locator("#zoom-in").focus()
    before = page.page.evaluate("ctsnePage.view().side")
    keyboard.press("Enter")
    assert page.page.evaluate("ctsnePage.view().side") == pytest.approx(before / 1.5)
    page.page.locator("#look-menu summary").focus()
    keyboard.press("Enter")
    page.page.wait_for_selector("#theme")
    keyboard.press("Escape")  # closes the menu, and nothing else
    assert not page.page.is_visible("#theme") and len(page.state()["selected"]) == 30
    keyboard.press("Escape")
    assert page.state()["selected"] == []


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


def test_a_target_that_is_changed(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, several(), **KNOWN))
    page.page.fill("#share-1", "1")
    assert "no setting reaches the targets" in page.text("#suggested")
    page.page.fill("#share-1", "0.1")
    assert page.state()["suggested"] is not None
    assert page.page.evaluate("ctsnePage.state().targets") == [0.5, 0.1]
