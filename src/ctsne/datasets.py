"""Made-up data, for demonstrations and tests: the paper's synthetic example, and a drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctsne._core.checks import check_count
from ctsne._core.messages import shown

__all__ = ["Drift", "Synthetic", "make_drift", "make_synthetic"]

KNOWN_NAMES = ("blue", "orange")
HIDDEN_NAMES = ("circle", "triangle", "square")

# Standard deviations of section 4.1 in the paper.
KNOWN_SPREAD, HIDDEN_SPREAD, POINT_NOISE = 5.0, 1.0, 0.1
BLUE_SHARE = 0.4
# On the z-scored scale, see the notes of make_synthetic.
SMALLEST_GAP, LARGEST_NOISE = 1.5, 0.2
DRIFT_TYPES = 8
SMALLEST_N = 8  # from this size on, each of the six combinations of labels has at least one point


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Synthetic data with two labels.

    Attributes
    ----------
    X : ndarray of shape (n, 10)
        Features, each with mean 0 and standard deviation 1.
    known : ndarray of shape (n,)
        The label of columns 0-3, ``"blue"`` or ``"orange"``: to be factored out.
    hidden : ndarray of shape (n,)
        The label of columns 4-5, ``"circle"``, ``"triangle"`` or ``"square"``: to be revealed.
    """

    X: npt.NDArray[np.float64]
    known: npt.NDArray[np.str_]
    hidden: npt.NDArray[np.str_]


def make_synthetic(
    n: int = 1500, *, random_state: int | np.random.Generator | None = None
) -> Synthetic:
    """Generate data with a strong known clustering that hides a weaker one.

    This is the synthetic example of Heiter et al. 2023, section 4.1. Every point belongs to one of
    two clusters in columns 0-3 (``known``; centres drawn with variance 25) and, independently, to
    one of three clusters in columns 4-5 (``hidden``; centres drawn with variance 1). Points scatter
    around their centres with variance 0.01. Columns 6-9 are noise. Each column is z-scored. t-SNE
    shows six clusters, one per pair of labels; with ``known`` factored out, three remain.

    Parameters
    ----------
    n : int, default=1500
        Number of points, at least 8. Two in five are blue; the hidden clusters have equal sizes
        (up to one point), also within each colour.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. The same integer gives the same data.

    Returns
    -------
    Synthetic
        ``X``, ``known`` and ``hidden``, in shuffled order.

    Notes
    -----
    So that there are three clusters to find, the hidden centres are drawn again until, on the
    z-scored scale, each pair is at least 1.5 apart and the points scatter around them by at most
    0.2 in either column. In the authors' data these numbers are 1.68, and 0.08 and 0.14.

    Examples
    --------
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(random_state=0)
    >>> data.X.shape, int((data.known == "blue").sum()), int((data.hidden == "circle").sum())
    ((1500, 10), 600, 500)
    """
    n = check_count(n, "n", low=SMALLEST_N)
    rng = _generator(random_state)
    known = (np.arange(n) >= round(BLUE_SHARE * n)).astype(np.intp)
    # Counting 0, 1, 2, 0, ... down the rows keeps the hidden clusters equal inside each colour.
    hidden = np.arange(n) % len(HIDDEN_NAMES)
    order = rng.permutation(n)
    known, hidden = known[order], hidden[order]
    known_centres = rng.normal(scale=KNOWN_SPREAD, size=(len(KNOWN_NAMES), 4))
    centres = np.hstack([known_centres[known], _apart(rng)[hidden]])
    points = centres + rng.normal(scale=POINT_NOISE, size=centres.shape)
    X = np.hstack([points, rng.normal(size=(n, 4))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Synthetic(X=X, known=np.array(KNOWN_NAMES)[known], hidden=np.array(HIDDEN_NAMES)[hidden])


@dataclass(frozen=True, eq=False)
class Drift:
    """Types of points that drift with a number.

    Attributes
    ----------
    X : ndarray of shape (n, 20)
        Features.
    number : ndarray of shape (n,)
        From 0 to 1: to be factored out.
    hidden : ndarray of shape (n,)
        The type of each point, 0 to 7: to be revealed.
    """

    X: npt.NDArray[np.float64]
    number: npt.NDArray[np.float64]
    hidden: npt.NDArray[np.intp]


def make_drift(n: int = 2000, *, random_state: int | np.random.Generator | None = None) -> Drift:
    """Generate eight types that move together along a curved path as a number grows.

    Parameters
    ----------
    n : int, default=2000
        Number of points.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. The same integer gives the same data.

    Returns
    -------
    Drift
        t-SNE shows the number. With it factored out, the eight types remain.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_drift
    >>> data = make_drift(300, random_state=0)
    >>> ConditionalTSNE(n_iter=100).fit_transform(data.X, numbers=data.number).shape
    (300, 2)
    """
    n, rng = check_count(n, "n", low=1), _generator(random_state)
    hidden, number = rng.integers(DRIFT_TYPES, size=n), rng.uniform(size=n)
    X = rng.normal(scale=3, size=(DRIFT_TYPES, 20))[hidden] + rng.normal(size=(n, 20))
    angle = np.pi * number
    X[:, :3] += np.column_stack([12 * np.cos(angle), 12 * np.sin(angle), 8 * np.sin(2 * angle)])
    return Drift(X=X, number=number, hidden=hidden)


def _apart(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the three hidden centres until the clusters are well separated."""
    while True:
        centres = rng.normal(scale=HIDDEN_SPREAD, size=(len(HIDDEN_NAMES), 2))
        # Z-scoring divides by this for clusters of equal size, so the rule does not depend on n.
        scale = np.sqrt(centres.var(axis=0) + POINT_NOISE**2)
        gaps = np.linalg.norm((centres - np.roll(centres, 1, axis=0)) / scale, axis=1)
        if gaps.min() >= SMALLEST_GAP and POINT_NOISE / scale.min() <= LARGEST_NOISE:
            return centres


def _generator(random_state: Any) -> np.random.Generator:
    wanted = "random_state must be a whole number from 0 up, a numpy.random.Generator or None"
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{wanted}, got {shown(random_state)}") from None
