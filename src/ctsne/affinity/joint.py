"""Similarities of ``joint``, and the conditioning of the map that belongs to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ctsne._core.checks import check_kind, check_number
from ctsne.affinity.balanced import natural_log_odds, solve_weight, split_affinities
from ctsne.affinity.columns import joint_columns, known_labels
from ctsne.affinity.result import Affinities
from ctsne.affinity.weights import (
    LEAST_MATCHED,
    Floats,
    check_numbers,
    joint_share,
    of_points,
    per_label,
    same_label_share,
)
from ctsne.labels import Column, Labels
from ctsne.neighbors import Neighbors, matched_shares, select_neighbors
from ctsne.neighbors.patterns import read_labels

# In the map: the odds grow to 10 to the power of ODDS_DECADES, as a power of the strength.
ODDS_DECADES = 2.0
ODDS_POWER = 2.0
_NEGLIGIBLE = 1e-6


def joint_odds(strength: ArrayLike) -> Floats:
    """Return the odds of the repulsion in the map that belong to a strength of ``joint``.

    Parameters
    ----------
    strength : float or ndarray

    Returns
    -------
    ndarray
        How many times as strongly two points with the same label repel each other as two points
        with different labels.

    Examples
    --------
    >>> from ctsne.affinity import joint_odds
    >>> joint_odds([0.0, 0.5, 1.0]).round(2).tolist()
    [1.0, 3.16, 100.0]
    """
    strengths = check_numbers(strength, "strength", low=0, high=1)
    return np.asarray(10.0 ** (ODDS_DECADES * strengths**ODDS_POWER))


def beta_from_odds(labels: Column | Labels, odds: ArrayLike) -> Floats:
    """Return the weight of differently labelled pairs in the map, the paper's beta, for odds.

    The same odds give a different beta for every number of labels, because the mean weight of all
    pairs is one: a beta of 0.1 has odds of 19 with two labels of equal size, and of 235 with 26.

    Parameters
    ----------
    labels : Column or Labels
    odds : float or ndarray of shape (n_labels,) or (n_columns,)
        1 or more.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from ctsne.affinity import beta_from_odds
    >>> from ctsne.labels import encode_column
    >>> beta_from_odds(encode_column(["a", "b"] * 500), 19.0).round(3).item()
    0.1
    """
    if isinstance(labels, Labels):
        rho: Floats | float = np.array([same_label_share(each) for each in labels.columns])
    else:
        check_kind(labels, Column, "labels")
        rho = same_label_share(labels)
    above = check_numbers(odds, "odds", low=1, high=np.inf) - 1
    return np.asarray(1 / (1 + rho * above))  # exactly 1 for odds of 1


def joint_affinities(
    neighbors: Neighbors, labels: object, *, perplexity: float, strength: ArrayLike, n_jobs: int = 1
) -> Affinities:
    """Give other labels a share of every row that depends on how near they are.

    The share starts from that in the plain similarities, times how well the point is matched. One
    weight for all points moves the mean of these shares from its natural value towards that of a
    random draw, so that points without counterparts keep a small share. Both lists are then
    calibrated separately, each to its share of the perplexity, so that a row has exactly the
    requested perplexity and keeps the nearest points of both lists.

    Parameters
    ----------
    neighbors : Neighbors
        With the lengths of :func:`ctsne.neighbors.joint_lengths`; half of each row is used.
    labels : array-like of length n, Column or Labels
        With several columns, ``neighbors`` must hold a list for each pattern of columns that
        differ, as from :func:`ctsne.neighbors.find_neighbors`.
    perplexity : float
    strength : float or ndarray of shape (n_labels,) or (n_columns,)
        In [0, 1], one for all labels, or one per label or per label column. The weight of each
        strength is solved as if all labels had it; those of all columns are solved together.
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
    >>> neighbors = find_neighbors(X, labels, lengths=(10, 10))
    >>> result = joint_affinities(neighbors, labels, perplexity=6, strength=1.0)
    >>> result.diagnostics.other_share.mean().round(2).item()
    0.34
    """
    check_kind(neighbors, Neighbors, "neighbors")
    target = check_number(perplexity, "perplexity", low=1)
    known = known_labels(neighbors, labels)
    if isinstance(known, Labels):
        return joint_columns(neighbors, known, perplexity=target, strength=strength, n_jobs=n_jobs)
    strengths = per_label(strength, "strength", known, open_low=False)
    log_odds = natural_log_odds(neighbors, known, n_jobs=n_jobs)
    one = read_labels(known, len(neighbors.indices))
    assert one is not None
    matched = matched_shares(neighbors, one)[:, 0]
    share = _shares(log_odds, matched, known, strengths)
    lists = _shortened(neighbors, share)
    result = split_affinities(lists, share, perplexity=target, n_jobs=n_jobs)
    return replace(result, diagnostics=replace(result.diagnostics, matched=matched))


def _shares(log_odds: Floats, matched: Floats, labels: Column, strengths: Floats) -> Floats:
    """Return the share of other labels in every row; zero for points without a label."""
    labelled = labels.codes >= 0
    if not labelled.any():
        return np.zeros(len(log_odds))
    levels, level_of = np.unique(strengths, return_inverse=True)
    targets = joint_share(expit(log_odds), labels, levels)
    # Points without counterparts keep to their own label, instead of being forced into others.
    log_odds = log_odds + np.log(np.maximum(matched, LEAST_MATCHED))
    weights = np.array([solve_weight(log_odds[labelled], target) for target in targets])
    share = expit(log_odds + of_points(weights[level_of], labels.codes))
    return np.where(labelled, share, 0.0)


def _shortened(neighbors: Neighbors, share: Floats) -> Neighbors:
    """Keep half of each row, divided between the lists by their shares."""
    length = neighbors.indices.shape[1]
    total = (length + 1) // 2
    n_same = neighbors.lengths[:, 0]
    available = length - n_same
    # A negligible share gets no points, and the same label keeps at least one if it has any.
    wanted = np.minimum(np.ceil(total * share - _NEGLIGIBLE), total - 1).astype(np.int32)
    other = np.minimum(np.where(n_same > 0, wanted, total), available)
    same = np.minimum(total - other, n_same)
    return select_neighbors(neighbors, np.stack([same, total - same], axis=1))
