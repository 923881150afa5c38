"""Data that look like single-cell data after PCA, of any size, for the benchmarks.

Uneven cell types, uneven batches, a batch effect that differs from type to type, types missing
from some batches, noise that is long in some directions and short in others, a few outliers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Strings = npt.NDArray[np.str_]


def simulate(
    n: int,
    *,
    d: int = 50,
    n_labels: int = 5,
    n_types: int = 12,
    random_state: int = 0,
) -> tuple[npt.NDArray[np.float32], Strings, Strings]:
    """Simulate points with a batch label to factor out and a cell type to find.

    Parameters
    ----------
    n : int
        Number of points ("cells").
    d : int, default=50
        Number of columns ("principal components").
    n_labels : int, default=5
        Number of batches.
    n_types : int, default=12
        Number of cell types.
    random_state : int, default=0
        Seed; the same seed gives the same data.

    Returns
    -------
    X : ndarray of shape (n, d), float32
        The points; columns are uncorrelated and ordered by variance, as PCA gives them.
    labels : ndarray of shape (n,)
        ``"batch0"``, ``"batch1"``, ...
    types : ndarray of shape (n,)
        ``"type0"``, ``"type1"``, ...

    Examples
    --------
    >>> X, labels, types = simulate(300, d=10, n_labels=3, n_types=4)
    >>> X.shape, X.dtype.name, len(set(labels.tolist()))
    ((300, 10), 'float32', 3)
    """
    if min(d, n_labels, n_types) < 1 or n < n_labels:
        raise ValueError("simulate needs d, n_labels and n_types of 1 or more, and n >= n_labels")
    rng = np.random.default_rng(random_state)
    batch, kind = _composition(rng, n, n_labels=n_labels, n_types=n_types)

    # Leading components of real data carry most of the variance.
    spectrum = (1.0 + np.arange(d)) ** -0.5
    centres = 2.0 * spectrum * rng.normal(size=(n_types, d))
    # One shift for a whole batch, as of another technology, and a smaller one for each type.
    shifts = 1.0 * spectrum * rng.normal(size=(n_labels, 1, d))
    shifts = shifts + 0.5 * spectrum * rng.normal(size=(n_labels, n_types, d))
    # Each type is stretched along two directions of its own, as a continuum of states would be.
    stretches = spectrum * rng.normal(size=(n_types, 2, d))
    widths = spectrum * rng.uniform(0.4, 1.2, size=(n_types, d))

    X = centres[kind] + shifts[batch, kind]
    X += widths[kind] * rng.normal(size=(n, d))
    for direction in range(stretches.shape[1]):
        X += stretches[kind, direction] * rng.normal(size=(n, 1))
    outliers = rng.random(n) < 0.005
    X[outliers] += 4.0 * spectrum * rng.normal(size=(int(outliers.sum()), d))

    X = _rotated(X).astype(np.float32)
    labels = np.array([f"batch{number}" for number in range(n_labels)])[batch]
    types = np.array([f"type{number}" for number in range(n_types)])[kind]
    return X, labels, types


def _composition(
    rng: np.random.Generator, n: int, *, n_labels: int, n_types: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Draw the batch and the type of every point."""
    # At least a fifth of an even share each, so that no batch or type vanishes.
    batch_sizes = 0.2 / n_labels + 0.8 * rng.dirichlet(np.full(n_labels, 1.5))
    type_sizes = 0.2 / n_types + 0.8 * rng.dirichlet(np.ones(n_types))
    present = rng.random((n_labels, n_types)) < 0.8
    # Every type lives somewhere and no batch is empty.
    present[rng.integers(n_labels, size=n_types), np.arange(n_types)] = True
    present[np.arange(n_labels), rng.integers(n_types, size=n_labels)] = True
    share = present * type_sizes * rng.lognormal(sigma=0.5, size=(n_labels, n_types))
    share *= (batch_sizes / share.sum(axis=1))[:, np.newaxis]

    cell = rng.choice(share.size, size=n, p=share.ravel() / share.sum())
    batch, kind = np.divmod(cell, n_types)
    # Small draws may miss a batch: the first points then stand in for them.
    missing = np.setdiff1d(np.arange(n_labels), batch)
    batch[: missing.size] = missing
    return batch.astype(np.intp), kind.astype(np.intp)


def _rotated(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Centre the columns and turn them onto their principal axes."""
    centred = X - X.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ axes[:, ::-1], dtype=np.float64)
