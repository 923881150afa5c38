"""Made-up sweeps, which need no computing, and pages of them in a real browser."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ctsne.report import write_report
from ctsne.settings import DEFAULTS
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import expand_grid

from .panel import COLORS, write_panel

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
        # In t-SNE the types are mixed, so that something is won by factoring out the batch.
        hidden = 0.95 if point.parameters.get("method") == "tsne" else 1 - kept
        measures = {"mixing": mixing, "adjusted_rnx": kept, "other_mixing": hidden}
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
    options = {"columns": columns, "known": "batch", "other": "kind", "mixing": 0.5, **options}
    write_report(result, path, **options)
    return path


class Running(NamedTuple):
    """The browser of this process, and a page that tests reuse."""

    playwright: Any
    browser: Any
    page: Any


# Started by the first test that needs it and closed after the last one, because no other test can
# start an event loop while it runs.
_running: list[Running] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that need the browser one after another."""
    here = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    ordered = sorted((items[place] for place in here), key=_needs_browser)
    for place, item in zip(here, ordered, strict=True):
        items[place] = item


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if _running and not _needs_browser(nextitem):
        running = _running.pop()
        running.browser.close()
        running.playwright.stop()


def _needs_browser(item: pytest.Item | None) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


@pytest.fixture
def browser() -> Running:
    """Start the system's Chromium, or use the one already running."""
    if not _running:
        names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            pytest.skip(f"no browser to try the page in: none of {', '.join(names)} is installed")
        sync_api = pytest.importorskip("playwright.sync_api")
        playwright = sync_api.sync_playwright().start()
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        _running.append(Running(playwright, started, started.new_page(viewport=VIEWPORT)))
    return _running[0]


VIEWPORT = {"width": 1280, "height": 800}


class Opened:
    """A page in the browser that has gone wrong as soon as anything is complained of."""

    def __init__(self, page: Any, path: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = page
        self.listeners: dict[str, Callable[[Any], None]] = {
            "pageerror": lambda error: self.complaints.append(str(error)),
            "console": self._hear,
            "dialog": self._refuse,
            "request": lambda request: self.requests.append(request.url),
        }
        for event, listener in self.listeners.items():
            self.page.on(event, listener)
        self.address = path.resolve().as_uri()
        self.page.goto(self.address)
        self.wait("window.ctsnePage !== undefined")

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
        self.wait("!ctsnePage.state().moving")
        return self.state()

    def wait(self, expression: str, *, seconds: float = 30) -> None:
        """Wait until an expression is true.

        Playwright's own function evaluates text inside the page, which the page's policy refuses.
        """
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            self.page.wait_for_timeout(20)

    def shown(self, side: str = "right") -> str:
        """Return the title of the map in a panel, as its menu has it."""
        return str(self.page.locator(f"#{side}-map option:checked").text_content())

    def map(self, side: str = "right") -> int:
        """Return the number of the map in a panel."""
        return int(self.state()["panels"][("left", "right").index(side)]["map"])

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
        view = self.page.evaluate("ctsnePage.view()")
        # The map fills the box within its border; the shorter side shows the width of the view.
        box = self.page.evaluate(
            """side => {
                const inner = document.getElementById(side);
                const {left, top} = inner.getBoundingClientRect();
                return [
                    left + inner.clientLeft, top + inner.clientTop,
                    inner.clientWidth, inner.clientHeight,
                ];
            }""",
            side,
        )
        x, y = np.asarray(positions)
        scale = min(box[2], box[3]) / view["side"]
        return np.column_stack(
            [
                box[0] + box[2] / 2 + (x - view["x"]) * scale,
                box[1] + box[3] / 2 - (y - view["y"]) * scale,
            ]
        )


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Running) -> Iterator[Open]:
    """Open pages; at the end, none must have reported an error or requested anything else.

    A page without special options reuses the tab of the previous test, in which the browser has
    already compiled the scripts.
    """
    pages: list[Opened] = []

    def open_(path: Path, *, viewport: Any = VIEWPORT, **options: Any) -> Opened:
        before, clock = options.pop("before", ""), options.pop("clock", False)
        if before or clock or options or browser.page in [page.page for page in pages]:
            page = browser.browser.new_context(viewport=viewport, **options).new_page()
            page.add_init_script(before)
            if clock:  # a clock that a test can advance
                page.clock.install()
        else:
            page = browser.page
            page.set_viewport_size(viewport)
        pages.append(Opened(page, path))
        return pages[-1]

    yield open_
    for page in pages:
        if page.page is browser.page:
            for event, listener in page.listeners.items():
                page.page.remove_listener(event, listener)
            page.page.emulate_media(color_scheme="light", media="screen")
            page.page.goto("about:blank")
            page.page.mouse.move(0, 0)
        else:
            page.page.context.close()
    for page in pages:
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith("blob:")] == [page.address]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the usual made-up sweep, with names of its points."""
    return written(tmp_path_factory.mktemp("report"), names=[f"cell {i}" for i in range(60)])


@pytest.fixture
def drawn(opened: Open, tmp_path: Path) -> Open:
    """Open a page with one panel of 400 pixels, with the points given."""

    def draw(
        points: NDArray[Any],
        codes: NDArray[Any] | None = None,
        *,
        insist: bool = False,
        colors: list[str] = COLORS,
        size: tuple[int, int] = (400, 400),
        **options: Any,
    ) -> Opened:
        path = tmp_path / "panel.html"
        write_panel(path, points, codes, insist=insist, colors=colors, size=size)
        page = opened(path, **options)
        page.settle()
        return page

    return draw
