"""ConditionalTSNE: scikit-learn's contract, its parameters, and runs that can be repeated."""

import logging
import pickle
import signal
import subprocess
import sys
import textwrap
from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ctsne import ConditionalTSNE
from ctsne.affinity import beta_from_odds, joint_odds
from ctsne.datasets import Synthetic, make_synthetic
from ctsne.labels import encode_column
from ctsne.layout import Layout
from ctsne.neighbors.alignment import align_points, commuting_share

from . import reference as formulas

METHODS = ("tsne", "original", "revised", "balanced", "joint")
# Every way to condition, the first five being the named methods.
WAYS: tuple[dict[str, Any], ...] = (
    *({"method": method} for method in METHODS),
    {"method": "revised", "bandwidth": "p"},
    {"method": "balanced", "strength": 0.5, "beta_low": 0.1},
    {"method": "joint", "strength": 1, "odds": 5},
)
ALIGNMENTS = ("none", "mutual", "local", "mean", "auto")


def name(way: object) -> str:
    return "-".join(map(str, way.values())) if isinstance(way, dict) else str(way)


def make(**parameters: Any) -> ConditionalTSNE:
    """A short run: two phases, and enough of each for momentum to matter."""
    short = {"perplexity": 10, "n_iter": 40, "early_exaggeration_iter": 15, "random_state": 0}
    return ConditionalTSNE(**{**short, **parameters})


@pytest.fixture(scope="module")
def data() -> Synthetic:
    return make_synthetic(300, random_state=0)


@pytest.fixture(scope="module")
def grid() -> Synthetic:
    """Data with whole coordinates: distances are the same in any way to compute them."""
    made = make_synthetic(200, random_state=1)
    return Synthetic(X=np.round(made.X * 50), known=made.known, hidden=made.hidden)


# ---- scikit-learn's contract ---------------------------------------------------------------------


class LabelledTSNE(ConditionalTSNE):
    """Brings its own labels, so that scikit-learn's checks see conditioned maps too."""

    def fit(self, X: Any, y: object = None, *, labels: object = None) -> Self:
        shape = np.shape(X)
        return super().fit(X, labels=np.arange(shape[0]) % 2 if shape else None)


PLACED = "transform places the points of the fit next to their positions, not on them"
# Both compare transform with fit_transform; tests/test_placing.py checks what else they do.
BY_DESIGN = {
    "check_transformer_general": PLACED,
    "check_transformer_data_not_an_array": PLACED,
}


@pytest.mark.filterwarnings("ignore:no labels given:UserWarning")
@pytest.mark.filterwarnings("ignore:[12] of 2 labels ha.* too few points:UserWarning")
@pytest.mark.filterwarnings("ignore:.*new points have no neighbour:UserWarning")
@parametrize_with_checks(
    [
        kind(method=method, perplexity=2, n_iter=10, early_exaggeration_iter=5)
        for kind in (ConditionalTSNE, LabelledTSNE)
        for method in METHODS
    ],
    expected_failed_checks=lambda _: BY_DESIGN,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters_survive_cloning_and_are_not_touched(data: Synthetic) -> None:
    beta = {"blue": 0.1, "orange": 0.2}
    start = 1e-4 * data.X[:, :2]
    align = data.X + 1.0 * (data.known == "blue")[:, None]
    model = make(method="revised", beta=beta, init=start, align=align)
    model.fit(data.X, labels=data.known)
    copy = clone(model)
    assert not hasattr(copy, "embedding_")
    assert copy.beta == beta and np.array_equal(copy.init, start)
    assert np.array_equal(copy.align, align)
    again = copy.fit(data.X, labels=data.known)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert model.beta is beta and model.init is start and model.align is align
    assert model.beta_ == beta and model.strength_ is None


def test_attributes(data: Synthetic) -> None:
    model = make().fit(data.X, labels=data.known)
    assert model.embedding_.shape == (300, 2) and model.embedding_.dtype == np.float32
    assert np.isfinite(model.embedding_).all()
    assert model.n_iter_ == 40 and model.n_features_in_ == 10
    assert model.affinities_.shape == (300, 300)
    assert model.affinities_.sum() == pytest.approx(1, abs=1e-5)
    assert abs(model.affinities_ - model.affinities_.T).max() == 0
    assert len(model.diagnostics_.sigma) == len(model.diagnostics_.reached) == 300
    assert model.diagnostics_.matched is not None and len(model.diagnostics_.matched) == 300
    assert model.diagnostics_.alignment == "none" and not model.diagnostics_.alignment_scores
    assert (model.strength_, model.beta_, model.mixing_) == (0.6, None, None)
    assert model.labels_ is not None and model.labels_.combined.names == ("blue", "orange")
    assert not hasattr(model, "feature_names_in_")


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        make().resume(10)
    with pytest.raises(NotFittedError):
        make().get_feature_names_out()


def test_labels_are_not_y(data: Synthetic) -> None:
    with pytest.raises(TypeError):
        make().fit(data.X, data.known, data.known)  # type: ignore[misc]
    with pytest.warns(UserWarning, match="no labels given.*labels=.*fit"):
        ignored = make().fit(data.X, data.known).embedding_
    np.testing.assert_array_equal(ignored, make(method="tsne").fit(data.X).embedding_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(data: Synthetic, library: str) -> None:
    columns = {f"gene {i}": data.X[:, i] for i in range(10)}
    frame = pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)
    model = make().set_output(transform=library)
    mapped = model.fit_transform(frame, labels=data.known)
    assert type(mapped) is type(frame)
    assert list(mapped.columns) == list(model.get_feature_names_out())
    assert list(mapped.columns) == ["conditionaltsne0", "conditionaltsne1"]
    assert list(model.feature_names_in_) == list(columns)
    expected = make().fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped.to_numpy(), expected)


