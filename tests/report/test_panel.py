"""One panel, alone on a page, in a real browser: its points, its names, and pictures of it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Open, Opened
from .panel import COLORS, CORNERS, RNG, UNIFORM, WHOLE, color_at, image, in_pixels, is_near

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("insist", [False, True], ids=["pixels", "webgl"])
def test_each_point_has_its_colour_and_a_highlight_fades_the_others(
    drawn: Open, insist: bool
) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]), insist=insist)
    places = in_pixels(CORNERS)
    for place, color in zip(places, (COLORS[1], COLORS[2], COLORS[3], COLORS[1]), strict=True):
        found = color_at(page, place)
        assert is_near(found, color) and found[3] > 200
        assert color_at(page, place + 12)[3] == 0
    page.page.evaluate("ctsnePage.panel.highlight(Uint8Array.from([0, 1, 0, 0]))")
    page.settle()
    assert is_near(color_at(page, places[1]), COLORS[2])
    for faded in (0, 2, 3):
        red, green, blue, opacity = color_at(page, places[faded])
        assert max(red, green, blue) - min(red, green, blue) < 16 and 60 < opacity < 200
    page.page.evaluate("ctsnePage.panel.highlight(null)")
    page.settle()
    assert is_near(color_at(page, places[0]), COLORS[1])


@pytest.mark.parametrize("insist", [False, True], ids=["pixels", "webgl"])
def test_codes_may_have_any_size(drawn: Open, insist: bool) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]), insist=insist)
    for kind, last in (("Uint8Array", 3), ("Uint32Array", 70_000)):
        page.page.evaluate(f"""() => {{
            const colors = Array({last + 1}).fill("#000000");
            colors[{last}] = "#00a000";
            ctsnePage.panel.paint({kind}.from([1, 2, {last}, 1]), colors);
        }}""")
        page.settle()
        found = [color_at(page, place) for place in in_pixels(CORNERS)]
        wanted = ("#000000", "#000000", "#00a000", "#000000")
        assert all(is_near(pixel, color) for pixel, color in zip(found, wanted, strict=True))


def test_webgl_and_pixels_draw_the_same(drawn: Open) -> None:
    codes = np.arange(4000) % 3 + 1
    images = []
    for insist in (False, True):
        page = drawn(UNIFORM, codes, insist=insist)
        page.page.evaluate("ctsnePage.panel.look({ size: 5, opacity: 1, dark: false })")
        page.settle()
        images.append(image(page, "document.querySelector('#host canvas')"))
    apart = np.abs(images[0].astype(int) - images[1]).max(axis=2)
    # The prepared discs lie within an eighth of a pixel of their points, so only edges differ.
    assert (apart > 100).mean() < 0.01
    assert np.abs(images[0].mean(axis=(0, 1)) - images[1].mean(axis=(0, 1))).max() < 2


def test_highlighted_points_lie_above_the_others(drawn: Open) -> None:
    page = drawn(np.full((50, 2), 0.5, np.float32), np.where(np.arange(50) == 7, 3, 1))
    page.page.evaluate(
        "ctsnePage.panel.highlight(Uint8Array.from({ length: 50 }, (_, i) => Number(i === 7)))"
    )
    page.settle()
    assert is_near(color_at(page, np.array([200, 200])), "#1515d0")


@pytest.mark.parametrize("insist", [False, True])
def test_points_without_a_value_lie_below_the_others(drawn: Open, insist: bool) -> None:
    page = drawn(
        np.full((50, 2), 0.5, np.float32), np.where(np.arange(50) == 7, 3, 0), insist=insist
    )
    red, green, blue, _ = color_at(page, np.array([200, 200]))
    assert blue > 180
    assert max(red, green) < 60


def test_half_a_million_points_are_all_drawn_at_rest(drawn: Open) -> None:
    points = np.random.default_rng(0).random((500_000, 2), np.float32)
    page = drawn(points)
    assert page.page.evaluate("ctsnePage.panel.drawn()") == 500_000
    # Found without looking at all of them: one answer takes far less than a frame.
    spent = page.page.evaluate(
        """() => {
            const move = (x) => document.querySelector("#host canvas:last-child").dispatchEvent(
              new PointerEvent("pointermove", { clientX: x, clientY: 200 }));
            move(100);
            const begin = performance.now();
            for (let x = 101; x < 201; x++) move(x);
            return (performance.now() - begin) / 100;
        }"""
    )
    assert len(page.page.evaluate("ctsnePage.said.hover")) == 101
    assert spent < 8


# Drawing that takes 20 ms, by its own clock.
_SLOW_FRAMES = """
  let time = 1e6;
  window.counts = [];
  performance.now = () => (time += 20);
  window.requestAnimationFrame = (run) => setTimeout(() => {
    time += 10;
    run(time);
    if (window.ctsnePage !== undefined) counts.push(ctsnePage.panel.drawn());
  }, 0);
