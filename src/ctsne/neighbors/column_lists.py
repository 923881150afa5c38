"""Neighbours of points with several label columns: one list per pattern of columns that differ."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_kind, check_number, is_sparse
from ctsne._core.progress import Report
from ctsne.labels import Labels
from ctsne.neighbors.lists import Neighbors, Unaligned
from ctsne.neighbors.patterns import PatternCounts, fill_patterns, pattern_of
from ctsne.neighbors.precomputed import check_square, nearest
from ctsne.neighbors.queries import SearchIndex
from ctsne.neighbors.query_checks import check_list_lengths
from ctsne.neighbors.search import UNALIGNED_POINTS

Lengths = NDArray[np.int64]
# With more patterns, lists are half as long, so that rows do not grow without bound.
_WHOLE_LISTS = 4
_ROWS_AT_ONCE = 1 << 14


def occurring_patterns(labels: Labels) -> tuple[int, ...]:
    """Return the patterns of columns that differ between some two points; 0 is always among them.

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import occurring_patterns
    >>> occurring_patterns(encode_labels([[1, 1, 2, 2], ["a", "b", "a", "b"]]))
    (0, 1, 2, 3)
    >>> occurring_patterns(encode_labels([["a", "a", "b"], [1, 2, 3]]))  # nested
    (0, 2, 3)
    """
    check_kind(labels, Labels, "labels")
    table = _combinations(labels)
    counts = PatternCounts(labels.codes)
    others = range(1, 1 << labels.n_columns)
    return (0, *(pattern for pattern in others if counts.count(table, pattern).any()))


def alike_counts(labels: Labels) -> NDArray[np.int64]:
    """Count the other points that differ in nothing from those of each combination of labels."""
    labelled = labels.combined.codes >= 0
    counts = PatternCounts(labels.codes).count(_combinations(labels), 0) - 1
    return counts if labelled.all() else counts[1:]  # points without any label come first


def _combinations(labels: Labels) -> NDArray[np.int32]:
    """Return the labels of one point of each combination."""
    _, first = np.unique(labels.combined.codes, return_index=True)
    return labels.codes[first]


def differing_lists(patterns: tuple[int, ...], n_columns: int) -> NDArray[np.bool_]:
    """Return which lists hold points that differ in each column, shape (C, P)."""
    return (np.array(patterns) >> np.arange(n_columns)[:, None] & 1).astype(bool)


def long_lists(patterns: tuple[int, ...], length: int) -> Lengths:
    """Return lists as long as a row each; half of that for more than four patterns."""
    each = length if len(patterns) <= _WHOLE_LISTS else -(-length // 2)
    return np.full(len(patterns), each)


def paper_lists(patterns: tuple[int, ...], perplexity: float) -> Lengths:
    """Return the list lengths of the paper's methods: each 1.5 times the perplexity.

    Strong weights leave the points that differ in all columns only: they must be enough for the
    perplexity by themselves.
    """
    total = ceil(3 * check_number(perplexity, "perplexity", low=0))
    return np.full(len(patterns), (total + 1) // 2)


def balanced_lists(
    labels: Labels, patterns: tuple[int, ...], perplexity: float, strength: ArrayLike
) -> Lengths:
    """Return the list lengths of ``balanced``: three times the perplexity of each list.

    As with one column, the share of points that differ in a column goes from half, at strength 0,
    to that of a random draw; a point keeps at least one neighbour that differs in nothing.
    """
    n = labels.n_points
    total = min(ceil(3 * check_number(perplexity, "perplexity", low=0)), n - 1)
    strengths = np.broadcast_to(np.asarray(strength, np.float64), (labels.n_columns,))
    shares = []
    for column, each in zip(labels.columns, strengths.tolist(), strict=True):
        random = (column.counts.sum() - column.counts) / max(1, n - 1)
        shares.append(np.append(each * random + (1 - each) / 2, 0.0)[column.codes])
    return divided(product_shares(np.stack(shares, axis=1), patterns), total)


def product_shares(shares: NDArray[np.float64], patterns: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the share of every list if columns were independent, from the share of each column.

    Only the patterns that occur count.
    """
    result = np.ones((len(shares), len(patterns)))
    for share, differs in zip(shares.T, differing_lists(patterns, shares.shape[1]), strict=True):
        result *= np.where(differs, share[:, None], 1 - share[:, None])
    total = result.sum(axis=1, keepdims=True)
    first = np.eye(len(patterns))[0]
    return np.where(total > 0, result / np.where(total > 0, total, 1), first)


