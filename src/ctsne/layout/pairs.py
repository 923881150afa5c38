"""Low-dimensional conditioning: how strongly each pair of points repels, by its labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_kind, check_sparse, is_sparse
from ctsne.affinity.weights import per_label, same_label_share
from ctsne.labels import Column

_ENTRIES_AT_ONCE = 4_000_000
# Charge of unlabelled points. Its product with any other is at least one, where weights are capped.
_UNLABELLED_CHARGE = 1e20


@dataclass(frozen=True)
class PairWeights:
    """Weights of pairs in the map: ``alpha`` inside a label, the roots of ``beta`` across.

    A pair of points with labels a and b has weight ``alpha[a]`` if a = b and
    ``sqrt(beta[a] beta[b])`` if not; a pair with an unlabelled point has weight one. Points are
    sorted by label, unlabelled ones last, so that each label is a range. Labels are numbered by
    size, the largest first.

    Attributes
    ----------
    codes : ndarray of int32, shape (n,)
        Label of each point, -1 if missing.
    order : ndarray, shape (n,)
        The points sorted by label.
    bounds : ndarray, shape (n_labels + 1,)
        Label l holds positions ``bounds[l]`` to ``bounds[l + 1]`` of this order.
    alpha, beta : ndarray, shape (n_labels,)

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_column
    >>> from ctsne.layout import pair_weights
    >>> pair_weights(encode_column(["a", "b", "a"]), np.array([0.1, 0.1])).order.tolist()
    [0, 2, 1]
    """

    codes: NDArray[np.int32]
    order: NDArray[np.int64]
    bounds: NDArray[np.int64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]

    @property
    def n_labelled(self) -> int:
        """Number of labelled points; they come first in ``order``."""
        return int(self.bounds[-1])

    def mean_log_weight(self, matrix: sp.csr_array) -> float:
        """Sum ``p_ij log c_ij`` over the entries of a similarity matrix, for the loss."""
        n = len(self.codes)
        if not is_sparse(matrix) or matrix.format != "csr" or matrix.shape != (n, n):
            raise TypeError(f"matrix must be a CSR matrix of {n} points")
        check_sparse(matrix, argument="the sparse matrix")
        log_alpha = np.append(np.log(self.alpha), 0.0)
        log_root = np.append(0.5 * np.log(self.beta), 0.0)
        degree = np.diff(matrix.indptr)
        total = 0.0
        step = max(1, int(_ENTRIES_AT_ONCE * matrix.shape[0] / max(1, matrix.nnz)))
        for begin in range(0, matrix.shape[0], step):
            end = min(matrix.shape[0], begin + step)
            part = slice(matrix.indptr[begin], matrix.indptr[end])
            a = np.repeat(self.codes[begin:end], degree[begin:end])
            b = self.codes[matrix.indices[part]]
            across = np.where((a < 0) | (b < 0), 0.0, log_root[a] + log_root[b])
            weight = np.where(a == b, log_alpha[a], across)
            total += float((matrix.data[part] * weight).sum())
        return total


def pair_weights(labels: Column, beta: ArrayLike) -> PairWeights:
    """Return the weights of original ct-SNE: same label times alpha, different times beta.

    Parameters
    ----------
    labels : Column
    beta : float or ndarray of shape (n_labels,)
        In (0, 1]; ``alpha`` follows from ``alpha rho + beta (1 - rho) = 1``.

    Returns
    -------
    PairWeights

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_column
    >>> from ctsne.layout import pair_weights
    >>> weights = pair_weights(encode_column(["a", "b", "a", "b"]), np.array([0.1, 0.1]))
    >>> weights.alpha.round(3).tolist()
    [2.8, 2.8]
    """
    check_kind(labels, Column, "labels")
    betas = per_label(beta, "beta", labels, open_low=True)
    rho = same_label_share(labels)
    if rho == 0:  # no two points share a label: all pairs have weight one
        betas = np.ones_like(betas)
    alpha = (1 - betas * (1 - rho)) / rho if rho > 0 else np.ones_like(betas)
    by_size = np.argsort(-labels.counts, kind="stable")
    number = np.empty(labels.n_labels + 1, np.int32)
    number[by_size], number[-1] = np.arange(labels.n_labels), -1
    codes = number[labels.codes]
    return PairWeights(
        codes=codes,
        order=np.argsort(np.where(codes < 0, labels.n_labels, codes), kind="stable"),
        bounds=np.concatenate([[0], np.cumsum(labels.counts[by_size])]).astype(np.int64),
        alpha=alpha[by_size],
        beta=betas[by_size],
    )


@dataclass(frozen=True)
class Groups:
    """Ranges of points with one weight per pair of ranges, written as charges.

    Across labels the weight of a pair is the product of both charges, inside a label ``own`` more;
    with an unlabelled point it is one. Applied to charges on a mesh, these weights give all forces
    with one mesh per group.
    """

    bounds: NDArray[np.int64]  # group g holds points bounds[g] to bounds[g + 1]
    charge: NDArray[np.float32]
    own: NDArray[np.float32]
    unlabelled: bool  # whether the last group holds the unlabelled points

    @cached_property
    def same(self) -> NDArray[np.float32]:
        """Weight of a pair inside each group."""
        return np.minimum(self.charge, 1) ** 2 + self.own

    @cached_property
    def acting(self) -> NDArray[np.float64]:
        """Weighted number of points that act on a point of each group, itself included."""
        counts = np.diff(self.bounds).astype(np.float64)
        charge, own = self.charge.astype(np.float64), self.own.astype(np.float64)
        if not self.unlabelled:
            return np.asarray(charge * (charge * counts).sum() + own * counts)
        labelled = Groups(self.bounds[:-1], self.charge[:-1], self.own[:-1], unlabelled=False)
        return np.append(labelled.acting + counts[-1], counts.sum())

    @cached_property
    def own_potential(self) -> float:
        """What all points add to their own potential, at distance zero."""
        return float((np.diff(self.bounds) * self.same.astype(np.float64)).sum())


def groups_of(weights: PairWeights, n: int, n_single: int) -> Groups | None:
    """Make a group of each of the largest labels, one of all others, and one of unlabelled points.

    None if groups cannot express the weights.
    """
    m = weights.n_labelled
    rest = weights.beta[n_single:]
    if np.ptp(weights.beta) > 0 and (m < n or (len(rest) and np.ptp(rest) > 0)):
        return None
    charge = np.sqrt(weights.beta[: n_single + 1])
    own = np.append((weights.alpha - weights.beta)[:n_single], 0.0)[: len(charge)]
    bounds = np.append(weights.bounds[: len(charge)], m)
    if m < n:
        charge, own = np.append(charge, _UNLABELLED_CHARGE), np.append(own, 0.0)
        bounds = np.append(bounds, n)
    return Groups(bounds, charge.astype(np.float32), own.astype(np.float32), unlabelled=m < n)
