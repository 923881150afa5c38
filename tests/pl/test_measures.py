"""Measures over the strength: lines, bands and the axis."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from ctsne import pl

BETA = np.array([1.0, 1e-4, 1e-2])


def lines_of(ax: plt.Axes) -> list[tuple[list[float], list[float]]]:
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for line in ax.lines
    ]


def test_a_line_for_each_name_in_order_of_strength() -> None:
    ax = pl.measures(BETA, {"p": [0.0, 0.4, 0.2], "r": [0.1, 0.5, 0.3]}, ylabel="Laplacian")
    assert lines_of(ax) == [
        ([1e-4, 1e-2, 1.0], [0.4, 0.2, 0.0]),
        ([1e-4, 1e-2, 1.0], [0.5, 0.3, 0.1]),
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["p", "r"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("beta", "Laplacian")
    assert not ax.collections


def test_several_seeds_are_a_mean_and_a_band() -> None:
    seeds = [[0.0, 0.4, np.nan], [0.1, 0.8, np.nan], [0.2, np.nan, np.nan]]
    ax = pl.measures([0, 0.5, 1], {"joint": seeds}, xlabel="strength")
    ((_, mean),) = lines_of(ax)
    np.testing.assert_allclose(mean, [0.1, 0.6, np.nan])
    (band,) = ax.collections
    corners = {tuple(corner) for path in band.get_paths() for corner in path.vertices.round(6)}
    assert corners == {(0, 0), (0, 0.2), (0.5, 0.4), (0.5, 0.8)}


def test_one_setting_with_several_seeds_has_a_bar() -> None:
    ax = pl.measures({"t-SNE": [1.0]}, {"t-SNE": [[0.1], [0.3]]})
    bar = ax.collections[-1].get_segments()[0]
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
    ax = pl.measures(strength, {"a": np.zeros(len(strength))})
    assert ax.get_xscale() == scale and ax.xaxis_inverted() == (scale == "log")
    if scale == "log":
        left, right = ax.get_xlim()
        assert left > 1 > min(strength) > right
        ticks = ax.get_xticks()
        assert ticks[0] == 1 and min(ticks) >= right and 3 <= len(ticks) <= 8


def test_each_name_may_have_strengths_of_its_own() -> None:
    ax = pl.measures({"t-SNE": [1.0], "p": BETA, "unused": [5.0]}, {"p": [0, 2, 1], "t-SNE": [[3]]})
    assert lines_of(ax) == [([1e-4, 1e-2, 1.0], [2, 1, 0]), ([1.0], [3])]
    assert ax.get_xscale() == "log"


def test_random_labels_are_a_dotted_line() -> None:
    ax = pl.measures([0, 1], {"a": [0, 1]}, expected=0.48)
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1 and set(dotted[0].get_ydata()) == {0.48}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "random labels"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": {}}, TypeError, "values must be a mapping"),
        ({"values": [1, 2, 3]}, TypeError, "values must be a mapping.*got list"),
        ({"values": {"a": [1, 2]}}, ValueError, r"values\['a'\] must have the shape \(3,\)"),
        ({"values": {"a": np.zeros((3, 2))}}, ValueError, r"got \(3, 2\)"),
        ({"values": {"a": np.zeros((0, 3))}}, ValueError, r"got \(0, 3\)"),
        ({"values": {"a": ["x", "y", "z"]}}, TypeError, r"values\['a'\] must hold numbers"),
        ({"strength": [1, 2, np.nan]}, ValueError, "strength contains 1 NaN"),
        ({"strength": {"b": [1, 2, 3]}}, ValueError, "lacks 'a'"),
        ({"strength": {"a": [[1, 2, 3]]}}, ValueError, r"strength\['a'\] must be a list"),
        ({"expected": "high"}, TypeError, "expected must be a number"),
    ],
)
def test_bad_input_is_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.measures(**{"strength": [1, 2, 3], "values": {"a": [1, 2, 3]}, **arguments})
    assert not plt.get_fignums()
