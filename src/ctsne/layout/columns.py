"""Low-dimensional conditioning on several label columns.

The weight of a pair is a product with one factor per column: alpha if both points have the same
label, beta if their labels differ, 1 if a label is missing. As a formula, the factor of a
column is ``1 + (beta - 1) [both labelled] + (alpha - beta) [same label]``, where a bracket is 1 if
it holds and 0 if not. Expanding the product gives a few terms. Each is one number for all pairs
inside the groups of a partition: points with the same labels in some columns, among those with
labels in some others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_kind
from ctsne.affinity.columns import per_column
from ctsne.labels import Labels
from ctsne.labels.columns import number_rows
from ctsne.layout.pairs import PairWeights, pair_weights
from ctsne.layout.repulsion import Repulsion


class Term(NamedTuple):
    """A number to add to the weight of all pairs inside the groups of a partition."""

    coefficient: float
    points: NDArray[np.int64]  # places in the order of the weights, group after group
    bounds: NDArray[np.int64]  # group g holds points bounds[g] to bounds[g + 1], the largest first


@dataclass(frozen=True)
class ColumnWeights:
    """Weights of pairs in the map by several label columns.

    Attributes
    ----------
    columns : tuple of PairWeights
        The factor of each column.
    main : PairWeights
        What all pairs have in common, and more for pairs with the same labels in all columns.
        Its order is that of the map: points are sorted by their combination of labels.
    terms : tuple of Term
        What is to be added.

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.layout import column_weights
    >>> weights = column_weights(encode_labels([[1, 1, 2, 2], list("abab")]), [0.1, 0.5])
    >>> len(weights.terms), weights.order.tolist()
    (2, [0, 1, 2, 3])
    """

    columns: tuple[PairWeights, ...]
    main: PairWeights
    terms: tuple[Term, ...]

    @property
    def codes(self) -> NDArray[np.int32]:
        """The combination of labels of each point."""
        return self.main.codes

    @property
    def order(self) -> NDArray[np.int64]:
        """The points sorted by their combination of labels."""
        return self.main.order

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Where each combination begins in this order, and where the last one ends."""
        return self.main.bounds

    def mean_log_weight(self, matrix: sp.csr_array) -> float:
        """Sum ``p_ij log c_ij`` over the entries of a similarity matrix, for the loss."""
        return sum(each.mean_log_weight(matrix) for each in self.columns)


def column_weights(labels: Labels, beta: ArrayLike) -> ColumnWeights:
    """Return the weights of original ct-SNE, multiplied over several label columns.

    Parameters
    ----------
    labels : Labels
    beta : float or ndarray of shape (n_columns,)
        In (0, 1]; the alpha of each column follows from its beta.

    Returns
    -------
    ColumnWeights

    Examples
    --------
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.layout import column_weights
    >>> weights = column_weights(encode_labels([[1, 1, 2, 2], list("abab")]), 0.1)
    >>> [each.alpha.round(3).tolist() for each in weights.columns]
    [[2.8, 2.8], [2.8, 2.8]]
    """
    check_kind(labels, Labels, "labels")
    betas = per_column(beta, "beta", labels, open_low=True)
    columns = tuple(
        pair_weights(column, each) for column, each in zip(labels.columns, betas, strict=True)
    )
    low = np.array([each.beta[0] for each in columns])  # one where no two points share a label
    more = np.where(low == 1, 0.0, [each.alpha[0] - each.beta[0] for each in columns])
    missing = np.array([each.n_missing > 0 for each in labels.columns])
    always = np.where(missing, 1.0, low)
    full = (labels.codes >= 0).all(axis=1)
    base = pair_weights(labels.combined, 1.0)
    group_full = np.zeros(labels.combined.n_labels, bool)
    group_full[base.codes[full]] = True
    main = PairWeights(
        base.codes,
        base.order,
        base.bounds,
        alpha=float(always.prod()) + np.where(group_full, float(more.prod()), 0.0),
        beta=np.full(labels.combined.n_labels, float(always.prod())),
    )
    in_order = labels.codes[base.order]
    terms = []
    # For each column: nothing, both labelled (where some are not), or the same label.
    for kinds in product((0, 1, 2), repeat=labels.n_columns):
        chosen = np.array(kinds)
        if not chosen.any() or (chosen == 2).all() or (chosen == 1)[~missing].any():
            continue
        factors = np.choose(chosen, [always, low - 1, more])
        groups = _groups(in_order, np.flatnonzero(chosen == 2), np.flatnonzero(chosen))
        if factors.prod() != 0 and len(groups[0]) > 1:
            terms.append(Term(float(factors.prod()), *groups))
    return ColumnWeights(columns, main, tuple(terms))


def _groups(
    codes: NDArray[np.int32], same: NDArray[np.int64], labelled: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group the points with labels in some columns by their labels in some of these."""
    points = np.flatnonzero((codes[:, labelled] >= 0).all(axis=1))
    group = np.zeros(len(points), np.int64)
    if len(same):
        _, group = number_rows([codes[points, column] for column in same])
    sizes = np.bincount(group)
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(sizes))
    order = np.argsort(rank[group], kind="stable")
    return points[order], np.concatenate([[0], np.cumsum(sizes[by_size])]).astype(np.int64)


class ColumnRepulsion(Repulsion):
    """Potential and forces of a map with weights by several label columns."""

    def __init__(self, n: int, weights: ColumnWeights, *, dof: float, n_jobs: int) -> None:
        super().__init__(n, dof=dof, weights=weights.main, n_jobs=n_jobs)
        self._terms = [
            (term, Repulsion(len(term.points), dof=dof, weights=_inside(term), n_jobs=n_jobs))
            for term in weights.terms
        ]

    def sums(
        self, y: NDArray[np.float32], low: Sequence[float], high: Sequence[float]
    ) -> tuple[NDArray[np.float32], float]:
        """Compute forces and normaliser of a map between two corners."""
        force, normaliser = super().sums(y, low, high)
        for term, repulsion in self._terms:
            part, potential = repulsion.sums(y[term.points], low, high)
            force[term.points] += np.float32(term.coefficient) * part
            normaliser += term.coefficient * potential
        return force, normaliser


def _inside(term: Term) -> PairWeights | None:
    """Return weights of one inside the groups of a term and zero across; None for one group."""
    n, sizes = len(term.points), np.diff(term.bounds)
    if len(sizes) == 1:
        return None
    codes = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    ones = np.ones(len(sizes))
    return PairWeights(codes, np.arange(n), term.bounds, alpha=ones, beta=0 * ones)