def test_index_of_a_frame_is_kept(data: Synthetic) -> None:
    frame = pd.DataFrame(data.X, index=[f"cell {i}" for i in range(300)])
    mapped = make().set_output(transform="pandas").fit_transform(frame, labels=data.known)
    assert mapped.index.equals(frame.index)


def test_in_a_pipeline(data: Synthetic) -> None:
    with config_context(enable_metadata_routing=True):
        asking = make().set_fit_request(labels=True).set_transform_request(labels=True)
        steps = make_pipeline(StandardScaler(), asking)
        mapped = steps.fit_transform(data.X, labels=data.known)
    steps = make_pipeline(StandardScaler(), make())
    named = steps.fit_transform(data.X, conditionaltsne__labels=data.known)
    np.testing.assert_array_equal(named, mapped)
    scaled = StandardScaler().fit_transform(data.X)
    np.testing.assert_array_equal(mapped, make().fit_transform(scaled, labels=data.known))


# ---- labels --------------------------------------------------------------------------------------


def test_labels_of_any_kind(data: Synthetic) -> None:
    expected = make(method="joint").fit_transform(data.X, labels=data.known)
    kinds: list[Any] = [
        data.known.tolist(),
        data.known[:, None],
        data.known.astype(object),
        data.known == "orange",
        np.where(data.known == "blue", 1.5, 2.5),
        pd.Series(data.known, index=range(300, 0, -1)),
        pd.Categorical(data.known),
        pd.Series(data.known).astype("category"),
        pd.DataFrame({"batch": data.known}),
        pl.Series(data.known),
    ]
    for labels in kinds:
        mapped = make(method="joint").fit_transform(data.X, labels=labels)
        np.testing.assert_array_equal(mapped, expected)


@pytest.mark.parametrize("method", METHODS[1:])
def test_without_labels_it_is_tsne(data: Synthetic, method: str) -> None:
    plain = make(method="tsne").fit_transform(data.X)
    with pytest.warns(UserWarning, match=f'no labels given, so method="{method}"'):
        np.testing.assert_array_equal(make(method=method).fit_transform(data.X), plain)
    for labels, says in ((["a"] * 300, r"1 label \(a: 300\)"), ([None] * 300, "0 labels, 300")):
        with pytest.warns(UserWarning, match=f"{says}.*plain t-SNE"):
            mapped = make(method=method).fit_transform(data.X, labels=labels)
        np.testing.assert_array_equal(mapped, plain)


def test_tsne_does_not_look_at_labels(data: Synthetic) -> None:
    plain = make(method="tsne").fit_transform(data.X)
    mapped = make(method="tsne").fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, plain)


# ---- methods and their parameters ----------------------------------------------------------------


@pytest.mark.parametrize("dof", [0.5, 1, 3])
@pytest.mark.parametrize("way", WAYS, ids=name)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_affinities_and_loss_are_the_references(way: dict[str, Any], dof: float) -> None:
    made = make_synthetic(60, random_state=2)
    labels = np.where(np.arange(60) % 7 == 0, None, made.known)
    model = make(**way, perplexity=5, beta=0.01, dof=dof).fit(made.X, labels=labels)
    codes = np.array([-1 if label is None else int(label == "orange") for label in labels])
    method = way["method"]
    strength = way.get("strength", {"joint": 0.6}.get(method, 1.0))
    if method == "revised":
        bandwidth = way.get("bandwidth", "r")
        P = formulas.revised_affinities(made.X, codes, 5, 0.01, bandwidth=bandwidth)
    elif method == "balanced":
        P = formulas.balanced_affinities(made.X, codes, 5, strength)
    elif method == "joint":
        P = formulas.joint_affinities(made.X, codes, 5, strength)
    else:
        P = formulas.tsne_affinities(made.X, 5)
    np.testing.assert_allclose(model.affinities_.toarray(), P, atol=1e-6, rtol=1e-3)
    odds = way.get("odds", formulas.joint_odds(strength) if method == "joint" else 1.0)
    own = 0.01 if method == "original" else formulas.beta_from_odds(codes, odds).item()
    beta_low = way.get("beta_low", own)
    weights = formulas.low_weights(codes, beta_low)
    expected = formulas.kl_divergence(P, model.embedding_, weights=weights, dof=dof)
    assert model.kl_divergence_ == pytest.approx(expected, rel=1e-3)


