"""What mixing costs in a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal

from ctsne import ConditionalTSNE, pl
from ctsne.datasets import make_synthetic
from ctsne.pl.palette import METHOD_COLORS
from ctsne.pl.trade_off import draw_curves
from ctsne.sweep import SweepResult, sweep

from .conftest import curves_of, legend_of

X = {"revised": [0.0, 0.2, 0.4], "_$joint$": [0.1, 0.5], "original": [0.0]}
Y = {"revised": [0.6, 0.5, 0.4], "original": [0.6], "_$joint$": [0.6, 0.4]}


def test_a_line_with_growing_markers_for_each_name() -> None:
    ax = draw_curves(curves_of(X, Y), "Laplacian", "kept")
    for line, points, name in zip(ax.lines, ax.collections, X, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([X[name], Y[name]]))
        np.testing.assert_array_equal(points.get_offsets(), line.get_xydata())
        sizes = points.get_sizes()
        assert len(sizes) == len(X[name]) and (np.diff(sizes) > 0).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Laplacian", "kept")
    assert legend_of(ax) == list(X)


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


def test_trade_off_is_one_line_a_method(result: SweepResult) -> None:
    ax = pl.trade_off(result)
    lines = ["t-SNE", "joint, init random", "balanced", "revised"]
    assert legend_of(ax) == [*lines, "numbers: strength, beta"]
    assert ax.get_xlabel() == "mixing of the label" and ax.get_ylabel() == "neighbours kept"
    assert {"0.5", "1e-6"} <= {text.get_text() for text in ax.findobj(Text)}
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
    other = pl.trade_off(result, "other_laplacian")
    assert other.get_ylabel() == "Laplacian score of the other label"


def test_a_measure_that_some_lines_lack_leaves_a_gap(result: SweepResult) -> None:
    ax = pl.trade_off(result, "other_share_mean")
    assert np.isnan(ax.lines[0].get_ydata()).all()  # t-SNE knows of no labels
    assert np.isfinite(ax.lines[1].get_ydata()).all()


def test_strengths_per_label_have_a_trade_off() -> None:
    labels = np.unique(make_synthetic(90, random_state=0).known)
    weak, strong = (dict.fromkeys(labels.tolist(), beta) for beta in (1.0, 1e-8))
    strong[labels.tolist()[0]] = 1e-3
    result = run({"method": "revised", "beta": [weak, strong]})
    assert len(pl.trade_off(result).lines[0].get_xdata()) == 2


def test_unknown_measures_are_refused(result: SweepResult) -> None:
    for name, message in (
        ("mixng", "no measure 'mixng' in the sweep; did you mean 'mixing'"),
        ("rx", "no measure 'rx' in the sweep"),
    ):
        with pytest.raises(ValueError, match=message):
            pl.trade_off(result, name)
    with pytest.raises(TypeError, match="result must be a SweepResult"):
        pl.trade_off(X)
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


def test_methods_have_their_colours_in_every_chart(result: SweepResult) -> None:
    expected = ["tsne", "joint", "balanced", "revised"]
    for drawn in (pl.trade_off(result), pl.trade_off(result, "other_mixing")):
        colors = [line.get_color() for line in drawn.lines]
        assert colors == [METHOD_COLORS[method] for method in expected]
    named = {"revised": [0, 1], "revised p": [1, 0], "tsne": [1, 1]}
    one, other, tsne = draw_curves(curves_of(named, named), "x", "y").lines
    assert one.get_color() == other.get_color() == METHOD_COLORS["revised"]
    assert one.get_linestyle() != other.get_linestyle()
    assert tsne.get_color() == METHOD_COLORS["tsne"]
