"""Neighbour lists of the measured points, in the map and in the data, for all measures at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ctsne._core.checks import check_features, check_jobs
from ctsne.evaluate._inputs import check_k, sample_points
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import find_neighbors
from ctsne.neighbors.lists import different_labels

__all__ = ["DataNeighbors", "MapNeighbors", "data_neighbors", "map_neighbors"]

# Maps have one to three dimensions; with more, a tree has to look at most of the points.
_TREE_DIMENSIONS = 3


@dataclass(frozen=True, eq=False)
class MapNeighbors:
    """The nearest neighbours in a map. Every measure takes this in place of the map.

    Attributes
    ----------
    points : ndarray of int64, shape (m,)
        The points measured.
    n : int
        Number of all points, among which the neighbours are.
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
        """Number of neighbours of each point."""
        return int(self.indices.shape[1])


@dataclass(frozen=True, eq=False)
class DataNeighbors:
    """The nearest neighbours in the data. Every measure takes this in place of the data.

    It is the same for all maps of the data, so many maps are measured with one search.

    Attributes
    ----------
    points : ndarray of int64, shape (m,)
        The points measured.
    n : int
        Number of all points, among which the neighbours are.
    labels : Labels or None
        The labels that the neighbourhoods are adjusted for.
    k : int
        The largest neighbourhood that can be formed.
    indices : ndarray of int32
        In each row first the nearest points that do not have a different label, ``n_same`` of
        them, then the nearest that do; ``k`` of each kind, or all there are.
    distances : ndarray of float32
    n_same : ndarray of int32, shape (m,)

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_rnx, data_neighbors
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> data = data_neighbors(X, list("abab"), k=2)
    >>> [adjusted_rnx(embedding, data, k=1) for embedding in (X, [[0], [2], [3], [1]])]
    [1.0, -0.125]
    """

    points: NDArray[np.int64]
    n: int
    labels: Labels | None
    k: int
    indices: NDArray[np.int32]
    distances: NDArray[np.float32]
    n_same: NDArray[np.int32]

    def adjusted(self, near: NDArray[np.int32]) -> NDArray[np.int32]:
        """Neighbourhoods with as many points of the same label as those of a map.

        Parameters
        ----------
        near : ndarray of int32, shape (m, k)
            Neighbours of the same points in the map, the nearest first.

        Returns
        -------
        ndarray of int32, shape (m, k)
            For every size ``k`` the first ``k`` entries are the set ``v_i^k`` of the paper
            (section 4.1): where the map has its second neighbour of another label, this has the
            second nearest of all points with other labels.

        Examples
        --------
        >>> import numpy as np
        >>> from ctsne.evaluate import data_neighbors
        >>> data = data_neighbors([[0.0], [1.0], [3.0], [7.0]], list("aabb"), k=2)
        >>> data.adjusted(np.array([[3, 1], [0, 3], [3, 1], [2, 0]], np.int32)).tolist()
        [[2, 1], [0, 2], [3, 1], [2, 1]]
        """
        k = near.shape[1]
        other = different_labels(self.labels, self.points[:, None], near)
        n_other = other.sum(axis=1)[:, None]
        n_same = self.n_same[:, None]
        position = np.arange(self.indices.shape[1])
        # A point joins the neighbourhood where one of its kind joins that of the map.
        result = np.empty_like(near)
        result[~other] = self.indices[position < k - n_other]
        result[other] = self.indices[(position >= n_same) & (position < n_same + n_other)]
        return result

    def without_labels(self) -> DataNeighbors:
        """Make one list of both, for the usual measures beside the adjusted ones.

        Returns
        -------
        DataNeighbors

        Examples
        --------
        >>> from ctsne.evaluate import data_neighbors
        >>> data = data_neighbors([[0.0], [1.0], [3.0], [7.0]], list("abab"), k=2)
        >>> data.without_labels().indices.tolist()
        [[1, 2], [0, 2], [1, 0], [2, 1]]
        """
        order = np.lexsort((self.indices, self.distances), axis=1)[:, : self.k]
        return replace(
            self,
            labels=None,
            indices=np.take_along_axis(self.indices, order, axis=1),
            distances=np.take_along_axis(self.distances, order, axis=1),
            n_same=np.full(len(self.points), self.k, np.int32),
        )


def map_neighbors(
    embedding: ArrayLike,
    *,
    k: int = 90,
    sample: float | None = None,
    random_state: object = 0,
    n_jobs: int = -1,
) -> MapNeighbors:
    """Find the neighbours in a map once, for all measures.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
        Positions in the map.
    k : int, default=90
        Largest neighbourhood to be measured; 90 is what :func:`ctsne.evaluate.lisi` needs.
    sample : int or float, optional
        Measure this many points (or this share of them) only. Their neighbours are still
        searched among all points.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

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


def data_neighbors(
    X: ArrayLike,
    labels: object = None,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    n_jobs: int = -1,
) -> DataNeighbors:
    """Find the neighbours in the data once, for all measures and all maps.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    labels : array-like of shape (n,), optional
        The labels to adjust for.
    k : int, default=30
        Largest neighbourhood to be measured.
    sample : int or float, optional
        Measure this many points (or this share of them) only. Their neighbours are still
        searched among all points.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    DataNeighbors

    Examples
    --------
    >>> from ctsne.evaluate import data_neighbors
    >>> data_neighbors([[0.0], [1.0], [3.0], [7.0]], list("abab"), k=1).indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    features = check_features(X)
    n = len(features)
    k = check_k(k, n=n)
    known = None if labels is None else encode_labels(labels, n=n)
    return _search_data(features, known, sample_points(n, sample, random_state), k, n_jobs)


