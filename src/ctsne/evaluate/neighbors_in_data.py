"""The nearest neighbours in the data: the one reference that every measure compares a map with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne._core.checks import check_choice, check_jobs, check_matrix, is_sparse
from ctsne._core.components import check_components, reduced_features
from ctsne._core.vocabulary import MEASURED_POINTS, METRICS, NEIGHBORHOOD
from ctsne.evaluate.curves import ranking
from ctsne.evaluate.neighbors_in_map import (
    Map,
    MapNeighbors,
    checked_map,
    nearest,
    refuse_sample,
    search_map,
)
from ctsne.evaluate.sampling import Points, check_k, sample_points
from ctsne.labels import Column, Labels, combine_columns, encode_column, encode_labels
from ctsne.neighbors import Neighbors, find_neighbors, neighbors_from_distances
from ctsne.neighbors.alignment import Alignment, check_align, choose_alignment
from ctsne.neighbors.lists import different_labels


@dataclass(frozen=True, eq=False)
class DataNeighbors:
    """The nearest neighbours in the data. Every measure accepts this instead of the data.

    Attributes
    ----------
    points, n
        As in :class:`ctsne.evaluate.MapNeighbors`.
    labels : Column or None
        The labels that neighbourhoods are adjusted for: of several columns, each combination of
        their values.
    k : int
        The largest neighbourhood that can be measured.
    indices, distances, n_same : ndarray of int32, float32, int32
        Each row holds first the nearest points that do not have a different label, ``n_same`` of
        them, then the nearest that do: ``k`` of each kind, or all there are. Empty if the
        neighbours are not known (see ``complete``).
    metric, features : str, ndarray or None
        Where neighbours were searched: reduced features, or the full matrix of distances.
    alignment, aligned : str, ndarray of int32 or None
        How points with other labels were aligned (``"none"`` if they were not), and the lists in
        which they are the nearest in the aligned data.
    columns : Labels or None
        The columns, if there are several; the mixing of each is measured.

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
            alignment="none",
            aligned=None,
            columns=None,
            indices=np.take_along_axis(self.indices, order, axis=1),
            distances=np.take_along_axis(self.distances, order, axis=1),
            n_same=np.full(len(self.points), self.k, np.int32),
        )


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
    sample : int, float or None, default=5000
        As in :func:`ctsne.evaluate.map_neighbors`; None measures all points.
    random_state, n_jobs
        As in :func:`ctsne.evaluate.map_neighbors`.

    Returns
    -------
    DataNeighbors

    Examples
    --------
    >>> from ctsne.evaluate import data_neighbors
    >>> data_neighbors([[0.0], [1.0], [3.0], [7.0]], list("abab"), k=1).indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    matrix = check_matrix(X)
    n = matrix.shape[0]
    k = check_k(k, n=n)
    check_choice(metric, "metric", METRICS)
    known, columns = (None, None) if labels is None else read_labels(labels, n)
    how = check_align(align, n, metric)
    features = reference_features(matrix, metric=metric, pca=pca, n_jobs=n_jobs)
    points = sample_points(n, sample, random_state)
    data = DataNeighbors(points, n, known, k, metric=metric, features=features, columns=columns)
    data = search_data(data, n_jobs)
    if known is None or known.n_labels < 2 or features is None:
        return data
    moved = choose_alignment(features, known, how, metric=metric, n_jobs=n_jobs)
    return search_aligned(data, moved, n_jobs)


def read_labels(labels: object, n: int) -> tuple[Column, Labels | None]:
    """Return the labels to adjust for, and the columns they combine if there are several."""
    found = encode_labels(labels, n=n)
    if isinstance(found, Column):
        return found, None
    return encode_column(combine_columns(found.columns)), found


def reference_features(
    matrix: Any, *, metric: str = "euclidean", pca: int | str | None = "auto", n_jobs: int
) -> NDArray[np.floating] | None:
    """Return reduced features, or distances as given; None for a graph of distances."""
    pca = check_components(pca, matrix.shape, metric)
    if metric == "precomputed":
        return None if is_sparse(matrix) else matrix
    return reduced_features(matrix, metric=metric, pca=pca, n_jobs=check_jobs(n_jobs))


def search_data(data: DataNeighbors, n_jobs: int) -> DataNeighbors:
    """Fill the lists, unless the data are a graph that does not hold all neighbours."""
    if data.features is None:
        return data
    found = _search(data, n_jobs)
    rows: Any = data.points if data.metric == "precomputed" else slice(None)
    lists = found.indices[rows], found.distances[rows], found.n_same[rows]
    return replace(data, indices=lists[0], distances=lists[1], n_same=lists[2])


