"""The estimator with several label columns."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing
from ctsne.labels import Labels
from ctsne.neighbors import search

RNG = np.random.default_rng(0)
N = 400
BATCH = RNG.choice(["x", "y"], size=N)
DONOR = RNG.choice(["d1", "d2", "d3"], size=N)
X = RNG.normal(size=(N, 8))
X[:, 0] += 6 * (BATCH == "x")
X[:, 1] += 4 * (DONOR == "d1") + 8 * (DONOR == "d2")
BOTH = {"batch": BATCH, "donor": DONOR}
METHODS = ["joint", "revised", "balanced", "original"]


def fitted(labels: Any, data: Any = X, **parameters: Any) -> ConditionalTSNE:
    given = {"random_state": 0, "n_iter": 60, "perplexity": 12, **parameters}
    return ConditionalTSNE(**given).fit(data, labels=labels)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("parameters", [{}, {"align": "mutual"}, {"odds": 3}])
def test_the_order_of_categories_does_not_change_a_map(
    parameters: dict[str, Any], exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EXACT_UP_TO", 1_000 if exact else 100)
    replicate = np.arange(N) % 10  # of equal size, so that only a rule can order them
    donor = np.where(RNG.random(N) < 0.2, None, DONOR)
    frame, backwards = pd.DataFrame({"replicate": replicate, "donor": donor}), (*range(9, -1, -1),)
    turned = frame.astype("category")
    turned["replicate"] = turned["replicate"].cat.set_categories(backwards)
    turned["donor"] = turned["donor"].cat.set_categories(["d2", "d3", "d1"])
    for columns in (["replicate"], ["replicate", "donor"]):
        maps, placed = [], []
        for table in (frame, turned):
            model = fitted(table[columns], n_iter=20, **parameters)
            maps.append(model.embedding_)
            placed.append(model.transform(X[:50], table[columns][:50]))
        np.testing.assert_array_equal(*maps)
        np.testing.assert_array_equal(*placed)
        assert model.labels_ is not None  # which users see in their own order
        assert model.labels_.columns[0].names == backwards


@pytest.mark.parametrize("method", METHODS)
def test_one_column_of_a_table_is_that_column(method: str) -> None:
    plain = fitted(BATCH, method=method)
    tables = {"batch": BATCH}, BATCH[:, None], pd.DataFrame({"batch": BATCH}), [BATCH]
    for labels in tables:
        model = fitted(labels, method=method)
        assert model.labels_ is not None and model.labels_.n_columns == 1
        np.testing.assert_array_equal(model.embedding_, plain.embedding_)
        assert (model.strength_, model.beta_) == (plain.strength_, plain.beta_)


@pytest.mark.parametrize("method", METHODS)
def test_a_column_without_effect_is_left_out(method: str) -> None:
    knob, none = ("strength", 0) if method in ("joint", "balanced") else ("beta", 1)
    value = 0.5 if knob == "strength" else 0.01
    plain = fitted(BATCH, method=method, **{knob: value})
    model = fitted(BOTH, method=method, **{knob: {"batch": value, "donor": none}})
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    assert getattr(model, f"{knob}_") == {"batch": value, "donor": none}
    three = {**BOTH, "day": RNG.choice([1, 2], size=N)}
    two = fitted(BOTH, method=method, **{knob: value})
    model = fitted(three, method=method, **{knob: {"batch": value, "donor": value, "day": none}})
    np.testing.assert_array_equal(model.embedding_, two.embedding_)
    nothing = fitted(BOTH, method=method, **{knob: none})
    np.testing.assert_array_equal(nothing.embedding_, fitted(None, method="tsne").embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_a_column_with_one_label_is_left_out_with_a_warning(method: str) -> None:
    labels = {"batch": BATCH, "study": np.zeros(N)}
    with pytest.warns(UserWarning, match=r"label column study \(1 label \(0: 400\)\) is left out"):
        model = fitted(labels, method=method)
    np.testing.assert_array_equal(model.embedding_, fitted(BATCH, method=method).embedding_)
    assert isinstance(model.labels_, Labels)
    value = model.strength_ if model.beta_ is None else model.beta_
    assert isinstance(value, dict) and set(value) == {"batch", "study"}
    with pytest.warns(UserWarning, match="nothing to factor out, so this is plain t-SNE"):
        model = fitted({"a": np.ones(N), "b": np.zeros(N)}, method=method)
    np.testing.assert_array_equal(model.embedding_, fitted(None, method="tsne").embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_pass_columns_gives_the_same_map(method: str) -> None:
    models = [
        fitted(labels, method=method)
        for labels in (BOTH, pd.DataFrame(BOTH), np.stack([BATCH, DONOR], axis=1), [BATCH, DONOR])
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.embedding_, models[0].embedding_)
    assert models[0].labels_.names == ("batch", "donor") and models[2].labels_.names == ("1", "2")
    again = fitted(BOTH, method=method, n_jobs=1)
    np.testing.assert_array_equal(again.embedding_, models[0].embedding_)


def test_both_columns_are_mixed() -> None:
    def mixed(labels: Any, **given: Any) -> list[float]:
        model = fitted(labels, n_iter=400, **given)
        return [mixing(model.embedding_, each) for each in (BATCH, DONOR)]

    plain, batch, donor = mixed(None, method="tsne"), mixed(BATCH), mixed(DONOR)
    both = mixed(BOTH)
    assert plain[0] < 0.1 and plain[1] < 0.15
    assert batch[1] < 0.2 and donor[0] < 0.2
    assert both[0] > batch[0] - 0.15 and both[1] > donor[1] - 0.15
    one = mixed(BOTH, strength={"batch": 0.2, "donor": 0.9})
    assert one[0] < both[0] and one[1] > both[1]


def test_numbers_per_column() -> None:
    model = fitted(BOTH, strength={"donor": 0.2, "batch": 0.7})
    assert model.strength_ == {"batch": 0.7, "donor": 0.2} and model.beta_ is None
    assert fitted(BOTH).strength_ == {"batch": 0.7, "donor": 0.7}
    shares = model.diagnostics_.column_shares
    assert set(shares) == set(model.diagnostics_.column_matched) == {"batch", "donor"}
    assert (model.diagnostics_.other_share >= np.max(list(shares.values()), axis=0) - 1e-9).all()
    odds = fitted(BOTH, method="tsne", odds={"batch": 4, "donor": 1})
    np.testing.assert_array_equal(odds.embedding_, fitted(BATCH, method="tsne", odds=4).embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_nested_columns_with_gaps_in_precomputed_distances(method: str) -> None:
    inner = np.where(BATCH == "x", DONOR, np.char.add(DONOR, "y")).astype(object)
    inner[:20] = None
    labels = {"batch": BATCH, "donor": inner}
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    # Of several bandwidths for r, the search finds the one next to its start, the data's width.
    common = {"method": method, "init": "random", "n_iter": 60, "bandwidth": "p", "align": "none"}
    dense = fitted(labels, D, metric="precomputed", **common)
    features = fitted(labels, **common)
    # Distances in single precision differ in their last digits, and so do the maps.
    assert dense.affinities_.nnz == features.affinities_.nnz
    np.testing.assert_allclose(
        dense.affinities_.data, features.affinities_.data, rtol=1e-3, atol=1e-9
    )
    graph = sp.csr_array(np.where(np.sort(D)[:, 81:82] > D, D, 0))
    model = fitted(labels, graph, metric="precomputed", **common)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.filterwarnings("ignore:.*no counterpart")
def test_alignment_and_cosine_and_three_dimensions() -> None:
    for given in ({"align": "mean"}, {"metric": "cosine"}, {"n_components": 3}, {"dof": 0.7}):
        model = fitted(BOTH, n_iter=40, **given)
        assert np.isfinite(model.embedding_).all()
    assert fitted(BOTH, n_iter=10, align="mutual").diagnostics_.alignment == "mutual"


def test_nested_columns_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    inner = np.char.add(BATCH, DONOR)
    fitted({"batch": BATCH, "donor": inner}, n_iter=2, verbose=2)
    assert "; donor is nested in batch" in "".join(capsys.readouterr())


def test_small_combinations_and_lonely_points_are_warned_about() -> None:
    rare = DONOR.copy()
    rare[:6] = "rare"
    with pytest.warns(UserWarning, match=r"of 8 combinations of labels ha.* too few points"):
        fitted({"batch": BATCH, "donor": rare}, n_iter=2, perplexity=30)
    far = X.copy()
    far[BATCH == "x"] += 100
    with pytest.warns(UserWarning, match=r"points of batch 'x'.* have no counterpart"):
        fitted(BOTH, far, n_iter=2, align="none")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": {"batch": 0.5}}, "strength must give a number for every .*'donor'"),
        ({"strength": {"batch": 0.5, "doner": 1}}, "strength names 'doner'.*did you mean 'donor'"),
        ({"strength": {"batch": 0.5, "donor": 2}}, r"strength\['donor'\] must"),
        ({"strength": 2}, "strength must .* or a mapping from each label"),
        ({"odds": {"batch": 0.5, "donor": 1}}, r"odds\['batch'\] must"),
        ({"mixing": {"batch": 0.5}}, "mixing must give a number for every"),
        ({"mixing": {"batch": 0.5, "donor": 3}}, r"mixing\['donor'\] must"),
        ({"mixing": 0.5, "strength": 0.5}, "mixing=0.5 finds the value of strength itself"),
        ({"method": "revised", "beta": {"batch": 0, "donor": 1}}, r"beta\['batch'\] must"),
    ],
)
def test_what_is_refused(parameters: dict[str, Any], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            fitted(BOTH, **parameters)


def test_columns_with_other_row_names_are_refused() -> None:
    table = pd.DataFrame(X, index=[f"cell{i}" for i in range(N)])
    moved = pd.Series(BATCH, index=table.index[::-1])
    for labels in ({"batch": moved, "donor": DONOR}, [DONOR, moved], moved.to_frame()):
        with pytest.raises(ValueError, match="labels and X have different row names"):
            fitted(labels, table)


def test_models_survive_a_pickle() -> None:
    model = fitted(BOTH, n_iter=30)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.resume(20).embedding_, model.resume(20).embedding_)
    assert copy.labels_.names == ("batch", "donor") and copy.strength_ == model.strength_
