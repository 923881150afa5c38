"""Which labels the neighbours in a map have: mixing, LISI, accuracy and private populations.

The Laplacian score is that of the paper (section 4.1); mixing is its share of the random score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count, check_number
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate.neighbors import Map, MapNeighbors, check_map, labelled_neighbors, map_neighbors
from ctsne.evaluate.sampling import Floats, Indices, divided, in_chunks, mean
from ctsne.labels import Column, encode_column

# Tolerance for the logarithm of a perplexity. About six steps reach it; where no precision has the
# perplexity, the search ends after the last step.
_TOLERANCE = 1e-9
_MOST_STEPS = 60


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
        own, near = codes[found.points[rows], None], codes[found.indices[rows]]
        counted = (near >= 0) & (own >= 0)
        return divided((counted & (near != own)).sum(axis=1), counted.sum(axis=1))

    return in_chunks(shares, len(found.points), found.k, pointwise)


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
    >>> [round(mixing(positions, np.arange(500) % 2), 1) for positions in (Y, apart)]
    [1.0, 0.0]
    """
    found, known = _default_neighbors(embedding, labels, k, n_jobs)
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
    found, known = _default_neighbors(embedding, labels, k, n_jobs)
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


def _default_neighbors(
    embedding: Map, labels: object, k: int, n_jobs: int, *, all_points: bool = False
) -> tuple[MapNeighbors, Column]:
    """Return given neighbours, or those of a sample, fewer if there are few points; and labels."""
    given, n = check_map(embedding)
    column = encode_column(labels, n=n)
    if isinstance(given, MapNeighbors):
        return given, column
    k, sample = min(check_count(k, "k", low=1), n - 2), None if all_points else MEASURED_POINTS
    return map_neighbors(given, k=k, sample=sample, n_jobs=n_jobs), column


