"""Neighbours of one point that have the same label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def same_label(labels: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the weights of all entries in a row that have the same label as the entry itself.

    The work does not depend on how many labels there are.
    """
    rows = np.arange(len(labels), dtype=np.int64)[:, None]
    keys = rows * (int(labels.max(initial=0)) + 2) + labels + 1
    _, group = np.unique(keys, return_inverse=True)
    group = group.reshape(labels.shape)
    return np.asarray(np.bincount(group.ravel(), weights.ravel())[group])
