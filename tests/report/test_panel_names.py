"""Names of labels on a panel, and pictures of it, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import Opened
from .panel import COLORS, CORNERS, RNG, UNIFORM, image, in_pixels

_SVG = "{http://www.w3.org/2000/svg}"


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
def test_no_name_covers_another_or_leaves_the_panel(
    drawn: Callable[..., Opened], kinds: int
) -> None:
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


def test_the_name_of_a_highlighted_label_comes_first(drawn: Callable[..., Opened]) -> None:
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


def test_the_name_of_a_split_type_lies_on_its_larger_part(drawn: Callable[..., Opened]) -> None:
    left, right = np.array([0.2, 0.5]), np.array([0.8, 0.5])
    spread = RNG.normal(0, 0.02, (1000, 2))
    points = np.where(np.arange(1000)[:, None] < 550, left, right) + spread
    page = drawn(points.astype(np.float32), np.ones(1000))
    (name,) = _name(page, ["split"])
    assert np.hypot(name["anchor"]["x"] - 0.2, name["anchor"]["y"] - 0.5) < 0.04


def test_the_name_of_a_rare_split_type_lies_on_one_of_its_parts(
    drawn: Callable[..., Opened],
) -> None:
    parts = np.array([[0.5, 0.1], [0.1, 0.5], [0.9, 0.5], [0.5, 0.9]])
    rare = np.repeat(parts, [4, 3, 3, 3], axis=0) + RNG.uniform(-0.01, 0.01, (13, 2))
    points = np.concatenate([0.4 + 0.2 * UNIFORM, rare]).astype(np.float32)
    page = drawn(points, np.repeat([1, 2], [len(UNIFORM), 13]))
    (named,) = (name for name in _name(page, ["many", "rare"]) if name["text"] == "rare")
    place = [named["anchor"][key] for key in "xy"]
    assert np.hypot(*(parts - place).T).min() < 0.03


def test_a_label_spread_over_the_map_has_no_name(drawn: Callable[..., Opened]) -> None:
    codes = np.random.default_rng(6).integers(1, 4, 4000)
    points = UNIFORM.copy()
    points[codes == 3] = points[codes == 3] / 4
    page = drawn(points, codes)
    assert [name["text"] for name in _name(page, ["one", "two", "corner"])] == ["corner"]


def test_the_name_of_a_small_cluster_does_not_cover_it(drawn: Callable[..., Opened]) -> None:
    points, codes = _blobs(4)
    points = CORNERS[codes - 1] + 0.02 * (points - 0.5)
    page = drawn(points.astype(np.float32), codes, colors=["#808080"] * 5)
    named = _name(page, [f"a name of type {place}" for place in range(4)])
    assert len(named) == 4
    for name in named:
        own = in_pixels(points)[codes == name["anchor"]["code"]]
        assert np.abs(own[:, 1] - name["y"]).min() > 6


def test_names_are_of_what_is_seen(drawn: Callable[..., Opened]) -> None:
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


def test_names_stay_different_when_they_are_shortened(drawn: Callable[..., Opened]) -> None:
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


def test_pictures_show_what_is_seen(drawn: Callable[..., Opened]) -> None:
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


def test_hostile_names_stay_text_in_an_svg(drawn: Callable[..., Opened]) -> None:
    texts = ["</text><script>alert(1)</script>", "a\x00\x0b\ufffe&\"'<", "קוד \u202e abc"]
    page = drawn(CORNERS[:3], np.array([1, 2, 3]))
    assert len(_name(page, texts)) == 3
    svg = page.page.evaluate("ctsnePage.panel.svg()")
    root = ElementTree.fromstring(svg)
    assert list(root.iter(f"{_SVG}script")) == []
    found = {each.text for each in root.iter(f"{_SVG}text")}
    assert "a\ufffd\ufffd\ufffd&\"'<" in found and texts[2] in found
    assert {each.get("direction") for each in root.iter(f"{_SVG}text")} == {None, "rtl"}


def test_many_points_are_a_picture_within_the_svg(drawn: Callable[..., Opened]) -> None:
    page = drawn(np.random.default_rng(1).random((20_001, 2), np.float32))
    root = ElementTree.fromstring(page.page.evaluate("ctsnePage.panel.svg()"))
    (image,) = root.iter(f"{_SVG}image")
    address = image.get("{http://www.w3.org/1999/xlink}href", "")
    assert address.startswith("data:image/png;base64,")
    assert list(root.iter(f"{_SVG}circle")) == []
