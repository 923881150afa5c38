"""Rows of similarities: bandwidths by perplexity and weights by list, on the native kernels."""

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs
from ctsne.affinity.result import Diagnostics
from ctsne.affinity.weights import Floats
from ctsne.neighbors import Neighbors


class Rows:
    """The neighbours of all points with a log weight for each list of each row, (n, P)."""

    def __init__(
        self, neighbors: Neighbors, log_weights: Floats | None = None, *, n_jobs: int
    ) -> None:
        lengths = np.ascontiguousarray(neighbors.lengths, np.int32)
        weights = np.zeros(lengths.shape) if log_weights is None else log_weights
        self._neighbors = neighbors
        self._n_jobs = check_jobs(n_jobs)
        self._native = _native.ConditionalRows(
            neighbors.distances, lengths, np.ascontiguousarray(weights), self._n_jobs
        )

    def bandwidths(self, perplexity: float, *, weighted: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the precision 1/(2 sigma²) of each row, and whether it has the perplexity."""
        wide = self._neighbors.scale**-2
        return self._native.find_bandwidths(float(perplexity), weighted=weighted, wide=wide)

    def split_bandwidths(self, perplexities: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the precisions of the lists of each row, calibrated to a perplexity each."""
        return self._native.find_split_bandwidths(np.ascontiguousarray(perplexities))

    def list_weights(self, precision: Floats) -> Floats:
        """Return the logarithm of the weight of every list, for one precision per row."""
        *_, log_weights = self._native.fill(self._per_list(precision))
        return log_weights

    def similarities(
        self, precisions: Floats, reached: NDArray[np.bool_], *, shares: Floats | None = None
    ) -> tuple[NDArray[np.float32], Diagnostics, Floats]:
        """Compute rows, diagnostics and shares of lists; given shares mix separate lists."""
        precisions = self._per_list(precisions)
        given = None if shares is None else np.ascontiguousarray(shares)
        rows, perplexity, found, largest, _ = self._native.fill(precisions, given)
        # Of several lists of other labels, the one with most weight.
        most = found[:, 1:].argmax(axis=1) + 1 if found.shape[1] > 1 else np.zeros(len(rows), int)
        diagnostics = Diagnostics(
            sigma=_sigma(precisions[:, 0]),
            sigma_other=_sigma(np.take_along_axis(precisions, most[:, None], axis=1)[:, 0]),
            perplexity=perplexity,
            other_share=found[:, 1:].sum(axis=1),
            largest_weight=largest,
            reached=reached,
            recall=self._neighbors.recall,
        )
        return rows, diagnostics, found

    def _per_list(self, precisions: Floats) -> Floats:
        if precisions.ndim == 1:
            precisions = np.repeat(precisions[:, None], self._neighbors.lengths.shape[1], axis=1)
        return np.ascontiguousarray(precisions)


def _sigma(precision: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(0.5 / precision))
