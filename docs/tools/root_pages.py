"""Copy pages of the repository to the site, with their links adapted."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

# Files of the repository and their pages on the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
    "experiments/README.md": "experiments.md",
    "experiments/RESULTS.md": "experiments-results.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/RESULTS.md": "benchmarks-results.md",
}
CITING = "citing.md"

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")


def write(root: Path, folder: Path) -> None:
    """Write the pages to a folder, with the pictures and tables they link to."""
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
    """Return the link on the site for a link of a file in the folder ``beside``."""
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
    """Return a second-level section with its heading raised one level."""
    start = text.index(f"\n## {title}\n")
    return text[start + 3 : text.index("\n## ", start + 1)] + "\n"
