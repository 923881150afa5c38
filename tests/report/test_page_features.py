"""What pages take from the data: informative genes, and the nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.report.data import read_page
from ctsne.report.features import (
    MOST_FEATURE_BYTES,
    feature_room,
    feature_size,
    first_map,
    nearest_rows,
)

from .conftest import made_up

anndata = pytest.importorskip("anndata")
DATA = make_synthetic(200, random_state=0)


def read(result: Any, **options: Any) -> Any:
    shown = dict.fromkeys(("columns", "known", "other", "features", "names", "title"))
    return read_page(result, **{**shown, "mixing": 0.5, **options})


def fitted(X: Any = DATA.X, **parameters: Any) -> ConditionalTSNE:
    few: dict[str, Any] = {
        "n_iter": 10,
        "early_exaggeration_iter": 5,
        "random_state": 0,
        "perplexity": 5,
    }
    return ConditionalTSNE(**few, **parameters).fit(X, labels=DATA.known)


def truth(X: Any, k: int = 10) -> list[set[int]]:
    apart = np.linalg.norm(X[:, None] - X, axis=2) + 1e9 * np.eye(len(X))
    return [set(row.tolist()) for row in np.argsort(apart, axis=1)[:, :k]]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_genes_of_anndata_are_the_most_informative(kind: Any) -> None:
    result, columns = made_up()
    place = first_map(result, 0.5)
    assert place is not None
    (swept,) = result.find(method="joint", strength=0.5)
    assert place is swept.embedding
    X = np.random.default_rng(0).normal(size=(60, 230))
    X[:, 17], X[:, 229] = place[:, 0], place[:, 1]
    adata = anndata.AnnData(kind(X))
    page = read(result, columns=columns, known="batch", features=adata)
    genes = [column for column in page.columns if column.group == "gene"]
    assert len(genes) == 200 and {gene.name for gene in genes[:2]} == {"17", "229"}
    for gene in genes[:5]:
        np.testing.assert_allclose(gene.numbers, X[:, int(gene.name)])


def test_features_of_many_points_are_fewer() -> None:
    assert feature_room(20_000) == 200 and 0 < feature_room(500_000) < 40
    for n in (100_000, 499_999, 10**7):
        assert feature_room(n) * feature_size(n) <= MOST_FEATURE_BYTES


def test_anndata_must_have_the_cells_of_the_map() -> None:
    result, columns = made_up()
    for adata, message in (
        (anndata.AnnData(np.ones((59, 2))), "features has 59 cells but the maps have 60 points"),
        (anndata.AnnData(shape=(60, 2)), "features must have genes in X"),
    ):
        with pytest.raises(ValueError, match=message):
            read(result, columns=columns, known="batch", features=adata)


def test_a_model_knows_the_neighbours_in_its_data() -> None:
    found = read(fitted()).neighbors
    assert found.shape == (200, 10)
    assert [set(row) for row in found.tolist()] == truth(DATA.X)
    near = np.linalg.norm(DATA.X[:, None] - DATA.X, axis=2)
    given = read(fitted(near, metric="precomputed", init="random")).neighbors
    assert [set(row) for row in given.tolist()] == truth(DATA.X)
    assert read(fitted(), most_joined=199).neighbors is None


def test_a_graph_or_many_points_have_no_neighbours() -> None:
    graph = sp.csr_matrix(np.eye(5, k=1) + np.eye(5, k=-1))
    assert nearest_rows(graph, "precomputed", None) is None
    many = np.broadcast_to(np.float32(0), (100_001, 2))
    assert nearest_rows(many, "euclidean", None) is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((60, 2)), "neighbors must be rows of shape"),
        (np.zeros((59, 2), int), "neighbors must be rows of shape"),
        (np.full((60, 2), 60), "neighbors must be rows from 0 to 59, got 60 to 60"),
        (np.full((60, 2), -1), "neighbors must be rows from 0 to 59"),
    ],
)
def test_neighbours_are_checked(rows: Any, message: str) -> None:
    result, columns = made_up()
    with pytest.raises(ValueError, match=message):
        read(result, columns=columns, known="batch", neighbors=rows)
