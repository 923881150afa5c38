"""Start positions: size, determinism, degenerate data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from ctsne import ConditionalTSNE
from ctsne.affinity import tsne_affinities
from ctsne.layout import start_positions
from ctsne.neighbors import find_neighbors

X = np.random.default_rng(0).normal(size=(80, 6)) * np.array([5, 3, 1, 1, 1, 1.0])
MATRIX = tsne_affinities(find_neighbors(X, lengths=15), perplexity=5).matrix


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_size_and_shape(init: str, dims: int) -> None:
    y = start_positions(init, dims, X=X, matrix=MATRIX, rng=rng())
    assert y.shape == (80, dims)
    assert y[:, 0].std() == pytest.approx(1e-4, rel=0.3)
    assert np.array_equal(y, start_positions(init, dims, X=X, matrix=MATRIX, rng=rng()))


def test_pca_is_pca_whatever_the_seed_and_scale() -> None:
    y = start_positions("pca", 2, X=X, matrix=MATRIX, rng=rng(1))
    expected = PCA(2).fit_transform(X)
    np.testing.assert_allclose(y / 1e-4, expected / expected[:, 0].std(), atol=1e-8)
    assert np.array_equal(y, start_positions("pca", 2, X=X, matrix=MATRIX, rng=rng(2)))
    for scale in (1e-15, 1e15):
        scaled = start_positions("pca", 2, X=X * scale, matrix=MATRIX, rng=rng())
        np.testing.assert_allclose(scaled, y, atol=1e-10)


def test_an_array_is_taken_as_it_is_and_missing_axes_are_filled() -> None:
    given = np.arange(160.0).reshape(80, 2)
    y = start_positions(given, 2, X=X, matrix=MATRIX, rng=rng())
    assert np.array_equal(y, given) and y is not given
    for data in (X[:, :1], np.zeros_like(X)):
        y = start_positions("pca", 3, X=data, matrix=MATRIX, rng=rng())
        assert np.isfinite(y).all() and (y.std(axis=0) > 1e-5).all()


def test_spectral_parts_a_graph_in_two() -> None:
    halves = np.concatenate([X, X + 1000])
    matrix = tsne_affinities(find_neighbors(halves, lengths=15), perplexity=5).matrix
    y = start_positions("spectral", 2, X=None, matrix=matrix, rng=rng())
    side = y[:, 0] > y[:, 0].mean()
    assert len(set(side[:80])) == 1 and len(set(side[80:])) == 1 and side[0] != side[-1]


STAR = np.zeros((60, 60), np.float32)
STAR[0, 1:] = STAR[1:, 0] = 1
DEGENERATE: dict[str, Any] = {
    "very few points": STAR[:3, :3],
    "star": STAR,
    "complete": 1 - np.eye(60, dtype=np.float32),
    "pairs": np.kron(np.eye(30, dtype=np.float32), [[0, 1], [1, 0]]),
    "cliques": np.kron(np.eye(6, dtype=np.float32), 1 - np.eye(10, dtype=np.float32)),
    "equal": np.ones((256, 256), np.float32),
    "ring": np.roll(np.eye(60, dtype=np.float32), 1, 1) + np.roll(np.eye(60), -1, 1),
}


@pytest.mark.parametrize("graph", DEGENERATE)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_spectral_of_degenerate_graphs_is_the_same_every_time(graph: str, dims: int) -> None:
    matrix = sp.csr_array(DEGENERATE[graph] / DEGENERATE[graph].sum())
    first, *others = (
        start_positions("spectral", dims, X=None, matrix=matrix, rng=rng()) for _ in range(4)
    )
    assert np.isfinite(first).all()
    assert all(np.array_equal(first, other) for other in others)


def test_spectral_of_identical_points_does_not_depend_on_threads() -> None:
    data = np.zeros((60, 3))
    make = ConditionalTSNE(method="tsne", perplexity=5, init="spectral", n_iter=20, random_state=0)
    with pytest.warns(UserWarning, match="identical"):
        maps = [make.set_params(n_jobs=n_jobs).fit(data).embedding_ for n_jobs in (1, 2, 2)]
    assert np.array_equal(maps[0], maps[1]) and np.array_equal(maps[0], maps[2])
