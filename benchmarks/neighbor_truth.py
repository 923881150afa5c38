"""True neighbours of sampled points by NumPy in double precision, and recall against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SAMPLE = 1000
# Distances this much beyond that of the last true neighbour are a tie with it.
_TIE = 1e-6
# Distances held at a time.
_BLOCK = 2**24


@dataclass(frozen=True)
class Truth:
    """How far the true neighbours of sampled points reach.

    ``k`` and ``radius`` are of the nearest points whatever their label; ``k_same`` and so on of
    both lists. A label too small for its list leaves the rest to the other list.
    """

    points: NDArray[np.int64]
    k: int
    radius: NDArray[np.float64]
    k_same: NDArray[np.int64]
    same_radius: NDArray[np.float64]
    k_other: NDArray[np.int64]
    other_radius: NDArray[np.float64]

    def save(self, file: Path) -> None:
        np.savez(file, **vars(self))

    def of(self, rows: NDArray[np.bool_]) -> Truth:
        """Keep some of the sampled points only."""
        kept = {name: value[rows] for name, value in vars(self).items() if name != "k"}
        return Truth(k=self.k, **kept)

    def others(self) -> Truth:
        """Keep the lists of other labels only."""
        none = np.full(len(self.points), -1.0)
        return replace(self, k_same=np.zeros_like(self.k_same), same_radius=none)

    @classmethod
    def load(cls, file: Path) -> Truth:
        with np.load(file, allow_pickle=False) as stored:
            return cls(**(dict(stored) | {"k": int(stored["k"])}))


def find_truth(
    X: NDArray[np.float32], labels: NDArray[np.int64], *, k_same: int, k_other: int, seed: int = 0
) -> Truth:
    """Search all points for the neighbours of a sample of them."""
    n = len(X)
    points = np.sort(np.random.default_rng(seed).choice(n, min(SAMPLE, n), replace=False))
    total = min(k_same + k_other, n - 1)
    counts = np.bincount(labels)[labels[points]]
    same = np.minimum(k_same, counts - 1)
    other = np.minimum(total - same, n - counts)
    same = total - other
    radii = np.empty((3, len(points)))
    data = X.astype(np.float64)
    norms = (data**2).sum(axis=1)
    step = max(1, _BLOCK // n)
    for begin in range(0, len(points), step):
        block = points[begin : begin + step]
        squared = norms[block, np.newaxis] + norms - 2 * (data[block] @ data.T)
        squared[np.arange(len(block)), block] = np.inf
        for at, row in enumerate(squared, begin):
            alike = labels == labels[points[at]]
            near, far = _nearest(row[alike], total), _nearest(row[~alike], total)
            # The nearest of all are among the nearest of both kinds.
            both = np.sort(np.concatenate([near, far]))
            lists = ((both, total), (near, same[at]), (far, other[at]))
            radii[:, at] = [values[k - 1] if k else -1 for values, k in lists]
    radii = np.sqrt(radii, where=radii >= 0, out=np.full_like(radii, -1))
    return Truth(points, total, radii[0], same, radii[1], other, radii[2])


def _nearest(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Sort the k smallest values, or all if they are fewer; none is negative by rounding."""
    smallest = np.partition(values, k - 1)[:k] if k < len(values) else values
    return np.maximum(np.sort(smallest), 0)


def plain_recall(truth: Truth, X: NDArray[np.float32], found: NDArray[np.integer]) -> float:
    """Return the share of the nearest points, whatever their label, among those found.

    ``found`` has a row of indices for each sampled point; itself, repeats and negative indices
    count for nothing.
    """
    distances, _ = _distances(truth, X, found)
    hits = (distances <= truth.radius[:, np.newaxis] * (1 + _TIE)).sum(axis=1)
    return float(np.minimum(hits, truth.k).sum() / (truth.k * len(truth.points)))


def labelled_recall(
    truth: Truth, X: NDArray[np.float32], labels: NDArray[np.int64], found: NDArray[np.integer]
) -> float:
    """Return the share of the nearest points of the same and of other labels among those found."""
    distances, indices = _distances(truth, X, found)
    alike = labels[indices] == labels[truth.points, np.newaxis]
    total = 0
    for wanted, radius, k in (
        (alike, truth.same_radius, truth.k_same),
        (~alike, truth.other_radius, truth.k_other),
    ):
        hits = (wanted & (distances <= radius[:, np.newaxis] * (1 + _TIE))).sum(axis=1)
        total += int(np.minimum(hits, k).sum())
    return float(total / (truth.k_same + truth.k_other).sum())


def _distances(
    truth: Truth, X: NDArray[np.float32], found: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distances to what was found, infinite where it counts for nothing; and the sorted indices."""
    indices = np.sort(found.astype(np.int64), axis=1)
    void = (indices < 0) | (indices == truth.points[:, np.newaxis])
    void[:, 1:] |= indices[:, 1:] == indices[:, :-1]
    indices = np.where(void, 0, indices)
    distances = np.empty(indices.shape)
    for row, (point, near) in enumerate(zip(truth.points, indices, strict=True)):
        difference = X[near].astype(np.float64) - X[point]
        distances[row] = np.sqrt((difference**2).sum(axis=1))
    return np.where(void, np.inf, distances), indices
