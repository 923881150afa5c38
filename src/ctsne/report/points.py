"""Which points a page shows, and in which order they are drawn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ctsne.report.columns import MOST_LABELS

__all__ = ["MOST_POINTS", "choose_points"]

# What browsers move smoothly.
MOST_POINTS = 50_000


def choose_points(
    n: int,
    codes: Iterable[NDArray[np.integer]],
    wanted: NDArray[np.integer],
    *,
    most: int = MOST_POINTS,
) -> NDArray[np.int64]:
    """Return the rows to show, in random order so that no label lies above all others.

    Of more than ``most`` points a random sample is taken. It has the rows ``wanted`` and a
    point of every label of the columns in ``codes``, as far as half of it can hold them; columns of
    more than 1,000 labels are left to chance.
    """
    order = np.random.default_rng(0).permutation(n)
    if n <= most:
        return order
    required = np.unique(wanted)[: most // 2]
    for column in codes:
        labels, first = np.unique(column[order], return_index=True)
        together = np.union1d(required, order[first])
        if len(labels) <= MOST_LABELS and len(together) <= most // 2:
            required = together
    is_required = np.zeros(n, bool)
    is_required[required] = True
    rest = ~is_required[order]
    taken = np.cumsum(rest) <= most - len(required)
    return order[~rest | taken]
