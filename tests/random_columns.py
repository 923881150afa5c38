"""Random label columns for tests: crossed, nested, unbalanced, with gaps."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne.labels import Labels, encode_column
from ctsne.labels.columns import join_columns

Codes = NDArray[np.int64]


def as_columns(codes: Codes) -> Labels:
    """Encode columns of numbers, of which -1 is missing."""
    columns = [
        encode_column([None if code < 0 else code for code in column])
        for column in codes.reshape(len(codes), -1).T.tolist()
    ]
    return join_columns("123"[: len(columns)], columns)


@st.composite
def column_codes(
    draw: st.DrawFn, *, least: int = 8, most: int = 40, fewest_columns: int = 2
) -> Codes:
    """Up to three columns with at least two labels each."""
    n, n_columns = draw(st.integers(least, most)), draw(st.integers(fewest_columns, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.empty((n, n_columns), np.int64)
    for c in range(n_columns):
        kinds = draw(st.integers(2, 4))
        share = rng.dirichlet(np.full(kinds, draw(st.sampled_from([0.3, 10.0]))))
        codes[:, c] = rng.choice(kinds, size=n, p=share)
        codes[rng.permutation(n)[:4], c] = [0, 0, 1, 1]  # at least two labels, not of one point
    if n_columns > 1 and draw(st.booleans()):  # the second column is nested in the first
        codes[:, 1] += 4 * codes[:, 0]
    if draw(st.booleans()):
        gaps = rng.random(codes.shape) < draw(st.sampled_from([0.1, 0.4]))
        if n_columns > 1:
            gaps[:, draw(st.integers(0, n_columns - 1))] = False
        for c in range(n_columns):
            rest = codes[~gaps[:, c], c]
            if len(rest) > 2 and np.ptp(rest) > 0:
                codes[gaps[:, c], c] = -1
    return codes
