"""The methods: which similarities are conditioned on the labels, and how (design of each in docs).

All of them take neighbours with the two lists of :class:`~ctsne.neighbors.Neighbors`. A pair with an
unlabelled point is never conditioned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ctsne.affinity.result import Affinities
from ctsne.affinity.rows import Rows
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors

# The joint method (constants of one prototype for all data, not per dataset): how far towards random
# mixing strength 1 moves the mass above, and how many orders of magnitude it takes from beta below.
JOINT_REACH = 0.9
JOINT_DECADES = 2.0
# exp(700) is about the largest weight that is still a number.
_LARGEST_LOG_WEIGHT = 700.0


def same_label_share(labels: Labels) -> float:
    """Share of labelled pairs with the same label, the paper's rho."""
    n = int(labels.counts.sum())
    if n < 2:
        return 1.0
    counts = labels.counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / (float(n) * (n - 1)))


def tsne_affinities(neighbors: Neighbors, *, perplexity: float, n_jobs: int = 1) -> Affinities:
    """Similarities of t-SNE: nothing is conditioned.

    Parameters
    ----------
    neighbors : Neighbors
        Usually one list of three times the perplexity.
    perplexity : float
    n_jobs : int

    Returns
    -------
    Affinities

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> result = tsne_affinities(find_neighbors(X, k_same=15), perplexity=5)
    >>> bool(np.allclose(result.diagnostics.perplexity, 5, rtol=1e-5))
    True
    """
    rows = Rows(neighbors, None, n_jobs=n_jobs)
    precision, reached = rows.bandwidths(perplexity, weighted=False)
    return rows.affinities(precision, precision, reached)


def revised_affinities(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    beta: NDArray[np.float64],
    bandwidth: str = "r",
    n_jobs: int = 1,
) -> Affinities:
    """Similarities of revised ct-SNE (paper, section 3): same label times beta, others times alpha.

    Parameters
    ----------
    neighbors : Neighbors
    labels : Labels
    perplexity : float
    beta : ndarray, shape (n_labels,)
        One for each label, in (0, 1]. alpha follows from it.
    bandwidth : {"r", "p"}
        Whether the final ``r`` or the unconditioned ``p`` has the perplexity. For ``r`` several
        bandwidths may fit; the one is taken that the authors' program takes: from a kernel as wide
        as the data, precision is doubled until the perplexity falls below the target, and then
        bisected. Where that finds none, the smallest that fits, or the one with the nearest
        perplexity.
    n_jobs : int

    Returns
    -------
    Affinities
    """
    rho = same_label_share(labels)
    log_beta = np.log(beta)
    log_alpha = np.log1p(-beta * rho) - np.log1p(-rho) if rho < 1 else np.zeros_like(beta)
    if rho == 1:  # one label only: no pair to tell from another
        log_beta = np.zeros_like(beta)
    rows = Rows(neighbors, labels, log_same=log_beta, log_other=log_alpha, n_jobs=n_jobs)
    precision, reached = rows.bandwidths(perplexity, weighted=bandwidth == "r")
    return rows.affinities(precision, precision, reached)


