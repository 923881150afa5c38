"""Made-up sweeps, which need no computing, and pages of them in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ctsne._fit.settings import DEFAULTS
from ctsne.report import write_report
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import expand_grid

GRID: list[dict[str, Any]] = [
    {"method": "tsne"},
    {"method": "joint", "strength": [0, 0.5, 1]},
    {"method": "revised", "beta": [1, 1e-4, 1e-10]},
]
ESTIMATOR = {**DEFAULTS, "random_state": 0}
# Mixing and adjusted R_NX of each map; joint, strength 0.5 is the best at a half.
SCORES = [(0.1, 0.6), (0.1, 0.6), (0.55, 0.5), (0.8, 0.3), (0.2, 0.55), (0.6, 0.4), (0.9, 0.1)]


class Made(NamedTuple):
    result: SweepResult
    columns: dict[str, Any]


def made_up(
    n: int = 60,
    *,
    grid: Any = None,
    scores: list[tuple[float, float]] | None = None,
    dimensions: int = 2,
    failed: tuple[int, ...] = (),
) -> Made:
    """Make a sweep of blobs: three types in two batches that come together along each line."""
    rng = np.random.default_rng(1)
    batch, kind = np.arange(n) % 2, np.arange(n) % 3
    points = expand_grid(GRID if grid is None else grid, ESTIMATOR)
    measured = scores or SCORES
    maps = []
    for place, point in enumerate(points):
        mixing, kept = measured[place % len(measured)]
        apart = 10 * (1 - np.nan_to_num(mixing))
        centers = np.column_stack([12.0 * kind, apart * batch, apart * batch])[:, :dimensions]
        embedding = (centers + rng.normal(size=(n, dimensions))).astype(np.float32)
        weights = rng.uniform(0, 0.4, n).astype(np.float32)
        weights[:place] = 0.9 - 0.01 * np.arange(place)
        diagnostics = {
            "perplexity": rng.uniform(5, 50, n).astype(np.float32),
            "other_share": rng.uniform(0, 1, n).astype(np.float32),
            "matched": rng.uniform(0, 1, n).astype(np.float32),
            "largest_weight": weights,
        }
        measures = {"mixing": mixing, "adjusted_rnx": kept, "other_mixing": 1 - kept}
        if place in failed:
            maps.append(
                SweptMap(point.parameters, None, {}, float("nan"), "MemoryError: <b>no</b>")
            )
        else:
            maps.append(SweptMap(point.parameters, embedding, measures, 1.5, None, diagnostics))
    result = SweepResult(tuple(maps), tuple(points), ESTIMATOR)
    columns = {
        "batch": np.array(["one", "two"])[batch],
        "kind": np.array(["alpha", "beta", "gamma"])[kind],
        "depth": np.where(np.arange(n) == 5, np.nan, np.linspace(-1, 5, n)),
    }
    return Made(result, columns)


def written(folder: Path, made: Made | None = None, **options: Any) -> Path:
    """Write a page of a made-up sweep."""
    result, columns = made or made_up()
    path = folder / "a page.html"
    options = {"columns": columns, "known": "batch", "other": "kind", **options}
    write_report(result, path, **options)
    return path


# Not for the whole session: while it runs, no other test could start an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start the system's Chromium once for all tests of a file."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no browser to try the page in: none of {', '.join(names)} is installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page in the browser that has gone wrong as soon as anything is complained of."""

    def __init__(self, browser: Any, path: Path, *, before: str = "", **options: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        if before:
            self.page.add_init_script(before)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.resolve().as_uri()
        self.page.goto(self.address)
        self.page.wait_for_function("window.ctsnePage !== undefined")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.complaints.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def state(self) -> dict[str, Any]:
        """Return what the page shows."""
        shown: dict[str, Any] = self.page.evaluate("ctsnePage.state()")
        return shown

    def settle(self) -> dict[str, Any]:
        """Wait until nothing moves."""
        self.page.wait_for_function("!ctsnePage.state().moving")
        return self.state()

    def text(self, selector: str) -> str:
        """Return the text a reader sees."""
        return str(self.page.inner_text(selector))

    def title(self, map_: int) -> str:
        """Return the title of a map."""
        return str(self.page.evaluate("map => ctsnePage.facts().maps[map].title", map_))

    def pixels(self, side: str) -> np.ndarray[Any, Any]:
        """Return where each point of a map lies in the window."""
        positions = self.page.evaluate(
            "side => {const {x, y} = ctsnePage.positions(side); return [[...x], [...y]]}", side
        )
        low_x, high_x, low_y, high_y = self.page.evaluate("side => ctsnePage.view(side)", side)
        # The frame fills the box within its border.
        box = self.page.evaluate(
            """side => {
                const inner = document.getElementById(side);
                const {left, top} = inner.getBoundingClientRect();
                return [left + inner.clientLeft, top + inner.clientTop, inner.clientWidth];
            }""",
            side,
        )
        x, y = np.asarray(positions)
        return np.column_stack([
            box[0] + box[2] * (x - low_x) / (high_x - low_x),
            box[1] + box[2] * (high_y - y) / (high_y - low_y),
        ])  # fmt: skip


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open pages; at the end, none must have complained or asked for anything from elsewhere."""
    pages: list[Opened] = []

    def open_(path: Path, **options: Any) -> Opened:
        pages.append(Opened(browser, path, **options))
        return pages[-1]

    yield open_
    for page in pages:
        page.context.close()
    for page in pages:
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith("blob:")] == [page.address]
