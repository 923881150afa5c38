"""Neighbours kept by a map: R_NX and Jaccard, adjusted for labels (paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from ctsne._core.checks import check_jobs
from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.evaluate import neighbors, sampling
from ctsne.evaluate.neighbors import DataNeighbors, Map, MapNeighbors
from ctsne.evaluate.sampling import Floats, Indices, Points, Positions
from ctsne.labels import Column
from ctsne.neighbors.patterns import available, different_labels

# For neighbourhoods larger than this share of the points, ranking all points is faster than a
# search.
RANKED_SHARE = 1 / 16
# A ranked row counts as this many rows of a search, so that a chunk of them fits in the cache.
RANKED_LENGTH = 8
# With fewer free neighbours than this, which is a rounding error, there is no choice.
_NO_CHOICE = 1e-9
# Above this share of all points, a table with an entry per point is faster than a sort.
_DENSE_SHARE = 1 / 16


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure over neighbourhood sizes.

    Attributes
    ----------
    k : ndarray of int64, shape (s,)
        Neighbourhood sizes.
    value : ndarray of float64, shape (s,)
        The measure at these sizes.
    area : float
        The area under the curve on a logarithmic axis, ``Σ value(k)/k / Σ 1/k`` over *every* size
        up to the largest (Lee et al. 2015), so that it does not depend on the sizes shown. Sizes
        without a value are left out.

    Examples
    --------
    >>> from ctsne.evaluate import rnx_curve
    >>> curve = rnx_curve([[0], [2], [1], [3]], [[0], [1], [2], [3]], k=[1, 2])
    >>> curve.k.tolist(), curve.value.tolist(), round(curve.area, 3)
    ([1, 2], [-0.5, 0.25], -0.25)
    """

    k: NDArray[np.int64]
    value: NDArray[np.float64]
    area: float


def make_curve(
    values: Callable[[slice], Floats], rows: Iterable[slice], sizes: Points, n_jobs: int
) -> Curve:
    """Compute the values of some points at a time at all sizes, and their means as a curve."""

    def reduced(some: slice) -> tuple[Floats, Floats]:
        found = values(some)
        return np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0).astype(np.float64)

    # Threads share the data, and at most one chunk of points per thread is in work.
    run = joblib.Parallel(check_jobs(n_jobs), require="sharedmem", return_as="generator")
    results = run(joblib.delayed(reduced)(some) for some in rows)
    totals, counts = np.zeros(sizes[-1]), np.zeros(sizes[-1])
    for total, count in results:
        totals += total
        counts += count
    means = sampling.divided(totals, counts)
    weights = np.where(np.isnan(means), 0.0, 1 / np.arange(1, len(means) + 1))
    area = sampling.divided((weights * np.nan_to_num(means)).sum(), weights.sum())
    return Curve(sizes, means[sizes - 1], float(area))


def adjusted_rnx(
    embedding: Map,
    X: Any,
    labels: object = None,
    *,
    k: int = NEIGHBORHOOD,
    sample: float | None = None,
    random_state: object = 0,
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
    k, sample, random_state, pointwise, n_jobs
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
    lists = neighbors.both_neighbors(embedding, X, labels, k, sample, random_state, n_jobs)
    return _compared(*lists, partial(_beyond_chance, k), pointwise)


def adjusted_jaccard(
    embedding: Map,
    X: Any,
    labels: object = None,
    *,
    k: int = NEIGHBORHOOD,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Mean Jaccard index ``|v ∩ n| / |v ∪ n|`` of the neighbourhoods in data and map.

    Neighbourhoods are those of :func:`ctsne.evaluate.adjusted_rnx`, without correction for chance.
    The paper's authors publish tables of this measure.

    Parameters
    ----------
    embedding, X, labels, k, sample, random_state, pointwise, n_jobs
        As in :func:`ctsne.evaluate.adjusted_rnx`.

    Returns
    -------
    float, or ndarray of float64
        From 0 to 1.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_jaccard
    >>> X = [[0], [1], [2], [3]]
    >>> adjusted_jaccard([[0], [2], [1], [3]], X, k=2, pointwise=True).round(3).tolist()
    [1.0, 0.333, 0.333, 1.0]
    """
    lists = neighbors.both_neighbors(embedding, X, labels, k, sample, random_state, n_jobs)
    # Two sets of k with some points in common.
    return _compared(*lists, lambda shared, *_: shared / (2 * k - shared), pointwise)


def rnx_curve(
    embedding: Map,
    X: Any,
    labels: object = None,
    *,
    k: ArrayLike | None = None,
    sample: float | None = None,
    random_state: object = 0,
    n_jobs: int = -1,
) -> Curve:
    """R_NX over neighbourhood sizes, adjusted for labels, and the area under it.

    A whole curve ranks all points by their distance from each measured point. With more than about
    ten thousand points, pass ``sample``.

    Parameters
    ----------
    embedding, X, labels, sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.adjusted_rnx`.
    k : list of int, optional
        Neighbourhood sizes, each from 1 to n - 2; by default log-spaced over all of these, or up
        to the length of given lists.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from ctsne.evaluate import rnx_curve
    >>> X = [[0.0], [1.0], [3.0], [7.0], [15.0]]
    >>> curve = rnx_curve(X, X, ["a", "b", "a", "b", "b"])
    >>> curve.k.tolist(), curve.value.tolist(), curve.area
    ([1, 2, 3], [1.0, 1.0, 1.0], 1.0)
    """
    given, n = neighbors.check_map(embedding)
    lengths = [lists.k for lists in (given, X) if isinstance(lists, MapNeighbors | DataNeighbors)]
    sizes = sampling.check_sizes(k, largest=min(lengths, default=n - 2), n=n)
    largest = int(sizes[-1])
    if isinstance(given, MapNeighbors) or lengths or largest <= RANKED_SHARE * n:
        low, high = neighbors.both_neighbors(
            given, X, labels, largest, sample, random_state, n_jobs
        )

        def values(rows: slice) -> Floats:
            return _at_all_sizes(low.indices[rows], high._of_rows(rows))

        return make_curve(values, sampling.chunks(len(low.points), 4 * largest), sizes, n_jobs)
    points = sampling.sample_points(n, sample, random_state)
    data = neighbors.unsearched(X, labels, points, n, largest, n_jobs)
    return ranked_curve(given, data, sizes, n_jobs)


def ranked_curve(positions: Positions, data: DataNeighbors, sizes: Points, n_jobs: int) -> Curve:
    """Compute a curve from rankings of all points; arguments are checked."""
    places, lists = positions.astype(np.float64), neighbors.rank_data(data)

    def values(rows: slice) -> Floats:
        points = data.points[rows]
        near = neighbors.rank_points(cdist(places[points], places, "sqeuclidean"), points)
        return _at_all_sizes(near[:, : sizes[-1]], lists(points))

    rows = sampling.chunks(len(data.points), RANKED_LENGTH * data.n)
    return make_curve(values, rows, sizes, n_jobs)


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


def _at_all_sizes(near: Indices, data: DataNeighbors) -> Floats:
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
