"""The nearest neighbours in a map and in the data, searched once for all measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from ctsne._core.checks import check_choice, check_data, check_features, check_jobs, is_sparse
from ctsne._core.components import check_components, projected_features
from ctsne._core.vocabulary import MEASURED_POINTS, METRICS, NEIGHBORHOOD
from ctsne.evaluate.sampling import Floats, Indices, Points, Positions, check_k, sample_points
from ctsne.labels import Column, Labels, combine_columns, encode_column, encode_labels
from ctsne.neighbors import find_neighbors, read_neighbors
from ctsne.neighbors.alignment import Alignment, check_align, choose_alignment
from ctsne.neighbors.patterns import different_labels

# Maps have one to three dimensions; with more, a tree visits most of the points.
_TREE_DIMENSIONS = 3


@dataclass(frozen=True, eq=False)
class MapNeighbors:
    """The nearest neighbours in a map, the nearest first. Every measure accepts this instead."""

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
        Largest neighbourhood to measure.
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
    >>> from ctsne.evaluate import laplacian, map_neighbors
    >>> found = map_neighbors([[0.0], [1.0], [3.0], [7.0]], k=2)
    >>> laplacian(found, list("aabb"), k=1), laplacian(found, list("abab"), k=2)
    (0.25, 0.625)
    """
    positions = check_features(embedding, argument="embedding")
    k = check_k(k, n=len(positions))
    return search_map(positions, sample_points(len(positions), sample, random_state), k, n_jobs)


def search_map(positions: Positions, points: Points, k: int, n_jobs: int) -> MapNeighbors:
    """Find the neighbours of given points in the map."""
    n = len(positions)
    if positions.shape[1] > _TREE_DIMENSIONS:
        found = find_neighbors(positions, lengths=k, n_jobs=n_jobs, rows=points)
        return MapNeighbors(points, n, found.indices, found.distances)
    # The point itself, its k neighbours, and one more, which shows whether the last one is tied.
    places = positions.astype(np.float64)
    answer = cKDTree(places).query(places[points], min(k + 2, n), workers=check_jobs(n_jobs))
    distances, indices = map(np.asarray, answer)
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
            found = find_neighbors(positions, lengths=k, n_jobs=n_jobs, rows=points[tied])
            indices[tied], distances[tied] = found.indices, found.distances
    return MapNeighbors(points, n, np.ascontiguousarray(indices), distances.astype(np.float32))


def check_map(embedding: Map) -> tuple[Positions | MapNeighbors, int]:
    """Return checked positions, or given neighbours unchanged, and the number of points."""
    if isinstance(embedding, MapNeighbors):
        return embedding, embedding.n
    positions = check_features(embedding, argument="embedding")
    return positions, len(positions)


def labelled_neighbors(
    embedding: Map, labels: object, k: object, n_jobs: int
) -> tuple[MapNeighbors, Column]:
    """Return ``k`` neighbours per point, searched or taken from given ones, and the labels."""
    given, n = check_map(embedding)
    column, size = encode_column(labels, n=n), check_k(k, n=n)
    points = given.points if isinstance(given, MapNeighbors) else np.arange(n)
    return _nearest(given, size, points, n_jobs), column


def _nearest(given: Positions | MapNeighbors, k: int, points: Points, n_jobs: int) -> MapNeighbors:
    """Return the k nearest neighbours of some points, searched or taken from given ones."""
    if not isinstance(given, MapNeighbors):
        return search_map(given, points, k, n_jobs)
    if k > given.k:
        raise ValueError(f"k must be at most {given.k}, the neighbours in embedding; got {k}")
    rows: Any = slice(None)
    if not np.array_equal(given.points, points):
        if len(given.points) < given.n:
            raise ValueError("the neighbours in map and data must be of the same sample")
        rows = points
    return replace(
        given, points=points, indices=given.indices[rows, :k], distances=given.distances[rows, :k]
    )


