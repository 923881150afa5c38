"""The Laplacian score: how much an embedding mixes a label (paper, section 4.1)."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.evaluate._inputs import Options, check_sizes, mean, sample_points
from ctsne.evaluate._overlap import chunks
from ctsne.evaluate._ranking import RANKED_SHARE, blocks, ranking
from ctsne.evaluate.curve import Curve, make_curve
from ctsne.evaluate.neighborhoods import MapNeighbors, checked_map, resolve_map
from ctsne.labels import encode_labels

__all__ = ["expected_laplacian", "laplacian", "laplacian_curve"]


@overload
def laplacian(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[False] = False,
    **options: Unpack[Options],
) -> float: ...


@overload
def laplacian(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    pointwise: Literal[True],
    **options: Unpack[Options],
) -> NDArray[np.float64]: ...


def laplacian(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    k: int = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | NDArray[np.float64]:
    """Mean share of different labels among the k nearest neighbours in the map.

    0 means that every neighbourhood is of one label. Random labels give `expected_laplacian`.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours.
    labels : array-like of shape (n,)
        Any label column. Points without a label count neither as points nor as neighbours.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    pointwise : bool, default=False
        Return the share of each (sampled) point instead of their mean; nan where there is none.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    float, or ndarray of float64
        The score, between 0 and 1; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> from ctsne.evaluate import laplacian
    >>> laplacian([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    0.25
    """
    given, n = checked_map(embedding)
    codes = encode_labels(labels, n=n).codes
    found = resolve_map(given, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs)
    values = np.concatenate([
        _shares(codes, found.points[rows], found.indices[rows])[:, -1]
        for rows in chunks(len(found.points), found.k)
    ])  # fmt: skip
    return values if pointwise else mean(values)


def laplacian_curve(
    embedding: ArrayLike | MapNeighbors,
    labels: object,
    *,
    k: ArrayLike | None = None,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> Curve:
    """Laplacian score over neighbourhood sizes.

    A whole curve ranks all points by their distance from each one measured; for more than some
    ten thousand points take a sample.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours.
    labels : array-like of shape (n,)
        Any label column, as in :func:`ctsne.evaluate.laplacian`.
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
    >>> from ctsne.evaluate import laplacian_curve
    >>> laplacian_curve([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"]).value.tolist()
    [0.25, 0.625]
    """
    given, n = checked_map(embedding)
    codes = encode_labels(labels, n=n).codes
    sizes = check_sizes(k, largest=given.k if isinstance(given, MapNeighbors) else n - 2, n=n)
    largest = int(sizes[-1])
    if isinstance(given, MapNeighbors) or largest <= RANKED_SHARE * n:
        found = resolve_map(
            given, k=largest, sample=sample, random_state=random_state, n_jobs=n_jobs
        )
        return make_curve(
            lambda rows: _shares(codes, found.points[rows], found.indices[rows]),
            chunks(len(found.points), largest), sizes, pointwise=pointwise, n_jobs=n_jobs,
        )  # fmt: skip
    positions = given.astype(np.float64)
    return make_curve(
        lambda points: _shares(codes, points, ranking(positions, points)[:, :largest]),
        blocks(sample_points(n, sample, random_state), n), sizes, pointwise=pointwise,
        n_jobs=n_jobs,
    )  # fmt: skip


def _shares(
    codes: NDArray[np.int32], points: NDArray[np.int64], near: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Share of different labels among the first neighbours, for every number of them."""
    own = codes[points][:, None]
    labels = codes[near]
    counted = (labels >= 0) & (own >= 0)
    total = np.cumsum(counted, axis=1)
    different = np.cumsum(counted & (labels != own), axis=1)
    shares = np.full(near.shape, np.nan)
    np.divide(different, total, out=shares, where=total > 0)
    return shares


def expected_laplacian(labels: object) -> float:
    """Laplacian score expected when the labels are assigned at random.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column; missing labels are left out.

    Returns
    -------
    float
        ``Σ n_l (m - n_l) / (m (m - 1))`` over the m labelled points; nan if there are not two.

    Examples
    --------
    >>> from ctsne.evaluate import expected_laplacian
    >>> round(expected_laplacian(["a", "a", "b", "b"]), 3)
    0.667
    """
    counts = encode_labels(labels).counts.astype(np.float64)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")
