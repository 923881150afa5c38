"""``ConditionalTSNE.trust``: every method and kind of data, the same bits, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph

import ctsne
from ctsne import ConditionalTSNE
from ctsne.estimator import model_of_map
from ctsne.fit.advice import doubt_line
from ctsne.fit.summary import fitted_html
from ctsne.methods import METHODS

QUICK: dict[str, Any] = {"n_iter": 60, "early_exaggeration_iter": 20, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
LABELS = np.array(list("abc"))[np.arange(120) % 3]
MISSING = np.where(np.arange(120) % 5 == 0, None, LABELS.astype(object))


def check(trust: np.ndarray, n: int) -> None:
    assert trust.shape == (n,) and trust.dtype == np.float32
    assert np.isfinite(trust).all() and trust.min() >= 0 and trust.max() <= 1


@pytest.mark.parametrize("labels", [LABELS, MISSING, [LABELS, np.arange(120) % 2], None])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_and_the_same_bits_for_any_threads(method: str, labels: Any) -> None:
    if labels is None and method != "tsne":
        pytest.skip("needs labels")
    model = ConditionalTSNE(method=method, perplexity=10, n_jobs=1, **QUICK).fit(X, labels=labels)
    found = model.trust()
    check(found, 120)
    assert model.trust_ is found
    assert np.array_equal(found, model.set_params(n_jobs=2).trust())


@pytest.mark.parametrize("align", ["none", "mutual", "local", "mean", "auto", X[:, :3]])
def test_every_alignment(align: Any) -> None:
    model = ConditionalTSNE(align=align, perplexity=10, **QUICK).fit(X, labels=LABELS)
    check(model.trust(), 120)


@pytest.mark.parametrize("sparse", [False, True])
def test_distances(sparse: bool) -> None:
    given = kneighbors_graph(X, 40, mode="distance") if sparse else cdist(X, X)
    model = ConditionalTSNE(metric="precomputed", init="random", perplexity=10, **QUICK)
    check(model.fit(given, labels=LABELS).trust(), 120)


def test_full_distances_give_the_trust_of_the_features() -> None:
    """On one map, apart from points at almost equal distances, whose order rounding decides."""
    settings = {"init": "random", "perplexity": 10, "align": "none", **QUICK}
    plain = ConditionalTSNE(pca=None, **settings).fit(X, labels=LABELS)
    given = {**settings, "metric": "precomputed"}
    other = model_of_map(given, cdist(X, X), LABELS, plain.embedding_)
    np.testing.assert_allclose(plain.trust(), other.trust(), rtol=0, atol=0.02)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [2, 4, 9])
@pytest.mark.parametrize("kind", ["any", "identical", "duplicates"])
def test_few_points_and_equal_ones(n: int, kind: str) -> None:
    few = {"any": X[:n], "identical": np.ones((n, 3)), "duplicates": X[np.arange(n) // 2]}[kind]
    model = ConditionalTSNE(perplexity=1, **QUICK).fit(few, labels=np.arange(n) % 2)
    check(model.trust(), n)


def test_a_point_is_not_its_own_neighbour_when_placed_again() -> None:
    """A far point lands next to its nearest neighbours, not where it was."""
    model = ConditionalTSNE(method="tsne", perplexity=10, n_iter=300, random_state=0).fit(X)
    places = model.embedding_.copy()
    places[7] += 1000
    source = model._lazy_reference.source
    assert source is not None
    model.embedding_ = places
    again = model._reference.place_again(source.features, 1)
    rest = np.delete(places, 7, axis=0)
    assert np.linalg.norm(again[7] - rest.mean(axis=0)) < 2 * np.ptp(rest, axis=0).max()
    itself = model.transform(X[7:8])  # it is a neighbour of its copy
    assert np.linalg.norm(itself - places[7]) < np.linalg.norm(again[7] - places[7])


def test_kept_until_the_map_changes() -> None:
    model = ConditionalTSNE(perplexity=10, **QUICK).fit(X, labels=LABELS)
    with pytest.raises(AttributeError, match=r"trust_ is not computed yet; call trust\(\)"):
        _ = model.trust_
    before = model.trust()
    matched = model.diagnostics_.matched
    assert doubt_line(before, model.labels_, matched=matched) in fitted_html(model)
    model.resume(20)
    assert not hasattr(model, "trust_")
    assert not np.array_equal(model.trust(), before)
    model.fit(X, labels=LABELS)
    assert not hasattr(model, "trust_")


def test_refused_before_a_fit_and_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        ConditionalTSNE().trust()
    model = ConditionalTSNE(perplexity=10, **QUICK).fit(X, labels=LABELS)
    model.save(tmp_path / "model.ctsne")
    with pytest.raises(ValueError, match="trust has nothing to go by: it was loaded from a file"):
        ctsne.load(tmp_path / "model.ctsne").trust()
