"""The methods: which similarities are conditioned on the labels, and how.

All of them take neighbours with the two lists of :class:`~ctsne.neighbors.Neighbors`. A pair with
an unlabelled point is never conditioned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit

from ctsne._validation import check_choice, check_number
from ctsne.affinity.result import Affinities
from ctsne.affinity.rows import Rows
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import Neighbors

# Constants of the joint method, the same for all data: how far towards random mixing strength 1
# moves the mass above, and how many orders of magnitude it takes from beta below.
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
    precision, reached = rows.bandwidths(_check_perplexity(perplexity), weighted=False)
    return rows.affinities(precision, precision, reached)


def revised_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    beta: ArrayLike,
    bandwidth: str = "r",
    n_jobs: int = 1,
) -> Affinities:
    """Similarities of revised ct-SNE (paper, section 3): same label times beta, others times alpha.

    Parameters
    ----------
    neighbors : Neighbors
    labels : array-like of length n or Labels
    perplexity : float
    beta : float or ndarray of shape (n_labels,)
        In (0, 1], for all labels or one for each. alpha follows from it.
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

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import revised_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> X, labels = np.random.default_rng(0).normal(size=(50, 3)), list("ab") * 25
    >>> neighbors = find_neighbors(X, labels, k_same=8, k_other=7)
    >>> result = revised_affinities(neighbors, labels, perplexity=5, beta=1e-4)
    >>> bool(result.diagnostics.other_share.mean() > 0.9)
    True
    """
    check_choice(bandwidth, "bandwidth", ("r", "p"))
    target = _check_perplexity(perplexity)
    known = encode_labels(labels, n=len(neighbors.indices))
    betas = _per_label(beta, "beta", known, open_low=True)
    rho = same_label_share(known)
    log_beta, log_alpha = np.zeros_like(betas), np.zeros_like(betas)
    if rho < 1:  # with one label only, no pair can be told from another
        log_beta, log_alpha = np.log(betas), np.log1p(-betas * rho) - np.log1p(-rho)
    rows = Rows(neighbors, known, log_same=log_beta, log_other=log_alpha, n_jobs=n_jobs)
    precision, reached = rows.bandwidths(target, weighted=bandwidth == "r")
    return rows.affinities(precision, precision, reached)


def balanced_share(labels: Labels, strength: ArrayLike) -> NDArray[np.float64]:
    """Row mass that each point gives to other labels: at strength 1 as a random draw would.

    Parameters
    ----------
    labels : Labels
    strength : float or ndarray of shape (n_labels,)

    Returns
    -------
    ndarray, shape (n,)
        Zero for unlabelled points.

    Examples
    --------
    >>> from ctsne.affinity import balanced_share
    >>> from ctsne.labels import encode_labels
    >>> balanced_share(encode_labels(["a", "a", "b", None, None]), 1.0).tolist()
    [0.25, 0.25, 0.5, 0.0, 0.0]
    """
    strengths = np.broadcast_to(np.asarray(strength, np.float64), labels.counts.shape)
    share = strengths * (labels.counts.sum() - labels.counts) / max(1, labels.n_points - 1)
    return np.asarray(np.append(share, 0.0)[labels.codes])  # a missing label is -1: the last one


def balanced_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int = 1,
) -> Affinities:
    """Two distributions for every point, calibrated separately and mixed by a fixed share.

    Parameters
    ----------
    neighbors : Neighbors
        With the lengths of :func:`ctsne.neighbors.balanced_lengths`.
    labels : array-like of length n or Labels
    perplexity : float
        Of the mixture.
    strength : float or ndarray of shape (n_labels,)
        In [0, 1], for all labels or one for each.
    n_jobs : int

    Returns
    -------
    Affinities

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import balanced_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> X, labels = np.random.default_rng(0).normal(size=(51, 3)), list("abc") * 17
    >>> neighbors = find_neighbors(X, labels, k_same=10, k_other=5)
    >>> result = balanced_affinities(neighbors, labels, perplexity=5, strength=0.5)
    >>> result.diagnostics.other_share[:3].round(6).tolist()
    [0.34, 0.34, 0.34]
    """
    target = _check_perplexity(perplexity)
    known = encode_labels(labels, n=len(neighbors.indices))
    rows = Rows(neighbors, known, n_jobs=n_jobs)
    n_same = neighbors.n_same
    n_other = neighbors.indices.shape[1] - n_same
    strengths = _per_label(strength, "strength", known, open_low=False)
    share = np.where(n_other == 0, 0.0, balanced_share(known, strengths))
    share = np.where(n_same == 0, 1.0, share)
    same, other = _split_perplexity(target, share, n_same, n_other)
    same_precision, other_precision, reached = rows.split_bandwidths(same, other)
    result = rows.affinities(same_precision, other_precision, reached, mass=share)
    # What counts is the mixture: one list may fall short where the other makes up for it.
    reached = np.abs(np.log(result.diagnostics.perplexity / target)) < 1e-5
    return replace(result, diagnostics=replace(result.diagnostics, reached=reached))


def _split_perplexity(
    perplexity: float,
    share: NDArray[np.float64],
    n_same: NDArray[np.int32],
    n_other: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Perplexities of both lists such that their mixture has exactly the one asked for.

    The mixture's entropy is h(w) + (1-w) log(same) + w log(other). (1-w)u and wu satisfy it; where
    a list cannot have that (less than one neighbour, more than there are), the other makes up for
    it.
    """
    # Of an empty list the share is zero: any length and any perplexity will do.
    most_same, most_other = np.log(np.maximum(n_same, 1)), np.log(np.maximum(n_other, 1))
    left = np.log(perplexity) - entr(share) - entr(1 - share)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_other = np.log(share * perplexity).clip(0, most_other)
        wanted = np.where(share < 1, (left - share * log_other) / (1 - share), 0.0)
        log_same = wanted.clip(0, most_same)
        remaining = np.where(share > 0, (left - (1 - share) * log_same) / share, 0.0)
        log_other = np.where(log_same == wanted, log_other, remaining.clip(0, most_other))
    return np.exp(log_same), np.exp(log_other)


