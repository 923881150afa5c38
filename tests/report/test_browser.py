"""The page in a real browser: mouse, keyboard and paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from .conftest import Opened, made_up, written

Open = Callable[..., Opened]

# Makes the page take any renderer for a graphics card.
ON_CARD = """
const plain = WebGLRenderingContext.prototype.getParameter;
WebGLRenderingContext.prototype.getParameter = function (name) {
  const value = plain.call(this, name);
  return typeof value === "string" ? value.replace(/swiftshader|llvmpipe/gi, "card") : value;
};
window.programsUsed = 0;
const use = WebGLRenderingContext.prototype.useProgram;
WebGLRenderingContext.prototype.useProgram = function (program) {
  window.programsUsed++;
  return use.call(this, program);
};
"""


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


def test_starts_with_the_suggestion_next_to_tsne(opened: Open, path: Path) -> None:
    page = opened(path)
    assert page.text("#left-title") == "t-SNE (for comparison)"
    assert page.text("#right-title") == "joint, strength 0.5"
    assert "joint, strength 0.5" in page.text("#suggested")
    assert page.text("#right-measures").startswith("mixing of batch 0.55 · neighbours kept 0.50")


def test_suggests_for_the_mixing_asked_for(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, mixing=0.72))
    assert page.page.input_value("#share") == "0.72"
    assert page.text("#right-title") == "joint, strength 1"
    words = page.text("#suggested")
    assert words.startswith("joint, strength 1 (0.80): keeps kind purest among the maps")
    assert words.endswith("are not beaten by another.")


def test_both_ways_of_drawing_show_the_points(opened: Open, path: Path) -> None:
    for before in ("", ON_CARD):
        page = opened(path, before=before)
        page.page.wait_for_function(
            """() => [...document.querySelectorAll("#right *")].flatMap(function all(each) {
                const inner = each.shadowRoot ? [...each.shadowRoot.querySelectorAll("*")] : [];
                return [each, ...inner.flatMap(all)];
            }).filter(each => each instanceof HTMLCanvasElement && each.width > 0).map(canvas => {
                const {width, height} = canvas;
                const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
                return data.filter((value, place) => place % 4 === 3 && value > 200).length;
            }).some(drawn => drawn > 500)"""
        )
        if before:
            assert page.page.evaluate("programsUsed") > 0


def test_slider_moves_points_to_the_next_map(opened: Open, path: Path) -> None:
    page = opened(path)
    before = page.pixels("right")
    page.page.locator("#strength").focus()
    page.page.keyboard.press("ArrowRight")
    assert page.title(page.state()["map"]) == "joint, strength 1"
    assert page.state()["moving"]
    page.settle()
    assert page.text("#setting") == "strength 1"
    assert np.abs(page.pixels("right") - before).max() > 5
    assert "strength 1: mixing of batch 0.80" in page.text("#said")
    page.page.keyboard.press("Home")
    page.page.keyboard.press("End")
    assert page.title(page.settle()["map"]) == "joint, strength 1"


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
    assert page.title(page.settle()["map"]) == "revised, beta 0.0001"
    page.page.select_option("#line", label="t-SNE")
    assert page.page.is_disabled("#strength") and page.page.is_disabled("#play")


def test_play_goes_to_the_end(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#play")
    page.page.wait_for_function("ctsnePage.state().map === 3")
    page.page.wait_for_selector("#play:has-text('Play')")


def test_colour_by_any_column(opened: Open, path: Path) -> None:
    page = opened(path)
    assert page.text("#labels").split() == ["one", "30", "two", "30"]
    page.page.click("text=other: kind")
    assert page.text("#legend-title") == "kind"
    assert page.text("#labels").split() == ["alpha", "20", "beta", "20", "gamma", "20"]
    page.page.select_option("#column", label="depth")
    assert page.text("#labels").split() == ["-1", "5", "missing", "1"]


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
    counts = [line.split()[:2] for line in page.text("#selection-tables").splitlines()[1:]]
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))[inside]
    assert dict(counts)["one"] == str((rows % 2 == 0).sum())
    page.page.keyboard.press("Escape")
    assert page.state()["selected"] == []


def test_legend_selects_and_names_are_saved(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("text=other: kind")
    page.page.click("#labels button:has-text('beta')")
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    assert sorted(page.state()["selected"]) == np.flatnonzero(rows % 3 == 1).tolist()
    with page.page.expect_download() as download:
        page.page.click("#download")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "row\tname"
    assert lines[1:] == [f"{row}\tcell {row}" for row in range(1, 60, 3)]
    page.page.click("#labels button:has-text('beta')")
    assert page.state()["selected"] == []


def test_hover_tells_labels_and_diagnostics(opened: Open, path: Path) -> None:
    result, _ = made_up()
    page = opened(path)
    rows = page.page.evaluate("ctsnePage.rows()")
    # A point that has no other within reach.
    places = page.pixels("right")
    apart = np.hypot(*(places[:, None] - places).T) + 1e9 * np.eye(60)
    point = int(apart.min(axis=1).argmax())
    page.page.mouse.move(*places[point] + 1)
    page.page.wait_for_function("point => ctsnePage.state().point === point", arg=point)
    row = rows[point]
    told = page.page.locator("#point-facts")
    names, texts = told.locator("dt").all_inner_texts(), told.locator("dd").all_inner_texts()
    facts = dict(zip(names, texts, strict=True))
    (swept,) = result.find(method="joint", strength=0.5)
    assert facts["name"] == f"cell {row}" and facts["row"] == str(row)
    assert facts["batch"] == ("one", "two")[row % 2]
    assert float(facts["perplexity"]) == pytest.approx(
        swept.diagnostics["perplexity"][row], abs=0.06
    )
    assert float(facts["largest weight"]) == pytest.approx(
        swept.diagnostics["largest_weight"][row], abs=0.008
    )
    assert page.page.is_visible("#tip")
    assert page.page.locator("#tip dd").all_inner_texts() == list(facts.values())
    page.page.mouse.move(5, 5)
    page.page.wait_for_function("ctsnePage.state().point === null")


def test_click_on_the_trade_off_selects_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator("#trade").scroll_into_view_if_needed()
    page.page.evaluate("Bokeh.require('core/ui_gestures').UIGestures.doubletap_threshold = 0")
    for wanted in (3, 6, 5, 0):
        place = page.page.evaluate(
            """map => {
                const {mixing, adjusted_rnx} = ctsnePage.facts().maps[map].measures;
                const plot = Bokeh.documents.flatMap(each => each.roots())
                    .find(each => each.xaxes?.[0]?.axis_label?.startsWith("mixing"));
                const {frame} = Bokeh.index.get_by_id(plot.id);
                const {left, top} = document.getElementById("trade").getBoundingClientRect();
                const {x_scale, y_scale} = frame;
                return [left + x_scale.compute(mixing), top + y_scale.compute(adjusted_rnx)];
            }""",
            wanted,
        )
        page.page.mouse.click(*place)
        page.page.wait_for_function("map => ctsnePage.state().map === map", arg=wanted)
    page.page.mouse.click(place[0], place[1] + 100)  # far from any
    assert page.settle()["map"] == 0


def test_table_and_suggestion_select_the_map(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#settings button:has-text('revised, beta 1e-10')")
    assert page.text("#right-title") == "revised, beta 1e-10"
    assert page.page.locator("#settings tr[aria-current]").count() == 1
    page.page.fill("#share", "0.85")
    assert "revised, beta 1e-10" in page.text("#suggested")
    page.page.fill("#share", "0.3")
    page.page.click("#go")
    assert page.text("#right-title") == "joint, strength 0.5"
    page.page.fill("#share", "0.95")
    assert "no setting mixes that far: the most is 0.90, with revised, beta 1e-10" in page.text(
        "#suggested"
    )
    assert page.page.is_disabled("#go")


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
    for text, row in (("cell 41", 41), ("17", 17)):
        page.page.fill("#find", text)
        assert rows[page.state()["point"]] == row
    page.page.fill("#find", "nobody")
    assert page.state()["point"] is None
    assert "No point shown" in page.text("#point-hint")


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
    for control in ("line", "strength", "play", "column", "share", "find", "zoom-in"):
        assert control in visited
    page.page.locator("#labels button").first.focus()
    keyboard.press("Enter")
    assert len(page.state()["selected"]) == 30
    assert "30 points selected" in page.text("#said")
    page.page.locator("#settings button").last.focus()
    keyboard.press("Space")
    assert page.text("#right-title") == "revised, beta 1e-10"
    page.page.locator("#zoom-in").focus()
    before = page.page.evaluate("ctsnePage.view('right')")
    keyboard.press("Enter")
    after = page.page.evaluate("ctsnePage.view('right')")
    assert after[1] - after[0] == pytest.approx((before[1] - before[0]) / 1.5)
    assert after[3] - after[2] == pytest.approx(after[1] - after[0])


def test_prints(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.emulate_media(media="print")
    assert not page.page.is_visible("#strength") and page.page.is_visible("#settings")
    page.page.emulate_media(media="screen")
    assert page.page.pdf(format="A4").startswith(b"%PDF")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.page.locator("canvas.printed").count() == 4
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.page.locator("canvas.printed").count() == 0


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_nothing_is_cut_off(opened: Open, path: Path, width: int) -> None:
    page = opened(path, viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1280:  # maps and controls without scrolling
        box = page.page.locator("#right").bounding_box()
        assert box is not None and box["y"] + box["height"] <= 800
    widths = page.page.evaluate(
        "['left', 'right'].map(id => document.getElementById(id).clientWidth)"
    )
    heights = page.page.evaluate(
        "['left', 'right'].map(id => document.getElementById(id).clientHeight)"
    )
    assert widths == heights
