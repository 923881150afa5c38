"""What all figures share: sizes for print, texts and fonts, legends, and when matplotlib loads."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

from ctsne import pl
from ctsne.pl import figures
from ctsne.pl.trade_off import draw_curves

from .conftest import curves_of

MM = 1 / 25.4
RNG = np.random.default_rng(0)
POSITIONS = RNG.normal(size=(300, 2))
LABELS = np.array([f"cell type {i:02d}" for i in range(30)])[np.arange(300) % 30]
BATCH = np.array(["a", "b"])[np.arange(300) % 2]

LINE = curves_of({"joint": [0, 1]}, {"joint": [1, 0]})
PICTURES: dict[str, Callable[..., Any]] = {
    "embedding": lambda **width: pl.embedding(POSITIONS, LABELS, title="title", **width),
    "few labels": lambda **width: pl.embedding(POSITIONS, BATCH, **width),
    "two columns": lambda **width: pl.embedding(
        POSITIONS, {"batch": BATCH, "type": LABELS}, **width
    )[0],
    "numbers": lambda **width: pl.embedding(
        POSITIONS, np.where(POSITIONS[:, 0] > 1, np.nan, POSITIONS[:, 1]), **width
    ),
    "maps": lambda **width: pl.maps({"a": POSITIONS, "b": POSITIONS}, LABELS, **width)[0],
    "trade_off": lambda **width: draw_curves(LINE, "x", "y", **width),
}


SIZES = [(name, "single", 89 * MM) for name in PICTURES]
SIZES += [(name, "double", 183 * MM) for name in ("two columns", "maps")]
SIZES += [("maps", 120, 120 * MM)]


@pytest.mark.parametrize(("name", "width", "inches"), SIZES)
def test_a_figure_has_the_width_of_a_column(name: str, width: Any, inches: float) -> None:
    figure = PICTURES[name](width=width).figure
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == pytest.approx(inches)
    box, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 > -0.02 and box.y0 > -0.02 and box.x1 < wide + 0.02 and box.y1 < high + 0.02
    for text in figure.findobj(Text):
        assert 6 <= text.get_fontsize() <= 8 or not text.get_text(), text


def test_panels_do_not_overlap_their_legends() -> None:
    for width in (None, "single"):
        axes = pl.embedding(POSITIONS, {"batch": BATCH, "type": LABELS}, width=width)
        axes[0].figure.canvas.draw()
        boxes = [ax.get_window_extent() for ax in axes]
        boxes += [ax.get_legend().get_window_extent() for ax in axes]
        for place, box in enumerate(boxes):
            for other in boxes[place + 1 :]:
                wide = min(box.x1, other.x1) - max(box.x0, other.x0)
                high = min(box.y1, other.y1) - max(box.y0, other.y0)
                assert wide < 2 or high < 2


def test_several_columns_have_a_panel_and_a_legend_each() -> None:
    axes = pl.embedding(POSITIONS, {"batch": BATCH, "type": LABELS, "x": POSITIONS[:, 0]})
    assert [ax.get_title(loc="left") for ax in axes] == ["batch", "type", "x"]
    assert [len(ax.get_legend().get_texts()) for ax in axes[:2]] == [2, 30]
    assert axes[2].get_legend() is None and len(axes[2].child_axes) == 1
    assert np.ptp([ax.get_window_extent().width for ax in axes]) < 1
    with pytest.raises(ValueError, match="title must hold one text per panel, 2, got 1"):
        pl.embedding(POSITIONS, {"batch": BATCH, "type": LABELS}, title="both")
    with pytest.raises(ValueError, match="leave out ax"):
        pl.embedding(POSITIONS, {"batch": BATCH, "type": LABELS}, ax=axes[0])


def test_the_scale_of_print_is_that_of_one_figure_only() -> None:
    small = pl.embedding(POSITIONS, BATCH, width="single")
    usual = pl.embedding(POSITIONS, BATCH)
    sizes = [ax.get_legend().get_texts()[0].get_fontsize() for ax in (small, usual)]
    assert sizes[0] < 7 < 9 <= sizes[1]


@pytest.mark.parametrize(
    ("width", "error", "message"),
    [
        ("wide", ValueError, "^width must be 'single', 'double' or a number .* got 'wide'$"),
        (0.0, ValueError, "or a number of millimetres from 40 to 1000, got 0.0$"),
        ([1], TypeError, r"from 40 to 1000, got \[1\]$"),
    ],
)
def test_wrong_widths_are_refused(width: Any, error: type[Exception], message: str) -> None:
    for draw in PICTURES.values():
        with pytest.raises(error, match=message):
            draw(width=width)
    assert not plt.get_fignums()


def test_a_width_needs_a_new_figure() -> None:
    ax = plt.figure().subplots()
    with pytest.raises(ValueError, match="width is that of a new figure"):
        pl.embedding(POSITIONS, width="single", ax=ax)
    with pytest.raises(ValueError, match="width is that of a new figure"):
        draw_curves(LINE, "x", "y", width="single", ax=ax)


@pytest.mark.parametrize(
    "name", ["CD31(-)CD45(+)CD200(high)Sca-1(+)", "Lin(-)Sca-1(+)c-Kit(+)", "HLA-DR(hi)"]
)
def test_no_line_breaks_inside_a_marker_name(name: str) -> None:
    assert figures.shown_text(name) == name
    lines = figures.shown_text(f"endothelial cells {name}").split("\n")
    assert " ".join(lines) == f"endothelial cells {name}" or "…" in "".join(lines)
    assert all(line.count("(") == line.count(")") or "…" in line for line in lines)


# The package as a whole

ODD = ["_hidden", "$x_1$", "$_$", "50% & more", "a\nb", ""]


def test_matplotlib_is_imported_only_to_draw_and_pyplot_only_for_a_new_figure() -> None:
    program = """
