"""The table of all measures."""

import builtins
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne._core.vocabulary import MEASURES
from ctsne.evaluate import (
    adjusted_jaccard,
    adjusted_rnx,
    data_neighbors,
    evaluate,
    expected_laplacian,
    knn_accuracy,
    laplacian,
    lisi,
    mixing,
    rnx_curve,
)

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
        ("adjusted_rnx_area", "batch"): rnx_curve(Y, X, batch).area,
        ("mixing", "batch"): mixing(Y, batch, k=10),
        ("laplacian", "batch"): laplacian(Y, batch, k=10),
        ("mixing", "other"): mixing(Y, kind, k=10),
        ("laplacian", "other"): laplacian(Y, kind, k=10),
        ("ilisi", "batch"): lisi(Y, batch),
        ("clisi", "other"): lisi(Y, kind),
        ("knn_accuracy", "other"): knn_accuracy(Y, kind, k=10),
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
    area = rnx_curve(case["embedding"], case["X"], case["labels"]).area
    assert result.value["adjusted_rnx_area"] == pytest.approx(area, abs=0.05)


def test_without_labels_and_with_few_points(case: dict[str, Any]) -> None:
    result = evaluate(case["embedding"], case["X"], k=10)
    assert result.measure.tolist() == ["rnx", "rnx_area"]
    for n in (3, 4, 5, 8):
        rows = np.random.default_rng(n).normal(size=(n, 2))
        small = evaluate(rows, rows, ["a", "b"] + ["a"] * (n - 2), k=1)
        assert ("ilisi" in set(small.measure)) == (n >= 5)
        assert small.set_index("measure").value["adjusted_rnx"] == 1


def test_diagnostics(case: dict[str, Any]) -> None:
    model = ConditionalTSNE(method="balanced", strength=1.0, perplexity=10, n_iter=1)
    model.fit(case["X"], labels=case["labels"])
    result = evaluate(**case, diagnostics=model.diagnostics_).set_index("measure")
    assert result.value["perplexity_median"] == pytest.approx(10, rel=1e-3)
    # At full strength the share of other labels is that of a random draw.
    assert result.value["other_share_mean"] == pytest.approx(
        result.expected["other_share_mean"], rel=1e-3
    )
    assert result.value["reached"] == 1
    explained = set(MEASURES) | {name.removeprefix("other_") for name in MEASURES}
    assert set(result.index) <= explained and "rnx_area" in explained


def test_says_what_to_install(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pandas(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="pip install pandas"):
        evaluate(**case)


def test_refused(case: dict[str, Any]) -> None:
    data = data_neighbors(case["X"], case["labels"], k=5)
    with pytest.raises(ValueError, match="data must hold 6 neighbours among 200 points, got 5"):
        evaluate(**case, k=6, data=data)
    with pytest.raises(ValueError, match="same labels"):
        evaluate(case["embedding"], case["X"], case["other"], k=5, data=data)
    with pytest.raises(ValueError, match="same points, got 199 and 200"):
        evaluate(case["embedding"], case["X"][1:], k=5)
    with pytest.raises(ValueError, match=r"other .*200 points.*2"):
        evaluate(**{**case, "other": [1, 2]}, k=5)
