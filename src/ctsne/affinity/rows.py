"""Rows of similarities: bandwidths by perplexity and weights by label, on the native kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs
from ctsne.affinity.result import Affinities, Diagnostics, symmetric_matrix
from ctsne.affinity.weights import Floats, of_points
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors


class Rows:
    """The neighbours of all points with a log weight for each pair.

    ``log_same`` and ``log_other`` are log weights per label of the row: of neighbours with the same
    label or none, and with another label. They default to zero, and are zero for unlabelled points.
    """

    def __init__(
        self,
        neighbors: Neighbors,
        labels: Labels | None,
        *,
        log_same: Floats | None = None,
        log_other: Floats | None = None,
        n_jobs: int,
    ) -> None:
        n = len(neighbors.indices)
        codes = np.full(n, -1, np.int32) if labels is None else labels.codes
        same, other = (
            np.zeros(n) if weights is None else of_points(weights, codes)
            for weights in (log_same, log_other)
        )
        self._neighbors = neighbors
        self._n_jobs = check_jobs(n_jobs)
        self._native = _native.ConditionalRows(
            neighbors.distances, neighbors.n_same, same, other, self._n_jobs
        )

    def bandwidths(self, perplexity: float, *, weighted: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the precision 1/(2 sigma²) of each row, and whether it has the perplexity."""
        wide = self._neighbors.scale**-2
        return self._native.find_bandwidths(float(perplexity), weighted=weighted, wide=wide)

    def split_bandwidths(
        self, same: Floats, other: Floats
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the precisions of both lists of each row, calibrated to a perplexity each."""
        return self._native.find_split_bandwidths(same, other)

    def log_odds(self, precision: Floats) -> Floats:
        """Return the logarithm of each row's weight on other labels over the rest of it."""
        *_, log_odds = self._native.fill(precision, precision)
        return log_odds

    def affinities(
        self,
        same_precision: Floats,
        other_precision: Floats,
        reached: NDArray[np.bool_],
        *,
        other_share: Floats | None = None,
    ) -> Affinities:
        """Compute the rows, with both lists mixed by ``other_share`` if given, and symmetrise."""
        rows, perplexity, share, largest, _ = self._native.fill(
            same_precision, other_precision, other_share
        )
        diagnostics = Diagnostics(
            sigma=_sigma(same_precision),
            sigma_other=_sigma(other_precision),
            perplexity=perplexity,
            other_share=share,
            largest_weight=largest,
            reached=reached,
            recall=self._neighbors.recall,
        )
        matrix = symmetric_matrix(self._neighbors.indices, rows, self._n_jobs)
        return Affinities(matrix, diagnostics)


def _sigma(precision: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(0.5 / precision))
