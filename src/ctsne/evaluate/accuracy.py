"""How well a label can be told from the neighbours in the map."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.evaluate._groups import same_label
from ctsne.evaluate._inputs import Options, mean
from ctsne.evaluate._overlap import chunks
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, resolve_map
from ctsne.labels import encode_labels

__all__ = ["knn_accuracy"]


@overload
def knn_accuracy(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def knn_accuracy(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def knn_accuracy(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Share of points whose label is the most frequent one among their k nearest neighbours.

    A point is not its own neighbour, so this is the leave-one-out accuracy of a nearest-neighbour
    classifier on the map. Of labels that are equally frequent, the one of the nearest neighbour
    wins. The mean share of neighbours with the right label is one minus the Laplacian score.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours.
    labels : array-like of shape (n,)
        Any label column. Points without a label count neither as points nor as neighbours.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return 1 or 0 for each (sampled) point instead of their mean; nan where there is none.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        From 0 to 1; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> from ctsne.evaluate import knn_accuracy
    >>> knn_accuracy([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    0.75
    """
    given, n = checked_map(embedding)
    codes = encode_labels(labels, n=n).codes
    found = resolve_map(given, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs)
    values = np.concatenate([
        _is_right(codes, found.points[rows], found.indices[rows])
        for rows in chunks(len(found.points), 4 * found.k)
    ])  # fmt: skip
    return values if pointwise else mean(values)


def _is_right(
    codes: NDArray[np.int32], points: NDArray[np.int64], near: NDArray[np.int32]
) -> NDArray[np.float64]:
    labels, own = codes[near], codes[points]
    votes = same_label(labels, (labels >= 0).astype(np.float64))
    first = votes.argmax(axis=1)  # the nearest neighbour with a most frequent label
    winner = labels[np.arange(len(near)), first]
    return np.where((own >= 0) & (winner >= 0), (winner == own).astype(np.float64), np.nan)
