"""The two lists of neighbours of every point, and how long each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Labels


@dataclass(frozen=True)
class Neighbors:
    """Neighbours of ``n`` points, ``K`` each, in two lists.

    Row ``i`` holds first the ``n_same[i]`` nearest points that do *not* have a different label
    (the same one, or none), then the nearest points that do; each list in order of distance.

    Attributes
    ----------
    indices : ndarray of int32, shape (n, K)
    distances : ndarray of float32, shape (n, K)
    n_same : ndarray of int32, shape (n,)
    scale : float
        Half-width of the data, in units of distance: the largest absolute coordinate around the
        mean, or the largest distance where there are no coordinates. Calibration of conditioned
        rows starts from a kernel this wide.
    """

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]
    n_same: NDArray[np.int32]
    scale: float


def available(labels: Labels | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many points could stand in each list of every point, itself left out.

    An unlabelled point conditions nothing: it belongs to the first list of everybody, and all
    points belong to its own first list.
    """
    if labels is None:
        return np.full(n, n - 1), np.zeros(n, np.int64)
    labelled = labels.codes >= 0
    other = np.zeros(n, np.int64)
    other[labelled] = labels.counts.sum() - labels.counts[labels.codes[labelled]]
    return n - 1 - other, other


def fill_lists(
    same: NDArray[np.int64], total: int, labels: Labels | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lengths of both lists where the first should be ``same`` of ``total``.

    A list with too few candidates gives what it has, and the other takes the rest.
    """
    n = len(same)
    total = min(total, n - 1)
    has_same, has_other = available(labels, n)
    other = np.minimum(total - np.minimum(same, has_same), has_other)
    return (total - other).astype(np.int32), other.astype(np.int32)


def paper_lengths(
    labels: Labels | None, n: int, perplexity: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """List lengths of the paper's methods: half of three times the perplexity each.

    Without labels there is one list of three times the perplexity.
    """
    total = min(ceil(3 * perplexity), n - 1)
    return fill_lists(np.full(n, (total + 1) // 2), total, labels)


def balanced_lengths(
    labels: Labels, perplexity: float, share: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """List lengths of ``balanced``: three times the perplexity of each list.

    Parameters
    ----------
    labels : Labels
    perplexity : float
    share : ndarray, shape (n,)
        Row mass that each point gives to other labels.
    """
    n = labels.n_points
    total = min(ceil(3 * perplexity), n - 1)
    other = np.minimum(np.ceil(3 * share * perplexity), total).astype(np.int64)
    return fill_lists(total - other, total, labels)
