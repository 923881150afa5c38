"""Similarities with several label columns against the reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax

from ctsne.affinity import Affinities, tsne_affinities
from ctsne.affinity.shares import natural_log_shares, solve_weights, split_perplexities
from ctsne.labels import Labels, encode_column
from ctsne.neighbors import (
    Neighbors,
    balanced_lengths,
    find_neighbors,
    joint_lengths,
    occurring_patterns,
    paper_lengths,
)
from ctsne.neighbors.matching import matched_shares
from ctsne.neighbors.patterns import differing_lists

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes
from .methods import balanced_affinities, joint_affinities, revised_affinities

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    X: Floats
    codes: Codes
    labels: Labels
    patterns: tuple[int, ...]
    perplexity: float


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    codes = draw(column_codes())
    n = len(codes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(n, 4))
    X[:, : codes.shape[1]] += draw(st.floats(0, 4)) * codes
    labels = as_columns(codes)
    # Near whole numbers, a row can change while its perplexity does not.
    perplexity = draw(st.integers(1, n // 4)) + draw(st.floats(0.1, 0.9))
    return Problem(X, labels.codes.astype(np.int64), labels, occurring_patterns(labels), perplexity)


def squares(neighbors: Neighbors) -> Floats:
    """Squared distances as the neighbours have them, n × n; nan where there are none."""
    D2 = np.full((len(neighbors.indices),) * 2, np.nan)
    np.put_along_axis(D2, neighbors.indices, neighbors.distances.astype(float) ** 2, axis=1)
    return D2


def found(problem: Problem, lengths: Any) -> Neighbors:
    return find_neighbors(problem.X, problem.labels, lengths=lengths, patterns=problem.patterns)


def knobs(draw: st.DrawFn, problem: Problem, values: st.SearchStrategy[float]) -> Any:
    if draw(st.booleans()):
        return draw(values)
    return np.array([draw(values) for _ in problem.labels.names])


def compare(result: Affinities, rows: Floats, problem: Problem, rtol: float = 1e-4) -> None:
    """Compare a matrix and its diagnostics with dense conditional rows."""
    expected = (rows + rows.T) / (2 * len(rows))
    matrix = result.matrix.toarray()
    np.testing.assert_allclose(matrix, expected, rtol=rtol, atol=1e-7)
    pattern = formulas.pattern_matrix(problem.codes)
    diagnostics = result.diagnostics
    shares = (rows * (pattern > 0)).sum(axis=1)
    np.testing.assert_allclose(diagnostics.other_share, shares, rtol=rtol, atol=1e-7)
    for c, name in enumerate(problem.labels.names):
        share = (rows * (pattern >> c & 1)).sum(axis=1)
        np.testing.assert_allclose(diagnostics.column_shares[name], share, rtol=rtol, atol=1e-7)
    of_columns = [diagnostics.column_matched[name] for name in problem.labels.names]
    np.testing.assert_array_equal(diagnostics.matched, np.min(of_columns, axis=0))


@given(problems(), st.data())
def test_revised_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    beta = knobs(data.draw, problem, st.floats(-12, 0).map(lambda e: 10**e))  # type: ignore[arg-type]
    bandwidth = data.draw(st.sampled_from(["r", "p"]))
    neighbors = found(problem, paper_lengths(problem.patterns, problem.perplexity))
    result = revised_affinities(
        neighbors, problem.labels, perplexity=problem.perplexity, beta=beta, bandwidth=bandwidth
    )
    rows = formulas.column_rows(
        "revised",
        squares(neighbors),
        neighbors.indices,
        neighbors.lengths,
        problem.patterns,
        problem.codes,
        problem.perplexity,
        beta,
        bandwidth=bandwidth,
        scale=neighbors.scale,
    )
    effective = [formulas.perplexity(row) for row in rows]
    np.testing.assert_allclose(result.diagnostics.perplexity, effective, rtol=1e-4)
    # Out of reach, the flat top of the perplexity fixes few digits of a row.
    if bandwidth == "p" or result.diagnostics.reached.all():
        compare(result, rows, problem, rtol=5e-3)


@given(problems(), st.data())
def test_balanced_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    strength = knobs(data.draw, problem, st.floats(0, 1))  # type: ignore[arg-type]
    u = problem.perplexity
    knob = np.broadcast_to(strength, problem.labels.n_columns).tolist()
    neighbors = found(problem, balanced_lengths(problem.labels, problem.patterns, u, knob))
    result = balanced_affinities(neighbors, problem.labels, perplexity=u, strength=strength)
    rows = formulas.column_rows(
        "balanced",
        squares(neighbors),
        neighbors.indices,
        neighbors.lengths,
        problem.patterns,
        problem.codes,
        u,
        strength,
    )
    compare(result, rows, problem, rtol=1e-3)
    effective = [formulas.perplexity(row) for row in rows]
    np.testing.assert_allclose(result.diagnostics.perplexity, effective, rtol=1e-4)


@settings(max_examples=25)
@given(problems(), st.data())
def test_joint_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    strength = knobs(data.draw, problem, st.floats(0, 1))  # type: ignore[arg-type]
    u = problem.perplexity
    neighbors = found(problem, joint_lengths(problem.patterns, u))
    D2 = squares(neighbors)
    lists = D2, neighbors.indices, neighbors.lengths, problem.patterns, problem.codes
    matched = formulas.columns_matched(*lists)
    np.testing.assert_allclose(matched_shares(neighbors, problem.labels), matched, rtol=1e-12)
    result = joint_affinities(neighbors, problem.labels, perplexity=u, strength=strength)
    rows = formulas.column_rows("joint", *lists, u, strength)
    compare(result, rows, problem, rtol=2e-3)


@settings(max_examples=40)
@given(column_codes(), st.integers(0, 2**32), st.floats(0.02, 0.98))
def test_weights_of_all_columns_are_solved_together(codes: Codes, seed: int, part: float) -> None:
    rng = np.random.default_rng(seed)
    labels = as_columns(codes)
    patterns = occurring_patterns(labels)
    differs = differing_lists(patterns, labels.n_columns)
    log_weights = rng.normal(size=(len(codes), len(patterns))) * 3
    pattern = formulas.pattern_matrix(labels.codes.astype(np.int64))
    for place, each in enumerate(patterns):
        log_weights[~(pattern == each).any(axis=1), place] = -np.inf
    log_weights[:, 0] = rng.normal(size=len(codes))

    def means(weights: Floats) -> Floats:
        shares = softmax(log_weights + weights @ differs, axis=1) @ differs.T
        return np.array([shares[labels.codes[:, c] >= 0, c].mean() for c in range(len(differs))])

    targets = means(rng.normal(size=labels.n_columns) * 2)  # can be reached
    inner = {pair[0] for pair in labels.nested()}
    weights = solve_weights(log_weights, differs, labels, targets, inner=inner)
    for c, (reached, target) in enumerate(zip(means(weights), targets, strict=True)):
        if c in inner and weights[c] == 0:
            assert reached >= target - 1e-9
        else:
            assert reached == pytest.approx(target, abs=1e-8)
    expected = formulas.solve_column_weights(
        log_weights, patterns, labels.codes.astype(np.int64), targets
    )
    np.testing.assert_allclose(means(weights), means(expected), atol=1e-6)
    free = solve_weights(log_weights, differs, labels, targets)
    np.testing.assert_allclose(means(free), targets, atol=1e-8)
    unreachable = np.where(np.arange(labels.n_columns) == 0, 1.5, targets)
    assert np.isfinite(solve_weights(log_weights, differs, labels, unreachable)).all()


@given(st.integers(0, 2**32), st.integers(2, 8), st.floats(1.0, 30))
def test_the_mixture_has_the_perplexity(seed: int, lists: int, u: float) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(lists, 0.4), size=6)
    lengths = rng.integers(1, 40, size=(6, lists))
    each = split_perplexities(u, shares, lengths)
    assert (each >= 1).all() and (each <= lengths * (1 + 1e-12)).all()
    entropy = (shares * (np.log(each) - np.log(np.maximum(shares, 1e-300)))).sum(axis=1)
    least = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
    most = least + (shares * np.log(lengths)).sum(axis=1)
    np.testing.assert_allclose(entropy, np.clip(np.log(u), least, most), atol=1e-9)
    for i in range(6):
        expected = formulas.pattern_perplexities(shares[i], u, lengths[i])
        np.testing.assert_allclose(each[i], expected, rtol=1e-6)


@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_two_lists_as_one_column(strength: float) -> None:
    """Two columns with the same labels condition as one: lists that differ in both, or in none."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=60)
    X = rng.normal(size=(60, 3)) + codes[:, None]
    both = as_columns(np.stack([codes, codes], axis=1))
    assert occurring_patterns(both) == (0, 3)
    lists = find_neighbors(X, both, lengths=np.full(2, 14), patterns=(0, 3))
    one = encode_column(codes)
    plain = find_neighbors(X, one, lengths=14)
    np.testing.assert_array_equal(lists.indices, plain.indices)
    result = balanced_affinities(lists, both, perplexity=8, strength=strength)
    assert result.diagnostics.reached.all()
    again = tsne_affinities(lists, perplexity=8), tsne_affinities(plain, perplexity=8)
    np.testing.assert_array_equal(again[0].matrix.data, again[1].matrix.data)


