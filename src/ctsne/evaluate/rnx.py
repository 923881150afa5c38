"""Neighbours kept by a map: Q_NX, R_NX and Jaccard, adjusted for labels (paper, section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.evaluate.curves import RANKED_LENGTH, RANKED_SHARE, Curve, make_curve, ranked_map
from ctsne.evaluate.neighbors_in_data import (
    DataNeighbors,
    both_neighbors,
    prepared_for_ranking,
    ranked_data,
    take_rows,
    unsearched,
)
from ctsne.evaluate.neighbors_in_map import Map, MapNeighbors, checked_map
from ctsne.evaluate.sampling import (
    Floats,
    Indices,
    Points,
    check_sizes,
    chunks,
    divided,
    mean,
    sample_points,
)
from ctsne.neighbors.lists import available, different_labels

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
    lists = both_neighbors(embedding, X, labels, k, sample, random_state, n_jobs)
    values = _beyond_chance(*_shared_neighbors(*lists), k)
    return values if pointwise else mean(values)


def adjusted_qnx(
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
    """Share of the neighbours in the data that the map keeps, not corrected for chance.

    Parameters
    ----------
    embedding, X, labels, k, sample, random_state, pointwise, n_jobs
        As in :func:`ctsne.evaluate.adjusted_rnx`.

    Returns
    -------
    float, or ndarray of float64
        ``Q_NX(k)`` from 0 to 1; nan if no point has a choice.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_qnx
    >>> adjusted_qnx([[0], [2], [1], [3]], [[0], [1], [2], [3]], k=2)
    0.75
    """
    lists = both_neighbors(embedding, X, labels, k, sample, random_state, n_jobs)
    shared, forced, _ = _shared_neighbors(*lists)
    values = divided(shared - forced, k - forced)
    return values if pointwise else mean(values)


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
    lists = both_neighbors(embedding, X, labels, k, sample, random_state, n_jobs)
    shared = _shared_neighbors(*lists)[0]
    values = shared / (2 * k - shared)  # two sets of k with some points in common
    return values if pointwise else mean(values)


def rnx_curve(
    embedding: Map,
    X: Any,
    labels: object = None,
    *,
    k: ArrayLike | None = None,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
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
    pointwise : bool, default=False
        Return a curve for each measured point instead of their mean.

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
    given, n = checked_map(embedding)
    lengths = [each.k for each in (given, X) if isinstance(each, MapNeighbors | DataNeighbors)]
    sizes = check_sizes(k, largest=min(lengths, default=n - 2), n=n)
    largest = int(sizes[-1])
    if isinstance(given, MapNeighbors) or lengths or largest <= RANKED_SHARE * n:
        low, high = both_neighbors(given, X, labels, largest, sample, random_state, n_jobs)

        def values(rows: slice) -> Floats:
            return _at_all_sizes(low.indices[rows], take_rows(high, rows))

        rows = chunks(len(low.points), 4 * largest)
        return make_curve(values, rows, sizes, pointwise, n_jobs)
    points = sample_points(n, sample, random_state)
    data = unsearched(X, labels, points, n, largest, n_jobs)
    return ranked_curve(given, data, sizes, pointwise, n_jobs)


def ranked_curve(
    positions: NDArray[np.floating],
    data: DataNeighbors,
    sizes: Points,
    pointwise: bool,
    n_jobs: int,
) -> Curve:
    """Compute a curve from rankings of all points; arguments are checked."""
    low, high = positions.astype(np.float64), prepared_for_ranking(data)

    def values(rows: slice) -> Floats:
        points = data.points[rows]
        return _at_all_sizes(ranked_map(low, points, sizes[-1]), ranked_data(high, points))

    parts = chunks(len(data.points), RANKED_LENGTH * data.n)
    return make_curve(values, parts, sizes, pointwise, n_jobs)


def _at_all_sizes(near: Indices, data: DataNeighbors) -> Floats:
    shared = _overlaps(near, data.adjusted(near), data.n)
    return _beyond_chance(shared, *_forced_neighbors(near, data), np.arange(1, near.shape[1] + 1))


def _beyond_chance(shared: Points, forced: Points, chance: Floats, k: int | Points) -> Floats:
    # Multiplied by k over chance, so that these are whole numbers where nothing is forced.
    scale = k / np.where(chance > 0, chance, np.inf)
    random = np.where(chance > 0, k, 0)
    return divided((shared - forced) * scale - random, (k - forced) * scale - random, _NO_CHOICE)


def _shared_neighbors(low: MapNeighbors, high: DataNeighbors) -> tuple[Points, Points, Floats]:
    """Count, per point, neighbours that map and data share, forced ones, and those by chance."""
    parts = []
    for rows in chunks(len(low.points), 4 * low.k):
        near, data = low.indices[rows], take_rows(high, rows)
        counts = _overlaps(near, data.adjusted(near), low.n), *_forced_neighbors(near, data)
        parts.append([each[:, -1] for each in counts])
    shared, forced, chance = (np.concatenate(each) for each in zip(*parts, strict=True))
    return shared, forced, chance


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
    counts = [each[data.points, None] for each in available(data.labels, data.n)]
    kinds = (size - other, other, *counts), (other, size - other, *counts[::-1])
    for part, rest, there, elsewhere in kinds:
        # A neighbourhood that holds all points of a label shares them with any adjusted one.
        whole = (part == there) & (there > 0)
        forced += np.where(whole, part, 0)
        chance = np.where(whole, rest**2 / np.maximum(elsewhere, 1), chance)
    return forced, chance
