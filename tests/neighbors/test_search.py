"""The exact search against the oracle, and against scikit-learn where the oracle is too slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from ctsne import oracle
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import Neighbors, find_neighbors


def labels_of(codes: Any) -> Labels:
    return encode_labels([None if code < 0 else int(code) for code in codes])


@st.composite
def label_codes(draw: st.DrawFn, n: int, rng: np.random.Generator) -> Any:
    """Few labels, tiny ones beside large ones, as many as points; some of them missing."""
    kind = draw(st.sampled_from(["few", "tiny", "all different", "one"]))
    if kind == "few":
        codes = rng.integers(draw(st.integers(1, 6)), size=n)
    elif kind == "tiny":
        codes = np.where(np.arange(n) < draw(st.integers(1, 5)), np.arange(n), 9)
    else:
        codes = np.arange(n) if kind == "all different" else np.zeros(n, int)
    codes = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.9])), -1, codes)
    # Numbered from 0 without gaps, as label columns are.
    return np.unique(np.append(codes, -1), return_inverse=True)[1][:n] - 1


@st.composite
def problems(draw: st.DrawFn, *, ties: bool = False) -> tuple[Any, Any, Any, Any]:
    n, d = draw(st.integers(2, 200)), draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    if ties:  # small integers: their distances are exact in any order of summation
        X = rng.integers(0, draw(st.integers(1, 6)), size=(n, min(d, 6)))
    else:
        X = rng.normal(size=(n, d)) * rng.lognormal(sigma=2, size=d)
    total = draw(st.integers(1, n + 5))
    k_same = rng.integers(0, total + 1, size=n)
    return X.astype(dtype), draw(label_codes(n, rng)), k_same, total - k_same


def check(found: Neighbors, X: Any, codes: Any, metric: Any = "euclidean") -> None:
    """Compare with the oracle's lists of the same lengths."""
    n, length = found.indices.shape
    D2 = oracle.squared_distances(X, metric=metric)
    indices, _ = oracle.neighbor_lists(D2, codes, found.n_same, length - found.n_same)
    np.testing.assert_array_equal(found.indices, indices)
    expected = np.sqrt(np.take_along_axis(D2, indices, axis=1))
    np.testing.assert_allclose(found.distances, expected, rtol=1e-6, atol=1e-12)
    assert found.indices.dtype == found.n_same.dtype == np.int32
    assert found.distances.dtype == np.float32


@given(problems())
def test_equals_the_oracle(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    found = find_neighbors(X, labels_of(codes), k_same=k_same, k_other=k_other)
    check(found, X, codes)
    assert found.indices.shape[1] == min(k_same[0] + k_other[0], len(X) - 1)
    centred = X - X.mean(axis=0, dtype=np.float64)
    assert found.scale == pytest.approx(np.abs(centred).max())


@given(problems(ties=True))
def test_ties_and_duplicates_by_index(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    check(find_neighbors(X, labels_of(codes), k_same=k_same, k_other=k_other), X, codes)


@settings(max_examples=40)
@given(problems())
def test_cosine(problem: Any) -> None:
    X, codes, k_same, k_other = problem
    X = X + np.sign(X.sum())  # one feature has two directions only: ties between unequal roundings
    X = np.column_stack([X, X[:, 0] ** 2])
    found = find_neighbors(X, labels_of(codes), k_same=k_same, k_other=k_other, metric="cosine")
    n, length = found.indices.shape
    D2 = oracle.squared_distances(X, metric="cosine")
    indices, _ = oracle.neighbor_lists(D2, codes, found.n_same, length - found.n_same)
    expected = np.sqrt(np.take_along_axis(D2, indices, axis=1))
    np.testing.assert_allclose(found.distances, expected, rtol=1e-5, atol=1e-13)
    assert found.scale == 1.0


@settings(max_examples=30)
@given(problems(), st.sampled_from([1e4, 1e6, -1e6]))
def test_far_from_the_origin(problem: Any, offset: float) -> None:
    X, codes, k_same, k_other = problem
    if abs(offset) > 1e4:  # float32 has no digits left there
        X = X.astype(np.float64)
    far = X + X.dtype.type(offset)
    check(find_neighbors(far, labels_of(codes), k_same=k_same, k_other=k_other), far, codes)


@settings(max_examples=30)
@given(problems(), st.sampled_from([1e-15, 1e15]))
def test_any_scale(problem: Any, scale: float) -> None:
    X, codes, k_same, k_other = problem
    X = X * X.dtype.type(scale)
    found = find_neighbors(X, labels_of(codes), k_same=k_same, k_other=k_other)
    check(found, X / scale if X.dtype == np.float64 else X, codes) if scale > 1 else check_indices(
        found, X, codes
    )
