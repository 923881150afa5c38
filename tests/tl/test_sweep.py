"""A sweep over an AnnData object is that over its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ctsne
from ctsne import ConditionalTSNE
from ctsne.sweep import sweep

GRID = {"method": "joint", "strength": [0, 1]}


def quick() -> ConditionalTSNE:
    return ConditionalTSNE(perplexity=3, n_iter=30, random_state=0)


def test_names_and_arrays_give_the_same_sweep(blood: Any) -> None:
    options: dict[str, Any] = {"estimator": quick(), "progress": False, "k": 10}
    result = ctsne.tl.sweep(blood, "phase", GRID, other="louvain", n_pcs=8, **options)
    expected = sweep(
        blood.obsm["X_pca"][:, :8], blood.obs["phase"], GRID, other=blood.obs["louvain"], **options
    )
    assert [each.parameters for each in result.maps] == [each.parameters for each in expected.maps]
    assert_array_equal(result.maps[1].embedding, expected.maps[1].embedding)
    assert result.maps[1].measures == expected.maps[1].measures
    assert "other_mixing" in result.maps[1].measures


def test_the_choice_goes_on_to_a_map(blood: Any) -> None:
    result = ctsne.tl.sweep(blood, "phase", GRID, estimator=quick(), progress=False)
    chosen = result.maps[1]
    ctsne.tl.ctsne(blood, "phase", perplexity=3, n_iter=30, **chosen.parameters)
    # The sweep turns its maps to lie on each other: distances are the same.
    swept, made = (
        np.linalg.norm(Y - Y.mean(axis=0), axis=1)
        for Y in (chosen.embedding, blood.obsm["X_ctsne"])
    )
    np.testing.assert_allclose(swept, made, rtol=1e-3)


def test_components_are_made_by_the_estimator(small: Any) -> None:
    options: dict[str, Any] = {"progress": False, "k": 10}
    result = ctsne.tl.sweep(small, "phase", GRID, n_pcs=20, estimator=quick(), **options)
    model = quick().set_params(pca=20)
    genes = small.X[:, small.var["highly_variable"].to_numpy()]
    expected = sweep(genes, small.obs["phase"], GRID, estimator=model, **options)
    assert_array_equal(result.maps[1].embedding, expected.maps[1].embedding)
    assert result.maps[1].measures == expected.maps[1].measures
    assert set(small.obsm) == {"X_umap"} and not small.varm


def test_view_of_a_file(backed: Any) -> None:
    view = backed[:60]
    result = ctsne.tl.sweep(view, "phase", GRID, estimator=quick(), progress=False)
    assert result.maps[0].embedding.shape == (60, 2)


def test_refuses_with_nothing_changed(small: Any) -> None:
    with pytest.raises(ValueError, match="grid names 'strenght'"):
        ctsne.tl.sweep(small, "phase", {"strenght": [1]})
    with pytest.raises(ValueError, match="labels: no column 'phse'"):
        ctsne.tl.sweep(small, "phse")
    with pytest.raises(TypeError, match="adata must be an AnnData object"):
        ctsne.tl.sweep(small.X, "phase")
    assert set(small.obsm) == {"X_umap"} and not small.varm
