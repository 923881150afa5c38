"""Similarities of ``joint``, and the conditioning of the map that goes with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from ctsne.affinity.balanced import split_affinities
from ctsne.affinity.natural import natural_log_odds, solve_weight
from ctsne.affinity.result import Affinities
from ctsne.affinity.weights import (
    check_perplexity,
    of_points,
    per_label,
    random_share,
    same_label_share,
)
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import Neighbors, matched_share, select_neighbors

# Constants of the method, the same for all data; experiments/RESULTS.md has what they rest on.
# Above: strength 1 moves the mean weight on other labels this far towards that of a random draw,
# along a power of the strength.
REACH = 0.65
LEVEL_POWER = 0.75
# Below: the odds grow to 10 to this power, along another power of the strength.
ODDS_DECADES = 2.0
ODDS_POWER = 2.0
# The odds of a point towards other labels are multiplied by how well it is matched there, at least
# by this.
LEAST_MATCHED = 0.02
_NEGLIGIBLE = 1e-6


def joint_odds(strength: ArrayLike) -> NDArray[np.float64]:
    """Odds of the repulsion in the map that go with a strength of ``joint``.

    Parameters
    ----------
    strength : float or ndarray

    Returns
    -------
    ndarray
        How many times as hard two points with the same label repel each other as two with
        different labels.

    Examples
    --------
    >>> from ctsne.affinity import joint_odds
    >>> joint_odds([0.0, 0.5, 1.0]).round(2).tolist()
    [1.0, 3.16, 100.0]
    """
    return np.asarray(10.0 ** (ODDS_DECADES * np.asarray(strength, np.float64) ** ODDS_POWER))


def beta_from_odds(labels: Labels, odds: ArrayLike) -> NDArray[np.float64]:
    """Weight of differently labelled pairs in the map, the paper's beta, for given odds.

    The same odds mean a different beta for every number of labels, because the mean weight of all
    pairs is one: with two labels of equal size odds of 19 are a beta of 0.1, with 26 labels odds
    of 226 are.

    Parameters
    ----------
    labels : Labels
    odds : float or ndarray of shape (n_labels,)
        1 or more.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from ctsne.affinity import beta_from_odds
    >>> from ctsne.labels import encode_labels
    >>> beta_from_odds(encode_labels(["a", "b"] * 500), 19.0).round(3).item()
    0.1
    """
    rho = same_label_share(labels)
    return np.asarray(1 / (1 + rho * (np.asarray(odds, np.float64) - 1)))  # exact where it is off


def joint_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int = 1,
) -> Affinities:
    """Give other labels a share of every row that depends on how near they are.

    The share of other labels in the plain similarities, times how well a point is matched there, is
    where it starts. One weight for all points moves the mean of these shares from its natural value
    towards that of a random draw, so that points without counterparts keep a small share. Both
    lists are then calibrated separately, each to its share of the perplexity, so that a row has
    exactly the perplexity asked for and keeps the nearest points of both kinds.

    Parameters
    ----------
    neighbors : Neighbors
        With the lengths of :func:`ctsne.neighbors.half_lengths`; of each row half is used.
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
    >>> neighbors = find_neighbors(X, labels, k_same=10, k_other=10)
    >>> result = joint_affinities(neighbors, labels, perplexity=6, strength=1.0)
    >>> result.diagnostics.other_share.mean().round(2).item()
    0.34
    """
    target = check_perplexity(perplexity)
    known = encode_labels(labels, n=len(neighbors.indices))
    strengths = per_label(strength, "strength", known, open_low=False)
    log_odds = natural_log_odds(neighbors, known, n_jobs=n_jobs)
    matched = matched_share(neighbors, known)
    share = _shares(log_odds, matched, known, strengths)
    lists = _shortened(neighbors, share)
    result = split_affinities(lists, known, share, perplexity=target, n_jobs=n_jobs)
    return replace(result, diagnostics=replace(result.diagnostics, matched=matched))


def _shares(
    log_odds: NDArray[np.float64],
    matched: NDArray[np.float64],
    labels: Labels,
    strengths: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Share of every row for other labels; none for points without a label."""
    labelled = labels.codes >= 0
    if not labelled.any():
        return np.zeros(len(log_odds))
    natural = float(expit(log_odds[labelled]).mean())
    random = float(random_share(labels)[labelled].mean())
    # Points that are hardly matched keep to their own: elsewhere they would be forced on strangers.
    log_odds = log_odds + np.log(np.maximum(matched, LEAST_MATCHED))
    levels, level_of = np.unique(strengths, return_inverse=True)
    targets = natural + REACH * levels**LEVEL_POWER * (random - natural)
    weights = np.array([solve_weight(log_odds[labelled], target) for target in targets])
    share = expit(log_odds + of_points(weights[level_of], labels.codes))
    return np.where(labelled, share, 0.0)


def _shortened(neighbors: Neighbors, share: NDArray[np.float64]) -> Neighbors:
    """Keep half of each row: of both lists as many points as go with their shares."""
    length = neighbors.indices.shape[1]
    total = (length + 1) // 2
    available = length - neighbors.n_same
    # Next to nothing is nothing, and the own label keeps one point at least if it has any.
    wanted = np.minimum(np.ceil(total * share - _NEGLIGIBLE), total - 1).astype(np.int32)
    other = np.minimum(np.where(neighbors.n_same > 0, wanted, total), available)
    same = np.minimum(total - other, neighbors.n_same)
    return select_neighbors(neighbors, same, total - same)
