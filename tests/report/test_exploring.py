"""Features, what distinguishes a selection, kept selections and the address, in a real browser."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from .conftest import Made, Open, Opened, made_up, written
from .test_geometry import DESKTOP, LAPTOP, WALKER

RNG = np.random.default_rng(3)
KIND = np.arange(60) % 3
# Higher in beta, lower in beta, the same everywhere, rare, missing in places.
FEATURES = {
    "CD3D": RNG.normal(size=60) + 4 * (KIND == 1),
    "MS4A1": RNG.normal(size=60) - 2 * (KIND == 1),
    "noise <b>": RNG.normal(size=60),
    "HLA-A": np.where(np.arange(60) == 7, 1.0, 0.0),
    "gaps": np.where(np.arange(60) % 4 == 0, np.nan, RNG.normal(size=60)),
}


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"cell {i}" for i in range(60)]
    near = np.column_stack([(np.arange(60) + step) % 60 for step in range(1, 4)])
    folder = tmp_path_factory.mktemp("rich")
    return written(folder, names=names, features=FEATURES, neighbors=near)


def column(page: Opened, side: int = 1) -> str:
    """Return the name of what a panel is coloured by."""
    found = page.page.evaluate(
        "side => { const { facts, state } = ctsnePage; "
        "return facts().columns[state().panels[side].column].name }",
        side,
    )
    return str(found)


def reload(page: Opened) -> None:
    """Open the page again at the address that it has."""
    page.page.wait_for_timeout(300)
    page.page.reload()
    page.wait("window.ctsnePage !== undefined")
    page.requests.pop()


def test_a_search_colours_the_map_in_focus(opened: Open, rich: Path) -> None:
    page = opened(rich)
    keyboard = page.page.keyboard
    assert page.page.get_attribute("#feature", "placeholder") == "Search 5 features"
    page.page.focus("#feature")
    keyboard.type("A")
    found = page.page.locator("#feature-list [role=option]").all_inner_texts()
    assert found[:2] == ["HLA-A", "batch"]  # a word that starts with it, then those that hold it
    page.page.fill("#feature", "cd3")
    keyboard.press("Enter")
    assert column(page) == "CD3D" and page.page.input_value("#feature") == ""
    assert page.text("#legend-right-title") == "Right: CD3D"
    keyboard.type("a")
    first = page.page.get_attribute("#feature", "aria-activedescendant")
    keyboard.press("ArrowDown")
    second = page.page.locator("#feature-list [aria-selected=true]")
    assert page.page.get_attribute("#feature", "aria-activedescendant") != first
    wanted = second.text_content()
    keyboard.press("Enter")
    assert column(page) == wanted
    keyboard.type("nothing like it")
    assert page.text("#feature-list") == "nothing has this name"
    keyboard.press("Enter")
    assert column(page) == wanted
    keyboard.press("Escape")
    assert not page.page.is_visible("#feature-list")
    page.page.click("#feature")
    page.page.click("#feature-list li:has-text('noise')")
    assert column(page) == "noise <b>"


def test_values_of_features_are_those_given(opened: Open, rich: Path) -> None:
    page = opened(rich)
    page.page.fill("#find", "cell 7")
    facts = dict(
        zip(
            page.page.locator("#point-facts dt").all_inner_texts(),
            page.page.locator("#point-facts dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts["HLA-A"] == "1" and list(facts)[:3] == ["name", "row", "batch"]
    for name in ("CD3D", "MS4A1"):
        step = np.ptp(FEATURES[name]) / 254
        assert float(facts[name]) == pytest.approx(FEATURES[name][7], abs=step + 0.01)
    page.page.fill("#find", "cell 4")
    assert "missing" in page.text("#point-facts")
    near = page.page.evaluate("ctsnePage.neighbors()")
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    assert near["k"] == 3
    point = rows.tolist().index(58)
    assert rows[near["rows"][3 * point : 3 * point + 3]].tolist() == [59, 0, 1]


def test_a_hover_shows_the_features_that_colour_a_map(opened: Open, rich: Path) -> None:
    page = opened(rich)
    page.page.select_option("#right-column", label="CD3D")
    page.page.mouse.move(*page.pixels("right")[0])
    page.wait("!document.getElementById('tip').hidden")
    tip = page.text("#tip")
    assert "CD3D" in tip and "depth" in tip and "MS4A1" not in tip


def test_what_distinguishes_a_selection(opened: Open, rich: Path) -> None:
    page = opened(rich)
    assert page.page.is_hidden("#facets")
    page.page.click("#legend-right button:has-text('beta')")
    assert page.page.is_visible("#selection-tables table") and page.page.is_hidden("#apart")
    page.page.click("[data-facet=features]")
    page.wait("document.querySelectorAll('#apart-list button').length > 0")
    buttons = page.page.locator("#apart-list button")
    found = {}
    for text in buttons.evaluate_all("all => all.map(each => each.title)"):
        name, rest = text.rsplit(": difference ", 1)
        difference, auc = rest.replace("−", "-").split(", AUC ")
        found[name] = float(difference), float(auc)
    depth = made_up().columns["depth"]
    assert list(found)[:2] == ["CD3D", "MS4A1"] and set(found) == {*FEATURES, "depth"}
    for name, values in {**FEATURES, "depth": depth}.items():
        present = np.isfinite(values)
        inside, outside = values[present & (KIND == 1)], values[present & (KIND != 1)]
        n, m = len(inside), len(outside)
        pooled = ((n - 1) * inside.var(ddof=1) + (m - 1) * outside.var(ddof=1)) / (n + m - 2)
        wanted = (inside.mean() - outside.mean()) / np.sqrt(pooled)
        assert found[name][0] == pytest.approx(wanted, abs=0.03), name
        auc = roc_auc_score(KIND[present] == 1, values[present])
        assert found[name][1] == pytest.approx(auc, abs=0.01), name
    assert page.text("#apart-about").startswith("CD3D: difference +")
    assert page.page.locator("#apart-chart .inside").count() > 5
    buttons.nth(1).click()
    assert column(page) == "MS4A1" and page.text("#apart-about").startswith("MS4A1")
    assert buttons.nth(1).get_attribute("aria-pressed") == "true"
    page.page.click("[data-facet=labels]")
    assert page.page.is_visible("#selection-tables table")
    page.page.click("#clear")
    assert page.page.is_hidden("#facets") and page.page.is_hidden("#apart")


def keep(page: Opened, label: str, name: str) -> None:
    page.page.click(f".labels button:has-text('{label}') >> nth=0")
    page.page.click("#keep")
    page.page.keyboard.type(name)
    page.page.keyboard.press("Enter")
    page.page.click(f".labels button:has-text('{label}') >> nth=0")


def kept(page: Opened) -> list[str]:
    inputs = page.page.locator("#kept-list input")
    return [str(text) for text in inputs.evaluate_all("all => all.map(each => each.value)")]


def test_selections_are_kept_named_and_saved(opened: Open, rich: Path) -> None:
    page = opened(rich)
    assert page.page.is_hidden("#kept")
    keep(page, "beta", "<i>mine</i>")
    keep(page, "two", "<i>mine</i>")
    assert kept(page) == ["<i>mine</i>", "<i>mine</i> 2"]
    page.page.click("#tab-selection")
    page.page.click("#kept-list button >> nth=0")
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    assert sorted(rows[page.state()["selected"]]) == list(range(1, 60, 3))
    assert page.page.is_visible("#kept")  # a new selection would be shown itself
    page.page.click("#kept-colour")
    legend = page.text("#legend-right .labels").split("\n")
    assert legend[::2] == ["<i>mine</i>", "<i>mine</i> 2", "missing"]
    assert legend[1::2] == ["10", "30", "20"]  # a point of both has the colour of the last
    with page.page.expect_download() as download:
        page.page.click("#kept-save")
    with Path(download.value.path()).open(newline="") as file:
        saved = list(csv.DictReader(file))
    result, _ = made_up()
    (swept,) = result.find(method="joint", strength=0.5)
    assert len(saved) == 40 and "CD3D" not in saved[0]
    for each in saved:
        row = int(each["row"])
        names = ["<i>mine</i>"] * (row % 3 == 1) + ["<i>mine</i> 2"] * (row % 2)
        assert each["selection"] == " | ".join(names) and each["name"] == f"cell {row}"
        assert each["kind"] == ("alpha", "beta", "gamma")[row % 3]
        place = [float(each["map_1"]), float(each["map_2"])]
        assert swept.embedding is not None
        np.testing.assert_allclose(place, swept.embedding[row], atol=0.002)
    page.page.click("#kept-list li:first-child button:last-child")
    assert kept(page) == ["<i>mine</i> 2"]
    page.page.click("#kept-list button:last-child")
    assert page.page.is_hidden("#kept") and column(page) == "batch"


def test_a_new_selection_is_shown_in_place_of_the_kept_ones(opened: Open, rich: Path) -> None:
    page = opened(rich)
    page.page.click(".labels button:has-text('beta') >> nth=0")
    page.page.click("#keep")
    assert page.page.is_visible("#kept") and page.page.is_hidden("#selection-tables")
    page.page.click(".labels button:has-text('gamma') >> nth=0")
    assert page.page.is_hidden("#kept") and page.page.is_visible("#selection-tables")
    page.page.click("[data-facet=kept]")
    page.page.keyboard.press("Escape")  # clears the selection
    page.page.click("#tab-selection")
    assert page.page.is_visible("#kept") and page.page.is_hidden("#facets")


def test_the_view_survives_a_reload(opened: Open, rich: Path) -> None:
    page = opened(rich)
    assert page.page.evaluate("location.hash") == ""
    keep(page, "gamma", "günther & co")
    page.page.click("[data-preset=free]")
    page.page.select_option("#right-column", label="CD3D")
    page.page.select_option("#left-map", label="revised, beta 1")
    page.page.click("#zoom-in")
    page.page.click("[data-drag=move]")
    page.page.fill("#share", "0.7")
    page.page.click("#legend-left button >> nth=0")
    page.page.click("[data-facet=features]")
    before = page.settle()
    reload(page)
    after = page.settle()
    for key in ("preset", "panels", "drag", "targets", "suggested", "selected", "focus"):
        assert after[key] == before[key], key
    assert after["view"] == pytest.approx(before["view"], abs=1e-3)
    assert page.page.is_visible("#apart") and page.page.input_value("#share") == "0.7"
    assert kept(page) == ["günther & co"]
    page.page.click("[data-facet=kept]")
    page.page.click("#kept-list button >> nth=0")
    rows = np.array(page.page.evaluate("ctsnePage.rows()"))
    assert sorted(rows[page.state()["selected"]]) == list(range(2, 60, 3))
    reload(page)  # points that no label tells are in the address themselves
    assert sorted(rows[page.state()["selected"]]) == list(range(2, 60, 3))


def test_split_filter_colours_and_contours_survive_a_reload(opened: Open, rich: Path) -> None:
    page = opened(rich)
    page.page.click("[data-preset=split]")
    page.page.select_option("#split", label="kind")
    page.page.locator("#legend-right .labels button").first.press("h")
    page.page.evaluate("ctsnePage.paint({ kind: { beta: '#123456' } })")
    page.page.click("#look-menu summary")
    page.page.select_option("#contours", "all")

    def seen() -> list[Any]:
        state = page.settle()
        shown = page.text("#filter-count"), page.page.evaluate("ctsnePage.colours()")
        return [state["preset"], state["split"], state["look"]["contours"], *shown]

    before = seen()
    assert before == ["split", 1, "all", "40 of 60 points shown", {"kind": {"beta": "#123456"}}]
    reload(page)
    assert seen() == before
    keep(page, "beta", "mine")
    page.page.click("#tab-selection")
    page.page.click("#kept-colour")
    page.page.locator("#legend-right .labels button").first.press("h")
    assert page.text("#filter-count") == "20 of 60 points shown"
    reload(page)  # the kept selections come first: others refer to them
    assert column(page) == "kept selections"
    assert page.text("#filter-count") == "20 of 60 points shown"


HOSTILE: list[dict[str, Any]] = [
    {"panels": "99.0-1.0", "preset": "constructor", "focus": "7", "view": "1e9_0_0", "drag": "x"},
    {"panels": "1.0", "targets": "2", "least": "-1", "theme": "url(x)", "size": "1e99"},
    {"panels": "1.toString-1.0", "labels": "1.99", "points": "____", "kept": "x\n!!"},
    {"panels": "__proto__.0-1.0", "labels": "99.1", "points": "<b>", "kept": "\n\n\n"},
    {
        "labels": "1",
        "points": "A",
        "facet": "<script>",
        "hidden": "1.99-0.1",
        "split": "2",
        "colours": "[1",
        "view": "0.5_0.5_0",
        "kept": "a",
    },
    {"points": "A" * 5000, "labels": "NaN.NaN", "targets": "", "view": ""},
]


@pytest.mark.parametrize("parts", HOSTILE)
def test_an_address_of_a_stranger_changes_nothing(
    opened: Open, rich: Path, parts: dict[str, Any]
) -> None:
    page = opened(rich)
    before = page.state()
    text = "&".join(f"{name}={quote(value)}" for name, value in parts.items())
    page.page.evaluate("text => { location.hash = text }", text)
    page.page.wait_for_timeout(50)
    assert page.state() == before and kept(page) == []
    page.page.goto("about:blank")
    page.page.goto(f"{page.address}#{text}")
    page.wait("window.ctsnePage !== undefined")
    assert page.state() == before
    page.requests[:] = [page.address]


def test_names_in_an_address_stay_text(opened: Open, rich: Path) -> None:
    page = opened(rich)
    name = "<img src=x onerror=alert(1)>"
    page.page.evaluate("text => { location.hash = text }", f"kept={quote(name)}%0AAF")
    page.wait("document.querySelectorAll('#kept-list input').length === 1")
    assert kept(page) == [name] and page.page.locator("#kept img").count() == 0
    page.page.click("#tab-selection")
    page.page.click("#kept-colour")
    title = page.page.get_attribute("#legend-right .labels button", "title")
    assert title == name and page.page.locator("aside img").count() == 0


def test_points_in_an_address_are_compact(opened: Open, tmp_path: Path) -> None:
    result, columns = made_up(20_000)
    page = opened(written(tmp_path, Made(result, columns)))
    box = page.page.locator("#right").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(x - 90, y - 90)
    page.page.mouse.down()
    for dx, dy in ((90, -90), (90, 90), (-90, 90)):
        page.page.mouse.move(x + dx, y + dy, steps=3)
    page.page.mouse.up()
    selected = page.state()["selected"]
    assert len(selected) > 500
    page.page.wait_for_timeout(400)
    assert "points=" in page.page.evaluate("location.hash")
    assert len(page.page.evaluate("location.hash")) < len(selected)
    reload(page)
    assert page.state()["selected"] == selected


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [LAPTOP, DESKTOP], ids=str)
def test_nothing_covers_or_pushes_out_anything(
    opened: Open, tmp_path: Path, screen: dict[str, int], scheme: str
) -> None:
    name = "a feature with a name that is longer than the list is wide"
    long = {f"{name} {i}": RNG.random(60) for i in range(40)}
    path = written(tmp_path, features={**FEATURES, **long})
    page = opened(path, viewport=screen, color_scheme=scheme)
    page.page.evaluate(WALKER)

    def check(*wanted: str) -> None:
        found = page.page.evaluate("geometry.problems()")
        found += page.page.evaluate("all => geometry.beyond(all)", ["#right", "#find", *wanted])
        assert found == [], wanted

    page.page.click("#feature")
    check("#feature-list")
    page.page.keyboard.press("Escape")
    page.page.click("#legend-right button:has-text('beta')")
    page.page.click("[data-facet=features]")
    page.wait("document.querySelectorAll('#apart-list button').length === 30")
    check("#apart-chart", "#apart-list li:first-child")
    rows = page.page.evaluate("document.getElementById('apart-list').clientHeight") / 22
    assert rows > 3  # a list, not a line
    page.page.click("#keep")
    page.page.keyboard.type("a selection with a name that is longer than the list")
    page.page.keyboard.press("Enter")
    check("#kept-list li", "#kept-save")
