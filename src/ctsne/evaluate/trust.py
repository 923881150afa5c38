"""How far the place of each point in a map can be believed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ctsne._core.checks import check_jobs
from ctsne.affinity.result import strongest_entries
from ctsne.evaluate.sampling import Floats

# Sizes of the neighbourhoods compared; in small maps at most half of the other points.
SCALES = (15, 30, 60)
# A walk of one or two steps along this many of the strongest similarities of each point says who
# its neighbours are. Second steps add neighbours that the lists of a point just miss.
STRONGEST = 30
# Weights of the neighbours that a point keeps, of the mean over its map neighbours, and of the
# neighbours that it has where it is placed again. Chosen on five sets, see experiments/trust.py.
OWN, NEAR, AGAIN = 0.6, 0.3, 0.1
# Below this trust a point has little: in other maps of the same data, such points keep
# about a third of their map neighbours.
DOUBTFUL = 0.3
# Points that are worked on at a time: bounds the memory, and changes nothing else.
_POINTS_AT_ONCE = 1024


def trust_of(
    similarities: sp.csr_array,
    embedding: NDArray[np.floating],
    again: NDArray[np.floating],
    n_jobs: int,
) -> NDArray[np.float32]:
    """Return the trust in every point of a map, from 0 to 1.

    ``again`` is where the points land if each is placed as a new one. Points at equal distances are
    neighbours together, so that duplicates do not lower the trust.
    """
    n, jobs = len(embedding), check_jobs(n_jobs)
    scales = [max(1, min(k, (n - 1) // 2)) for k in SCALES]
    places, landed = embedding.astype(np.float64), again.astype(np.float64)
    tree, walk = cKDTree(places), strongest_entries(similarities, STRONGEST).astype(np.float64)
    walk.data /= np.repeat(walk.sum(axis=1), np.diff(walk.indptr))
    both = sp.csr_array(walk + sp.eye_array(n))  # times a step, both lengths of the walk
    order = np.asarray(tree.indices, np.int64)  # neighbours in the map follow each other in memory

    def nearest(positions: Floats, points: NDArray[np.int64]) -> NDArray[np.integer]:
        """Return the nearest points of the map at the positions of points, without themselves."""
        found = np.asarray(tree.query(positions[points], min(scales[-1] + 1, n))[1])
        itself = found == points[:, None]
        itself[~itself.any(axis=1), -1] = True
        return np.asarray(found[~itself].reshape(len(points), -1))

    def shares(begin: int) -> tuple[Floats, Floats, NDArray[np.integer]]:
        """Return the shares kept, those found where points are placed again, and neighbours."""
        points = order[begin : begin + _POINTS_AT_ONCE]
        near = nearest(places, points)
        reach = _squared(places[points, None], places[near[:, [k - 1 for k in scales]]])
        away = _squared(places[points, None], places[nearest(landed, points)])
        found = [(away[:, :k] <= reach[:, [at]]).mean(axis=1) for at, k in enumerate(scales)]
        support = both[points] @ walk
        kept = _kept(support, points, places, reach, scales)
        return kept, np.mean(found, axis=0), near[:, : scales[1]]

    with ThreadPoolExecutor(jobs) as pool:
        parts = zip(*pool.map(shares, range(0, n, _POINTS_AT_ONCE)), strict=True)
        parts_kept, found, near = map(np.concatenate, parts)
    kept, trust = np.empty(n), np.empty(n, np.float32)
    kept[order] = parts_kept
    trust[order] = OWN * parts_kept + NEAR * kept[near].mean(axis=1) + AGAIN * found
    return trust


def _kept(
    support: sp.csr_array,
    points: NDArray[np.int64],
    places: Floats,
    reach: Floats,
    scales: list[int],
) -> Floats:
    """Return the share of the best supported neighbours within reach, the mean over the scales."""
    m, most, counts = len(points), scales[-1], np.diff(support.indptr)
    row = np.repeat(np.arange(m), counts)
    value = np.where(support.indices == points[row], 0.0, support.data)
    table = np.zeros((m, max(int(counts.max()), most)))
    table[np.arange(table.shape[1]) < counts[:, None]] = -value
    table.partition(most - 1, axis=1)
    order = -np.sort(table[:, :most], axis=1)
    supported = np.maximum(1, np.count_nonzero(order, axis=1))  # at most as many as the scales ask
    best = (value > 0) & (value >= order[row, -1])
    row, value, other = row[best], value[best], support.indices[best]
    away = _squared(places[points[row]], places[other])
    shares = []
    for scale, k in enumerate(scales):
        inside = (value >= order[row, k - 1]) & (away <= reach[row, scale])
        count = np.bincount(row[inside], minlength=m)
        shares.append(np.minimum(1.0, count / np.minimum(k, supported)))
    return np.asarray(np.mean(shares, axis=0))


def _squared(a: Floats, b: Floats) -> Floats:
    return np.asarray(((a - b) ** 2).sum(axis=-1))
