"""Sizes for print, texts on lines, and panels beside their legends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from ctsne import pl
from ctsne.pl.figures import shown_text

MM = 1 / 25.4
RNG = np.random.default_rng(0)
POSITIONS = RNG.normal(size=(300, 2))
LABELS = np.array([f"cell type {i:02d}" for i in range(30)])[np.arange(300) % 30]
BATCH = np.array(["a", "b"])[np.arange(300) % 2]

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
    "measures": lambda **width: pl.measures([0, 1], {"joint": [0, 1]}, ylabel="mixing", **width),
    "trade_off": lambda **width: pl.trade_off({"joint": [0, 1]}, {"joint": [1, 0]}, **width),
    "label_mixing": lambda **width: pl.label_mixing(POSITIONS, BATCH, **width),
    "other_share": lambda **width: pl.other_share(np.linspace(0, 1, 300), BATCH, **width),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize(
    ("width", "inches"), [("single", 89 * MM), ("double", 183 * MM), (120, 120 * MM)]
)
def test_a_figure_has_the_width_of_a_column(name: str, width: Any, inches: float) -> None:
    figure = PICTURES[name](width=width).figure
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == pytest.approx(inches)
    box, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 > -0.02 and box.y0 > -0.02 and box.x1 < wide + 0.02 and box.y1 < high + 0.02
    for text in figure.findobj(Text):
        assert 6 <= text.get_fontsize() <= 8 or not text.get_text(), text


def test_panels_do_not_overlap_their_legends() -> None:
    for width in (None, "single", "double"):
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
    with pytest.raises(ValueError, match="leave out ax and title"):
        pl.embedding(POSITIONS, {"batch": BATCH, "type": LABELS}, title="both")


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
        pl.measures([0, 1], {"joint": [0, 1]}, width="single", ax=ax)


@pytest.mark.parametrize(
    "name", ["CD31(-)CD45(+)CD200(high)Sca-1(+)", "Lin(-)Sca-1(+)c-Kit(+)", "HLA-DR(hi)"]
)
def test_no_line_breaks_inside_a_marker_name(name: str) -> None:
    assert shown_text(name) == name
    lines = shown_text(f"endothelial cells {name}").split("\n")
    assert " ".join(lines) == f"endothelial cells {name}" or "…" in "".join(lines)
    assert all(line.count("(") == line.count(")") or "…" in line for line in lines)
