"""What all parts share: types of arrays, and what labels say of points."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Metric = Literal["euclidean", "cosine"]


def are_different(codes: Integers) -> NDArray[np.bool_]:
    """Tell which pairs have two labels that differ."""
    labelled = np.asarray(codes >= 0)
    unequal = np.asarray(codes[:, None] != codes[None, :])
    return unequal & labelled[:, None] & labelled[None, :]


def label_counts(codes: Integers) -> NDArray[np.intp]:
    """Count the points of each label."""
    return np.bincount(codes[codes >= 0])
