"""Neighbours that somebody has computed already: a distance matrix, or a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne.labels import Labels
from ctsne.neighbors.lists import Neighbors

_ROWS_AT_ONCE = 4_000_000


def neighbors_from_distances(
    distances: ArrayLike,
    labels: Labels | None,
    k_same: NDArray[np.int32],
    k_other: NDArray[np.int32],
) -> Neighbors:
    """Read both lists of every point off a full matrix of distances.

    Parameters
    ----------
    distances : array-like, shape (n, n)
        Not negative; the diagonal is not read. It need not be symmetric.
    labels : Labels or None
    k_same, k_other : ndarray of shape (n,)
        Lengths of the lists, as from :func:`ctsne.neighbors.paper_lengths`.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.neighbors import neighbors_from_distances, paper_lengths
    >>> D = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> neighbors_from_distances(D, None, *paper_lengths(None, 3, 0.5)).indices.tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    matrix = np.asarray(distances)
    n = len(matrix)
    if matrix.ndim != 2 or matrix.shape != (n, n):
        raise ValueError(f"distances must be a square matrix, got an array of shape {matrix.shape}")
    if not (matrix >= 0).all():
        raise ValueError("distances must be non-negative and without NaN")
    length = int(k_same[0] + k_other[0])
    codes = np.full(n, -1, np.int32) if labels is None else labels.codes
    indices = np.empty((n, length), np.int32)
    found = np.empty((n, length), np.float32)
    step = max(1, _ROWS_AT_ONCE // n)
    for begin in range(0, n, step):
        rows = np.arange(begin, min(n, begin + step))
        block = np.array(matrix[rows], np.float64)
        differs = (codes[rows, None] >= 0) & (codes[None, :] >= 0) & (codes[rows, None] != codes)
        for at, wanted, apart in ((0, k_same, False), (1, k_other, True)):
            masked = np.where(differs == apart, block, np.inf)
            masked[np.arange(len(rows)), rows] = np.inf
            most = int(wanted[rows].max())
            nearest = np.argsort(masked, axis=1, kind="stable")[:, :most]
            _place(indices, found, rows, nearest, masked, wanted, k_same if at else None)
    return Neighbors(indices, found, k_same, _scale(found))


def _scale(found: NDArray[np.float32]) -> float:
    return float(found.max()) or 1.0


def _place(
    indices: NDArray[np.int32],
    found: NDArray[np.float32],
    rows: NDArray[np.int64],
    nearest: NDArray[np.int64],
    values: NDArray[np.float64],
    wanted: NDArray[np.int32],
    offset: NDArray[np.int32] | None,
) -> None:
    """Write the first ``wanted`` of each row's nearest, from column ``offset`` of the row on."""
    local, rank = np.nonzero(np.arange(nearest.shape[1]) < wanted[rows, None])
    columns = rank if offset is None else rank + offset[rows[local]]
    chosen = nearest[local, rank]
    indices[rows[local], columns] = chosen
    found[rows[local], columns] = values[local, chosen]


def neighbors_from_graph(
    graph: Any, labels: Labels | None, k_same: NDArray[np.int32], k_other: NDArray[np.int32]
) -> Neighbors:
    """Read both lists of every point off a sparse graph of distances.

    A graph made without regard to the labels (scanpy's, say) often holds few neighbours of other
    labels; one made for each label by itself (bbknn's) holds them all. The lists take what there
    is: rows are as long as the shortest row of the graph allows, and where a list is short the
    other takes its place.

    Parameters
    ----------
    graph : sparse matrix or array, shape (n, n)
        Entry (i, j) is the distance from i to its neighbour j; stored zeros are neighbours at
        distance zero, the diagonal is not read.
    labels : Labels or None
    k_same, k_other : ndarray of shape (n,)
        Lengths of the lists to aim at.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from ctsne.neighbors import neighbors_from_graph, paper_lengths
    >>> graph = kneighbors_graph(np.arange(5.0)[:, None] ** 2, 2, mode="distance")
    >>> neighbors_from_graph(graph, None, *paper_lengths(None, 5, 1)).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1], [3, 2]]
    """
    if not sp.issparse(graph) or graph.shape[0] != graph.shape[1]:
        raise ValueError("graph must be a square sparse matrix of distances")
    edges = sp.csr_array(graph).tocoo()
    if not (edges.data >= 0).all():
        raise ValueError("the distances of a graph must be non-negative and without NaN")
    n = edges.shape[0]
    keep = edges.row != edges.col
    row, column = edges.row[keep], edges.col[keep]
    distance = edges.data[keep].astype(np.float64)
    codes = np.full(n, -1, np.int32) if labels is None else labels.codes
    differs = (codes[row] >= 0) & (codes[column] >= 0) & (codes[row] != codes[column])
    order = np.lexsort((column, distance, differs, row))
    row, column, distance = row[order], column[order], distance[order]
    degree = np.bincount(row, minlength=n)
    if degree.min() == 0:
        raise ValueError(f"point {int(degree.argmin())} has no neighbour in the graph")
    length = min(int(k_same[0] + k_other[0]), int(degree.min()))
    n_other = np.bincount(row, weights=differs[order], minlength=n).astype(np.int64)
    has_same = degree - n_other
    same = np.minimum(-(-length * k_same.astype(np.int64) // (k_same + k_other)), has_same)
    other = np.minimum(length - same, n_other)
    same = length - other
    first = np.cumsum(degree) - degree
    rank = np.arange(len(row)) - first[row]
    in_other = rank >= has_same[row]
    slot = np.where(in_other, rank - has_same[row] + same[row], rank)
    chosen = np.where(in_other, rank - has_same[row] < other[row], rank < same[row])
    indices = np.empty((n, length), np.int32)
    found = np.empty((n, length), np.float32)
    indices[row[chosen], slot[chosen]] = column[chosen]
    found[row[chosen], slot[chosen]] = distance[chosen]
    return Neighbors(indices, found, same.astype(np.int32), _scale(found))
