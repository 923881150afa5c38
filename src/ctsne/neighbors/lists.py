"""The lists of neighbours of every point, their lengths, and selections from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_count, check_kind, check_number
from ctsne.labels import Column

Lengths = tuple[NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Neighbours of ``n`` points in two or more lists, ``K`` per point.

    Row ``i`` holds first the ``n_same[i]`` nearest points that do *not* have a different label
    (the same one, or none), then the nearest points that do. With several label columns, the
    latter are in one list for every pattern of columns that differ. Each list is sorted by
    distance.

    Attributes
    ----------
    indices : ndarray of int32, shape (n, K)
    distances : ndarray of float32, shape (n, K)
    n_same : ndarray of int32, shape (n,)
        Length of the first list.
    scale : float
        Half-width of the data, in units of distance: the largest absolute coordinate around the
        mean (1 for cosine distances), or the largest distance if there are no coordinates.
        Calibration of conditioned rows starts from a kernel this wide.
    recall : float
        Share of the true neighbours in the lists, measured on 1,000 points; 1 if the search was
        exact.
    unaligned : Unaligned or None
        If the second list was searched among aligned points: the neighbours of some points without
        alignment.
    patterns : tuple of int
        Which columns differ in each list, as a bit mask: 1 for the first column, 2 for the second,
        4 for the third. The first list has pattern 0.
    lengths : ndarray of int32, shape (n, P)
        Lengths of all lists.

    Examples
    --------
    >>> from ctsne.neighbors import find_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=1, k_other=2)
    >>> found.indices.tolist()
    [[2, 1, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]]
    >>> found.n_same.tolist(), found.scale
    ([1, 1, 1, 1], 5.0)
    """

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]
    n_same: NDArray[np.int32]
    scale: float
    recall: float = 1.0
    unaligned: Unaligned | None = None
    patterns: tuple[int, ...] = (0, 1)
    lengths: NDArray[np.int32] = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.lengths is None:
            other = self.indices.shape[1] - self.n_same
            object.__setattr__(self, "lengths", np.stack([self.n_same, other], axis=1))


@dataclass(frozen=True, eq=False)
class Unaligned:
    """Neighbours of some points in the data without alignment, one row per point."""

    rows: NDArray[np.int64]
    neighbors: Neighbors


def paper_lengths(labels: Column | None, n: int, perplexity: float) -> Lengths:
    """Return the list lengths of the paper's methods: each 1.5 times the perplexity.

    Parameters
    ----------
    labels : Column or None
        Without labels there is one list of three times the perplexity.
    n : int
        Number of points.
    perplexity : float

    Returns
    -------
    k_same, k_other : ndarray of int32, shape (n,)

    Examples
    --------
    >>> from ctsne.labels import encode_column
    >>> from ctsne.neighbors import paper_lengths
    >>> same, other = paper_lengths(encode_column(list("aaaab")), 5, 1.0)
    >>> same.tolist(), other.tolist()
    ([2, 2, 2, 2, 0], [1, 1, 1, 1, 3])
    """
    return half_lengths(labels, n, ceil(3 * check_number(perplexity, "perplexity", low=0)))


def balanced_lengths(labels: Column, perplexity: float, strength: ArrayLike) -> Lengths:
    """Return the list lengths of ``balanced``: three times the perplexity of each list.

    At strength 1 the share of other labels is known beforehand. At strength 0 it is that of the
    data, and both lists get half of the row, as in the paper. However many labels there are, a
    point keeps at least one neighbour of its own label, if there is one.

    Parameters
    ----------
    labels : Column
    perplexity : float
    strength : float or ndarray of shape (n_labels,)

    Returns
    -------
    k_same, k_other : ndarray of int32, shape (n,)

    Examples
    --------
    >>> from ctsne.labels import encode_column
    >>> from ctsne.neighbors import balanced_lengths
    >>> same, other = balanced_lengths(encode_column(list("aaabb")), 1.0, 1.0)
    >>> same.tolist(), other.tolist()
    ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2])
    """
    check_kind(labels, Column, "labels")
    n = labels.n_points
    total = min(ceil(3 * check_number(perplexity, "perplexity", low=0)), n - 1)
    strengths = np.asarray(as_numbers(strength, argument="strength"), np.float64)
    if strengths.shape not in ((), labels.counts.shape):
        raise ValueError(f"strength must be one number or one per label ({labels.n_labels})")
    strengths = np.broadcast_to(strengths, labels.counts.shape)
    random = (labels.counts.sum() - labels.counts) / max(1, n - 1)
    share = np.append(strengths * random + (1 - strengths) / 2, 0.0)[labels.codes]
    other = np.minimum(np.ceil(share * 3 * perplexity), total - 1).astype(np.int64)
    return fill_lists(total - other, total, *available(labels, n))