def test_the_result_does_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(400, 2))
    labels = as_columns(codes)
    X = rng.normal(size=(400, 5)) + codes[:, :1]
    patterns = occurring_patterns(labels)
    results = []
    for n_jobs in (1, 3):
        lists = find_neighbors(X, labels, lengths=np.full(4, 20), patterns=patterns, n_jobs=n_jobs)
        results.append(joint_affinities(lists, labels, perplexity=12, strength=0.7, n_jobs=n_jobs))
    np.testing.assert_array_equal(results[0].matrix.data, results[1].matrix.data)
    np.testing.assert_array_equal(results[0].matrix.indices, results[1].matrix.indices)


def test_every_column_reaches_its_share() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(600, 2))
    X = rng.normal(size=(600, 5))
    X[:, :2] += 3 * codes
    labels = as_columns(codes)
    lists = find_neighbors(X, labels, lengths=np.full(4, 34), patterns=(0, 1, 2, 3))
    natural = np.exp(natural_log_shares(lists, labels, perplexity=34, n_jobs=1))
    before = formulas.of_columns(natural, lists.patterns, 2).mean(axis=0)
    for strengths in ([0.3, 0.9], [0.9, 0.3]):
        result = joint_affinities(lists, labels, perplexity=20, strength=np.array(strengths))
        shares = [share.mean() for share in result.diagnostics.column_shares.values()]
        for w, w0, strength in zip(shares, before, strengths, strict=True):
            assert w == pytest.approx(w0 + 0.65 * strength**0.75 * (2 / 3 - w0), abs=2e-3)
        assert result.diagnostics.reached.all()


@pytest.mark.parametrize("nested", [False, True])
def test_shares_among_aligned_points_start_from_those_without(nested: bool) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(300, 2))
    X = rng.normal(size=(300, 4))
    shifted = X.copy()
    shifted[:, :2] += 2 * codes
    if nested:
        codes[:, 1] += 3 * codes[:, 0]
    labels = as_columns(codes)
    patterns = occurring_patterns(labels)
    lists = {"lengths": np.full(len(patterns), 20), "patterns": patterns}
    plain = find_neighbors(shifted, labels, **lists)  # type: ignore[arg-type]
    moved = find_neighbors(shifted, labels, aligned=X, **lists)  # type: ignore[arg-type]
    shares = [
        formulas.of_columns(
            np.exp(natural_log_shares(each, labels, perplexity=20, n_jobs=1)), patterns, 2
        ).mean(axis=0)
        for each in (plain, moved)
    ]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-6)
