"""Trust: against the plain formula, with ties, and on points that were moved on purpose."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.estimator import model_of_map
from ctsne.evaluate.trust import DOUBTFUL, trust_of

from ..reference import maps as reference


def similarities(n: int, density: float, rng: np.random.Generator) -> np.ndarray:
    """Make symmetric similarities without ties, with an entry in every row."""
    values = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    values[np.arange(n - 1), np.arange(1, n)] += rng.random(n - 1) + 0.01
    values = (values + values.T).astype(np.float32)
    return values / values.sum()


@pytest.mark.parametrize("n", [2, 3, 4, 7, 40, 150])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_formula(n: int, density: float, dimensions: int) -> None:
    rng = np.random.default_rng(n)
    P, Y = similarities(n, density, rng), rng.normal(size=(n, dimensions)).astype(np.float32)
    again = (Y + rng.normal(scale=0.5, size=Y.shape)).astype(np.float32)
    found = trust_of(sp.csr_array(P), Y, again, 2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, reference.trust(P, Y, again), rtol=0, atol=1e-6)
    assert np.array_equal(found, trust_of(sp.csr_array(P), Y, again, 1))


def test_blocks_of_points_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    P, Y = sp.csr_array(similarities(50, 0.4, rng)), rng.normal(size=(50, 2)).astype(np.float32)
    whole = trust_of(P, Y, Y, 1)
    monkeypatch.setattr("ctsne.evaluate.trust._POINTS_AT_ONCE", 7)
    assert np.array_equal(whole, trust_of(P, Y, Y, 2))


def test_points_at_one_place_are_neighbours_together() -> None:
    """Which of many equal points are listed first must not matter."""
    n = 200
    P = np.full((n, n), 1.0, np.float32) - np.eye(n, dtype=np.float32)
    Y = np.zeros((n, 2), np.float32)
    assert np.array_equal(trust_of(sp.csr_array(P), Y, Y, 1), np.ones(n, np.float32))


@pytest.mark.parametrize("labels", [True, False])
def test_points_moved_on_purpose_are_found(labels: bool) -> None:
    data = make_synthetic(800, random_state=0)
    known = data.known if labels else None
    settings = {"random_state": 0} | ({} if labels else {"method": "tsne"})
    model = ConditionalTSNE(**settings).fit(data.X, labels=known)
    rng = np.random.default_rng(1)
    moved = np.zeros(800, bool)
    moved[rng.permutation(800)[:16]] = True
    places = model.embedding_.copy()
    places[moved] = rng.uniform(places.min(axis=0), places.max(axis=0), (16, 2))
    again = model_of_map(settings, data.X, known, places).trust()
    assert roc_auc_score(moved, -again) > 0.95
    assert np.median(again[moved]) < DOUBTFUL < np.median(again[~moved])