def half_lengths(labels: Column | None, n: int, total: int) -> Lengths:
    """Return the lengths of two lists that share a row of neighbours equally.

    Parameters
    ----------
    labels : Column or None
        Without labels there is one list.
    n : int
        Number of points.
    total : int
        Length of the row.

    Returns
    -------
    k_same, k_other : ndarray of int32, shape (n,)

    Examples
    --------
    >>> from ctsne.labels import encode_column
    >>> from ctsne.neighbors import half_lengths
    >>> same, other = half_lengths(encode_column(["a", "b"] * 5), 10, 6)
    >>> same.tolist() == other.tolist() == [3] * 10
    True
    """
    check_count(n, "n", low=1)
    check_count(total, "total", low=0)
    return fill_lists(np.full(n, (min(total, n - 1) + 1) // 2), total, *available(labels, n))


def check_lengths(k_same: ArrayLike, k_other: ArrayLike, n: int) -> tuple[NDArray[np.int64], int]:
    """Return the wanted lengths of the first lists and the common length of the rows."""
    lengths = []
    for argument, value in (("k_same", k_same), ("k_other", k_other)):
        array = np.asarray(value)
        if array.dtype.kind not in "iu" or array.shape not in ((), (n,)):
            raise TypeError(
                f"{argument} must be a whole number or an array of {n} whole numbers, one per "
                f"point; got {array.dtype} of shape {array.shape}"
            )
        if array.min() < 0:
            raise ValueError(f"{argument} must not be negative, got {array.min()}")
        lengths.append(np.broadcast_to(array.astype(np.int64), (n,)))
    total = lengths[0] + lengths[1]
    if total.min() < 1 or total.min() != total.max():
        raise ValueError(
            "k_same + k_other must be positive and the same for all points, got sums from "
            f"{total.min()} to {total.max()}"
        )
    return lengths[0], int(total[0])


def available(labels: Column | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the points that each list of every point could hold, without the point itself.

    Pairs with an unlabelled point are not conditioned: both points belong to each other's first
    list.
    """
    other = np.zeros(n, np.int64)
    if labels is not None:
        check_kind(labels, Column, "labels")
        if labels.n_points != n:
            raise ValueError(f"labels must be those of {n} points, got {labels.n_points}")
        labelled = labels.codes >= 0
        other[labelled] = labels.counts.sum() - labels.counts[labels.codes[labelled]]
    return n - 1 - other, other


def fill_lists(
    same: NDArray[np.int64], total: int, has_same: NDArray[np.int64], has_other: NDArray[np.int64]
) -> Lengths:
    """Return the lengths of both lists if the first should hold ``same`` of ``total``.

    If a list has too few candidates, it holds all of them and the other list takes the rest.
    """
    total = min(total, int((has_same + has_other).min()))
    other = np.minimum(total - np.minimum(same, has_same), has_other)
    return (total - other).astype(np.int32), other.astype(np.int32)


def different_labels(
    labels: Column | None, i: NDArray[np.integer], j: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return which pairs have two labels that differ; a missing label differs from none."""
    if labels is None:
        return np.zeros(np.broadcast_shapes(i.shape, j.shape), np.bool_)
    a, b = labels.codes[i], labels.codes[j]
    differ = a != b
    return np.asarray(differ & (a >= 0) & (b >= 0) if labels.n_missing else differ)


def select_neighbors(
    neighbors: Neighbors, k_same: NDArray[np.integer], k_other: NDArray[np.integer]
) -> Neighbors:
    """Keep the nearest points of both lists.

    Parameters
    ----------
    neighbors : Neighbors
        Its lists must be at least as long as those to keep.
    k_same, k_other : ndarray of int, shape (n,)
        Lengths to keep, as from :func:`ctsne.neighbors.paper_lengths`; their sum is constant.

    Returns
    -------
    Neighbors
        The same as a search for these lengths, if ``neighbors`` is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.neighbors import find_neighbors, select_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=1, k_other=2)
    >>> one = np.ones(4, np.int32)
    >>> select_neighbors(found, one, one).indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    check_kind(neighbors, Neighbors, "neighbors")
    same, total = check_lengths(k_same, k_other, len(neighbors.indices))
    n_other = neighbors.indices.shape[1] - neighbors.n_same
    if (same > neighbors.n_same).any() or (total - same > n_other).any():
        raise ValueError("neighbors has shorter lists than k_same and k_other select")
    column = np.arange(total)
    skipped = np.where(column < same[:, None], 0, (neighbors.n_same - same)[:, None])
    chosen = _columns(neighbors, column + skipped, same.astype(np.int32))
    plain = neighbors.unaligned
    if plain is None:
        return chosen
    rows = plain.rows
    some = select_neighbors(plain.neighbors, same[rows], total - same[rows])
    return replace(chosen, unaligned=replace(plain, neighbors=some))


def merge_neighbors(neighbors: Neighbors, k: int) -> Neighbors:
    """Merge the two lists into one of the nearest points of any label.

    Parameters
    ----------
    neighbors : Neighbors
        Each list must hold at least ``k`` points, or all candidates.
    k : int

    Returns
    -------
    Neighbors
        The same as a search without labels, if ``neighbors`` is exact.

    Examples
    --------
    >>> from ctsne.neighbors import find_neighbors, merge_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=2, k_other=2)
    >>> merge_neighbors(found, 2).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
    check_kind(neighbors, Neighbors, "neighbors")
    check_count(k, "k", low=1, high=neighbors.indices.shape[1])
    order = np.lexsort((neighbors.indices, neighbors.distances), axis=1)[:, :k]
    return _columns(neighbors, order, np.full(len(order), order.shape[1], np.int32))


def _columns(
    neighbors: Neighbors, columns: NDArray[np.integer], n_same: NDArray[np.int32]
) -> Neighbors:
    return Neighbors(
        np.ascontiguousarray(np.take_along_axis(neighbors.indices, columns, axis=1)),
        np.ascontiguousarray(np.take_along_axis(neighbors.distances, columns, axis=1)),
        n_same,
        neighbors.scale,
        neighbors.recall,
    )
