"""The page in Firefox."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from matplotlib.image import imread

from .conftest import made_up, written


@pytest.mark.parametrize(("theme", "is_light"), [("light", True), ("dark", False)])
def test_firefox_draws_both_maps(tmp_path: Path, theme: str, is_light: bool) -> None:
    found = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if found is None:
        pytest.skip("Firefox is not installed")
    page, picture = written(tmp_path, made_up(600)), tmp_path / "page.png"
    options = ["--headless", "--profile", tmp_path, "--window-size=1366,768"]
    subprocess.run(
        [found, *options, "--screenshot", picture, f"{page.as_uri()}#theme={theme}"],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    pixels = imread(picture)[..., :3]
    assert (pixels.mean() > 0.5) == is_light
    for left in (20, 540):
        inside = pixels[200:690, left : left + 490]
        coloured = inside.max(axis=2) - inside.min(axis=2) > 0.2
        assert coloured.sum() > 5000
        assert coloured.any(axis=0).mean() > 0.2 and coloured.any(axis=1).mean() > 0.2
