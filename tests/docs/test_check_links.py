"""The check of links finds what is wrong, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]


def _site(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("other.html", None),
        ("other.html#here", None),
        ("#top", None),
        ("#", None),
        ("https://example.org/a#b", None),
        ("data:image/png;base64,AAAA", None),
        ("missing.html", "no such file"),
        ("other.html#nowhere", "no such place"),
        ("#nowhere", "no such place"),
        ("../outside.html", "out of the site"),
        ("/root.html", "out of the site"),
        ("https:///path", "not a web address"),
        ("htp://example.org", "not a web address"),
    ],
)
def test_links_of_a_page(tool: Tool, tmp_path: Path, link: str, problem: str | None) -> None:
    text = f'<h1 id="top">A</h1><a href="{link}">b</a>'
    site = _site(tmp_path, index=text, other='<p id="here">c</p>')
    wrong = tool("check_links").check_site(site)
    assert len(wrong) == (0 if problem is None else 1)
    assert problem is None or (problem in wrong[0] and wrong[0].startswith("index.html"))


def test_pictures_must_be_there(tool: Tool, tmp_path: Path) -> None:
    site = _site(tmp_path, index='<img src="a.png"><img src="b.png">')
    (site / "a.png").touch()
    (wrong,) = tool("check_links").check_site(site)
    assert "b.png" in wrong


def test_an_empty_folder_is_no_site(tool: Tool, tmp_path: Path) -> None:
    assert tool("check_links").check_site(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](b.md)", None),
        ("[a](b.md#two-words)", None),
        ("![a](b.md)", None),
        ("`[a](missing.md)` and\n```\n[a](missing.md)\n```\n", None),
        ("[a](missing.md)", "no such file"),
        ("[a](b.md#three-words)", "no such heading"),
        ("[a](../b.md)", "out of the repository"),
    ],
)
def test_links_of_the_repository(
    tool: Tool, tmp_path: Path, text: str, problem: str | None
) -> None:
    (tmp_path / "README.md").write_text(text)
    (tmp_path / "b.md").write_text("# B\n\n## Two `words`\n")
    wrong = tool("check_links").check_repository(tmp_path)
    assert len(wrong) == (0 if problem is None else 1)
    assert problem is None or problem in wrong[0]


def test_the_repository_has_no_wrong_link(tool: Tool) -> None:
    check = tool("check_links")
    assert check.check_repository(check.ROOT) == []
