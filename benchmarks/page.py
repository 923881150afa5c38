"""The interactive page of a large sweep: its size, how soon it can be used, how smoothly it moves.

The maps are made up, so nothing else is computed. The page is opened in Chromium on a laptop's
screen (1366 x 768). Seconds count from opening the file: until the first map is drawn, and until
the first frame after the slider was moved to another setting. Frames are counted while the maps
move to another setting, and while the part shown moves to and fro. Without a graphics card the
page draws in software, and fewer points while something moves; all of them are drawn at rest.

Example: python benchmarks/page.py --n 50000 158000 500000
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

MAPS = 14  # as many as ctsne report makes
MOVES = 6
SCREEN = {"width": 1366, "height": 768}
# Runs before the page: times its first frame, then moves the slider back and forth.
TIMES = """
window.times = { moves: [], moving: [] };
const drawn = () => Number(ctsnePage.drawn("right"));
const wait = () => {
  if (window.ctsnePage === undefined || drawn() === 0) return requestAnimationFrame(wait);
  // A task after the next frame: what was drawn is on the screen.
  return requestAnimationFrame(() => setTimeout(() => {
    times.drawn = performance.now();
    move();
  }));
};
const move = () => {
  const slider = document.getElementById("strength");
  const begin = performance.now();
  let frames = 0;
  slider.value = Number(slider.value) > 0 ? Number(slider.value) - 1 : Number(slider.value) + 1;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  const tick = () => {
    frames += 1;
    if (frames === 2) times.moved ??= performance.now();
    if (ctsnePage.state().moving) {
      times.moving.push(drawn());
      return requestAnimationFrame(tick);
    }
    times.moves.push([frames, performance.now() - begin]);
    if (times.moves.length < MOVES) return move();
    return setTimeout(() => {
      times.rest = drawn();
      times.done = true;
    }, 500);
  };
  requestAnimationFrame(tick);
};
requestAnimationFrame(wait);
""".replace("MOVES", str(MOVES))
# Zooms in, then moves the part shown to and fro with each frame.
PAN = """() => new Promise((done) => {
  const host = document.getElementById("right");
  const press = (key) => host.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("+");
  press("+");
  const from = ctsnePage.view().x;
  let [frames, begin, moved] = [0, null, 0];
  const tick = (now) => {
    begin ??= now;
    frames += 1;
    if (ctsnePage.view().x !== from) moved += 1;
    press(frames % 2 === 0 ? "ArrowLeft" : "ArrowRight");
    if (now - begin < 2000) requestAnimationFrame(tick);
    else done({ frames, moved, milliseconds: now - begin });
  };
  setTimeout(() => requestAnimationFrame(tick), 1000);
})"""


def made_up(n: int) -> tuple[SweepResult, dict[str, Any]]:
    """Make types of very different size in four batches that come together smoothly."""
    rng = np.random.default_rng(0)
    base = ConditionalTSNE(method="joint", random_state=0)
    given = base.get_params(deep=False)
    points = expand_grid({"strength": np.linspace(0, 1, MAPS).round(3).tolist()}, given)
    shares = np.geomspace(1, 1e-3, 27)
    kind = rng.choice(27, n, p=shares / shares.sum())
    batch = rng.integers(4, size=n)
    centers, shift = 40 * rng.normal(size=(27, 2)), 15 * rng.normal(size=(4, 2))
    cloud = (2 + 5 * np.sqrt(shares))[kind, None] * rng.normal(size=(n, 2))
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
    result = SweepResult(tuple(maps), tuple(points), given)
    columns = {
        "batch": np.char.add("batch ", batch.astype(str)),
        "type": np.char.add("type ", kind.astype(str)),
    }
    return result, columns


def in_browser(path: Path) -> list[str]:
    """Return seconds until drawn and moved, frames per second, and points drawn."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return ["Chromium is not installed"]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SCREEN)
        page.add_init_script(TIMES)
        page.goto(path.as_uri())
        # The page forbids the eval that waiting for a condition needs.
        while not (times := page.evaluate("times")).get("done"):
            page.wait_for_timeout(100)
        panned = page.evaluate(PAN)
        browser.close()
    panning = 1000 * panned["frames"] / panned["milliseconds"]
    frames, milliseconds = np.array(times["moves"]).sum(axis=0)
    assert panned["moved"] > 0.4 * panned["frames"], "the map did not move"
    return [
        f"{times['drawn'] / 1000:.1f}",
        f"{times['moved'] / 1000:.1f}",
        f"{1000 * frames / milliseconds:.0f}",
        f"{panning:.0f}",
        f"{times['rest']:,}",
        f"{int(np.median(times['moving'])):,}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--n",
        type=int,
        nargs="+",
        default=[50_000, 158_000, 500_000],
        help="points (default: %(default)s)",
    )
    print(
        "| points | maps | MB | written, s | first map, s | first move, s | frames/s, moving "
        "| frames/s, panning | drawn at rest | drawn moving |\n" + "| ---: " * 10 + "|"
    )
    for n in parser.parse_args().n:
        result, columns = made_up(n)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            begin = time.perf_counter()
            write_report(result, path, columns=columns, known="batch", other="type")
            seconds = time.perf_counter() - begin
            row = [f"{n:,}", str(MAPS), f"{path.stat().st_size / 1e6:.1f}", f"{seconds:.1f}"]
            print("|", " | ".join(row + in_browser(path)), "|", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
