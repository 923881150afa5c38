"""Alignment in a fit, and points without counterparts."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne.datasets import Synthetic, make_synthetic
from ctsne.labels import encode_column
from ctsne.neighbors.alignment import commuting_share

from ..aligned_points import align_points
from .helpers import ALIGNMENTS, make


@pytest.mark.parametrize("align", ALIGNMENTS[1:4])
@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
def test_an_alignment_by_name_is_its_array(data: Synthetic, method: str, align: str) -> None:
    named = make(method=method, align=align).fit(data.X, labels=data.known)
    points = align_points(data.X.astype(np.float32), encode_column(data.known), align)
    given = make(method=method, align=points).fit(data.X, labels=data.known)
    np.testing.assert_array_equal(named.embedding_, given.embedding_)
    assert named.diagnostics_.alignment == align and given.diagnostics_.alignment == "array"
    plain = make(method=method, align="none").fit(data.X, labels=data.known)
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
    assert list(scores) == ["mutual", "local", "mean"]
    chosen = model.diagnostics_.alignment
    assert scores[chosen] == max(scores.values())
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
    says = f'align=.* has no effect with method="{method}": it is for "joint", '
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
            model = make(method=method, align="none").fit(X, labels=labels)
        assert len(caught) == 1
        matched = model.diagnostics_.matched
        assert matched is not None
        assert matched[:30].max() < 0.05 < matched[30:].min() <= matched.max() <= 1
    with pytest.warns(UserWarning, match=says):  # also where the search goes first
        make(mixing=0.9, align="none", n_iter=100).fit(X, labels=labels)
    for method in ("tsne", "original"):
        assert make(method=method).fit(X, labels=labels).diagnostics_.matched is None
    # A few points are no news.
    make().fit(X[15:], labels=labels[15:])
