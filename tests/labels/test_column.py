"""Label columns of every kind, their codes and the messages for what is refused."""

import datetime
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import labels as labels_module
from ctsne.labels import encode_column

NAN = float("nan")
DAY = datetime.date(2024, 5, 1)
MIDNIGHT = datetime.datetime(2024, 5, 1)


@pytest.mark.parametrize(
    ("column", "codes", "names"),
    [
        (["b", "a", None, "b"], [1, 0, -1, 1], ("a", "b")),
        ((3, 1, 3), [1, 0, 1], (1, 3)),
        (range(3), [0, 1, 2], (0, 1, 2)),
        ([1.0, NAN, 2], [0, -1, 1], (1.0, 2)),
        ([["b"], ["a"]], [1, 0], ("a", "b")),
        ([("a", 1), ("b", 1), ("a", 1)], [0, 1, 0], (("a", 1), ("b", 1))),
        ([2, "a", 1.5], [1, 2, 0], (1.5, 2, "a")),
        ([], [], ()),
        ([None, NAN], [-1, -1], ()),
        (np.array(["y", "x"]), [1, 0], ("x", "y")),
        (np.array([b"y", b"x"]), [1, 0], (b"x", b"y")),
        (np.array([7, -2, 7], np.int8), [1, 0, 1], (-2, 7)),
        (np.array([[5], [4]]), [1, 0], (4, 5)),
        (np.array([2.0, NAN, 1.0], np.float16), [1, -1, 0], (1.0, 2.0)),
        (np.array([True, False]), [1, 0], (False, True)),
        (np.array(["2024-05-01", "NaT"], "M8[D]"), [0, -1], (DAY,)),
        (np.array(["2024-05-01", "NaT"], "M8[ns]"), [0, -1], (MIDNIGHT,)),
        (np.array([np.float64("nan"), None, np.str_("a")], object), [-1, -1, 0], ("a",)),
        (np.ma.masked_array([3, 1, 2], [False, True, False]), [1, -1, 0], (2, 3)),
        (pd.Series(["b", None, "a"], index=[5, 5, 6]), [1, -1, 0], ("a", "b")),
        (pd.Series([2, None, 1], dtype="Int64"), [1, -1, 0], (1, 2)),
        (pd.Series([True, None], dtype="boolean"), [0, -1], (True,)),
        (pd.Series([pd.NA, 1, pd.NaT, "x"], dtype=object), [-1, 0, -1, 1], (1, "x")),
        (pd.Series([pd.NaT, pd.Timestamp(MIDNIGHT)]), [-1, 0], (MIDNIGHT,)),
        (pd.Index(["b", "a"]), [1, 0], ("a", "b")),
        (pd.array([2.5, None], dtype="Float64"), [0, -1], (2.5,)),
        (pd.DataFrame({"batch": [2, 1]}), [1, 0], (1, 2)),
        (pl.Series(["b", None, "a"]), [1, -1, 0], ("a", "b")),
        (pl.Series([2**60 + 1, None, 1]), [1, -1, 0], (1, 2**60 + 1)),
        (pl.Series([1.5, NAN, None]), [0, -1, -1], (1.5,)),
        (pl.Series(["z", "a", None], dtype=pl.Enum(["z", "m", "a"])), [0, 1, -1], ("z", "a")),
        (pl.DataFrame({"batch": [2, 1]}), [1, 0], (1, 2)),
        (pl.Series([2**100, None, 1], dtype=pl.Int128), [1, -1, 0], (1, 2**100)),
        (pa.array([2**53 + 1, None, 2**53]), [1, -1, 0], (2**53, 2**53 + 1)),
        (pa.chunked_array([["b", None], ["a"]]), [1, -1, 0], ("a", "b")),
        (pa.table({"batch": [2, 1]}), [1, 0], (1, 2)),
    ],
)
def test_every_kind_of_column(column: Any, codes: list[int], names: tuple[object, ...]) -> None:
    encoded = encode_column(column, n=len(codes))
    assert encoded.codes.tolist() == codes
    assert encoded.names == names
    assert [type(a) for a in encoded.names] == [type(b) for b in names]
    assert encoded.codes.dtype == np.int32 and encoded.counts.dtype == np.int64
    assert encoded.counts.tolist() == [codes.count(code) for code in range(len(names))]
    assert encoded.n_missing == codes.count(-1)


