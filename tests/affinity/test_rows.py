"""Bandwidths of single rows against the reference, and what the diagnostics say of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import _native
from ctsne.affinity import tsne_affinities
from ctsne.affinity.rows import Rows
from ctsne.neighbors import Neighbors, find_neighbors

from .. import reference as formulas
from ..random_columns import as_columns
from .methods import Floats, as_reference, similarities


def star(distances: Any, n_same: int) -> Neighbors:
    """Point 0 with the given neighbours, the first ``n_same`` of its own label; 1.. likewise."""
    k = len(distances)
    indices = np.array([np.delete(np.arange(k + 1), i) for i in range(k + 1)], np.int32)
    rows = np.tile(np.asarray(distances, np.float32), (k + 1, 1))
    lengths = np.tile(np.array([n_same, k - n_same], np.int32), (k + 1, 1))
    return Neighbors(indices, rows, lengths, (0, 1), 1.0)


def weighted(
    distances: Any, n_same: int, log_weights: tuple[float, float], u: float, scale: float
) -> tuple[tuple[float, bool], tuple[float, bool], Floats, Floats]:
    """Bandwidth of point 0 here and in the reference, with the row's squares and weights."""
    neighbors = star(distances, n_same)
    neighbors = replace(neighbors, scale=scale)
    rows = Rows(neighbors, np.tile(log_weights, (len(distances) + 1, 1)), n_jobs=1)
    precision, reached = rows.bandwidths(u, weighted=True)
    d2 = neighbors.distances[0].astype(np.float64) ** 2
    weights = np.where(np.arange(len(d2)) < n_same, *log_weights)
    expected = formulas.search_precision(d2, weights, u, scale)
    return (float(precision[0]), bool(reached[0])), expected, d2, weights


def perplexity_at(tau: float, d2: Floats, weights: Floats) -> float:
    return formulas.perplexity(formulas.row_at(tau, d2, weights))


@given(
    st.integers(2, 80),
    st.integers(0, 2**32),
    st.floats(0, 10),
    st.floats(-690, 0) | st.floats(-20, 0),
    st.floats(-3, 3),
    st.floats(0.02, 0.95),
)
def test_bandwidth_is_that_of_the_reference(
    k: int, seed: int, decades: float, log_beta: float, log_scale: float, part: float
) -> None:
    rng = np.random.default_rng(seed)
    distances = 10 ** rng.uniform(-decades, 0, size=k)
    n_same = int(rng.integers(0, k + 1))
    u = max(1.01, part * k)
    found, expected, d2, weights = weighted(
        distances, n_same, (log_beta, 0.5), u, float(10**log_scale)
    )
    assert found[1] == expected[1]
    reached = perplexity_at(found[0], d2, weights)
    assert reached == pytest.approx(perplexity_at(expected[0], d2, weights), rel=1e-6)
    if expected[1]:
        assert reached == pytest.approx(u, rel=1e-5)
        # The same of several solutions; where entropy is flat, it does not fix more digits.
        assert found[0] == pytest.approx(expected[0], rel=1e-3)


@pytest.mark.parametrize("scale", [0.1, 0.125, 1.0, 8.0])
def test_which_of_several_solutions(scale: float) -> None:
    # Far points of great weight fill a wide kernel, near ones a narrow one: three solutions.
    distances = np.sqrt(np.append(np.linspace(1, 2, 10), np.linspace(60, 70, 10)))
    found, expected, *_ = weighted(distances, 10, (-200.0, 0.0), 5.0, scale)
    assert found[1] and found[0] == pytest.approx(expected[0], rel=1e-6)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("log_beta", [-0.5, -9.0, -690.0])
def test_ties_at_the_nearest_distance(log_beta: float, scale: float) -> None:
    # However narrow the kernel, three points remain; wide enough, one far point takes all.
    found, expected, d2, weights = weighted([1, 1, 1, 2], 3, (log_beta, 4.0), 2.0, scale)
    assert found[1] and expected[1]
    assert perplexity_at(found[0], d2, weights) == pytest.approx(2, rel=1e-5)
    assert found[0] == pytest.approx(expected[0], rel=1e-6)


