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
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")


def write(root: Path, folder: Path) -> None:
    """Write the pages to a folder, with the pictures and tables they link to."""
    for source, page in PAGES.items():
        text = (root / source).read_text(encoding="utf-8")
        text = adapted(text, (root / source).parent, root, folder)
        (folder / page).write_text(text, encoding="utf-8")


def adapted(text: str, beside: Path, root: Path, folder: Path, *, prefix: str = "") -> str:
    """Adapt the links of a text in the folder ``beside``, and copy the files they lead to."""

    def turned(match: re.Match[str]) -> str:
        target = _target(match[2], beside, root, folder)
        return f"{match[1]}({target if _is_outside(target) else prefix + target})"

    return LINK.sub(turned, text)


def _is_outside(target: str) -> bool:
    return target.startswith(("https://", "http://", "#"))


def _target(target: str, beside: Path, root: Path, folder: Path) -> str:
    """Return the link on the site for a link of a file in the folder ``beside``."""
    if _is_outside(target):
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
