"""Which points are matched: against the reference, and in cases that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne.neighbors import find_neighbors, matching
from ctsne.neighbors.matching import UNMATCHED, matched_shares

from .. import reference as formulas
from ..random_columns import Codes, as_columns, column_codes


def shares(X: Any, codes: Any) -> Any:
    labels = as_columns(codes)
    return matched_shares(find_neighbors(X, labels, lengths=30), labels)[:, 0]


@settings(max_examples=50)
@given(column_codes(fewest_columns=1, most=80), st.integers(1, 40), st.integers(0, 2**32))
def test_same_as_the_reference(codes: Codes, k: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(len(codes), 2)) + 2.0 * codes[:, :1]
    labels = as_columns(codes)
    found = find_neighbors(X, labels, lengths=k)
    D2 = np.full((len(X),) * 2, np.nan)
    np.put_along_axis(D2, found.indices, found.distances.astype(float), axis=1)
    matched = matched_shares(found, labels)
    assert matched.shape == (len(X), labels.n_columns)
    lists = formulas.Lists(found.indices, found.lengths, found.patterns)
    expected = formulas.matched_shares(D2, lists, labels.codes)
    np.testing.assert_allclose(matched, expected, rtol=1e-12, atol=1e-12)
    assert ((matched >= 0) & (matched <= 1)).all()


@pytest.mark.parametrize("columns", [1, 2])
def test_does_not_depend_on_the_rows_at_once(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 3)), as_columns(rng.integers(3, size=(300, columns)))
    found = find_neighbors(X, labels, lengths=20)
    whole = matched_shares(found, labels)
    monkeypatch.setattr(matching, "_ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(matched_shares(found, labels), whole, rtol=1e-12)


def test_random_labels_are_matched() -> None:
    rng = np.random.default_rng(0)
    matched = shares(rng.normal(size=(1000, 3)), rng.integers(0, 4, 1000))
    assert matched.min() > 0.3 and matched.mean() > 0.8


def test_a_label_that_is_moved_as_a_whole_is_matched_if_aligned() -> None:
    rng = np.random.default_rng(0)
    base, codes = rng.normal(size=(600, 3)), np.arange(600) % 2
    X, labels = base + 20.0 * codes[:, None], as_columns(codes)
    found = find_neighbors(X, labels, lengths=30, aligned=base)
    assert matched_shares(found, labels).mean() > 2 * shares(X, codes).mean()


@pytest.mark.parametrize("near", [True, False])
def test_a_group_under_one_label_is_not_matched(near: bool) -> None:
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(600, 4)), np.arange(600) % 2
    alone = np.arange(600) < 60
    names = np.where(alone, 0, names)
    X[alone] += 6.0 if near else 60.0
    matched = shares(X, names)
    assert matched[alone].max() < UNMATCHED < matched[~alone].min()


def test_points_without_a_label_or_with_the_only_one() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    codes = np.where(np.arange(200) % 5 == 0, -1, np.arange(200) % 2)
    assert (shares(X, codes)[::5] == 1).all()
    assert (shares(X, np.full(200, -1)) == 1).all()
    assert (shares(X, np.zeros(200, int)) == 0).all()  # no counterparts at all
