"""Simulate data of any size that look like single-cell data after PCA, for the benchmarks.

Cell types and batches of uneven size, a batch effect that differs between types, types missing from
some batches, elongated clusters, and a few outliers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Strings = npt.NDArray[np.str_]
Floats = npt.NDArray[np.float32]

# Rows per block, so that a million points need little memory besides their own.
_BLOCK = 16384


def simulate(
    n: int,
    *,
    d: int = 50,
    n_labels: int = 5,
    n_types: int = 12,
    random_state: int = 0,
) -> tuple[Floats, Strings, Strings]:
    """Simulate points with a batch label to factor out and a cell type to find.

    Columns are uncorrelated and ordered by variance, as after PCA.
    """
    if min(d, n_labels, n_types) < 1 or n < n_labels:
        raise ValueError("simulate needs d, n_labels and n_types of at least 1, and n >= n_labels")
    rng = np.random.default_rng(random_state)
    batch, kind = _composition(rng, n, n_labels=n_labels, n_types=n_types)
    X = _points(rng, batch, kind, d=d, n_labels=n_labels, n_types=n_types)
    _rotate(X)
    labels = np.array([f"batch{number}" for number in range(n_labels)])[batch]
    types = np.array([f"type{number}" for number in range(n_types)])[kind]
    return X, labels, types


def _composition(
    rng: np.random.Generator, n: int, *, n_labels: int, n_types: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Draw the batch and the type of every point."""
    # Each gets at least a fifth of an even share, so that no batch or type vanishes.
    batch_sizes = 0.2 / n_labels + 0.8 * rng.dirichlet(np.full(n_labels, 1.5))
    type_sizes = 0.2 / n_types + 0.8 * rng.dirichlet(np.ones(n_types))
    present = rng.random((n_labels, n_types)) < 0.8
    # Every type occurs in some batch, and no batch is empty.
    present[rng.integers(n_labels, size=n_types), np.arange(n_types)] = True
    present[np.arange(n_labels), rng.integers(n_types, size=n_labels)] = True
    share = present * type_sizes * rng.lognormal(sigma=0.5, size=(n_labels, n_types))
    share *= (batch_sizes / share.sum(axis=1))[:, np.newaxis]

    cell = rng.choice(share.size, size=n, p=share.ravel() / share.sum())
    batch, kind = np.divmod(cell, n_types)
    # Small draws may miss a batch: fill it with points of batches that have several.
    present_batches, first = np.unique(batch, return_index=True)
    missing = np.setdiff1d(np.arange(n_labels), present_batches)
    batch[np.delete(np.arange(n), first)[: missing.size]] = missing
    return batch.astype(np.intp), kind.astype(np.intp)


def _points(
    rng: np.random.Generator,
    batch: npt.NDArray[np.intp],
    kind: npt.NDArray[np.intp],
    *,
    d: int,
    n_labels: int,
    n_types: int,
) -> Floats:
    """Draw the points around the centre of their type in their batch."""

    def normal(*shape: int) -> Floats:
        return rng.standard_normal(shape, dtype=np.float32)

    # The leading components of real data carry most of the variance.
    spectrum = ((1.0 + np.arange(d)) ** -0.5).astype(np.float32)
    centres = 2 * spectrum * normal(n_types, d)
    # One shift for a whole batch, as from another technology, and a smaller one per type.
    centres = centres + spectrum * normal(n_labels, 1, d)
    centres += 0.5 * spectrum * normal(n_labels, n_types, d)
    # Each type is stretched along two directions, like a continuum of states.
    stretches = spectrum * normal(n_types, 2, d)
    widths = spectrum * rng.uniform(0.4, 1.2, size=(n_types, d)).astype(np.float32)

    X = np.empty((len(batch), d), np.float32)
    for rows in _blocks(len(batch)):
        types, block = kind[rows], X[rows]
        block[:] = centres[batch[rows], types]
        block += widths[types] * normal(*block.shape)
        for direction in range(stretches.shape[1]):
            block += stretches[types, direction] * normal(len(block), 1)
        outliers = rng.random(len(block)) < 0.005
        block[outliers] += 4 * spectrum * normal(int(outliers.sum()), d)
    return X


def _rotate(X: Floats) -> None:
    """Centre the columns and rotate them to their principal axes, in place."""
    mean = X.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((X.shape[1], X.shape[1]))
    for rows in _blocks(len(X)):
        centred = X[rows] - mean
        covariance += centred.T @ centred
    _, axes = np.linalg.eigh(covariance)
    for rows in _blocks(len(X)):
        X[rows] = (X[rows] - mean) @ axes[:, ::-1]


def _blocks(n: int) -> Iterator[slice]:
    return (slice(begin, begin + _BLOCK) for begin in range(0, n, _BLOCK))
