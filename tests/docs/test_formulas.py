"""Formulas that only the pages on ``joint``, alignment and several columns state.

The other formulas of these pages are those of ``tests/reference``, or of the tests of alignment.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from ctsne.affinity import beta_from_odds, joint_odds
from ctsne.labels import encode_column, encode_labels
from ctsne.neighbors.alignment import commuting_share

from .. import reference as formulas
from ..aligned_points import align_points

U = 8.0
Floats = NDArray[np.float64]


def _data(n: int = 150) -> tuple[Floats, NDArray[np.int64]]:
    """Three clusters of two labels, one of them under one label only, and ten missing labels."""
    rng = np.random.default_rng(0)
    kind, label = np.arange(n) % 3, rng.integers(0, 2, n)
    label[kind == 2] = 0
    X = rng.normal(size=(n, 4)) + 4 * np.eye(3, 4)[kind]
    X[:, 3] += 1.5 * label
    label[:10] = -1
    return X, label


X, LABEL = _data()
N, M = len(X), int((LABEL >= 0).sum())
COUNTS = np.bincount(LABEL[LABEL >= 0])
DIFFER = (LABEL[:, None] != LABEL) & (LABEL[:, None] >= 0) & (LABEL >= 0)
RHO = (COUNTS * (COUNTS - 1)).sum() / (M * (M - 1))
D2 = ((X[:, None] - X) ** 2).sum(axis=2)


def _labels() -> list[Any]:
    return [None if code < 0 else "ab"[code] for code in LABEL]


def test_revised_shifts_log_odds() -> None:
    codes = LABEL[:, None]
    lists = formulas.method_lists("revised", D2, codes, U, [])
    beta = 1e-3
    alpha = (1 - beta * RHO) / (1 - RHO)
    known = LABEL >= 0
    shares = []
    for value in (1.0, beta):
        rows = formulas.revised_rows(D2, lists, codes, U, [value], bandwidth="p")
        shares.append((rows * DIFFER).sum(axis=1)[known])
    w0, w = shares
    assert np.allclose(w / (1 - w), alpha / beta * w0 / (1 - w0), rtol=1e-4)


def test_odds_and_beta() -> None:
    s = np.array([0.0, 0.5, 1.0])
    omega = 10 ** (2 * s**2)
    assert np.allclose(joint_odds(s), omega)
    beta = 1 / (1 + RHO * (omega - 1))
    assert np.allclose(beta_from_odds(encode_labels(_labels()), [omega]), beta)
    assert np.allclose(RHO * omega * beta + (1 - RHO) * beta, 1)  # the published constraint
    for count, odds in ((2, 19), (26, 235)):
        many = encode_labels(np.arange(count * 10_000) % count)
        (found,) = beta_from_odds(many, [np.array(odds)])
        assert found == pytest.approx(0.1, rel=1e-3)


def test_commuting_score() -> None:
    labels = encode_column(_labels())
    Z = align_points(X, labels, "mutual")
    graphs, labelled = [], labels.codes >= 0
    same = ~DIFFER & ~np.eye(N, dtype=bool) & labelled & labelled[:, None]
    for places, wanted in ((X, same), (Z, DIFFER)):
        far = np.where(wanted, ((places[:, None] - places) ** 2).sum(axis=2), np.inf)
        listed = np.zeros((N, N), bool)
        for i, row in enumerate(np.argsort(far, axis=1, kind="stable")[:, :25]):
            listed[i, row[wanted[i, row]]] = True
        graphs.append((listed | listed.T).astype(float))
    S, A = graphs
    expected = np.minimum(S @ A, A @ S).sum() / min((S @ A).sum(), (A @ S).sum())
    assert commuting_share(X, Z, labels) == pytest.approx(expected, rel=1e-6)


def test_several_columns_minimise_a_convex_function() -> None:
    """The gradient of the function on the page is the excess of each column's share."""
    rng = np.random.default_rng(0)
    W = rng.dirichlet(np.ones(4), size=60)
    differs = np.array([[0, 1, 0, 1], [0, 0, 1, 1]])
    targets = np.array([25.0, 31.0])

    def value(weights: Floats) -> float:
        return float(np.log((W * np.exp(weights @ differs)).sum(axis=1)).sum() - weights @ targets)

    def excess(weights: Floats) -> Floats:
        shares = W * np.exp(weights @ differs)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray((shares @ differs.T).sum(axis=0) - targets)

    at = np.array([0.3, -0.7])
    assert np.allclose(approx_fprime(at, value, 1e-7), excess(at), atol=1e-4)
    line = [value(np.array([1.0, -2.0]) * t) for t in np.linspace(-2, 2, 9)]
    assert all(b >= a for a, b in pairwise(np.diff(line)))
