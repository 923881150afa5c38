"""The map: kernel, loss and gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._reference._shared import Floats
from ctsne._reference.neighbors import squared_distances


def _pair_weights(n: int, weights: Floats | None) -> Floats:
    return (np.ones((n, n)) if weights is None else weights) * (1 - np.eye(n))


def kernel(d2: ArrayLike, dof: float = 1.0) -> Floats:
    """Evaluate the low-dimensional kernel ``(1 + d²/ν)^(-(ν+1)/2)``.

    Examples
    --------
    >>> kernel([0.0, 3.0]).tolist()
    [1.0, 0.25]
    """
    return np.asarray((1 + np.asarray(d2, dtype=np.float64) / dof) ** (-(dof + 1) / 2))


def normalizer(Y: ArrayLike, weights: Floats | None = None, dof: float = 1.0) -> float:
    """``U``, the sum of all weighted kernel values (``Z`` without weights).

    Examples
    --------
    >>> normalizer([[0.0], [1.0]])
    1.0
    """
    D2 = squared_distances(Y)
    return float((_pair_weights(len(D2), weights) * kernel(D2, dof)).sum())


def gradient(P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0) -> Floats:
    """Gradient of `kl_divergence` with respect to Y (paper, section 2, for any ν). P sums to 1.

    Examples
    --------
    >>> P = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> bool(np.allclose(gradient(P, [[0.0], [1.0]]), 0.0))
    True
    """
    Y = np.asarray(Y, dtype=np.float64)
    D2 = squared_distances(Y)
    Q = _pair_weights(len(D2), weights) * kernel(D2, dof)
    pull = (P - Q / Q.sum()) / (1 + D2 / dof)
    return 2 * (dof + 1) / dof * np.array([pull[i] @ (y - Y) for i, y in enumerate(Y)])


def kl_divergence(
    P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0
) -> float:
    """``Σ p log(p / q)`` with ``q = c K / U``, over the pairs with p > 0.

    Examples
    --------
    >>> P = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> round(kl_divergence(P, [[0.0], [1.0]]), 6)
    0.0
    """
    D2 = squared_distances(Y)
    some = P > 0
    p = P[some]
    log_q = np.log(_pair_weights(len(D2), weights)[some]) + np.log(kernel(D2, dof)[some])
    return float((p * (np.log(p) - log_q + np.log(normalizer(Y, weights, dof)))).sum())
