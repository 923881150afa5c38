"""Columns of numbers that may have got among the features by mistake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import listed
from ctsne._io.column_names import runs

__all__ = ["suspects"]

# Of fewer columns, one may well be most of the data.
_FEWEST = 5
_MOST_VARIANCE = 0.5


def suspects(X: NDArray[np.floating], features: Sequence[str]) -> tuple[str, ...]:
    """Say which columns look as if they were not meant: one that rules, counts among fractions.

    Columns of a numbered run (PC1, PC2, ...) are what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne._io.suspects import suspects
    >>> X = np.random.default_rng(0).normal(size=(9, 5))
    >>> X[:, 4] = 1000.0 * np.arange(9)
    >>> suspects(X, ["PC1", "PC2", "PC3", "PC4", "n_counts"])[0][:65]
    "column 'n_counts' has 100 % of the variance of all features, so i"
    """
    if len(features) < _FEWEST:
        return ()
    found = runs(features)
    in_run = {name for run in found if len(run) > 1 for name in run}
    single = np.array([name not in in_run for name in features])
    longest = max(found, key=len)
    pattern = longest[0].rstrip("0123456789") + "*"
    named = len(longest) > 1 and pattern != "*"
    how = f'--features "{pattern}"' if named else "--features NAME NAME ..."
    variance = X.var(axis=0, dtype=np.float64)
    whole = (np.mod(X, 1) == 0).all(axis=0)
    messages = []
    first = int(variance.argmax())
    if single[first] and variance[first] > _MOST_VARIANCE * variance.sum():
        share = 100 * variance[first] / variance.sum()
        messages.append(
            f"column {features[first]!r:.60} has {share:.0f} % of the variance of all features, so "
            f"it rules the map; name those to use with {how}, or scale the columns"
        )
    counts = [name for name, odd in zip(features, single & whole, strict=True) if odd]
    if counts and 2 * whole.sum() < len(features):
        messages.append(
            f"whole numbers among fractions: {listed(counts)}, part of the map; if that is a label "
            f"or a count, name the features with {how}"
        )
    return tuple(messages)
