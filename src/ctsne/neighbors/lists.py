"""The two lists of neighbours of every point, and how long each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.labels import Labels


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Neighbours of ``n`` points, ``K`` each, in two lists.

    Row ``i`` holds first the ``n_same[i]`` nearest points that do *not* have a different label
    (the same one, or none), then the nearest points that do; each list in order of distance.

    Attributes
    ----------
    indices : ndarray of int32, shape (n, K)
    distances : ndarray of float32, shape (n, K)
    n_same : ndarray of int32, shape (n,)
    scale : float
        Half-width of the data, in units of distance: the largest absolute coordinate around the
        mean (1 for cosine distances), or the largest distance where there are no coordinates.
        Calibration of conditioned rows starts from a kernel this wide.
    recall : float
        Share of the true neighbours that the lists hold, measured on 1,000 points; 1 where the
        search was exact.
    unaligned : Unaligned or None
        Where the second list was searched among aligned points: what some points would have had
        without that.

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


@dataclass(frozen=True, eq=False)
class Unaligned:
    """Neighbours of some points in the data as they are.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        The points.
    neighbors : Neighbors
        A row for each of them.
    """

    rows: NDArray[np.int64]
    neighbors: Neighbors


def paper_lengths(
    labels: Labels | None, n: int, perplexity: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """List lengths of the paper's methods: half of three times the perplexity each.

    Parameters
    ----------
    labels : Labels or None
        Without labels there is one list of three times the perplexity.
    n : int
        Number of points.
    perplexity : float

    Returns
    -------
    k_same, k_other : ndarray of int32, shape (n,)

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import paper_lengths
    >>> same, other = paper_lengths(encode_labels(list("aaaab")), 5, 1.0)
    >>> same.tolist(), other.tolist()
    ([2, 2, 2, 2, 0], [1, 1, 1, 1, 3])
    """
    return half_lengths(labels, n, ceil(3 * perplexity))


def balanced_lengths(
    labels: Labels, perplexity: float, strength: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """List lengths of ``balanced``: from half each to three times the perplexity of each list.

    Strength 0 leaves the share of other labels as it is in the data, and halves the row as the
    paper does. At strength 1 that share is known beforehand. However many labels there are, a point
    keeps one neighbour of its own if it has any.

    Parameters
    ----------
    labels : Labels
    perplexity : float
    strength : float or ndarray of shape (n_labels,)

    Returns
    -------
    k_same, k_other : ndarray of int32, shape (n,)

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import balanced_lengths
    >>> same, other = balanced_lengths(encode_labels(list("aaabb")), 1.0, 1.0)
    >>> same.tolist(), other.tolist()
    ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2])
    """
    n = labels.n_points
    total = min(ceil(3 * perplexity), n - 1)
    strengths = np.broadcast_to(np.asarray(strength, np.float64), labels.counts.shape)
    random = (labels.counts.sum() - labels.counts) / max(1, n - 1)
    share = np.append(strengths * random + (1 - strengths) / 2, 0.0)[labels.codes]
    other = np.minimum(np.ceil(share * 3 * perplexity), total - 1).astype(np.int64)
    return fill_lists(total - other, total, *available(labels, n))


def half_lengths(
    labels: Labels | None, n: int, total: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lengths of two lists that halve a row of neighbours.

    Parameters
    ----------
    labels : Labels or None
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
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import half_lengths
    >>> same, other = half_lengths(encode_labels(["a", "b"] * 5), 10, 6)
    >>> same.tolist() == other.tolist() == [3] * 10
    True
    """
    return fill_lists(np.full(n, (min(total, n - 1) + 1) // 2), total, *available(labels, n))


def check_lengths(k_same: ArrayLike, k_other: ArrayLike, n: int) -> tuple[NDArray[np.int64], int]:
    """Return the wanted lengths of the first lists and the common length of the rows."""
    lengths = []
    for argument, value in (("k_same", k_same), ("k_other", k_other)):
        array = np.asarray(value)
        if array.dtype.kind not in "iu" or array.shape not in ((), (n,)):
            raise TypeError(
                f"{argument} must be a whole number or an array of {n} whole numbers, one for each "
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


def available(labels: Labels | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the points that could stand in each list of every point, itself left out.

    An unlabelled point conditions nothing: it belongs to the first list of everybody, and all
    points belong to its own first list.
    """
    other = np.zeros(n, np.int64)
    if labels is not None:
        labelled = labels.codes >= 0
        other[labelled] = labels.counts.sum() - labels.counts[labels.codes[labelled]]
    return n - 1 - other, other


def fill_lists(
    same: NDArray[np.int64], total: int, has_same: NDArray[np.int64], has_other: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lengths of both lists where the first should be ``same`` of ``total``.

    A list with too few candidates gives what it has, and the other takes the rest.
    """
    total = min(total, int((has_same + has_other).min()))
    other = np.minimum(total - np.minimum(same, has_same), has_other)
    return (total - other).astype(np.int32), other.astype(np.int32)


def different_labels(
    labels: Labels | None, i: NDArray[np.integer], j: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Tell which pairs have two labels that differ."""
    if labels is None:
        return np.zeros(np.broadcast_shapes(i.shape, j.shape), np.bool_)
    a, b = labels.codes[i], labels.codes[j]
    differ = a != b
    return np.asarray(differ & (a >= 0) & (b >= 0) if labels.n_missing else differ)
