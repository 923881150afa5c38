"""Low-dimensional conditioning: how strongly each pair of points repels, by its labels.

The weight of a pair is a product with one factor per label column (:class:`ColumnFactor`). Points
are sorted by their combination of labels, so that every combination is a range. One column gives
one weight per pair of ranges. The product of several columns is expanded into a few terms; each
adds a number to the weight of all pairs inside the groups of a partition: points with the same
labels in some columns, among those with labels in some others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne.affinity.weights import same_label_share
from ctsne.labels import Column, Labels
from ctsne.labels.columns import number_rows

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

_ENTRIES_AT_ONCE = 4_000_000


class ColumnFactor(NamedTuple):
    """What one label column contributes to the weights of pairs.

    A pair with labels a and b has the factor ``alpha[a]`` if a = b and ``sqrt(beta[a] beta[b])`` if
    not; a pair with a missing label has the factor one.
    """

    codes: Codes  # label of each point, -1 if missing
    alpha: Floats
    beta: Floats

    def towards(self, label: int) -> Floats:
        """Return the factor of every point in a pair with a point of some label."""
        if label < 0:
            return np.ones(len(self.codes))
        of_labels = np.sqrt(self.beta[label] * self.beta)
        of_labels[label] = self.alpha[label]
        return np.asarray(np.append(of_labels, 1.0)[self.codes])

    def mean_log(self, matrix: sp.csr_array) -> float:
        """Sum the logarithm of this factor over the entries of a similarity matrix."""
        log_alpha = np.append(np.log(self.alpha), 0.0)
        log_root = np.append(0.5 * np.log(self.beta), 0.0)
        degree = np.diff(matrix.indptr)
        total = 0.0
        step = max(1, int(_ENTRIES_AT_ONCE * matrix.shape[0] / max(1, matrix.nnz)))
        for begin in range(0, matrix.shape[0], step):
            end = min(matrix.shape[0], begin + step)
            entries = slice(matrix.indptr[begin], matrix.indptr[end])
            a = np.repeat(self.codes[begin:end], degree[begin:end])
            b = self.codes[matrix.indices[entries]]
            across = np.where((a < 0) | (b < 0), 0.0, log_root[a] + log_root[b])
            weight = np.where(a == b, log_alpha[a], across)
            total += float((matrix.data[entries] * weight).sum())
        return total


def column_factor(column: Column, beta: ArrayLike) -> ColumnFactor:
    """Return the factor of a column; alpha follows from ``alpha rho + beta (1 - rho) = 1``."""
    betas = np.broadcast_to(np.asarray(beta, np.float64), (column.n_labels,))
    rho = same_label_share(column.counts)
    if rho == 0 or (betas == 1).all():  # without two points of a label, all pairs have weight one
        return ColumnFactor(column.codes, np.ones_like(betas), np.ones_like(betas))
    return ColumnFactor(column.codes, (1 - betas * (1 - rho)) / rho, betas)


class Ranges(NamedTuple):
    """Points in ranges, with a weight for every pair of ranges.

    Pairs of ranges a and b have weight ``sqrt(beta[a] beta[b])``, and pairs inside range a have
    ``own[a]`` more. Pairs with a point after the last range have weight one.
    """

    n: int
    bounds: NDArray[np.int64]  # range r holds points bounds[r] to bounds[r + 1], the largest first
    beta: Floats
    own: Floats


class Term(NamedTuple):
    """A number, times charges if any, to add to the weights inside groups of a partition."""

    coefficient: float
    points: NDArray[np.int64]  # places in the order of the weights, group after group
    bounds: NDArray[np.int64]  # group g holds points bounds[g] to bounds[g + 1], the largest first
    charge: NDArray[np.float32] | None


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of pairs in the map, by their labels in one or several columns."""

    columns: tuple[ColumnFactor, ...]  # the weight of a pair is the product of these factors
    # The points sorted by their combination of labels, the most frequent one first and points
    # without any label last.
    order: NDArray[np.int64]
    numbers: NDArray[np.int64]  # the place of every combination in this order; -1 if it is unused
    # One range per combination, with the weights that all pairs have in common, and more for pairs
    # with the same labels in all columns.
    main: Ranges
    terms: tuple[Term, ...]  # what is to be added, with several columns

    def mean_log_weight(self, matrix: sp.csr_array) -> float:
        """Sum ``p_ij log c_ij`` over the entries of a similarity matrix, for the loss."""
        return sum(column.mean_log(matrix) for column in self.columns)


