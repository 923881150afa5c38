"""Neighbourhood preservation Q_NX and R_NX, adjusted for labels (paper, section 4.1)."""

from __future__ import annotations

from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features
from ctsne.evaluate._inputs import Options, check_sizes, mean, sample_points
from ctsne.evaluate._overlap import chunks, forced_neighbors, overlaps, shared_neighbors
from ctsne.evaluate._ranking import RANKED_SHARE, blocks, ranked_data, ranking
from ctsne.evaluate.curve import Curve, make_curve
from ctsne.evaluate.neighborhoods import DataNeighbors, MapNeighbors, resolve_both, take_rows
from ctsne.labels import Labels, encode_labels

__all__ = ["adjusted_qnx", "adjusted_rnx", "rnx_curve"]

# Below this many neighbours to choose, which are rounding errors, there is no choice.
_NO_CHOICE = 1e-9


@overload
def adjusted_qnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def adjusted_qnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def adjusted_qnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Share of neighbours in the data that the map keeps.

    With labels, the neighbours in the map are compared with equally many nearest points of the
    same and of different labels in the data, so that mixing labels is not held against the map.
    Where a label has so few points that all of them are in a neighbourhood, every map would share
    them: they do not count, and points without any choice are left out.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like of shape (n, d) or DataNeighbors
        The data, or its neighbours with the labels to adjust for.
    labels : array-like of shape (n,), optional
        Any label column. A point without a label, or a pair with one, is never different.
        Without labels this is the usual Q_NX.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return the value of each (sampled) point instead of their mean.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        ``Q_NX(k)`` from 0 to 1; nan if no point had a choice.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_qnx
    >>> adjusted_qnx([[0], [2], [1], [3]], [[0], [1], [2], [3]], k=2)
    0.75
    """
    shared, forced, _ = shared_neighbors(
        embedding, X, labels, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    values = _share(shared - forced, k - forced)
    return values if pointwise else mean(values)


@overload
def adjusted_rnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def adjusted_rnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def adjusted_rnx(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Share of neighbours in the data that the map keeps, above chance.

    With labels, the neighbours in the map are compared with equally many nearest points of the
    same and of different labels in the data, so that mixing labels is not held against the map.
    Where a label has so few points that all of them are in a neighbourhood, every map would share
    them: they do not count, and points without any choice are left out.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like of shape (n, d) or DataNeighbors
        The data, or its neighbours with the labels to adjust for.
    labels : array-like of shape (n,), optional
        Any label column. A point without a label, or a pair with one, is never different.
        Without labels this is the usual R_NX.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return the value of each (sampled) point instead of their mean.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        ``R_NX(k)``: 1 if all neighbourhoods are kept; 0 is what chance gives without labels. nan if
        no point had a choice.

    Examples
    --------
    >>> from ctsne.evaluate import adjusted_rnx
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_rnx(X, X, ["a", "b", "a", "b"], k=1)
    1.0
    """
    shared, forced, chance = shared_neighbors(
        embedding, X, labels, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    values = _above_chance(shared, forced, chance, k)
    return values if pointwise else mean(values)


def rnx_curve(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object = None,
    *,
    k: ArrayLike | None = None,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> Curve:
    """R_NX over neighbourhood sizes, adjusted for labels, and the area under it.

    A whole curve ranks all points by their distance from each one measured; for more than some
    ten thousand points take a sample.

    Parameters
    ----------
    embedding : array-like of shape (n, d') or MapNeighbors
        Positions in the map, or its neighbours.
    X : array-like of shape (n, d) or DataNeighbors
        The data, or its neighbours with the labels to adjust for.
    labels : array-like of shape (n,), optional
        Any label column, as in :func:`ctsne.evaluate.adjusted_rnx`.
    k : list of int, optional
        Neighbourhood sizes, each from 1 to n - 2; by default log-spaced over all of these, or up
        to the length of given lists.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return a curve for each (sampled) point instead of their mean.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

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
    if isinstance(embedding, MapNeighbors) or isinstance(X, DataNeighbors):
        n, largest = _given(embedding, X)
        sizes = check_sizes(k, largest=largest, n=n)
        lists = resolve_both(
            embedding, X, labels, k=int(sizes[-1]), sample=sample, random_state=random_state,
            n_jobs=n_jobs,
        )  # fmt: skip
        return _curve_of_lists(*lists, sizes, pointwise, n_jobs)
    low = check_features(embedding, argument="embedding")
    high = check_features(X)
    n = len(low)
    if len(high) != n:
        raise ValueError(f"X and embedding must be of the same points, got {len(high)} and {n}")
    sizes = check_sizes(k, largest=n - 2, n=n)
    largest = int(sizes[-1])
    known = None if labels is None else encode_labels(labels, n=n)
    if largest <= RANKED_SHARE * n:
        lists = resolve_both(
            low, high, known, k=largest, sample=sample, random_state=random_state, n_jobs=n_jobs
        )
        return _curve_of_lists(*lists, sizes, pointwise, n_jobs)
    points = sample_points(n, sample, random_state)
    return ranked_curve(low, high, known, points, sizes, pointwise=pointwise, n_jobs=n_jobs)


def ranked_curve(
    embedding: NDArray[np.floating],
    X: NDArray[np.floating],
    labels: Labels | None,
    points: NDArray[np.int64],
    sizes: NDArray[np.int64],
    *,
    pointwise: bool = False,
    n_jobs: int,
) -> Curve:
    """Make a curve from whole rankings, with arguments as :func:`rnx_curve` checked them."""
    low, high = embedding.astype(np.float64), X.astype(np.float64)

    def values(block: NDArray[np.int64]) -> NDArray[np.float64]:
        near = ranking(low, block)[:, : sizes[-1]]
        return _at_all_sizes(near, ranked_data(high, labels, block))

    every = blocks(points, len(low))
    return make_curve(values, every, sizes, pointwise=pointwise, n_jobs=n_jobs)


def _given(embedding: ArrayLike | MapNeighbors, X: ArrayLike | DataNeighbors) -> tuple[int, int]:
    """Return the number of points and the largest size that given lists allow."""
    lists = [each for each in (embedding, X) if isinstance(each, MapNeighbors | DataNeighbors)]
    return lists[0].n, min(each.k for each in lists)


def _curve_of_lists(
    low: MapNeighbors,
    high: DataNeighbors,
    sizes: NDArray[np.int64],
    pointwise: bool,
    n_jobs: int,
) -> Curve:
    def values(rows: slice) -> NDArray[np.float64]:
        return _at_all_sizes(low.indices[rows], take_rows(high, rows))

    rows = chunks(len(low.points), 4 * low.k)
    return make_curve(values, rows, sizes, pointwise=pointwise, n_jobs=n_jobs)


def _at_all_sizes(near: NDArray[np.int32], data: DataNeighbors) -> NDArray[np.float64]:
    sizes = np.arange(1, near.shape[1] + 1)
    shared = overlaps(near, data.adjusted(near), data.n)
    forced, chance = forced_neighbors(near, data)
    return _above_chance(shared, forced, chance, sizes)


def _above_chance(
    shared: NDArray[np.int64],
    forced: NDArray[np.int64],
    chance: NDArray[np.float64],
    k: int | NDArray[np.int64],
) -> NDArray[np.float64]:
    # Multiplied by k over chance, which leaves whole numbers where nothing is forced.
    scale = k / np.where(chance > 0, chance, np.inf)
    return _share(
        (shared - forced) * scale - np.where(chance > 0, k, 0),
        (k - forced) * scale - np.where(chance > 0, k, 0),
    )


def _share(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide; nan where there was no choice, and so nothing to keep."""
    share = np.full(part.shape, np.nan)
    np.divide(part, whole, out=share, where=whole > _NO_CHOICE)
    return share