@dataclass(frozen=True, eq=False)
class DataNeighbors:
    """The nearest neighbours in the data. Every measure accepts this instead of the data."""

    # Each row of ``indices`` holds first the nearest points that do not have a different label,
    # ``n_same`` of them, then the nearest that do: ``k`` of each kind, or all there are. Empty
    # if the neighbours are not known (see ``complete``). ``aligned`` has the lists in which points
    # of other labels are the nearest in the aligned data, ``features`` are what was searched.
    points: NDArray[np.int64]
    n: int
    labels: Column | None
    k: int
    indices: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 0), np.int32))
    distances: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    n_same: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    metric: str = "euclidean"
    features: NDArray[np.floating] | None = None
    alignment: str = "none"
    aligned: NDArray[np.int32] | None = None
    columns: Labels | None = None

    @property
    def complete(self) -> bool:
        """Whether all neighbourhoods are known. A sparse graph of distances does not hold them."""
        return bool(self.indices.shape[1])

    def adjusted(self, near: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return neighbourhoods with as many points of the same label as those of a map.

        ``near`` holds neighbours of the same points in the map, the nearest first. The first k
        entries of a row of the result are the set ``v_i^k`` of the paper (section 4.1).
        """
        numbers = isinstance(near, np.ndarray) and near.ndim == 2 and near.dtype.kind in "iu"
        if not numbers or len(near) != len(self.points):
            raise TypeError(f"near must be neighbours of the {len(self.points)} points measured")
        k = near.shape[1]
        other = different_labels(self.labels, self.points[:, None], near)
        n_other = other.sum(axis=1)[:, None]
        n_same = self.n_same[:, None]
        position = np.arange(self.indices.shape[1])
        result = np.empty_like(near)
        result[~other] = self.indices[position < k - n_other]
        result[other] = self.indices[(position >= n_same) & (position < n_same + n_other)]
        return result

    def without_labels(self) -> DataNeighbors:
        """Merge both lists into one, for measures that ignore labels."""
        order = np.lexsort((self.indices, self.distances), axis=1)[:, : self.k]
        return replace(
            self,
            labels=None,
            columns=None,
            alignment="none",
            aligned=None,
            indices=np.take_along_axis(self.indices, order, axis=1),
            distances=np.take_along_axis(self.distances, order, axis=1),
            n_same=np.full(len(self.points), self.k, np.int32),
        )

    def _of_rows(self, rows: slice) -> DataNeighbors:
        lists = {name: getattr(self, name)[rows] for name in ("indices", "distances", "n_same")}
        return replace(self, points=self.points[rows], **lists)


def data_neighbors(
    X: Any,
    labels: object = None,
    *,
    k: int = NEIGHBORHOOD,
    metric: str = "euclidean",
    pca: int | str | None = "auto",
    align: Any = "none",
    sample: float | None = MEASURED_POINTS,
    random_state: object = 0,
    n_jobs: int = -1,
) -> DataNeighbors:
    """Search the neighbours in the data once, for all measures and all maps.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n, d)
        Features; with ``metric="precomputed"`` distances. A sparse graph of distances does not
        hold all neighbourhoods (``complete`` is False): only mixing can be measured.
    labels : array-like of shape (n,) or (n, c), mapping of name to column, optional
        The labels to adjust for. Several columns are adjusted for as their combination.
    k : int, default=30
        Largest neighbourhood to measure, from 1 to n - 2.
    metric, pca, align
        As in :class:`ctsne.ConditionalTSNE`; with the values that a map was made with, it is
        compared with the neighbours it was made from. An alignment adds lists in which neighbours
        with other labels are searched among aligned points, for the measure ``aligned_rnx``.
    sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.map_neighbors`; ``sample=None`` measures all points.

    Returns
    -------
    DataNeighbors

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_rnx, data_neighbors
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> data = data_neighbors(X, list("abab"), k=2)
    >>> [adjusted_rnx(embedding, data, k=1) for embedding in (X, [[0], [2], [3], [1]])]
    [1.0, -0.125]
    """
    matrix = check_data(X)
    n = matrix.shape[0]
    k = check_k(k, n=n)
    check_choice(metric, "metric", METRICS)
    known, columns = (None, None) if labels is None else read_labels(labels, n)
    how = check_align(align, n, metric)
    features = _features(matrix, metric, pca, n_jobs)
    points = sample_points(n, sample, random_state)
    data = DataNeighbors(points, n, known, k, metric=metric, features=features, columns=columns)
    data = search_data(data, n_jobs)
    if known is None or known.n_labels < 2 or features is None:
        return data
    by = columns if columns is not None and columns.numbers else encode_labels(known)
    moved = choose_alignment(features, by, how, metric=metric, n_jobs=n_jobs)
    return search_data(data, n_jobs, moved)


def read_labels(labels: object, n: int) -> tuple[Column, Labels]:
    """Return the labels to adjust for, and the columns they combine."""
    columns = encode_labels(labels, n=n)
    columns.refuse_identifiers()
    missing = columns.codes < 0
    if np.array_equal(missing.any(axis=1), missing.all(axis=1)):
        return columns.combined, columns
    return encode_column(combine_columns(columns.columns)), columns


def _features(matrix: Any, metric: str, pca: int | str | None, n_jobs: int) -> Positions | None:
    """Return reduced features, or distances as given; None for a graph of distances."""
    pca = check_components(pca, matrix.shape, metric)
    if metric == "precomputed":
        return None if is_sparse(matrix) else matrix
    return projected_features(matrix, metric=metric, pca=pca, n_jobs=check_jobs(n_jobs))[0]


def search_data(data: DataNeighbors, n_jobs: int, moved: Alignment | None = None) -> DataNeighbors:
    """Fill the lists; with an alignment, add those among aligned points; a graph gets none."""
    aligned = None if moved is None else moved.points
    if data.features is None or (moved is not None and aligned is None):
        return data
    if data.metric == "precomputed":
        found = read_neighbors(data.features, data.labels, lengths=data.k)
    else:
        found = find_neighbors(
            data.features,
            data.labels,
            lengths=data.k,
            metric=data.metric,
            n_jobs=n_jobs,
            rows=data.points,
            aligned=aligned,
        )
    if moved is not None:
        return replace(data, alignment=moved.name, aligned=found.indices)
    rows: Any = data.points if data.metric == "precomputed" else slice(None)
    lists = found.indices[rows], found.distances[rows], found.lengths[rows, 0]
    return replace(data, indices=lists[0], distances=lists[1], n_same=lists[2])


def both_neighbors(
    embedding: Map, X: Any, labels: Any, k: object, n_jobs: int
) -> tuple[MapNeighbors, DataNeighbors]:
    """Check all arguments, then return the neighbours of the same points in map and data."""
    given, n = check_map(embedding)
    size = check_k(k, n=n)
    if isinstance(X, DataNeighbors):
        check_same_points(X.n, n)
        if labels is not None:
            raise TypeError("labels are those of the neighbours in the data; leave them out here")
        if not X.complete:
            what = "X is a sparse graph of distances, which does not hold all neighbourhoods"
            raise ValueError(f"{what}; pass features or a full matrix of distances")
        if size > X.k:
            raise ValueError(f"k must be at most {X.k}, the neighbours in X; got {size}")
        return _nearest(given, size, X.points, n_jobs), X
    points = given.points if isinstance(given, MapNeighbors) else np.arange(n)
    data = unsearched(X, labels, points, n, size, n_jobs)
    return _nearest(given, size, points, n_jobs), search_data(data, n_jobs)


def unsearched(X: Any, labels: Any, points: Points, n: int, k: int, n_jobs: int) -> DataNeighbors:
    """Check data that belong to a map of n points, and reduce their features."""
    matrix = check_data(X)
    check_same_points(matrix.shape[0], n)
    known = None if labels is None else encode_column(labels, n=n)
    features = _features(matrix, "euclidean", "auto", n_jobs)
    return DataNeighbors(points, n, known, k, features=features)


def check_same_points(n_data: int, n_map: int) -> None:
    """Refuse a map and data of different numbers of points."""
    if n_data != n_map:
        raise ValueError(f"X and embedding must be of the same points, got {n_data} and {n_map}")


def rank_data(data: DataNeighbors) -> Callable[[Points], DataNeighbors]:
    """Return a function that makes the longest possible lists of points, without distances."""
    features, given = np.asarray(data.features), data.metric == "precomputed"
    if not given:
        features = features.astype(np.float64)
    if data.metric == "cosine":  # on the sphere, both distances give the same order
        features /= np.linalg.norm(features, axis=1, keepdims=True)

    def ranked(points: Points) -> DataNeighbors:
        own = features[points]
        distances = own.astype(np.float64) if given else cdist(own, features, "sqeuclidean")
        other = different_labels(data.labels, points[:, None], np.arange(data.n))
        n_same = (data.n - 1 - other.sum(axis=1)).astype(np.int32)
        indices = rank_points(distances, points, other)
        return replace(data, points=points, k=data.n - 1, indices=indices, n_same=n_same)

    return ranked


def rank_points(
    distances: Floats, points: Points, last: NDArray[np.bool_] | None = None
) -> Indices:
    """Order all other points by distance, marked ones after the rest; rescales ``distances``."""
    distances /= distances.max() or 1.0  # into the range of single precision
    # One whole number per pair orders by mark, distance and index, and sorts fastest. The distances
    # were computed in double precision; for a ranking of all points, seven digits are enough.
    keys = distances.astype(np.float32).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(distances.shape[1], dtype=np.uint64)
    if last is not None:
        keys |= last.astype(np.uint64) << np.uint64(63)
    keys[np.arange(len(points)), points] = np.iinfo(np.uint64).max  # the point itself comes last
    keys.sort(axis=1)
    return keys[:, :-1].astype(np.uint32).astype(np.int32)
