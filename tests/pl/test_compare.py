"""Before and after, and the strip of a sweep: rows by label, measures below, one legend per row."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from ctsne import ConditionalTSNE, pl
from ctsne.datasets import make_synthetic
from ctsne.evaluate import data_neighbors, measure_map, mixing
from ctsne.sweep import SweepResult, sweep

from .conftest import legend_of

DATA = make_synthetic(200, random_state=0)
BEFORE, AFTER = DATA.X[:, :2], DATA.X[:, 2:4]
KNOWN, OTHER = pd.Series(DATA.known, name="batch"), pd.Series(DATA.hidden, name="type")


def notes_of(ax: Any) -> list[str]:
    return [line for text in ax.texts for line in text.get_text().split("\n")]


@pytest.fixture(scope="module")
def result() -> SweepResult:
    small = ConditionalTSNE(perplexity=15, n_iter=60, random_state=0)
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.2, 0.4, 0.6, 0.8, 1]}]
    known, other = {"batch": DATA.known}, {"type": DATA.hidden}
    return sweep(DATA.X, known, grid, other=other, estimator=small, progress=False)


@pytest.mark.parametrize("width", [None, "double", "single"])
def test_rows_are_labels_and_columns_are_maps(width: str | None) -> None:
    axes = pl.before_after(BEFORE, AFTER, KNOWN, OTHER, data=DATA.X, width=width)
    assert axes.shape == (2, 2)
    assert [ax.get_title(loc="left") for ax in axes.flat] == ["t-SNE", "batch factored out", "", ""]
    figure = axes[0, 0].figure
    figure.canvas.draw()
    for ax, positions in zip(axes.flat, (BEFORE, AFTER) * 2, strict=True):
        drawn = np.asarray(ax.collections[0].get_offsets())
        assert {*map(tuple, drawn)} == {*map(tuple, positions)}
    legends = [ax.get_legend() for ax in axes.flat if ax.get_legend() is not None]
    assert [legend.get_texts()[0].get_text() for legend in legends] == ["batch", "type"]
    boxes = [ax.get_window_extent() for ax in axes.flat]
    assert np.ptp([box.width for box in boxes]) < 0.01 and np.ptp([b.height for b in boxes]) < 0.01
    texts = [text.get_window_extent() for ax in axes[1] for text in ax.texts]
    solid = [*boxes, *(legend.get_window_extent() for legend in legends), *texts]
    for i, box in enumerate(solid):
        assert not any(box.overlaps(other) for other in solid[i + 1 :]), i
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1


def test_the_measures_under_a_map_are_those_of_evaluate() -> None:
    axes = pl.before_after(BEFORE, AFTER, KNOWN, OTHER, data=DATA.X)
    near = data_neighbors(DATA.X, DATA.known)
    for ax, positions in zip(axes[1], (BEFORE, AFTER), strict=True):
        found = measure_map(positions, near)
        assert notes_of(ax) == [
            f"mixing of batch {found['mixing']:.2f}",
            f"neighbours kept {found['adjusted_rnx']:.2f}",
        ]
    given = pl.before_after(BEFORE, AFTER, KNOWN, OTHER, data=near)
    assert [notes_of(ax) for ax in given.flat] == [notes_of(ax) for ax in axes.flat]
    (row,) = pl.before_after(BEFORE, AFTER, DATA.known)  # without data or another label
    assert notes_of(row[1]) == [f"mixing of the label {mixing(AFTER, DATA.known):.2f}"]
    assert row[1].get_title(loc="left") == "label factored out"


def test_several_labels_and_numbers_have_a_row_each() -> None:
    depth = DATA.X[:, 0].astype(np.float64)
    axes = pl.before_after(BEFORE, AFTER, {"batch": DATA.known, "depth": depth}, OTHER, data=DATA.X)
    assert axes.shape == (3, 2)
    assert axes[0, 1].get_title(loc="left") == "batch and depth factored\nout"
    assert axes[1, 1].child_axes[0].get_ylabel() == "depth"
    assert [note.rsplit(" ", 1)[0] for note in notes_of(axes[2, 0])] == [
        "mixing of batch",
        "mixing of depth",
        "neighbours kept",
    ]


def test_maps_of_an_anndata_object() -> None:
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((200, 0), np.float32))
    adata.obs["batch"] = pd.Categorical(DATA.known)
    adata.obs["type"] = DATA.hidden
    adata.uns["batch_colors"] = ["#123456", "#654321", "#abcdef", "#fedcba"][: len(set(DATA.known))]
    adata.obsm.update({"X_pca": DATA.X, "X_tsne": BEFORE, "X_ctsne": AFTER})
    axes = pl.before_after(adata, known="batch", other="type")
    plain = pl.before_after(BEFORE, AFTER, KNOWN, OTHER, data=DATA.X)
    assert [notes_of(ax) for ax in axes.flat] == [notes_of(ax) for ax in plain.flat]
    colors = [line.get_color() for line in axes[0, 1].get_legend().get_lines()[1:]]
    assert colors == list(adata.uns["batch_colors"])
    with pytest.raises(TypeError, match="holds both maps"):
        pl.before_after(adata, AFTER, "batch")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"after": None}, TypeError, "needs both maps and known"),
        ({"known": None}, TypeError, "needs both maps and known"),
        ({"after": AFTER[:9]}, ValueError, "before has 200 points, but after has 9"),
        ({"known": ["a"]}, ValueError, "known must have one entry"),
        ({"other": ["a"]}, ValueError, "other must have one entry"),
        ({"legend_loc": "left"}, ValueError, "legend_loc must be one of"),
    ],
)
def test_what_cannot_be_compared(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    usual = {"before": BEFORE, "after": AFTER, "known": KNOWN}
    with pytest.raises(error, match=message):
        pl.before_after(**{**usual, **arguments})
    assert not plt.get_fignums()


def test_a_strip_shows_tsne_weak_suggested_and_strong(result: SweepResult) -> None:
    for target in (0.0, 0.5, 0.8, 1.0):
        axes = pl.strip(result, mixing=target)
        assert axes.shape == (2, 4)
        titles = [ax.get_title(loc="left") for ax in axes[0]]
        best = result.best(target)
        assert titles[0] == "t-SNE" and best.title in titles
        assert titles[1] == "joint, strength 0.2" and titles[-1] == "joint, strength 1"
        marked = [notes_of(ax)[-1] == "suggested" for ax in axes[1]]
        assert marked == [title == best.title for title in titles]
        dark = [ax.spines["left"].get_linewidth() > 1 for ax in axes[0]]
        assert dark == marked
        found = best.measures
        assert notes_of(axes[1, marked.index(True)])[:2] == [
            f"mixing of batch {found['mixing']:.2f}",
            f"neighbours kept {found['adjusted_rnx']:.2f}",
        ]
    assert [legend_of(ax)[0] for ax in axes[:, -1]] == ["batch", "type"]
    with pytest.raises(TypeError, match="result must be"):
        pl.strip({})