def lisi(
    embedding: Map,
    labels: object,
    *,
    perplexity: float = 30,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Local inverse Simpson's index: the effective number of labels around a point of the map.

    For the label factored out this is *iLISI*; larger is better, up to
    :func:`ctsne.evaluate.expected_lisi`. For a label to look for it is *cLISI*; 1 is best.

    As in Harmony (Korsunsky et al. 2019): three times ``perplexity`` neighbours have weights
    ``exp(-τ d)``, with τ such that they have that perplexity. The index is ``1 / Σ_l p_l²`` for the
    summed weights ``p_l`` of the labels.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or at least three times ``perplexity`` neighbours per point.
    perplexity : float, default=30
        Effective number of neighbours, at least 1 and at most (n - 2) / 3.
    labels, sample, random_state, pointwise, n_jobs
        As in :func:`ctsne.evaluate.laplacian`.

    Returns
    -------
    float, or ndarray of float64
        From 1 to the number of labels; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import lisi
    >>> embedding = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(lisi(embedding, np.arange(200) % 2), 1), lisi(embedding, ["a"] * 200)
    (1.9, 1.0)
    """
    given, n = check_map(embedding)
    if n < 5:
        raise ValueError(f"LISI needs at least 5 points, got {n}")
    hint = f"there are {n} points"
    target = check_number(perplexity, "perplexity", low=1, high=(n - 2) / 3, hint=hint)
    k = round(3 * target)
    found, known = labelled_neighbors(given, labels, k, sample, random_state, n_jobs)
    codes = known.codes

    def values(rows: slice) -> Floats:
        near = codes[found.indices[rows]]
        counted = (near >= 0) & (codes[found.points[rows]] >= 0)[:, None]
        weights = _weights(found.distances[rows].astype(np.float64), counted, target)
        # Σ_l p_l² is Σ_j w_j p_l(j), with the total weight of each neighbour's label.
        simpson = (weights * _same_label(near, weights)).sum(axis=1)
        return divided(np.ones(len(near)), simpson)

    return in_chunks(values, len(found.points), 4 * k, pointwise)


def expected_lisi(labels: object) -> float:
    """LISI of a large neighbourhood in which all labels are mixed as in the whole data.

    Parameters
    ----------
    labels : array-like of shape (n,) or (n, c)
        Any label column; missing labels are left out.

    Returns
    -------
    float
        ``1 / Σ_l (n_l / m)²`` over the m labelled points; nan if there are none. Random labels
        give a little less, because a neighbourhood is finite.

    Examples
    --------
    >>> from ctsne.evaluate import expected_lisi
    >>> expected_lisi(["a", "a", "b", "b"]), round(expected_lisi(["a", "a", "a", "b"]), 3)
    (2.0, 1.6)
    """
    counts = encode_column(labels).counts.astype(np.float64)
    m = counts.sum()
    return float(m**2 / (counts**2).sum()) if m else float("nan")


def knn_accuracy(
    embedding: Map,
    labels: object,
    *,
    k: int = NEIGHBORHOOD,
    sample: float | None = None,
    random_state: object = 0,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Share of points whose label is the most frequent one among their k nearest neighbours.

    A point is not its own neighbour, so this is the leave-one-out accuracy of a nearest-neighbour
    classifier on the map. Of equally frequent labels, that of the nearest neighbour wins.

    Parameters
    ----------
    embedding, labels, k, sample, random_state, pointwise, n_jobs
        As in :func:`ctsne.evaluate.laplacian`.

    Returns
    -------
    float, or ndarray of float64
        From 0 to 1; nan if no labelled point has a labelled neighbour.

    Examples
    --------
    >>> from ctsne.evaluate import knn_accuracy
    >>> knn_accuracy([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    0.75
    """
    found, known = labelled_neighbors(embedding, labels, k, sample, random_state, n_jobs)

    def is_right(rows: slice) -> Floats:
        near, own = known.codes[found.indices[rows]], known.codes[found.points[rows]]
        votes = _same_label(near, (near >= 0).astype(np.float64))
        first = votes.argmax(axis=1)  # the nearest neighbour with a most frequent label
        winner = near[np.arange(len(near)), first]
        return np.where((own >= 0) & (winner >= 0), (winner == own).astype(np.float64), np.nan)

    return in_chunks(is_right, len(found.points), 4 * found.k, pointwise)


class PrivatePopulation(NamedTuple):
    """A type that occurs under one label only.

    Attributes
    ----------
    kind, label : object
        The type, and the label that all its points have.
    points : int
        Number of its points.
    wrong : float
        Share of their neighbours in the map that have another type; 0 is correct.

    Examples
    --------
    >>> from ctsne.evaluate import private_populations
    >>> Y = [[0.0], [0.1], [0.2], [9.0], [9.1]]
    >>> (found,) = private_populations(Y, list("ababb"), list("TTTBB"), k=1)
    >>> found.kind, found.label, found.wrong
    ('B', 'b', 0.0)
    """

    kind: object
    label: object
    points: int
    wrong: float


def private_populations(
    embedding: Map, labels: object, types: object, *, k: int = NEIGHBORHOOD, n_jobs: int = -1
) -> list[PrivatePopulation]:
    """Find types that occur under one label only, and how far a map mixes them with other types.

    Parameters
    ----------
    embedding, k, n_jobs
        As in :func:`ctsne.evaluate.mixing`, but all points are measured.
    labels, types : array-like of shape (n,) or (n, c)
        The label that was factored out, and the types of the points, such as cell types.

    Returns
    -------
    list of PrivatePopulation
        Those with most wrong neighbours first. Points without a label or a type are left out.

    Examples
    --------
    >>> from ctsne.evaluate import private_populations
    >>> Y = [[0.0], [1.0], [2.0], [9.0], [10.5], [11.0], [3.0]]
    >>> private_populations(Y, list("ababaaa"), list("TTTTBBB"), k=1)
    [PrivatePopulation(kind='B', label='a', points=3, wrong=0.3333333333333333)]
    """
    given, known = _default_neighbors(embedding, labels, k, n_jobs, all_points=True)
    kinds = encode_column(types, n=given.n, argument="types")
    usable = (known.codes >= 0) & (kinds.codes >= 0)
    populations = []
    for code, kind in enumerate(kinds.names):
        own = usable & (kinds.codes == code)
        under = np.unique(known.codes[own])
        if len(under) != 1:
            continue
        near = kinds.codes[given.indices[own[given.points]]]
        counted = near >= 0
        wrong = float((near != code)[counted].mean()) if counted.any() else np.nan
        name = known.names[under[0]]
        populations.append(PrivatePopulation(kind, name, int(own.sum()), wrong))
    return sorted(populations, key=lambda found: -np.nan_to_num(found.wrong))


def _same_label(labels: Indices, weights: Floats) -> Floats:
    """Sum, for every entry, the weights in its row that have the same label."""
    rows = np.arange(len(labels), dtype=np.int64)[:, None]
    keys = rows * (int(labels.max(initial=0)) + 2) + labels + 1
    _, group = np.unique(keys, return_inverse=True)
    group = group.reshape(labels.shape)
    return np.asarray(np.bincount(group.ravel(), weights.ravel())[group])


def _weights(distances: Floats, counted: NDArray[np.bool_], perplexity: float) -> Floats:
    """Return weights ``exp(-τ d)`` of this perplexity, or as close to it as possible."""
    nearest = distances.min(axis=1, keepdims=True, where=counted, initial=np.inf)
    x = np.where(counted, distances - nearest, 0.0)
    scale = x.max(axis=1, keepdims=True)
    x /= np.where(scale > 0, scale, 1.0)
    weights = np.exp(-_precisions(x, counted, perplexity)[:, None] * x) * counted
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def _precisions(x: Floats, counted: NDArray[np.bool_], perplexity: float) -> Floats:
    """Solve for τ in units of the farthest neighbour, by Newton's method on its logarithm."""
    n = len(x)
    low, high = np.full(n, np.log(1e-6)), np.full(n, np.log(1e12))
    guess = np.full(n, np.log(perplexity))
    rows = np.flatnonzero(counted.any(axis=1))
    for _ in range(_MOST_STEPS):
        if len(rows) == 0:
            break
        at, now, tau = x[rows], guess[rows], np.exp(guess[rows])
        weights = np.exp(-tau[:, None] * at) * counted[rows]
        total = weights.sum(axis=1)
        first = np.einsum("ij,ij->i", weights, at) / total
        second = np.einsum("ij,ij,ij->i", weights, at, at) / total
        excess = np.log(total) + tau * first - np.log(perplexity)
        # Entropy decreases with τ, so every step narrows a bracket; a step outside it is replaced
        # by the middle. The slope in the logarithm of τ is -τ² times the variance of x.
        left = low[rows] = np.where(excess > 0, now, low[rows])
        right = high[rows] = np.where(excess > 0, high[rows], now)
        step = now + excess / np.maximum(tau**2 * (second - first**2), 1e-30)
        step = np.where((step > left) & (step < right), step, (left + right) / 2)
        unsolved = (np.abs(excess) > _TOLERANCE) & (right - left > _TOLERANCE)
        rows = rows[unsolved]
        guess[rows] = step[unsolved]
    return np.asarray(np.exp(guess))
