"""Neighbours kept by a map: R_NX and Jaccard, adjusted for labels (paper, section 4.1)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import joblib
import numpy as np
from scipy.spatial.distance import cdist

from ctsne._core.checks import check_jobs
from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.evaluate import neighbors, sampling
from ctsne.evaluate.neighbors import DataNeighbors, Map, MapNeighbors
from ctsne.evaluate.sampling import Floats, Indices, Points, Positions
from ctsne.labels import Column
from ctsne.neighbors.patterns import available, different_labels

# A ranked row counts as this many rows of a search, so that a chunk of them fits in the cache.
RANKED_LENGTH = 8
# With fewer free neighbours than this, which is a rounding error, there is no choice.
_NO_CHOICE = 1e-9
# Above this share of all points, a table with an entry per point is faster than a sort.
_DENSE_SHARE = 1 / 16


def adjusted_rnx(
    embedding: Map,
    X: Any,
    labels: object = None,
    *,
    k: int = NEIGHBORHOOD,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Share of the neighbours in the data that the map keeps, beyond chance.

    With labels, the neighbours in the map are compared with equally many nearest points of the
    same and of different labels in the data, so mixing labels does not count against the map.
    Where a label has so few points that all of them are in a neighbourhood, every map would share
    them: they do not count, and points without any choice are left out.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like or sparse matrix of shape (n, d), or DataNeighbors
        The features, reduced as in :func:`ctsne.evaluate.data_neighbors`, or their neighbours with
        the labels to adjust for. For other metrics pass the neighbours.
    labels : array-like of shape (n,) or (n, c), optional
        Any label column. A pair in which a label is missing never counts as different. Without
        labels this is the usual R_NX.
    k, pointwise, n_jobs
        As in :func:`ctsne.evaluate.laplacian`.

    Returns
    -------
    float, or ndarray of float64
        ``R_NX(k)``: 1 if all neighbourhoods are kept; without labels, chance gives 0. nan if no
        point has a choice.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_rnx
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_rnx(X, X, ["a", "b", "a", "b"], k=1)
    1.0
    """
    lists = neighbors.both_neighbors(embedding, X, labels, k, n_jobs)
    return _compared(*lists, partial(_beyond_chance, k), pointwise)


def adjusted_jaccard(embedding: Map, X: Any, labels: object = None, *, k: int) -> float:
    """Mean Jaccard index ``|v ∩ n| / |v ∪ n|`` of the same neighbourhoods, chance included."""
    lists = neighbors.both_neighbors(embedding, X, labels, k, -1)
    # Two sets of k with some points in common.
    return float(_compared(*lists, lambda shared, *_: shared / (2 * k - shared), pointwise=False))


def rnx_area(positions: Positions, data: DataNeighbors, n_jobs: int) -> float:
    """Return the area under R_NX on a logarithmic axis, ``Σ R_NX(k)/k / Σ 1/k`` (Lee et al. 2015).

    All points are ranked by their distance from each measured point. Sizes without a value are
    left out.
    """
    places, lists = positions.astype(np.float64), neighbors.rank_data(data)
    largest = data.n - 2

    def values(rows: slice) -> Floats:
        points = data.points[rows]
        near = neighbors.rank_points(cdist(places[points], places, "sqeuclidean"), points)
        return at_all_sizes(near[:, :largest], lists(points))

    rows = sampling.chunks(len(data.points), RANKED_LENGTH * data.n)
    means = mean_curve(values, rows, largest, n_jobs)
    weights = np.where(np.isnan(means), 0.0, 1 / np.arange(1, len(means) + 1))
    return float(sampling.divided((weights * np.nan_to_num(means)).sum(), weights.sum()))


def mean_curve(
    values: Callable[[slice], Floats], rows: Iterable[slice], largest: int, n_jobs: int
) -> Floats:
    """Compute the values of some points at a time at all sizes, and return their means."""

    def reduced(some: slice) -> tuple[Floats, Floats]:
        found = values(some)
        return np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0).astype(np.float64)

    # Threads share the data, and at most one chunk of points per thread is in work.
    run = joblib.Parallel(check_jobs(n_jobs), require="sharedmem", return_as="generator")
    totals, counts = np.zeros(largest), np.zeros(largest)
    for total, count in run(joblib.delayed(reduced)(some) for some in rows):
        totals += total
        counts += count
    return sampling.divided(totals, counts)


