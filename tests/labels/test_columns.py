"""Several label columns: what is accepted, combined labels, nested columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne.labels import Labels, encode_column, encode_labels

DONOR = [1, 1, 2, 3, 3, 2]
BATCH = ["a", "a", "b", "a", None, "b"]


def encoded(labels: object, **arguments: Any) -> Labels:
    result = encode_labels(labels, **arguments)
    assert isinstance(result, Labels)
    return result


@pytest.mark.parametrize("n", [None, 6])
@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ({"donor": DONOR, "batch": BATCH}, ("donor", "batch")),
        (pd.DataFrame({"donor": DONOR, "batch": BATCH}), ("donor", "batch")),
        (pl.DataFrame({"donor": DONOR, "batch": BATCH}), ("donor", "batch")),
        (pa.table({"donor": DONOR, "batch": BATCH}), ("donor", "batch")),
        ([pa.array(DONOR), pa.array(BATCH)], ("1", "2")),
        (
            pd.MultiIndex.from_arrays([DONOR, BATCH], names=["donor", "batch"]).to_frame(),
            ("donor", "batch"),
        ),
        ([DONOR, BATCH], ("1", "2")),
        ((np.array(DONOR), pd.Series(BATCH)), ("1", "2")),
        ([encode_column(DONOR), pd.Categorical(BATCH)], ("1", "2")),
        (np.array([DONOR, BATCH], object).T, ("1", "2")),
        ([list(row) for row in zip(DONOR, BATCH, strict=True)], ("1", "2")),
    ],
)
def test_all_kinds_of_columns_are_read(labels: Any, names: tuple[str, ...], n: int | None) -> None:
    found = encoded(labels, n=n)
    assert found.names == names
    assert (found.n_points, found.n_columns) == (6, 2)
    for column, expected in zip(found.columns, (DONOR, BATCH), strict=True):
        plain = encode_column(expected)
        np.testing.assert_array_equal(column.codes, plain.codes)
        assert column.names == plain.names
    assert found.codes.tolist() == [[0, 0], [0, 0], [1, 1], [2, 0], [2, -1], [1, 1]]
    assert found.codes.dtype == np.int32 and found.codes.flags.c_contiguous
    assert encode_labels(found, n=n) is found


@pytest.mark.parametrize(
    "labels",
    [
        BATCH,
        tuple(BATCH),
        np.array(BATCH, object),
        np.array(BATCH, object)[:, None],
        [BATCH],
        {"batch": BATCH},
        pd.Series(BATCH),
        pd.DataFrame({"batch": BATCH}),
        pl.Series(BATCH),
        pd.Categorical(BATCH),
        encode_column(BATCH),
    ],
)
def test_one_column_is_read_as_before(labels: Any) -> None:
    found, plain = encode_labels(labels, n=6), encode_column(BATCH)
    (column,) = found.columns
    assert found.combined is column and found.codes.shape == (6, 1)
    np.testing.assert_array_equal(column.codes, plain.codes)
    np.testing.assert_array_equal(column.counts, plain.counts)
    assert column.names == plain.names


def test_tuples_are_labels_not_columns() -> None:
    assert encode_labels([("a", 1), ("b", 2), ("a", 1)]).n_columns == 1


def test_combined_labels_hold_every_combination_that_occurs() -> None:
    found = encoded([["a", "b", None, None, "a"], [1, 1, 1, None, None]])
    assert found.combined.names == ("a | 1", "a | (missing)", "b | 1", "(missing) | 1")
    assert found.combined.codes.tolist() == [0, 2, 3, -1, 1]
    assert found.combined.counts.tolist() == [1, 1, 1, 1]


codes = st.lists(st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 3), min_size=1, max_size=30)


@given(codes)
def test_combined_labels_agree_with_the_rows(rows: list[tuple[str | None, ...]]) -> None:
    found = encoded(np.array(rows, object))
    for i, one in enumerate(rows):
        assert (found.combined.codes[i] < 0) == (set(one) == {None})
        for j, two in enumerate(rows):
            assert (found.combined.codes[i] == found.combined.codes[j]) == (one == two)
    counts = np.bincount(found.combined.codes[found.combined.codes >= 0])
    np.testing.assert_array_equal(found.combined.counts, counts)


@given(codes)
def test_points_that_differ_in_the_outer_column_differ_in_the_inner_one(
    rows: list[tuple[str | None, ...]],
) -> None:
    found = encoded(np.array(rows, object))
    a, b = found.codes[:, None], found.codes[None]
    differ = (a != b) & (a >= 0) & (b >= 0)
    for inner in range(3):
        for outer in range(3):
            nested = (inner, outer) in found.nested()
            assert not nested or inner != outer
            assert not nested or (differ[..., inner] | ~differ[..., outer]).all()


def test_nested_columns_are_recognised_and_reported() -> None:
    found = encoded({"donor": [1, 2, 3, 3, 2], "lab": list("xyxxy"), "day": [1, 1, 2, 1, 2]})
    assert found.nested() == ((0, 1),)
    assert found.describe().endswith("; donor is nested in lab")
    same = encoded({"donor": [1, 2, 1], "lab": ["y", "x", "y"]})
    assert same.nested() == ((0, 1), (1, 0))
    assert same.describe().endswith("; donor and lab are the same")
    # A donor with one lab and a gap is nested, a lab without a donor is not.
    assert encoded([[1, 1, 2], ["x", None, "y"]]).nested() == ((0, 1), (1, 0))[:1]
    assert (0, 1) not in encoded([[1, None, 2], ["x", "x", "y"]]).nested()


def test_some_points_and_some_columns() -> None:
    found = encoded([DONOR, BATCH, [0, 1] * 3])
    rows = np.array([5, 0, 4])
    part = found.take(rows)
    np.testing.assert_array_equal(part.codes, found.codes[rows])
    np.testing.assert_array_equal(part.combined.codes, found.combined.codes[rows])
    assert part.combined.counts.sum() == 3
    two = found.keep([0, 2])
    assert two.names == ("1", "3") and two.columns[1] is found.columns[2]
    assert found.keep([1]).combined is found.columns[1] and found.keep([0, 1, 2]) is found


def test_values_per_column() -> None:
    found = encoded({"donor": DONOR, "batch": BATCH})
    assert found.per_column(0.5, argument="strength") == {"donor": 0.5, "batch": 0.5}
    given = {"batch": 1, "donor": 0}
    assert found.per_column(given, argument="strength") == given
    with pytest.raises(ValueError, match=r"strength must give a number for every .* 'batch'"):
        found.per_column({"donor": 1}, argument="strength")
    with pytest.raises(ValueError, match=r"beta names 'donr', .* did you mean 'donor'"):
        found.per_column({"donr": 1, "batch": 1}, argument="beta")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros((6, 4)), "labels has 4 columns; at most 3"),
        ({}, "mapping without columns"),
        ({"a": DONOR, "b": BATCH[:5]}, "column 'b' of labels .* got 5"),
        ([DONOR, BATCH[:5]], "column '2' of labels .* got 5"),
        (pd.DataFrame([DONOR, DONOR], index=["a", "a"]).T, "several columns named 'a'"),
        (np.zeros((6, 2, 2)), "must be one column or several"),
        ([DONOR[:5]] * 2, "one entry for each of the 6 points"),
    ],
)
def test_what_is_refused(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode_labels(labels, n=6)


def test_columns_of_different_lengths_are_refused_without_a_number_of_points() -> None:
    with pytest.raises(ValueError, match="same length, got 6 entries in 'a' and 5 in 'b'"):
        encode_labels({"a": DONOR, "b": BATCH[:5]})


def test_columns_as_one_label() -> None:
    found = encode_column(encoded({"donor": DONOR, "batch": BATCH}))
    assert found.names == ("1 | a", "2 | b", "3 | a") and found.n_missing == 1


@pytest.mark.parametrize("rows", [[4.5], [9], [-1], [[0]], [], "a", None])
def test_rows_that_do_not_exist_are_refused(rows: Any) -> None:
    found = encoded({"donor": DONOR, "batch": BATCH})
    for take in (found.take, found.columns[0].take):
        with pytest.raises((TypeError, ValueError), match="must be"):
            take(rows)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=60),
    st.integers(0, 5),
)
def test_only_columns_of_values_that_nobody_shares_are_identifiers(
    sizes: list[int], missing: int
) -> None:
    values = [*np.repeat(np.arange(len(sizes)), sizes).tolist(), *[None] * missing]
    labels = encode_labels({"cell": values})
    alone = sizes.count(1)
    expected = sum(sizes) > 20 and sum(sizes) < 1.5 * len(sizes) and alone > len(sizes) / 2
    assert labels.columns[0].is_identifier == expected
    assert not encode_labels(values + values).columns[0].is_identifier  # all are shared now
    if expected:
        what = f"'cell' has {len(sizes)} different values for {sum(sizes)} points"
        with pytest.raises(ValueError, match=what):
            labels.refuse_identifiers()