def test_perplexity_that_is_almost_reached() -> None:
    # The row's entropy has a hump between the lists, narrower than a hundredth of the bandwidth.
    distances = np.sqrt(np.append(np.full(4, 1.0), np.full(4, 9.0)))
    for u, within_reach in ((7.99, True), (8.01, False)):
        found, expected, d2, weights = weighted(distances, 4, (-690.0, 0.0), u, 1.0)
        assert found[1] == expected[1] == within_reach
        assert perplexity_at(found[0], d2, weights) == pytest.approx(min(u, 8.0), rel=1e-5)


@given(st.integers(1, 200), st.integers(0, 2**32), st.floats(-15, 15))
def test_perplexity_without_weights(k: int, seed: int, exponent: float) -> None:
    rng = np.random.default_rng(seed)
    distances = 10 ** (exponent + rng.uniform(-5, 5, size=k))
    neighbors = star(distances, k)
    for u in (1.0, 1.0 + 0.3 * k, 0.999 * k):
        found = tsne_affinities(neighbors, perplexity=max(u, 1.0)).diagnostics
        reached = max(u, 1.0) <= k
        assert found.reached.all() == reached
        np.testing.assert_allclose(found.perplexity, min(max(u, 1.0), k), rtol=1e-5)


def test_sigma_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 3)), as_columns(rng.choice([-1, *[0, 1, 2] * 3], size=60))
    neighbors = find_neighbors(X, labels, lengths=(9, 9))
    D2, lists = as_reference(neighbors)
    weights = formulas.revised_weights(labels.codes, [1e-3])
    found = similarities("revised r", neighbors, labels, 6.0, 1e-3)
    sigma = found.diagnostics.sigma
    np.testing.assert_array_equal(sigma, found.diagnostics.sigma_other)
    rows = np.zeros((60, 60))
    for i, near in enumerate(lists.indices):
        rows[i, near] = formulas.row_at(0.5 / sigma[i] ** 2, D2[i, near], weights[i, near])
    expected = formulas.symmetrize(rows)
    np.testing.assert_allclose(found.matrix.toarray(), expected, rtol=1e-6, atol=1e-12)

    found = similarities("balanced", neighbors, labels, 6.0, 0.6)
    diagnostics, rows = found.diagnostics, np.zeros((60, 60))
    for i, share in enumerate(diagnostics.other_share):
        both = diagnostics.sigma[i], diagnostics.sigma_other[i]
        for near, mass, sigma in zip(lists.split(i), (1 - share, share), both, strict=True):
            if len(near):
                rows[i, near] = mass * formulas.row_at(0.5 / sigma**2, D2[i, near])
    expected = formulas.symmetrize(rows)
    np.testing.assert_allclose(found.matrix.toarray(), expected, rtol=1e-6, atol=1e-12)


def test_scale_of_the_data_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    X, names = rng.normal(size=(50, 3)), list("ab") * 25
    scales = (1.0, 2.0**50, 2.0**-50)
    results = [
        similarities(
            "revised r", find_neighbors(scale * X, names, lengths=(9, 9)), names, 6.0, 1e-9
        )
        for scale in scales
    ]
    sigma = results[0].diagnostics.sigma
    for scale, found in zip(scales, results, strict=True):
        np.testing.assert_allclose(found.matrix.data, results[0].matrix.data, rtol=1e-6)
        np.testing.assert_allclose(found.diagnostics.sigma / scale, sigma, rtol=1e-6)


