"""Texts that the usual font cannot write: another font, or one clear message."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from ctsne import pl
from ctsne.pl import figures

CHINESE = "細胞"


@pytest.fixture(autouse=True)
def _as_in_a_new_process() -> Iterator[None]:
    known = list(font_manager.fontManager.ttflist)
    figures._reported.clear()
    yield
    font_manager.fontManager.ttflist = known


@pytest.fixture
def _without_chinese() -> None:
    """As on a computer that has only the fonts of matplotlib."""
    manager = font_manager.fontManager
    own = matplotlib.get_data_path()
    manager.ttflist = [font for font in manager.ttflist if font.fname.startswith(own)]


@pytest.fixture
def font(tmp_path: Path, _without_chinese: None) -> str:
    """A font that has the two characters, as squares."""
    builder = FontBuilder(1000, isTTF=True)
    pen = TTGlyphPen(None)
    for move, place in (
        (pen.moveTo, (100, 0)),
        (pen.lineTo, (100, 700)),
        (pen.lineTo, (800, 700)),
        (pen.lineTo, (800, 0)),
    ):
        move(place)
    pen.closePath()
    names = [".notdef", *(f"uni{ord(char):04X}" for char in CHINESE)]
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(char): f"uni{ord(char):04X}" for char in CHINESE})
    glyph = pen.glyph()
    builder.setupGlyf(dict.fromkeys(names, glyph))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (900, 100)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWeightClass=500)
    builder.setupPost()
    path = tmp_path / "squares.ttf"
    builder.save(path)
    font_manager.fontManager.addfont(path)
    return "Squares"


def draw(label: str) -> plt.Axes:
    positions = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]
    ax = pl.embedding(positions, [label, "T cell", "B cell"], title=label, legend_loc="both")
    ax.figure.canvas.draw()
    return ax


def test_another_font_is_found_without_a_warning(
    font: str, caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = draw(f"{CHINESE} 1")
        bars = pl.label_mixing([[0.0], [1.0], [2.0]], [CHINESE, CHINESE, "b"], k=1)
        bars.figure.canvas.draw()
    assert caplog.text == ""
    legend = {text.get_text(): text for text in ax.get_legend().get_texts()}
    assert font in legend[f"{CHINESE} 1"].get_fontfamily()
    assert font not in legend["T cell"].get_fontfamily()
    assert font in ax._left_title.get_fontfamily()


@pytest.mark.usefixtures("_without_chinese")
def test_without_any_such_font_there_is_one_message() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ax = draw(CHINESE)
        draw(f"{CHINESE} again")
    (message,) = (str(each.message) for each in told)
    assert "no installed font has CJK characters such as '細'" in message and "Noto" in message
    assert "□□" in {text.get_text() for text in ax.get_legend().get_texts()}


def test_the_usual_font_writes_what_it_can() -> None:
    for text in ("β-cell", "naïve", "−1", "Ж", ""):
        assert figures.text_properties(text) == {"text": text}
