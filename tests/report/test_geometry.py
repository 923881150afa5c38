"""Nothing on the page covers, cuts or pushes out anything else, on the screens people have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.report import write_report

from .conftest import Made, Open, Opened, made_up, written
from .test_browser import several

LAPTOP, DESKTOP = {"width": 1366, "height": 768}, {"width": 1920, "height": 1080}
WALKER = Path(__file__).with_name("geometry.js").read_text("utf-8")
LONG = [
    "CD4-positive, alpha-beta memory T cell, CD31(+)",
    "CD4-positive, alpha-beta memory T cell, CD31(-)",
    "naive thymus-derived CD4-positive, alpha-beta T cell",
    "naive thymus-derived CD8-positive, alpha-beta T cell",
    "خلية جذعية مكونة للدم",
    "肥満細胞",
    "x" * 80,
    *(f"conventional dendritic cell of the {i}th kind" for i in range(19)),
]
FEW = [{"method": "tsne"}, {"method": "joint", "strength": [0.5, 1]}]


def of_labels(known: int | list[str], other: int | list[str], n: int = 640) -> Made:
    """Make a sweep with so many labels, or with these."""
    result, columns = made_up(n)
    for column, wanted in (("batch", known), ("kind", other)):
        names = [f"{column} {i}" for i in range(wanted)] if isinstance(wanted, int) else wanted
        columns[column] = np.array(names)[np.arange(n) % len(names)]
    return Made(result, columns)


def page_of(kind: str, folder: Path) -> Path:
    """Write a page of this kind."""
    genes = {"CD3D": np.linspace(0, 3, 120), "HLA-DRB1, a long name": np.ones(120)}
    long = "a column with a name that is longer than the menu is wide " * 2
    match kind:
        case "one model":
            return model_page(folder)
        case "2 labels":
            return written(folder, made_up(120), features=genes)
        case "26 long names":
            return written(folder, of_labels(3, LONG), title="A title written at length, " * 8)
        case "long names known":
            made = of_labels(LONG, LONG[::-1])
            made.columns[long] = ["one"] * 640
            return written(folder, made)
        case "64 labels":
            return written(folder, of_labels(64, 31))
        case "several columns":
            return written(folder, several(120), known=["batch", "kind"], other=None)
        case "nothing to look for":
            return written(folder, made_up(120), other=None)
        case "not measured":
            return written(folder, made_up(120, scores=[(float("nan"), float("nan"))]))
    n = int(kind.split()[0].replace(",", ""))
    return written(folder, made_up(n, grid=FEW, scores=[(0.1, 0.6), (0.55, 0.5), (0.8, 0.3)]))


def model_page(folder: Path) -> Path:
    data = make_synthetic(200, random_state=0)
    model = ConditionalTSNE(perplexity=10, n_iter=50, random_state=0).fit(data.X, labels=data.known)
    path = folder / "model.html"
    columns = {"colour": data.known, "kind": np.array(LONG)[np.arange(200) % len(LONG)]}
    write_report(model, path, columns=columns, known="colour")
    return path


KINDS = ["2 labels", "26 long names", "long names known", "64 labels", "several columns"]
KINDS += ["nothing to look for", "not measured", "one model"]
KINDS += ["10 points", "50,000 points"]


# The smaller screen has less room; on the larger one, more labels and both panels grow.
SHOWN = [*((kind, LAPTOP) for kind in KINDS), *((kind, DESKTOP) for kind in KINDS[:4])]


@pytest.mark.parametrize(("kind", "screen"), SHOWN, ids=str)
def test_nothing_overlaps_or_leaves_the_screen(
    opened: Open, tmp_path: Path, kind: str, screen: dict[str, int]
) -> None:
    page = opened(page_of(kind, tmp_path), viewport=screen)
    page.page.evaluate(WALKER)
    height = page.page.evaluate("document.getElementById('maps').getBoundingClientRect().height")
    problems: dict[str, str] = {}  # and the first state in which each was seen
    for state in states(page):
        page.wait("!ctsnePage.state().moving")
        found = page.page.evaluate("geometry.problems()")
        found += page.page.evaluate("all => geometry.beyond(all)", first_screen(page))
        now = page.page.evaluate("document.getElementById('maps').getBoundingClientRect().height")
        if now != height:
            found.append(f"the maps are {now} px high instead of {height}")
        problems = dict.fromkeys(found, state) | problems
    assert not problems, "\n".join(f"{state}: {each}" for each, state in problems.items())


def first_screen(page: Opened) -> list[str]:
    """Return what must be visible without scrolling."""
    wanted = ["#title", "#controls", "#right", "#find", "#tabs", "[role=tabpanel]:not(.closed)"]
    sides = page.page.locator("#maps .map:visible").count()
    if sides == 2:
        wanted.append("#left")
    if page.page.is_visible("#right-map"):
        wanted += ["#strength", "#take"]
        if page.page.evaluate("ctsnePage.facts().suggestions !== null"):
            wanted.append("#suggestion")
    if page.page.locator("details.menu[open]").count():
        wanted.append("details.menu[open] > .sheet")
    return wanted


# Where the points at the right and at the top lie in the window.
EDGES = """() => {
  const [{ x, y }, view] = [ctsnePage.positions("right"), ctsnePage.view()];
  const host = document.getElementById("right");
  const { left, top } = host.getBoundingClientRect();
  const scale = Math.min(host.clientWidth, host.clientHeight) / view.side;
  const last = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  return [last(x), last(y)].map((i) => [
    left + host.clientLeft + host.clientWidth / 2 + scale * (x[i] - view.x),
    top + host.clientTop + host.clientHeight / 2 - scale * (y[i] - view.y),
  ]);
}"""


def states(page: Opened) -> Iterator[str]:
    """Use the page as a reader would, and name each state."""
    inner = page.page
    yield "start"
    for preset in inner.locator("#presets button:visible").all():
        preset.click()
        yield f"preset {preset.inner_text()}"
    inner.click("[data-preset=colours]")
    for menu in inner.locator("#screen details.menu:visible").all():
        menu.locator("summary").click()
        yield f"menu {menu.get_attribute('id')}"
        inner.keyboard.press("Escape")
        menu.evaluate("menu => { menu.open = false; }")
    for column in one_of_each_kind(page):
        inner.select_option("#right-column", value=column)
        colour = inner.locator("#right-column option:checked").inner_text()
        yield f"colour {colour}"
        if inner.locator("#legend-right .handle:visible").count():
            inner.locator("#legend-right .handle").first.press("PageUp")
            yield f"range of {colour}"
            inner.keyboard.press("Escape")
    inner.select_option("#right-column", index=0)
    inner.locator(".labels .label:visible").first.hover()
    yield "pointer on a label"
    inner.locator(".labels .hide:visible").first.click()
    yield "a label hidden"
    inner.click("#show-all")
    for place in (0, 1):
        labels = inner.locator(".labels button:visible")
        if labels.count() > place:
            labels.nth(place).click(modifiers=["Control"] if place else [])
            yield f"selection of {place + 1} labels"
    inner.fill("#find", "7")
    inner.keyboard.press("Enter")
    yield "a point found"
    inner.fill("#find", "no such point")
    inner.keyboard.press("Enter")
    yield "no point found"
    for place in inner.evaluate(EDGES):
        inner.mouse.move(*place)
        page.wait("ctsnePage.state().point !== null")
        yield "pointer on a point at the edge"
    inner.mouse.move(0, 0)
    if inner.is_visible("#share"):
        inner.fill("#share", "0.99")
        yield "target out of reach"
        inner.fill("#share", "0")
        yield "target of t-SNE"
    if inner.is_visible("#right-map"):
        inner.select_option("#right-map", index=0)
        yield "t-SNE shown"
    inner.emulate_media(color_scheme="dark")
    yield "dark"


def one_of_each_kind(page: Opened) -> list[str]:
    """Return the values of the colour menu, one for each kind of column."""
    columns = page.page.evaluate("ctsnePage.facts().columns.map(({ kind, group }) => kind + group)")
    options = page.page.eval_on_selector_all(
        "#right-column option:enabled", "all => all.map(option => option.value)"
    )
    kinds = {columns[int(each)] if each.isdigit() else "diagnostic": each for each in options}
    return [*kinds.values(), options[-1]]


def test_the_walker_complains(opened: Open, tmp_path: Path) -> None:
    page = opened(written(tmp_path, made_up(120)), viewport=LAPTOP)
    page.page.evaluate(WALKER)
    assert page.page.evaluate("geometry.problems()") == []
    page.page.evaluate(SPOIL)
    found = page.page.evaluate("geometry.problems()")
    for complaint in (
        "h1#title “Maps with batch factored out” overlaps p#about “120 points · 7 maps",
        "output#setting “strength 0.5” is cut without an ellipsis",
        "button#copy “Copy” leaves the screen",
        "two labels read “a”",
    ):
        assert any(complaint in each for each in found), (complaint, found)
    assert page.page.evaluate("geometry.beyond(['#right'])") != []


# One of each: text on text, cut text, a button outside the screen, equal names, a map too far down.
SPOIL = """() => {
  const style = (selector, rules) => Object.assign(document.querySelector(selector).style, rules);
  style("#about", { position: "relative", left: "-100px" });
  style("#setting", { display: "inline-block", overflow: "hidden", width: "20px", minWidth: 0 });
  style("#setting", { whiteSpace: "nowrap", textOverflow: "clip" });
  style("#copy", { position: "absolute", left: "1340px" });
  document.querySelectorAll(".labels .name").forEach((name) => { name.textContent = "a"; });
  style("#right", { position: "relative", top: "300px" });
}"""