def search_map(
    positions: NDArray[np.floating], points: NDArray[np.int64], k: int, n_jobs: int
) -> MapNeighbors:
    """Find the neighbours in the map of given points."""
    n = len(positions)
    if positions.shape[1] > _TREE_DIMENSIONS:
        found = find_neighbors(positions, k_same=k, n_jobs=n_jobs, rows=points)
        return MapNeighbors(points, n, found.indices, found.distances)
    # One more than needed, beside the point itself: it tells whether the last one is tied.
    places = positions.astype(np.float64)
    nearest = cKDTree(places).query(places[points], min(k + 2, n), workers=check_jobs(n_jobs))
    distances, indices = (np.asarray(each) for each in nearest)
    order = np.lexsort((indices, distances), axis=1)
    indices = np.take_along_axis(indices, order, axis=1)
    # Among many points at the same place, the point itself need not be listed.
    itself = indices == points[:, None]
    itself[~itself.any(axis=1), -1] = True
    indices = indices[~itself].reshape(len(points), -1).astype(np.int32)
    distances = distances[~itself].reshape(len(points), -1)
    if k < n - 1:
        # The tree chooses among equally distant ones as it likes, the search by index.
        tied = distances[:, k] == distances[:, k - 1]
        indices, distances = indices[:, :k], distances[:, :k]
        if tied.any():
            found = find_neighbors(positions, k_same=k, n_jobs=n_jobs, rows=points[tied])
            indices[tied], distances[tied] = found.indices, found.distances
    return MapNeighbors(points, n, np.ascontiguousarray(indices), distances.astype(np.float32))


def _search_data(
    features: NDArray[np.floating],
    labels: Labels | None,
    points: NDArray[np.int64],
    k: int,
    n_jobs: int,
) -> DataNeighbors:
    k_other = 0 if labels is None else k
    found = find_neighbors(features, labels, k_same=k, k_other=k_other, n_jobs=n_jobs, rows=points)
    return DataNeighbors(
        points, len(features), labels, k, found.indices, found.distances, found.n_same
    )


def take_rows(data: DataNeighbors, rows: slice) -> DataNeighbors:
    """Return the lists of some of the points only."""
    return replace(
        data,
        points=data.points[rows],
        indices=data.indices[rows],
        distances=data.distances[rows],
        n_same=data.n_same[rows],
    )


Map = NDArray[np.floating] | MapNeighbors


def checked_map(embedding: ArrayLike | MapNeighbors) -> tuple[Map, int]:
    """Return positions in a map, or its neighbours as they are, and the number of points."""
    if isinstance(embedding, MapNeighbors):
        return embedding, embedding.n
    positions = check_features(embedding, argument="embedding")
    return positions, len(positions)


def resolve_map(
    embedding: Map, *, k: object, sample: float | None, random_state: object, n_jobs: int
) -> MapNeighbors:
    """Return the neighbours in the map, ``k`` of each point, searched or cut from given ones."""
    if not isinstance(embedding, MapNeighbors):
        size = check_k(k, n=len(embedding))
        points = sample_points(len(embedding), sample, random_state)
        return search_map(embedding, points, size, n_jobs)
    _refuse_sample(sample)
    return _cut(embedding, check_k(k, n=embedding.n))


def resolve_both(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object,
    *,
    k: object,
    sample: float | None,
    random_state: object,
    n_jobs: int,
) -> tuple[MapNeighbors, DataNeighbors]:
    """Return the neighbours of the same points in the map and in the data, checked first."""
    low, n = checked_map(embedding)
    high = X if isinstance(X, DataNeighbors) else check_features(X)
    n_data = high.n if isinstance(high, DataNeighbors) else len(high)
    if n != n_data:
        raise ValueError(f"X and embedding must be of the same points, got {n_data} and {n}")
    size = check_k(k, n=n)
    points = [given.points for given in (low, high) if not isinstance(given, np.ndarray)]
    if points:
        _refuse_sample(sample)
    else:
        points = [sample_points(n, sample, random_state)]
    if not np.array_equal(points[0], points[-1]):
        raise ValueError("the neighbours in the map and in the data must be of the same sample")
    if isinstance(high, DataNeighbors):
        if labels is not None:
            raise TypeError("labels are those of the neighbours in the data; leave them out here")
        _check_length(size, high.k, "X")
    known = None if labels is None else encode_labels(labels, n=n)
    if isinstance(low, MapNeighbors):
        low = _cut(low, size)
    else:
        low = search_map(low, points[0], size, n_jobs)
    if not isinstance(high, DataNeighbors):
        high = _search_data(high, known, points[0], size, n_jobs)
    return low, high


def _cut(found: MapNeighbors, k: int) -> MapNeighbors:
    _check_length(k, found.k, "embedding")
    return replace(found, indices=found.indices[:, :k], distances=found.distances[:, :k])


def _refuse_sample(sample: object) -> None:
    if sample is not None:
        raise TypeError("sample was chosen when the neighbours were searched; leave it out here")


def _check_length(k: int, found: int, argument: str) -> None:
    if k > found:
        raise ValueError(f"k must be at most {found}, the neighbours in {argument}; got {k}")
