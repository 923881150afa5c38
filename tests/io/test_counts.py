"""Raw counts are recognised; other whole numbers are not taken for them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from ctsne.io.dataset import looks_like_counts

RNG = np.random.default_rng(0)
MEANS = np.exp(RNG.normal(-2, 1.6, 300))
COUNTS = RNG.poisson(RNG.gamma(2, MEANS / 2, (400, 300)))
IMAGES = np.clip(RNG.normal(150, 80, (200, 784)).round(), 0, 255) * (RNG.random((200, 784)) < 0.2)


ARE = {
    "whole": COUNTS,
    "as fractions": COUNTS.astype(np.float32),
    "deep": 20 * COUNTS,
    "sparse": sp.csr_matrix(COUNTS),
    "many": np.tile(COUNTS, (20, 1)),
    "reads": RNG.poisson(RNG.gamma(0.5, np.exp(RNG.normal(4, 2, 300)), (90, 300))),  # not molecules
    "proteins": RNG.poisson(RNG.gamma(1.2, np.exp(RNG.normal(4, 1.3, 30)), (400, 30))),
    "words": RNG.poisson(RNG.gamma(0.1, 30 / np.arange(1, 1001), (300, 1000))),
}
ARE_NOT = {
    "log": np.log1p(COUNTS),
    "sparse log": sp.csr_matrix(np.log1p(COUNTS)),
    "negative": COUNTS - 1,
    "one-hot": np.eye(100),
    "yes or no": COUNTS > 0,
    "digits": load_digits().data,
    "images": IMAGES,
    "colours": RNG.integers(0, 256, (90, 768), np.uint8),
    "answers": RNG.integers(0, 6, (200, 60)),
    "genotypes": RNG.binomial(2, 0.2, (200, 500)),
    "ranks": np.argsort(RNG.random((200, 100)), axis=1),
    "ratings": sp.csr_array(RNG.integers(1, 11, (200, 90)) * (RNG.random((200, 90)) < 0.1)),
    "scores": RNG.binomial(60, 0.4, (200, 60)),
    "zeros": np.zeros((9, 60)),
    "empty": sp.csr_matrix((9, 60)),
    "components": RNG.normal(size=(90, 50)),
}


@pytest.mark.parametrize("name", ARE)
def test_counts(name: str) -> None:
    assert looks_like_counts(ARE[name])


@pytest.mark.parametrize("name", ARE_NOT)
def test_what_is_not_counts(name: str) -> None:
    assert not looks_like_counts(ARE_NOT[name])
