"""Mixing of a label in a map: the Laplacian score (paper, section 4.1) and its share of random."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._core.checks import check_count
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate.neighbors import (
    Map,
    MapNeighbors,
    check_map,
    labelled_neighbors,
    map_neighbors,
    rank_map,
)
from ctsne.evaluate.rnx import RANKED_LENGTH, RANKED_SHARE, Curve, make_curve
from ctsne.evaluate.sampling import (
    Floats,
    Indices,
    check_sizes,
    chunks,
    divided,
    in_chunks,
    mean,
    sample_points,
)
from ctsne.labels import Column, encode_column


def laplacian(
    embedding: Map,
    labels: object,
    *,
    k: int = NEIGHBORHOOD,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Mean share of different labels among the k nearest neighbours in the map.

    0 means that every neighbourhood has one label. Random labels give `expected_laplacian`.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours.
    labels : array-like of shape (n,) or (n, c)
        Any label column. Points without a label count neither as points nor as neighbours.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.map_neighbors`.
    pointwise : bool, default=False
        Return the share of each measured point instead of their mean; nan where there is none.

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
    found, known = labelled_neighbors(embedding, labels, k, sample, random_state, n_jobs)
    codes = known.codes

    def shares(rows: slice) -> Floats:
        return _shares(codes[found.points[rows]], codes[found.indices[rows]])[:, -1]

    return in_chunks(shares, len(found.points), found.k, pointwise)


def laplacian_curve(
    embedding: Map,
    labels: object,
    *,
    k: ArrayLike | None = None,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> Curve:
    """Laplacian score over neighbourhood sizes.

    Parameters
    ----------
    embedding, labels
        As in :func:`ctsne.evaluate.laplacian`.
    k, sample, random_state, pointwise, n_jobs
        As in :func:`ctsne.evaluate.rnx_curve`.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from ctsne.evaluate import laplacian_curve
    >>> laplacian_curve([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"]).value.tolist()
    [0.25, 0.625]
    """
    given, n = check_map(embedding)
    known = encode_column(labels, n=n)
    codes = known.codes
    sizes = check_sizes(k, largest=given.k if isinstance(given, MapNeighbors) else n - 2, n=n)
    largest = int(sizes[-1])
    if isinstance(given, MapNeighbors) or largest <= RANKED_SHARE * n:
        found, _ = labelled_neighbors(given, known, largest, sample, random_state, n_jobs)

        def shares(rows: slice) -> Floats:
            return _shares(codes[found.points[rows]], codes[found.indices[rows]])

        parts = chunks(len(found.points), largest)
        return make_curve(shares, parts, sizes, pointwise, n_jobs)
    near, points = rank_map(given, largest), sample_points(n, sample, random_state)

    def ranked_shares(rows: slice) -> Floats:
        return _shares(codes[points[rows]], codes[near(points[rows])])

    parts = chunks(len(points), RANKED_LENGTH * n)
    return make_curve(ranked_shares, parts, sizes, pointwise, n_jobs)


def _shares(own: Indices, labels: Indices) -> Floats:
    """Return the share of different labels among the first neighbours, for every number of them."""
    own = own[:, None]
    counted = (labels >= 0) & (own >= 0)
    different = np.cumsum(counted & (labels != own), axis=1)
    return divided(different, np.cumsum(counted, axis=1))


def expected_laplacian(labels: object) -> float:
    """Laplacian score expected when the labels are assigned at random.

    Parameters
    ----------
    labels : array-like of shape (n,) or (n, c)
        Any label column; missing labels are left out.

    Returns
    -------
    float
        ``Σ n_l (m - n_l) / (m (m - 1))`` over the m labelled points; nan if m is less than 2.

    Examples
    --------
    >>> from ctsne.evaluate import expected_laplacian
    >>> round(expected_laplacian(["a", "a", "b", "b"]), 3)
    0.667
    """
    counts = encode_column(labels).counts.astype(np.float64)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")


def mixing(embedding: Map, labels: object, *, k: int = NEIGHBORHOOD, n_jobs: int = -1) -> float:
    """Share of random mixing: 0 is not mixed at all, 1 is mixed as random labels would be.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map (at most 5,000 points are measured), or its neighbours.
    labels : array-like of shape (n,) or (n, c)
        Any label column; missing labels are left out.
    k, n_jobs
        As in :func:`ctsne.evaluate.laplacian`; ``k`` is smaller if there are fewer points.

    Returns
    -------
    float
        The Laplacian score divided by its expected value; nan if it cannot be measured.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import mixing
    >>> Y = np.random.default_rng(0).normal(size=(500, 2))
    >>> apart = Y + 9.0 * (np.arange(500) % 2)[:, None]
    >>> [round(mixing(each, np.arange(500) % 2), 1) for each in (Y, apart)]
    [1.0, 0.0]
    """
    found, known = _measured(embedding, labels, k, n_jobs)
    random = expected_laplacian(known)
    return float(laplacian(found, known, k=found.k)) / random if random > 0 else float("nan")


def mixing_by_label(
    embedding: Map, labels: object, *, k: int = NEIGHBORHOOD, n_jobs: int = -1
) -> dict[object, float]:
    """Share of random mixing of each label.

    Parameters
    ----------
    embedding, labels, k, n_jobs
        As in :func:`ctsne.evaluate.mixing`.

    Returns
    -------
    dict of label to float
        The least mixed label first; labels without a measured point are left out.

    Examples
    --------
    >>> from ctsne.evaluate import mixing_by_label
    >>> mixing_by_label([[0.0], [1.0], [3.0], [7.0], [8.0]], list("aabba"), k=1)
    {'a': 0.6666666666666666, 'b': 1.3333333333333333}
    """
    found, known = _measured(embedding, labels, k, n_jobs)
    shares = np.asarray(laplacian(found, known, k=found.k, pointwise=True))
    codes = known.codes[found.points]
    # Only labelled neighbours count, so only labelled points are drawn at random.
    labelled = int(known.counts.sum())
    random = (labelled - known.counts) / max(labelled - 1, 1)
    measured: dict[object, float] = {}
    for code in np.unique(codes[codes >= 0]):
        value = mean(shares[codes == code] / random[code]) if random[code] > 0 else np.nan
        if np.isfinite(value):
            measured[known.names[code]] = value
    return dict(sorted(measured.items(), key=lambda item: item[1]))


def _measured(embedding: Map, labels: object, k: int, n_jobs: int) -> tuple[MapNeighbors, Column]:
    """Return the neighbours of the points measured by default, or given ones, and the labels."""
    given, n = check_map(embedding)
    known = encode_column(labels, n=n)
    if isinstance(given, MapNeighbors):
        return given, known
    k = min(check_count(k, "k", low=1), n - 2)
    return map_neighbors(given, k=k, sample=MEASURED_POINTS, n_jobs=n_jobs), known
