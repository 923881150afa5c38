"""Take the picture of the interactive page: real data, on the screen of a laptop.

Needs Chromium, and the folder of real data that the variable CTSNE_DATA names.

Example: python docs/tools/screenshot.py docs/page.png
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

DATA, KNOWN, OTHER = "pancreas3.npz", "study", "cell_type"
TITLE = "Human pancreas, three studies"
SCREEN = {"width": 1366, "height": 768}
SCALE = 1.5
COLORS = 256


def write_page(folder: Path) -> Path:
    """Write the page with the command that a reader would use, in a folder with the data."""
    shutil.copy(Path(os.environ["CTSNE_DATA"]) / DATA, folder)
    command = ["report", DATA, "--labels", KNOWN, "--other", OTHER, "--title", TITLE]
    subprocess.run(
        [sys.executable, "-m", "ctsne.cli", *command, "--quiet", "-o", "page.html"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder / "page.html"


def picture(page: Path) -> Image.Image:
    """Open the page, wait until it is drawn, and return what is on the screen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        opened = browser.new_page(viewport=SCREEN, device_scale_factor=SCALE)
        opened.goto(page.as_uri())
        # The page forbids the eval that waiting for a condition needs.
        while not opened.evaluate("window.ctsnePage !== undefined && !ctsnePage.state().moving"):
            opened.wait_for_timeout(100)
        taken = opened.screenshot()
        browser.close()
    return Image.open(io.BytesIO(taken)).convert("RGB")


def main() -> int:
    """Write the picture to the file given."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        taken = picture(write_page(Path(folder)))
    # Octrees keep the few pixels of a rare colour, which median cuts lose.
    small = taken.quantize(COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(target, optimize=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
