"""Find the true neighbours of sampled points with NumPy in double precision, and recall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SAMPLE = 1000
# Relative tolerance for ties with the last true neighbour.
_TIE = 1e-6
# Number of distances in memory at a time.
_BLOCK = 2**24


@dataclass(frozen=True)
class Truth:
    """Distances to the last true neighbour of sampled points.

    ``k`` and ``radius`` refer to the nearest points regardless of labels, ``k_same`` and so on to
    the two lists. If a label is too small for its list, the other list takes the rest.
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
        """Keep only some of the sampled points."""
        kept = {name: value[rows] for name, value in vars(self).items() if name != "k"}
        return Truth(k=self.k, **kept)

    def others(self) -> Truth:
        """Keep only the lists of other labels."""
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
            # The nearest points overall are among the nearest of both lists.
            both = np.sort(np.concatenate([near, far]))
            lists = ((both, total), (near, same[at]), (far, other[at]))
            radii[:, at] = [values[k - 1] if k else -1 for values, k in lists]
    radii = np.sqrt(radii, where=radii >= 0, out=np.full_like(radii, -1))
    return Truth(points, total, radii[0], same, radii[1], other, radii[2])


def _nearest(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the k smallest values, sorted; negative rounding errors become zero."""
    smallest = np.partition(values, k - 1)[:k] if k < len(values) else values
    return np.maximum(np.sort(smallest), 0)


def plain_recall(truth: Truth, X: NDArray[np.float32], found: NDArray[np.integer]) -> float:
    """Return the share of the nearest points, regardless of labels, that were found.

    ``found`` has one row of indices per sampled point; the point itself, repeats and negative
    indices do not count.
    """
    distances, _ = _distances(truth, X, found)
    hits = (distances <= truth.radius[:, np.newaxis] * (1 + _TIE)).sum(axis=1)
    return float(np.minimum(hits, truth.k).sum() / (truth.k * len(truth.points)))


def labelled_recall(
    truth: Truth, X: NDArray[np.float32], labels: NDArray[np.int64], found: NDArray[np.integer]
) -> float:
    """Return the share of the nearest points of the same and of other labels that were found."""
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
    """Return distances to the points found (infinite if they do not count), sorted indices too."""
    indices = np.sort(found.astype(np.int64), axis=1)
    void = (indices < 0) | (indices == truth.points[:, np.newaxis])
    void[:, 1:] |= indices[:, 1:] == indices[:, :-1]
    indices = np.where(void, 0, indices)
    distances = np.empty(indices.shape)
    for row, (point, near) in enumerate(zip(truth.points, indices, strict=True)):
        difference = X[near].astype(np.float64) - X[point]
        distances[row] = np.sqrt((difference**2).sum(axis=1))
    return np.where(void, np.inf, distances), indices
