"""Features that differ from place to place in a map."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse

# A map is divided into at most this many cells, of at least so many points, and into fewer if the
# sums of all features over the cells would take more memory than so many numbers.
_CELLS, _FEWEST, _SUMS = 256, 5, 2**24
# Values of a matrix that are looked at together.
_VALUES = 2**22

Block = tuple[slice, slice, Any]  # rows, columns, and the part of a matrix there


def variance_by_place(
    embedding: NDArray[Any], blocks: Iterable[Block], d: int, rows: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return the share of each feature's variance that the place in a map explains, best 1.

    The share is adjusted for the number of cells, so that it is about 0 for noise; it is -inf for
    a constant or a feature with missing values. ``rows`` are the rows of the points of the map, by
    default all. Every value is read once, and takes a few operations.
    """
    m = len(embedding)
    cells = _cells_of(embedding, min(_CELLS, max(4, _SUMS // max(1, d))))
    counts = np.bincount(cells)
    rows = np.arange(m) if rows is None else rows
    member = sp.csc_matrix((np.ones(m), (cells, rows)), (len(counts), int(rows.max()) + 1))
    sums, squares = np.zeros((len(counts), d)), np.zeros(d)
    with np.errstate(all="ignore"):
        for part, columns, block in blocks:
            inside = member[:, part]
            values = block[: inside.shape[1]].astype(np.float64)
            total = inside @ values
            sums[:, columns] += total.toarray() if is_sparse(total) else total
            squared = values.multiply(values) if is_sparse(values) else values**2
            squares[columns] += squared.T @ np.asarray(inside.sum(axis=0)).ravel()
        overall = squares - sums.sum(axis=0) ** 2 / m
        within = squares - (sums**2 / counts[:, None]).sum(axis=0)
        share = 1 - within / overall * ((m - 1) / max(1, m - len(counts)))
        varies = np.isfinite(share) & (overall > 1e-12 * squares)
    return np.where(varies, share, -np.inf)


def most_informative(shares: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the features with the largest shares, the largest first; never constant ones."""
    best = np.argsort(-shares, kind="stable")[:most]
    return best[shares[best] > -np.inf]


def _cells_of(embedding: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Divide a map into cells of equally many points: strips, each cut across."""
    n = len(embedding)
    side = max(1, math.isqrt(min(most, n // _FEWEST)))
    strips = np.empty(n, np.intp)
    strips[np.argsort(embedding[:, 0], kind="stable")] = np.arange(n) * side // n
    cells = np.empty(n, np.intp)
    cells[np.lexsort((embedding[:, -1], strips))] = np.arange(n) * side**2 // n
    return cells


def row_blocks(X: Any) -> Iterator[Block]:
    """Yield a matrix in parts, as anything that can be sliced by rows."""
    n, d = X.shape
    step = max(256, _VALUES * n // max(1, getattr(X, "nnz", n * d)))
    for start in range(0, n, step):
        yield slice(start, start + step), slice(None), X[start : min(n, start + step)]