def balanced_share(labels: Labels, strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row mass that each point gives to other labels: at strength 1 as a random draw would.

    Parameters
    ----------
    labels : Labels
    strength : ndarray, shape (n_labels,)

    Returns
    -------
    ndarray, shape (n,)
        Zero for unlabelled points.
    """
    random = (labels.counts.sum() - labels.counts) / max(1, labels.n_points - 1)
    share = np.append(strength * random, 0.0)
    return np.asarray(share[labels.codes])  # a missing label is -1: the appended zero


def balanced_affinities(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    strength: NDArray[np.float64],
    n_jobs: int = 1,
) -> Affinities:
    """Two distributions for every point, calibrated separately and mixed by a fixed share.

    Parameters
    ----------
    neighbors : Neighbors
        With the lengths of :func:`ctsne.neighbors.balanced_lengths`.
    labels : Labels
    perplexity : float
        Of the mixture.
    strength : ndarray, shape (n_labels,)
        In [0, 1].
    n_jobs : int

    Returns
    -------
    Affinities
    """
    rows = Rows(neighbors, labels, n_jobs=n_jobs)
    n_same = neighbors.n_same
    n_other = neighbors.indices.shape[1] - n_same
    share = np.where(n_other == 0, 0.0, balanced_share(labels, strength))
    share = np.where(n_same == 0, 1.0, share)
    same, other = _split_perplexity(perplexity, share, n_same, n_other)
    same_precision, other_precision, reached = rows.split_bandwidths(same, other)
    result = rows.affinities(same_precision, other_precision, reached, mass=share)
    # What counts is the mixture: one list may fall short where the other makes up for it.
    reached = np.abs(np.log(result.diagnostics.perplexity / perplexity)) < 1e-5
    return replace(result, diagnostics=replace(result.diagnostics, reached=reached))


def _split_perplexity(
    perplexity: float,
    share: NDArray[np.float64],
    n_same: NDArray[np.int32],
    n_other: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Perplexities of both lists such that their mixture has exactly the one asked for.

    The mixture's entropy is h(w) + (1-w) log(same) + w log(other). (1-w)u and wu satisfy it; where a
    list cannot have that (less than one neighbour, more than there are), the other makes up for it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mixing = -np.nan_to_num(share * np.log(share)) - np.nan_to_num((1 - share) * np.log1p(-share))
        other = np.clip(share * perplexity, 1, np.maximum(n_other, 1))
        log_same = (np.log(perplexity) - mixing - share * np.log(other)) / (1 - share)
        wanted = np.exp(np.minimum(np.where(share < 1, log_same, 0.0), 700))
        same = np.clip(wanted, 1, np.maximum(n_same, 1))
        log_other = (np.log(perplexity) - mixing - (1 - share) * np.log(same)) / share
        remaining = np.exp(np.minimum(np.where(share > 0, log_other, 0.0), 700))
        short = wanted > same
        other = np.where(short, np.clip(remaining, 1, np.maximum(n_other, 1)), other)
    return same, other


def joint_beta_low(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of differently labelled pairs in the map that goes with a strength of ``joint``."""
    return np.asarray(10.0 ** (-JOINT_DECADES * strength))


def joint_affinities(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    strength: NDArray[np.float64],
    n_jobs: int = 1,
) -> Affinities:
    """Calibrate how much mass goes to other labels, not how much each point must give.

    Bandwidths are those of ``p``. One weight on all pairs of different labels is solved such that
    the mean share of row mass on other labels moves from its natural value towards that of a random
    draw. Points with no kin among other labels keep little such mass.

    Parameters
    ----------
    neighbors : Neighbors
    labels : Labels
    perplexity : float
    strength : ndarray, shape (n_labels,)
        In [0, 1]. The weight of each strength is solved as if all labels had it.
    n_jobs : int

    Returns
    -------
    Affinities
    """
    plain = Rows(neighbors, labels, n_jobs=n_jobs)
    precision, reached = plain.bandwidths(perplexity, weighted=False)
    log_odds = plain.log_odds(precision)[labels.codes >= 0]
    random = balanced_share(labels, np.ones(labels.n_labels))[labels.codes >= 0].mean()
    levels, level_of = np.unique(strength, return_inverse=True)
    weights = np.array([_joint_log_weight(log_odds, float(s), float(random)) for s in levels])
    rows = Rows(
        neighbors, labels, log_same=np.zeros_like(strength), log_other=weights[level_of], n_jobs=n_jobs
    )
    return rows.affinities(precision, precision, reached)


def _joint_log_weight(log_odds: NDArray[np.float64], strength: float, random: float) -> float:
    """The weight (as logarithm) on other labels that moves their mean share to its target."""

    def mean_share(log_weight: float) -> float:
        odds = np.clip(log_odds + log_weight, -745, 745)
        return float((1 / (1 + np.exp(-odds))).mean())

    natural = mean_share(0.0)
    target = natural + JOINT_REACH * strength * (random - natural)
    low, high = 0.0, _LARGEST_LOG_WEIGHT
    if target <= natural:
        return low
    if mean_share(high) <= target:
        return high
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_share(middle) < target else (low, middle)
    return high
