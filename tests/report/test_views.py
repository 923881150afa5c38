"""The page in a real browser: split maps, hidden labels, ranges of numbers, chosen colours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from .conftest import Made, Open, Opened, made_up, written
from .panel import COLORS, CORNERS, color_at, in_pixels, is_near
from .test_page_points import saved, svg_texts

ALPHA, BETA = "#legend-right .label:has-text('alpha')", "#legend-right .label:has-text('beta')"


def rows(page: Opened) -> Any:
    """Return the rows of the points, which are in random order."""
    return np.array(page.page.evaluate("ctsnePage.rows()"))


def in_tiles(page: Opened) -> Any:
    """Return where each point lies in the window, by tile."""
    box = page.page.locator("#right").bounding_box()
    view = page.page.evaluate("ctsnePage.view()")
    x, y = page.page.evaluate(
        "() => {const {x, y} = ctsnePage.positions('right'); return [[...x], [...y]]}"
    )
    assert box is not None
    places = []
    for tile in page.page.evaluate("ctsnePage.tiles('right')"):
        scale = min(tile["width"], tile["height"]) / view["side"]
        left = box["x"] + tile["left"] + tile["width"] / 2
        top = box["y"] + tile["top"] + tile["height"] / 2
        away = np.column_stack([np.subtract(x, view["x"]), view["y"] - np.asarray(y)])
        places.append([left, top] + away * scale)
    return places


def split_page(opened: Open, path: Path, **options: Any) -> Opened:
    page = opened(path, **options)
    page.page.click("[data-preset=split]")
    page.settle()
    return page


def test_a_split_has_one_map_per_label(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up(120)
    columns["kind"] = np.repeat(["one", "two", "three"], [30, 70, 20])
    page = split_page(opened, written(tmp_path, Made(result, columns)))
    assert page.page.input_value("#split") == "0"  # the label factored out
    assert page.page.is_hidden("#panel-left")
    page.page.select_option("#split", label="kind")
    page.settle()
    tiles = page.page.evaluate("ctsnePage.tiles('right')")
    assert [(t["text"], t["count"]) for t in tiles] == [("one", 30), ("three", 20), ("two", 70)]
    box = page.page.locator("#right").bounding_box()
    assert box is not None
    for tile in tiles:
        assert tile["left"] >= 0 and tile["left"] + tile["width"] <= box["width"]
        assert tile["top"] >= 0 and tile["top"] + tile["height"] <= box["height"]
    assert page.text("#split-note") == ""
    page.page.click("[data-preset=colours]")
    assert page.page.evaluate("ctsnePage.tiles('right')") is None
    assert page.page.is_hidden("#split")


def test_a_split_says_how_many_labels_it_leaves_out(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up(120)
    columns["kind"] = [f"kind {i % 30}" for i in range(120)]
    page = split_page(opened, written(tmp_path, Made(result, columns)))
    page.page.select_option("#split", label="kind")
    assert len(page.page.evaluate("ctsnePage.tiles('right')")) == 24
    assert page.text("#split-note") == "24 largest of 30"
    said = page.page.get_attribute("#right", "aria-description")
    assert said.startswith("split by kind: kind 0 4, kind 1 4,") and said.count(",") == 23
    page.page.click("[data-preset=one]")
    assert page.page.get_attribute("#right", "aria-description") is None


def test_tiles_have_the_order_of_the_legend(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up()
    columns["kind"] = [["b", "b", "a", "c", "c", "c", None][i % 7] for i in range(60)]
    page = split_page(opened, written(tmp_path, Made(result, columns)))
    page.page.select_option("#split", label="kind")
    tiles = page.page.evaluate("ctsnePage.tiles('right')")
    assert [tile["text"] for tile in tiles] == ["a", "b", "c", "missing"]


@pytest.mark.parametrize("insist", [False, True], ids=["pixels", "webgl"])
def test_a_tile_colours_its_own_points_only(drawn: Open, insist: bool) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]), insist=insist, size=(400, 220))
    page.page.evaluate("ctsnePage.panel.look({ size: 8, opacity: 1, dark: false })")
    page.page.evaluate(
        """() => ctsnePage.panel.regroup(Uint8Array.from([2, 3, 2, 0]),
             [{ text: "a", count: 2 }, { text: "b", count: 1 }])"""
    )
    page.settle()
    first, second = page.page.evaluate("ctsnePage.panel.tiles()")
    assert first["width"] == second["width"] and first["left"] + first["width"] < second["left"]
    own = {0: [0, 2], 1: [1]}
    for place, tile in enumerate((first, second)):
        side = min(tile["width"], tile["height"])
        shift = [
            tile["left"] + (tile["width"] - side) / 2,
            tile["top"] + (tile["height"] - side) / 2,
        ]
        at = in_pixels(CORNERS, side=side) + shift
        for point in range(3):
            found = color_at(page, at[point])
            if point in own[place]:
                assert is_near(found, COLORS[point + 1])
            else:  # grey
                assert max(found[:3]) - min(found[:3]) < 16 and found[3] > 60
        assert color_at(page, at[3])[3] == 0  # hidden


def test_pointer_lasso_and_zoom_work_in_a_tile(opened: Open, path: Path) -> None:
    page = split_page(opened, path)
    batch = rows(page) % 2
    for tile, places in enumerate(in_tiles(page)):
        own = np.flatnonzero(batch == tile)
        page.page.mouse.move(*places[own[0]])
        page.wait("ctsnePage.state().point !== null")
        assert batch[page.state()["point"]] == tile
        low, high = places.min(axis=0) - 3, places.max(axis=0) + 3
        page.page.mouse.move(*low)
        page.page.mouse.down()
        for corner in ([high[0], low[1]], high, [low[0], high[1]]):
            page.page.mouse.move(*corner, steps=3)
        page.page.mouse.up()
        assert sorted(page.state()["selected"]) == own.tolist()  # grey points are not selected
        page.page.keyboard.press("Escape")
    places = in_tiles(page)
    page.page.mouse.move(*places[1][3])
    page.page.mouse.wheel(0, -200)
    page.settle()
    after = in_tiles(page)
    np.testing.assert_allclose(after[1][3], places[1][3], atol=0.6)  # stays under the pointer
    shift = after[0] - after[1]
    np.testing.assert_allclose(np.ptp(shift, axis=0), 0, atol=1e-6)  # both show the same view


def test_a_tap_finds_the_points_of_its_tile(opened: Open, path: Path) -> None:
    page = split_page(opened, path, has_touch=True)  # no pointer moves before a finger is down
    batch = rows(page) % 2
    for tile in (1, 0):
        page.page.touchscreen.tap(*in_tiles(page)[tile][np.flatnonzero(batch == tile)[4]])
        page.wait("ctsnePage.state().pinned !== null")
        assert batch[page.state()["pinned"]] == tile
        page.page.keyboard.press("Escape")


def test_a_saved_picture_shows_the_split(opened: Open, path: Path) -> None:
    page = split_page(opened, path)
    texts = svg_texts(page)
    assert "joint, strength 0.5, by kind, split by batch" in texts
    assert texts.count("one") == texts.count("two") == 1 and texts.count("30") == 2
    images = ElementTree.fromstring(saved(page, "svg")).iter("{http://www.w3.org/2000/svg}image")
    assert len(list(images)) == 1
    assert saved(page, "png").startswith(b"\x89PNG")


def test_half_a_million_points_move_in_24_tiles(drawn: Open) -> None:
    points = np.random.default_rng(0).random((500_000, 2), np.float32)
    page = drawn(points, size=(1000, 600))
    page.page.evaluate(
        """() => ctsnePage.panel.regroup(Uint8Array.from(ctsnePage.codes, (_, i) => 2 + (i % 24)),
             Array.from({ length: 24 }, (_, i) => ({ text: String(i), count: 20833 })))"""
    )
    page.settle()
    assert page.page.evaluate("ctsnePage.panel.drawn()") == 500_000
    page.page.evaluate(
        """() => new Promise((done) => {
            let step = 0;
            const move = () => {
              ctsnePage.panel.view({ x: 0.5, y: 0.5, side: 1.06 - 0.005 * step });
              if (++step < 40) requestAnimationFrame(move); else done();
            };
            move();
        })"""
    )
    page.settle()
    frames = page.page.evaluate("ctsnePage.panel.frames()")
    # The sample adapts within a few frames. Twice a frame at 30 a second, on a busy machine.
    assert np.median(frames[10:]) < 67


def test_labels_are_hidden_and_shown_alone(opened: Open, path: Path) -> None:
    page = opened(path)
    kind, batch = rows(page) % 3, rows(page) % 2
    page.page.click("#legend-left .label:has-text('one')")
    assert len(page.state()["selected"]) == 30
    page.page.hover(ALPHA)
    page.page.click("#legend-right .hide >> nth=0")
    assert page.text("#filter-count") == "40 of 60 points shown"
    shown = np.array(page.page.evaluate("Object.values(ctsnePage.state().shown)"))
    assert (shown == (kind != 0)).all()
    # Hidden points leave the selection, and come into none.
    wanted = np.flatnonzero((kind != 0) & (batch == 0)).tolist()
    assert sorted(page.state()["selected"]) == wanted
    page.page.click("#legend-left .label:has-text('one')")
    assert sorted(page.state()["selected"]) == wanted
    page.page.click("#legend-left .label:has-text('two')", modifiers=["Alt"])  # columns combine
    assert page.text("#filter-count") == "20 of 60 points shown"
    page.page.click("#show-all")
    assert page.page.is_hidden("#filter")
    page.page.click(BETA, modifiers=["Shift"])
    assert page.text("#filter-count") == "20 of 60 points shown"
    assert page.page.locator("#legend-right li.off").count() == 3 - 1
    page.page.click(BETA, modifiers=["Shift"])  # the others again
    assert page.page.is_hidden("#filter")


def test_hidden_points_are_not_drawn_hovered_or_named(opened: Open, path: Path) -> None:
    page = opened(path)
    kind = rows(page) % 3
    page.settle()
    assert {name["text"] for name in page.page.evaluate("ctsnePage.named('right')")} >= {"alpha"}
    page.page.click(ALPHA, modifiers=["Alt"])
    page.settle()
    named = {name["text"] for name in page.page.evaluate("ctsnePage.named('right')")}
    assert named == {"beta", "gamma"}
    drawing = ElementTree.fromstring(saved(page, "svg"))
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == 2 * 40 + 5
    places = page.pixels("right")
    page.page.mouse.move(*places[np.flatnonzero(kind == 1)[0]])
    page.wait("ctsnePage.state().point !== null")
    for point in np.flatnonzero(kind == 0):
        page.page.mouse.move(*places[point])
        page.wait(f"ctsnePage.state().point !== {point}")
    page.page.fill("#find", f"cell {rows(page)[kind == 0][0]}")
    assert page.text("#point-links").startswith("This point is hidden.")


def test_keys_hide_a_label_and_show_it_alone(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.focus(ALPHA)
    page.page.keyboard.press("h")
    assert page.text("#filter-count") == "40 of 60 points shown"
    assert "40 of 60 points shown" in page.text("#said")
    assert page.page.get_attribute(ALPHA, "title") == "alpha, hidden"
    assert page.page.is_visible("#legend-right .hide >> nth=0")
    page.page.keyboard.press("h")
    assert page.page.is_hidden("#filter")
    page.page.keyboard.press("o")
    assert page.text("#filter-count") == "20 of 60 points shown"


def test_a_range_of_a_histogram_is_a_selection(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.select_option("#right-column", label="depth")
    depth = np.linspace(-1, 5, 60)[rows(page)]
    heights = page.page.locator("#legend-right .histogram rect").evaluate_all(
        "all => all.filter((bar) => Number(bar.getAttribute('height')) > 0).length"
    )
    assert 50 <= heights <= 60  # values are spread evenly over 64 bins
    box = page.page.locator("#legend-right .histogram").bounding_box()
    assert box is not None
    page.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.5 * box["width"] - 1, box["y"] + 30, steps=3)
    page.wait("ctsnePage.state().brushed !== null")
    page.page.mouse.up()
    found = depth[page.state()["selected"]]
    assert found.min() == pytest.approx(0.5, abs=0.15) and found.max() == pytest.approx(2, abs=0.15)
    assert len(found) == ((depth >= found.min()) & (depth <= found.max())).sum()
    low, high = page.text("#legend-right .said").split(" to ")
    assert float(low) == pytest.approx(0.5, abs=0.1) and float(high) == pytest.approx(2, abs=0.1)
    page.page.click("#legend-left .label:has-text('one')")  # another selection
    assert page.text("#legend-right .said") == ""


@pytest.mark.parametrize("colour", ["depth", "weight on other labels"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_handles_of_a_histogram_have_keys(opened: Open, path: Path, side: str, colour: str) -> None:
    page = opened(path)
    page.page.select_option(f"#{side}-column", label=colour)
    lowest, highest = page.page.locator(f"#legend-{side} .handle").all()
    lowest.focus()
    for _ in range(4):
        page.page.keyboard.press("PageUp")
    half = len(page.state()["selected"])
    assert 15 <= half <= 45
    assert lowest.get_attribute("aria-valuenow") == "32"
    assert f"{half} points selected" in page.text("#said")
    highest.focus()
    page.page.keyboard.press("PageDown")
    assert 0 < len(page.state()["selected"]) < half
    page.page.keyboard.press("End")
    lowest.focus()
    page.page.keyboard.press("Home")
    assert page.state()["selected"] == []


def test_a_chosen_colour_is_used_everywhere_and_saved(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("[data-preset=maps]")  # both panels by kind
    page.page.click("#save-menu summary")
    assert page.page.is_disabled("#save-colours")
    page.page.keyboard.press("Escape")
    swatch = page.page.locator("#legend-left input.swatch").nth(1)
    before = swatch.input_value()
    swatch.fill("#12ab34")
    page.settle()
    drawing = saved(page, "svg").decode()
    assert drawing.count('fill="#12ab34"') == 2 * 20 + 1 and before not in drawing
    assert json.loads(saved(page, "colours")) == {"kind": {"beta": "#12ab34"}}
    page.page.click("#look-menu summary")
    page.page.click("#reset-colours")
    assert page.page.evaluate("ctsnePage.colours()") == {}
    assert swatch.input_value() == before
    assert "#12ab34" not in saved(page, "svg").decode()


def test_a_legend_out_of_sight_keeps_its_own_colours(opened: Open, path: Path) -> None:
    page = opened(path)
    kinds = page.page.locator("#legend-right .swatch")
    before = kinds.evaluate_all("all => all.map((swatch) => swatch.value)")
    page.page.click("[data-preset=maps]")
    page.page.select_option("#left-column", label="batch")  # both panels, so one legend
    page.page.locator("#legend-left input.swatch").first.fill("#12ab34")
    page.page.evaluate("ctsnePage.paint({ ...ctsnePage.colours(), kind: { gamma: '#ab1234' } })")
    page.page.click("[data-preset=colours]")
    page.page.select_option("#right-column", label="kind")
    after = kinds.evaluate_all("all => all.map((swatch) => swatch.value)")
    assert after == [*before[:2], "#ab1234"]


def test_colours_from_elsewhere_are_checked(opened: Open, path: Path) -> None:
    page = opened(path)
    given = {
        "kind": {"alpha": "#010203", "beta": "red; background: url(x)", "nobody": "#000000"},
        "no column": {"a": "#000000"},
        "batch": None,
    }
    page.page.evaluate("choices => ctsnePage.paint(choices)", given)
    assert page.page.evaluate("ctsnePage.colours()") == {"kind": {"alpha": "#010203"}}
    color = page.page.locator("#legend-right .swatch").first.evaluate(
        "swatch => getComputedStyle(swatch).backgroundColor"
    )
    assert color == "rgb(1, 2, 3)"


def test_a_clicked_point_is_joined_to_the_nearest_of_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("[data-preset=maps]")
    page.settle()
    page.page.mouse.click(*page.pixels("right")[7])
    point = page.state()["pinned"]
    for side in ("left", "right"):
        places = page.pixels(side)
        order = np.argsort(np.hypot(*(places - places[point]).T), kind="stable")
        links = page.page.evaluate("side => ctsnePage.links(side)", side)
        assert sorted(links["near"]) == sorted(order[1:11].tolist())
        assert links["kept"] == links["lost"] == []
    assert page.text("#point-links") == "Lines lead to the 10 nearest points of the map."
    page.page.keyboard.press("Escape")
    assert page.page.evaluate("ctsnePage.links('right')") is None
    assert page.text("#point-links") == ""
    page.page.mouse.click(*page.pixels("right")[7])
    page.page.click("#right", position={"x": 4, "y": 4})  # empty space
    assert page.page.evaluate("ctsnePage.links('right')") is None


_LINKS = """([near, trust]) => {
  const data = {
    neighbors: () => ({ k: 3, rows: Uint32Array.from(near) }), positions: () => ctsnePage.map,
    diagnostic: () => trust,
  };
  const links = ctsnePage.linksOf(data, 0, 0);
  ctsnePage.panel.link(links);
  return [links, ctsnePage.linkWords(data, 0, links)];
}"""


def test_neighbours_kept_and_lost_are_told_apart(drawn: Open) -> None:
    line = np.column_stack([np.linspace(0.1, 0.9, 6), np.full(6, 0.5)]).astype(np.float32)
    page = drawn(line)  # the nearest of point 0 are 1, 2, 3
    none = [0] * 15
    links, words = page.page.evaluate(_LINKS, [[2, 1, 5, *none], 0.625])
    assert (links["kept"], links["lost"], links["near"]) == ([2, 1], [5], [3])
    assert (
        words == "2 of 3 neighbours kept · 1 lost (dashed) · 1 only in the map (grey) · trust 0.63."
    )
    page.settle()
    drawing = ElementTree.fromstring(page.page.evaluate("ctsnePage.panel.svg()"))
    lines = list(drawing.iter("{http://www.w3.org/2000/svg}line"))
    dashed = [each for each in lines if each.get("stroke-dasharray")]
    assert len(lines) == 2 * 4 and len(dashed) == 1  # each with its halo
    assert float(dashed[0].get("x2", "nan")) == pytest.approx(in_pixels(line)[5, 0], abs=0.01)
    rings = [c for c in drawing.iter("{http://www.w3.org/2000/svg}circle") if c.get("r") == "5"]
    assert len(rings) == 1
    # A neighbour that the page does not show is neither kept nor lost.
    links, words = page.page.evaluate(_LINKS, [[2, 2**32 - 1, 5, *none], None])
    assert words.startswith("1 of 2 neighbours that this page shows kept · 1 lost (dashed)")
    page.page.evaluate("ctsnePage.panel.regroup(Uint8Array.from([1, 1, 1, 1, 1, 0]))")
    assert 'stroke-dasharray="5' not in page.page.evaluate("ctsnePage.panel.svg()")
