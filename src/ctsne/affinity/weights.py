"""Weights and shares by label, in the similarities and in the repulsion of the map."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.labels import Column, Labels
from ctsne.neighbors.patterns import Patterns, differing_lists

Floats = NDArray[np.float64]
PerLabel = Sequence[Floats]  # one array per label column

# Constants of ``joint``, the same for all data; experiments/RESULTS.md explains their values.
# The odds of a point towards other labels are multiplied by how well it is matched, at least this.
LEAST_MATCHED = 0.02
# In the map: the odds grow to 10 to the power of ODDS_DECADES, as a power of the strength.
ODDS_DECADES = 2.0
ODDS_POWER = 2.0


def same_label_share(counts: NDArray[np.int64]) -> float:
    """Return the share of labelled pairs with the same label, the paper's rho."""
    n = int(counts.sum())
    if n < 2:
        return 1.0
    floats = counts.astype(np.float64)
    return float((floats * (floats - 1)).sum() / (float(n) * (n - 1)))


def random_share(column: Column) -> Floats:
    """Return the share of other labels among randomly drawn neighbours; 0 for unlabelled points."""
    share = (column.counts.sum() - column.counts) / max(1, column.n_points - 1)
    return of_points(share, column.codes)


def joint_share(share: Floats, column: Column, strength: float) -> float:
    """Return the mean share of other labels that ``joint`` aims at: from natural to random."""
    labelled = column.codes >= 0
    if not labelled.any():
        return 0.0
    natural = float(share[labelled].mean())
    random = float(random_share(column)[labelled].mean())
    return natural + float(strength) * (random - natural)


def revised_weights(counts: NDArray[np.int64], betas: Floats) -> tuple[Floats, Floats]:
    """Return log beta and log alpha per label, the weights of same and other labels."""
    rho = same_label_share(counts)
    if rho == 1:  # with a single label, there is nothing to condition on
        return np.zeros_like(betas), np.zeros_like(betas)
    return np.log(betas), np.log1p(-betas * rho) - np.log1p(-rho)


def list_log_weights(
    patterns: Patterns,
    codes: NDArray[np.int32],
    counts: Sequence[NDArray[np.int64]],
    betas: PerLabel,
) -> Floats:
    """Return the log weight of every list: alpha where a column differs, beta where it does not."""
    total = np.zeros((len(codes), len(patterns)))
    columns = zip(codes.T, counts, betas, differing_lists(patterns, len(counts)), strict=True)
    for own, count, beta, differs in columns:
        same, other = (of_points(x, own)[:, None] for x in revised_weights(count, beta))
        total += np.where(differs, other, same)
    return total


def joint_odds(strength: ArrayLike) -> Floats:
    """Return how many times as strongly same-label pairs of ``joint`` repel in the map."""
    return np.asarray(10.0 ** (ODDS_DECADES * np.asarray(strength, np.float64) ** ODDS_POWER))


def beta_from_odds(labels: Labels, odds: PerLabel) -> tuple[Floats, ...]:
    """Return the weight of differently labelled pairs in the map, the paper's beta, for odds."""
    # It depends on the number of labels, because the mean weight of all pairs is one: a beta of 0.1
    # has odds of 19 with two labels of equal size, and of 235 with 26.
    shares = [same_label_share(column.counts) for column in labels.columns]
    # Exactly 1 for odds of 1.
    return tuple(np.asarray(1 / (1 + x * (own - 1))) for x, own in zip(shares, odds, strict=True))


def of_points(of_labels: ArrayLike, codes: NDArray[np.int32]) -> Floats:
    """Return the number of each point's label; zero if the label is missing."""
    # A missing label, -1, takes the appended zero.
    return np.asarray(np.append(np.asarray(of_labels, np.float64), 0.0)[codes])
