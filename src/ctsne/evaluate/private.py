"""Private populations: types that occur under one label only, and what a map does with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ctsne.evaluate.mixing import NEIGHBORHOOD
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, map_neighbors
from ctsne.labels import encode_labels

__all__ = ["PrivatePopulation", "private_populations"]


class PrivatePopulation(NamedTuple):
    """A type that occurs under one label only.

    Attributes
    ----------
    kind : object
        The type.
    label : object
        The label that all its points have.
    points : int
        How many there are.
    wrong : float
        Share of their neighbours in the map that are of another type: 0 is right, because nothing
        under other labels is like them.
    """

    kind: object
    label: object
    points: int
    wrong: float


def private_populations(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    types: object,
    *,
    k: int = NEIGHBORHOOD,
    n_jobs: int = -1,
) -> list[PrivatePopulation]:
    """Find types that occur under one label only, and how far a map forces them into others.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours of all points.
    labels : array-like of shape (n,)
        What was factored out.
    types : array-like of shape (n,)
        What the points are, such as cell types.
    k : int, default=30
        Neighbourhood size.
    n_jobs : int, default=-1

    Returns
    -------
    list of PrivatePopulation
        The most wrong neighbours first. Points without a label or a type are left out.

    Examples
    --------
    >>> from ctsne.evaluate import private_populations
    >>> Y = [[0.0], [1.0], [2.0], [9.0], [10.5], [11.0], [3.0]]
    >>> private_populations(Y, list("ababaaa"), list("TTTTBBB"), k=1)
    [PrivatePopulation(kind='B', label='a', points=3, wrong=0.3333333333333333)]
    """
    given, n = checked_map(embedding)
    known = encode_labels(labels, n=n)
    kinds = encode_labels(types, n=n, argument="types")
    found = given
    if not isinstance(given, MapNeighbors):
        found = map_neighbors(given, k=min(k, n - 2), n_jobs=n_jobs)
    assert isinstance(found, MapNeighbors)
    usable = (known.codes >= 0) & (kinds.codes >= 0)
    populations = []
    for code, kind in enumerate(kinds.names):
        own = usable & (kinds.codes == code)
        under = np.unique(known.codes[own])
        if len(under) != 1:
            continue
        near = kinds.codes[found.indices[own[found.points]]]
        counted = near >= 0
        wrong = (near != code)[counted].mean() if counted.any() else np.nan
        populations.append(
            PrivatePopulation(kind, known.names[under[0]], int(own.sum()), float(wrong))
        )
    return sorted(populations, key=lambda each: -np.nan_to_num(each.wrong))