def test_original_at_beta_one_is_tsne(data: Synthetic) -> None:
    plain = make(method="tsne").fit_transform(data.X)
    mapped = make(method="original", beta=1).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, plain)


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        ("original", "beta"),
        ("revised", "beta"),
        ("balanced", "strength"),
        ("joint", "strength"),
        *((method, "beta_low") for method in METHODS),
    ],
)
def test_one_number_for_each_label(data: Synthetic, method: str, parameter: str) -> None:
    def mapped(value: object) -> Any:
        return make(method=method, **{parameter: value}).fit_transform(data.X, labels=data.known)

    equal = mapped({"blue": 0.3, "orange": 0.3})
    np.testing.assert_array_equal(equal, mapped(0.3))
    assert not np.array_equal(equal, mapped({"blue": 0.3, "orange": 0.6}))
    assert not np.array_equal(equal, mapped(0.6))


@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_low_dimensional_conditioning_goes_with_any_method(data: Synthetic) -> None:
    def mapped(**parameters: Any) -> Any:
        return make(**parameters).fit_transform(data.X, labels=data.known)

    for method in METHODS[:1] + METHODS[2:4]:
        assert not np.array_equal(mapped(method=method, beta_low=0.1), mapped(method=method))
        np.testing.assert_array_equal(mapped(method=method, beta_low=1), mapped(method=method))
    original = mapped(method="original", beta=0.1)
    np.testing.assert_array_equal(mapped(method="tsne", beta_low=0.1), original)
    np.testing.assert_array_equal(mapped(method="original", beta=0.5, beta_low=0.1), original)
    # What joint takes by itself.
    joint, odds = mapped(method="joint", strength=0.5), joint_odds(0.5).item()
    np.testing.assert_array_equal(mapped(method="joint", strength=0.5, odds=odds), joint)
    assert not np.array_equal(mapped(method="joint", strength=0.5, beta_low=1), joint)
    assert not np.array_equal(mapped(method="joint", strength=0.5, odds=1), joint)


@pytest.mark.parametrize("method", METHODS)
def test_odds_are_the_beta_of_the_map(data: Synthetic, method: str) -> None:
    def mapped(**parameters: Any) -> Any:
        return make(method=method, **parameters).fit_transform(data.X, labels=data.known)

    labels = encode_column(data.known)
    beta = beta_from_odds(labels, 5.0).item()
    np.testing.assert_array_equal(mapped(odds=5), mapped(beta_low=beta))
    np.testing.assert_array_equal(mapped(odds=1), mapped(beta_low=1))
    equal = mapped(odds={"blue": 5, "orange": 5.0})
    np.testing.assert_array_equal(equal, mapped(odds=5))
    assert not np.array_equal(equal, mapped(odds={"blue": 5, "orange": 1}))
    assert not np.array_equal(equal, mapped(odds=1))


def test_defaults_of_the_methods(data: Synthetic) -> None:
    defaults = {
        "joint": {"strength": 0.6},
        "balanced": {"strength": 1.0},
        "revised": {"beta": 1e-4},
        "original": {"beta": 0.1},
        "tsne": {},
    }
    for method, given in defaults.items():
        model = make(method=method).fit(data.X, labels=data.known)
        assert model.strength is None and model.beta is None
        expected = make(method=method, **given).fit(data.X, labels=data.known)
        np.testing.assert_array_equal(model.embedding_, expected.embedding_)
        assert model.strength_ == given.get("strength") and model.beta_ == given.get("beta")
    default = make().fit_transform(data.X, labels=data.known)
    joint = make(method="joint", strength=0.6).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(default, joint)


# ---- alignment -----------------------------------------------------------------------------------


