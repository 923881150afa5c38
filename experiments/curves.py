"""Neighbours kept over neighbourhood sizes, as the paper's figures show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.evaluate import neighbors, rnx, sampling


def rnx_curve(
    embedding: Any,
    X: Any,
    labels: object = None,
    *,
    k: Sequence[int] | NDArray[np.int64],
    n_jobs: int = -1,
) -> NDArray[np.float64]:
    """Return the adjusted R_NX at some sizes; arguments are as in ``adjusted_rnx``."""
    largest = int(max(k))
    low, high = neighbors.both_neighbors(embedding, X, labels, largest, n_jobs)

    def values(rows: slice) -> NDArray[np.float64]:
        return rnx.at_all_sizes(low.indices[rows], high._of_rows(rows))

    rows = sampling.chunks(len(low.points), 4 * largest)
    return rnx.mean_curve(values, rows, largest, n_jobs)[np.asarray(k) - 1]
