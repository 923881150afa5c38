"""Shared by the methods: their constants, weights and shares by label, and numbers per label."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_kind, check_number, is_sparse
from ctsne.labels import Column

Floats = NDArray[np.float64]

# Constants of ``joint``, the same for all data; experiments/RESULTS.md explains their values.
# In the similarities: strength 1 moves the mean weight on other labels this far towards that of a
# random draw, as a power of the strength.
REACH = 0.65
LEVEL_POWER = 0.75
# The odds of a point towards other labels are multiplied by how well it is matched, at least this.
LEAST_MATCHED = 0.02


def same_label_share(labels: Column) -> float:
    """Return the share of labelled pairs with the same label, the paper's rho."""
    n = int(labels.counts.sum())
    if n < 2:
        return 1.0
    counts = labels.counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / (float(n) * (n - 1)))


def random_share(labels: Column) -> Floats:
    """Return the share of other labels among randomly drawn neighbours of every point.

    Parameters
    ----------
    labels : Column

    Returns
    -------
    ndarray, shape (n,)
        Zero for unlabelled points.

    Examples
    --------
    >>> from ctsne.affinity import random_share
    >>> from ctsne.labels import encode_column
    >>> random_share(encode_column(["a", "a", "b", None, None])).tolist()
    [0.25, 0.25, 0.5, 0.0, 0.0]
    """
    check_kind(labels, Column, "labels")
    share = (labels.counts.sum() - labels.counts) / max(1, labels.n_points - 1)
    return of_points(share, labels.codes)


def joint_share(share: Floats, labels: Column, strength: ArrayLike) -> Floats:
    """Return the mean share of other labels that ``joint`` aims at, from the natural shares."""
    labelled = labels.codes >= 0
    natural = float(share[labelled].mean())
    random = float(random_share(labels)[labelled].mean())
    reach = REACH * np.asarray(strength, np.float64) ** LEVEL_POWER
    return np.asarray(natural + reach * (random - natural))


def revised_weights(labels: Column, betas: Floats) -> tuple[Floats, Floats]:
    """Return log beta and log alpha per label, the weights of same and other labels."""
    rho = same_label_share(labels)
    if rho == 1:  # with a single label, there is nothing to condition on
        return np.zeros_like(betas), np.zeros_like(betas)
    return np.log(betas), np.log1p(-betas * rho) - np.log1p(-rho)


def of_points(of_labels: ArrayLike, codes: NDArray[np.int32]) -> Floats:
    """Return the number of each point's label; zero if the label is missing."""
    # A missing label, -1, takes the appended zero.
    return np.asarray(np.append(np.asarray(of_labels, np.float64), 0.0)[codes])


def per_label(value: ArrayLike, argument: str, labels: Column, *, open_low: bool) -> Floats:
    """Return a number between 0 and 1 for each label."""
    return one_each(value, argument, labels.n_labels, "label", open_low=open_low)


def one_each(value: ArrayLike, argument: str, count: int, what: str, *, open_low: bool) -> Floats:
    """Return a number between 0 and 1 for each of some things, from one or as many numbers."""
    numbers = check_numbers(value, argument, low=0, high=1, open_low=open_low)
    if numbers.shape not in ((), (count,)):
        raise ValueError(
            f"{argument} must be one number or one per {what} ({count}), got an array of shape "
            f"{numbers.shape}"
        )
    return np.broadcast_to(numbers, (count,))


def check_numbers(
    value: ArrayLike, argument: str, *, low: float, high: float, open_low: bool = False
) -> Floats:
    """Return finite numbers in [low, high] (or (low, high]), or refuse them."""
    if is_sparse(value):
        raise TypeError(f"{argument} must be a number or an array of numbers, got a sparse matrix")
    numbers = np.asarray(as_numbers(value, argument=argument), np.float64)
    for number in np.unique(numbers):
        check_number(float(number), argument, low=low, high=high, open_low=open_low)
    return numbers
