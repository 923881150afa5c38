"""Low-dimensional conditioning: how much each pair of points repels, by its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne.affinity.weights import same_label_share
from ctsne.labels import Labels

_ENTRIES_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class PairWeights:
    """Weights of pairs in the map: ``alpha`` inside a label, the roots of ``beta`` across.

    A pair of points with labels a and b weighs ``alpha[a]`` if a = b and ``sqrt(beta[a] beta[b])``
    if not; a pair with an unlabelled point weighs one. Points are brought into the order of their
    labels, unlabelled ones last, so that a label is a range. Labels are numbered by size, the
    largest first.

    Attributes
    ----------
    codes : ndarray of int32, shape (n,)
        Label of each point, -1 where missing.
    order : ndarray, shape (n,)
        The points sorted by label.
    bounds : ndarray, shape (n_labels + 1,)
        Label l holds positions ``bounds[l]`` to ``bounds[l + 1]`` of that order.
    alpha, beta : ndarray, shape (n_labels,)
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
        """Sum of ``p_ij log c_ij`` over the entries of a similarity matrix, for the loss."""
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


def pair_weights(labels: Labels, beta: NDArray[np.float64]) -> PairWeights:
    """Weights of original ct-SNE: same label times alpha, different times beta.

    Parameters
    ----------
    labels : Labels
    beta : ndarray, shape (n_labels,)
        In (0, 1]; ``alpha`` follows from ``alpha rho + beta (1 - rho) = 1``.

    Returns
    -------
    PairWeights

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.labels import encode_labels
    >>> from ctsne.layout import pair_weights
    >>> weights = pair_weights(encode_labels(["a", "b", "a", "b"]), np.array([0.1, 0.1]))
    >>> weights.alpha.round(3).tolist()
    [2.8, 2.8]
    """
    rho = same_label_share(labels)
    if rho == 0:  # no two points share a label: all pairs are alike, and weigh one
        beta = np.ones_like(beta)
    alpha = (1 - beta * (1 - rho)) / rho if rho > 0 else np.ones_like(beta)
    by_size = np.argsort(-labels.counts, kind="stable")
    number = np.empty(labels.n_labels + 1, np.int32)
    number[by_size], number[-1] = np.arange(labels.n_labels), -1
    codes = number[labels.codes]
    return PairWeights(
        codes=codes,
        order=np.argsort(np.where(codes < 0, labels.n_labels, codes), kind="stable"),
        bounds=np.concatenate([[0], np.cumsum(labels.counts[by_size])]).astype(np.int64),
        alpha=alpha[by_size],
        beta=beta[by_size],
    )