def rnx_within(
    positions: Positions, data: DataNeighbors, types: Column, k: int, n_jobs: int
) -> float:
    """Return the adjusted R_NX among points of the same type, averaged over measured points."""
    # A neighbourhood holds at most half of the other points of a type; types of fewer than three
    # points, and points without a type, are left out.
    features: Any = data.features
    found = [np.empty(0)]
    for code in range(types.n_labels):
        own = np.flatnonzero(types.codes == code)
        points = np.flatnonzero(np.isin(own, data.points))
        if len(own) < 3 or not len(points):
            continue
        size = min(k, (len(own) - 1) // 2)
        labels = None if data.labels is None else data.labels.take(own)
        lists = DataNeighbors(
            points, len(own), labels, size, metric=data.metric, features=features[own]
        )
        near = neighbors.search_map(positions[own], points, size, n_jobs)
        values = adjusted_rnx(near, neighbors.search_data(lists, n_jobs), k=size, pointwise=True)
        found.append(np.asarray(values))
    return sampling.mean(np.concatenate(found))


def _compared(
    low: MapNeighbors, high: DataNeighbors, formula: Callable[..., Floats], pointwise: bool
) -> float | Floats:
    """Compute a value per point from the counts at the full size of the neighbourhoods."""

    def values(rows: slice) -> Floats:
        counts = _counts(low.indices[rows], high._of_rows(rows))
        return formula(*(count[:, -1] for count in counts))

    return sampling.in_chunks(values, len(low.points), 4 * low.k, pointwise)


def at_all_sizes(near: Indices, data: DataNeighbors) -> Floats:
    """Return the adjusted R_NX of each point at every size up to the length of the lists."""
    return _beyond_chance(np.arange(1, near.shape[1] + 1), *_counts(near, data))


def _beyond_chance(k: int | Points, shared: Points, forced: Points, chance: Floats) -> Floats:
    # Multiplied by k over chance, so that these are whole numbers where nothing is forced.
    scale = k / np.where(chance > 0, chance, np.inf)
    random = np.where(chance > 0, k, 0)
    return sampling.divided(
        (shared - forced) * scale - random, (k - forced) * scale - random, _NO_CHOICE
    )


def _counts(near: Indices, data: DataNeighbors) -> tuple[Points, Points, Floats]:
    """Count neighbours that map and data share, for every k; forced ones, and those by chance."""
    return _overlaps(near, data.adjusted(near), data.n), *_forced_neighbors(near, data)


def _overlaps(a: Indices, b: Indices, n: int) -> Points:
    """Count for every k how many of the first k points two rows share; rows have no repeats."""
    rows, k = a.shape
    if k < _DENSE_SHARE * n:
        places = _places_in_short_rows(a, b)
    else:
        # The position of each point in the second row (k if absent), then the later of both.
        position = np.arange(k, dtype=np.int32)
        row = np.arange(rows)[:, None]
        place = np.full(rows * n, k, np.int32)
        place[b + row * n] = position
        last = np.maximum(place[a + row * n], position)
        places = (last + row * (k + 1)).ravel()
    joined = np.bincount(places, minlength=rows * (k + 1)).reshape(rows, k + 1)
    return np.asarray(np.cumsum(joined[:, :k], axis=1))


def _places_in_short_rows(a: Indices, b: Indices) -> Points:
    """Return from which position both lists hold a shared point, numbered on from row to row."""
    k = a.shape[1]
    # Sorting brings equal entries of both lists next to each other, each with its position.
    bits = int(2 * k - 1).bit_length()
    both = np.hstack([a, b]).astype(np.int64) << bits | np.arange(2 * k)
    both.sort(axis=1)
    row, at = np.nonzero(both[:, 1:] >> bits == both[:, :-1] >> bits)
    mask = (1 << bits) - 1
    last = np.maximum(both[row, at] & mask, (both[row, at + 1] & mask) - k)
    return np.asarray(row * (k + 1) + last)


def _forced_neighbors(near: Indices, data: DataNeighbors) -> tuple[Points, Floats]:
    """Count, for every k, neighbours that any map would share, and those expected by chance."""
    rows, k = near.shape
    size = np.arange(1, k + 1)
    forced = np.zeros((rows, k), np.int64)
    chance = np.broadcast_to(size**2 / (data.n - 1), (rows, k)).copy()
    if data.labels is None:
        return forced, chance
    other = np.cumsum(different_labels(data.labels, data.points[:, None], near), axis=1)
    counts = [count[data.points, None] for count in available(data.labels, data.n)]
    kinds = (size - other, other, *counts), (other, size - other, *counts[::-1])
    for part, rest, there, elsewhere in kinds:
        # A neighbourhood that holds all points of a label shares them with any adjusted one.
        whole = (part == there) & (there > 0)
        forced += np.where(whole, part, 0)
        chance = np.where(whole, rest**2 / np.maximum(elsewhere, 1), chance)
    return forced, chance
