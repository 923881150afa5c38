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
    """Check the measures of a line, by seed and setting; NaN where a map failed."""
    line = Line(*(np.atleast_2d(np.asarray(each, np.float64)) for each in (mixing, kept, impure)))
    if len({each.shape for each in line}) > 1 or line.mixing.ndim != 2:
        shapes = ", ".join(str(each.shape) for each in line)
        raise ValueError(f"mixing, kept and impure must have one shape, got {shapes}")
    return line


def at_mixing(mixing: ArrayLike, values: ArrayLike, share: float) -> float | None:
    """Read a line, weakest setting first, at a share of random mixing; None beyond its ends.

    Where it passes the share more than once, the weakest setting counts.
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

    None if the mean line of the seeds does not pass it. Only seeds whose own line passes it count
    for the range.
    """
    kept, impure = _range(line.mixing, line.kept, share), _range(line.mixing, line.impure, share)
    return None if kept is None or impure is None else Place(kept, impure)


def compare(one: Place, two: Place) -> tuple[int, int]:
    """Return for both measures 1 if ``one`` is better, -1 if ``two`` is, 0 if ranges overlap."""
    return -_below(one.kept, two.kept), _below(one.impure, two.impure)


def standing(lines: Mapping[str, Line], share: float) -> Standing:
    """Rank methods at a share of random mixing by the neighbours they keep."""
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
