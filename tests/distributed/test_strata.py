"""How many rows of each stratum a sample takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.distributed.strata import MOST_KEPT, allocate, draw, strata_of

COUNTS = st.lists(st.integers(1, 10**6), min_size=1, max_size=60)


@given(COUNTS, st.integers(1, 10**6))
def test_shares_are_equal_but_for_few(counts: list[int], n: int) -> None:
    sizes = np.array(counts, np.int64)
    taken = allocate(sizes, n)
    assert taken.sum() == min(n, sizes.sum())
    assert (taken <= sizes).all()
    least = np.minimum(sizes, min(MOST_KEPT, n // (2 * len(sizes))))
    assert (taken >= least).all()
    # All that are above their least have the same share, up to one row.
    above = np.flatnonzero(taken > least + 1)
    if len(above) and sizes.sum() > n:
        low = ((taken[above] - 1) / sizes[above]).max()
        assert low <= ((taken[above] + 1) / sizes[above]).min()


def test_a_rare_label_keeps_its_points() -> None:
    taken = allocate(np.array([10**9, 300, 10**6]), 200_000)
    assert taken.tolist() == [199_200, 300, 500]


def test_with_very_many_labels_shares_are_proportional() -> None:
    sizes = np.arange(1, 10_001)
    taken = allocate(sizes, 5000)
    np.testing.assert_allclose(taken, 5000 * sizes / sizes.sum(), atol=1)


@given(COUNTS, st.integers(1, 500), st.integers(0, 5))
def test_rows_are_drawn_once(counts: list[int], n: int, seed: int) -> None:
    sizes = np.array(counts, np.int64)
    rows = draw(sizes, n, seed)
    assert [len(each) for each in rows] == allocate(sizes, n).tolist()
    for each, size in zip(rows, counts, strict=True):
        assert (np.diff(each) > 0).all() and (each >= 0).all() and (each < size).all()
    again = draw(sizes, n, seed)
    assert all(np.array_equal(one, two) for one, two in zip(rows, again, strict=True))


def test_every_row_of_a_stratum_is_as_likely() -> None:
    found = np.zeros(40)
    for seed in range(400):
        (rows,) = draw(np.array([40]), 10, seed)
        found[rows] += 1
    assert found.sum() == 4000
    assert found.min() > 60 and found.max() < 140  # 100 expected, standard deviation 8.7


def test_strata_are_combinations_of_texts() -> None:
    keys, codes = strata_of([["a", None, "a", "b"], [1.0, 2.0, 1.0, float("nan")]], 4)
    assert [keys[code] for code in codes] == [("a", "1"), (None, "2"), ("a", "1"), ("b", None)]
    assert strata_of([], 3)[0] == [()]
    with pytest.raises(ValueError, match="3 points"):
        strata_of([["a", "b"]], 3)
