"""Points of the page in a real browser: pointed at, found, selected and saved."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.path import Path as Polygon

from .conftest import Made, Open, Opened, made_up, written


def saved(page: Opened, kind: str) -> bytes:
    """Save what the page shows, and return the file."""
    with page.page.expect_download() as download:
        page.page.click("#save-menu summary")
        page.page.click(f"#save-{kind}")
    page.page.click("#title")
    return Path(download.value.path()).read_bytes()


def svg_texts(page: Opened) -> list[str]:
    drawing = ElementTree.fromstring(saved(page, "svg"))
    return [text.text or "" for text in drawing.iter("{http://www.w3.org/2000/svg}text")]


def drag(opened: Opened, corners: np.ndarray[Any, Any]) -> None:
    """Draw a closed line with the mouse, pausing after the button is pressed."""
    mouse = opened.page.mouse
    mouse.move(*corners[0])
    mouse.down()
    opened.page.clock.fast_forward(400)
    for corner in [*corners[1:], corners[0]]:
        mouse.move(*corner, steps=4)
    mouse.up()


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
        rows_saved = list(csv.DictReader(file))
    assert [int(each["row"]) for each in rows_saved] == list(range(1, 60, 3))
    assert {each["kind"] for each in rows_saved} == {"beta"}
    assert [each["name"] for each in rows_saved] == [f"cell {row}" for row in range(1, 60, 3)]
    assert [each["batch"] for each in rows_saved] == ["two", "one"] * 10
    depths = [float(each["depth"] or "nan") for each in rows_saved]
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
    head, *rows = csv.reader(StringIO(saved(page, "csv").decode("utf-8"), newline=""))
    assert head[:6] == ["row", "name", "selection", "batch", "kind", "depth"]
    assert [row[1] for row in rows] == [row[4] for row in rows] == texts
    assert [row[5] for row in rows][:3] == ["1.5", "", "2.5"]


def test_saves_what_is_seen(opened: Open, path: Path) -> None:
    page = opened(path)
    page.settle()
    assert saved(page, "png").startswith(b"\x89PNG")
    drawing = ElementTree.fromstring(saved(page, "svg"))
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == 120 + 5
    texts = svg_texts(page)
    assert "joint, strength 0.5, by batch" in texts and "joint, strength 0.5, by kind" in texts
    assert [texts.count(name) for name in ("one", "two")] == [1, 1]  # in the legend below


def test_saved_pictures_are_light_unless_asked_otherwise(opened: Open, path: Path) -> None:
    page = opened(path, color_scheme="dark")
    page.page.click("#look-menu summary")
    page.page.select_option("#theme", "dark")
    page.page.keyboard.press("Escape")
    for theme, is_light in (("light", True), ("seen", False)):
        page.page.select_option("#save-theme", theme, force=True)
        picture = imread(BytesIO(saved(page, "png")), "png")[..., :3]
        assert (picture.mean() > 0.5) == is_light
        assert picture.min() < 0.2 and picture.max() > 0.8  # ink on ground, in either
        drawing = saved(page, "svg").decode()
        assert ('fill="#15171b"' in drawing) is is_light
        assert page.page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.wait('location.hash === "#theme=dark"')


def test_long_names_in_a_saved_picture_are_told_apart(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up()
    kinds = [f"{'very ' * 12}long name, kind {kind}, {'of ' * 20}a cell" for kind in "abc"]
    columns["kind"] = np.array(kinds)[np.arange(60) % 3]
    page = opened(written(tmp_path, Made(result, columns)))
    page.settle()
    texts = svg_texts(page)
    for kind in "abc":
        assert any(text.startswith(f"very…{kind}, of") and len(text) < 60 for text in texts)


def test_says_that_a_map_lacks_a_diagnostic(opened: Open, tmp_path: Path) -> None:
    made = made_up()
    del made.result.maps[0].diagnostics["other_share"]
    page = opened(written(tmp_path, made))
    page.page.click("[data-preset=maps]")
    page.page.select_option("#right-column", label="weight on other labels")
    assert page.text("#legend-right-title") == "Right: weight on other labels"
    wanted = "t-SNE, by weight on other labels, which this map lacks"
    assert wanted in saved(page, "svg").decode("utf-8")


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
