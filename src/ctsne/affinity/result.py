"""What stage 2 gives: the similarities, and what they look like from every point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne import _native

# Each range of rows is symmetrised with one reading of all of them: large ranges cost memory, many
# of them time.
_ENTRIES_AT_ONCE = 2**24
_MOST_RANGES = 64


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How the similarities of every point came out; one entry per point in each array.

    Attributes
    ----------
    sigma : ndarray
        Bandwidth of the Gaussian; infinite where all neighbours weigh the same.
    sigma_other : ndarray
        Bandwidth towards points of other labels. Only ``balanced`` has one of its own; elsewhere
        it equals ``sigma``.
    perplexity : ndarray
        Effective perplexity of the final row.
    other_share : ndarray
        Share of the row's weight on points of other labels.
    largest_weight : ndarray
        The largest single similarity of the row: near one, the point is dominated by one neighbour.
    reached : ndarray of bool
        Whether the calibrated distribution has the perplexity that was asked for. Which one is
        calibrated depends on the method: with ``bandwidth="p"`` the row before conditioning.
    recall : float
        Share of the true neighbours that the search found, measured on 1,000 points; 1 where it was
        exact.
    matched : ndarray or None
        How well the point is matched under other labels, from 0, no counterpart, to 1; see
        :func:`ctsne.neighbors.matched_share`. None where similarities do not use labels.
    alignment : str
        Where points of other labels were searched: the name of an alignment, or ``"array"``.
    alignment_scores : dict of str to float
        How well each alignment commutes, where one was chosen from several.

    Examples
    --------
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> neighbors = find_neighbors([[0.0], [1.0], [2.0]], k_same=2)
    >>> diagnostics = tsne_affinities(neighbors, perplexity=1.5).diagnostics
    >>> diagnostics.perplexity.round(6).tolist(), diagnostics.reached.tolist()
    ([1.5, 2.0, 1.5], [True, False, True])
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


# Those that are kept with maps, in files, sweeps and AnnData: sixteen bytes per point.
KEPT_DIAGNOSTICS = ("perplexity", "other_share", "matched", "largest_weight")
_OF_LABELS = ("other_share", "matched")
# A neighbour with more than this share of a point's weight dominates it.
DOMINATED = 0.5


def kept_diagnostics(
    diagnostics: Diagnostics, *, know_labels: bool
) -> dict[str, NDArray[np.float32]]:
    """Return what is kept of every point with a map.

    Similarities that do not use labels, those of t-SNE and of the original method, have nothing to
    say about other labels.
    """
    names = [name for name in KEPT_DIAGNOSTICS if know_labels or name not in _OF_LABELS]
    values = {name: getattr(diagnostics, name) for name in names}
    return {name: each.astype(np.float32) for name, each in values.items() if each is not None}


@dataclass(frozen=True, eq=False)
class Affinities:
    """Symmetric similarities of all points.

    Attributes
    ----------
    matrix : csr_array of float32, shape (n, n)
        ``r_ij = (r_{j|i} + r_{i|j}) / 2n``; sums to one.
    diagnostics : Diagnostics

    Examples
    --------
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> neighbors = find_neighbors([[0.0], [1.0], [2.0]], k_same=2)
    >>> tsne_affinities(neighbors, perplexity=2).matrix.toarray().round(3)
    array([[0.   , 0.167, 0.167],
           [0.167, 0.   , 0.167],
           [0.167, 0.167, 0.   ]], dtype=float32)
    """

    matrix: sp.csr_array
    diagnostics: Diagnostics


def symmetric_matrix(
    indices: NDArray[np.int32], rows: NDArray[np.float32], n_jobs: int
) -> sp.csr_array:
    """Symmetrise conditional rows over their neighbours' indices."""
    n = len(rows)
    degree = np.empty(n, np.int64)
    _native.count_in_degrees(indices, rows, n_jobs, degree)
    # As many as there can be: what is not written takes no memory, and goes in the end.
    counted = int(degree.sum())
    most = 2 * counted
    columns, values = np.empty(most, np.int32), np.empty(most, np.float32)
    indptr = np.zeros(n + 1, np.int64)
    for begin, end in _even_ranges(degree + -(-counted // n)):
        _native.symmetrize(indices, rows, degree, begin, end, n_jobs, indptr, columns, values)
    columns.resize(indptr[-1], refcheck=False)
    values.resize(indptr[-1], refcheck=False)
    # One type for all: with 64 bits for the row ends, scipy would widen the columns too.
    ends = indptr if indptr[-1] > np.iinfo(np.int32).max else indptr.astype(np.int32)
    return sp.csr_array((values, columns, ends), shape=(n, n))


def _even_ranges(work: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows with as much work each, so small that Ctrl-C is heard between them."""
    reached = np.cumsum(work)
    total = int(reached[-1])
    step = max(_ENTRIES_AT_ONCE, total // _MOST_RANGES)
    bounds = [*np.searchsorted(reached, range(step, total, step)).tolist(), len(work)]
    begin = 0
    for end in bounds:
        if end > begin:
            yield begin, end
            begin = end
