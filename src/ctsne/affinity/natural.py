"""The natural share of other labels: what a point's similarities give them by themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import LARGEST_LOG_WEIGHT
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors

__all__ = ["natural_log_odds", "solve_weight"]


def natural_log_odds(neighbors: Neighbors, labels: Labels, *, n_jobs: int) -> NDArray[np.float64]:
    """Logarithm of the weight on other labels over the rest, in similarities without conditioning.

    Their perplexity is half the length of a row. Where other labels were searched among aligned
    points, their weight is scaled such that its mean is that of the data as they are: an alignment
    says who is near, not how near.

    Returns
    -------
    ndarray, shape (n,)
    """
    log_odds = _log_odds(neighbors, n_jobs)
    if neighbors.unaligned is None:
        return log_odds
    rows = neighbors.unaligned.rows
    known = labels.codes[rows] >= 0
    if not known.any():
        return log_odds
    plain = _log_odds(neighbors.unaligned.neighbors, n_jobs)[known]
    return log_odds + solve_weight(log_odds[rows][known], float(expit(plain).mean()))


def _log_odds(neighbors: Neighbors, n_jobs: int) -> NDArray[np.float64]:
    rows = Rows(neighbors, None, n_jobs=n_jobs)
    precision, _ = rows.bandwidths(max(1.0, neighbors.indices.shape[1] / 2), weighted=False)
    return rows.log_odds(precision)


def solve_weight(log_odds: NDArray[np.float64], target: float) -> float:
    """Solve for the weight (as logarithm) on other labels that makes their mean share a target."""

    def mean_share(log_weight: float) -> float:
        return float(expit(log_odds + log_weight).mean())

    low, high = -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT
    if mean_share(0.0) == target:
        return 0.0
    if mean_share(low) >= target:
        return low
    if mean_share(high) <= target:
        return high
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_share(middle) < target else (low, middle)
    return high
