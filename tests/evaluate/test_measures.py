"""The table of all measures."""

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from ctsne import ConditionalTSNE
from ctsne._core.vocabulary import MEASURES
from ctsne.evaluate import (
    adjusted_rnx,
    data_neighbors,
    evaluate,
    laplacian,
    measure_map,
    mixing,
    summarize_diagnostics,
)
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy
from ctsne.evaluate.rnx import adjusted_jaccard
from ctsne.labels import combine_columns, encode_column, encode_labels

from .. import reference as formulas
from .cases import Case, cases

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    batch = pd.Series(rng.choice(["u", "v"], 200), name="batch")
    kind = pd.Series(np.where(X[:, 0] > 0, "p", None), dtype=object)
    return {"embedding": X[:, :2], "X": X, "labels": batch, "other": kind}


def test_holds_what_the_measures_say(case: dict[str, Any]) -> None:
    Y, X, batch, kind = case.values()
    own = kind.notna()
    result = evaluate(**case, k=10)
    assert list(result.columns) == ["measure", "label", "k", "value", "expected", "points"]
    assert (result.points == 200).all()
    values = {
        (row.measure, row.label): row.value for row in result.fillna({"label": ""}).itertuples()
    }
    expected = {
        ("rnx", ""): adjusted_rnx(Y, X, k=10),
        ("adjusted_rnx", "batch"): adjusted_rnx(Y, X, batch, k=10),
        ("adjusted_jaccard", "batch"): adjusted_jaccard(Y, X, batch, k=10),
        ("adjusted_rnx_area", "batch"): formulas.rnx_area(Y, X, encode_column(batch).codes, 198),
        ("mixing", "batch"): mixing(Y, batch, k=10),
        ("laplacian", "batch"): laplacian(Y, batch, k=10),
        ("mixing", "other"): mixing(Y, kind, k=10),
        ("laplacian", "other"): laplacian(Y, kind, k=10),
        ("knn_accuracy", "other"): knn_accuracy(Y, kind, k=10),
        ("rnx_within", "other"): adjusted_rnx(Y[own], X[own], batch[own], k=10),
    }
    assert values == pytest.approx(expected, nan_ok=True)
    chance = result.set_index(["measure", "label"]).expected["laplacian", "batch"]
    assert chance == expected_laplacian(batch)


def test_sample_and_given_lists(case: dict[str, Any]) -> None:
    some = evaluate(**case, k=10, sample=0.3)
    assert (some.points == 60).all()
    data = data_neighbors(case["X"], case["labels"], k=15, sample=0.3)
    pd.testing.assert_frame_equal(evaluate(**case, k=10, data=data), some)


def test_whole_rankings_only_of_some_points(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctsne.evaluate.measures._RANKED_POINTS", 50)
    result = evaluate(**case, k=10).set_index("measure")
    assert result.points["adjusted_rnx"] == 200
    assert result.points["adjusted_rnx_area"] == 50
    codes = encode_column(case["labels"]).codes
    area = formulas.rnx_area(case["embedding"], case["X"], codes, 198)
    assert result.value["adjusted_rnx_area"] == pytest.approx(area, abs=0.05)


def test_without_labels_and_with_few_points(case: dict[str, Any]) -> None:
    result = evaluate(case["embedding"], case["X"], k=10)
    assert result.measure.tolist() == ["rnx", "rnx_area"]
    for n in (3, 4, 5, 8):
        rows = np.random.default_rng(n).normal(size=(n, 2))
        small = evaluate(rows, rows, ["a", "b"] + ["a"] * (n - 2), k=1)
        assert small.set_index("measure").value["adjusted_rnx"] == 1


@given(cases(), st.data())
def test_neighbours_kept_within_types_agree_with_the_reference(case: Case, data: Any) -> None:
    n = len(case.codes)
    types = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 2)))
    named = [None if code < 0 else "xyz"[code] for code in types]
    for labels, codes in ((case.labels, case.codes), (None, None)):
        expected = formulas.rnx_within(case.embedding, case.X, codes, types, case.k)
        lists = data_neighbors(case.X, labels, k=case.k)
        measured = measure_map(case.embedding, lists, other=named)["other_rnx_within"]
        assert measured == pytest.approx(expected, abs=1e-9, nan_ok=True)
    distances = cdist(case.X, case.X)
    given_distances = data_neighbors(distances, k=case.k, metric="precomputed")
    assert "other_rnx_within" not in measure_map(case.embedding, given_distances, other=named)


def test_diagnostics(case: dict[str, Any]) -> None:
    model = ConditionalTSNE(method="balanced", strength=1.0, perplexity=10, n_iter=1)
    model.fit(case["X"], labels=case["labels"])
    result = summarize_diagnostics(model.diagnostics_)
    assert result["perplexity_median"] == pytest.approx(10, rel=1e-3)
    # At full strength the share of other labels is that of a random draw.
    n, counts = len(case["X"]), np.unique(case["labels"], return_counts=True)[1]
    assert result["other_share_mean"] == pytest.approx(
        (counts * (n - counts)).sum() / (n * (n - 1)), rel=1e-3
    )
    assert result["reached"] == 1
    explained = set(MEASURES) | {name.removeprefix("other_") for name in MEASURES}
    found = {*result, *evaluate(**case)["measure"]}
    assert found <= explained and "rnx_area" in explained


def test_says_what_to_install(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "ctsne\[cli\]"'):
        evaluate(**case)


# Several label columns: measures of each, and of their combination

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
    alone = measure_map(Y, data_neighbors(X, combine_columns([DONOR, BATCH])))
    assert {name: measures[name] for name in alone} == alone  # the combination, as before
    assert measures["adjusted_rnx"] == adjusted_rnx(Y, X, combine_columns([DONOR, BATCH]))


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


def test_columns_that_lack_something_and_a_single_one() -> None:
    some = DONOR.astype(object)
    some[::2] = None
    measures = measure_map(Y, data_neighbors(X, {"donor": some, "batch": BATCH}))
    assert measures["mixing (batch)"] == mixing(Y, BATCH)
    assert measures["mixing (donor)"] == mixing(Y, some)
    measures = measure_map(Y, data_neighbors(X, {"donor": ["same"] * N, "batch": BATCH}))
    assert np.isnan(measures["mixing (donor)"]) and np.isfinite(measures["mixing (batch)"])
    plain = measure_map(Y, data_neighbors(X, BATCH))
    assert not any("(" in name for name in plain)
    assert measure_map(Y, data_neighbors(X, {"batch": BATCH})) == plain


def test_what_is_refused() -> None:
    data = data_neighbors(X, BATCH, k=5)
    for says, changes in (
        ("k must be at most 5", {"data": data, "k": 6}),
        ("same labels", {"data": data, "labels": DONOR}),
        ("same points", {"X": X[1:], "labels": None}),
        ("other", {"other": [1, 2]}),
        ("donor", {"labels": {"donor": DONOR[:-1], "batch": BATCH}}),
        ("labels has 4 columns", {"labels": dict.fromkeys("abcd", BATCH)}),
        ("labels is a mapping without columns", {"labels": {}}),
    ):
        given: dict[str, Any] = {"embedding": Y, "X": X, "labels": BATCH, "k": 5, **changes}
        with pytest.raises((TypeError, ValueError), match=says):
            evaluate(**given)