def pair_weights(labels: Labels, betas: Sequence[ArrayLike]) -> PairWeights:
    """Return the weights of original ct-SNE: same label times alpha, different times beta."""
    columns = tuple(map(column_factor, labels.columns, betas))
    counts = labels.combined.counts
    by_size = np.lexsort((labels.combined.appearance, -counts))[: np.count_nonzero(counts)]
    numbers = np.full(len(counts) + 1, -1)
    numbers[by_size] = np.arange(len(by_size))
    number = numbers[labels.combined.codes]
    order = np.argsort(np.where(number < 0, len(by_size), number), kind="stable")
    bounds = np.concatenate([[0], np.cumsum(counts[by_size])]).astype(np.int64)
    table = labels.codes[order[bounds[:-1]]]  # the labels of every range
    partial = (table.min(axis=0, initial=0) < 0).tolist()
    beta, own = np.ones(len(table)), np.ones(len(table))
    for column, codes, is_partial in zip(columns, table.T, partial, strict=True):
        own *= np.append(column.alpha - column.beta, 0.0)[codes]
        if not is_partial:
            beta *= column.beta[codes]
    terms = tuple(_terms(labels.codes[order], columns, partial))
    return PairWeights(columns, order, numbers[:-1], Ranges(len(order), bounds, beta, own), terms)


class _Summand(NamedTuple):
    """A part of a column's factor: a number times the charges of both points."""

    coefficient: float
    charge: Floats  # of each label, and of a missing one
    labelled: bool = False  # only for pairs with two labels
    same: bool = False  # only for pairs with the same label


def _summands(column: ColumnFactor, *, partial: bool) -> list[_Summand]:
    """Write the factor of a column as a sum; the first summand applies to all pairs."""
    beta, own = column.beta, np.maximum(column.alpha - column.beta, 0.0)
    one = np.ones(len(beta) + 1)
    largest, largest_own = beta.max(initial=0.0) or 1.0, own.max(initial=0.0)
    across = _Summand(largest, np.append(np.sqrt(beta / largest), 1.0), labelled=partial)
    charge = np.append(np.sqrt(own / (largest_own or 1.0)), 1.0)
    same = _Summand(largest_own, charge, labelled=True, same=True)
    if not partial:
        return [across, same]
    if (across.charge == 1).all():
        return [_Summand(1.0, one), _Summand(largest - 1, one, labelled=True), same]
    return [_Summand(1.0, one), across, _Summand(-1.0, one, labelled=True), same]


def _terms(codes: Codes, columns: Sequence[ColumnFactor], partial: list[bool]) -> Iterator[Term]:
    """Expand the product of the columns, without what the ranges of combinations hold."""
    sums = [_summands(column, partial=some) for column, some in zip(columns, partial, strict=True)]
    for factors in product(*sums):
        labelled = np.array([factor.labelled for factor in factors])
        same = np.array([factor.same for factor in factors])
        coefficient = float(np.prod([factor.coefficient for factor in factors]))
        if not labelled.any() or same.all() or coefficient == 0:
            continue
        points, bounds = _groups(codes, np.flatnonzero(same), np.flatnonzero(labelled))
        if len(points) < 2:
            continue
        of_columns = [factor.charge[codes[points, place]] for place, factor in enumerate(factors)]
        charge = np.prod(of_columns, axis=0).astype(np.float32)
        yield Term(coefficient, points, bounds, None if (charge == 1).all() else charge)


def _groups(
    codes: Codes, same: NDArray[np.int64], labelled: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group the points with labels in some columns by their labels in some of these."""
    points = np.flatnonzero((codes[:, labelled] >= 0).all(axis=1))
    first, group = number_rows([codes[points, column] for column in same] or [0 * points])
    sizes = np.bincount(group)
    by_size = np.lexsort((first, -sizes))
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(sizes))
    order = np.argsort(rank[group], kind="stable")
    return points[order], np.concatenate([[0], np.cumsum(sizes[by_size])]).astype(np.int64)