@pytest.mark.parametrize("wrap", [pd.Categorical, pd.CategoricalIndex, pd.Series, pd.DataFrame])
def test_pandas_categories_keep_their_order_and_lose_the_unused(wrap: Any) -> None:
    column = pd.Categorical(["low", "high", None], categories=["low", "middle", "high"])
    encoded = encode_column(column if wrap is pd.Categorical else wrap(column))
    assert encoded.codes.tolist() == [0, 1, -1]
    assert encoded.names == ("low", "high")


def test_fine_dates_that_python_cannot_hold_stay_as_they_are() -> None:
    column = np.array([1, 2], "M8[ns]")
    assert encode_column(column).names == tuple(column)


def test_encoding_twice_changes_nothing() -> None:
    encoded = encode_column(["a", "b"])
    assert encode_column(encoded, n=2) is encoded


@given(st.lists(st.sampled_from([None, -1, 0, 1, 2, "1", "a", "", True, 1.0, 0.5]), max_size=30))
def test_names_at_codes_are_the_labels(column: list[Any]) -> None:
    encoded = encode_column(column)
    for label, code in zip(column, encoded.codes, strict=True):
        assert (label is None) if code < 0 else (encoded.names[code] == label)
    assert len(set(encoded.names)) == encoded.n_labels == len(set(column) - {None})
    assert encoded.counts.sum() + encoded.n_missing == encoded.n_points == len(column)


@given(st.lists(st.text(max_size=3), min_size=1))
def test_containers_agree(column: list[str]) -> None:
    expected = encode_column(column)
    for other in (np.array(column, object), pd.Series(column), pl.Series(column)):
        encoded = encode_column(other)
        assert encoded.names == expected.names == tuple(sorted(set(column)))
        assert encoded.codes.tolist() == expected.codes.tolist()


