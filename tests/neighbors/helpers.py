"""Comparison of neighbour lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ctsne.neighbors import Neighbors


def assert_same(found: Neighbors, expected: Neighbors, rows: Any = slice(None)) -> None:
    """Require the same bits, or those of some of the expected rows."""
    for name in ("indices", "distances", "lengths"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name)[rows])
    assert found.scale == expected.scale and found.patterns == expected.patterns