@pytest.mark.parametrize("align", ALIGNMENTS[1:4])
@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
def test_an_alignment_by_name_is_its_array(data: Synthetic, method: str, align: str) -> None:
    named = make(method=method, align=align).fit(data.X, labels=data.known)
    points = align_points(data.X, encode_column(data.known), align)
    given = make(method=method, align=points).fit(data.X, labels=data.known)
    np.testing.assert_array_equal(named.embedding_, given.embedding_)
    assert named.diagnostics_.alignment == align and given.diagnostics_.alignment == "array"
    plain = make(method=method).fit(data.X, labels=data.known)
    assert not np.array_equal(named.embedding_, plain.embedding_)
    # Data that are moved as a whole are the data.
    shifted = make(method=method, align=np.round(data.X * 64) / 64 + 8)
    plain = make(method=method, align=np.round(data.X * 64) / 64)
    np.testing.assert_array_equal(
        shifted.fit_transform(data.X, labels=data.known),
        plain.fit_transform(data.X, labels=data.known),
    )


def test_the_best_alignment_is_chosen_and_its_scores_are_told(data: Synthetic) -> None:
    labels = encode_column(data.known)
    apart = np.random.default_rng(0).normal(size=(300, 5)) + 9.0 * labels.codes[:, None]
    model = make(align="auto").fit(apart, labels=data.known)
    scores = model.diagnostics_.alignment_scores
    assert list(scores) == ["none", "mutual", "mean"]
    chosen = model.diagnostics_.alignment
    assert chosen in ("mutual", "mean") and scores[chosen] == max(scores.values())
    expected = make(align=chosen).fit(apart, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    for name in scores:
        points = align_points(apart, labels, name)
        assert scores[name] == commuting_share(apart, points, labels)
    assert not expected.diagnostics_.alignment_scores


@pytest.mark.parametrize("align", ["mean", "auto", np.ones((300, 2))])
@pytest.mark.parametrize("method", ["tsne", "original"])
def test_an_alignment_without_effect_is_told(data: Synthetic, method: str, align: Any) -> None:
    plain = make(method=method).fit_transform(data.X, labels=data.known)
    says = f'align=.* has no effect with method="{method}": it is for "joint" and'
    with pytest.warns(UserWarning, match=says) as caught:
        model = make(method=method, align=align).fit(data.X, labels=data.known)
    assert len(caught) == 1 and len(str(caught[0].message)) < 200
    np.testing.assert_array_equal(model.embedding_, plain)
    assert model.diagnostics_.alignment == "none"


def test_an_alignment_without_labels_is_tsne(data: Synthetic) -> None:
    with pytest.warns(UserWarning, match="no labels given"):
        model = make(align="mean").fit(data.X)
    plain = make(method="tsne").fit_transform(data.X)
    np.testing.assert_array_equal(model.embedding_, plain)
    assert model.diagnostics_.matched is None


@pytest.mark.parametrize("kind", [np.asfortranarray, pd.DataFrame, np.ndarray.tolist, np.float32])
def test_an_aligned_array_of_any_kind(data: Synthetic, kind: Any) -> None:
    points = np.round(data.X * 64) / 64 + (data.known == "blue")[:, None]
    expected = make(align=points).fit_transform(data.X, labels=data.known)
    mapped = make(align=kind(points)).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, expected)


@pytest.mark.parametrize("align", ALIGNMENTS)
def test_alignments_of_directions_and_sparse_data(data: Synthetic, align: str) -> None:
    sparse = sp.csr_array(np.where(np.abs(data.X) > 0.2, data.X, 0))
    model = make(align=align).fit(sparse, labels=data.known)
    dense = make(align=align).fit(sparse.toarray(), labels=data.known)
    np.testing.assert_array_equal(model.embedding_, dense.embedding_)
    cosine = make(align=align, metric="cosine").fit(data.X, labels=data.known)
    longer = np.random.default_rng(0).uniform(1, 9, (300, 1)).round() * data.X
    other = make(align=align, metric="cosine", init="random").fit(longer, labels=data.known)
    np.testing.assert_allclose(
        cosine.affinities_.toarray(), other.affinities_.toarray(), rtol=1e-3, atol=1e-6
    )


