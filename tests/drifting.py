"""Points that a number moves, to be factored out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def drifting(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Return eight types that move along a curved path as a number grows: X, number and type."""
    rng = np.random.default_rng(0)
    types, number = rng.integers(8, size=n), rng.uniform(size=n)
    X = rng.normal(scale=3, size=(8, 20))[types] + rng.normal(size=(n, 20))
    angle = np.pi * number
    X[:, :3] += np.column_stack([12 * np.cos(angle), 12 * np.sin(angle), 8 * np.sin(2 * angle)])
    return X, number, types
