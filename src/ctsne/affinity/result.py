"""The result of stage 2: a matrix of similarities, and diagnostics of every point."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs

# The matrix is symmetrised in ranges of about this many entries. Each range reads all rows: small
# ranges cost time, large ones memory.
_ENTRIES_AT_ONCE = 2**24
_VALUES_AT_ONCE = 2**20  # values of rows, filled up to equal length, that are compared at once


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Properties of the similarities of every point; each array has one entry per point.

    Attributes
    ----------
    sigma : ndarray
        Bandwidth of the Gaussian; infinite if all neighbours have the same weight.
    sigma_other : ndarray
        Bandwidth towards points of other labels; differs from ``sigma`` only in ``balanced`` and
        ``joint``.
    perplexity : ndarray
        Effective perplexity of the final row.
    other_share : ndarray
        Share of the row's weight on points of other labels.
    largest_weight : ndarray
        The largest similarity of the row. If it is near one, one neighbour dominates the point.
    reached : ndarray of bool
        Whether the calibrated distribution has the requested perplexity. With ``bandwidth="p"``
        this is the row before conditioning, otherwise the final row.
    recall : float
        Share of the true neighbours that the search found, measured on 1,000 points; 1 if it was
        exact.
    matched : ndarray or None
        How well the point is matched by points of other labels, from 0, no counterpart, to 1; see
        ``docs/joint.md``. None if the similarities do not use labels.
    alignment : str
        How points of other labels were aligned: the name of an alignment, or ``"array"``.
    alignment_scores : dict of str to float
        How well each alignment commutes, if one was chosen from several.
    column_shares, column_matched : dict of str to ndarray
        By the name of each label column: the share of the row's weight on points that differ in
        it, and how well the point is matched by such points. ``other_share`` is the weight on
        points that differ in any column, ``matched`` the smallest of all columns. Empty if the
        similarities do not use labels.
    """

    sigma: NDArray[np.float64]
    sigma_other: NDArray[np.float64]
    perplexity: NDArray[np.float64]
    other_share: NDArray[np.float64]
    largest_weight: NDArray[np.float64]
    reached: NDArray[np.bool_]
    recall: float = 1.0
    matched: NDArray[np.float64] | None = None
    alignment: str = "none"
    alignment_scores: Mapping[str, float] = field(default_factory=dict)
    column_shares: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    column_matched: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


# Stored with maps, in files, sweeps and AnnData: sixteen bytes per point.
KEPT_DIAGNOSTICS = ("perplexity", "other_share", "matched", "largest_weight")
TRUST = "trust"  # stored besides those if it was asked for
# Stored besides those with points placed in a map.
PLACED_DIAGNOSTICS = ("distance", "far")
_OF_LABELS = ("other_share", "matched")
DOMINATED = 0.5  # a neighbour with more than this share of a point's weight dominates it


def kept_diagnostics(
    diagnostics: Diagnostics, *, know_labels: bool
) -> dict[str, NDArray[np.float32]]:
    """Return the diagnostics stored with a map; those about labels only if these were used."""
    names = [name for name in KEPT_DIAGNOSTICS if know_labels or name not in _OF_LABELS]
    values = {name: getattr(diagnostics, name) for name in names}
    return {name: each.astype(np.float32) for name, each in values.items() if each is not None}


@dataclass(frozen=True, eq=False)
class Affinities:
    """Symmetric similarities of all points: ``r_ij = (r_{j|i} + r_{i|j}) / 2n``, sum one."""

    matrix: sp.csr_array  # of float32, (n, n)
    diagnostics: Diagnostics


def symmetric_matrix(
    indices: NDArray[np.int32], rows: NDArray[np.float32], n_jobs: int
) -> sp.csr_array:
    """Symmetrise conditional rows, given the indices of their neighbours."""
    n = len(rows)
    workers = check_jobs(n_jobs)
    indptr, columns, values = _native.symmetrize(indices, rows, _ENTRIES_AT_ONCE, workers)
    # With 64-bit row starts, scipy would widen the columns too.
    ends = indptr if indptr[-1] > np.iinfo(np.int32).max else indptr.astype(np.int32)
    return sp.csr_array((values, columns, ends), shape=(n, n))


def strongest_entries(matrix: sp.csr_array, k: int) -> sp.csr_array:
    """Return the k largest entries of each row; of equal ones, those of the first columns."""
    starts, sizes = matrix.indptr[:-1], np.diff(matrix.indptr)
    kept = np.ones(matrix.nnz, np.bool_)
    longer = np.flatnonzero(sizes > k)
    longer = longer[np.argsort(-sizes[longer], kind="stable")]  # rows of similar length together
    begin = 0
    while begin < len(longer):
        width = int(sizes[longer[begin]])
        rows = longer[begin : begin + max(1, _VALUES_AT_ONCE // width)]
        begin += len(rows)
        place = np.arange(width)
        inside = place < sizes[rows, None]
        entry = np.where(inside, starts[rows, None] + place, starts[rows, None])
        values = np.where(inside, matrix.data[entry], -np.inf)
        least = np.partition(values, width - k, axis=1)[:, [width - k]]
        above, tied = values > least, values == least
        free = k - np.count_nonzero(above, axis=1)
        chosen = above | (tied & (np.cumsum(tied, axis=1) <= free[:, None]))
        kept[entry[inside]] = chosen[inside]
    ends = np.concatenate([[0], np.cumsum(np.minimum(sizes, k))]).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], ends), shape=matrix.shape)
