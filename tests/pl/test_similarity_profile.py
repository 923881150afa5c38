"""The neighbours of one point by distance, similarity and label."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ctsne import pl

DISTANCES = [1.0, 1.5, 2.0, 3.0, 5.0]
SIMILARITIES = [0.4, 0.3, 0.2, 0.1, 0.0]
LABELS = ["a", "a", "b", None, "b"]


def test_each_neighbour_is_a_dot_in_the_colour_of_its_label() -> None:
    ax = pl.similarity_profile(DISTANCES, SIMILARITIES, LABELS, title="one point")
    colors = pl.palette(LABELS)
    dots = ax.collections[-1]
    drawn = {
        (float(x), float(y), to_hex(color).upper())
        for (x, y), color in zip(dots.get_offsets(), dots.get_facecolors(), strict=True)
    }
    assert drawn == {
        (x, y, colors[label]) for x, y, label in zip(DISTANCES, SIMILARITIES, LABELS, strict=True)
    }
    assert ax.get_ylim()[0] == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "missing"]
    assert ax.get_title(loc="left") == "one point"


def test_a_histogram_above_shows_where_each_label_lies() -> None:
    ax = pl.similarity_profile(DISTANCES, SIMILARITIES, LABELS, title="one point")
    (strip,) = ax.child_axes
    counts = [sum(bar.get_height() for bar in group) for group in strip.containers]
    assert counts == [2, 2, 1]
    ax.figure.canvas.draw()
    box, title = strip.get_window_extent(), ax._left_title.get_window_extent()
    assert box.y0 == pytest.approx(ax.get_window_extent().y1) and title.y0 >= box.y1
    assert strip.get_xlim() == ax.get_xlim()


def test_without_similarities_the_points_are_counted() -> None:
    ax = pl.similarity_profile(DISTANCES, None, LABELS, cut=2.5)
    assert ax.get_ylabel() == "points" and not ax.child_axes
    edges = np.histogram_bin_edges(DISTANCES, 40)
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    for outline, label in zip(outlines, ["a", "b", None], strict=True):
        far = [x for x, other in zip(DISTANCES, LABELS, strict=True) if other == label]
        counts, _ = np.histogram(far, edges)
        corners = outline.get_xy()
        assert corners[:, 1].max() == counts.max()
        assert {edges[i] for i in np.flatnonzero(counts)} <= set(corners[:, 0])
    (cut,) = ax.lines
    assert set(cut.get_xdata()) == {2.5} and cut.get_linestyle() == "--"
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["a", "b", "missing", "no weight beyond"]


def test_many_labels_are_stacked() -> None:
    far = np.random.default_rng(0).gamma(4.0, size=900)
    ax = pl.similarity_profile(far, None, np.arange(900) % 9)
    top = np.max([bar.get_y() + bar.get_height() for bar in ax.patches])
    assert top == np.histogram(far, 40)[0].max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distances": [1.0, -1.0]}, "distances must not be negative, got -1"),
        ({"distances": [1.0, np.nan]}, "distances contains 1 NaN"),
        ({"distances": []}, "distances must be a list with one entry per neighbour"),
        ({"distances": np.ones((2, 2))}, "distances must be a list.*shape"),
        ({"similarities": [0.1]}, "similarities must have one entry for each of the 2"),
        ({"labels": ["a"]}, "labels must have one entry for each of the 2"),
        ({"cut": -1}, "cut must be a number of at least 0"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    good = {"distances": [1.0, 2.0], "similarities": [0.5, 0.5], "labels": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        pl.similarity_profile(**{**good, **arguments})
    assert not plt.get_fignums()
