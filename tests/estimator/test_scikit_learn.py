"""scikit-learn's contract: checks, cloning, frames, pipelines, labels of any kind."""

from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ctsne import ConditionalTSNE
from ctsne.datasets import Synthetic

from .helpers import make


class LabelledTSNE(ConditionalTSNE):
    """Brings its own labels, so that scikit-learn's checks see conditioned maps too."""

    def fit(
        self, X: Any, y: object = None, *, labels: object = None, numbers: object = None
    ) -> Self:
        shape = np.shape(X)
        return super().fit(X, labels=np.arange(shape[0]) % 2 if shape else None)


PLACED = "transform places the points of the fit next to their positions, not on them"
# Both compare transform with fit_transform; tests/placing checks what else they do.
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
        for kind, method in (
            (ConditionalTSNE, "joint"),
            (LabelledTSNE, "original"),
            (LabelledTSNE, "joint"),
        )
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
    assert model.diagnostics_.alignment == "local" and not model.diagnostics_.alignment_scores
    assert (model.strength_, model.beta_, model.mixing_) == (0.7, None, None)
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
    with pytest.warns(UserWarning, match="y is ignored"):
        ignored = make().fit(data.X, data.known).embedding_
    np.testing.assert_array_equal(ignored, make(method="tsne").fit(data.X).embedding_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(data: Synthetic, library: str) -> None:
    columns = {f"gene {i}": data.X[:, i] for i in range(10)}
    frame: Any = pl.DataFrame(columns)
    if library == "pandas":
        frame = pd.DataFrame(columns, index=[f"cell {i}" for i in range(300)])
    model = make().set_output(transform=library)
    mapped = model.fit_transform(frame, labels=data.known)
    assert type(mapped) is type(frame)
    assert library == "polars" or mapped.index.equals(frame.index)
    assert list(mapped.columns) == list(model.get_feature_names_out())
    assert list(mapped.columns) == ["ctsne_1", "ctsne_2"]
    assert list(model.feature_names_in_) == list(columns)
    expected = make().fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped.to_numpy(), expected)


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


@pytest.mark.parametrize("argument", ["labels", "align"])
def test_rows_in_another_order_are_refused(argument: str) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    donor = pd.Series(["a", "b"] * 20)
    given: Any = donor if argument == "labels" else frame + 1
    shuffled = given.sample(frac=1, random_state=0)
    model = make(perplexity=5, n_iter=10)

    def fit(value: Any) -> ConditionalTSNE:
        if argument == "labels":
            return model.fit(frame, labels=value)
        return model.set_params(align=value).fit(frame, labels=donor)

    with pytest.raises(ValueError, match=f"{argument}.* different row names"):
        fit(shuffled)
    assert np.array_equal(fit(shuffled.loc[frame.index]).embedding_, fit(given).embedding_)
    fit(shuffled.to_numpy())
