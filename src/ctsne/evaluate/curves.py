"""Curves of a measure over neighbourhood sizes, and the rankings of all points behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne._core.checks import check_jobs
from ctsne.evaluate.sampling import Floats, Indices, Points, divided

# For neighbourhoods larger than this share of the points, ranking all points is faster than a
# search.
RANKED_SHARE = 1 / 16
# A ranked row counts as this many rows of a search, so that a chunk of them fits in the cache.
RANKED_LENGTH = 8


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure over neighbourhood sizes.

    Attributes
    ----------
    k : ndarray of int64, shape (s,)
        Neighbourhood sizes.
    value : ndarray of float64, shape (s,), or (m, s) for each of m points
        The measure at these sizes.
    area : float, or ndarray of float64 of shape (m,)
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
    area: float | NDArray[np.float64]


def make_curve(
    values: Callable[[slice], Floats],
    rows: Iterable[slice],
    sizes: Points,
    pointwise: bool,
    n_jobs: int,
) -> Curve:
    """Compute the values of parts of the points at all sizes, and reduce them to a curve."""
    pointwise = bool(pointwise)  # whatever is neither true nor false fails before threads start

    def reduced(part: slice) -> tuple[Floats, Floats]:
        found = values(part)
        if pointwise:
            return found[:, sizes - 1], _area(found)
        return np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0).astype(np.float64)

    # Threads share the data, and at most one part per thread is in work.
    run = joblib.Parallel(check_jobs(n_jobs), require="sharedmem", return_as="generator")
    parts = run(joblib.delayed(reduced)(part) for part in rows)
    if pointwise:
        picked, areas = zip(*parts, strict=True)
        return Curve(sizes, np.concatenate(picked), np.concatenate(areas))
    totals, counts = np.zeros(sizes[-1]), np.zeros(sizes[-1])
    for total, count in parts:
        totals += total
        counts += count
    means = divided(totals, counts)
    return Curve(sizes, means[sizes - 1], float(_area(means)))


def _area(values: Floats) -> Floats:
    weights = np.where(np.isnan(values), 0.0, 1 / np.arange(1, values.shape[-1] + 1))
    return divided((weights * np.nan_to_num(values)).sum(axis=-1), weights.sum(axis=-1))


def ranking(distances: Floats, points: Points, last: NDArray[np.bool_] | None = None) -> Indices:
    """Order all other points by distance, marked ones after the rest; rescales ``distances``."""
    distances /= distances.max() or 1.0  # into the range of single precision
    # One whole number per pair orders by mark, distance and index, and sorts fastest. The distances
    # were computed in double precision; for a ranking of all points, seven digits are enough.
    keys = distances.astype(np.float32).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(distances.shape[1], dtype=np.uint64)
    if last is not None:
        keys |= last.astype(np.uint64) << np.uint64(63)
    keys[np.arange(len(points)), points] = np.iinfo(np.uint64).max  # the point itself comes last
    keys.sort(axis=1)
    return keys[:, :-1].astype(np.uint32).astype(np.int32)


def ranked_map(places: Floats, points: Points, k: int) -> Indices:
    """Return the k nearest neighbours of some points in a map, by ranking all points."""
    return ranking(cdist(places[points], places, "sqeuclidean"), points)[:, :k]