@pytest.mark.parametrize("align", ALIGNMENTS[1:])
def test_aligned_is_the_same_for_any_number_of_threads(align: str) -> None:
    made = make_synthetic(700, random_state=0)
    one, two = (make(align=align, n_jobs=jobs).fit(made.X, labels=made.known) for jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.diagnostics_.alignment_scores == two.diagnostics_.alignment_scores


def test_points_without_counterparts_are_told(data: Synthetic) -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 4)), np.repeat(["a", "b"], 150)
    X[:30] += 30  # a group of its own, with one label
    says = "30 points of 'a' have no counterpart under other labels"
    for method in ("joint", "revised", "balanced"):
        with pytest.warns(UserWarning, match=says) as caught:
            model = make(method=method).fit(X, labels=labels)
        assert len(caught) == 1
        matched = model.diagnostics_.matched
        assert matched is not None
        assert matched[:30].max() < 0.05 < matched[30:].min() <= matched.max() <= 1
    with pytest.warns(UserWarning, match=says):  # also where the search goes first
        make(mixing=0.9, n_iter=100).fit(X, labels=labels)
    for method in ("tsne", "original"):
        assert make(method=method).fit(X, labels=labels).diagnostics_.matched is None
    # A few points are no news.
    make().fit(X[15:], labels=labels[15:])


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1, 3])
def test_dimensions_and_degrees_of_freedom(data: Synthetic, n_components: int, dof: float) -> None:
    losses = []
    model = make(
        n_components=n_components,
        dof=dof,
        perplexity=30,
        n_iter=120,
        callback_every=20,
        callback=lambda _, loss, __: losses.append(loss),
    ).fit(data.X, labels=data.known)
    assert model.embedding_.shape == (300, n_components)
    assert len(model.get_feature_names_out()) == n_components
    P = model.affinities_.toarray()
    codes = (data.known == "orange").astype(int)
    weights = formulas.low_weights(codes, formulas.beta_from_odds(codes, formulas.joint_odds(0.6)))
    expected = formulas.kl_divergence(P, model.embedding_, weights=weights, dof=dof)
    assert model.kl_divergence_ == pytest.approx(expected, rel=1e-3)
    assert model.kl_divergence_ < losses[1]


# ---- data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS, ids=name)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_precomputed_distances_and_graphs(grid: Synthetic, way: dict[str, Any]) -> None:
    # A mild beta: with a small one several bandwidths can fit, and which is found depends on the
    # width of the data, of which distances to neighbours tell less than features do.
    way = {**way, "beta": 0.5}
    expected = make(**way, init="random").fit(grid.X, labels=grid.known)
    distances = cdist(grid.X, grid.X)
    model = make(**way, init="random", metric="precomputed")
    dense = clone(model).fit(distances, labels=grid.known)
    sparse = clone(model).fit(kneighbors_graph(grid.X, 199, mode="distance"), labels=grid.known)
    for found in (dense, sparse):
        np.testing.assert_allclose(
            found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-4, atol=1e-9
        )
        np.testing.assert_allclose(found.embedding_, expected.embedding_, rtol=0.01, atol=0.01)


def test_a_graph_of_just_the_neighbours(grid: Synthetic) -> None:
    expected = make(method="tsne", init="random").fit(grid.X)
    graph = kneighbors_graph(grid.X, 30, mode="distance")
    found = make(method="tsne", init="random", metric="precomputed").fit(graph)
    np.testing.assert_allclose(found.affinities_.toarray(), expected.affinities_.toarray(), 1e-4)


def test_cosine_is_euclidean_on_the_sphere(data: Synthetic) -> None:
    # 1 - cos = |a - b|² / 2: the same neighbours, in the same order.
    unit = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    cosine = make(metric="cosine", method="joint").fit(3 * data.X, labels=data.known)
    distances = cdist(unit, unit) ** 2 / 2
    near = make(metric="precomputed", method="joint", init="random")
    near.fit(distances, labels=data.known)
    np.testing.assert_allclose(
        cosine.affinities_.toarray(), near.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_few_sparse_columns_are_the_dense_ones(data: Synthetic, layout: Any) -> None:
    X = np.where(np.abs(data.X) > 0.5, data.X, 0)
    mapped = make().fit_transform(layout(X), labels=data.known)
    np.testing.assert_array_equal(mapped, make().fit_transform(X, labels=data.known))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_many_sparse_columns_are_reduced(metric: str) -> None:
    # Of rank 20, so that 50 components lose nothing.
    rng = np.random.default_rng(0)
    X = rng.random((150, 20)) * (rng.random((150, 20)) < 0.3) + np.eye(150, 20)
    X = X[:, np.arange(120) % 20] * rng.uniform(1, 2, 120)
    X[:, 0] += 1
    labels = np.arange(150) % 3
    expected = make(metric=metric).fit(X, labels=labels)
    found = make(metric=metric).fit(sp.csr_array(X), labels=labels)
    assert found.n_features_in_ == 120
    np.testing.assert_allclose(
        found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


def test_principal_components_of_sparse_columns() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((200, 100)) * (rng.random((200, 100)) < 0.2))
    expected = make(method="tsne").fit(PCA(50, svd_solver="full").fit_transform(X.toarray()))
    found = make(method="tsne").fit(X)
    np.testing.assert_allclose(
        found.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-7
    )


# ---- starts and seeds ----------------------------------------------------------------------------


def test_starts(data: Synthetic) -> None:
    seen: dict[str, Any] = {}
    for init in ("pca", "random", "spectral"):
        first = make(init=init, n_iter=1, learning_rate=1e-9).fit(data.X, labels=data.known)
        assert first.embedding_[:, 0].std() == pytest.approx(1e-4, rel=0.2)
        seen[init] = first.embedding_
    components = PCA(2).fit_transform(data.X)
    for axis in range(2):
        assert abs(np.corrcoef(seen["pca"][:, axis], components[:, axis])[0, 1]) > 0.999
    assert abs(np.corrcoef(seen["random"][:, 0], components[:, 0])[0, 1]) < 0.3


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, pd.DataFrame, np.ndarray.tolist])
def test_a_start_of_ones_own(data: Synthetic, kind: Any) -> None:
    start = data.X[:, [6, 8]] - data.X[:, [6, 8]].mean(axis=0)
    model = make(init=kind(start), n_iter=1, learning_rate=1e-9).fit(data.X, labels=data.known)
    np.testing.assert_allclose(model.embedding_, start, atol=1e-6)


