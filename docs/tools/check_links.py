"""Check every link of the built site and of the repository's own pages.

Links inside the site must point to an existing file and, with a ``#``, to an anchor in it; so must
links between the Markdown files of the repository. Links to other sites are not followed, because
the check must work without a network; they only have to be well-formed.

Example: python docs/tools/check_links.py docs/_build/html
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]
# Generated or installed by tools, so not pages of the repository.
_NOT_READ = {"_build", "_generated", "build", "node_modules"}
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)


class _Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")


@cache
def _page(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def check_site(folder: Path) -> list[str]:
    """Check the links of the built pages.

    Parameters
    ----------
    folder : Path
        The folder of the built site.

    Returns
    -------
    list of str
        One line per wrong link.
    """
    folder = folder.resolve()
    pages = _pages(folder)
    if not pages:
        return [f"{folder}: there is no page"]
    wrong = []
    for file in pages:
        for link in dict.fromkeys(_page(file).links):
            problem = _problem(link, file, folder)
            if problem:
                wrong.append(f"{file.relative_to(folder)}: {problem}: {link}")
    return wrong


def _pages(folder: Path) -> list[Path]:
    """Return the pages, without the theme's templates under ``_static``."""
    return [file for file in sorted(folder.rglob("*.html")) if "_static" not in file.parts]


def _problem(link: str, file: Path, folder: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return _problem_elsewhere(link)
    if link == "#":  # opens a menu
        return None
    target = Path(os.path.normpath(file.parent / unquote(parts.path))) if parts.path else file
    if parts.path.startswith("/") or not target.is_relative_to(folder):
        return "leads out of the site"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "there is no such file"
    place = unquote(parts.fragment)
    if place and target.suffix == ".html" and place not in _page(target).places:
        return "there is no such place on the page"
    return None


def _problem_elsewhere(link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme in ("data", "mailto"):
        return None
    if parts.scheme not in ("http", "https") or "." not in parts.netloc:
        return "not a web address"
    return None


def check_repository(root: Path) -> list[str]:
    """Check the links of the repository's Markdown files, as its host shows them.

    Parameters
    ----------
    root : Path

    Returns
    -------
    list of str
        One line per wrong link.
    """
    wrong = []
    for file in _markdown(root):
        for link in _LINK.findall(_without_code(file.read_text(encoding="utf-8"))):
            problem = _problem_in_repository(link, file, root)
            if problem:
                wrong.append(f"{file.relative_to(root)}: {problem}: {link}")
    return wrong


def _markdown(root: Path) -> Iterator[Path]:
    """Yield the pages outside ``docs``; links inside it are checked in the built site."""
    for file in sorted(root.rglob("*.md")):
        parts = file.relative_to(root).parts
        if parts[0] != "docs" and not any(p in _NOT_READ or p.startswith(".") for p in parts):
            yield file


def _problem_in_repository(link: str, file: Path, root: Path) -> str | None:
    if urlsplit(link).scheme:
        return _problem_elsewhere(link)
    path, _, place = link.partition("#")
    target = Path(os.path.normpath(file.parent / unquote(path))) if path else file
    if not target.is_relative_to(root):
        return "leads out of the repository"
    if not target.exists():
        return "there is no such file"
    if place and place not in _places(target):
        return "there is no such heading"
    return None


def _places(file: Path) -> set[str]:
    """Return the anchors that the host of the repository makes of the headings."""
    headings = _HEADING.findall(_FENCE.sub("", file.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _without_code(text: str) -> str:
    return _CODE.sub("", _FENCE.sub("", text))


def main(arguments: list[str]) -> int:
    """Check a built site and the repository; return 1 if a link is wrong."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    site = Path(arguments[0])
    wrong = check_site(site) + check_repository(ROOT)
    for line in wrong:
        print(line, file=sys.stderr)
    read = f"{len(_pages(site))} pages and {len(list(_markdown(ROOT)))} files of the repository"
    print(f"{read}: {len(wrong)} wrong links" if wrong else f"{read}: all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
