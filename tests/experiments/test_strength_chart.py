"""Measures over the strength of the conditioning."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from strength_chart import draw_measure

from ctsne.pl.palette import METHOD_COLORS

BETA = np.array([1.0, 1e-4, 1e-2])


def drawn(strength: Any, values: Any, **options: Any) -> plt.Axes:
    ax = plt.figure().subplots()
    draw_measure(strength, values, ax, **{"xlabel": "x", "ylabel": "y", **options})
    return ax


def lines_of(ax: plt.Axes) -> list[tuple[list[float], list[float]]]:
    return [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in ax.lines]


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def test_a_line_for_each_name_in_order_of_strength() -> None:
    ax = drawn({"t-SNE": [1.0], "p": BETA, "unused": [5.0]}, {"p": [0, 2, 1], "t-SNE": [[3]]})
    assert lines_of(ax) == [([1e-4, 1e-2, 1.0], [2, 1, 0]), ([1.0], [3])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["p", "t-SNE"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("x", "y", "log")
    assert not ax.collections


def test_several_seeds_are_a_mean_and_a_band() -> None:
    seeds = [[0.0, 0.4, np.nan], [0.1, 0.8, np.nan], [0.2, np.nan, np.nan]]
    ax = drawn({"joint": [0, 0.5, 1]}, {"joint": seeds})
    ((_, mean),) = lines_of(ax)
    np.testing.assert_allclose(mean, [0.1, 0.6, np.nan])
    (band,) = ax.collections
    corners = {tuple(corner) for path in band.get_paths() for corner in path.vertices.round(6)}
    assert corners == {(0, 0), (0, 0.2), (0.5, 0.4), (0.5, 0.8)}
    bar = drawn({"t-SNE": [1.0]}, {"t-SNE": [[0.1], [0.3]]}).collections[-1].get_segments()[0]
    np.testing.assert_allclose(bar, [[1, 0.1], [1, 0.3]])


@pytest.mark.parametrize(
    ("strength", "scale"),
    [
        ([1, 1e-1, 1e-3], "log"),
        ([1, 1e-30], "log"),
        ([1, 1e-2], "linear"),
        ([1, 0.5, 0], "linear"),
        ([10, 1e-3], "linear"),
        ([0.5], "linear"),
    ],
)
def test_betas_have_a_logarithmic_axis_from_one_downwards(
    strength: list[float], scale: str
) -> None:
    ax = drawn({"a": strength}, {"a": np.zeros(len(strength))})
    assert ax.get_xscale() == scale and ax.xaxis_inverted() == (scale == "log")
    if scale == "log":
        left, right = ax.get_xlim()
        assert left > 1 > min(strength) > right
        ticks = ax.get_xticks()
        assert ticks[0] == 1 and min(ticks) >= right and 3 <= len(ticks) <= 8


def test_random_labels_are_a_dotted_line() -> None:
    ax = drawn({"a": [0, 1]}, {"a": [0, 1]}, expected=0.48)
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1 and set(dotted[0].get_ydata()) == {0.48}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "random labels"]


def test_methods_have_their_colours() -> None:
    named = {"revised p": [0, 1], "revised r": [1, 0], "t-SNE": [1, 1]}
    one, other, tsne = drawn({name: [0, 1] for name in named}, named).lines
    assert one.get_color() == other.get_color() == METHOD_COLORS["revised"]
    assert one.get_linestyle() != other.get_linestyle()
    assert one.get_marker() != other.get_marker()
    assert tsne.get_color() == METHOD_COLORS["tsne"]
