"""One small map per value of a column."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ctsne import pl

from .conftest import legend_of

POSITIONS = np.random.default_rng(0).normal(size=(60, 2))
BATCH = np.repeat(["a", "b", "c"], [30, 20, 10])


def test_a_panel_per_value_with_all_others_grey() -> None:
    colors = pl.palette(BATCH)
    axes = pl.split(POSITIONS, BATCH)
    assert [ax.get_title(loc="left") for ax in axes] == ["a (30)", "b (20)", "c (10)"]
    for ax, name in zip(axes, "abc", strict=True):
        mine = np.equal(BATCH, name)
        below, own = ax.collections
        assert len(below.get_offsets()) == 60 and len({*map(tuple, below.get_facecolors())}) == 1
        assert {*map(tuple, own.get_offsets())} == {*map(tuple, POSITIONS[mine])}
        expected = [to_rgb(colors[name])] * mine.sum()
        np.testing.assert_allclose(own.get_facecolors()[:, :3], expected)
        assert ax.get_legend() is None
    limits = [(*ax.get_xlim(), *ax.get_ylim()) for ax in axes]
    np.testing.assert_allclose(limits, limits[:1] * 3)  # places can be compared
    assert len({float(ax.collections[1].get_sizes()[0]) for ax in axes}) == 1


@pytest.mark.parametrize("width", [None, "single"])
def test_another_column_has_one_legend(width: str | None) -> None:
    kind = np.array(["u", "v"])[np.arange(60) % 2]
    axes = pl.split(POSITIONS, BATCH, {"type": kind}, width=width)
    (legend,) = [legend_of(ax) for ax in axes if ax.get_legend() is not None]
    assert legend == ["type", "u", "v"]
    axes = pl.split(POSITIONS, BATCH, POSITIONS[:, 0])
    assert [len(ax.child_axes) for ax in axes] == [0, 0, 1]


def test_only_the_largest_values_are_drawn_and_the_rest_is_said() -> None:
    many = np.array([f"v{i:02}" for i in range(30)] * 2, object)
    many[:10] = "large"
    axes = pl.split(POSITIONS, many)
    assert len(axes) == 20 and axes[0].get_title(loc="left") == "large (10)"
    (text,) = [text.get_text() for ax in axes for text in ax.texts]
    assert text == "11 more values not shown"
    column = np.where(np.arange(60) < 3, None, BATCH)
    axes = pl.split(POSITIONS, column, most=1, ncols=1)
    (text,) = [text.get_text() for text in axes[0].texts]
    assert text == "2 more values not shown; 3 points have no value"


def test_columns_of_an_anndata_object() -> None:
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((60, 0), np.float32))
    adata.obs["batch"], adata.obsm["X_ctsne"] = BATCH, POSITIONS
    assert len(pl.split(adata, "batch")) == 3
    with pytest.raises(ValueError, match="did you mean 'batch'"):
        pl.split(adata, "bacth")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": ["a"]}, "by must have one entry"),
        ({"by": [None] * 60}, "by must have at least one value"),
        ({"most": 0}, "most must be a whole number of at least 1"),
        ({"ncols": 0}, "ncols must be"),
        ({"color": ["a"]}, "color must have one entry"),
    ],
)
def test_what_cannot_be_split(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pl.split(**{"positions": POSITIONS, "by": BATCH, **arguments})
    assert not plt.get_fignums()
