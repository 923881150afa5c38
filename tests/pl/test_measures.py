"""Charts of measures: over the strength, against each other, and of a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from ctsne import ConditionalTSNE, pl
from ctsne.datasets import make_synthetic
from ctsne.pl.palette import METHOD_COLORS
from ctsne.sweep import SweepResult, sweep

from .conftest import legend_of

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
    assert legend_of(ax) == ["p", "r"]
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
    assert legend_of(ax) == ["a", "random labels"]


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


# One measure against another

X = {"revised": [0.0, 0.2, 0.4], "_$joint$": [0.1, 0.5], "original": [0.0]}
Y = {"revised": [0.6, 0.5, 0.4], "original": [0.6], "_$joint$": [0.6, 0.4]}


def test_a_line_with_growing_markers_for_each_name() -> None:
    ax = pl.trade_off(X, Y, xlabel="Laplacian", ylabel="kept")
    for line, points, name in zip(ax.lines, ax.collections, X, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([X[name], Y[name]]))
        np.testing.assert_array_equal(points.get_offsets(), line.get_xydata())
        sizes = points.get_sizes()
        assert len(sizes) == len(X[name]) and (np.diff(sizes) > 0).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Laplacian", "kept")
    assert legend_of(ax) == list(X)


def test_colours_and_markers_are_those_of_the_measures() -> None:
    ax = pl.trade_off(X, Y)
    other = pl.measures({name: X[name] for name in reversed(X)}, Y)
    color = {name: to_hex(line.get_color()) for name, line in zip(X, ax.lines, strict=True)}
    assert color == {
        name: to_hex(line.get_color()) for name, line in zip(Y, other.lines, strict=True)
    }
    signs = {
        text.get_text(): line.get_marker()
        for text, line in zip(ax.get_legend().get_texts(), ax.get_legend().get_lines(), strict=True)
    }
    assert signs == {name: line.get_marker() for name, line in zip(Y, other.lines, strict=True)}
    assert len(set(color.values())) == len(set(signs.values())) == 3


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ({}, {}, TypeError, "x must be a mapping"),
        ({"a": [1]}, [1], TypeError, "y must be a mapping"),
        ({"a": [1]}, {"b": [1]}, ValueError, "same names, but only one has 'a'"),
        ({"a": [1, 2]}, {"a": [1]}, ValueError, r"'a', got shapes \(2,\) and \(1,\)"),
        ({"a": [[1]]}, {"a": [[1]]}, ValueError, "one value per setting"),
    ],
)
def test_bad_trade_offs_are_refused(
    x: object, y: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.trade_off(x, y)
    assert not plt.get_fignums()


# Sweeps


def run(grid: Any) -> SweepResult:
    data = make_synthetic(90, random_state=0)
    return sweep(
        data.X,
        data.known,
        grid,
        other=data.hidden,
        estimator=ConditionalTSNE(perplexity=5, n_iter=30, random_state=0),
        progress=False,
    )


@pytest.fixture(scope="module")
def result() -> SweepResult:
    return run(
        [
            {"method": "tsne"},
            # In no order, and from two starts.
            {"method": "joint", "strength": [1, 0, 0.5], "random_state": [0, 1], "init": "random"},
            {"method": "balanced", "strength": [0, 1]},
            {"method": "revised", "beta": [1e-6, 1]},
        ]
    )


def measured(result: SweepResult, name: str, **parameters: Any) -> list[float]:
    return [swept.measures[name] for swept in result.find(**parameters)]


def test_maps_draws_all_that_are_finished(result: SweepResult) -> None:
    labels = make_synthetic(90, random_state=0).known
    axes = pl.maps(result, labels)
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in axes]
    assert titles[0] == "t-SNE" and titles[-1] == "revised, beta 1" and len(axes) == 11
    order = np.random.default_rng(0).permutation(90)
    embedding = result.maps[-1].embedding
    assert embedding is not None
    assert_array_equal(axes[-1].collections[0].get_offsets(), embedding[order])


def test_maps_with_one_title_are_all_drawn() -> None:
    starts = [1e-4 * np.random.default_rng(seed).normal(size=(90, 2)) for seed in (0, 1)]
    axes = pl.maps(run({"init": starts}))
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in axes]
    assert titles == ["init array of shape (90, 2)", "init array of shape (90, 2) (2)"]


def test_measures_over_one_parameter(result: SweepResult) -> None:
    ax = pl.measures(result, over="strength")
    assert legend_of(ax) == ["joint, init random", "balanced", "random labels"]
    assert ax.get_xlabel() == "strength" and ax.get_ylabel() == "mixing of the label"
    random, joint, balanced = ax.lines
    assert random.get_ydata()[0] == 1
    assert joint.get_xdata().tolist() == [0, 0.5, 1]
    means = [np.mean(measured(result, "mixing", strength=s, method="joint")) for s in (0, 0.5, 1)]
    assert_allclose(joint.get_ydata(), means)
    assert len(ax.collections) == 1  # the band of both seeds
    assert_allclose(
        balanced.get_ydata(),
        [measured(result, "mixing", strength=s, method="balanced")[0] for s in (0, 1)],
    )


def test_other_measures_and_words(result: SweepResult) -> None:
    ax = pl.measures(result, "adjusted_rnx", over="beta")
    assert legend_of(ax) == ["revised"] and len(ax.lines) == 1
    assert ax.get_xlabel() == "beta" and ax.get_xscale() == "log"
    assert ax.get_ylabel() == "neighbours kept"
    ax = pl.measures(result, "perplexity_mean", over="beta", expected=5, xlabel="x", ylabel="y")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert ax.lines[0].get_ydata()[0] == 5


def test_one_parameter_needs_no_choice() -> None:
    ax = pl.measures(run({"method": "original", "beta": [1, 0.1]}))
    assert ax.get_xlabel() == "beta" and legend_of(ax)[0] == "original"


def test_trade_off_is_one_line_a_method(result: SweepResult) -> None:
    ax = pl.trade_off(result)
    lines = ["t-SNE", "joint, init random", "balanced", "revised"]
    assert legend_of(ax) == [*lines, "numbers: strength, beta"]
    assert ax.get_xlabel() == "mixing of the label" and ax.get_ylabel() == "neighbours kept"
    revised = ax.lines[-1]
    for values, name in ((revised.get_xdata(), "mixing"), (revised.get_ydata(), "adjusted_rnx")):
        # The weakest first, though the grid names it last.
        expected = [measured(result, name, beta=b, method="revised")[0] for b in (1, 1e-6)]
        assert_allclose(values, expected)
    joint = ax.lines[1].get_xdata()
    weakest = measured(result, "mixing", strength=0, method="joint")
    assert len(weakest) == 2 and joint[0] == pytest.approx(np.mean(weakest))
    # A single map has the marker of a strongest setting.
    sizes = [dots.get_sizes() for dots in ax.collections]
    assert sizes[0].max() > sizes[3].min()
    other = pl.trade_off(result, "other_laplacian", xlabel="x")
    assert other.get_ylabel() == "Laplacian score of the other label"
    assert other.get_xlabel() == "x"


def test_a_measure_that_some_lines_lack_leaves_a_gap(result: SweepResult) -> None:
    ax = pl.trade_off(result, "other_share_mean")
    assert np.isnan(ax.lines[0].get_ydata()).all()  # t-SNE knows of no labels
    assert np.isfinite(ax.lines[1].get_ydata()).all()


def test_strengths_per_label_have_a_trade_off_but_no_axis() -> None:
    labels = np.unique(make_synthetic(90, random_state=0).known)
    weak, strong = (dict.fromkeys(labels.tolist(), beta) for beta in (1.0, 1e-8))
    strong[labels.tolist()[0]] = 1e-3
    result = run({"method": "revised", "beta": [weak, strong]})
    assert len(pl.trade_off(result).lines[0].get_xdata()) == 2
    plt.close("all")
    with pytest.raises(ValueError, match=r"has one beta per label.*pl\.trade_off"):
        pl.measures(result)
    assert not plt.get_fignums()


def test_refuses(result: SweepResult) -> None:
    for match, draw in {
        "vary strength and beta, which .*over='strength' or over='beta'": lambda: pl.measures(
            result
        ),
        "no line of the sweep varies 'bta'": lambda: pl.measures(result, over="bta"),
        "no measure 'mixng' in the sweep; did you mean 'mixing'": lambda: pl.measures(
            result, "mixng"
        ),
        "no measure 'rx' in the sweep": lambda: pl.trade_off(result, "rx"),
        "nothing to draw over": lambda: pl.measures(run({"method": "tsne"})),
    }.items():
        with pytest.raises(ValueError, match=match):
            draw()
    with pytest.raises(TypeError, match="values must be a mapping"):
        pl.measures([0, 1], "mixing")
    assert not plt.get_fignums()


def of_columns(result: SweepResult) -> SweepResult:
    """Return a sweep whose mixing is known for two columns, one after the other the least."""
    maps = []
    for place, swept in enumerate(result.maps):
        mixed = swept.measures["mixing"]
        by_column = {"mixing (a)": mixed, "mixing (b)": mixed + 0.1 * (-1) ** place}
        maps.append(replace(swept, measures={**swept.measures, **by_column}))
    return replace(result, maps=tuple(maps))


def test_the_trade_off_of_several_columns() -> None:
    swept = of_columns(run({"method": "joint", "strength": [0, 0.5, 1]}))
    a, b = (np.array(measured(swept, f"mixing ({name})")) for name in "ab")
    for column, wanted, title in (
        (None, np.minimum(a, b), "mixing of the least mixed column"),
        ("a", a, "mixing of a"),
        ("b", b, "mixing of b"),
    ):
        ax = pl.trade_off(swept, column=column)
        assert ax.get_xlabel() == title
        assert_allclose(ax.lines[0].get_xdata(), wanted)
    with pytest.raises(ValueError, match="column: no label column 'c' in the sweep"):
        pl.trade_off(swept, column="c")
    with pytest.raises(ValueError, match="no label column 'a'"):
        pl.trade_off(run({"method": "joint", "strength": [0]}), column="a")


def test_the_measure_of_one_column() -> None:
    swept = of_columns(run({"method": "joint", "strength": [0, 1]}))
    ax = pl.measures(swept, "mixing (a)")
    assert ax.get_ylabel() == "mixing of a" and "random labels" in legend_of(ax)


def test_methods_have_their_colours_in_every_chart(result: SweepResult) -> None:
    expected = ["tsne", "joint", "balanced", "revised"]
    for drawn in (pl.trade_off(result), pl.trade_off(result, "other_mixing")):
        colors = [line.get_color() for line in drawn.lines]
        assert colors == [METHOD_COLORS[method] for method in expected]
    _, joint, balanced = pl.measures(result, over="strength").lines
    assert joint.get_color() == METHOD_COLORS["joint"]
    assert balanced.get_color() == METHOD_COLORS["balanced"]
    named = pl.measures([0, 1], {"revised p": [0, 1], "revised r": [1, 0], "t-SNE": [1, 1]})
    one, other, tsne = named.lines
    assert one.get_color() == other.get_color() == METHOD_COLORS["revised"]
    assert one.get_linestyle() != other.get_linestyle()
    assert one.get_marker() != other.get_marker()
    assert tsne.get_color() == METHOD_COLORS["tsne"]