@pytest.mark.parametrize(
    ("column", "error", "says"),
    [
        (None, TypeError, "batch must be a label column, got None"),
        ("abc", TypeError, "got str 'abc'"),
        (3, TypeError, "got int 3"),
        (np.array("a"), TypeError, "got ndarray"),
        ({"a": 1}, TypeError, "got dict"),
        ({1, 2}, TypeError, "got set"),
        ((i for i in range(3)), TypeError, "got generator"),
        (["a", [1], "b"], TypeError, "batch .*unhashable type: 'list'"),
        ([["a"], ["b", "c"], ["d"]], TypeError, "batch .*unhashable type: 'list'"),
        (np.zeros(3, complex), TypeError, "batch .* complex128"),
        ([["a", "b"], ["c", "d"]], ValueError, "batch must have one entry for each of .*got 2"),
        (np.zeros((1, 3)), ValueError, "batch must have one entry for each of the 3 points.*got 1"),
        (np.zeros((3, 0)), ValueError, r"batch must be one column or several.*\(3, 0\)"),
        (pd.DataFrame(index=range(3)), ValueError, "batch is a data frame without columns"),
        (np.zeros((3, 1, 1)), ValueError, r"batch must be one column.*\(3, 1, 1\)"),
        (pd.DataFrame({"a": [1], "b": [2]}), ValueError, "batch must have one entry.*got 1"),
        (["a", "b"], ValueError, "batch must have one entry for each of the 3 points.*got 2"),
        (encode_column(["a"]), ValueError, "batch must have one entry for each of the 3 points"),
    ],
)
def test_refused(column: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        encode_column(column, n=3, argument="batch")


def test_several_columns_are_combined() -> None:
    donor, sex = ["a", "b", "a", None], [1, 2, 1, 2]
    array = np.array([donor, sex], object).T
    frame = pd.DataFrame({"donor": donor, "sex": sex})
    for columns in (array, array.tolist(), frame, pl.DataFrame({"donor": donor, "sex": sex})):
        labels = encode_column(columns, n=4)
        assert labels.names == ("a | 1", "b | 2")
        assert labels.codes.tolist() == [0, 1, 0, -1]


def test_describe() -> None:
    assert encode_column(["a", 1.0, None]).describe() == "2 labels (1: 1, a: 1), 1 missing"
    assert encode_column(["a", "a"]).describe() == "1 label (a: 2)"
    assert encode_column([None]).describe() == "0 labels, 1 missing"
    assert encode_column(range(9)).describe().endswith("4: 1, ...)")
    assert len(encode_column(["x" * 1000]).describe()) < 100


class TestPerLabel:
    def test_number_is_repeated(self) -> None:
        column = encode_column(["a", "b"])
        values: list[Any] = [2, 2.0, np.float32(2), np.array(2)]
        for value in values:
            assert column.per_label(value, argument="beta").tolist() == [2.0, 2.0]

    def test_mapping_finds_labels_by_value_and_by_text(self) -> None:
        column = encode_column([1.0, 2.0, NAN, 10.0])
        for mapping in ({1: 0.1, 2: 0.2, 10: 0.3}, {"10": 0.3, "1": 0.1, "2.0": 0.2}):
            assert column.per_label(mapping, argument="beta").tolist() == [0.1, 0.2, 0.3]

    def test_value_goes_before_text(self) -> None:
        column = encode_column([1, "1"])
        assert column.per_label({"1": 0.1, 1: 0.2}, argument="beta").tolist() == [0.2, 0.1]
        with pytest.raises(ValueError, match="has none for 1;"):
            column.per_label({"1": 0.1}, argument="beta")

    @pytest.mark.parametrize(
        ("value", "error", "says"),
        [
            ({"blue": 1}, ValueError, "beta .* has none for 'orange'; .*2 labels"),
            ({"blu": 1}, ValueError, "beta names 'blu'.*'blue', 'orange'.*did you mean 'blue'"),
            ({"blue": 1, None: 1}, ValueError, "beta names None"),
            ({"blue": 1, "orange": "x"}, TypeError, r"beta\['orange'\] must be a number"),
            ({"blue": 1, "orange": NAN}, ValueError, r"beta\['orange'\] must be finite"),
            ("0.1", TypeError, "beta must be a number, or a mapping.*got str '0.1'"),
            (True, TypeError, "beta must be a number"),
            ([0.1, 0.2], TypeError, "beta must be a number"),
            (float("inf"), ValueError, "beta must be finite"),
        ],
    )
    def test_refused(self, value: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            encode_column(["blue", "orange"]).per_label(value, argument="beta")

    def test_one_label_named_twice(self) -> None:
        with pytest.raises(ValueError, match="names the label 1 twice"):
            encode_column([1]).per_label({1: 0.1, "1": 0.1}, argument="beta")

    def test_no_labels(self) -> None:
        assert encode_column([None]).per_label({}, argument="beta").shape == (0,)
        assert encode_column([None]).per_label(1.0, argument="beta").shape == (0,)


@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
def test_as_many_labels_as_points(kind: Any) -> None:
    n = 300_000  # anything quadratic would take hours
    column = np.random.default_rng(0).permutation(n).astype(kind)
    encoded = encode_column(column)
    assert encoded.n_labels == n
    np.testing.assert_array_equal(encoded.codes, column.astype(np.int64))


def test_data_frame_libraries_are_not_imported() -> None:
    script = (
        "import sys, runpy; runpy.run_path(sys.argv[1], run_name='labels');"
        "assert not {'pandas', 'polars'} & set(sys.modules)"
    )
    path = str(labels_module.__file__)
    subprocess.run([sys.executable, "-c", script, path], check=True, timeout=60)