def divided(shares: NDArray[np.float64], total: int) -> Lengths:
    """Divide rows of ``total`` points between lists by their shares.

    Shares are rounded up, except that of the first list, which has the rest: at least one point if
    it has any share. A negligible share gets no points.
    """
    lengths = np.ceil(total * shares - 1e-6).astype(np.int64)
    lengths[:, 0] = np.minimum(lengths[:, 0], 1)
    rows = np.arange(len(lengths))
    for _ in range(lengths.shape[1]):  # too much by rounding: one less for the longest list
        longest = lengths[:, 1:].argmax(axis=1) + 1
        lengths[rows, longest] -= lengths.sum(axis=1) > total
    lengths[:, 0] += total - lengths.sum(axis=1)
    return lengths


def find_lists(
    X: NDArray[np.floating],
    labels: Labels,
    *,
    lengths: Lengths,
    patterns: tuple[int, ...],
    metric: str = "euclidean",
    recall: float = 1.0,
    aligned: NDArray[np.floating] | None = None,
    n_jobs: int | None = -1,
    after_part: Report | None = None,
) -> Neighbors:
    """Find the nearest points of every pattern.

    Parameters
    ----------
    X : array, shape (n, d)
    labels : Labels
    lengths : ndarray of int, shape (P,) or (n, P)
        Wanted length of each list. Where one has too few candidates, others take the rest.
    patterns : tuple of int
        Pattern of each list, as from :func:`ctsne.neighbors.occurring_patterns`.
    metric, recall, aligned, n_jobs, after_part
        As in :func:`ctsne.neighbors.find_neighbors`; all lists but the first are searched among
        aligned points.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import find_lists, occurring_patterns
    >>> labels = encode_labels([[1, 1, 2, 2], ["a", "b", "a", "b"]])
    >>> X = np.arange(4.0)[:, None]
    >>> patterns = occurring_patterns(labels)
    >>> found = find_lists(X, labels, lengths=np.ones(4, int), patterns=patterns)
    >>> found.lengths.tolist()[0], found.indices.tolist()[0]
    ([0, 1, 1, 1], [2, 1, 3])
    """
    check_kind(labels, Labels, "labels")
    index = SearchIndex(
        X, labels.codes, aligned=aligned, metric=metric, recall=recall, n_jobs=n_jobs
    )
    wanted: dict[str, Any] = {"patterns": patterns, "n_jobs": n_jobs}
    own = np.arange(index.n_points)
    found = index.find(
        X, labels.codes, lengths=lengths, aligned=aligned, own=own, after_part=after_part, **wanted
    )
    if aligned is None:
        return found
    X = np.asarray(X)
    some = np.sort(np.random.default_rng(0).permutation(len(X))[:UNALIGNED_POINTS])
    index = SearchIndex(X, labels.codes, metric=metric, recall=1.0, n_jobs=n_jobs)
    part = lengths if np.ndim(lengths) == 1 else np.asarray(lengths)[some]
    plain = index.find(X[some], labels.codes[some], lengths=part, own=some, **wanted)
    return replace(found, unaligned=Unaligned(some, plain))


def read_lists(
    distances: Any, labels: Labels, *, lengths: Lengths, patterns: tuple[int, ...]
) -> Neighbors:
    """Read the lists from a matrix of distances or a sparse graph.

    A graph gives rows as long as its shortest one; where a list is too short, others take the rest.

    Parameters
    ----------
    distances : array or sparse matrix, shape (n, n)
    labels, lengths, patterns
        As in :func:`ctsne.neighbors.find_lists`.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.neighbors import read_lists
    >>> labels = encode_labels([[1, 1, 2, 2], ["a", "b", "a", "b"]])
    >>> D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> read_lists(D, labels, lengths=np.ones(4, int), patterns=(0, 1, 2, 3)).indices.tolist()[0]
    [2, 1, 3]
    """
    check_kind(labels, Labels, "labels")
    matrix = check_square(distances, "distances")
    n = matrix.shape[0]
    if labels.n_points != n:
        raise ValueError(f"labels must be those of {n} points, got {labels.n_points}")
    if tuple(patterns) != occurring_patterns(labels):
        raise ValueError(
            f"patterns must be those of the labels, {occurring_patterns(labels)}, got {patterns}"
        )
    check_list_lengths(lengths, n, len(patterns))
    if is_sparse(matrix):
        return _from_graph(matrix.tocoo(), labels, np.asarray(lengths), patterns)
    counts = PatternCounts(labels.codes)
    has = np.stack([counts.count(labels.codes, pattern) for pattern in patterns], axis=1)
    has[:, 0] -= 1  # the point itself
    wanted = np.broadcast_to(lengths, (n, len(patterns)))
    filled = fill_patterns(wanted, has, int(wanted[0].sum()))
    indices = np.empty((n, int(filled[0].sum())), np.int32)
    points = np.arange(n)
    for i, row in enumerate(matrix):
        pattern = pattern_of(np.broadcast_to(labels.codes[i], labels.codes.shape), labels.codes)
        pattern[i] = -1
        lists = [
            nearest(row, points[pattern == each], k)
            for each, k in zip(patterns, filled[i].tolist(), strict=True)
        ]
        indices[i] = np.concatenate(lists)
    found = np.take_along_axis(matrix, indices, axis=1)
    return _with_scale(indices, found, filled, patterns)


