"""Strata: groups of rows by their labels, and how many rows of each a sample takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text
from ctsne.labels import encode_column

# The values of a row in every column as text; None where they are missing.
Key = tuple[str | None, ...]

# A label keeps this many points if it has them: as many as fill its neighbours at perplexities up
# to some hundred. With many labels it is less, so that half of the sample stays proportional.
MOST_KEPT = 500


def strata_of(columns: Sequence[Any], n: int) -> tuple[list[Key], NDArray[np.intp]]:
    """Return the strata that occur in some rows, and that of each row by its place in the list."""
    if not columns:
        return [()], np.zeros(n, np.intp)
    encoded = [encode_column(column, n=n) for column in columns]
    codes = np.stack([labels.codes for labels in encoded], axis=1)
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    texts = [[*map(label_text, labels.names), None] for labels in encoded]  # the last is missing
    keys = [tuple(each[code] for each, code in zip(texts, row, strict=True)) for row in found]
    return keys, inverse.reshape(-1)


def allocate(counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return how many rows of each stratum a sample of n takes: a share, but never very few.

    Every stratum has the same share of its rows, except those that would fall below the smallest
    number kept; all of them together have n rows.
    """
    if counts.sum() <= n:
        return counts
    least = np.minimum(counts, min(MOST_KEPT, n // (2 * len(counts))))
    order = np.argsort(counts, kind="stable")
    # With the k smallest strata at their least, the others share what is left. The first k at
    # which none of those falls below its least is the solution.
    kept = np.concatenate([[0], np.cumsum(least[order])[:-1]])
    rest = np.cumsum(counts[order][::-1])[::-1]
    share = (n - kept) / rest
    k = int(np.argmax(share * counts[order] >= least[order]))
    wanted = np.maximum(least, share[k] * counts)
    taken: NDArray[np.int64] = np.floor(wanted).astype(np.int64)
    # Fractions are rounded so that the sum is n: up for the largest ones.
    up = np.argsort(taken - wanted, kind="stable")[: n - int(taken.sum())]
    taken[up] += 1
    return taken


def draw(counts: NDArray[np.int64], n: int, seed: int) -> list[NDArray[np.int64]]:
    """Return the rows that a sample takes of each stratum, by their number in it, sorted."""
    rng = np.random.default_rng(seed)
    return [
        np.sort(rng.choice(count, taken, replace=False, shuffle=False))
        for count, taken in zip(counts.tolist(), allocate(counts, n).tolist(), strict=True)
    ]
