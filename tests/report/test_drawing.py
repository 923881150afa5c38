"""The drawing of one panel, alone on a page, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Opened
from .panel import COLORS, CORNERS, UNIFORM, WHOLE, color_at, image, in_pixels, is_near


@pytest.mark.parametrize("insist", [False, True], ids=["pixels", "webgl"])
def test_each_point_has_its_colour_and_a_highlight_fades_the_others(
    drawn: Callable[..., Opened], insist: bool
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
def test_codes_may_have_any_size(drawn: Callable[..., Opened], insist: bool) -> None:
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


def test_webgl_and_pixels_draw_the_same(drawn: Callable[..., Opened]) -> None:
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


def test_highlighted_points_lie_above_the_others(drawn: Callable[..., Opened]) -> None:
    page = drawn(np.full((50, 2), 0.5, np.float32), np.where(np.arange(50) == 7, 3, 1))
    page.page.evaluate(
        "ctsnePage.panel.highlight(Uint8Array.from({ length: 50 }, (_, i) => Number(i === 7)))"
    )
    page.settle()
    assert is_near(color_at(page, np.array([200, 200])), "#1515d0")


@pytest.mark.parametrize("insist", [False, True])
def test_points_without_a_value_lie_below_the_others(
    drawn: Callable[..., Opened], insist: bool
) -> None:
    page = drawn(
        np.full((50, 2), 0.5, np.float32), np.where(np.arange(50) == 7, 3, 0), insist=insist
    )
    red, green, blue, _ = color_at(page, np.array([200, 200]))
    assert blue > 180
    assert max(red, green) < 60


def test_half_a_million_points_are_all_drawn_at_rest(drawn: Callable[..., Opened]) -> None:
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


def test_a_sample_moves_if_frames_are_slow(drawn: Callable[..., Opened]) -> None:
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


def test_reduced_motion_shows_the_next_map_at_once(drawn: Callable[..., Opened]) -> None:
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
def test_a_lasso_selects_exactly_the_points_inside(
    drawn: Callable[..., Opened], key: str | None, mode: str
) -> None:
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


def test_the_nearest_point_within_reach_is_found(drawn: Callable[..., Opened]) -> None:
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


def test_highlighted_points_are_found_before_the_ones_below(drawn: Callable[..., Opened]) -> None:
    page = drawn(np.array([[0.5, 0.5], [0.508, 0.5]], np.float32))  # three pixels apart
    page.page.mouse.move(200, 200)
    page.page.evaluate("ctsnePage.panel.highlight(Uint8Array.of(0, 1))")
    page.page.mouse.move(200, 201)
    page.page.mouse.move(193, 201)  # too far from the highlighted one
    assert page.page.evaluate("ctsnePage.said.hover") == [0, 1, 0]


def test_a_tap_gives_the_point_and_selects_nothing(drawn: Callable[..., Opened]) -> None:
    page = drawn(CORNERS)
    page.page.mouse.click(*(in_pixels(CORNERS)[2] + 2))
    page.page.mouse.click(200, 200)
    said = page.page.evaluate("ctsnePage.said")
    assert said["tap"] == [2, None]
    assert said["select"] == [] and said["view"] == []


def test_the_wheel_zooms_at_the_pointer_and_a_double_click_shows_the_whole_map(
    drawn: Callable[..., Opened],
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


def test_a_drag_moves_the_map_and_shift_swaps_the_two_drags(drawn: Callable[..., Opened]) -> None:
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


def test_keys_move_and_zoom_the_focused_map(drawn: Callable[..., Opened]) -> None:
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


def test_two_fingers_zoom(drawn: Callable[..., Opened]) -> None:
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


def test_a_lost_card_is_replaced_until_it_returns(drawn: Callable[..., Opened]) -> None:
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
    drawn: Callable[..., Opened],
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
