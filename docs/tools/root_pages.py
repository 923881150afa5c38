"""Pages that the repository has already: copied into the site with their links turned to it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

# A file of the repository, and its page in the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "experiments/README.md": "experiments.md",
    "experiments/RESULTS.md": "experiments-results.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/RESULTS.md": "benchmarks-results.md",
}
CITING = "citing.md"

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")


def write(root: Path, folder: Path) -> None:
    """Write all of them into a folder, with the pictures and tables that they show."""
    for source, page in PAGES.items():
        text = (root / source).read_text(encoding="utf-8")
        _write_page(text, (root / source).parent, root, folder / page)
    citing = "#" + _section((root / "README.md").read_text(encoding="utf-8"), "Citing")
    _write_page(citing, root, root, folder / CITING)


def _write_page(text: str, beside: Path, root: Path, page: Path) -> None:
    def turned(match: re.Match[str]) -> str:
        return f"{match[1]}({_target(match[2], beside, root, page.parent)})"

    page.write_text(LINK.sub(turned, text), encoding="utf-8")


def _target(target: str, beside: Path, root: Path, folder: Path) -> str:
    """Return where a link of a file in the folder ``beside`` leads from within the site."""
    if target.startswith(("https://", "http://", "#")):
        return target
    path, _, anchor = target.partition("#")
    file = Path(os.path.normpath(beside / path))
    name = file.relative_to(root).as_posix()
    if name in PAGES:
        return PAGES[name] + ("#" + anchor if anchor else "")
    copied = folder / "files" / name
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copied)
    return f"files/{name}"


def _section(text: str, title: str) -> str:
    """Return a section of second level with its heading, one level up."""
    start = text.index(f"\n## {title}\n")
    return text[start + 3 : text.index("\n## ", start + 1)] + "\n"
