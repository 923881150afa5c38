"""The formulas of the pages on ``joint`` and alignment, as they are written there.

Nothing of the package is used to evaluate them, and the result is compared with the package.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, brentq

from ctsne import ConditionalTSNE
from ctsne.affinity import beta_from_odds, joint_odds
from ctsne.labels import encode_column
from ctsne.neighbors.alignment import align_points, commuting_share

from .. import reference as formulas

# One cluster occurs under one label only, which is worth a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*have no counterpart")

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


def _gauss(d2: Floats, perplexity: float) -> Floats:
    """Return Gaussian similarities with the perplexity."""

    def row(log_tau: float) -> Floats:
        p = np.exp(-np.exp(log_tau) * (d2 - d2.min()))
        return p / p.sum()

    def excess(log_tau: float) -> float:
        p = row(log_tau)
        return float(-(p[p > 0] * np.log(p[p > 0])).sum() - np.log(perplexity))

    if np.isclose(perplexity, len(d2)):
        return np.full(len(d2), 1 / len(d2))
    return row(brentq(excess, -40, 40, xtol=1e-13))


def _lists(length: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    lists = []
    for i in range(N):
        order = np.array([j for j in np.argsort(D2[i]) if j != i])
        lists.append((order[~DIFFER[i, order]][:length], order[DIFFER[i, order]][:length]))
    for i in np.flatnonzero(LABEL < 0):  # nothing differs: the first list is longer
        order = np.array([j for j in np.argsort(D2[i]) if j != i])
        lists[i] = (order[: 2 * length], order[:0])
    return lists


def _joint(strength: float) -> tuple[Floats, Floats, Floats]:
    """Return dense rows, shares and matching of ``joint``, as the page defines them."""
    half = int(np.ceil(5 / 3 * U))
    length = 2 * half
    lists = _lists(half)
    natural = np.zeros(N)
    for i, (same, other) in enumerate(lists):
        row = _gauss(D2[i, np.concatenate([same, other])], length / 2)
        natural[i] = row[len(same) :].sum()

    named, given = np.zeros(N), np.zeros(len(COUNTS))
    for i, (_, other) in enumerate(lists):
        named[other[:15]] += 1
        if LABEL[i] >= 0:
            given[LABEL[i]] += len(other[:15])
    matched = np.ones(N)
    b = np.zeros(N)
    for j in np.flatnonzero(LABEL >= 0):
        others = [label for label in range(len(COUNTS)) if label != LABEL[j]]
        b[j] = named[j] / sum(given[label] / (M - COUNTS[label]) for label in others)
    for i in np.flatnonzero(LABEL >= 0):
        near = [j for j in lists[i][0][:30] if LABEL[j] >= 0]
        matched[i] = min(1.0, b[[i, *near]].mean())

    known = LABEL >= 0
    odds = np.maximum(matched, 0.02) * natural / (1 - natural)
    w0 = natural[known].mean()
    w1 = np.mean([(M - COUNTS[label]) / (N - 1) for label in LABEL[known]])
    target = w0 + 0.65 * strength**0.75 * (w1 - w0)

    def shares(log_weight: float) -> Floats:
        moved = np.exp(log_weight) * odds
        return np.where(known, moved / (1 + moved), 0.0)

    w = shares(brentq(lambda each: shares(each)[known].mean() - target, -50, 50, xtol=1e-14))

    total = int(np.ceil(length / 2))
    rows = np.zeros((N, N))
    for i, (same, other) in enumerate(lists):
        k = min(int(np.ceil(total * w[i] - 1e-6)), total - 1) if w[i] > 0 else 0
        parts = [(same[: total - k], 1 - w[i]), (other[:k], w[i])]
        wanted = _perplexities(w[i], total - k, k)
        for (points, share), u in zip(parts, wanted, strict=True):
            if len(points):
                rows[i, points] = share * _gauss(D2[i, points], u)
    return rows, w, matched


def _perplexities(w: float, n_same: int, n_other: int) -> tuple[float, float]:
    """Return (1-w)u and wu; if one is not possible, the other makes up for it."""
    if n_other == 0:
        return min(U, n_same), 1.0
    left = np.log(U) + w * np.log(w) + (1 - w) * np.log(1 - w)
    other = np.clip(np.log(w * U), 0, np.log(n_other))
    same = (left - w * other) / (1 - w)
    if not 0 <= same <= np.log(n_same):
        same = np.clip(same, 0, np.log(n_same))
        other = np.clip((left - (1 - w) * same) / w, 0, np.log(n_other))
    return float(np.exp(same)), float(np.exp(other))


@pytest.mark.parametrize("strength", [0.0, 0.6, 1.0])
def test_similarities_of_joint(strength: float) -> None:
    rows, shares, matched = _joint(strength)
    model = ConditionalTSNE(strength=strength, perplexity=U, n_iter=1, early_exaggeration_iter=0)
    model.fit(X, labels=_labels())
    assert np.allclose(model.diagnostics_.matched, matched)
    assert np.allclose(model.diagnostics_.other_share, shares, atol=1e-6)
    assert np.allclose(model.affinities_.toarray(), (rows + rows.T) / (2 * N), atol=1e-8)
    entropy = -np.where(rows > 0, rows * np.log(np.where(rows > 0, rows, 1)), 0).sum(axis=1)
    assert np.allclose(np.exp(entropy), U)  # the perplexity is exact


def test_revised_shifts_log_odds() -> None:
    lengths = formulas.list_lengths(LABEL, U)
    indices, _ = formulas.neighbor_lists(D2, LABEL, *lengths)
    beta = 1e-3
    alpha = (1 - beta * RHO) / (1 - RHO)
    known = LABEL >= 0
    shares = []
    for each in (1.0, beta):
        rows = formulas.revised_rows(D2, indices, LABEL, U, each, bandwidth="p")
        other = np.take_along_axis(DIFFER, indices, axis=1)
        shares.append((rows * other).sum(axis=1)[known])
    w0, w = shares
    assert np.allclose(w / (1 - w), alpha / beta * w0 / (1 - w0), rtol=1e-4)


def test_odds_and_beta() -> None:
    s = np.array([0.0, 0.5, 1.0])
    omega = 10 ** (2 * s**2)
    assert np.allclose(joint_odds(s), omega)
    labels = encode_column(_labels())
    beta = 1 / (1 + RHO * (omega - 1))
    assert np.allclose(beta_from_odds(labels, omega), beta)
    assert np.allclose(RHO * omega * beta + (1 - RHO) * beta, 1)  # the published constraint
    for count, odds in ((2, 19), (26, 235)):
        many = encode_column(np.arange(count * 10_000) % count)
        assert beta_from_odds(many, float(odds)).item() == pytest.approx(0.1, rel=1e-3)


def _weights(omega: float) -> Floats:
    beta = 1 / (1 + RHO * (omega - 1))
    missing = (LABEL[:, None] < 0) | (LABEL < 0)
    return np.where(missing, 1.0, np.where(DIFFER, beta, omega * beta)) * (1 - np.eye(N))


def _cost(Y: Floats, r: Floats, c: Floats) -> float:
    K = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    q = c * K / (c * K).sum()
    there = r > 0
    return float((r[there] * np.log(r[there] / q[there])).sum())


def test_cost_and_gradient() -> None:
    strength = 0.7
    rows, _, _ = _joint(strength)
    r, c = (rows + rows.T) / (2 * N), _weights(10 ** (2 * strength**2))
    Y = np.random.default_rng(1).normal(size=(N, 2))
    K = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    apart = Y[:, None] - Y
    q = c * K / (c * K).sum()
    gradient = 4 * (((r - q) * K)[:, :, None] * apart).sum(axis=1)
    numeric = approx_fprime(Y.ravel(), lambda y: _cost(y.reshape(N, 2), r, c), 1e-7)
    assert np.allclose(gradient.ravel(), numeric, atol=1e-5)
    # The weights change the repulsion alone, which is the gradient of a potential.
    repulsion = 4 / (c * K).sum() * ((c * K**2)[:, :, None] * apart).sum(axis=1)

    def potential(y: Floats) -> float:
        return float((c[0] / (1 + ((y - Y) ** 2).sum(axis=1))).sum())

    slope = -2 / (c * K).sum() * approx_fprime(Y[0], potential, 1e-7)
    assert np.allclose(repulsion[0], slope, atol=1e-6)
    model = ConditionalTSNE(strength=strength, perplexity=U, n_iter=30, early_exaggeration_iter=0)
    model.fit(X, labels=_labels())
    assert model.kl_divergence_ == pytest.approx(
        _cost(model.embedding_.astype(np.float64), r, c), rel=1e-3
    )


def test_special_cases() -> None:
    settings: dict[str, Any] = {"perplexity": U, "n_iter": 20, "early_exaggeration_iter": 10}
    plain = ConditionalTSNE(method="tsne", **settings).fit(X)
    with pytest.warns(UserWarning, match="nothing to factor out"):
        alike = ConditionalTSNE(**settings).fit(X, labels=["a"] * N)
    assert np.array_equal(plain.embedding_, alike.embedding_)
    weakest = ConditionalTSNE(strength=0, **settings).fit(X, labels=_labels())
    assert abs(weakest.affinities_ - plain.affinities_).max() > 0  # close to t-SNE, not the same


def _pairs(Z: Floats, k: int = 10) -> NDArray[np.bool_]:
    far = np.where(DIFFER, ((Z[:, None] - Z) ** 2).sum(axis=2), np.inf)
    nearest = np.argsort(far, axis=1, kind="stable")[:, :k]
    listed = np.zeros((N, N), bool)
    np.put_along_axis(listed, nearest, True, axis=1)
    listed &= DIFFER
    return listed & listed.T


def test_mutual_alignment() -> None:
    v = np.zeros((2, 4))
    for _ in range(5):
        Z = np.where((LABEL >= 0)[:, None], X + v[LABEL], X)
        steps = np.zeros_like(v)
        for label in range(2):
            i, j = np.nonzero(_pairs(Z) & (label == LABEL)[:, None])
            steps[label] = (Z[j] - Z[i]).sum(axis=0) / (2 * len(i))
        v += steps
    expected = np.where((LABEL >= 0)[:, None], X + v[LABEL], X)
    assert np.allclose(align_points(X, encode_column(_labels()), "mutual"), expected)


def test_local_alignment() -> None:
    Z = X.copy()
    for _ in range(5):
        pairs = _pairs(Z)
        paired = np.flatnonzero(pairs.any(axis=1))
        wish = {k: (Z[pairs[k]] - Z[k]).sum(axis=0) / (2 * pairs[k].sum()) for k in paired}
        moved = Z.copy()
        for i in np.flatnonzero(LABEL >= 0):
            own = [k for k in paired if LABEL[k] == LABEL[i]]
            order = np.argsort(((Z[own] - Z[i]) ** 2).sum(axis=1), kind="stable")[:50]
            moved[i] += np.mean([wish[own[k]] for k in order], axis=0)
        Z = moved
    assert np.allclose(align_points(X, encode_column(_labels()), "local"), Z)


def test_mean_alignment() -> None:
    known = LABEL >= 0
    means = np.array([X[label == LABEL].mean(axis=0) for label in range(2)])
    expected = np.where(known[:, None], X + X[known].mean(axis=0) - means[LABEL], X)
    assert np.allclose(align_points(X, encode_column(_labels()), "mean"), expected)


def test_commuting_score() -> None:
    labels = encode_column(_labels())
    Z = align_points(X, labels, "mutual")
    graphs = []
    for places, wanted in ((X, ~DIFFER & ~np.eye(N, dtype=bool)), (Z, DIFFER)):
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
