"""The look of the page in a real browser: themes, names, widths and paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Open, made_up, written


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
    page.page.select_option("#contours", "all")
    page.page.fill("#size", "4")
    assert page.page.get_attribute("html", "data-theme") == "dark"
    page.wait("ctsnePage.named('right').length === 0")  # drawn with the next frame
    page.wait("location.hash.includes('size=4')")  # a moment after the last change
    page.page.reload()
    page.wait("window.ctsnePage !== undefined")
    look = {"size": 4, "opacity": None, "names": "never", "contours": "all", "theme": "dark"}
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
    for menu in ("why", "about-menu", "look-menu"):  # an open one may cover those below
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


def test_points_with_little_trust_are_faded_on_request(opened: Open, tmp_path: Path) -> None:
    made = made_up()
    trust = np.linspace(0, 1, 60).astype(np.float32)
    for place, swept in enumerate(made.result.maps):
        if place != 0:  # t-SNE has none
            swept.diagnostics["trust"] = trust[:: -1 if place == 1 else 1]  # type: ignore[index]
    page = opened(written(tmp_path, made))
    shown = "ctsnePage.lit('{}')"
    assert page.page.evaluate(shown.format("right")) is None
    page.page.click("#look-menu summary")
    assert page.text("#least-said") == "off"
    page.page.fill("#least", "0.75")
    assert page.text("#least-said") == "0.75" and page.state()["least"] == 0.75
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    page.page.select_option("#right-map", "2")
    kept = page.page.evaluate(shown.format("right"))
    assert set(rows[kept]) == set(np.flatnonzero(np.rint(trust * 255) / 255 >= 0.75))
    page.page.select_option("#right-map", "1")  # each map has its own
    kept = page.page.evaluate(shown.format("right"))
    assert set(rows[kept]) == set(np.flatnonzero(np.rint(trust[::-1] * 255) / 255 >= 0.75))
    page.page.select_option("#right-map", "0")
    assert page.page.evaluate(shown.format("right")) is None
    page.page.select_option("#right-map", "1")
    page.page.select_option("#right-column", ".trust")
    page.page.fill("#least", "0")
    assert page.page.evaluate(shown.format("right")) is None


def test_without_trust_there_is_no_filter(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.click("#look-menu summary")
    assert page.page.is_visible("#size") and not page.page.is_visible("#least")
    assert not page.page.is_visible("label[for=least]")
