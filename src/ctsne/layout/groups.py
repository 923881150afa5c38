"""Groups of points whose weights apply to charges, so that one mesh per group gives all forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctsne.layout.pairs import PairWeights

# Charge of unlabelled points: times that of any label it is one or more, and weights end at one.
_UNLABELLED_CHARGE = 1e20


@dataclass(frozen=True)
class Groups:
    """Ranges of points with one weight per pair of ranges.

    Across labels a pair weighs the product of both charges, inside a label ``own`` more; with an
    unlabelled point it weighs one.

    Attributes
    ----------
    bounds : ndarray of int64, shape (n_groups + 1,)
        Group g holds points ``bounds[g]`` to ``bounds[g + 1]``.
    charge, own : ndarray of float32, shape (n_groups,)
    unlabelled : bool
        Whether the last group is that of the unlabelled points.
    """

    bounds: NDArray[np.int64]
    charge: NDArray[np.float32]
    own: NDArray[np.float32]
    unlabelled: bool

    @cached_property
    def same(self) -> NDArray[np.float32]:
        """Weight of a pair inside each group."""
        return np.minimum(self.charge, 1) ** 2 + self.own

    @cached_property
    def acting(self) -> NDArray[np.float64]:
        """Weighted number of points that act on a point of each group, itself included."""
        counts = np.diff(self.bounds).astype(np.float64)
        if not self.unlabelled:
            return self._mixed(counts)
        labelled = Groups(self.bounds[:-1], self.charge[:-1], self.own[:-1], unlabelled=False)
        return np.append(labelled._mixed(counts[:-1]) + counts[-1], counts.sum())

    def _mixed(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        charge, own = self.charge.astype(np.float64), self.own.astype(np.float64)
        return np.asarray(charge * (charge * counts).sum() + own * counts)

    @cached_property
    def own_potential(self) -> float:
        """What all points add to their own potential, at distance zero."""
        return float((np.diff(self.bounds) * self.same.astype(np.float64)).sum())


def groups_of(weights: PairWeights, n: int, n_single: int) -> Groups | None:
    """Make a group of each of the largest labels, one of all others, and one of unlabelled points.

    Inside a label that is not in a group of its own, pairs weigh as across labels. None where
    weights cannot be written as those of groups.
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
