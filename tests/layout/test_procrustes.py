from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist

from ctsne.layout import align


def turned(positions: np.ndarray, seed: int) -> np.ndarray:
    """Turn, perhaps mirror, and shift."""
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(positions.shape[1],) * 2))[0]
    return positions @ rotation + rng.normal(size=positions.shape[1])


@given(st.integers(2, 50), st.integers(1, 3), st.integers(0, 10**6))
def test_finds_its_way_back(n: int, dims: int, seed: int) -> None:
    reference = np.random.default_rng(seed).normal(size=(n, dims))
    np.testing.assert_allclose(align(turned(reference, seed), reference), reference, atol=1e-5)


def test_keeps_all_distances_and_is_as_near_as_scipy_says() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40, 2))
    a, b = ((x - x.mean(axis=0)) / np.linalg.norm(x - x.mean(axis=0)) for x in (a, b))
    moved = align(a, b)
    np.testing.assert_allclose(pdist(moved), pdist(a), atol=1e-6)
    # Stretching by s as well, scipy's least distance is 1 - s²; without, it is 2 - 2 s.
    stretch = np.sqrt(1 - procrustes(b, a)[2])
    assert ((moved - b) ** 2).sum() == pytest.approx(2 - 2 * stretch, abs=1e-5)
