"""Affinities of every method against the reference, given the same neighbours and distances."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne import _native
from ctsne.affinity import Affinities, beta_from_odds, joint_odds, tsne_affinities
from ctsne.affinity.weights import LEVEL_POWER, REACH, random_share
from ctsne.labels import Column, Labels, encode_column
from ctsne.labels.columns import join_columns
from ctsne.layout import pair_weights
from ctsne.neighbors import (
    Neighbors,
    balanced_lengths,
    find_neighbors,
    joint_lengths,
    paper_lengths,
)
from ctsne.neighbors.matching import matched_shares

from .. import reference as formulas
from .methods import balanced_affinities, joint_affinities, revised_affinities

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    X: Floats
    labels: Column
    perplexity: float


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Points over ten orders of magnitude, labels of any kind, any perplexity they can have."""
    n, d = draw(st.integers(3, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["cloud", "clusters", "decades"]))
    codes = rng.integers(draw(st.integers(1, 4)), size=n)
    X = rng.normal(size=(n, d))
    if kind == "clusters":
        X += draw(st.floats(1, 20)) * codes[:, None]
    if kind == "decades":
        X *= 10 ** rng.uniform(-5, 5, size=(n, 1))
    if draw(st.booleans()):
        codes[rng.random(n) < 0.2] = -1
    labels = encode_column([None if code < 0 else int(code) for code in codes])
    # Near whole numbers, with points over decades, a row can change while its perplexity does not.
    parts = draw(st.floats(0.05, 0.95))
    whole = st.integers(1, n - 2) | st.integers(1, max(1, n // 3))
    perplexity = draw(st.sampled_from([1.0, n - 1.0]) | whole.map(lambda k: k + parts))
    return Problem(X, labels, perplexity)


def betas(draw: st.DrawFn, labels: Column) -> Any:
    exponents = st.floats(-300, 0) | st.floats(-10, 0)
    if draw(st.booleans()):
        return 10 ** draw(exponents)
    return np.array([10 ** draw(exponents) for _ in labels.names])


def strengths(draw: st.DrawFn, labels: Column) -> Any:
    if draw(st.booleans()):
        return draw(st.floats(0, 1))
    return np.array([draw(st.floats(0, 1)) for _ in labels.names])


def squares(neighbors: Neighbors) -> Floats:
    """Squared distances as the neighbours have them, n × n; nan where there are none."""
    D2 = np.full((len(neighbors.indices),) * 2, np.nan)
    np.put_along_axis(D2, neighbors.indices, neighbors.distances.astype(float) ** 2, axis=1)
    return D2


def split_neighbors(problem: Problem) -> Neighbors:
    lengths = paper_lengths((0, 1), problem.perplexity)
    return find_neighbors(problem.X, problem.labels, lengths=lengths)


def balanced_neighbors(problem: Problem, strength: Any) -> Neighbors:
    lengths = balanced_lengths(one_column(problem.labels), (0, 1), problem.perplexity, [strength])
    return find_neighbors(problem.X, problem.labels, lengths=lengths)


def one_column(column: Column) -> Labels:
    return Labels(("label",), (column,), column)


def joint_neighbors(problem: Problem) -> Neighbors:
    lengths = joint_lengths((0, 1), problem.perplexity)
    return find_neighbors(problem.X, problem.labels, lengths=lengths)


def check(
    found: Affinities, neighbors: Neighbors, rows: Floats, calibrated: Floats, perplexity: float
) -> None:
    """Compare with the formulas; ``calibrated`` rows should have the perplexity."""
    matrix = found.matrix.toarray()
    expected = formulas.symmetrize(neighbors.indices, rows)
    counts = (expected > 1e-12) | (matrix > 1e-12)
    np.testing.assert_allclose(matrix[counts], expected[counts], rtol=1e-5)
    check_matrix(found)
    diagnostics = found.diagnostics
    effective = np.array([formulas.perplexity(row) for row in rows])
    np.testing.assert_allclose(diagnostics.perplexity, effective, rtol=1e-5)
    other = np.arange(rows.shape[1]) >= neighbors.lengths[:, :1]
    share = (rows * other).sum(axis=1)
    np.testing.assert_allclose(diagnostics.other_share, share, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(diagnostics.largest_weight, rows.max(axis=1), rtol=1e-5)
    error = np.array([abs(np.log(formulas.perplexity(row) / perplexity)) for row in calibrated])
    clear = (error < 1e-6) | (error > 1e-4)
    np.testing.assert_array_equal(diagnostics.reached[clear], (error < 1e-5)[clear])


def check_matrix(found: Affinities) -> None:
    matrix = found.matrix
    assert matrix.dtype == np.float32 and (matrix.data > 0).all() and matrix.has_sorted_indices
    assert matrix.sum(dtype=np.float64) == pytest.approx(1, abs=1e-6)
    assert (matrix != matrix.T).nnz == 0 and not matrix.diagonal().any()


@settings(max_examples=50)
@given(problems())
def test_tsne(problem: Problem) -> None:
    u = problem.perplexity
    neighbors = find_neighbors(problem.X, lengths=paper_lengths((0,), u))
    rows = formulas.tsne_rows(squares(neighbors), neighbors.indices, u)
    check(tsne_affinities(neighbors, perplexity=u), neighbors, rows, rows, u)


@settings(max_examples=50)
@given(problems(), st.data())
def test_revised_p(problem: Problem, data: Any) -> None:
    beta = betas(data.draw, problem.labels)
    _, labels, u = problem
    neighbors, codes = split_neighbors(problem), labels.codes
    D2 = squares(neighbors)
    rows = formulas.revised_rows(D2, neighbors.indices, codes, u, beta, bandwidth="p")
    calibrated = formulas.tsne_rows(D2, neighbors.indices, u)
    found = revised_affinities(neighbors, labels, perplexity=u, beta=beta, bandwidth="p")
    check(found, neighbors, rows, calibrated, u)


@settings(max_examples=50)
@given(problems(), st.data())
def test_revised_r(problem: Problem, data: Any) -> None:
    beta = betas(data.draw, problem.labels)
    _, labels, u = problem
    neighbors = split_neighbors(problem)
    D2, indices, codes = squares(neighbors), neighbors.indices, labels.codes
    rows = formulas.revised_rows(D2, indices, codes, u, beta, scale=neighbors.scale)
    found = revised_affinities(neighbors, labels, perplexity=u, beta=beta)
    # Out of reach, or just within, perplexity must be as near as can be; its flat top fixes few
    # digits of a row.
    log_beta, log_alpha = (np.append(w, 0)[codes] for w in formulas.high_weights(codes, beta))
    for i in np.flatnonzero(~found.diagnostics.reached | (u >= indices.shape[1])):
        weights = np.where(
            np.arange(len(indices[i])) < neighbors.lengths[:, 0][i], log_beta[i], log_alpha[i]
        )
        d2, tau = D2[i, indices[i]], 0.5 / found.diagnostics.sigma[i] ** 2
        logits = weights - tau * (d2 - d2.min())
        row = np.exp(logits - logits.max())
        row /= row.sum()
        misses = [abs(np.log(formulas.perplexity(r) / u)) for r in (row, rows[i])]
        assert misses[0] == pytest.approx(misses[1], abs=1e-6)
        rows[i] = row
    check(found, neighbors, rows, rows, u)


@settings(max_examples=50)
@given(problems(), st.data())
def test_balanced(problem: Problem, data: Any) -> None:
    strength = strengths(data.draw, problem.labels)
    _, labels, u = problem
    neighbors = balanced_neighbors(problem, strength)
    rows = formulas.balanced_rows(
        squares(neighbors), neighbors.indices, neighbors.lengths[:, 0], labels.codes, u, strength
    )
    found = balanced_affinities(neighbors, labels, perplexity=u, strength=strength)
    check(found, neighbors, rows, rows, u)


@settings(max_examples=50)
@given(problems(), st.data())
def test_joint(problem: Problem, data: Any) -> None:
    strength = strengths(data.draw, problem.labels)
    X, labels, u = problem
    # Over decades, a row can change while its perplexity does not.
    assume(np.ptp(np.log10(np.abs(X).max(axis=1))) < 3)
    neighbors = joint_neighbors(problem)
    D2, indices, n_same = squares(neighbors), neighbors.indices, neighbors.lengths[:, 0]
    rows = formulas.joint_rows(D2, indices, n_same, labels.codes, u, strength)
    found = joint_affinities(neighbors, labels, perplexity=u, strength=strength)
    # Two solutions follow each other: the natural shares, then the bandwidths that go with them.
    matrix, expected = found.matrix.toarray(), (rows + rows.T) / (2 * len(rows))
    counts = (expected > 1e-12) | (matrix > 1e-12)
    np.testing.assert_allclose(matrix[counts], expected[counts], rtol=2e-4, atol=1e-8)
    check_matrix(found)
    diagnostics = found.diagnostics
    matched = formulas.matched_shares(indices, n_same, labels.codes)
    np.testing.assert_allclose(diagnostics.matched, matched, rtol=1e-12)
    effective = np.array([formulas.perplexity(row) for row in rows])
    np.testing.assert_allclose(diagnostics.perplexity, effective, rtol=1e-4)
    np.testing.assert_allclose(diagnostics.largest_weight, rows.max(axis=1), rtol=2e-4)
    different = labels.codes[:, None] != labels.codes
    different &= (labels.codes[:, None] >= 0) & (labels.codes >= 0)
    share = (rows * different).sum(axis=1)
    np.testing.assert_allclose(diagnostics.other_share, share, rtol=2e-4, atol=1e-8)


def sample(
    n: int = 90, n_labels: int = 3, gap: float = 2.0, missing: int = 0
) -> tuple[Any, Column]:
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(n) % n_labels)
    X = rng.normal(size=(n, 5))
    X[:, 0] += gap * codes
    names = codes.astype(object)
    names[:missing] = None
    return X, encode_column(names)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("missing", [0, 20])
def test_from_features_on(metric: Literal["euclidean", "cosine"], missing: int) -> None:
    X, labels = sample(missing=missing)
    codes, u, strength = labels.codes, 7.0, np.array([0.4, 0.6, 1.0])
    plain = find_neighbors(X, lengths=21, metric=metric)
    split = find_neighbors(X, labels, lengths=paper_lengths((0, 1), u), metric=metric)
    lengths = balanced_lengths(one_column(labels), (0, 1), u, [strength])
    mixed = find_neighbors(X, labels, lengths=lengths, metric=metric)
    long = find_neighbors(X, labels, lengths=joint_lengths((0, 1), u), metric=metric)
    beta = np.array([1e-4, 0.1, 1e-10])
    pairs = [
        (tsne_affinities(plain, perplexity=u), formulas.tsne_affinities(X, u, metric=metric)),
        (
            balanced_affinities(mixed, labels, perplexity=u, strength=strength),
            formulas.balanced_affinities(X, codes, u, strength, metric=metric),
        ),
        (
            joint_affinities(long, labels, perplexity=u, strength=strength),
            formulas.joint_affinities(X, codes, u, strength, metric=metric),
        ),
    ]
    bandwidths: tuple[Literal["p", "r"], ...] = ("p", "r")
    for bandwidth in bandwidths:
        found = revised_affinities(split, labels, perplexity=u, beta=beta, bandwidth=bandwidth)
        expected = formulas.revised_affinities(
            X, codes, u, beta, bandwidth=bandwidth, metric=metric
        )
        pairs.append((found, expected))
    for found, expected in pairs:
        matrix = found.matrix.toarray()
        # Distances have single precision, which tells where those of a list are nearly the same.
        counts = (expected > 1e-9) | (matrix > 1e-9)
        np.testing.assert_allclose(matrix[counts], expected[counts], rtol=1e-4, atol=1e-12)


def all_methods(X: Any, labels: Column, u: float, n_jobs: int = 1) -> dict[str, Affinities]:
    problem = Problem(X, labels, u)
    plain = find_neighbors(X, lengths=int(np.ceil(3 * u)), n_jobs=n_jobs)
    split, mixed = split_neighbors(problem), balanced_neighbors(problem, 0.7)
    calibrate: dict[str, Callable[[], Affinities]] = {
        "tsne": lambda: tsne_affinities(plain, perplexity=u, n_jobs=n_jobs),
        "balanced": lambda: balanced_affinities(
            mixed, labels, perplexity=u, strength=0.7, n_jobs=n_jobs
        ),
        "joint": lambda: joint_affinities(split, labels, perplexity=u, strength=0.7, n_jobs=n_jobs),
    }
    for bandwidth in ("p", "r"):
        for beta in (1e-4, 1e-300):
            calibrate[f"revised {bandwidth} {beta}"] = lambda bandwidth=bandwidth, beta=beta: (
                revised_affinities(
                    split, labels, perplexity=u, beta=beta, bandwidth=bandwidth, n_jobs=n_jobs
                )
            )
    return {name: function() for name, function in calibrate.items()}


def test_threads_do_not_matter() -> None:
    X, labels = sample(700, missing=50)
    one, two = (all_methods(X, labels, 10.0, n_jobs) for n_jobs in (1, 2))
    for name in one:
        for attribute in ("indptr", "indices", "data"):
            a, b = (getattr(found[name].matrix, attribute) for found in (one, two))
            np.testing.assert_array_equal(a, b, err_msg=name)
        for key, value in vars(one[name].diagnostics).items():
            np.testing.assert_equal(value, vars(two[name].diagnostics)[key], err_msg=name)


BASELINE = """
import sys
import numpy as np
from ctsne import _native
from ctsne.affinity import balanced_affinities, joint_affinities, revised_affinities
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors

stored = np.load(sys.argv[1])
X, labels = stored["X"], encode_labels(stored["labels"])
neighbors = find_neighbors(X, labels, lengths=(16, 14))
results = {"isa": _native.instruction_set(), "indices": neighbors.indices}
results["distances"] = neighbors.distances
results["single"] = find_neighbors(X.astype(np.float32), labels, lengths=(16, 14)).indices
for name, found in {
    "r": revised_affinities(neighbors, labels, perplexity=10, beta=[np.full(4, 1e-4)]),
    "tiny": revised_affinities(neighbors, labels, perplexity=10, beta=[np.full(4, 1e-300)]),
    "p": revised_affinities(
        neighbors, labels, perplexity=10, beta=[np.full(4, 1e-4)], bandwidth="p"
    ),
    "balanced": balanced_affinities(neighbors, labels, perplexity=10, strength=[np.full(4, 0.5)]),
    "joint": joint_affinities(neighbors, labels, perplexity=10, strength=[np.full(4, 0.5)]),
}.items():
    results[name] = found.matrix.toarray()
np.savez(sys.argv[2], **results)
"""


def test_every_instruction_set_gives_the_same(tmp_path: Path) -> None:
    X, labels = sample(400, 4)
    np.savez(tmp_path / "data.npz", X=X, labels=labels.codes)
    results = []
    for name in _native.instruction_sets():
        output = tmp_path / f"{name}.npz"
        subprocess.run(
            [sys.executable, "-P", "-c", BASELINE, str(tmp_path / "data.npz"), str(output)],
            env={**os.environ, "CTSNE_ISA": name},
            check=True,
        )
        results.append(np.load(output))
    assert [str(each["isa"]) for each in results] == _native.instruction_sets()
    for other in results[1:]:
        for key in ("indices", "single"):
            np.testing.assert_array_equal(results[0][key], other[key])
        for key in set(other.files) - {"isa", "indices", "single"}:
            np.testing.assert_allclose(results[0][key], other[key], rtol=1e-6, atol=1e-15)


class TestEdges:
    @pytest.mark.parametrize("n_labels", [1, 2, 30])
    def test_all_points_identical(self, n_labels: int) -> None:
        X, labels = np.full((30, 2), 0.1), encode_column(np.arange(30) % n_labels)
        for name, found in all_methods(X, labels, 5.0).items():
            check_matrix(found)
            diagnostics = found.diagnostics
            assert np.isinf(diagnostics.sigma).all(), name
            assert np.isfinite(diagnostics.perplexity).all(), name
            if name == "tsne":  # 15 points alike: their perplexity is 15, whatever the bandwidth
                np.testing.assert_allclose(diagnostics.perplexity, 15)
                assert not diagnostics.reached.any()

    def test_two_points(self) -> None:
        neighbors = find_neighbors([[0.0], [1.0]], ["a", "b"], lengths=(1, 1))
        for found in (
            tsne_affinities(neighbors, perplexity=1),
            revised_affinities(neighbors, ["a", "b"], perplexity=1, beta=0.1),
            balanced_affinities(neighbors, ["a", "b"], perplexity=1, strength=0.5),
            joint_affinities(neighbors, ["a", "b"], perplexity=1, strength=0.5),
        ):
            assert found.matrix.toarray().tolist() == [[0, 0.5], [0.5, 0]]
            assert found.diagnostics.reached.all()

    def test_nothing_to_factor_out(self) -> None:
        X, _ = sample()
        for names in (["a"] * 90, [None] * 90):
            labels = encode_column(names)
            found = all_methods(X, labels, 6.0)
            shorter = find_neighbors(X, lengths=9)  # half of a row
            joint = found.pop("joint").matrix.toarray()
            plain = tsne_affinities(shorter, perplexity=6).matrix.toarray()
            np.testing.assert_allclose(joint, plain, rtol=1e-6)
            for affinities in found.values():
                np.testing.assert_allclose(
                    affinities.matrix.toarray(), found["tsne"].matrix.toarray(), rtol=1e-6
                )

    def test_no_conditioning_is_tsne(self) -> None:
        X, labels = sample(missing=9)
        neighbors = split_neighbors(Problem(X, labels, 6.0))
        expected = tsne_affinities(neighbors, perplexity=6).matrix.toarray()
        for found in (
            revised_affinities(neighbors, labels, perplexity=6, beta=1.0, bandwidth="p"),
            revised_affinities(neighbors, labels, perplexity=6, beta=1.0, bandwidth="r"),
        ):
            np.testing.assert_allclose(found.matrix.toarray(), expected, rtol=1e-6)

    def test_out_of_reach(self) -> None:
        X, labels = sample(60, 2, gap=10.0)
        neighbors = find_neighbors(X, labels, lengths=(4, 4))
        d2, other = squares(neighbors), np.arange(8) >= 4
        for beta in (1e-4, 1e-300):
            found = revised_affinities(neighbors, labels, perplexity=7.999, beta=beta).diagnostics
            assert not found.reached.any()
            log_beta, log_alpha = (w[0] for w in formulas.high_weights(labels.codes, beta))
            for i in range(10):
                x = d2[i, neighbors.indices[i]]
                tau = np.append(0, np.geomspace(1e-3, 1e3, 100_000))[:, None]
                logits = np.where(other, log_alpha, log_beta) - tau * (x - x.min())
                rows = np.exp(logits - logits.max(axis=1, keepdims=True))
                rows /= rows.sum(axis=1, keepdims=True)
                entropy = -(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=1)
                assert found.perplexity[i] == pytest.approx(np.exp(entropy.max()), rel=1e-6)
        found = tsne_affinities(neighbors, perplexity=8.5).diagnostics
        assert not found.reached.any() and np.isinf(found.sigma).all()


class TestBalanced:
    @pytest.mark.parametrize("n_labels", [2, 5, 40])
    @pytest.mark.parametrize("strength", [0.01, 0.5, 1.0])
    def test_share_and_perplexity_are_exact(self, n_labels: int, strength: float) -> None:
        X, labels = sample(200, n_labels, missing=10)
        neighbors = balanced_neighbors(Problem(X, labels, 9.0), strength)
        found = balanced_affinities(neighbors, labels, perplexity=9, strength=strength)
        assert found.diagnostics.reached.all()
        np.testing.assert_allclose(found.diagnostics.perplexity, 9, rtol=1e-5)
        if strength == 1:
            share = random_share(labels)
            np.testing.assert_allclose(found.diagnostics.other_share, share, rtol=1e-6)

    def test_strength_0_is_the_natural_share(self) -> None:
        X, labels = sample(200, 2)
        neighbors = balanced_neighbors(Problem(X, labels, 9.0), 0.0)
        found = balanced_affinities(neighbors, labels, perplexity=9, strength=0.0)
        half = neighbors.indices.shape[1] / 2
        plain = tsne_affinities(neighbors, perplexity=half).diagnostics.other_share
        np.testing.assert_allclose(found.diagnostics.other_share, plain, rtol=1e-6)

    def test_the_other_list_makes_up_for_a_small_label(self) -> None:
        X, labels = sample(60), encode_column([0] * 58 + [1] * 2)
        neighbors = balanced_neighbors(Problem(X[0], labels, 6.0), 1.0)
        found = balanced_affinities(neighbors, labels, perplexity=6, strength=1.0)
        assert found.diagnostics.reached.all()
        np.testing.assert_allclose(found.diagnostics.other_share[58:], 58 / 59)


class TestJoint:
    def test_mean_share(self) -> None:
        X, labels = sample(150, missing=15)
        neighbors = joint_neighbors(Problem(X, labels, 8.0))
        labelled = labels.codes >= 0
        half = neighbors.indices.shape[1] / 2
        plain = tsne_affinities(neighbors, perplexity=half).diagnostics.other_share
        natural, random = plain[labelled].mean(), random_share(labels)[labelled].mean()
        for strength in (0.0, 0.3, 1.0):
            found = joint_affinities(neighbors, labels, perplexity=8, strength=strength)
            share = found.diagnostics.other_share[labelled].mean()
            reach = REACH * strength**LEVEL_POWER
            assert share == pytest.approx(natural + reach * (random - natural), rel=1e-6)
            assert found.diagnostics.reached.all()

    def test_an_alignment_does_not_change_the_natural_share(self) -> None:
        X, labels = sample(150, 2, gap=6.0)
        lengths = joint_lengths((0, 1), 8.0)
        moved = X - 6.0 * (labels.codes == 1)[:, None] * np.eye(5)[0]
        lists = [
            find_neighbors(X, labels, lengths=lengths, aligned=aligned) for aligned in (None, moved)
        ]
        shares = [
            joint_affinities(each, labels, perplexity=8, strength=0.0).diagnostics.other_share
            for each in lists
        ]
        assert shares[1].mean() == pytest.approx(shares[0].mean(), rel=1e-6)
        aligned = joint_affinities(lists[1], labels, perplexity=8, strength=1.0)
        assert aligned.diagnostics.other_share.mean() > 10 * shares[1].mean()

    def test_points_without_counterparts_keep_to_their_own(self) -> None:
        X, labels = sample(200, 2, gap=0.0)
        X[:40] += 5.0  # a group of its own, with labels of one kind
        labels = encode_column(np.where(np.arange(200) < 40, 0, labels.codes))
        neighbors = joint_neighbors(Problem(X, labels, 6.0))
        found = joint_affinities(neighbors, labels, perplexity=6, strength=1.0).diagnostics
        assert found.matched is not None and found.matched[:40].max() < 0.05
        assert found.other_share[:40].max() < 0.3 < found.other_share[40:].mean()

    def test_out_of_reach(self) -> None:
        X, labels = sample(30, 2, gap=1e5)
        neighbors = joint_neighbors(Problem(X, labels, 2.0))
        found = joint_affinities(neighbors, labels, perplexity=2, strength=1.0)
        check_matrix(found)

    def test_odds(self) -> None:
        strength = np.linspace(0, 1, 5)
        np.testing.assert_array_equal(joint_odds(strength), formulas.joint_odds(strength))
        labels = encode_column(list("aabbbc"))
        odds = np.array([1.0, 3.0, 50.0])
        (beta,) = beta_from_odds(one_column(labels), [odds])
        np.testing.assert_allclose(beta, formulas.beta_from_odds(labels.codes, odds))
        (column,) = pair_weights(join_columns(["label"], [labels]), [beta]).columns
        np.testing.assert_allclose(column.alpha / column.beta, odds)


class TestMatched:
    @pytest.mark.parametrize("missing", [0, 30])
    def test_same_as_the_reference(self, missing: int) -> None:
        X, labels = sample(150, 4, missing=missing)
        neighbors = find_neighbors(X, labels, lengths=(40, 20))
        matched = formulas.matched_shares(neighbors.indices, neighbors.lengths[:, 0], labels.codes)
        np.testing.assert_allclose(
            matched_shares(neighbors, one_column(labels))[:, 0], matched, rtol=1e-12
        )
