"""Made-up data, for demonstrations and tests: the paper's synthetic example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctsne._core.checks import check_count
from ctsne._core.messages import shown

__all__ = ["Synthetic", "make_synthetic"]

KNOWN_NAMES = ("blue", "orange")
HIDDEN_NAMES = ("circle", "triangle", "square")

# Standard deviations of section 4.1 in the paper.
KNOWN_SPREAD, HIDDEN_SPREAD, POINT_NOISE = 5.0, 1.0, 0.1
BLUE_SHARE = 0.4
# On the z-scored scale, see the notes of make_synthetic.
SMALLEST_GAP, LARGEST_NOISE = 1.5, 0.2
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
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        wanted = "a whole number from 0 up, a numpy.random.Generator or None"
        raise type(error)(f"random_state must be {wanted}, got {shown(random_state)}") from None
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


def _apart(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the three hidden centres until the clusters are well separated."""
    while True:
        centres = rng.normal(scale=HIDDEN_SPREAD, size=(len(HIDDEN_NAMES), 2))
        # Z-scoring divides by this for clusters of equal size, so the rule does not depend on n.
        scale = np.sqrt(centres.var(axis=0) + POINT_NOISE**2)
        gaps = np.linalg.norm((centres - np.roll(centres, 1, axis=0)) / scale, axis=1)
        if gaps.min() >= SMALLEST_GAP and POINT_NOISE / scale.min() <= LARGEST_NOISE:
            return centres
