"""Accepted, some with a warning: few points, many labels, any kind and scale of data."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ctsne.datasets import make_synthetic
from ctsne.evaluate import (
    adjusted_rnx,
    laplacian,
)
from ctsne.labels import encode_column
from ctsne.neighbors import find_neighbors

from .helpers import LABELS, METHODS, NAN, X, check_map, make


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (None, "no labels given.*plain t-SNE.*labels="),
        (["B cell"] * 120, r"1 label \(B cell: 120\).*plain t-SNE"),
        ([None, "a"] * 60, r"1 label \(a: 60\), 60 missing.*plain t-SNE"),
        ([None] * 120, "0 labels, 120 missing.*plain t-SNE"),
    ],
)
def test_nothing_to_factor_out(method: str, labels: Any, says: str) -> None:
    with pytest.warns(UserWarning, match=says):
        model = make(method=method).fit(X, labels=labels)
    plain = make(method="tsne").fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "table",
    [np.full((60, 3), 7.5), np.zeros((60, 3)), sp.csr_array((60, 200)), sp.csr_array((60, 3))],
)
def test_identical_points(table: Any, method: str, init: str) -> None:
    with pytest.warns(UserWarning, match="all points of X are identical"):
        model = make(method=method, init=init).fit(table, labels=np.arange(60) % 2)
    check_map(model, 60)
    assert len(np.unique(model.embedding_, axis=0)) == 60


def test_identical_points_of_other_metrics() -> None:
    with pytest.warns(UserWarning, match="all points of X are identical"):
        check_map(make(metric="cosine").fit(np.ones((60, 3)), labels=np.arange(60) % 2), 60)
    for table in (np.zeros((60, 60)), sp.csr_array(np.ones((60, 60))) * 0.0):
        with pytest.warns(UserWarning, match="all points of X are identical"):
            model = make(metric="precomputed", init="spectral").fit(table, labels=np.arange(60) % 2)
        check_map(model, 60)
    with pytest.warns(UserWarning, match="all points of X are identical"):
        check_map(make().fit(sp.csr_array(np.ones((60, 99))), labels=np.arange(60) % 2), 60)


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
@pytest.mark.parametrize(
    ("parameters", "enough", "few"),
    [
        # Perplexity 5 asks for 8 neighbours of the own label; a label of 9 has them.
        ({"method": "revised"}, 9, 8),
        # Its rows are 5/3 of the perplexity: 9 points, of which a label should have 5.
        ({"method": "joint"}, 6, 5),
    ],
)
def test_labels_with_too_few_points_are_named(
    parameters: dict[str, Any], enough: int, few: int
) -> None:
    labels = np.repeat(["large", "enough", "few"], [120 - enough - few, enough, few])
    says = rf"1 of 3 labels has too few points .*\(up to {few} others .*few \({few}\)"
    with pytest.warns(UserWarning, match=says):
        check_map(make(**parameters).fit(X, labels=labels), 120)


def test_small_labels_of_balanced() -> None:
    # At full strength a small label's share is as small as it is.
    labels = np.array(["large"] * 114 + ["six"] * 6)
    check_map(make(method="balanced").fit(X, labels=labels), 120)
    with pytest.warns(UserWarning, match=r"1 of 2 labels has too few points.*six \(6\)"):
        check_map(make(method="balanced", strength=0.2).fit(X, labels=labels), 120)


def test_long_lists_of_small_labels_stay_readable() -> None:
    with pytest.warns(UserWarning, match="60 of 60 labels") as caught:
        make().fit(X, labels=np.arange(120) // 2)
    assert len(str(caught[0].message)) < 400


WHOLE = np.round(X * 20)  # small whole numbers, exact in all types
READ_ONLY = WHOLE.copy()
READ_ONLY.flags.writeable = False
GOOD_TABLES: dict[str, Any] = {
    **{kind: WHOLE.astype(kind) for kind in ("f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", ">f8")},
    "whole objects": WHOLE.astype(int).astype(object),
    "float objects": WHOLE.astype(object),
    "Fortran": np.asfortranarray(WHOLE),
    "strided": np.repeat(np.repeat(WHOLE, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": WHOLE[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": READ_ONLY,
    "list": WHOLE.tolist(),
    "tuples": tuple(map(tuple, WHOLE.tolist())),
    "matrix": WHOLE.view(np.matrix),
    "masked, nothing masked": np.ma.masked_array(WHOLE),
    "csr": sp.csr_array(WHOLE),
    "csc": sp.csc_matrix(WHOLE),
    "coo of whole numbers": sp.coo_array(WHOLE.astype(np.int32)),
    "pandas": pd.DataFrame(WHOLE),
    "pandas of whole numbers": pd.DataFrame(WHOLE.astype(int)).convert_dtypes(),
    "pandas of several types": pd.DataFrame(WHOLE).astype({0: "float32", 1: "int64", 2: object}),
    "polars": pl.DataFrame(WHOLE),
    "polars of whole numbers": pl.DataFrame(WHOLE.astype(int)),
    "polars of 128 bits": pl.DataFrame(WHOLE.astype(int)).cast(pl.Int128),
    "pandas with levels of rows and columns": pd.DataFrame(
        WHOLE,
        index=pd.MultiIndex.from_arrays([["a"] * len(WHOLE), range(len(WHOLE))]),
        columns=pd.MultiIndex.from_arrays([["u"] * WHOLE.shape[1], range(WHOLE.shape[1])]),
    ),
    "Arrow": pa.table({str(place): column for place, column in enumerate(WHOLE.T)}),
}


@pytest.mark.parametrize("kind", GOOD_TABLES)
def test_tables_of_any_kind_are_the_same(kind: str) -> None:
    table = GOOD_TABLES[kind]
    model = make(method="joint").fit(table, labels=LABELS)
    expected = make(method="joint").fit(WHOLE, labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    if not sp.issparse(table):
        same = find_neighbors(WHOLE, LABELS, lengths=(4, 3))
        found = find_neighbors(table, LABELS, lengths=(4, 3))
        np.testing.assert_array_equal(found.indices, same.indices)
        np.testing.assert_array_equal(found.distances, same.distances)
        assert laplacian(table, LABELS, k=5) == laplacian(WHOLE, LABELS, k=5)
        assert adjusted_rnx(table, table, LABELS, k=5) == 1


def test_yes_and_no_are_numbers() -> None:
    table = WHOLE > 0
    model = make().fit(table, labels=LABELS)
    expected = make().fit(table.astype(float), labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    mixed = pd.DataFrame(WHOLE).assign(treated=table[:, 0])
    model = make().fit(mixed.rename(columns=str), labels=LABELS)
    expected = make().fit(np.column_stack([WHOLE, table[:, 0]]), labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)


def neighbours_of(table: Any) -> Any:
    return find_neighbors(table, LABELS, lengths=(8, 7))


@pytest.mark.parametrize(
    ("kind", "offset"), [("f8", 1e4), ("f8", -1e4), ("f8", 1e8), ("f8", 1e12), ("f4", 1e4)]
)
def test_far_from_the_origin(kind: str, offset: float) -> None:
    shifted = (X + offset).astype(kind)
    assert np.array_equal(shifted.astype(float) - offset, X)
    expected, found = neighbours_of(X), neighbours_of(shifted)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
    for method in METHODS:
        # Distances on this grid have ties, which rounding breaks once points are aligned.
        models = [make(method=method, align=how) for how in (None, "none")]
        check_map(models[0].fit(shifted, labels=LABELS), 120)
        found_map, plain = (models[1].fit_transform(each, labels=LABELS) for each in (shifted, X))
        np.testing.assert_allclose(found_map, plain, rtol=1e-3, atol=1e-3)
    assert laplacian(shifted, LABELS, k=5) == laplacian(X, LABELS, k=5)
    assert adjusted_rnx(X, shifted, LABELS, k=5) == adjusted_rnx(shifted, X, LABELS, k=5) == 1


def test_unit_spread_far_away_needs_no_luck() -> None:
    rng = np.random.default_rng(0)
    for offset in (1e4, 1e8):
        shifted = rng.normal(size=(500, 10)) + offset
        exact = find_neighbors(shifted - offset, lengths=15).indices
        np.testing.assert_array_equal(find_neighbors(shifted, lengths=15).indices, exact)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [-50, 50])
def test_other_units(kind: Any, exponent: int) -> None:
    table = X.astype(kind)
    scaled = table * kind(2.0**exponent)  # about 1e±15, and exact
    expected, found = neighbours_of(table), neighbours_of(scaled)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances * np.float32(2.0**exponent))
    for method in METHODS:
        for bandwidth in "pr":
            model = make(method=method, bandwidth=bandwidth).fit(scaled, labels=LABELS)
            plain = make(method=method, bandwidth=bandwidth).fit(table, labels=LABELS)
            np.testing.assert_array_equal(model.embedding_, plain.embedding_)
            np.testing.assert_array_equal(
                model.diagnostics_.perplexity, plain.diagnostics_.perplexity
            )


@pytest.mark.parametrize("scale", [1e15, 1e-15, 1e28, 1e-28])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_any_scale(scale: float, metric: str) -> None:
    plain = make_synthetic(120, random_state=3).X
    for table in (plain, sp.csr_array(plain), np.tile(plain, 8), sp.csr_array(np.tile(plain, 8))):
        model = make(metric=metric).fit(table * scale, labels=LABELS)
        expected = make(metric=metric).fit(table, labels=LABELS)
        np.testing.assert_allclose(
            model.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-6
        )


@pytest.mark.parametrize("method", METHODS)
def test_duplicates(method: str) -> None:
    table, labels = np.repeat(X[:30], 4, axis=0), np.repeat(LABELS[:30], 4)
    check_map(make(method=method).fit(table, labels=labels), 120)
    found = find_neighbors(table, labels, lengths=(3, 2))
    assert (found.distances[:, :3] == 0).all()
    assert (found.indices != np.arange(120)[:, None]).all()
    assert (found.indices[:, :3] // 4 == np.arange(120)[:, None] // 4).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_one_feature(method: str, n_components: int) -> None:
    model = make(method=method, n_components=n_components).fit(X[:, 6:7], labels=LABELS)
    check_map(model, 120, n_components)


@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
@pytest.mark.filterwarnings("ignore:.*nothing to factor out:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("labels", ["abab", "aaab", "abcd", "aaaa", "ab", "aa", "aba"])
def test_four_points_and_less(method: str, labels: str) -> None:
    n = len(labels)
    for init, n_components in (("pca", 1), ("pca", 3), ("random", 2), ("spectral", 3)):
        for perplexity in {1, n - 1}:
            model = make(
                method=method, init=init, n_components=n_components, perplexity=perplexity
            ).fit(X[:n], labels=list(labels))
            check_map(model, n, n_components)


@pytest.mark.parametrize("perplexity", [1, 1.5, 40, 100, 119])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
def test_the_whole_range_of_perplexities(method: str, perplexity: float) -> None:
    check_map(make(method=method, perplexity=perplexity).fit(X, labels=LABELS), 120)


@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("beta_low", [None, 0.1])
@pytest.mark.parametrize(
    "labels",
    [
        ["alone", *["a", "b"] * 59, "c"],
        [i // 2 for i in range(120)],
        [None if i % 3 else label for i, label in enumerate(LABELS)],
        ["a", "b", *[None] * 118],
        [NAN if i % 2 else float(i % 3) for i in range(120)],
    ],
    ids=["one member", "pairs", "missing", "two labelled", "NaN"],
)
def test_labels_of_any_size(method: str, beta_low: Any, labels: Any) -> None:
    model = make(method=method, beta_low=beta_low).fit(X, labels=labels)
    check_map(model, 120)
    again = make(method=method, beta_low=beta_low, n_jobs=1).fit(X, labels=labels)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_as_many_labels_as_points_leave_only_others() -> None:
    found = find_neighbors(X, np.arange(120), lengths=(3, 3))
    plain = find_neighbors(X, lengths=6)
    assert (found.lengths[:, 0] == 0).all()
    np.testing.assert_array_equal(found.indices, plain.indices)
    assert laplacian(X, np.arange(120), k=5) == 1


def test_missing_labels_condition_nothing() -> None:
    labels = [None if i % 3 else label for i, label in enumerate(LABELS)]
    model = make(method="revised", beta=1e-10).fit(X, labels=labels)
    free = np.array([label is None for label in labels])
    assert (model.diagnostics_.other_share[free] == 0).all()
    assert (model.diagnostics_.other_share[~free] > 0).any()
    found = find_neighbors(X, labels, lengths=(6, 6))
    assert (found.lengths[free, 0] == 12).all()


@pytest.mark.parametrize(("kind", "n"), [(np.int64, 10**6), (np.str_, 10**6), (object, 10**5)])
def test_a_million_labels(kind: Any, n: int) -> None:
    column = np.random.default_rng(0).permutation(n).astype(kind)
    encoded = encode_column(column, n=n)
    assert encoded.n_labels == n and encoded.n_missing == 0
    assert (encoded.counts == 1).all()
    for i in (0, 1, n // 2, n - 1):
        assert encoded.names[encoded.codes[i]] == column[i]
    assert len(encoded.describe()) < 200


@pytest.mark.slow
def test_many_labels_on_many_points() -> None:
    n = 20_000
    table = np.random.default_rng(0).normal(size=(n, 5))
    for method in ("original", "revised", "balanced", "joint"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*labels ha.* too few points")
            model = make(method=method, n_iter=5).fit(table, labels=np.arange(n) // 2)
        check_map(model, n)


@pytest.mark.parametrize(
    "parameters",
    [
        {"beta": 1e-300},
        {"beta": 5e-324},
        {"beta": 5e-324, "bandwidth": "p"},
        {"beta_low": 1e-300},
        {"beta_low": {"blue": 1e-300, "orange": 1}},
        {"strength": 0},
        {"strength": {"blue": 0, "orange": 1}},
        {"odds": 1},
        {"odds": 1e6},
        {"odds": {"blue": 1e6, "orange": 1}},
        {"align": "auto"},
        {"align": "local"},
        {"align": np.zeros((120, 1))},
        {"align": X * 1e15},
        {"align": X * 1e-15},
        {"align": X + 1e8},
        {"learning_rate": 1e300},
        {"learning_rate": 1e-300},
        {"early_exaggeration": 1e300},
        {"exaggeration": 1e-300},
        {"early_exaggeration_iter": 10**30},
        {"dof": 0.05},
        {"dof": 1000},
        {"init": np.zeros((120, 2))},
        {"init": np.full((120, 2), 1e5)},
        {"init": 1e5 * np.sign(X[:, :2])},
        {"init": 1e-30 * X[:, :2]},
        {"n_jobs": 2**31 - 1},
        {"n_jobs": -(10**9)},
        {"callback": lambda *_: "not True", "callback_every": 1},
    ],
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_extremes_work(method: str, parameters: dict[str, Any]) -> None:
    check_map(make(**{"method": method, **parameters}).fit(X, labels=LABELS), 120)


@pytest.mark.parametrize("method", METHODS)
def test_odd_distances_work(method: str) -> None:
    n = 60
    rng = np.random.default_rng(0)
    lopsided = rng.uniform(0, 1, (n, n)) ** 8  # no metric, not symmetric, own distance not zero
    steps = sp.coo_array(lopsided)
    doubled = sp.csr_array(  # every entry stored twice
        (np.tile(steps.data, 2), np.tile(steps.col, 2), 2 * steps.tocsr().indptr), shape=(n, n)
    )
    for table in (lopsided, steps, doubled, np.where(lopsided > 0.1, 0, lopsided)):
        model = make(method=method, metric="precomputed", init="spectral")
        check_map(model.fit(table, labels=np.arange(n) % 3), n)


@pytest.mark.filterwarnings("ignore:mixing=0.5 was not reached")
@pytest.mark.filterwarnings("ignore:mixing=.* is not possible")
def test_nothing_given_is_changed() -> None:
    rng = np.random.default_rng(0)
    given = {
        "X": X.copy(),
        "labels": np.array(LABELS),
        "init": rng.normal(size=(120, 2)),
        "align": rng.normal(size=(120, 3)),
    }
    kept = {name: array.copy() for name, array in given.items()}
    for array in given.values():
        array.flags.writeable = False
    for method in METHODS:
        for more in ({}, {"init": given["init"]}, {"metric": "cosine"}, {"mixing": 0.5}):
            if method == "tsne" and "mixing" in more:
                continue
            align = {"align": given["align"]} if method in ("revised", "joint") else {}
            check_map(
                make(method=method, **more, **align).fit(given["X"], labels=given["labels"]), 120
            )
    for name, array in given.items():
        np.testing.assert_array_equal(array, kept[name])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_unaligned_arrays_work(metric: str) -> None:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    table = raw[1:].view(np.float64).reshape(X.shape)
    table[...] = X
    assert not table.flags.aligned
    expected = make(metric=metric).fit(X, labels=LABELS).embedding_
    np.testing.assert_array_equal(
        make(metric=metric).fit(table, labels=LABELS).embedding_, expected
    )
