"""axe-core finds nothing to complain of on the page, in both themes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Open, Opened, written
from .test_geometry import LAPTOP, model_page, of_labels
from .test_touch import PHONE

AXE = Path(__file__).parents[2] / "build" / "axe" / "package" / "axe.min.js"


@pytest.fixture
def axe() -> str:
    if not AXE.exists():
        pytest.skip("axe-core is not there: run make axe, which needs npm")
    return AXE.read_text("utf-8")


def violations(page: Opened) -> list[str]:
    found = page.page.evaluate("axe.run().then(({ violations }) => violations)")
    return [
        f"{each['id']}: {node['target'][0]}: {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_sweep_has_no_violations(
    opened: Open, tmp_path: Path, axe: str, theme: str, screen: dict[str, int]
) -> None:
    page = opened(written(tmp_path, of_labels(20, 31)), viewport=screen, color_scheme=theme)
    page.page.evaluate(axe)
    assert violations(page) == [], "start"
    page.page.locator(".labels button").first.click()
    assert violations(page) == [], "selection"
    for menu in ("#look-menu", "#save-menu", "#about-menu", "#why"):
        page.page.click(f"{menu} summary")
        assert violations(page) == [], menu
        page.page.keyboard.press("Escape")
    page.page.fill("#find", "7")
    assert violations(page) == [], "point"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_features_splits_and_kept_selections_have_no_violations(
    opened: Open, tmp_path: Path, axe: str, theme: str, screen: dict[str, int]
) -> None:
    features = {f"gene {i}": np.arange(60.0) % (i + 2) for i in range(20)}
    page = opened(written(tmp_path, features=features), viewport=screen, color_scheme=theme)
    page.page.evaluate(axe)
    page.page.click("#feature")
    assert violations(page) == [], "search"
    page.page.keyboard.type("gene 7")
    page.page.keyboard.press("Enter")
    assert violations(page) == [], "histogram"
    page.page.locator("#legend-left .labels button").first.click()
    page.page.click("[data-facet=features]")
    page.wait("document.querySelectorAll('#apart-list button').length > 0")
    assert violations(page) == [], "what distinguishes the selection"
    page.page.click("#keep")
    assert violations(page) == [], "kept selections"
    page.page.locator("#legend-left .labels button").first.press("h")
    page.page.click("[data-preset=split]")
    assert violations(page) == [], "split"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_model_has_no_violations(opened: Open, tmp_path: Path, axe: str, theme: str) -> None:
    page = opened(model_page(tmp_path), viewport=LAPTOP, color_scheme=theme)
    page.page.evaluate(axe)
    assert violations(page) == []


def test_axe_complains(opened: Open, path: Path, axe: str) -> None:
    page = opened(path)
    page.page.evaluate(axe)
    spoil = """() => {
      document.getElementById("find").removeAttribute("aria-label");
      document.getElementById("find").removeAttribute("placeholder");
      document.getElementById("about").style.color = "#ccc";
    }"""
    page.page.evaluate(spoil)
    found = " ".join(violations(page))
    assert "color-contrast: #about" in found and "label: #find" in found
