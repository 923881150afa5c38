"""The page in a real browser: mouse, keyboard and paper."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from .conftest import Made, Opened, made_up, written

Open = Callable[..., Opened]


def drag(opened: Opened, corners: np.ndarray[Any, Any]) -> None:
    """Draw a closed line with the mouse, pausing after the button is pressed."""
    mouse = opened.page.mouse
    mouse.move(*corners[0])
    mouse.down()
    opened.page.clock.fast_forward(400)
    for corner in [*corners[1:], corners[0]]:
        mouse.move(*corner, steps=4)
    mouse.up()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("report"), names=[f"cell {i}" for i in range(60)])


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
    assert words == "joint, strength 1 (0.80) keeps kind purest among the maps that reach it."
    page.page.click("#why summary")
    assert "no other map beats in both mixing and neighbours kept" in page.text("#why-reason")


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


def test_no_movement_for_those_who_want_none(opened: Open, path: Path) -> None:
    page = opened(path, reduced_motion="reduce")
    page.page.locator("#strength").focus()
    page.page.keyboard.press("ArrowRight")
    assert not page.state()["moving"]


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
    assert page.text(right).split() == ["-1", "5", "missing", "1"]
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


def test_lasso_selects_what_lies_inside_in_both_maps(opened: Open, path: Path) -> None:
    page = opened(path, clock=True)
    for side in ("left", "right"):
        places = page.pixels(side)
        kind = np.array(page.page.evaluate("ctsnePage.rows()")) % 3
        middle = places[kind == 1].mean(axis=0)
        corners = middle + np.array([[-45, -70], [50, -60], [30, 75], [-50, 40]])
        drag(page, corners)
        inside = Polygon(corners).contains_points(places)
        assert 5 < inside.sum() < 55
        assert sorted(page.state()["selected"]) == np.flatnonzero(inside).tolist()
        for each in ("left", "right"):
            highlighted = page.page.evaluate("side => ctsnePage.highlighted(side)", each)
            assert sorted(highlighted) == np.flatnonzero(inside).tolist()
        assert page.text("#selection-count").startswith(f"{inside.sum()} of 60 points")
    cells = page.page.locator("#selection-tables table >> nth=0 >> td").all_text_contents()
    counts = dict(zip(cells[::4], cells[1::4], strict=True))
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))[inside]
    assert counts["one"] == str((rows % 2 == 0).sum())
    selected = page.state()["selected"]
    page.page.mouse.move(*corners[0])
    page.page.mouse.down()
    page.page.mouse.move(*corners[2])
    page.page.keyboard.press("Escape")  # leaves the line that is being drawn, and nothing else
    page.page.mouse.up()
    assert page.state()["selected"] == selected
    page.page.keyboard.press("Escape")
    assert page.state()["selected"] == []


def test_legend_selects_and_names_are_saved(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#legend-right button:has-text('beta')")
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    assert sorted(page.state()["selected"]) == np.flatnonzero(rows % 3 == 1).tolist()
    assert (
        page.page.get_attribute("#legend-right button:has-text('beta')", "aria-pressed") == "true"
    )
    with page.page.expect_download() as download:
        page.page.click("#download")
    assert download.value.suggested_filename == "selected-points.csv"
    with Path(download.value.path()).open(newline="") as file:
        saved = list(csv.DictReader(file))
    assert [int(each["row"]) for each in saved] == list(range(1, 60, 3))
    assert {each["kind"] for each in saved} == {"beta"}
    assert [each["name"] for each in saved] == [f"cell {row}" for row in range(1, 60, 3)]
    assert [each["batch"] for each in saved] == ["two", "one"] * 10
    depths = [float(each["depth"] or "nan") for each in saved]
    np.testing.assert_allclose(depths, np.linspace(-1, 5, 60)[1::3], atol=1e-3)
    page.page.click("#legend-right button:has-text('beta')")
    assert page.state()["selected"] == []


def test_saved_cells_are_quoted_and_not_changed(opened: Open, tmp_path: Path) -> None:
    texts = ["=1+1", "+2", "-3", "@x", 'say "hi", twice', "two\nlines", "", "שלום", ", "]
    result, columns = made_up(len(texts))
    columns["kind"], columns["depth"] = texts, [1.5, None] + [2.5] * 7
    page = opened(written(tmp_path, Made(result, columns), names=texts))
    for place in range(2):
        page.page.click(f"#legend-left button >> nth={place}")
    with page.page.expect_download() as download:
        page.page.click("#save-menu summary")
        page.page.click("#save-csv")
    with Path(download.value.path()).open(newline="", encoding="utf-8") as file:
        saved = list(csv.reader(file))
    assert saved[0][:5] == ["row", "name", "batch", "kind", "depth"]
    assert [row[1] for row in saved[1:]] == texts
    assert [row[3] for row in saved[1:]] == texts
    assert [row[4] for row in saved[1:]][:3] == ["1.5", "", "2.5"]


def test_saves_what_is_seen(opened: Open, path: Path) -> None:
    page = opened(path)
    page.settle()
    files = {}
    for kind in ("png", "svg"):
        with page.page.expect_download() as download:
            page.page.click("#save-menu summary")
            page.page.click(f"#save-{kind}")
        page.page.click("#title")
        assert download.value.suggested_filename == f"maps.{kind}"
        files[kind] = Path(download.value.path()).read_bytes()
    assert files["png"].startswith(b"\x89PNG")
    drawing = ElementTree.fromstring(files["svg"])
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "joint, strength 0.5, by batch" in texts and "joint, strength 0.5, by kind" in texts
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == 120 + 5
    assert [texts.count(name) for name in ("one", "two")] == [1, 1]  # in the legend below


def test_long_names_in_a_saved_picture_are_told_apart(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up()
    kinds = [f"{'very ' * 12}long name, kind {kind}, {'of ' * 20}a cell" for kind in "abc"]
    columns["kind"] = np.array(kinds)[np.arange(60) % 3]
    page = opened(written(tmp_path, Made(result, columns)))
    page.settle()
    with page.page.expect_download() as download:
        page.page.click("#save-menu summary")
        page.page.click("#save-svg")
    drawing = ElementTree.fromstring(Path(download.value.path()).read_bytes())
    texts = [each.text or "" for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    for kind in "abc":
        assert any(text.startswith(f"very…{kind}, of") and len(text) < 60 for text in texts)


def test_says_that_a_map_lacks_a_diagnostic(opened: Open, tmp_path: Path) -> None:
    made = made_up()
    del made.result.maps[0].diagnostics["other_share"]
    page = opened(written(tmp_path, made))
    page.page.click("[data-preset=maps]")
    page.page.select_option("#right-column", label="weight on other labels")
    assert page.text("#legend-right-title") == "Right: weight on other labels"
    with page.page.expect_download() as download:
        page.page.click("#save-menu summary")
        page.page.click("#save-svg")
    saved = Path(download.value.path()).read_text("utf-8")
    assert "t-SNE, by weight on other labels, which this map lacks" in saved


def test_lines_of_one_method_differ(opened: Open, tmp_path: Path) -> None:
    joint = {"method": "joint", "align": ["none", "mutual"], "strength": [0, 1]}
    page = opened(written(tmp_path, made_up(grid=[{"method": "tsne"}, joint])))
    first, second = (page.page.locator("#trade .line").nth(place) for place in (0, 1))
    assert first.get_attribute("stroke") == second.get_attribute("stroke")
    assert first.get_attribute("stroke-dasharray") != second.get_attribute("stroke-dasharray")
    assert page.page.locator("#trade .dot.open").count() == 2
    assert page.page.locator("#trade-key .open").count() == 1


def test_hover_tells_labels_and_diagnostics(opened: Open, path: Path) -> None:
    result, _ = made_up()
    page = opened(path)
    rows = page.page.evaluate("ctsnePage.rows()")
    # A point that has no other within reach.
    places = page.pixels("right")
    apart = np.hypot(*(places[:, None] - places).T) + 1e9 * np.eye(60)
    point = int(apart.min(axis=1).argmax())
    page.page.mouse.move(*places[point] + 1)
    page.wait(f"ctsnePage.state().point === {point}")
    row = rows[point]
    page.page.wait_for_selector("#tip")
    facts = facts_in(page, "#tip")
    (swept,) = result.find(method="joint", strength=0.5)
    assert facts["name"] == f"cell {row}" and facts["row"] == str(row)
    assert facts["batch"] == ("one", "two")[row % 2]
    for name, key, step in (
        ("perplexity", "perplexity", 0.15),
        ("largest weight", "largest_weight", 0.008),
    ):
        assert float(facts[name]) == pytest.approx(swept.diagnostics[key][row], abs=step)
    page.page.mouse.down()
    page.page.mouse.up()
    page.page.mouse.move(5, 5)
    page.page.wait_for_selector("#tip", state="hidden")
    assert facts_in(page, "#point-facts") == facts  # a click keeps the point
    assert page.state()["point"] == point
    page.page.keyboard.press("Escape")
    page.wait("ctsnePage.state().point === null")
    assert facts_in(page, "#point-facts") == {}


def facts_in(page: Opened, selector: str) -> dict[str, str]:
    names = page.page.locator(f"{selector} dt").all_inner_texts()
    return dict(zip(names, page.page.locator(f"{selector} dd").all_inner_texts(), strict=True))


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
    assert "no setting mixes that far: the most is 0.90, with revised, beta 1e-10" in page.text(
        "#suggested"
    )
    page.page.click("#go")
    assert page.shown() == "revised, beta 1e-10"
    assert not page.page.is_visible("#go")  # it is shown already


@pytest.mark.parametrize("seeds", [1, 3])
def test_suggests_what_the_sweep_would_choose(opened: Open, tmp_path: Path, seeds: int) -> None:
    rng = np.random.default_rng(0)
    grid = [
        {"method": "joint", "strength": [1, 0, 0.5], "random_state": list(range(seeds))},
        {"method": "revised", "beta": [1e-9, 1, 1e-3], "random_state": list(range(seeds))},
    ]
    made = made_up(20, grid=grid, scores=[tuple(pair) for pair in rng.uniform(0, 1, (18, 2))])
    page = opened(written(tmp_path, made))
    for share in np.linspace(0, 1, 21):
        try:
            wanted = made.result.maps.index(made.result.best(mixing=share))
        except ValueError:
            wanted = None
        assert page.page.evaluate("share => ctsnePage.suggest(share)", share) == wanted


def test_points_dominated_by_one_neighbour(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#settings button:has-text('revised, beta 1e-10')")
    assert page.text("#dominated-about").startswith("revised, beta 1e-10: 6 of 60 points have")
    names = page.page.locator("#dominated button").all_inner_texts()
    assert names == [f"cell {i}" for i in range(6)]
    page.page.click("#dominated button >> nth=2")
    rows = page.page.evaluate("ctsnePage.rows()")
    assert rows[page.state()["point"]] == 2
    page.page.click("#dominated-select")
    assert sorted(rows[point] for point in page.state()["selected"]) == list(range(6))


def test_find_by_name_and_row(opened: Open, path: Path) -> None:
    page = opened(path)
    rows = page.page.evaluate("ctsnePage.rows()")
    for text, row in (("cell 41", 41), ("CELL 7", 7), ("17", 17)):
        page.page.fill("#find", text)
        assert rows[page.state()["pinned"]] == row
        assert page.text("#point-hint") == ""
    page.page.fill("#find", "Cell 5")  # the name itself, not one of the ten that start with it
    assert rows[page.state()["pinned"]] == 5
    page.page.fill("#find", "nobody")
    assert page.state()["point"] is None
    assert page.text("#point-hint") == "No point shown has a name that starts like this."
    page.page.fill("#find", "60")
    assert page.text("#point-hint").startswith("There is no row 60: rows go from 0 to 59.")


def test_find_says_how_many_names_start_so(opened: Open, tmp_path: Path) -> None:
    names = ["b2", "a1", "a2", "a2", "A3", *(f"c{i}" for i in range(55))]
    page = opened(written(tmp_path, names=names))
    rows = page.page.evaluate("ctsnePage.rows()")
    page.page.fill("#find", "a")
    assert page.text("#point-hint").startswith("4 names start with “a”; this is number 1")
    seen = [rows[page.state()["pinned"]]]
    for _ in range(3):
        page.page.press("#find", "Enter")
        seen.append(rows[page.state()["pinned"]])
    assert sorted(seen) == [1, 2, 3, 4]
    page.page.fill("#find", "a2")
    assert page.text("#point-hint").startswith("2 points are called “a2”")


def test_find_by_a_column_of_names(opened: Open, tmp_path: Path) -> None:
    made = made_up(60)
    made.columns["cell"] = np.array([f"c{i:02d}" for i in range(60)])
    page = opened(written(tmp_path, made))
    page.page.fill("#find", "c07")
    assert page.page.evaluate("ctsnePage.rows()")[page.state()["pinned"]] == 7


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
    for control in (
        "line",
        "strength",
        "play",
        "left-map",
        "right-column",
        "left",
        "right",
        "share",
        "find",
        "zoom-in",
    ):
        assert control in visited
    page.page.locator(".labels button").first.focus()
    keyboard.press("Enter")
    assert len(page.state()["selected"]) == 30
    assert "30 points selected" in page.text("#said")
    page.page.locator("#settings button").last.focus()
    keyboard.press("Space")
    assert page.shown() == "revised, beta 1e-10"
    page.page.locator("#zoom-in").focus()
    before = page.page.evaluate("ctsnePage.view()")
    keyboard.press("Enter")
    after = page.page.evaluate("ctsnePage.view()")
    assert after["side"] == pytest.approx(before["side"] / 1.5)
    page.page.locator("#left").focus()
    keyboard.press("ArrowRight")
    assert page.page.evaluate("ctsnePage.view()")["x"] > after["x"]
    keyboard.press("0")
    assert page.page.evaluate("ctsnePage.view()") == before
    page.page.locator("#look-menu summary").focus()
    keyboard.press("Enter")
    page.page.wait_for_selector("#theme")
    keyboard.press("Escape")  # closes the menu, and nothing else
    assert not page.page.is_visible("#theme") and len(page.state()["selected"]) == 30
    keyboard.press("Escape")
    assert page.state()["selected"] == []


def test_maps_come_before_legends_on_upright_paper(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.set_viewport_size({"width": 794, "height": 1123})
    page.page.emulate_media(media="print")
    panel, aside = (page.page.locator(each).bounding_box() for each in ("#panel-right", "aside"))
    page.page.emulate_media(media="screen")
    assert aside["y"] >= panel["y"] + panel["height"]


def test_prints_on_light_paper(opened: Open, path: Path) -> None:
    page = opened(path, color_scheme="dark")
    page.page.emulate_media(media="print")
    assert not page.page.is_visible("#strength") and page.page.is_visible("#settings")
    page.page.emulate_media(media="screen")
    assert page.page.pdf(format="A4").startswith(b"%PDF")
    colors = """() => ["#legend-left .swatch", "#trade .dot"].map((each) => {
        const {color, backgroundColor} = getComputedStyle(document.querySelector(each));
        return `${color} ${backgroundColor}`;
    })"""
    dark = page.page.evaluate(colors)
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.page.locator("canvas.printed").count() == 2
    corner = """() => [...document.querySelector("canvas.printed").getContext("2d")
        .getImageData(1, 1, 1, 1).data]"""
    assert page.page.evaluate(corner) == [255] * 4
    assert page.page.get_attribute("html", "data-theme") == "light"
    for before, after in zip(dark, page.page.evaluate(colors), strict=True):
        assert before != after
    for unfolded in ("#about-full", "#why-reason", "#provenance"):
        assert page.page.is_visible(unfolded), unfolded
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not page.page.is_visible("#why-reason")
    assert page.page.locator("canvas.printed").count() == 0
    assert page.page.get_attribute("html", "data-theme") == "dark"
    assert page.page.evaluate(colors) == dark


def test_the_look_is_kept_in_the_address(opened: Open, path: Path) -> None:
    page = opened(path)
    assert page.page.get_attribute("html", "data-theme") == "light"
    page.page.click("#look-menu summary")
    page.page.select_option("#theme", "dark")
    page.page.select_option("#names", "never")
    page.page.fill("#size", "4")
    assert page.page.get_attribute("html", "data-theme") == "dark"
    assert page.page.evaluate("ctsnePage.named('right')") == []
    page.page.reload()
    page.wait("window.ctsnePage !== undefined")
    look = {"size": 4, "opacity": None, "names": "never", "theme": "dark"}
    assert page.state()["look"] == look
    page.requests.pop()  # the same page again


def test_follows_the_theme_of_the_system(opened: Open, path: Path) -> None:
    page = opened(path, color_scheme="dark")
    assert page.page.get_attribute("html", "data-theme") == "dark"
    page.page.emulate_media(color_scheme="light")
    page.wait("document.documentElement.dataset.theme === 'light'")


# The least contrast of a text with what is behind it, and the text.
CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (each) => {
    for (let at = each; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.body.querySelectorAll("*")].filter(each =>
    each.checkVisibility() && !each.matches(":disabled, :disabled *, script, noscript, option") &&
    [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim() !== ""));
  return texts.map(each => {
    const inked = each instanceof SVGElement ? "fill" : "color";
    const pair = [light(getComputedStyle(each)[inked]), light(ground(each))];
    return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), each.textContent];
  }).sort((a, b) => a[0] - b[0])[0];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened: Open, path: Path, scheme: str) -> None:
    page = opened(path, color_scheme=scheme)
    page.page.click("[data-preset=maps]")
    page.page.click("#legend-left button >> nth=0")
    page.page.fill("#find", "17")
    for menu in ("about-menu", "look-menu", "why"):
        page.page.click(f"#{menu} summary")
        contrast, text = page.page.evaluate(CONTRAST)
        assert contrast >= 4.5, text


def test_names_of_types_are_on_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.settle()
    named = "side => ctsnePage.named(side).map(({text}) => text).sort()"
    assert page.page.evaluate(named, "right") == ["alpha", "beta", "gamma"]
    assert page.page.evaluate(named, "left") == []  # labels that were factored out lie everywhere
    page.page.click("#look-menu summary")
    page.page.select_option("#names", "always")
    page.settle()
    assert page.page.evaluate(named, "left") == ["one", "two"]


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_nothing_is_cut_off(opened: Open, path: Path, width: int) -> None:
    page = opened(path, viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    left, right = (page.page.locator(f"#{side}").bounding_box() for side in ("left", "right"))
    assert left is not None and right is not None
    assert (left["width"], left["height"]) == (right["width"], right["height"])
    if width >= 800:  # maps and controls without scrolling
        assert right["y"] + right["height"] <= 800
    assert 0.5 < left["width"] / left["height"] < 1.8