def test_weights_of_lists() -> None:
    neighbors = star([1.0, 1.0, 1.0], 2)
    weights = Rows(neighbors, n_jobs=1).list_weights(np.full(4, 0.7))
    np.testing.assert_allclose(weights[:, 1] - weights[:, 0], np.log(0.5))
    for n_same, empty in ((0, 0), (3, 1)):
        neighbors = star([1.0, 1.0, 1.0], n_same)
        weights = Rows(neighbors, n_jobs=1).list_weights(np.ones(4))
        assert (weights[:, empty] == -np.inf).all() and np.isfinite(weights[:, 1 - empty]).all()


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 2**32), st.booleans())
def test_rows_of_several_lists(k: int, lists: int, seed: int, mixed: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 5
    lengths = rng.multinomial(k, rng.dirichlet(np.ones(lists)), size=n).astype(np.int32)
    distances = rng.random((n, k)).astype(np.float32)
    weights, precisions = rng.normal(size=(n, lists)), rng.exponential(5, size=(n, lists))
    shares = np.where(lengths > 0, rng.random((n, lists)), 0)
    shares /= shares.sum(axis=1, keepdims=True)
    perplexities = rng.uniform(1, 1 + k, size=(n, lists))
    native = _native.ConditionalRows(distances, lengths, weights, 2)
    if not mixed:
        precisions, _ = native.find_split_bandwidths(perplexities)
    rows, perplexity, found, largest, logs = native.fill(precisions, shares if mixed else None)
    for i in range(n):
        d2 = distances[i].astype(np.float64) ** 2
        d2 -= d2.min()
        which = np.repeat(np.arange(lists), lengths[i])
        unnormalised = np.exp(weights[i, which] - precisions[i, which] * d2)
        totals = np.bincount(which, unnormalised, minlength=lists)
        np.testing.assert_allclose(np.exp(logs[i]), totals, rtol=1e-9)
        expected = unnormalised / totals.sum()
        if mixed:
            expected = unnormalised / totals[which] * shares[i, which]
        else:
            for m in np.flatnonzero(lengths[i]):
                alone = formulas.solve_precision(
                    d2[which == m], np.zeros(lengths[i, m]), perplexities[i, m]
                )
                part = unnormalised[which == m]
                part /= part.sum()
                wanted = np.exp(-alone[0] * (d2[which == m] - d2[which == m].min()))
                np.testing.assert_allclose(part, wanted / wanted.sum(), atol=1e-5)
        np.testing.assert_allclose(rows[i], expected, rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose(found[i], np.bincount(which, expected, minlength=lists))
        assert largest[i] == pytest.approx(expected.max())
        assert perplexity[i] == pytest.approx(formulas.perplexity(expected))


def test_native_rows_refuse_what_does_not_fit() -> None:
    distances, zero = np.ones((3, 2), np.float32), np.zeros((3, 2))
    for lengths in (
        [[0, 2], [1, 1], [3, -1]],
        [[0, 2], [-1, 3], [2, 0]],
        [[0, 2], [1, 0], [2, 0]],
        [[0, 2], [1, 1]],
        [[], [], []],
        [[2, 0, 0]] * 3,
    ):
        with pytest.raises(ValueError, match=r"outside the row|add up|per point|no neighbours"):
            _native.ConditionalRows(distances, np.array(lengths, np.int32), zero, 1)
    rows = _native.ConditionalRows(distances, np.ones((3, 2), np.int32), zero, 1)
    for wrong in (zero[:2], np.zeros((3, 1))):
        with pytest.raises(ValueError, match="one entry per list"):
            rows.fill(wrong)
        with pytest.raises(ValueError, match="one entry per list"):
            rows.fill(zero, wrong)
        with pytest.raises(ValueError, match="one entry per list"):
            rows.find_split_bandwidths(wrong)
    for begin, end in ((-1, 3), (2, 2), (0, 4)):
        with pytest.raises(ValueError, match="rows are outside"):
            rows.find_bandwidths(1.5, False, 1.0, begin, end)


@pytest.mark.parametrize("weight", [-1e6, 1e6, -1e38, np.nan, np.inf])
@pytest.mark.parametrize("distance", [np.nan, np.inf, 0.0, 1e-30, 3e38])
@pytest.mark.parametrize("perplexity", [3.5, 0.0, np.nan, np.inf])
def test_the_search_for_a_bandwidth_ends(weight: float, distance: float, perplexity: float) -> None:
    distances = np.linspace(0, min(distance, 1) or 1, 9, dtype=np.float32)[None]
    distances[0, 3] = distance
    given = distances, np.array([[7, 2]], np.int32), np.array([[weight, -70.0]]), 1
    if not abs(weight) <= 1e6:
        with pytest.raises(ValueError, match="log weight is too large"):
            _native.ConditionalRows(*given)
        return
    precision, _ = _native.ConditionalRows(*given).find_bandwidths(perplexity, True, 1.0)
    assert len(precision) == 1


def test_more_workers_than_work() -> None:
    rows = np.ones((3, 2), np.float32)
    results = [
        _native.ConditionalRows(rows, np.ones((3, 2), np.int32), np.zeros((3, 2)), n_jobs)
        .find_bandwidths(1.5, True, 1.0)[0]
        .tolist()
        for n_jobs in (1, 2**31 - 1)
    ]
    assert results[0] == results[1]
