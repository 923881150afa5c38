"""The interactive page of a large sweep: seconds to write it, its size, and how smoothly it moves.

The maps are made up, so nothing else is computed. The second half needs Chromium. Without a
graphics card Chromium draws in software, and the page draws fewer points while it moves.

Example: python benchmarks/page.py --n 50000 500000
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ctsne import ConditionalTSNE
from ctsne.report import write_report
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import expand_grid

MOVES = 5
# Counts frames while the slider moves to the next setting.
MOVE = """() => new Promise((done) => {
  const slider = document.getElementById("strength");
  let frames = 0;
  const begin = performance.now();
  slider.value = Number(slider.value) > 0 ? Number(slider.value) - 1 : Number(slider.value) + 1;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  const tick = () => {
    frames += 1;
    if (ctsnePage.state().moving) requestAnimationFrame(tick);
    else done([frames, performance.now() - begin]);
  };
  requestAnimationFrame(tick);
})"""


def made_up(n: int) -> tuple[SweepResult, dict[str, Any]]:
    rng = np.random.default_rng(0)
    base = ConditionalTSNE(method="joint", random_state=0)
    given = base.get_params(deep=False)
    points = expand_grid({"strength": np.linspace(0, 1, 21).tolist()}, given)
    kind, batch = rng.integers(12, size=n), rng.integers(4, size=n)
    centers, shift = 40 * rng.normal(size=(12, 2)), 15 * rng.normal(size=(4, 2))
    cloud = 5 * rng.normal(size=(n, 2))
    maps = []
    for point in points:
        mixing = point.parameters["strength"]
        positions = centers[kind] + (1 - mixing) * shift[batch] + cloud
        diagnostics = {
            name: rng.uniform(0, 1, n).astype(np.float32)
            for name in ("perplexity", "other_share", "largest_weight")
        }
        measures = {"mixing": mixing, "adjusted_rnx": 0.6 - 0.3 * mixing}
        maps.append(
            SweptMap(
                point.parameters, positions.astype(np.float32), measures, 1.0, None, diagnostics
            )
        )
    result = SweepResult(tuple(maps), tuple(points), base.get_params(deep=False))
    columns = {
        "batch": np.char.add("batch ", batch.astype(str)),
        "type": np.char.add("type ", kind.astype(str)),
    }
    return result, columns


def in_browser(page: Path) -> str:
    chromium = shutil.which("chromium")
    if chromium is None:
        return "not opened: Chromium is not installed"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1280, "height": 800})
        begin = time.perf_counter()
        opened.goto(page.as_uri())
        opened.wait_for_function("window.ctsnePage !== undefined")
        ready = time.perf_counter() - begin
        moves = [opened.evaluate(MOVE) for _ in range(MOVES)]
        browser.close()
    frames, seconds = (np.array(moves) / [1, 1000]).mean(axis=0)
    return f"ready in {ready:.1f} s; a move: {frames:.0f} frames in {seconds:.2f} s"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--n", type=int, nargs="+", default=[50_000, 500_000], help="points (default: %(default)s)"
    )
    for n in parser.parse_args().n:
        result, columns = made_up(n)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            begin = time.perf_counter()
            write_report(result, page, columns=columns, known="batch", other="type")
            seconds = time.perf_counter() - begin
            size = page.stat().st_size / 1e6
            print(f"{n} points, {len(result.maps)} maps: written in {seconds:.1f} s, {size:.1f} MB")
            print(f"  {in_browser(page)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
