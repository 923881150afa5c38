"""Measures of several label columns: of each, and of their combination."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne.evaluate import (
    adjusted_rnx,
    data_neighbors,
    evaluate,
    expected_laplacian,
    laplacian,
    lisi,
    measure_map,
    mixing,
)
from ctsne.labels import combine_columns, encode_labels

RNG = np.random.default_rng(0)
N = 200
X = RNG.normal(size=(N, 4))
Y = X[:, :2] + 0.1 * RNG.normal(size=(N, 2))
DONOR = RNG.choice(["d1", "d2", "d3"], N)
BATCH = np.where(X[:, 0] + RNG.normal(size=N) > 0, "a", "b")
COLUMNS = {"donor": DONOR, "batch": BATCH}


@pytest.mark.parametrize(
    "labels",
    [COLUMNS, pd.DataFrame(COLUMNS), encode_labels(COLUMNS)],
    ids=["mapping", "frame", "encoded"],
)
def test_each_column_is_measured_by_itself(labels: Any) -> None:
    measures = measure_map(Y, data_neighbors(X, labels))
    for name, column in COLUMNS.items():
        assert measures[f"mixing ({name})"] == mixing(Y, column)
        assert measures[f"laplacian ({name})"] == laplacian(Y, column)
        assert measures[f"ilisi ({name})"] == lisi(Y, column)
    alone = measure_map(Y, data_neighbors(X, combine_columns([DONOR, BATCH])))
    assert {name: measures[name] for name in alone} == alone  # the combination, as before
    assert measures["adjusted_rnx"] == adjusted_rnx(Y, X, combine_columns([DONOR, BATCH]))


def test_one_column_has_no_measures_by_column() -> None:
    plain = measure_map(Y, data_neighbors(X, BATCH))
    assert not any("(" in name for name in plain)
    assert measure_map(Y, data_neighbors(X, {"batch": BATCH})) == plain


def test_the_table_names_the_columns() -> None:
    table = evaluate(Y, X, COLUMNS, other=BATCH)
    rows = table.set_index(["measure", "label"])
    assert set(table.loc[table["measure"] == "mixing", "label"]) == {
        "donor",
        "batch",
        "donor | batch",
        "other",
    }
    assert rows.loc[("laplacian", "donor"), "expected"] == expected_laplacian(DONOR)
    assert rows.loc[("mixing", "batch"), "value"] == mixing(Y, BATCH)
    assert rows.loc[("adjusted_rnx", "donor | batch"), "value"] == adjusted_rnx(
        Y, X, combine_columns([DONOR, BATCH])
    )
    shared = evaluate(Y, X, COLUMNS, other=BATCH, data=data_neighbors(X, COLUMNS))
    pd.testing.assert_frame_equal(table, shared)


def test_missing_entries_count_in_their_own_column_only() -> None:
    some = DONOR.astype(object)
    some[::2] = None
    measures = measure_map(Y, data_neighbors(X, {"donor": some, "batch": BATCH}))
    assert measures["mixing (batch)"] == mixing(Y, BATCH)
    assert measures["mixing (donor)"] == mixing(Y, some)


def test_a_column_with_one_value_cannot_be_measured() -> None:
    measures = measure_map(Y, data_neighbors(X, {"donor": ["same"] * N, "batch": BATCH}))
    assert np.isnan(measures["mixing (donor)"]) and np.isfinite(measures["mixing (batch)"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"donor": DONOR[:-1], "batch": BATCH}, "donor.* must have one entry for each of the 200"),
        (dict.fromkeys("abcd", BATCH), "labels has 4 columns; at most 3"),
        (pd.DataFrame(np.array([DONOR, BATCH]).T, columns=["a", "a"]), "several columns named 'a'"),
        ({}, "labels is a mapping without columns"),
    ],
)
def test_refused(labels: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        evaluate(Y, X, labels)
    with pytest.raises((TypeError, ValueError), match=message):
        data_neighbors(X, labels)
