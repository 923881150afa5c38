"""Mixing: how far a map mixes a label, as a share of what random labels would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne.affinity import random_share
from ctsne.evaluate._inputs import mean
from ctsne.evaluate.laplacian import expected_laplacian, laplacian
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, map_neighbors
from ctsne.labels import encode_labels

__all__ = ["mixing", "mixing_by_label"]

# Neighbourhoods are of this size wherever nothing else is said.
NEIGHBORHOOD = 30
# Enough for a standard error below .003 in R_NX and the Laplacian score.
MEASURED_POINTS = 5000


def mixing(
    embedding: ArrayLike | MapNeighbors, labels: object, *, k: int = NEIGHBORHOOD, n_jobs: int = -1
) -> float:
    """Share of random mixing: 0 is not mixed at all, 1 is mixed as random labels would be.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, of which 5,000 are measured at most, or its neighbours.
    labels : array-like of shape (n,)
        Any label column; missing labels are left out.
    k : int, default=30
        Neighbourhood size; smaller for fewer points.
    n_jobs : int, default=-1

    Returns
    -------
    float
        The Laplacian score over its expected value; nan where it cannot be measured.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import mixing
    >>> Y = np.random.default_rng(0).normal(size=(500, 2))
    >>> apart = Y + 9.0 * (np.arange(500) % 2)[:, None]
    >>> [round(mixing(each, np.arange(500) % 2), 1) for each in (Y, apart)]
    [1.0, 0.0]
    """
    found = measured_neighbors(embedding, k=k, n_jobs=n_jobs)
    known = encode_labels(labels, n=found.n)
    random = expected_laplacian(known)
    return laplacian(found, known, k=found.k) / random if random > 0 else float("nan")


def mixing_by_label(
    embedding: ArrayLike | MapNeighbors, labels: object, *, k: int = NEIGHBORHOOD, n_jobs: int = -1
) -> dict[object, float]:
    """Share of random mixing of each label by itself.

    Parameters
    ----------
    embedding, labels, k, n_jobs
        As in :func:`ctsne.evaluate.mixing`.

    Returns
    -------
    dict of label to float
        The least mixed label first; labels without a measured point are left out.

    Examples
    --------
    >>> from ctsne.evaluate import mixing_by_label
    >>> mixing_by_label([[0.0], [1.0], [3.0], [7.0], [8.0]], list("aabba"), k=1)
    {'a': 0.6666666666666666, 'b': 1.3333333333333333}
    """
    found = measured_neighbors(embedding, k=k, n_jobs=n_jobs)
    known = encode_labels(labels, n=found.n)
    shares = laplacian(found, known, k=found.k, pointwise=True)
    codes, random = known.codes[found.points], random_share(known)[found.points]
    measured: dict[object, float] = {}
    for code in np.unique(codes[codes >= 0]):
        own = (codes == code) & (random > 0)
        value = mean(shares[own] / random[own])
        if np.isfinite(value):
            measured[known.names[code]] = value
    return dict(sorted(measured.items(), key=lambda item: item[1]))


def measured_neighbors(
    embedding: ArrayLike | MapNeighbors, *, k: int = NEIGHBORHOOD, n_jobs: int = -1
) -> MapNeighbors:
    """Find the neighbours of the points that are measured by default, or take given ones."""
    given, n = checked_map(embedding)
    if isinstance(given, MapNeighbors):
        return given
    return map_neighbors(given, k=min(k, n - 2), sample=min(n, MEASURED_POINTS), n_jobs=n_jobs)
