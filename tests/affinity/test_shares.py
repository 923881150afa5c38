"""Shares of lists: without conditioning, weighted to reach targets, and their perplexities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from ctsne.affinity.shares import natural_log_shares, solve_weights, split_perplexities
from ctsne.neighbors import find_neighbors, occurring_patterns
from ctsne.neighbors.patterns import differing_lists

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes
from .methods import Floats


@settings(max_examples=40)
@given(column_codes(fewest_columns=1), st.integers(0, 2**32))
def test_weights_of_all_columns_are_solved_together(codes: Codes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = as_columns(codes)
    patterns = occurring_patterns(labels)
    differs = differing_lists(patterns, labels.n_columns)
    log_weights = rng.normal(size=(len(codes), len(patterns))) * 3
    pairs = formulas.pattern_matrix(labels.codes)
    for place, pattern in enumerate(patterns):
        log_weights[~(pairs == pattern).any(axis=1), place] = -np.inf
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
    expected = formulas.solve_weights(log_weights, differs, labels.codes, targets)
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
    found = split_perplexities(u, shares, lengths)
    assert (found >= 1).all() and (found <= lengths * (1 + 1e-12)).all()
    entropy = (shares * (np.log(found) - np.log(np.maximum(shares, 1e-300)))).sum(axis=1)
    least = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
    most = least + (shares * np.log(lengths)).sum(axis=1)
    np.testing.assert_allclose(entropy, np.clip(np.log(u), least, most), atol=1e-9)
    for i in range(6):
        expected = formulas.split_perplexities(shares[i], u, lengths[i])
        np.testing.assert_allclose(found[i], expected, rtol=1e-6)


@pytest.mark.parametrize("columns", ["one", "crossed", "nested"])
def test_natural_shares_among_aligned_points_have_the_means_of_the_data(columns: str) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(300, 2))
    X = rng.normal(size=(300, 4))
    shifted = X.copy()
    shifted[:, :2] += 2 * codes
    if columns == "nested":
        codes[:, 1] += 3 * codes[:, 0]
    labels = as_columns(codes[:, :1] if columns == "one" else codes)
    patterns = occurring_patterns(labels)
    shares = []
    for aligned in (None, X):
        lists = find_neighbors(shifted, labels, lengths=20, patterns=patterns, aligned=aligned)
        natural = np.exp(natural_log_shares(lists, labels, perplexity=20, n_jobs=1))
        shares.append(formulas.column_shares(natural, patterns, labels.n_columns).mean(axis=0))
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-6)