def test_random_state(data: Synthetic) -> None:
    def mapped(seed: Any) -> Any:
        return make(init="random", random_state=seed).fit_transform(data.X, labels=data.known)

    expected = mapped(7)
    np.testing.assert_array_equal(mapped(np.int32(7)), expected)
    np.testing.assert_array_equal(mapped(np.random.RandomState(7)), expected)
    assert not np.array_equal(mapped(8), expected)
    assert not np.array_equal(mapped(None), mapped(None))
    state = np.random.RandomState(7)
    assert not np.array_equal(mapped(state), mapped(state))


@pytest.mark.parametrize(("n", "n_iter"), [(300, 40), (6000, 8)], ids=["exact", "mesh"])
@pytest.mark.parametrize("way", WAYS, ids=name)
def test_same_bits_again_and_for_any_number_of_threads(
    way: dict[str, Any], n: int, n_iter: int
) -> None:
    made = make_synthetic(n, random_state=0)
    short = {**way, "n_iter": n_iter, "early_exaggeration_iter": n_iter // 2}
    one, two, again = (
        make(**short, n_jobs=n_jobs).fit(made.X, labels=made.known) for n_jobs in (1, 2, 2)
    )
    for other in (two, again):
        np.testing.assert_array_equal(other.embedding_, one.embedding_)
        np.testing.assert_array_equal(other.affinities_.indices, one.affinities_.indices)
        np.testing.assert_array_equal(other.affinities_.data, one.affinities_.data)
        assert other.kl_divergence_ == one.kl_divergence_


@pytest.mark.parametrize("n_components", [1, 3])
def test_same_bits_in_other_dimensions(n_components: int) -> None:
    made = make_synthetic(6000, random_state=0)
    one, two = (
        make(method="joint", n_components=n_components, n_jobs=n_jobs, n_iter=4, dof=0.7)
        .fit(made.X, labels=made.known)
        .embedding_
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_jobs", [None, -1, -2, 1, 3, 10**9])
def test_threads(data: Synthetic, n_jobs: int | None) -> None:
    expected = make(n_jobs=1).fit_transform(data.X, labels=data.known)
    mapped = make(n_jobs=n_jobs).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, expected)


# ---- runs that are watched, stopped and continued ------------------------------------------------


def test_callback(data: Synthetic) -> None:
    calls: list[tuple[int, float, Any]] = []
    model = make(method="revised", n_iter=50, callback=lambda *call: calls.append(call))
    model.set_params(callback_every=10)
    model.set_params(learning_rate=200)  # short steps, so that one changes the loss by little
    model.fit(data.X, labels=data.known)
    assert [iteration for iteration, _, _ in calls] == [10, 20, 30, 40, 50]
    P = model.affinities_.toarray()
    for _, loss, embedding in calls:
        assert embedding.shape == (300, 2)
        # The loss is that of one step before.
        assert loss == pytest.approx(formulas.kl_divergence(P, embedding), rel=0.05)
    np.testing.assert_array_equal(calls[-1][2], model.embedding_)
    assert not np.array_equal(calls[0][2], calls[1][2])
    calls[-1][2][:] = 0
    assert model.embedding_.any()


def test_callback_stops(data: Synthetic) -> None:
    model = make(callback=lambda iteration, *_: iteration >= 20, callback_every=5)
    model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20
    expected = make(n_iter=20).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


def interrupt(iteration: int, *_: object) -> None:
    if iteration == 20:
        raise KeyboardInterrupt


def fail(*_: object) -> None:
    raise RuntimeError("the plot window is gone")


def test_interrupted_and_continued(data: Synthetic) -> None:
    model = make(callback=interrupt, callback_every=20)
    with pytest.warns(UserWarning, match="interrupted after iteration 20"):
        mapped = model.fit_transform(data.X, labels=data.known)
    assert model.n_iter_ == 20 and np.isfinite(model.kl_divergence_)
    expected = make(n_iter=20).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, expected)
    model.resume(20)
    expected = make(n_iter=40).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


