"""Fonts for texts that the usual font cannot write, such as Chinese names."""

from __future__ import annotations

import functools
import logging
import unicodedata
from typing import Any

from ctsne._core.messages import warn
from ctsne.pl.loading import load

# Drawn for a character that no installed font has.
_PLACEHOLDER = "□"
# Fonts that cover most of the world's scripts are tried before others.
_PREFERRED = ("noto sans cjk", "noto sans", "source han sans", "arial unicode", "unifont")
# Fonts that draw a framed sign instead of any character; matplotlib brings one along.
_STAND_INS = ("last resort", "lastresort")
# Scripts that characters were reported missing of, so that nothing is reported twice.
_reported: set[str] = set()
# Families taken for want of another, in the weight that they have.
_taken: set[str] = set()


def written(text: str) -> dict[str, Any]:
    """Return a text as properties of a matplotlib text, with further fonts if it needs any."""
    needed = "".join(sorted({char for char in text if ord(char) > 127 and not char.isspace()}))
    lacking = [char for char in needed if not _covers(_usual_files(), char)]
    if not lacking:
        return {"text": text}
    found = {char: _font_with(char) for char in lacking}
    absent = [char for char, family in found.items() if family is None]
    for char in absent:
        text = text.replace(char, _PLACEHOLDER)
    _report(absent)
    _take_any_weight(set(found.values()) - {None})
    families = [*_usual_families(), *dict.fromkeys(filter(None, found.values()))]
    return {"text": text, "fontfamily": families}


def _usual_families() -> list[str]:
    return list(load().rcParams["font.family"])


def _usual_files() -> tuple[str, ...]:
    manager, properties = load("font_manager"), load("font_manager").FontProperties
    return tuple(manager.findfont(properties(family=[family])) for family in _usual_families())


@functools.cache
def _characters(file: str) -> frozenset[int]:
    """Return the characters of a font; none if it cannot be read."""
    try:
        return frozenset(load("ft2font").FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def _covers(files: tuple[str, ...], char: str) -> bool:
    return any(ord(char) in _characters(file) for file in files)


def _font_with(char: str) -> str | None:
    """Return the family of an installed font that has a character."""

    def rank(font: Any) -> tuple[int, bool, str]:
        name = font.name.lower()
        place = next((i for i, each in enumerate(_PREFERRED) if each in name), len(_PREFERRED))
        return place, font.style != "normal" or font.weight not in (400, "normal"), font.name

    known = load("font_manager").fontManager.ttflist
    real = (each for each in known if not any(name in each.name.lower() for name in _STAND_INS))
    fonts = sorted(real, key=rank)
    return next((str(font.name) for font in fonts if _covers((font.fname,), char)), None)


def _take_any_weight(families: set[Any]) -> None:
    """Keep matplotlib from logging that a family has another weight than the other texts."""
    log = logging.getLogger("matplotlib.font_manager")
    log.addFilter(_is_news)  # added once, however often
    _taken.update(families)


def _is_news(record: logging.LogRecord) -> bool:
    text = record.getMessage()
    return not ("font weight" in text and any(family in text for family in _taken))


def _report(absent: list[str]) -> None:
    """Report characters that no font has, once per script."""
    scripts = {unicodedata.name(char, "unnamed").split()[0]: char for char in reversed(absent)}
    for script in sorted(scripts.keys() - _reported):
        _reported.add(script)
        warn(
            f"no installed font has {script} characters such as {scripts[script]!r}, drawn as "
            f"{_PLACEHOLDER}; install one that has, such as those of the Noto family"
        )
