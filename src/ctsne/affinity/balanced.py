"""Similarities of ``balanced``: the share of other labels in every row is set beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit

from ctsne._core.checks import check_kind, check_number
from ctsne.affinity.columns import balanced_columns, known_labels
from ctsne.affinity.result import Affinities
from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import Floats, of_points, per_label, random_share
from ctsne.labels import Column, Labels
from ctsne.neighbors import Neighbors

# exp(700) is about the largest finite weight.
_LARGEST_LOG_WEIGHT = 700.0


def balanced_affinities(
    neighbors: Neighbors, labels: object, *, perplexity: float, strength: ArrayLike, n_jobs: int = 1
) -> Affinities:
    """Calibrate two distributions for every point separately, and mix them by a fixed share.

    At strength 0, the share of other labels is that of each point's plain t-SNE similarities; at
    strength 1, that of a random draw.

    Parameters
    ----------
    neighbors : Neighbors
        With the lengths of :func:`ctsne.neighbors.balanced_lengths`.
    labels : array-like of length n, Column or Labels
        With several columns, ``neighbors`` must hold a list for each pattern of columns that
        differ, as from :func:`ctsne.neighbors.find_neighbors`.
    perplexity : float
        Of the mixture.
    strength : float or ndarray of shape (n_labels,) or (n_columns,)
        In [0, 1], one for all labels, or one per label or per label column.
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
    >>> neighbors = find_neighbors(X, labels, lengths=(5, 10))
    >>> result = balanced_affinities(neighbors, labels, perplexity=5, strength=1)
    >>> result.diagnostics.other_share[:3].round(6).tolist()
    [0.68, 0.68, 0.68]
    """
    check_kind(neighbors, Neighbors, "neighbors")
    target = check_number(perplexity, "perplexity", low=1)
    known = known_labels(neighbors, labels)
    if isinstance(known, Labels):
        return balanced_columns(
            neighbors, known, perplexity=target, strength=strength, n_jobs=n_jobs
        )
    strengths = per_label(strength, "strength", known, open_low=False)
    natural = expit(natural_log_odds(neighbors, known, n_jobs=n_jobs))
    share = natural + of_points(strengths, known.codes) * (random_share(known) - natural)
    return split_affinities(neighbors, share, perplexity=target, n_jobs=n_jobs)


def split_affinities(
    neighbors: Neighbors, share: Floats, *, perplexity: float, n_jobs: int
) -> Affinities:
    """Calibrate both lists of every row separately and mix them by the share of other labels."""
    rows = Rows(neighbors, n_jobs=n_jobs)
    n_same = neighbors.lengths[:, 0]
    n_other = neighbors.indices.shape[1] - n_same
    share = np.where(n_other == 0, 0.0, share)
    share = np.where(n_same == 0, 1.0, share)
    perplexities = np.stack(_split_perplexity(perplexity, share, n_same, n_other), axis=1)
    shares = np.stack([1 - share, share], axis=1)
    result = rows.affinities(*rows.split_bandwidths(perplexities), shares=shares)
    # Only the mixture counts: one list may miss its perplexity if the other makes up for it.
    reached = np.abs(np.log(result.diagnostics.perplexity / perplexity)) < 1e-5
    return replace(result, diagnostics=replace(result.diagnostics, reached=reached))


def _split_perplexity(
    perplexity: float, share: Floats, n_same: NDArray[np.int32], n_other: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Return perplexities of both lists whose mixture has exactly the one asked for.

    The mixture's entropy is h(w) + (1-w) log(same) + w log(other), which (1-w)u and wu satisfy. If
    a list cannot have its perplexity (less than one neighbour, or more than it holds), the other
    list makes up for it.
    """
    # The share of an empty list is zero, so its length and perplexity do not matter.
    most_same, most_other = np.log(np.maximum(n_same, 1)), np.log(np.maximum(n_other, 1))
    left = np.log(perplexity) - entr(share) - entr(1 - share)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_other = np.log(share * perplexity).clip(0, most_other)
        wanted = np.where(share < 1, (left - share * log_other) / (1 - share), 0.0)
        log_same = wanted.clip(0, most_same)
        remaining = np.where(share > 0, (left - (1 - share) * log_same) / share, 0.0)
        log_other = np.where(log_same == wanted, log_other, remaining.clip(0, most_other))
    return np.exp(log_same), np.exp(log_other)


def natural_log_odds(neighbors: Neighbors, labels: Column, *, n_jobs: int) -> Floats:
    """Return the log of the weight on other labels over the rest, without conditioning.

    The perplexity is half the length of a row. Weights among aligned points are scaled to the mean
    without alignment: an alignment determines which points are near, not how near they are.
    """
    log_odds = _log_odds(neighbors, n_jobs)
    if neighbors.unaligned is None:
        return log_odds
    rows = neighbors.unaligned.rows
    known = labels.codes[rows] >= 0
    if not known.any():
        return log_odds
    plain = _log_odds(neighbors.unaligned.neighbors, n_jobs)[known]
    return log_odds + solve_weight(log_odds[rows][known], float(expit(plain).mean()))


def solve_weight(log_odds: Floats, target: float) -> float:
    """Solve for the log weight on other labels that makes their mean share a target."""

    def mean_share(log_weight: float) -> float:
        return float(expit(log_odds + log_weight).mean())

    low, high = -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT
    if mean_share(0.0) == target:
        return 0.0
    if mean_share(low) >= target:
        return low
    if mean_share(high) <= target:
        return high
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_share(middle) < target else (low, middle)
    return high


def _log_odds(neighbors: Neighbors, n_jobs: int) -> Floats:
    rows = Rows(neighbors, n_jobs=n_jobs)
    precision, _ = rows.bandwidths(max(1.0, neighbors.indices.shape[1] / 2), weighted=False)
    log_weights = rows.list_weights(precision)
    return np.asarray(log_weights[:, 1] - log_weights[:, 0])