"""


def test_a_sample_moves_if_frames_are_slow(drawn: Open) -> None:
    n = 40_000
    page = drawn(np.resize(UNIFORM, (n, 2)), before=_SLOW_FRAMES)
    page.page.evaluate(
        """() => {
            const { x, y } = ctsnePage.map;
            counts.length = 0;
            ctsnePage.panel.show({ x: y, y: x }, true);
        }"""
    )
    page.settle()
    counts = page.page.evaluate("counts")
    moving = counts[: counts.index(n)]
    assert len(moving) >= 4 and moving == sorted(moving, reverse=True)
    assert 8000 <= moving[-1] < n / 3
    assert counts[-1] == n
    assert page.page.evaluate("ctsnePage.panel.frames().every((passed) => passed >= 40)")


def test_reduced_motion_shows_the_next_map_at_once(drawn: Open) -> None:
    page = drawn(CORNERS, np.array([1, 1, 1, 1]), reduced_motion="reduce")
    assert page.page.evaluate(
        """() => new Promise((resolve) => {
            const { panel, map } = ctsnePage;
            panel.show({ x: map.x.map(() => 0.5), y: map.y }, true);
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(!panel.moving())));
        })"""
    )
    assert is_near(color_at(page, in_pixels(np.array([[0.5, 0.1]]))[0]), COLORS[1])


def _inside(points: NDArray[Any], line: NDArray[Any]) -> NDArray[np.intp]:
    """Return the points with an odd number of edges to their right."""
    x, y = points.T.astype(float)
    odd = np.zeros(len(points), bool)
    for (x1, y1), (x2, y2) in zip(line, np.roll(line, -1, axis=0), strict=True):
        if y1 == y2:
            continue
        odd ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) / (y2 - y1) * (x2 - x1))
    return np.flatnonzero(odd)


@pytest.mark.parametrize(
    ("key", "mode"), [(None, "replace"), ("Control", "add"), ("Alt", "remove")]
)
def test_a_lasso_selects_exactly_the_points_inside(drawn: Open, key: str | None, mode: str) -> None:
    page = drawn(UNIFORM)
    turns = np.arange(11) * 4 * np.pi / 11  # a star that crosses itself
    corners = np.round(200 + 150 * np.column_stack([np.cos(turns), np.sin(turns)]))
    mouse = page.page.mouse
    if key is not None:
        page.page.keyboard.down(key)
    mouse.move(*corners[0])
    mouse.down()
    for corner in corners[1:]:
        mouse.move(*corner)
    mouse.up()
    if key is not None:
        page.page.keyboard.up(key)
    ((points, said),) = page.page.evaluate("ctsnePage.said.select")
    line = np.column_stack([corners[:, 0] - 200, 200 - corners[:, 1]]) * 1.06 / 400 + 0.5
    assert said == mode
    assert points == _inside(UNIFORM, line).tolist()
    assert 100 < len(points) < 2500


def test_the_nearest_point_within_reach_is_found(drawn: Open) -> None:
    points = UNIFORM[:150]
    page = drawn(points)
    mouse = page.page.mouse
    wanted: list[int | None] = []
    pixels = in_pixels(points)
    for place in np.random.default_rng(5).integers(0, 400, (40, 2)):
        mouse.move(*place.tolist())
        apart = np.hypot(*(pixels - place).T)
        near = int(apart.argmin()) if apart.min() < 10 else None
        if near is not None or (wanted and wanted[-1] is not None):
            wanted.append(near)
    assert page.page.evaluate("ctsnePage.said.hover") == wanted
    assert any(point is not None for point in wanted)


def test_highlighted_points_are_found_before_the_ones_below(drawn: Open) -> None:
    page = drawn(np.array([[0.5, 0.5], [0.508, 0.5]], np.float32))  # three pixels apart
    page.page.mouse.move(200, 200)
    page.page.evaluate("ctsnePage.panel.highlight(Uint8Array.of(0, 1))")
    page.page.mouse.move(200, 201)
    page.page.mouse.move(193, 201)  # too far from the highlighted one
    assert page.page.evaluate("ctsnePage.said.hover") == [0, 1, 0]


def test_a_tap_gives_the_point_and_selects_nothing(drawn: Open) -> None:
    page = drawn(CORNERS)
    page.page.mouse.click(*(in_pixels(CORNERS)[2] + 2))
    page.page.mouse.click(200, 200)
    said = page.page.evaluate("ctsnePage.said")
    assert said["tap"] == [2, None]
    assert said["select"] == [] and said["view"] == []


def test_the_wheel_zooms_at_the_pointer_and_a_double_click_shows_the_whole_map(
    drawn: Open,
) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]))
    place = in_pixels(CORNERS)[1]
    page.page.mouse.move(*place)
    for _ in range(3):
        page.page.mouse.wheel(0, -100)
    page.settle()
    view = page.page.evaluate("ctsnePage.said.view.at(-1)")
    assert view["side"] < 0.7
    np.testing.assert_allclose(in_pixels(CORNERS, view)[1], place, atol=1)
    assert is_near(color_at(page, place), COLORS[2])
    page.page.mouse.dblclick(200, 200)
    page.settle()
    assert page.page.evaluate("ctsnePage.said.view.at(-1)") == WHOLE


def test_a_drag_moves_the_map_and_shift_swaps_the_two_drags(drawn: Open) -> None:
    page = drawn(CORNERS)
    mouse = page.page.mouse
    page.page.evaluate("ctsnePage.panel.view({ x: 0.5, y: 0.5, side: 0.5 })")

    def drag() -> Any:
        mouse.move(200, 200)
        mouse.down()
        mouse.move(240, 200)
        mouse.move(240, 180)
        mouse.up()
        page.settle()
        return page.page.evaluate("ctsnePage.said")

    page.page.keyboard.down("Shift")
    said = drag()
    page.page.keyboard.up("Shift")
    assert said["select"] == []
    assert said["view"][-1] == pytest.approx({"x": 0.45, "y": 0.475, "side": 0.5})
    page.page.evaluate("ctsnePage.panel.drag('move')")
    assert drag()["view"][-1] == pytest.approx({"x": 0.4, "y": 0.45, "side": 0.5})
    page.page.keyboard.down("Shift")
    assert drag()["select"] == [[[], "replace"]]
    page.page.keyboard.up("Shift")


def test_keys_move_and_zoom_the_focused_map(drawn: Open) -> None:
    page = drawn(CORNERS)
    page.page.keyboard.press("Tab")
    for key in ("+", "+", "ArrowRight", "ArrowUp", "-", "0"):
        page.page.keyboard.press(key)
    views = page.page.evaluate("ctsnePage.said.view")
    sides = [view["side"] for view in views]
    assert sides == pytest.approx(
        [1.06 / 1.5, 1.06 / 2.25] + [1.06 / 2.25] * 2 + [1.06 / 1.5, 1.06]
    )
    assert views[2]["x"] > views[1]["x"] and views[3]["y"] > views[2]["y"]
    assert views[-1] == WHOLE


def test_two_fingers_zoom(drawn: Open) -> None:
    page = drawn(CORNERS)
    page.page.evaluate(
        """() => {
            const surface = document.querySelector("#host canvas:last-child");
            surface.setPointerCapture = () => {};
            const send = (kind, pointerId, clientX) => surface.dispatchEvent(
              new PointerEvent(kind, { pointerId, clientX, clientY: 200, pointerType: "touch" }));
            send("pointerdown", 5, 150);
            send("pointerdown", 6, 250);
            send("pointermove", 5, 100);
            send("pointermove", 6, 300);
            send("pointerup", 5, 100);
            send("pointerup", 6, 300);
        }"""
    )
    said = page.page.evaluate("ctsnePage.said")
    assert said["view"][-1] == pytest.approx({"x": 0.5, "y": 0.5, "side": 0.53})
    assert said["select"] == [] and said["tap"] == []


def test_a_lost_card_is_replaced_until_it_returns(drawn: Open) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]), insist=True)
    place = in_pixels(CORNERS)[2]
    kind = """() => {
        const canvas = document.querySelector("#host canvas");
        return canvas.getContext("webgl2") === null ? "2d" : "webgl2";
    }"""
    assert page.page.evaluate(kind) == "webgl2"
    page.page.evaluate(
        """() => {
            window.gl = document.querySelector("#host canvas").getContext("webgl2");
            window.loss = gl.getExtension("WEBGL_lose_context");
            loss.loseContext();
        }"""
    )
    page.page.wait_for_function("document.querySelector('#host canvas') !== gl.canvas")
    page.settle()
    assert page.page.evaluate(kind) == "2d" and is_near(color_at(page, place), COLORS[3])
    page.page.evaluate("ctsnePage.panel.highlight(Uint8Array.from([1, 0, 0, 0]))")
    page.page.evaluate("loss.restoreContext()")
    page.page.wait_for_function("document.querySelector('#host canvas') === gl.canvas")
    page.settle()
    assert is_near(color_at(page, in_pixels(CORNERS)[0]), COLORS[1])
    assert not is_near(color_at(page, place), COLORS[3])
    page.complaints[:] = [text for text in page.complaints if "CONTEXT_LOST" not in text]


def test_a_panel_follows_the_size_of_its_box_and_of_the_pixels(
    drawn: Open,
) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]), device_scale_factor=2)
    size = (
        "[...document.querySelectorAll('#host canvas')].map(({width, height}) => [width, height])"
    )
    assert page.page.evaluate(size) == [[800, 800]] * 2
    page.page.evaluate("document.getElementById('host').style.width = '600px'")
    page.page.wait_for_function("document.querySelector('#host canvas').width === 1200")
    page.settle()
    assert page.page.evaluate(size) == [[1200, 800]] * 2
    # The shorter side shows the whole map, and the centre stays in the middle.
    assert is_near(color_at(page, 2 * (in_pixels(CORNERS)[1] + [100, 0])), COLORS[2])


def _blobs(kinds: int, each: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(8)
    centers = rng.uniform(0.05, 0.95, (kinds, 2))
    codes = np.repeat(np.arange(kinds), each)
    points = np.clip(centers[codes] + rng.normal(0, 0.02, (len(codes), 2)), 0, 1)
    order = rng.permutation(len(codes))
    return points[order].astype(np.float32), codes[order] + 1


def _name(page: Opened, texts: list[str]) -> list[dict[str, Any]]:
    page.page.evaluate("texts => ctsnePage.panel.names({ codes: ctsnePage.codes, texts })", texts)
    page.settle()
    named: list[dict[str, Any]] = page.page.evaluate("ctsnePage.panel.named()")
    return named


@pytest.mark.parametrize("kinds", [6, 64])
def test_no_name_covers_another_or_leaves_the_panel(drawn: Open, kinds: int) -> None:
    page = drawn(*_blobs(kinds), colors=["#808080"] * (kinds + 1), size=(400, 300))
    texts = [f"a long name of some cell type, number {place}" for place in range(kinds)]
    named = _name(page, texts)
    boxes = np.array([[name[key] for key in ("x", "y", "width", "height")] for name in named])
    assert len(named) >= min(kinds, 20)
    assert len({name["text"] for name in named}) == len(named)
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    assert (low >= 0).all() and (high <= [400, 300]).all()
    apart = (low[:, None] >= high - 1e-6) | (high[:, None] - 1e-6 <= low)
    assert (apart.any(axis=2) | np.eye(len(boxes), dtype=bool)).all()
    page.page.evaluate("ctsnePage.panel.names(null)")
    page.settle()
    assert page.page.evaluate("ctsnePage.panel.named()") == []


def test_the_name_of_a_highlighted_label_comes_first(drawn: Open) -> None:
    points, codes = _blobs(64, each=40)
    page = drawn(points, codes, colors=["#808080"] * 65)
    texts = [f"a long name of some cell type, number {place}" for place in range(64)]
    named = {name["anchor"]["code"] for name in _name(page, texts)}
    left_out = next(code for code in range(1, 65) if code not in named)
    page.page.evaluate(
        """code => ctsnePage.panel.highlight(
            Uint8Array.from(ctsnePage.codes, (own) => Number(own === code)))""",
        left_out,
    )
    page.settle()
    first = page.page.evaluate("ctsnePage.panel.named()[0].anchor.code")
    assert first == left_out


def test_the_name_of_a_split_type_lies_on_its_larger_part(drawn: Open) -> None:
    left, right = np.array([0.2, 0.5]), np.array([0.8, 0.5])
    spread = RNG.normal(0, 0.02, (1000, 2))
    points = np.where(np.arange(1000)[:, None] < 550, left, right) + spread
    page = drawn(points.astype(np.float32), np.ones(1000))
    (name,) = _name(page, ["split"])
    assert np.hypot(name["anchor"]["x"] - 0.2, name["anchor"]["y"] - 0.5) < 0.04


def test_the_name_of_a_rare_split_type_lies_on_one_of_its_parts(
    drawn: Open,
) -> None:
    parts = np.array([[0.5, 0.1], [0.1, 0.5], [0.9, 0.5], [0.5, 0.9]])
    rare = np.repeat(parts, [4, 3, 3, 3], axis=0) + RNG.uniform(-0.01, 0.01, (13, 2))
    points = np.concatenate([0.4 + 0.2 * UNIFORM, rare]).astype(np.float32)
    page = drawn(points, np.repeat([1, 2], [len(UNIFORM), 13]))
    (named,) = (name for name in _name(page, ["many", "rare"]) if name["text"] == "rare")
    place = [named["anchor"][key] for key in "xy"]
    assert np.hypot(*(parts - place).T).min() < 0.03


def test_a_label_spread_over_the_map_has_no_name(drawn: Open) -> None:
    codes = np.random.default_rng(6).integers(1, 4, 4000)
    points = UNIFORM.copy()
    points[codes == 3] = points[codes == 3] / 4
    page = drawn(points, codes)
    assert [name["text"] for name in _name(page, ["one", "two", "corner"])] == ["corner"]


def test_the_name_of_a_small_cluster_does_not_cover_it(drawn: Open) -> None:
    points, codes = _blobs(4)
    points = CORNERS[codes - 1] + 0.02 * (points - 0.5)
    page = drawn(points.astype(np.float32), codes, colors=["#808080"] * 5)
    named = _name(page, [f"a name of type {place}" for place in range(4)])
    assert len(named) == 4
    for name in named:
        own = in_pixels(points)[codes == name["anchor"]["code"]]
        assert np.abs(own[:, 1] - name["y"]).min() > 6


def test_a_name_among_points_of_others_has_a_line_that_ends_on_its_own(drawn: Open) -> None:
    rng = np.random.default_rng(2)
    many, few = 0.3 + 0.4 * rng.random((2000, 2)), 0.5 + 0.02 * rng.random((12, 2))
    points = np.vstack([many, few, [[0.05, 0.05], [0.95, 0.95]]]).astype(np.float32)
    codes = np.repeat([1, 2, 0], [2000, 12, 2])
    page = drawn(points, codes)
    lines = {name["text"]: name["line"] for name in _name(page, ["many", "a few of them"])}
    assert lines["many"] is None
    ends = np.hypot(*(in_pixels(points)[codes == 2] - lines["a few of them"][2:]).T)
    assert ends.min() < 0.1
    paths = ElementTree.fromstring(page.page.evaluate("ctsnePage.panel.svg()")).iter(f"{_SVG}path")
    assert len(list(paths)) == 2  # the line and its halo


def test_names_are_of_what_is_seen(drawn: Open) -> None:
    points = np.random.default_rng(2).uniform(0.3, 0.7, (2000, 2))
    points[:300] = [0.05, 0.05]
    page = drawn(points.astype(np.float32), np.where(np.arange(2000) < 300, 2, 1))
    texts = ["everywhere", "in a corner"]
    assert [name["text"] for name in _name(page, texts)] == texts
    page.page.evaluate("ctsnePage.panel.view({ x: 0.65, y: 0.65, side: 0.1 })")
    page.settle()
    (name,) = page.page.evaluate("ctsnePage.panel.named()")
    assert name["text"] == "everywhere" and abs(name["x"] - 200) < 40
    page.page.evaluate("ctsnePage.panel.view({ x: 0.05, y: 0.05, side: 0.1 })")
    page.settle()
    assert [each["text"] for each in page.page.evaluate("ctsnePage.panel.named()")] == texts[1:]


def test_names_stay_different_when_they_are_shortened(drawn: Open) -> None:
    page = drawn(CORNERS)
    texts = [
        "a very long name that differs at the end 1",
        "a very long name that differs at the end 2",
        "a very long one that A differs in the middle, and ends alike",
        "a very long one that B differs in the middle, and ends alike",
        "short",
        "𝒳" * 60,
    ]
    short = page.page.evaluate(
        "texts => ctsnePage.shortened(texts, 20, (text) => Array.from(text).length)", texts
    )
    assert len(set(short)) == len(texts)
    assert all(len(text) <= 20 for text in short) and "short" in short
    assert short[0].endswith("end 1") and short[1].endswith("end 2")
    assert "A differs" in short[2]
    twice = page.page.evaluate(
        "text => ctsnePage.shortened([text, text], 20, (each) => each.length)", texts[0]
    )
    assert twice[0] == twice[1] and len(twice[0]) <= 20


def test_pictures_show_what_is_seen(drawn: Open) -> None:
    page = drawn(CORNERS, np.array([1, 2, 3, 1]))
    page.page.evaluate("ctsnePage.panel.ring(2)")
    _name(page, ["red", "green", "blue"])
    picture = image(page, "ctsnePage.panel.picture(2)")
    assert picture.shape == (800, 800, 3)
    places = np.floor(2 * in_pixels(CORNERS)).astype(int)
    assert picture[places[3][1], places[3][0], 0] > 190  # a red point without a name on it
    root = ElementTree.fromstring(page.page.evaluate("ctsnePage.panel.svg()"))
    circles = [each for each in root.iter(f"{_SVG}circle") if each.get("stroke") is None]
    found = [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in circles]
    np.testing.assert_allclose(found, in_pixels(CORNERS), atol=0.01)
    assert [each.get("fill") for each in circles] == [COLORS[code] for code in (1, 2, 3, 1)]
    assert len(list(root.iter(f"{_SVG}circle"))) == 4 + 2  # and the ring


def test_hostile_names_stay_text_in_an_svg(drawn: Open) -> None:
    texts = ["</text><script>alert(1)</script>", "a\x00\x0b\ufffe&\"'<", "קוד \u202e abc"]
    page = drawn(CORNERS[:3], np.array([1, 2, 3]))
    assert len(_name(page, texts)) == 3
    svg = page.page.evaluate("ctsnePage.panel.svg()")
    root = ElementTree.fromstring(svg)
    assert list(root.iter(f"{_SVG}script")) == []
    found = {each.text for each in root.iter(f"{_SVG}text")}
    assert "a\ufffd\ufffd\ufffd&\"'<" in found and texts[2] in found
    assert {each.get("direction") for each in root.iter(f"{_SVG}text")} == {None, "rtl"}


def test_many_points_are_a_picture_within_the_svg(drawn: Open) -> None:
    page = drawn(np.random.default_rng(1).random((20_001, 2), np.float32))
    root = ElementTree.fromstring(page.page.evaluate("ctsnePage.panel.svg()"))
    (image,) = root.iter(f"{_SVG}image")
    address = image.get("{http://www.w3.org/1999/xlink}href", "")
    assert address.startswith("data:image/png;base64,")
    assert list(root.iter(f"{_SVG}circle")) == []