def _from_graph(
    edges: Any, labels: Labels, lengths: Lengths, patterns: tuple[int, ...]
) -> Neighbors:
    n, lists = edges.shape[0], len(patterns)
    keep = edges.row != edges.col
    row, column, distance = edges.row[keep], edges.col[keep], edges.data[keep]
    place = np.searchsorted(patterns, pattern_of(labels.codes[row], labels.codes[column]))
    has = np.bincount(row * lists + place, minlength=n * lists).reshape(n, lists)
    degree = has.sum(axis=1)
    if degree.min() == 0:
        raise ValueError(
            f"graph has no neighbours for {int((degree == 0).sum())} points "
            f"(first: point {int(degree.argmin())}); remove them or make a graph with more edges"
        )
    wanted = np.broadcast_to(lengths, (n, lists))
    total = min(int(wanted[0].sum()), int(degree.min()))
    filled = fill_patterns(divided(wanted / wanted.sum(axis=1, keepdims=True), total), has, total)
    # The lists of a row follow each other, each sorted by distance, then index.
    order = np.lexsort((column, distance, place, row))
    chosen = order[(np.cumsum(degree) - degree)[:, None] + _chosen_slots(has, filled)]
    return _with_scale(column[chosen].astype(np.int32), distance[chosen], filled, patterns)


def _chosen_slots(lengths: NDArray[np.integer], kept: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the places of the first points of every list in rows of lists of given lengths."""
    slot = np.arange(int(kept[0].sum()))
    which = (slot >= np.cumsum(kept, axis=1)[:, :, None]).sum(axis=1)
    skipped = np.cumsum(lengths - kept, axis=1) - (lengths - kept)
    return np.asarray(slot + np.take_along_axis(skipped, which, axis=1))


def _with_scale(
    indices: NDArray[np.int32],
    distances: NDArray[np.floating],
    lengths: NDArray[np.int32],
    patterns: tuple[int, ...],
) -> Neighbors:
    return Neighbors(
        indices,
        distances.astype(np.float32),
        np.ascontiguousarray(lengths[:, 0]),
        float(distances.max()) or 1.0,
        patterns=patterns,
        lengths=lengths,
    )


def select_lists(neighbors: Neighbors, lengths: NDArray[np.integer]) -> Neighbors:
    """Keep the nearest points of every list.

    Parameters
    ----------
    neighbors : Neighbors
    lengths : ndarray of int, shape (n, P)
        Lengths to keep, at most those of ``neighbors``, with a constant sum.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.neighbors import find_neighbors, select_lists
    >>> found = find_neighbors([[0.0], [1.0], [3.0], [8.0]], list("abab"), k_same=1, k_other=2)
    >>> select_lists(found, np.ones((4, 2), int)).indices.tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    check_kind(neighbors, Neighbors, "neighbors")
    kept, _ = check_list_lengths(lengths, *neighbors.lengths.shape)
    total = kept.sum(axis=1)
    if kept.shape != neighbors.lengths.shape or (kept > neighbors.lengths).any():
        raise ValueError("neighbors has fewer or shorter lists than lengths select")
    if total.min() < 1 or total.min() != total.max():
        raise ValueError("lengths must have the same positive sum for all points")
    indices = np.empty((len(kept), int(total[0])), np.int32)
    distances = np.empty(indices.shape, np.float32)
    for begin in range(0, len(kept), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        places = _chosen_slots(neighbors.lengths[rows], kept[rows])
        indices[rows] = np.take_along_axis(neighbors.indices[rows], places, axis=1)
        distances[rows] = np.take_along_axis(neighbors.distances[rows], places, axis=1)
    return replace(
        neighbors,
        indices=indices,
        distances=distances,
        n_same=np.ascontiguousarray(kept[:, 0], np.int32),
        lengths=kept.astype(np.int32),
        unaligned=None,
    )
