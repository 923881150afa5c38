"""An order of points in which those near each other in the map are near in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spatial_order(y: NDArray[np.float32], groups: NDArray[np.integer] | None) -> NDArray[np.int64]:
    """Order points along a curve that fills the map, Morton's, inside groups that stay in order.

    Parameters
    ----------
    y : ndarray, shape (n, dims)
    groups : ndarray, shape (n,), optional
        Group of each point, from 0 up; without it all are in one.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    dims = y.shape[1]
    bits = 30 // dims
    inside = y.astype(np.float64) - y.min(axis=0)
    cells = (inside * ((2**bits - 1) / max(inside.max(), 1e-30))).astype(np.int64)
    key = np.zeros(len(y), np.int64) if groups is None else groups.astype(np.int64) << 30
    for axis in range(dims):
        for bit in range(bits):
            key |= (cells[:, axis] >> bit & 1) << (bit * dims + axis)
    return np.argsort(key, kind="stable")