import sys
import ctsne, ctsne.pl
ctsne.pl.palette(["a", "b"])
assert "matplotlib" not in sys.modules
from matplotlib.figure import Figure
ax = Figure().subplots()
assert ctsne.pl.embedding([[0, 0], [1, 1]], ["a", "b"], ax=ax) is ax
from ctsne.pl.trade_off import draw_curves
draw_curves({}, "x", "y", ax=ax)
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=120)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "ctsne\[plot\]"'):
        pl.embedding([[0, 0], [1, 1]])


def draw_everything(labels: list[str | None]) -> list[plt.Axes]:
    """Every picture with the same labels in it."""
    n = len(labels)
    positions = np.random.default_rng(0).normal(size=(n, 2))
    names = dict.fromkeys(map(str, labels), np.linspace(0, 1, 3))
    return [
        pl.embedding(positions, labels, shape=labels),
        *pl.maps({str(label): positions for label in labels[1:3]}, labels),
        draw_curves(curves_of(names, names), "", ""),
    ]


def test_label_text_is_shown_as_it_is() -> None:
    for ax in draw_everything(ODD * 2):
        # What matplotlib takes for mathematics and cannot read would fail here.
        ax.figure.canvas.draw()
        texts = {text.get_text().split("  (")[0]: text for text in ax.figure.findobj(Text)}
        assert {"_hidden", "a b", "(empty)"} <= set(texts)
        for label in ("$x_1$", "$_$"):
            assert not texts[label].get_parse_math()
        for text in filter(Text.get_text, ax.findobj(Text)):  # dark and large enough
            assert text.get_fontsize() >= 9
            *rgb, opacity = plt.matplotlib.colors.to_rgba(text.get_color())
            assert max(rgb) < 0.4 and opacity == 1


def test_all_text_lies_inside_the_figure_and_outside_the_data() -> None:
    labels = [f"label number {i}, with a rather long name" for i in range(30)] * 2
    positions = np.random.default_rng(0).normal(size=(60, 2))
    names = {label: [0, 1] for label in labels}
    pictures = [
        pl.embedding(positions, labels, title="title"),
        pl.maps({"a": positions, "b": positions}, labels, ncols=1)[0],
        draw_curves(curves_of(names, names), "x", "y"),
    ]
    for ax in pictures:
        figure = ax.figure
        figure.canvas.draw()
        width, height = figure.canvas.get_width_height()
        for text in figure.findobj(Text):
            if text.get_text() and text.get_visible() and text.axes is not None:
                box = text.get_window_extent()
                inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
                assert inside, (ax, text)
        legend, data = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert legend.x0 >= data.x1 - 1 or legend.y0 >= data.y1 - 1


def test_a_label_has_one_colour_in_all_pictures() -> None:
    labels = ["c", "a", "b", None] * 3
    colors = [color for name, color in pl.palette(labels).items()]
    pictures = draw_everything(labels)
    for ax in (pictures[0], pictures[2]):
        legend = ax.get_legend()
        assert [text.get_text() for text in legend.get_texts()][:4] == ["a", "b", "c", "missing"]
        assert [line.get_color().upper() for line in legend.get_lines()][:4] == colors


def test_anything_but_axes_is_refused() -> None:
    with pytest.raises(TypeError, match=r"ax must be a matplotlib Axes.*got Figure"):
        pl.embedding(np.eye(4)[:, :2], ["a", "a", "b", "b"], ax=Figure())
    assert not plt.get_fignums()


# Texts that the usual font cannot write

CHINESE = "細胞"


@pytest.fixture(autouse=True)
def _as_in_a_new_process() -> Iterator[None]:
    known = list(font_manager.fontManager.ttflist)
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
    assert caplog.text == ""
    legend = {text.get_text(): text for text in ax.get_legend().get_texts()}
    assert font in legend[f"{CHINESE} 1"].get_fontfamily()
    assert font not in legend["T cell"].get_fontfamily()
    assert font in ax._left_title.get_fontfamily()


@pytest.mark.usefixtures("_without_chinese")
def test_without_any_such_font_matplotlib_says_so() -> None:
    with pytest.warns(UserWarning, match="missing from font"):
        draw(CHINESE)


def test_the_usual_font_writes_what_it_can() -> None:
    for text in ("β-cell", "naïve", "−1", "Ж", ""):
        assert figures.text_properties(text) == {"text": text}
