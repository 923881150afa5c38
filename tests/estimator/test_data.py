"""Distances, graphs, sparse data, starts, seeds and threads."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

from ctsne.datasets import Synthetic, make_synthetic

from .helpers import WAYS, make, name


@pytest.mark.parametrize("way", WAYS, ids=name)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_precomputed_distances_and_graphs(grid: Synthetic, way: dict[str, Any]) -> None:
    # A mild beta: with a small one several bandwidths can fit, and which is found depends on the
    # width of the data, of which distances to neighbours tell less than features do.
    way = {**way, "beta": 0.5, "align": "none"}
    expected = make(**way, init="random").fit(grid.X, labels=grid.known)
    distances = cdist(grid.X, grid.X)
    model = make(**way, init="random", metric="precomputed")
    dense = clone(model).fit(distances, labels=grid.known)
    sparse = clone(model).fit(kneighbors_graph(grid.X, 199, mode="distance"), labels=grid.known)
    for found in (dense, sparse):
        np.testing.assert_allclose(
            found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-4, atol=1e-9
        )
        np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=0.01, atol=0.01)


def test_a_graph_of_just_the_neighbours(grid: Synthetic) -> None:
    expected = make(method="tsne", init="random").fit(grid.X)
    graph = kneighbors_graph(grid.X, 30, mode="distance")
    found = make(method="tsne", init="random", metric="precomputed").fit(graph)
    np.testing.assert_allclose(found.affinities_.toarray(), expected.affinities_.toarray(), 1e-4)


def test_cosine_is_euclidean_on_the_sphere(data: Synthetic) -> None:
    # 1 - cos = |a - b|² / 2: the same neighbours, in the same order.
    unit = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    cosine = make(metric="cosine", align="none").fit(3 * data.X, labels=data.known)
    distances = cdist(unit, unit) ** 2 / 2
    near = make(metric="precomputed", method="joint", init="random")
    near.fit(distances, labels=data.known)
    np.testing.assert_allclose(
        cosine.affinities_.toarray(), near.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_few_sparse_columns_are_the_dense_ones(data: Synthetic, layout: Any) -> None:
    X = np.where(np.abs(data.X) > 0.5, data.X, 0)
    mapped = make().fit_transform(layout(X), labels=data.known)
    np.testing.assert_array_equal(mapped, make().fit_transform(X, labels=data.known))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_many_sparse_columns_are_reduced(metric: str) -> None:
    # Of rank 20, so that 50 components lose nothing.
    rng = np.random.default_rng(0)
    X = rng.random((150, 20)) * (rng.random((150, 20)) < 0.3) + np.eye(150, 20)
    X = X[:, np.arange(120) % 20] * rng.uniform(1, 2, 120)
    X[:, 0] += 1
    labels = np.arange(150) % 3
    expected = make(metric=metric).fit(X, labels=labels)
    found = make(metric=metric).fit(sp.csr_array(X), labels=labels)
    assert found.n_features_in_ == 120
    np.testing.assert_allclose(
        found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


def test_principal_components_of_sparse_columns() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((200, 100)) * (rng.random((200, 100)) < 0.2))
    expected = make(method="tsne").fit(PCA(50, svd_solver="full").fit_transform(X.toarray()))
    found = make(method="tsne").fit(X)
    np.testing.assert_allclose(
        found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


def test_starts(data: Synthetic) -> None:
    seen: dict[str, Any] = {}
    for init in ("pca", "random", "spectral"):
        first = make(init=init, n_iter=1, learning_rate=1e-9).fit(data.X, labels=data.known)
        assert first.embedding_[:, 0].std() == pytest.approx(1e-4, rel=0.2)
        seen[init] = first.embedding_
    components = PCA(2).fit_transform(data.X)
    for axis in range(2):
        assert abs(np.corrcoef(seen["pca"][:, axis], components[:, axis])[0, 1]) > 0.999
    assert abs(np.corrcoef(seen["random"][:, 0], components[:, 0])[0, 1]) < 0.3


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, pd.DataFrame, np.ndarray.tolist])
def test_a_start_of_ones_own(data: Synthetic, kind: Any) -> None:
    start = data.X[:, [6, 8]] - data.X[:, [6, 8]].mean(axis=0)
    model = make(init=kind(start), n_iter=1, learning_rate=1e-9).fit(data.X, labels=data.known)
    np.testing.assert_allclose(model.embedding_, start, atol=1e-6)


def test_random_state(data: Synthetic) -> None:
    def mapped(seed: Any) -> Any:
        return make(init="random", random_state=seed).fit_transform(data.X, labels=data.known)

    expected = mapped(7)
    np.testing.assert_array_equal(mapped(np.int32(7)), expected)
    np.testing.assert_array_equal(mapped(np.random.RandomState(7)), expected)
    assert not np.array_equal(mapped(8), expected)
    assert not np.array_equal(mapped(None), mapped(None))
    state = np.random.RandomState(7)
    assert not np.array_equal(mapped(state), mapped(state))


@pytest.mark.parametrize(("n", "n_iter"), [(300, 40), (6000, 8)], ids=["exact", "mesh"])
@pytest.mark.parametrize("way", WAYS, ids=name)
def test_same_bits_again_and_for_any_number_of_threads(
    way: dict[str, Any], n: int, n_iter: int
) -> None:
    made = make_synthetic(n, random_state=0)
    short = {**way, "n_iter": n_iter, "early_exaggeration_iter": n_iter // 2}
    one, *others = (
        make(**short, n_jobs=n_jobs).fit(made.X, labels=made.known)
        for n_jobs in ((1, 2, 2) if n < 1000 else (1, 2))
    )
    for other in others:
        np.testing.assert_array_equal(other.embedding_, one.embedding_)
        np.testing.assert_array_equal(other.affinities_.indices, one.affinities_.indices)
        np.testing.assert_array_equal(other.affinities_.data, one.affinities_.data)
        assert other.kl_divergence_ == one.kl_divergence_


@pytest.mark.parametrize("n_components", [1, 3])
def test_same_bits_in_other_dimensions(n_components: int) -> None:
    made = make_synthetic(6000, random_state=0)
    one, two = (
        make(method="joint", n_components=n_components, n_jobs=n_jobs, n_iter=4, dof=0.7)
        .fit(made.X, labels=made.known)
        .embedding_
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_jobs", [None, -1, -2, 1, 3, 10**9])
def test_threads(data: Synthetic, n_jobs: int | None) -> None:
    expected = make(n_jobs=1).fit_transform(data.X, labels=data.known)
    mapped = make(n_jobs=n_jobs).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, expected)
