from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import pl
from ctsne.report.columns import matched_column, read_column, read_feature, short_text

ROWS = np.array([3, 0, 2, 1])


def content(values: Any, rows: Any = ROWS, **options: Any) -> tuple[dict[str, Any], list[int]]:
    column = read_column("c", values, n=len(values), **{"as_labels": False, **options})
    facts, packed = column.pack(np.asarray(rows))
    return facts, packed.tolist()


def test_labels_are_codes_from_one_and_missing_is_zero() -> None:
    facts, codes = content(["b", None, "a", "b"])
    assert facts["labels"] == ["a", "b"] and facts["counts"] == [1, 2] and facts["missing"] == 1
    assert facts["group"] == "column"
    assert codes == [2, 2, 1, 0]


def test_colours_are_those_of_every_other_picture() -> None:
    values = pd.Categorical(["low", "high", "low", "mid"], categories=["low", "mid", "high", "no"])
    facts, _ = content(values)
    assert facts["labels"] == ["low", "mid", "high"]
    assert dict(zip(facts["labels"], facts["colors"], strict=True)) == pl.palette(values)


def test_labels_of_points_that_are_not_shown_are_left_out() -> None:
    facts, codes = content(list("abcdef"), rows=[4, 1])
    assert facts["labels"] == ["b", "e"] and facts["all"] == 6
    assert codes == [2, 1]


def test_counts_are_of_the_points_shown() -> None:
    facts, _ = content(["a", "b", "b", None, None, "b"], rows=[0, 1, 3])
    assert facts["counts"] == [1, 1] and facts["missing"] == 1
    values = np.arange(40.0)
    values[:5] = np.nan
    facts, _ = content(values, rows=[0, 7])
    assert facts["missing"] == 1


@pytest.mark.parametrize("values", [[0, 0, 3, 1], [2.5] * 4, [np.nan] * 4, pd.Series([1, 2, 3, 4])])
def test_features_are_on_a_scale_however_few_values_they_have(values: Any) -> None:
    facts, steps = read_feature("g", values, n=4).pack(ROWS)
    assert facts["kind"] == "numbers" and facts["group"] == "gene"
    numbers = np.asarray(values, float)[ROWS]
    assert [step == 0 for step in steps] == np.isnan(numbers).tolist()
    assert steps.dtype == np.uint8 and facts["top"] == 255 and facts["cut"] == [False, False]
    shown = facts["low"] + (steps - 1.0) / 254 * (facts["high"] - facts["low"])
    np.testing.assert_allclose(shown[steps > 0], numbers[steps > 0], atol=3 / 508)


def test_extreme_values_of_a_feature_leave_steps_to_the_others() -> None:
    values = np.append(np.linspace(0, 1, 4999), 1e6)
    facts, steps = read_feature("g", values, n=5000).pack(np.arange(5000))
    assert facts["high"] < 1 and facts["cut"] == [True, True]
    assert len(set(steps[:-1].tolist())) == 255 and steps[-1] == 255
    rare = np.append(np.zeros(4999), 7.0)  # few values differ, so these are what there is to see
    facts, steps = read_feature("g", rare, n=5000).pack(np.arange(5000))
    assert facts["high"] == 7 and facts["cut"] == [False, False] and steps[-1] == 255


def test_features_must_be_numbers_of_all_points() -> None:
    with pytest.raises(TypeError, match=r"features\['g'\] must hold numbers"):
        read_feature("g", ["a", "b"], n=2)
    with pytest.raises(ValueError, match=r"features\['g'\] must have the shape \(3,\), got \(2,\)"):
        read_feature("g", [1, 2], n=3)


def test_points_without_counterparts_are_counted() -> None:
    facts, steps = matched_column(np.array([0, 0.01, 0.5, 0.9], np.float32)).pack(ROWS)
    assert (facts["group"], facts["low"], facts["high"]) == ("diagnostic", 0, 1)
    assert "0: no counterpart" in facts["about"] and "2 of 4 points have none" in facts["about"]
    assert steps.argmin() == 1


def test_plain_numbers_are_read_as_any_others() -> None:
    values = np.random.default_rng(0).normal(size=200).round(2)
    for plain in (values, (100 * values).astype(int), values.astype(np.float32)):
        assert content(plain) == content(plain.tolist())


def test_many_numbers_are_a_scale() -> None:
    values = np.linspace(-2, 8, 101)
    values[7], values[8] = np.nan, np.inf
    facts, steps = content(values, rows=[0, 100, 50, 7, 8])
    assert (facts["kind"], facts["low"], facts["high"], facts["missing"]) == ("numbers", -2, 8, 2)
    assert steps == [1, 65535, 32768, 0, 0]
    assert content(np.arange(101))[0]["kind"] == "numbers"


@pytest.mark.parametrize(
    "values",
    [
        2 * np.linspace(-7e307, 7e307, 50),
        [10**400 + i for i in range(50)],
        np.arange(50) % 7,
        np.arange(50) % 2 == 0,
        [str(i) for i in range(50)],
        pd.date_range("2020", periods=50),
    ],
)
def test_other_columns_hold_up(values: Any) -> None:
    facts, packed = content(values, rows=np.arange(50))
    assert min(packed) >= 1
    many_floats = isinstance(values, np.ndarray) and values.dtype == float
    assert facts["kind"] == ("numbers" if many_floats else "labels")


def test_numbers_of_the_known_column_are_labels() -> None:
    assert content(np.arange(101), as_labels=True)[0]["kind"] == "labels"


def test_very_many_labels_are_texts_to_read() -> None:
    names = [f"cell {i}" for i in range(1_001)]
    facts, codes = content(names, rows=[4, 1])
    assert facts["kind"] == "texts" and facts["labels"] == ["cell 1", "cell 4"]
    assert facts["all"] == 1_001 and "colors" not in facts and codes == [2, 1]
    assert content(names[1:])[0]["kind"] == content(names, as_labels=True)[0]["kind"] == "labels"


def test_codes_take_as_few_bytes_as_they_can() -> None:
    for n, size in ((255, 1), (256, 2), (65_535, 2), (65_536, 4)):
        column = read_column("c", [f"{i}" for i in range(n)], n=n, as_labels=True)
        assert column.pack(np.arange(n))[1].dtype.itemsize == size


def test_texts() -> None:
    assert [short_text(each) for each in (3.0, 2.5, True, "x")] == ["3", "2.5", "True", "x"]
    assert short_text("x" * 10_000) == "x" * 499 + "…"
    assert short_text(float("inf")) == "inf"


def test_wrong_length_names_the_column() -> None:
    with pytest.raises(ValueError, match=r"columns\['c'\] must have one entry for each of the 3"):
        read_column("c", ["a"], n=3, as_labels=False)
