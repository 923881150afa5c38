"""Pictures of AnnData objects are those of their arrays."""

from __future__ import annotations

from typing import Any

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from ctsne import pl

COLORS = ["#1f77b4", "#ff7f0e", "#2ca02c"]


@pytest.fixture
def adata() -> Any:
    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {
            "batch": pd.Categorical(rng.choice(["x", "y"], 40)),
            # One category that no cell has, as after taking a part of the cells.
            "kind": pd.Categorical(rng.choice(["a", "b"], 40), categories=["b", "gone", "a"]),
            "ctsne_other_share": rng.uniform(size=40).astype(np.float32),
        },
        index=[f"cell{i}" for i in range(40)],
    )
    maps = {"ctsne": rng.normal(size=(40, 2)), "X_umap": rng.normal(size=(40, 2))}
    return anndata.AnnData(obs=obs, obsm=maps, uns={"kind_colors": COLORS})


def image(ax: Any) -> Any:
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def test_embedding(adata: Any) -> None:
    Y, batch, kind = adata.obsm["ctsne"], adata.obs["batch"], adata.obs["kind"]
    drawn = pl.embedding(adata, "batch", shape="kind")
    assert_array_equal(image(drawn), image(pl.embedding(Y, batch, shape=kind)))
    plain = pl.embedding(adata)
    assert_array_equal(image(plain), image(pl.embedding(Y)))
    share = adata.obs["ctsne_other_share"]
    assert_array_equal(
        image(pl.embedding(adata, "ctsne_other_share", basis="umap")),
        image(pl.embedding(adata.obsm["X_umap"], share)),
    )
    given = pl.embedding(adata, batch.to_numpy())
    assert_array_equal(image(given), image(pl.embedding(Y, batch.to_numpy())))


def test_maps(adata: Any) -> None:
    axes = pl.maps(adata, "batch", shape="kind", basis=["umap", "ctsne"])
    assert [ax.get_title(loc="left") for ax in axes] == ["umap", "ctsne"]
    maps = {"umap": adata.obsm["X_umap"], "ctsne": adata.obsm["ctsne"]}
    expected = pl.maps(maps, adata.obs["batch"], shape=adata.obs["kind"])
    assert_array_equal(image(axes[0]), image(expected[0]))
    assert len(pl.maps(adata)) == 1


def legend_colors(ax: Any) -> dict[str, str]:
    legend = ax.get_legend()
    return {
        text.get_text(): line.get_color()
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
        if line.get_marker()  # not the heading
    }


def test_colours_that_scanpy_has_given_are_kept(adata: Any) -> None:
    scanpys = {"b": COLORS[0], "a": COLORS[2]}
    assert legend_colors(pl.embedding(adata, "kind")) == scanpys
    assert legend_colors(pl.embedding(adata, ["kind"])) == scanpys
    assert legend_colors(pl.maps(adata, "kind")[0]) == scanpys
    mine = {"a": "#111111", "b": "#222222"}
    assert legend_colors(pl.embedding(adata, "kind", palette=mine)) == {
        "b": "#222222",
        "a": "#111111",
    }
    # Of another number of categories, they belong to another time.
    adata.uns["kind_colors"] = COLORS[:2]
    ours = {name: color.lower() for name, color in pl.palette(["a", "b"]).items()}
    assert legend_colors(pl.embedding(adata, "kind")) == ours
    adata.uns["kind_colors"] = []
    adata.obs["kind"] = adata.obs["kind"].astype(str)
    assert legend_colors(pl.embedding(adata, "kind")) == ours
    del adata.obs["kind"]
    with pytest.raises(ValueError, match=r"color: no column 'kind' in adata.obs"):
        pl.embedding(adata, "kind")


def test_genes_are_left_to_scanpy() -> None:
    cells = anndata.AnnData(np.ones((3, 1)), var=pd.DataFrame(index=["CD3D"]))
    cells.obsm["X_ctsne"] = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"color: 'CD3D' is a gene, .* scanpy.pl.embedding"):
        pl.embedding(cells, "CD3D")


def test_each_of_two_columns_has_a_panel_in_its_colours(adata: Any) -> None:
    adata.uns["batch_colors"] = COLORS[:2]
    kind, batch = map(legend_colors, pl.embedding(adata, ["kind", "batch"]))
    assert set(kind) == {"a", "b"} and set(batch) == {"x", "y"}
    assert list(batch.values()) == COLORS[:2]
    together = legend_colors(pl.maps(adata, ["kind", "batch"])[0])  # one legend for all maps
    assert set(together) == {"a | x", "a | y", "b | x", "b | y"}


def test_refuses(adata: Any) -> None:
    for match, draw in {
        "color: no column 'btch' in adata.obs; did you mean 'batch'": lambda: pl.embedding(
            adata, "btch"
        ),
        "shape: no column 'knd'": lambda: pl.maps(adata, "batch", shape="knd"),
        "basis: no map 'tsne' in adata.obsm": lambda: pl.embedding(adata, basis="tsne"),
    }.items():
        with pytest.raises(ValueError, match=match):
            draw()
    with pytest.raises(TypeError, match="basis must be the name of a map"):
        pl.maps(adata, basis=[1])  # type: ignore[list-item]
    assert not plt.get_fignums()
