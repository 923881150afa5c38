"""Turn, move and scale maps of the same points onto each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ctsne._core.jobs import one_blas_thread


def align(embedding: NDArray[np.floating], reference: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rotate, mirror and shift a map to match another of the same points; distances stay."""
    positions, target = embedding.astype(np.float64), reference.astype(np.float64)
    centre, goal = positions.mean(axis=0), target.mean(axis=0)
    with one_blas_thread():
        left, _, right = np.linalg.svd((positions - centre).T @ (target - goal))
        turned = (positions - centre) @ (left @ right) + goal
    return np.asarray(turned, np.float32)
