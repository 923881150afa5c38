"""Numbers to factor out, from the fit to new points and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE, load
from ctsne.evaluate import (
    data_neighbors,
    evaluate,
    laplacian,
    map_neighbors,
    measure_map,
    mixing,
    mixing_by_label,
)
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy
from ctsne.labels import encode_number
from ctsne.neighbors.alignment import TREND_STEPS, TREND_WIDTH, without_trend

from ..drifting import drifting

X, AGE, TYPE = drifting(600)
QUICK: dict[str, Any] = {"perplexity": 15, "n_iter": 300, "random_state": 0}


def fitted(**options: Any) -> ConditionalTSNE:
    return ConditionalTSNE(**{**QUICK, **options}).fit(X, numbers={"age": AGE})


def gap(positions: Any, values: Any, k: int = 30, period: float | None = None) -> float:
    """The mean rank difference to the neighbours, relative to that of all pairs of points."""
    ranks = encode_number(values, period=period).ranks
    near = map_neighbors(positions, k=k).indices
    far, all_pairs = np.abs(ranks[:, None] - ranks[near]), np.abs(ranks[:, None] - ranks)
    if period is not None:
        far, all_pairs = np.minimum(far, 1 - far), np.minimum(all_pairs, 1 - all_pairs)
    n = len(ranks)
    return float(far.mean() / (all_pairs.sum() / (n * (n - 1))))


def test_the_knob_goes_from_t_sne_to_removal_and_types_stay() -> None:
    plain = ConditionalTSNE(method="tsne", **QUICK).fit_transform(X)
    gaps = [gap(plain, AGE)]
    for strength in (0.1, 0.3, 0.9):
        map_ = fitted(strength=strength).embedding_
        gaps.append(gap(map_, AGE))
        assert knn_accuracy(map_, TYPE) > 0.97
    assert gaps == sorted(gaps) and gaps[0] < 0.4 and gaps[-1] > 0.95
    # Groups alone do not remove a number, because each is next to another one.
    assert gap(fitted(strength=0.9, align="none").embedding_, AGE) < 0.5


def test_the_map_depends_on_the_order_of_the_numbers_only_and_not_on_threads() -> None:
    first = fitted(n_jobs=1).embedding_
    again = ConditionalTSNE(**QUICK, n_jobs=2).fit(X, numbers={"age": np.exp(9 * AGE)})
    assert np.array_equal(first, again.embedding_)


@pytest.mark.parametrize("period", [None, 24.0])
def test_the_trend_is_a_weighted_mean_over_ranks(period: float | None) -> None:
    values = AGE * 24
    values[:5] = np.nan
    column = encode_number(values, period=period)
    found = without_trend(X, column)
    assert np.array_equal(found[:5], X[:5])
    steps = np.minimum(np.floor(column.ranks[5:] * TREND_STEPS), TREND_STEPS - 1)
    middles = (steps + 0.5) / TREND_STEPS
    for row in (5, 100, int(np.nanargmin(values)), int(np.nanargmax(values))):
        # At the two nearest steps, and in a straight line between them.
        place = column.ranks[row] * TREND_STEPS - 0.5
        ends = np.floor(place) + np.array([0, 1])
        ends = ends % TREND_STEPS if period else np.clip(ends, 0, TREND_STEPS - 1)
        means = []
        for end in (ends + 0.5) / TREND_STEPS:
            weights = np.exp(-0.5 * (column.rank_gaps(end, middles) / TREND_WIDTH) ** 2)
            means.append(np.average(X[5:], axis=0, weights=weights))
        trend = means[0] + (place - np.floor(place)) * (means[1] - means[0])
        np.testing.assert_allclose(found[row], X[row] - trend + X[5:].mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("period", [None, 0.5])
def test_mixing_of_a_number_is_its_gap(period: float | None) -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(400, 2))
    values = np.round(Y[:, 0] + 0.2 * rng.normal(size=400), 1)  # with ties
    column = encode_number(values, period=period)
    assert mixing(Y, column) == pytest.approx(gap(Y, values, period=period))
    assert float(laplacian(Y, column)) == pytest.approx(
        mixing(Y, column) * expected_laplacian(column)
    )
    by_group = mixing_by_label(Y, column)
    assert (
        set(by_group) == set(column.names) and 0 < min(by_group.values()) < mixing(Y, column) + 0.1
    )
    measures = measure_map(Y, data_neighbors(Y, column))
    near = map_neighbors(Y, k=15).indices
    ranks = column.ranks[:, None] * 2 * np.pi
    parts = np.hstack([np.cos(ranks), np.sin(ranks)]) if period else column.ranks[:, None]
    error = np.square(parts - parts[near].mean(axis=1)).sum()
    assert measures["r2"] == pytest.approx(1 - error / np.square(parts - parts.mean(0)).sum())


def test_many_numbers_are_compared_with_some_and_missing_ones_do_not_count() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(size=20_000)
    assert expected_laplacian(encode_number(values)) == pytest.approx(1 / 3, abs=1e-3)
    assert expected_laplacian(encode_number(values, period=1)) == pytest.approx(1 / 4, abs=1e-3)
    Y = rng.normal(size=(300, 2))
    numbers = values[:300].copy()
    numbers[200:] = np.nan
    assert mixing(Y, encode_number(numbers)) == pytest.approx(1, abs=0.1)


@pytest.mark.filterwarnings("ignore:mixing=0.8 of batch was not reached")  # but nearly, see below
def test_labels_and_numbers_reach_targets_of_their_own() -> None:
    X, age, types = drifting(2000)
    batch = np.random.default_rng(7).integers(2, size=2000)
    moved = X + 6.0 * batch[:, None] * (np.arange(20) == 5)
    model = ConditionalTSNE(random_state=0, mixing={"batch": 0.8, "age": 0.7})
    model.fit(moved, labels={"batch": batch}, numbers={"age": age})
    assert model.mixing_ == pytest.approx({"batch": 0.8, "age": 0.7}, abs=0.03)
    assert set(model.strength_) == {"batch", "age"} and model.diagnostics_.alignment == "trend"
    assert knn_accuracy(model.embedding_, types) > 0.95


def test_new_points_are_placed_by_the_groups_of_the_map(tmp_path: Path) -> None:
    model = ConditionalTSNE(**QUICK).fit(X[:500], numbers={"age": AGE[:500]})
    placed = model.transform(X[500:], numbers={"age": AGE[500:]})
    near = map_neighbors(np.vstack([placed, model.embedding_]), k=10).indices[:100]
    assert (TYPE[np.r_[500:600, :500]][near] == TYPE[500:, None]).mean() > 0.9
    assert np.array_equal(model.transform(X[500:], {"age": AGE[500:]}), placed)
    model.save(tmp_path / "model.ctsne")
    loaded = load(tmp_path / "model.ctsne")
    assert np.array_equal(loaded.transform(X[500:], numbers=AGE[500:]), placed)
    assert np.array_equal(loaded.labels_.numbers["age"], AGE[:500])
    model.extend(X[500:], numbers={"age": AGE[500:]}, n_iter=20)
    assert np.array_equal(model.labels_.numbers["age"], AGE) and len(model.embedding_) == 600
    with pytest.raises(TypeError, match="must hold numbers"):
        model.transform(X[:2], numbers={"age": ["old", "young"]})


def test_models_with_numbers_and_periods_of_any_size_can_be_loaded(tmp_path: Path) -> None:
    numbers = {"hour": AGE[:200], "huge": -1e300 * AGE[:200]}
    options: dict[str, Any] = {"perplexity": 5, "n_iter": 10, "numbers_period": {"hour": 1e300}}
    model = ConditionalTSNE(**options, random_state=0).fit(X[:200], numbers=numbers)
    model.save(tmp_path / "model.ctsne")
    loaded = load(tmp_path / "model.ctsne")
    for name, values in model.labels_.numbers.items():
        assert np.array_equal(loaded.labels_.numbers[name], values)


def test_numbers_that_say_nothing_and_those_that_are_missing() -> None:
    with pytest.warns(UserWarning, match="nothing to factor out"):
        ConditionalTSNE(n_iter=10).fit(X, numbers=np.ones(len(X)))
    some = np.where(np.arange(len(X)) % 3 == 0, np.nan, AGE)
    model = ConditionalTSNE(**QUICK).fit(X, numbers={"age": some})
    assert mixing(model.embedding_, model.labels_.columns[0]) > 0.8
    table = evaluate(model.embedding_, X, model.labels_, k=15).set_index("measure")
    assert {"mixing", "r2"} <= set(table.index) and table.loc["r2", "value"] < 0.5
