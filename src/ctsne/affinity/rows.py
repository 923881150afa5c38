"""Rows of similarities: bandwidths by perplexity and weights by label, on the native kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ctsne import _native
from ctsne._core.checks import check_jobs
from ctsne.affinity.result import Affinities, Diagnostics, symmetric_matrix
from ctsne.affinity.weights import of_points
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors

# Calibrated within some hundredths of a second.
_ENTRIES_AT_ONCE = 2**20


class Rows:
    """The neighbours of all points with a weight for each pair, as logarithms.

    Parameters
    ----------
    neighbors : Neighbors
    labels : Labels or None
    log_same, log_other : ndarray of shape (n_labels,), optional
        Weights by the label of the row, for neighbours with the same label, or none, and for those
        with another label; zero by default. Rows of unlabelled points have zero always.
    n_jobs : int
    """

    def __init__(
        self,
        neighbors: Neighbors,
        labels: Labels | None,
        *,
        log_same: NDArray[np.float64] | None = None,
        log_other: NDArray[np.float64] | None = None,
        n_jobs: int,
    ) -> None:
        n = len(neighbors.indices)
        codes = np.full(n, -1, np.int32) if labels is None else labels.codes
        self._indices = neighbors.indices
        self._n_jobs = check_jobs(n_jobs)
        self._wide = neighbors.scale**-2
        self._recall = neighbors.recall
        self._lists = (neighbors.distances, neighbors.n_same)
        self._weights = (self._of_rows(log_same, codes), self._of_rows(log_other, codes))

    @staticmethod
    def _of_rows(
        of_labels: NDArray[np.float64] | None, codes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        return np.zeros(len(codes)) if of_labels is None else of_points(of_labels, codes)

    def bandwidths(
        self, perplexity: float, *, weighted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Precision 1/(2 sigma²) of each row, with or without its weights, and whether it fits."""
        n = len(self._indices)
        target = np.full(n, float(perplexity))
        precision, reached = np.empty(n), np.empty(n, np.bool_)
        for begin, end in self._slices():
            _native.find_bandwidths(
                *self._lists, *self._weights, target, weighted, self._wide, begin, end,
                self._n_jobs, precision, reached,
            )  # fmt: skip
        return precision, reached

    def split_bandwidths(
        self, same: NDArray[np.float64], other: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Precisions of both lists of each row by themselves, to a perplexity each."""
        n = len(self._indices)
        same_precision, other_precision, reached = np.empty(n), np.empty(n), np.empty(n, np.bool_)
        for begin, end in self._slices():
            _native.find_split_bandwidths(
                *self._lists, *self._weights, same, other, begin, end, self._n_jobs,
                same_precision, other_precision, reached,
            )  # fmt: skip
        return same_precision, other_precision, reached

    def log_odds(self, precision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithm of the ratio of each row's weight on other labels to the rest of it."""
        *_, log_odds = self._fill(precision, precision, None)
        return log_odds

    def affinities(
        self,
        same_precision: NDArray[np.float64],
        other_precision: NDArray[np.float64],
        reached: NDArray[np.bool_],
        *,
        mass: NDArray[np.float64] | None = None,
    ) -> Affinities:
        """Compute the rows and symmetrise them.

        With ``mass`` (the share of other labels, per row) the lists are normalised separately.
        """
        rows, perplexity, share, largest, _ = self._fill(same_precision, other_precision, mass)
        diagnostics = Diagnostics(
            sigma=_sigma(same_precision),
            sigma_other=_sigma(other_precision),
            perplexity=perplexity,
            other_share=share,
            largest_weight=largest,
            reached=reached,
            recall=self._recall,
        )
        return Affinities(symmetric_matrix(self._indices, rows, self._n_jobs), diagnostics)

    def _fill(
        self,
        same_precision: NDArray[np.float64],
        other_precision: NDArray[np.float64],
        mass: NDArray[np.float64] | None,
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
    ]:
        n = len(self._indices)
        rows = np.empty(self._indices.shape, np.float32)
        perplexity, share, largest, log_odds = (np.empty(n) for _ in range(4))
        for begin, end in self._slices():
            _native.fill_rows(
                *self._lists, *self._weights, same_precision, other_precision, mass, begin, end,
                self._n_jobs, rows, perplexity, share, largest, log_odds,
            )  # fmt: skip
        return rows, perplexity, share, largest, log_odds

    def _slices(self) -> Iterator[tuple[int, int]]:
        """Ranges of rows so small that Ctrl-C is heard between them."""
        n, length = self._indices.shape
        step = max(64, _ENTRIES_AT_ONCE // length)
        return ((begin, min(n, begin + step)) for begin in range(0, n, step))


def _sigma(precision: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(0.5 / precision))
