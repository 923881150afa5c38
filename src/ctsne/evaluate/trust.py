"""How far the place of each point in a map can be believed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ctsne._core.checks import check_jobs
from ctsne.affinity.result import strongest_entries
from ctsne.evaluate.neighbors import search_map
from ctsne.evaluate.sampling import Floats

# Sizes of the neighbourhoods compared; in small maps at most half of the other points.
SCALES = (15, 30, 60)
# A walk of one or two steps along this many of the strongest similarities of each point says who
# its neighbours are. Second steps add neighbours that the lists of a point just miss.
STRONGEST = 30
# Weights of the neighbours that a point keeps, of the mean over its map neighbours, and of the
# neighbours that it has where it is placed again. Chosen on five sets, see experiments/trust.py.
OWN, NEAR, AGAIN = 0.6, 0.3, 0.1
# Below this trust a point could lie elsewhere: in other maps of the same data, such points keep
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
    near = search_map(places, np.arange(n), scales[-1], jobs).indices
    tree, walk = cKDTree(places), strongest_entries(similarities, STRONGEST).astype(np.float64)
    walk.data /= np.repeat(walk.sum(axis=1), np.diff(walk.indptr))

    def shares(begin: int) -> Floats:
        """Return the shares of neighbours kept in the map, and where points are placed again."""
        points = np.arange(begin, min(n, begin + _POINTS_AT_ONCE))
        last = near[points][:, [k - 1 for k in scales]]
        reach = _squared(places[points, None], places[last])
        one = walk[points[0] : points[-1] + 1]
        kept = _kept(sp.csr_array(one + one @ walk), points, places, reach, scales)
        found = np.asarray(tree.query(landed[points], min(scales[-1] + 1, n))[1])
        away = _squared(places[points, None], places[_others(found, points)])
        around = [(away[:, :k] <= reach[:, [at]]).mean(axis=1) for at, k in enumerate(scales)]
        return np.stack([kept, np.mean(around, axis=0)])

    with ThreadPoolExecutor(jobs) as pool:
        kept, found = np.concatenate(list(pool.map(shares, range(0, n, _POINTS_AT_ONCE))), axis=1)
    around = kept[near[:, : scales[1]]].mean(axis=1)
    return np.asarray(OWN * kept + NEAR * around + AGAIN * found, np.float32)


def _kept(
    support: sp.csr_array,
    points: NDArray[np.int64],
    places: Floats,
    reach: Floats,
    scales: list[int],
) -> Floats:
    """Return the share of the best supported neighbours within reach, the mean over the scales."""
    m, counts = len(points), np.diff(support.indptr)
    row = np.repeat(np.arange(m), counts)
    value = np.where(support.indices == points[row], 0.0, support.data)
    table = np.zeros((m, max(int(counts.max()), scales[-1])))
    table[row, np.arange(len(row)) - np.repeat(support.indptr[:-1], counts)] = value
    supported = np.maximum(1, np.count_nonzero(table, axis=1))
    order = np.sort(np.partition(-table, scales[-1] - 1, axis=1)[:, : scales[-1]], axis=1)
    best = (value > 0) & (value >= -order[row, -1])
    row, value, other = row[best], value[best], support.indices[best]
    away = _squared(places[points[row]], places[other])
    shares = []
    for scale, k in enumerate(scales):
        inside = (value >= -order[row, k - 1]) & (away <= reach[row, scale])
        count = np.bincount(row[inside], minlength=m)
        shares.append(np.minimum(1.0, count / np.minimum(k, supported)))
    return np.asarray(np.mean(shares, axis=0))


def _squared(a: Floats, b: Floats) -> Floats:
    return np.asarray(((a - b) ** 2).sum(axis=-1))


def _others(found: NDArray[np.integer], points: NDArray[np.int64]) -> NDArray[np.integer]:
    """Return the neighbours found at other places, without the points themselves."""
    itself = found == points[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(found[~itself].reshape(len(points), -1))
