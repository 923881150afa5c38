"""Precomputed neighbours: from a matrix of distances, or from a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_matrix, is_sparse
from ctsne.labels import encode_column
from ctsne.neighbors.lists import (
    Neighbors,
    available,
    check_lengths,
    different_labels,
    fill_lists,
)


def neighbors_from_distances(
    distances: ArrayLike, labels: object, k_same: ArrayLike, k_other: ArrayLike
) -> Neighbors:
    """Read both lists of every point from a full matrix of distances.

    Parameters
    ----------
    distances : array-like, shape (n, n)
        Finite and not negative. It need not be symmetric, and the diagonal is ignored.
    labels : array-like of length n, Column or None
    k_same, k_other : int or ndarray of shape (n,)
        Lengths of the lists, as in :func:`ctsne.neighbors.find_neighbors`.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.neighbors import neighbors_from_distances
    >>> D = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> neighbors_from_distances(D, None, 2, 0).indices.tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    if is_sparse(distances):
        raise TypeError("distances is a sparse matrix; use neighbors_from_graph")
    matrix = check_square(distances, "distances")
    n = len(matrix)
    known = None if labels is None else encode_column(labels, n=n)
    same, other = fill_lists(*check_lengths(k_same, k_other, n), *available(known, n))
    indices = np.empty((n, int(same[0] + other[0])), np.int32)
    points = np.arange(n)
    for i, row in enumerate(matrix):
        differs = different_labels(known, points[i], points)
        lists = points[~differs & (points != i)], points[differs]
        indices[i, : same[i]] = nearest(row, lists[0], same[i])
        indices[i, same[i] :] = nearest(row, lists[1], other[i])
    return _with_scale(indices, np.take_along_axis(matrix, indices, axis=1), same)


def neighbors_from_graph(
    graph: Any, labels: object, k_same: ArrayLike, k_other: ArrayLike
) -> Neighbors:
    """Read both lists of every point from a sparse graph of distances.

    A graph made without labels (such as scanpy's) often holds few neighbours of other labels; one
    made for each label separately (such as bbknn's) holds enough of all. Rows are as long as the
    shortest row of the graph allows. Where one list is too short, the other takes the rest.

    Parameters
    ----------
    graph : sparse matrix or array, shape (n, n)
        Entry (i, j) is the distance from i to its neighbour j. Stored zeros are neighbours at
        distance zero; the diagonal is ignored.
    labels : array-like of length n, Column or None
    k_same, k_other : int or ndarray of shape (n,)
        Lengths of the lists to aim for; shorter rows are divided in the same proportion.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from ctsne.neighbors import neighbors_from_graph
    >>> graph = kneighbors_graph(np.arange(5.0)[:, None] ** 2, 2, mode="distance")
    >>> neighbors_from_graph(graph, None, 3, 0).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 4], [3, 2]]
    """
    if not is_sparse(graph):
        raise TypeError(
            "graph must be a sparse matrix; use neighbors_from_distances for a dense one"
        )
    edges = check_square(graph, "graph").tocoo()
    n = edges.shape[0]
    known = None if labels is None else encode_column(labels, n=n)
    wanted, total = check_lengths(k_same, k_other, n)
    keep = edges.row != edges.col
    row, column, distance = edges.row[keep], edges.col[keep], edges.data[keep]
    differs = different_labels(known, row, column)
    has_same = np.bincount(row[~differs], minlength=n)
    has_other = np.bincount(row[differs], minlength=n)
    degree = has_same + has_other
    if degree.min() == 0:
        raise ValueError(
            f"graph has no neighbours for {int((degree == 0).sum())} points "
            f"(first: point {int(degree.argmin())}); remove them or make a graph with more edges"
        )
    length = min(total, int(degree.min()))
    same, _ = fill_lists(-(-length * wanted // total), length, has_same, has_other)
    # Both lists of a row follow each other, each sorted by distance, then index.
    order = np.lexsort((column, distance, differs, row))
    slot, begin = np.arange(length), (np.cumsum(degree) - degree)[:, None]
    skipped = np.where(slot < same[:, None], 0, (has_same - same)[:, None])
    chosen = order[begin + slot + skipped]
    return _with_scale(column[chosen].astype(np.int32), distance[chosen], same)


def check_square(distances: Any, argument: str) -> Any:
    """Return a square matrix without negative entries, or refuse it."""
    matrix = check_matrix(distances, argument=argument)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{argument} must be square, got a matrix of shape {matrix.shape}")
    if matrix.min() < 0:
        raise ValueError(f"{argument} must not contain negative distances, got {matrix.min()}")
    return matrix


def nearest(
    distances: NDArray[np.floating], points: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """Return the k nearest of some points, given in rising order."""
    if k == 0:
        return points[:0]
    among = distances[points]
    # Keep all ties at the last distance; the stable sort then puts the lowest index first.
    close = points[among <= np.partition(among, k - 1)[k - 1]]
    order = np.argsort(distances[close], kind="stable")
    return np.asarray(close[order[:k]])


def _with_scale(
    indices: NDArray[np.int32], distances: NDArray[np.floating], n_same: NDArray[np.int32]
) -> Neighbors:
    return Neighbors(indices, distances.astype(np.float32), n_same, float(distances.max()) or 1.0)
