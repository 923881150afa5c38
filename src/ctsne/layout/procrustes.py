"""Turn, move and scale maps of the same points onto each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features
from ctsne._core.jobs import one_blas_thread


def align(embedding: ArrayLike, reference: ArrayLike) -> NDArray[np.float32]:
    """Rotate, mirror and shift a map to match another map of the same points.

    This does not change the meaning of a map: distances stay the same.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
    reference : array-like of shape (n, d)
    """
    positions = check_features(embedding, argument="embedding").astype(np.float64)
    target = check_features(reference, argument="reference").astype(np.float64)
    if positions.shape != target.shape:
        raise ValueError(
            "embedding and reference must have the same shape, got "
            f"{positions.shape} and {target.shape}"
        )
    centre, goal = positions.mean(axis=0), target.mean(axis=0)
    with one_blas_thread():
        left, _, right = np.linalg.svd((positions - centre).T @ (target - goal))
        turned = (positions - centre) @ (left @ right) + goal
    return np.asarray(turned, np.float32)