def search_aligned(data: DataNeighbors, moved: Alignment, n_jobs: int) -> DataNeighbors:
    """Add the lists in which points with other labels are the nearest in the aligned data."""
    if moved.points is None or data.features is None:
        return data
    found = _search(data, n_jobs, moved.points)
    return replace(data, alignment=moved.name, aligned=found.indices)


def _search(data: DataNeighbors, n_jobs: int, aligned: Any = None) -> Neighbors:
    assert data.features is not None
    k, k_other = data.k, 0 if data.labels is None else data.k
    if data.metric == "precomputed":
        return neighbors_from_distances(data.features, data.labels, k, k_other)
    return find_neighbors(
        data.features,
        data.labels,
        k_same=k,
        k_other=k_other,
        metric=data.metric,
        n_jobs=n_jobs,
        rows=data.points,
        aligned=aligned,
    )


def take_rows(data: DataNeighbors, rows: slice) -> DataNeighbors:
    """Return the lists of some of the measured points."""
    return replace(
        data,
        points=data.points[rows],
        indices=data.indices[rows],
        distances=data.distances[rows],
        n_same=data.n_same[rows],
    )


def ranked_data(data: DataNeighbors, points: Points) -> DataNeighbors:
    """Form the lists of a search for the largest neighbourhoods, without the distances."""
    assert data.features is not None
    if data.metric == "precomputed":
        distances = data.features[points].astype(np.float64)
    else:
        distances = cdist(data.features[points], data.features, "sqeuclidean")
    other = different_labels(data.labels, points[:, None], np.arange(data.n))
    return replace(
        data,
        points=points,
        k=data.n - 1,
        indices=ranking(distances, points, other),
        n_same=(data.n - 1 - other.sum(axis=1)).astype(np.int32),
    )


def prepared_for_ranking(data: DataNeighbors) -> DataNeighbors:
    """Convert the features once to what distances are computed from."""
    assert data.features is not None
    if data.metric == "precomputed":
        return data
    features = data.features.astype(np.float64)
    if data.metric == "cosine":  # on the sphere, both distances give the same order
        features /= np.linalg.norm(features, axis=1, keepdims=True)
    return replace(data, features=features)


def both_neighbors(
    embedding: Map,
    X: Any,
    labels: object,
    k: object,
    sample: float | None,
    random_state: object,
    n_jobs: int,
) -> tuple[MapNeighbors, DataNeighbors]:
    """Check all arguments, then return the neighbours of the same points in map and data."""
    low, n = checked_map(embedding)
    size = check_k(k, n=n)
    given = [each.points for each in (X, low) if isinstance(each, DataNeighbors | MapNeighbors)]
    if given:
        refuse_sample(sample)
    points = given[0] if given else sample_points(n, sample, random_state)
    if isinstance(X, DataNeighbors):
        _check_lists(X, n, size, labels)
    high = X if isinstance(X, DataNeighbors) else unsearched(X, labels, points, n, size, n_jobs)
    if not isinstance(low, MapNeighbors):
        low = search_map(low, points, size, n_jobs)
    else:
        low = nearest(low, size)
        if not np.array_equal(low.points, points):
            if len(low.points) < n:
                raise ValueError("the neighbours in map and data must be of the same sample")
            low = MapNeighbors(points, n, low.indices[points], low.distances[points])
    return low, high if high.complete else search_data(high, n_jobs)


def unsearched(
    X: Any, labels: object, points: Points, n: int, k: int, n_jobs: int
) -> DataNeighbors:
    """Check data that belong to a map of n points, and reduce their features."""
    matrix = check_matrix(X)
    check_same_points(matrix.shape[0], n)
    known = None if labels is None else encode_column(labels, n=n)
    return DataNeighbors(points, n, known, k, features=reference_features(matrix, n_jobs=n_jobs))


def check_same_points(n_data: int, n_map: int) -> None:
    """Refuse a map and data of different numbers of points."""
    if n_data != n_map:
        raise ValueError(f"X and embedding must be of the same points, got {n_data} and {n_map}")


def _check_lists(data: DataNeighbors, n: int, k: int, labels: object) -> None:
    check_same_points(data.n, n)
    if labels is not None:
        raise TypeError("labels are those of the neighbours in the data; leave them out here")
    if not data.complete:
        raise ValueError(
            "X is a sparse graph of distances, which does not hold all neighbourhoods; pass "
            "features or a full matrix of distances"
        )
    if k > data.k:
        raise ValueError(f"k must be at most {data.k}, the neighbours in X; got {k}")
