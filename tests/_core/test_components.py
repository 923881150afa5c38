"""Principal components against scikit-learn's, on all ways to them and any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from ctsne._core import components as _components


def principal_components(X: Any, k: int, **options: Any) -> NDArray[np.float64]:
    """Return the scores alone."""
    return _components.principal_components(X, k, **options)[0]


def data(n: int, d: int, seed: int = 0) -> NDArray[np.float64]:
    """Draw points with a few strong directions, off the origin."""
    rng = np.random.default_rng(seed)
    strong = rng.normal(size=(n, 4)) * [20, 15, 10, 7]
    return np.asarray(strong @ rng.normal(size=(4, d)) / np.sqrt(d) + rng.normal(size=(n, d)) + 3)


@pytest.fixture(params=["whole", "iterated"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Solve the matrix of products as a whole, or by iteration; in several blocks always."""
    monkeypatch.setattr(_components, "_BLOCK_ENTRIES", 2**10)
    if request.param == "iterated":
        monkeypatch.setattr(_components, "_MOST_SOLVED", 8)
    return str(request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", [(300, 12), (100, 400), (400, 100)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.float32])
def test_scores_are_those_of_scikit_learn(shape: tuple[int, int], kind: type) -> None:
    X = data(*shape)
    X[np.abs(X) < 2] = 0
    expected = PCA(3, svd_solver="full").fit_transform(X)
    scores, *others = (principal_components(kind(X), 3, n_jobs=n_jobs) for n_jobs in (2, 1, 7))
    tolerance = 1e-4 if kind is np.float32 else 1e-9
    np.testing.assert_allclose(scores, expected, atol=tolerance * np.abs(expected).max())
    assert all(np.array_equal(other, scores) for other in others)
    # Not centred, they keep angles from the origin.
    left, length, _ = np.linalg.svd(X, full_matrices=False)
    scores = principal_components(kind(X), 4, centred=False, n_jobs=1)
    expected = np.abs(left * length)[:, :4]
    tolerance = tolerance * expected.max() if kind is np.float32 else 1e-8
    np.testing.assert_allclose(np.abs(scores), expected, atol=tolerance)


@pytest.mark.parametrize("shape", [(2, 5), (5, 1), (3, 2000), (1, 3)])
def test_as_many_components_as_there_can_be(shape: tuple[int, int]) -> None:
    X = data(*shape)
    k = min(shape)
    scores = principal_components(X, k, n_jobs=2)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(scores[:, None] - scores[None], axis=2), distances)


@pytest.mark.usefixtures("way")
def test_far_from_the_origin_and_at_any_scale() -> None:
    X = np.round(data(300, 12) * 64) / 64
    near, far = (principal_components(X + shift, 3, n_jobs=1) for shift in (0, 1e12))
    np.testing.assert_allclose(far, near, atol=1e-9)
    for scale in (1e-25, 1e25):
        scores = principal_components(X * scale, 3, n_jobs=1) / scale
        np.testing.assert_allclose(scores, near, atol=1e-9)
