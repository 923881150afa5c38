"""The package as a whole: its names, its texts, and that matplotlib is loaded only to draw."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from ctsne import pl

ODD = ["_hidden", "$x_1$", "$_$", "50% & more", "a\nb", ""]


def test_it_exports_the_public_functions() -> None:
    assert sorted(pl.__all__) == pl.__all__
    assert all(callable(getattr(pl, name)) for name in pl.__all__)


def test_matplotlib_is_imported_only_to_draw_and_pyplot_only_for_a_new_figure() -> None:
    program = """
import sys
import ctsne, ctsne.pl
ctsne.pl.palette(["a", "b"])
assert "matplotlib" not in sys.modules
from matplotlib.figure import Figure
ax = Figure().subplots()
assert ctsne.pl.embedding([[0, 0], [1, 1]], ["a", "b"], ax=ax) is ax
ctsne.pl.measures([0, 1], {"a": [0, 1]}, ax=ax)
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
        pl.measures(np.linspace(0, 1, 3), names),
        pl.trade_off(names, names),
        pl.label_mixing(positions, labels, k=2),
        pl.other_share(np.linspace(0, 1, n), labels, by=labels),
    ]


def test_label_text_is_shown_as_it_is() -> None:
    for ax in draw_everything(ODD * 2):
        # What matplotlib takes for mathematics and cannot read would fail here.
        ax.figure.canvas.draw()
        texts = {text.get_text().split("  (")[0]: text for text in ax.figure.findobj(Text)}
        assert {"_hidden", "a b", "(empty)"} <= set(texts)
        for label in ("$x_1$", "$_$"):
            assert not texts[label].get_parse_math()


def test_all_text_lies_inside_the_figure_and_outside_the_data() -> None:
    labels = [f"label number {i}, with a rather long name" for i in range(30)] * 2
    positions = np.random.default_rng(0).normal(size=(60, 2))
    pictures = [
        pl.embedding(positions, labels, title="title"),
        pl.maps({"a": positions, "b": positions}, labels, ncols=1)[0],
        pl.other_share(np.linspace(0, 1, 60), labels, by=labels),
        pl.label_mixing(positions, labels, k=5),
        pl.measures([0, 1], {label: [0, 1] for label in labels[:30]}, ylabel="y"),
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
    for ax in (pictures[0], pictures[2], pictures[6]):
        legend = ax.get_legend()
        assert [text.get_text() for text in legend.get_texts()][:4] == ["a", "b", "c", "missing"]
        assert [line.get_color().upper() for line in legend.get_lines()][:4] == colors


def test_text_is_dark_and_large_enough() -> None:
    for ax in draw_everything(["a", "b", "c"] * 2):
        ax.figure.canvas.draw()
        for text in ax.findobj(Text):
            if text.get_text():
                assert text.get_fontsize() >= 9
                red, green, blue, opacity = plt.matplotlib.colors.to_rgba(text.get_color())
                assert max(red, green, blue) < 0.4 and opacity == 1


@pytest.mark.parametrize("name", ["embedding", "label_mixing", "other_share"])
def test_anything_but_axes_is_refused(name: str) -> None:
    values = [0.0, 0.5, 1.0, 0.2] if name == "other_share" else np.eye(4)[:, :2]
    options = {"k": 1} if name == "label_mixing" else {}
    with pytest.raises(TypeError, match=r"ax must be a matplotlib Axes.*got Figure"):
        getattr(pl, name)(values, ["a", "a", "b", "b"], ax=Figure(), **options)
    assert not plt.get_fignums()
