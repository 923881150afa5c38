"""Which labels the neighbours in a map have: mixing and accuracy.

The Laplacian score is that of the paper (section 4.1); mixing is its share of the random score.
"""

import numpy as np

from ctsne._core.checks import check_count
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.evaluate.neighbors import Map, MapNeighbors, check_map, labelled_neighbors, map_neighbors
from ctsne.evaluate.sampling import Floats, Indices, divided, in_chunks, mean
from ctsne.labels import Column, encode_column

RANKS = 1000  # at most about twice as many ranks of a number are compared with each other
PREDICTED = 15  # neighbours that predict a number


def laplacian(
    embedding: Map,
    labels: object,
    *,
    k: int = NEIGHBORHOOD,
    pointwise: bool = False,
    n_jobs: int = -1,
) -> float | Floats:
    """Mean share of different labels among the k nearest neighbours in the map.

    0 means that every neighbourhood has one label; :func:`ctsne.evaluate.mixing` compares it with
    random labels. Of a number (:func:`ctsne.labels.encode_number`), it is the mean difference in
    ranks.

    Parameters
    ----------
    embedding : array-like of shape (n, d) or MapNeighbors
        Positions in the map, or its neighbours, which may be of a sample.
    labels : array-like of shape (n,) or (n, c)
        Any label column. Points without a label count neither as points nor as neighbours.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    n_jobs : int, default=-1
        Number of threads; -1 uses all cores.
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
    found, known = labelled_neighbors(embedding, labels, k, n_jobs)
    codes = known.codes

    def gaps(rows: slice) -> Floats:
        own, near = known.ranks[found.points[rows], None], known.ranks[found.indices[rows]]
        far = known.rank_gaps(own, near)
        there = np.isfinite(far)
        return divided(np.where(there, far, 0).sum(axis=1), there.sum(axis=1))

    def shares(rows: slice) -> Floats:
        own, near = codes[found.points[rows], None], codes[found.indices[rows]]
        counted = (near >= 0) & (own >= 0)
        return divided((counted & (near != own)).sum(axis=1), counted.sum(axis=1))

    measure = shares if known.numbers is None else gaps
    return in_chunks(measure, len(found.points), found.k, pointwise)


def expected_laplacian(labels: object) -> float:
    """Return the Laplacian score of random labels: the chance that two labelled points differ.

    Of a number, it is the mean difference in ranks; nan with fewer than two labelled points.
    """
    column = encode_column(labels)
    counts = column.counts.astype(np.float64)
    m = counts.sum()
    if column.numbers is not None and m > 1:
        return float((counts * expected_shares(column)).sum() / m)
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")


def expected_shares(column: Column) -> Floats:
    """Return the Laplacian score of each label that is expected if labels are random."""
    m = max(2.0, float(column.counts.sum()))
    if column.numbers is None:
        return np.asarray((m - column.counts) / (m - 1))
    known = np.flatnonzero(column.codes >= 0)
    ranks, codes = column.ranks[known], column.codes[known]
    # Ranks are the same for equal numbers, so a few of many are enough to stand for all.
    order = np.argsort(ranks, kind="stable")
    some = ranks[order[:: max(1, len(order) // RANKS)]]
    gaps = column.rank_gaps(some[:, None], some).mean(axis=1) * m / (m - 1)
    of_points = np.interp(ranks, some, gaps)
    totals = np.bincount(codes, of_points, minlength=column.n_labels)
    return np.asarray(totals / np.maximum(column.counts, 1))


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
    random = expected_shares(known)
    measured: dict[object, float] = {}
    for code in np.unique(codes[codes >= 0]):
        value = mean(shares[codes == code] / random[code]) if random[code] > 0 else np.nan
        if np.isfinite(value):
            measured[known.names[code]] = value
    return dict(sorted(measured.items(), key=lambda item: item[1]))


def _default_neighbors(
    embedding: Map, labels: object, k: int, n_jobs: int
) -> tuple[MapNeighbors, Column]:
    """Return given neighbours, or those of a sample, fewer if there are few points; and labels."""
    given, n = check_map(embedding)
    column = encode_column(labels, n=n)
    if isinstance(given, MapNeighbors):
        return given, column
    k = min(check_count(k, "k", low=1), n - 2)
    return map_neighbors(given, k=k, sample=MEASURED_POINTS, n_jobs=n_jobs), column


def knn_accuracy(embedding: Map, labels: object, *, k: int = NEIGHBORHOOD) -> float:
    """Share of points whose label is the most frequent one among their k nearest neighbours.

    A point is not its own neighbour, so this is the leave-one-out accuracy of a nearest-neighbour
    classifier on the map. Of equally frequent labels, that of the nearest neighbour wins.
    """
    found, known = labelled_neighbors(embedding, labels, k, -1)

    def is_right(rows: slice) -> Floats:
        near, own = known.codes[found.indices[rows]], known.codes[found.points[rows]]
        votes = _same_label(near, (near >= 0).astype(np.float64))
        first = votes.argmax(axis=1)  # the nearest neighbour with a most frequent label
        winner = near[np.arange(len(near)), first]
        return np.where((own >= 0) & (winner >= 0), (winner == own).astype(np.float64), np.nan)

    return float(in_chunks(is_right, len(found.points), 4 * found.k, pointwise=False))


def number_r2(found: MapNeighbors, column: Column, k: int = PREDICTED) -> float:
    """Return R² of the ranks of a number, predicted by the mean of the nearest map neighbours."""
    ranks = column.ranks[:, None]
    if column.period is not None:  # as points on a circle
        angle = 2 * np.pi * ranks
        ranks = np.hstack([np.cos(angle), np.sin(angle)])
    near = ranks[found.indices[:, :k]]
    there = np.isfinite(near[:, :, 0]).sum(axis=1)
    predicted = np.nansum(near, axis=1) / np.maximum(there, 1)[:, None]
    own = ranks[found.points]
    known = np.isfinite(own[:, 0]) & (there > 0)
    own, predicted = own[known], predicted[known]
    total = np.square(own - own.mean(axis=0)).sum() if len(own) else 0.0
    return float(1 - np.square(own - predicted).sum() / total) if total > 0 else float("nan")


def _same_label(labels: Indices, weights: Floats) -> Floats:
    """Sum, for every entry, the weights in its row that have the same label."""
    rows = np.arange(len(labels), dtype=np.int64)[:, None]
    keys = rows * (int(labels.max(initial=0)) + 2) + labels + 1
    _, group = np.unique(keys, return_inverse=True)
    group = group.reshape(labels.shape)
    return np.asarray(np.bincount(group.ravel(), weights.ravel())[group])
