"""Similarities of ``balanced``: every point gives other labels a share that is set beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit

from ctsne.affinity.natural import natural_log_odds
from ctsne.affinity.result import Affinities
from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import check_perplexity, of_points, per_label, random_share
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import Neighbors


def balanced_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    strength: ArrayLike,
    n_jobs: int = 1,
) -> Affinities:
    """Two distributions for every point, calibrated separately and mixed by a fixed share.

    Strength 0 gives each point the share of other labels that its plain t-SNE similarities have,
    strength 1 the share that a random draw would have.

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
    >>> neighbors = find_neighbors(X, labels, k_same=5, k_other=10)
    >>> result = balanced_affinities(neighbors, labels, perplexity=5, strength=1)
    >>> result.diagnostics.other_share[:3].round(6).tolist()
    [0.68, 0.68, 0.68]
    """
    target = check_perplexity(perplexity)
    known = encode_labels(labels, n=len(neighbors.indices))
    strengths = per_label(strength, "strength", known, open_low=False)
    natural = expit(natural_log_odds(neighbors, known, n_jobs=n_jobs))
    share = natural + of_points(strengths, known.codes) * (random_share(known) - natural)
    return split_affinities(neighbors, known, share, perplexity=target, n_jobs=n_jobs)


def split_affinities(
    neighbors: Neighbors,
    labels: Labels,
    share: NDArray[np.float64],
    *,
    perplexity: float,
    n_jobs: int,
) -> Affinities:
    """Calibrate both lists of every row separately and mix them by the share of other labels."""
    rows = Rows(neighbors, labels, n_jobs=n_jobs)
    n_same = neighbors.n_same
    n_other = neighbors.indices.shape[1] - n_same
    share = np.where(n_other == 0, 0.0, share)
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
