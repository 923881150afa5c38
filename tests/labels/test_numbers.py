"""Numbers as ordered labels: groups by rank, gaps, and the groups of new numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from ctsne.labels import add_numbers, encode_labels, encode_number
from ctsne.labels.column import GROUPS

VALUES = st.lists(
    st.one_of(st.none(), st.integers(-5, 5), st.floats(-1e9, 1e9)), min_size=1, max_size=60
)


@given(VALUES)
def test_groups_follow_the_ranks_of_the_present_numbers(values: list[Any]) -> None:
    column = encode_number(values)
    numbers = np.array([np.nan if value is None else value for value in values], float)
    known = np.isfinite(numbers)
    assert np.array_equal(column.codes >= 0, known)
    assert np.array_equal(column.numbers, numbers, equal_nan=True)
    ranks = (rankdata(numbers[known]) - 0.5) / max(1, known.sum())
    np.testing.assert_allclose(column.ranks[known], ranks)
    wanted = np.unique(np.floor(ranks * GROUPS), return_inverse=True)[1]
    assert np.array_equal(column.codes[known], wanted)
    assert column.counts.tolist() == np.bincount(wanted).tolist() * bool(known.any())
    assert len(set(column.names)) == column.n_labels <= GROUPS
    assert np.array_equal(column.groups_of(numbers), column.codes)


def test_many_numbers_have_ten_groups_of_equal_size_whatever_their_scale() -> None:
    values = np.random.default_rng(0).lognormal(sigma=5, size=1000)
    column = encode_number(values)
    assert column.counts.tolist() == [100] * GROUPS
    assert np.array_equal(column.codes, encode_number(np.log(values)).codes)
    assert column.describe().startswith("a number from ") and not column.is_identifier
    # New numbers belong to the nearest group, those beyond the ends to the outer ones.
    assert column.groups_of(np.array([-1.0, np.inf, np.nan])).tolist() == [0, GROUPS - 1, -1]
    part = column.take(np.arange(50))
    assert np.array_equal(part.numbers, values[:50]) and part.names == column.names


def test_circular_numbers_are_near_across_the_end() -> None:
    hours = np.array([23.75, 0.25, 12.0, 24.25, -0.25])
    column = encode_number(hours, period=24)
    np.testing.assert_allclose(column.numbers, [23.75, 0.25, 12.0, 0.25, 23.75])
    ranks = np.array([0.95, 0.05, 0.5])
    np.testing.assert_allclose(column.rank_gaps(ranks[:, None], ranks)[0], [0, 0.1, 0.45])
    assert column.groups_of(np.array([48.25]))[0] == column.codes[1]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_numbers_and_whole_columns_of_them(missing: Any) -> None:
    column = encode_number(pd.Series([1.5, missing, 3.0], dtype=object))
    assert column.codes.tolist() == [0, -1, 1] and column.names == ("1.5", "3")
    assert encode_number([missing, missing]).n_labels == 0


def test_labels_and_numbers_are_joined_by_name() -> None:
    labels = encode_labels({"batch": list("aabb")})
    both = add_numbers(labels, {"age": [4, 3, 2, 1], "hour": [0, 6, 12, 30]}, period={"hour": 24})
    assert both is not None and both.names == ("batch", "age", "hour")
    assert list(both.numbers) == ["age", "hour"] and both.columns[2].period == 24
    assert both.numbers["hour"].tolist() == [0, 6, 12, 6]
    assert add_numbers(labels, None) is labels
    alone = add_numbers(None, [4, 3, 2, 1], period=2)
    assert alone is not None and alone.names == ("number",)


@pytest.mark.parametrize(
    ("numbers", "period", "message"),
    [
        ({"age": list("abcd")}, None, "column 'age' of numbers must hold numbers, got 'a'"),
        ({"age": [1, 2, 3, np.inf]}, None, "must hold finite numbers"),
        ({"age": [1, 2, 3]}, None, "one entry for each of the 4 points"),
        ({"batch": [1, 2, 3, 4]}, None, "several columns named 'batch'"),
        ({"a": [1] * 4, "b": [1] * 4, "c": [1] * 4}, None, "at most 3 are possible"),
        (None, 24, "numbers_period needs numbers"),
        ({"age": [1, 2, 3, 4]}, 0, "numbers_period must be above 0"),
        ({"age": [1, 2, 3, 4]}, {"aeg": 2}, "numbers_period names 'aeg'.*did you mean 'age'"),
        ({"a": [1] * 4, "b": [1] * 4}, 2, "must be a mapping"),
    ],
)
def test_numbers_that_cannot_be(numbers: Any, period: Any, message: str) -> None:
    labels = encode_labels({"batch": list("aabb")})
    with pytest.raises((TypeError, ValueError), match=message):
        add_numbers(labels, numbers, n=4, period=period)
