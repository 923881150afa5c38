"""Shorter lists out of longer ones: many settings on one search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count
from ctsne.neighbors.lists import Neighbors, check_lengths


def select_neighbors(
    neighbors: Neighbors, k_same: NDArray[np.integer], k_other: NDArray[np.integer]
) -> Neighbors:
    """Keep the nearest of both lists.

    Parameters
    ----------
    neighbors : Neighbors
        With lists at least as long.
    k_same, k_other : ndarray of int, shape (n,)
        Lengths to keep, of a constant sum, as from :func:`ctsne.neighbors.paper_lengths`.

    Returns
    -------
    Neighbors
        What an exact search for these lengths would have found, if ``neighbors`` is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.neighbors import find_neighbors, select_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=1, k_other=2)
    >>> one = np.ones(4, np.int32)
    >>> select_neighbors(found, one, one).indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    same, total = check_lengths(k_same, k_other, len(neighbors.indices))
    available = neighbors.indices.shape[1] - neighbors.n_same
    if (same > neighbors.n_same).any() or (total - same > available).any():
        raise ValueError("the lists are shorter than what is to be selected from them")
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
    """Make one list of the nearest points of any label out of the two.

    Parameters
    ----------
    neighbors : Neighbors
        With lists of at least ``k`` each, or all there are.
    k : int

    Returns
    -------
    Neighbors
        What an exact search without labels would have found, if ``neighbors`` is exact.

    Examples
    --------
    >>> from ctsne.neighbors import find_neighbors, merge_neighbors
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=2, k_other=2)
    >>> merge_neighbors(found, 2).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
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
