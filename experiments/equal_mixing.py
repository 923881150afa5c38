"""Compare methods at equal mixing of the known label.

A method with a strength gives a line: each setting has its mixing (the Laplacian of the known label
over its value for random labels), the neighbours it keeps (adjusted R_NX) and its impurity (the
Laplacian of the hidden label). Lines are interpolated linearly between settings at given values of
mixing, and ranked there.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

SHARES = (0.30, 0.50, 0.70, 0.85)
# Values that print the same are tied, whatever the spread over the seeds.
_DIGITS = 3


class Line(NamedTuple):
    """The settings of a method, weakest first; arrays (seeds, settings), NaN for no map."""

    mixing: NDArray[np.float64]
    kept: NDArray[np.float64]
    impure: NDArray[np.float64]


class Range(NamedTuple):
    """A value read from the mean line of the seeds, and its range over their own lines."""

    value: float
    low: float
    high: float


class Place(NamedTuple):
    """The measures of a method at a certain mixing."""

    kept: Range
    impure: Range


class Standing(NamedTuple):
    """The methods that can be read at a certain mixing, most neighbours kept first."""

    places: dict[str, Place]
    # The first, and those tied with it: their ranges over the seeds overlap.
    keeps_most: tuple[str, ...]


def make_line(mixing: ArrayLike, kept: ArrayLike, impure: ArrayLike) -> Line:
    """Check the measures of a line.

    Parameters
    ----------
    mixing, kept, impure : array-like of shape (seeds, settings) or (settings,)
        NaN where a map failed.

    Returns
    -------
    Line

    Examples
    --------
    >>> from equal_mixing import make_line
    >>> make_line([0.1, 0.5], [0.6, 0.4], [0.0, 0.1]).mixing.shape
    (1, 2)
    """
    line = Line(*(np.atleast_2d(np.asarray(each, np.float64)) for each in (mixing, kept, impure)))
    if len({each.shape for each in line}) > 1 or line.mixing.ndim != 2:
        shapes = ", ".join(str(each.shape) for each in line)
        raise ValueError(f"mixing, kept and impure must have one shape, got {shapes}")
    return line


def at_mixing(mixing: ArrayLike, values: ArrayLike, share: float) -> float | None:
    """Read a line at a share of random mixing.

    Parameters
    ----------
    mixing, values : array-like of shape (settings,)
        From the weakest setting to the strongest. Settings with a missing value are ignored.
    share : float

    Returns
    -------
    float or None
        The value at the weakest setting if a line passes the share more than once. None if all
        settings mix less, or all mix more.

    Examples
    --------
    >>> from equal_mixing import at_mixing
    >>> at_mixing([0.0, 0.6, 0.4], [0.8, 0.2, 0.1], 0.3)
    0.5
    >>> at_mixing([0.0, 0.6, 0.4], [0.8, 0.2, 0.1], 0.7) is None
    True
    """
    across, along = np.asarray(mixing, np.float64), np.asarray(values, np.float64)
    there = np.isfinite(across) & np.isfinite(along)
    across, along = across[there], along[there]
    if len(across) == 1 and across[0] == share:
        return float(along[0])
    for (m0, m1), (v0, v1) in zip(pairwise(across), pairwise(along), strict=True):
        if min(m0, m1) <= share <= max(m0, m1):
            part = (share - m0) / (m1 - m0) if m1 != m0 else 0.0
            return round(float(v0 + part * (v1 - v0)), 12)  # without rounding errors
    return None


def place(line: Line, share: float) -> Place | None:
    """Read both measures of a line at a share of random mixing.

    Parameters
    ----------
    line : Line
    share : float

    Returns
    -------
    Place or None
        None if the mean line of the seeds does not pass the share. Seeds whose own line does not
        pass it are not part of the range.

    Examples
    --------
    >>> from equal_mixing import make_line, place
    >>> line = make_line([[0, 1], [0, 1]], [[0.6, 0.4], [0.6, 0.2]], [[0, 0], [0, 0.2]])
    >>> place(line, 0.5).kept
    Range(value=0.45, low=0.4, high=0.5)
    """
    kept, impure = _range(line.mixing, line.kept, share), _range(line.mixing, line.impure, share)
    return None if kept is None or impure is None else Place(kept, impure)


def compare(one: Place, two: Place) -> tuple[int, int]:
    """Compare two methods at equal mixing.

    Parameters
    ----------
    one, two : Place

    Returns
    -------
    kept, pure : int
        1 if ``one`` is better, -1 if ``two`` is, 0 if their ranges over the seeds overlap.

    Examples
    --------
    >>> from equal_mixing import Place, Range, compare
    >>> one = Place(Range(0.5, 0.48, 0.52), Range(0.1, 0.09, 0.12))
    >>> compare(one, Place(Range(0.4, 0.39, 0.41), Range(0.11, 0.10, 0.13)))
    (1, 0)
    """
    return -_below(one.kept, two.kept), _below(one.impure, two.impure)


def standing(lines: Mapping[str, Line], share: float) -> Standing:
    """Rank methods at a share of random mixing by the neighbours they keep.

    Parameters
    ----------
    lines : mapping of method to Line
    share : float

    Returns
    -------
    Standing

    Examples
    --------
    >>> from equal_mixing import make_line, standing
    >>> good = make_line([0, 1], [0.6, 0.4], [0.0, 0.1])
    >>> poor = make_line([0, 1], [0.6, 0.2], [0.0, 0.2])
    >>> weak = make_line([0, 0.2], [0.6, 0.5], [0.0, 0.0])
    >>> found = standing({"poor": poor, "good": good, "weak": weak}, 0.5)
    >>> list(found.places), found.keeps_most
    (['good', 'poor'], ('good',))
    """
    read = {name: place(line, share) for name, line in lines.items()}
    found = {name: there for name, there in read.items() if there is not None}
    # Sorting is stable, so equal methods keep their order.
    places = dict(sorted(found.items(), key=lambda item: -item[1].kept.value))
    best = next(iter(places), None)
    tied = tuple(n for n in places if best and compare(places[n], places[best])[0] == 0)
    return Standing(places, tied)


def _average(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over seeds with a value, or NaN."""
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    sums = np.where(there, values, 0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _range(mixing: NDArray[np.float64], values: NDArray[np.float64], share: float) -> Range | None:
    value = at_mixing(_average(mixing), _average(values), share)
    if value is None:
        return None
    own = [at_mixing(m, v, share) for m, v in zip(mixing, values, strict=True)]
    every = [value, *(each for each in own if each is not None)]
    return Range(value, min(every), max(every))


def _below(one: Range, two: Range) -> int:
    """Return 1 if the first range lies below the second, -1 if above, 0 if they overlap."""
    if round(one.high, _DIGITS) < round(two.low, _DIGITS):
        return 1
    return -1 if round(two.high, _DIGITS) < round(one.low, _DIGITS) else 0