def test_an_error_in_the_callback_does_not_lose_the_map(data: Synthetic) -> None:
    model = make(callback=fail, callback_every=20)
    with pytest.raises(RuntimeError, match="window"):
        model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20
    model.set_params(callback=None).resume(20)
    expected = make(n_iter=40).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


@pytest.mark.parametrize(("n", "parts"), [(300, (10, 20, 10)), (6000, (3, 3))])
@pytest.mark.parametrize("way", WAYS, ids=name)
def test_resumed_is_uninterrupted(way: dict[str, Any], n: int, parts: tuple[int, ...]) -> None:
    made = make_synthetic(n, random_state=0)
    whole = make(**way, n_iter=sum(parts), early_exaggeration_iter=5)
    whole.fit(made.X, labels=made.known)
    model = make(**way, n_iter=parts[0], early_exaggeration_iter=5).fit(made.X, labels=made.known)
    for more in parts[1:]:
        assert model.resume(more) is model
    assert model.n_iter_ == whole.n_iter_ == sum(parts)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    assert model.kl_divergence_ == whole.kl_divergence_


@pytest.mark.parametrize("way", WAYS, ids=name)
def test_pickled_in_the_middle(data: Synthetic, way: dict[str, Any]) -> None:
    whole = make(**way).fit(data.X, labels=data.known)
    half = make(**way, n_iter=20).fit(data.X, labels=data.known)
    loaded = pickle.loads(pickle.dumps(half))
    np.testing.assert_array_equal(loaded.embedding_, half.embedding_)
    assert loaded.labels_.names == half.labels_.names
    np.testing.assert_array_equal(loaded.resume(20).embedding_, whole.embedding_)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [({"callback": 3}, "callback"), ({"callback_every": 0}, "callback_every"), ({}, "n_iter")],
)
def test_resume_refuses(data: Synthetic, parameters: dict[str, Any], says: str) -> None:
    model = make(n_iter=5).fit(data.X, labels=data.known)
    with pytest.raises((TypeError, ValueError), match=says):
        model.set_params(**parameters).resume(0)
    assert model.n_iter_ == 5


INTERRUPTED = """
    import os, signal, threading, time, warnings
    import numpy as np
    from ctsne import ConditionalTSNE

    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=({n}, 50)).astype(np.float32), rng.integers(0, 3, {n})
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def start(*_):
        if not threading.active_count() > 1 and not sent:
            threading.Timer(0.3, send).start()

    model = ConditionalTSNE(n_iter=10**6, random_state=0, callback=start, callback_every=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            {before}
            model.fit(X, labels=labels)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    print(time.perf_counter() - sent[0])
    print(hasattr(model, "embedding_") and np.isfinite(model.embedding_).all())
    print([str(warning.message) for warning in caught])
"""


