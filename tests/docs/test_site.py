"""The whole site: it builds without a warning, and every link leads somewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = ("_build", "_generated", "__pycache__")


@pytest.mark.slow
def test_builds_without_warnings_and_links_lead_somewhere(tmp_path: Path) -> None:
    # Built from a copy, as a build writes its generated pages beside the others.
    for entry in ROOT.iterdir():
        if entry.name == "docs":
            shutil.copytree(entry, tmp_path / "docs", ignore=shutil.ignore_patterns(*MADE))
        elif not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, "-P", "-m", "sphinx", "-q", "-W", "-n", "--keep-going",
         str(tmp_path / "docs"), str(site)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[-3000:]
    checked = subprocess.run(
        [sys.executable, "-P", str(ROOT / "docs" / "tools" / "check_links.py"), str(site)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr[-3000:]
    assert "all links lead somewhere" in checked.stdout
    for page in ("start", "method", "strength", "measures", "limits", "_generated/commands"):
        assert (site / f"{page}.html").is_file()