def joint_beta_low(strength: ArrayLike) -> NDArray[np.float64]:
    """Weight of differently labelled pairs in the map that goes with a strength of ``joint``.

    Parameters
    ----------
    strength : float or ndarray

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from ctsne.affinity import joint_beta_low
    >>> joint_beta_low([0.0, 0.5, 1.0]).round(3).tolist()
    [1.0, 0.1, 0.01]
    """
    return np.asarray(10.0 ** (-JOINT_DECADES * np.asarray(strength, np.float64)))


def joint_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int = 1,
) -> Affinities:
    """Calibrate how much mass goes to other labels, not how much each point must give.

    Bandwidths are those of ``p``. One weight on all pairs of different labels is solved such that
    the mean share of row mass on other labels moves from its natural value towards that of a random
    draw. Points with no kin among other labels keep little such mass.

    Parameters
    ----------
    neighbors : Neighbors
    labels : array-like of length n or Labels
    perplexity : float
    strength : float or ndarray of shape (n_labels,)
        In [0, 1], for all labels or one for each. The weight of each strength is solved as if all
        labels had it.
    n_jobs : int

    Returns
    -------
    Affinities

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import joint_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> labels = list("ab") * 25
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) + 3.0 * (np.arange(50) % 2)[:, None]
    >>> neighbors = find_neighbors(X, labels, k_same=8, k_other=7)
    >>> result = joint_affinities(neighbors, labels, perplexity=5, strength=1.0)
    >>> result.diagnostics.other_share.mean().round(2).item()
    0.46
    """
    target = _check_perplexity(perplexity)
    known = encode_labels(labels, n=len(neighbors.indices))
    strengths = _per_label(strength, "strength", known, open_low=False)
    plain = Rows(neighbors, known, n_jobs=n_jobs)
    precision, reached = plain.bandwidths(target, weighted=False)
    labelled = known.codes >= 0
    if not labelled.any():
        return plain.affinities(precision, precision, reached)
    log_odds = plain.log_odds(precision)[labelled]
    random = float(balanced_share(known, 1.0)[labelled].mean())
    levels, level_of = np.unique(strengths, return_inverse=True)
    weights = np.array([_joint_log_weight(log_odds, float(s), random) for s in levels])[level_of]
    rows = Rows(neighbors, known, log_same=np.zeros_like(weights), log_other=weights, n_jobs=n_jobs)
    return rows.affinities(precision, precision, reached)


def _joint_log_weight(log_odds: NDArray[np.float64], strength: float, random: float) -> float:
    """Solve for the weight (as logarithm) on other labels that gives them their mean share."""

    def mean_share(log_weight: float) -> float:
        return float(expit(log_odds + log_weight).mean())

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


def _check_perplexity(perplexity: float) -> float:
    return check_number(perplexity, "perplexity", low=1)


def _per_label(
    value: ArrayLike, argument: str, labels: Labels, *, open_low: bool
) -> NDArray[np.float64]:
    """Return a number in the unit interval for each label."""
    numbers = np.asarray(value, np.float64)
    if numbers.shape not in ((), (labels.n_labels,)):
        raise ValueError(
            f"{argument} must be one number or one for each of the {labels.n_labels} labels, got "
            f"an array of shape {numbers.shape}"
        )
    for number in np.unique(numbers):
        check_number(float(number), argument, low=0, high=1, open_low=open_low)
    return np.broadcast_to(numbers, (labels.n_labels,))