def test_a_refit_that_fails_leaves_the_model_as_it_was(
    data: Synthetic, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make().fit(data.X, labels=data.known)
    before = dict(vars(model))

    def fail(layout: Layout) -> float:
        raise ValueError("the loss of the map is nan")

    monkeypatch.setattr(Layout, "loss", fail)
    with pytest.raises(ValueError, match="loss of the map"):
        model.fit(data.X[:200, :3], labels=data.hidden[:200])
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs signals")
@pytest.mark.parametrize("stage", ["neighbours", "iterations"])
def test_ctrl_c(stage: str) -> None:
    searching = stage == "neighbours"
    n, before = (60_000, "start()") if searching else (20_000, "pass")
    script = INTERRUPTED.format(n=n, before=before)
    run = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    lines = run.stdout.splitlines()
    if searching:  # there is no map yet to keep
        assert lines.pop(0) == "KeyboardInterrupt" and lines[1:] == ["False", "[]"]
    else:
        assert lines[1] == "True" and "interrupted after iteration" in lines[2]
    assert float(lines[0]) < 2


# ---- logging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [0, 1, True, 2])
def test_verbose_logs_and_never_prints(
    data: Synthetic, verbose: int, caplog: Any, capfd: Any
) -> None:
    with caplog.at_level(logging.DEBUG):
        make(verbose=verbose, callback_every=20).fit(data.X, labels=data.known).resume(20)
    assert capfd.readouterr() == ("", "")
    assert {record.name for record in caplog.records} <= {"ctsne"}
    text = caplog.text
    for stage in ("neighbours: 34 for each of 300 points", "similarities: ", "map: 40 iterations"):
        assert (stage in text) == (verbose > 0)
    assert ("map: 60 iterations" in text) == (verbose > 0)
    assert text.count("iteration 20:") == text.count("iteration 60:") == (verbose > 1)


def test_verbose_and_callback_go_together(data: Synthetic, caplog: Any) -> None:
    model = make(verbose=2, callback=lambda iteration, *_: iteration == 20, callback_every=10)
    with caplog.at_level(logging.INFO, "ctsne"):
        model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20 and "iteration 20:" in caplog.text


def test_verbose_is_seen_where_logging_is_not_set_up() -> None:
    script = """
        import numpy as np
        from ctsne import ConditionalTSNE

        X = np.random.default_rng(0).normal(size=(50, 3))
        ConditionalTSNE(method="tsne", perplexity=5, n_iter=10, verbose=1).fit(X)
    """
    run = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "" and "map: 10 iterations" in run.stderr


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({}, None),
        ({"method": "revised", "beta": 1e-3}, None),
        ({"mixing": 0.5}, None),
        ({"strength": 0.8}, "one"),
        ({"method": "original", "odds": 3}, "two"),  # odds replaces beta
        ({"method": "tsne"}, "two"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_strength_is_reported_where_it_was_not_used(
    data: Synthetic, parameters: dict[str, Any], labels: str | None
) -> None:
    known = {None: None, "one": ["a"] * 300, "two": data.known}[labels]
    model = make(**parameters).fit(data.X, labels=known)
    assert model.strength_ is None and model.beta_ is None and model.mixing_ is None


def test_a_fit_leaves_logging_as_it_was(data: Synthetic, capfd: Any) -> None:
    log = logging.getLogger("ctsne")
    before = log.level, log.propagate, list(log.handlers), list(logging.getLogger().handlers)
    make(verbose=1).fit(data.X, labels=data.known)
    after = log.level, log.propagate, list(log.handlers), list(logging.getLogger().handlers)
    assert after == before
    # pytest's handlers take warnings only here, so the stages are written instead.
    assert "map: 40 iterations" in capfd.readouterr().err


@pytest.mark.parametrize(
    "parameters", [{"method": "original", "beta": 1e-300}, {"beta_low": 1e-50}]
)
def test_labels_that_nobody_shares_condition_nothing_in_the_map(parameters: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    settings = {"method": "tsne", "perplexity": 5, "n_iter": 30, "random_state": 0}
    plain = ConditionalTSNE(**settings).fit_transform(X)
    map_now = ConditionalTSNE(**(settings | parameters)).fit_transform(X, labels=np.arange(50))
    np.testing.assert_allclose(map_now, plain, atol=1e-4)


def test_labels_in_another_row_order_are_refused() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    donor = pd.Series(["a", "b"] * 20)
    model = ConditionalTSNE(perplexity=5, n_iter=10)
    with pytest.raises(ValueError, match=r"labels and X have different row names.*labels\.loc"):
        model.fit(frame, labels=donor.sample(frac=1, random_state=0))
    by_name = model.fit(frame, labels=donor.sample(frac=1, random_state=0).loc[frame.index])
    assert np.array_equal(by_name.labels_.codes, np.arange(40) % 2)
    model.fit(frame, labels=donor.to_numpy())


def test_aligned_points_in_another_row_order_are_refused() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    moved, labels = frame + 1, np.arange(40) % 2
    shuffled = moved.sample(frac=1, random_state=0)
    model = ConditionalTSNE(perplexity=5, n_iter=10)
    with pytest.raises(ValueError, match=r"align.* different row names"):
        model.set_params(align=shuffled).fit(frame, labels=labels)
    model.set_params(align=shuffled.loc[frame.index]).fit(frame, labels=labels)
    model.set_params(align=shuffled.to_numpy()).fit(frame, labels=labels)


def test_labels_passed_as_y_are_noticed() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(UserWarning, match="y is ignored: pass the labels as labels="):
        ConditionalTSNE(perplexity=5, n_iter=10).fit(X, np.arange(40) % 2)


def test_a_strength_of_another_method_is_told() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"method": "revised", "strength": 0.5},
            'strength=0.5 has no effect with method="revised": it is for',
        ),
        ({"method": "joint", "beta": 1e-8}, 'beta=1e-08 has no effect with method="joint"'),
        ({"method": "tsne", "beta": {"a": 0.5, "b": 0.1}}, "has no effect"),
        ({"method": "original", "beta": 0.5, "odds": 3}, "and a given odds or beta_low: it is for"),
        (
            {"method": "original", "beta": 0.5, "beta_low": 0.1},
            "and a given odds or beta_low: it is for",
        ),
    ]
    for parameters, message in cases:
        model = ConditionalTSNE(perplexity=5, n_iter=2, early_exaggeration_iter=1, **parameters)
        with pytest.warns(UserWarning, match=message):
            model.fit(np.eye(20), labels=["a", "b"] * 10)
