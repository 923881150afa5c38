"""The nearest neighbours in a map, searched once for all measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ctsne._core.checks import check_features, check_jobs
from ctsne.evaluate.sampling import Points, check_k, sample_points
from ctsne.labels import Column, encode_column
from ctsne.neighbors import find_neighbors

# Maps have one to three dimensions; with more, a tree visits most of the points.
_TREE_DIMENSIONS = 3


@dataclass(frozen=True, eq=False)
class MapNeighbors:
    """The nearest neighbours in a map. Every measure accepts this instead of the map.

    Attributes
    ----------
    points : ndarray of int64, shape (m,)
        The points measured.
    n : int
        Number of all points, among which the neighbours are searched.
    indices : ndarray of int32, shape (m, k)
        The nearest first.
    distances : ndarray of float32, shape (m, k)

    Examples
    --------
    >>> from ctsne.evaluate import laplacian, map_neighbors
    >>> found = map_neighbors([[0.0], [1.0], [3.0], [7.0]], k=2)
    >>> laplacian(found, list("aabb"), k=1), laplacian(found, list("abab"), k=2)
    (0.25, 0.625)
    """

    points: NDArray[np.int64]
    n: int
    indices: NDArray[np.int32]
    distances: NDArray[np.float32]

    @property
    def k(self) -> int:
        """Number of neighbours per point."""
        return int(self.indices.shape[1])


Map = ArrayLike | MapNeighbors


def map_neighbors(
    embedding: ArrayLike,
    *,
    k: int = 90,
    sample: float | None = None,
    random_state: object = 0,
    n_jobs: int = -1,
) -> MapNeighbors:
    """Search the neighbours in a map once, for all measures.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
        Positions in the map.
    k : int, default=90
        Largest neighbourhood to measure; :func:`ctsne.evaluate.lisi` needs 90.
    sample : int or float, optional
        Measure at most this many points (int), or this share of them (float). Their neighbours are
        still searched among all points. By default all points are measured.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    n_jobs : int, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    MapNeighbors

    Examples
    --------
    >>> from ctsne.evaluate import map_neighbors
    >>> map_neighbors([[0.0], [1.0], [3.0], [7.0]], k=2).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
    positions = check_features(embedding, argument="embedding")
    k = check_k(k, n=len(positions))
    return search_map(positions, sample_points(len(positions), sample, random_state), k, n_jobs)


def search_map(
    positions: NDArray[np.floating], points: Points, k: int, n_jobs: int
) -> MapNeighbors:
    """Find the neighbours of given points in the map."""
    n = len(positions)
    if positions.shape[1] > _TREE_DIMENSIONS:
        found = find_neighbors(positions, k_same=k, n_jobs=n_jobs, rows=points)
        return MapNeighbors(points, n, found.indices, found.distances)
    # The point itself, its k neighbours, and one more, which shows whether the last one is tied.
    places = positions.astype(np.float64)
    answer = cKDTree(places).query(places[points], min(k + 2, n), workers=check_jobs(n_jobs))
    distances, indices = (np.asarray(each) for each in answer)
    order = np.lexsort((indices, distances), axis=1)
    indices = np.take_along_axis(indices, order, axis=1)
    # Among many points at the same place, the point itself may be missing from the list.
    itself = indices == points[:, None]
    itself[~itself.any(axis=1), -1] = True
    indices = indices[~itself].reshape(len(points), -1).astype(np.int32)
    distances = distances[~itself].reshape(len(points), -1)
    if k < n - 1:
        # The tree picks any of several equally distant points, the search the first by index.
        tied = distances[:, k] == distances[:, k - 1]
        indices, distances = indices[:, :k], distances[:, :k]
        if tied.any():
            found = find_neighbors(positions, k_same=k, n_jobs=n_jobs, rows=points[tied])
            indices[tied], distances[tied] = found.indices, found.distances
    return MapNeighbors(points, n, np.ascontiguousarray(indices), distances.astype(np.float32))


def checked_map(embedding: Map) -> tuple[NDArray[np.floating] | MapNeighbors, int]:
    """Return checked positions, or given neighbours unchanged, and the number of points."""
    if isinstance(embedding, MapNeighbors):
        return embedding, embedding.n
    positions = check_features(embedding, argument="embedding")
    return positions, len(positions)


def labelled_neighbors(
    embedding: Map,
    labels: object,
    k: object,
    sample: float | None,
    random_state: object,
    n_jobs: int,
) -> tuple[MapNeighbors, Column]:
    """Return ``k`` neighbours per point, searched or taken from given ones, and the labels."""
    given, n = checked_map(embedding)
    known, size = encode_column(labels, n=n), check_k(k, n=n)
    if isinstance(given, MapNeighbors):
        refuse_sample(sample)
        return nearest(given, size), known
    return search_map(given, sample_points(n, sample, random_state), size, n_jobs), known


def nearest(found: MapNeighbors, k: int) -> MapNeighbors:
    """Return only the k nearest neighbours of each point."""
    if k > found.k:
        raise ValueError(f"k must be at most {found.k}, the neighbours in embedding; got {k}")
    return replace(found, indices=found.indices[:, :k], distances=found.distances[:, :k])


def refuse_sample(sample: object) -> None:
    """Refuse a sample of points whose neighbours were searched before."""
    if sample is not None:
        raise TypeError("sample was chosen when the neighbours were searched; leave it out here")
