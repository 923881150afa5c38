"""Small maps and data with labels, drawn by hypothesis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray


class Case(NamedTuple):
    embedding: NDArray[np.float64]
    X: NDArray[np.float64]
    codes: NDArray[np.int64]
    labels: list[str | None]
    k: int


@st.composite
def cases(draw: st.DrawFn, smallest: int = 3, largest: int = 25) -> Any:
    """Draw whole coordinates, so that equal distances are equal in any precision."""
    n = draw(st.integers(smallest, largest))

    def points(most: int) -> NDArray[np.float64]:
        shape = n, draw(st.integers(1, most))
        return draw(hnp.arrays(np.float64, shape, elements=st.integers(-20, 20)))

    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    labels = [None if code < 0 else "abcd"[code] for code in codes]
    return Case(points(3), points(4), codes, labels, draw(st.integers(1, n - 2)))
