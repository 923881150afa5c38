"""Similarities of every method, for one to three label columns, against the reference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctsne import _native
from ctsne.affinity import Affinities, beta_from_odds, joint_odds
from ctsne.affinity.weights import random_share
from ctsne.labels import Labels
from ctsne.layout import pair_weights
from ctsne.neighbors import find_neighbors, occurring_patterns

from .. import reference as formulas
from ..random_columns import as_columns, column_codes
from .methods import (
    METHODS,
    Floats,
    Method,
    as_reference,
    lists_for,
    per_label,
    reference_rows,
    similarities,
)


class Problem(NamedTuple):
    X: Floats
    labels: Labels
    perplexity: float


@st.composite
def problems(draw: st.DrawFn, *, decades: bool = True) -> Problem:
    """Points over ten orders of magnitude, labels of any kind, any perplexity they can have."""
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    if draw(st.booleans()):
        codes = draw(column_codes(fewest_columns=1))
    else:  # one column, with one label, tiny ones or none
        codes = rng.integers(draw(st.integers(1, 4)), size=(draw(st.integers(3, 40)), 1))
        if draw(st.booleans()):
            codes[rng.random(len(codes)) < draw(st.sampled_from([0.2, 1.0]))] = -1
    n = len(codes)
    X = rng.normal(size=(n, draw(st.integers(1, 5))))
    kind = draw(st.sampled_from(["cloud", "clusters", "decades"] if decades else ["clusters"]))
    if kind == "clusters":
        X += draw(st.floats(0, 20)) * codes[:, :1]
    if kind == "decades":
        X *= 10 ** rng.uniform(-5, 5, size=(n, 1))
    # Near whole numbers, with points over decades, a row can change while its perplexity does not.
    parts = draw(st.floats(0.05, 0.95))
    whole = st.integers(1, n - 2) | st.integers(1, max(1, n // 3))
    perplexity = draw(st.sampled_from([1.0, n - 1.0]) | whole.map(lambda k: k + parts))
    return Problem(X, as_columns(codes), perplexity)


def knobs(draw: st.DrawFn, labels: Labels, values: st.SearchStrategy[float]) -> Any:
    """One number for all, one per column, or one of two per label of each column."""
    kind = draw(st.sampled_from(["all", "column", "label"]))
    if kind == "all":
        return draw(values)
    if kind == "column":
        return [draw(values) for _ in labels.columns]
    either = st.sampled_from([draw(values), draw(values)])
    return [[draw(either) for _ in column.names] for column in labels.columns]


BETAS = (st.floats(-300, 0) | st.floats(-10, 0)).map(lambda exponent: float(10**exponent))


def check(
    found: Affinities,
    rows: Floats,
    problem: Problem,
    *,
    calibrated: Floats | None = None,
    rtol: float = 1e-5,
    atol: float = 0.0,
) -> None:
    """Compare with conditional rows; ``calibrated`` ones should have the perplexity."""
    check_matrix(found)
    matrix, expected = found.matrix.toarray(), formulas.symmetrize(rows)
    counts = (expected > 1e-12) | (matrix > 1e-12)
    np.testing.assert_allclose(matrix[counts], expected[counts], rtol=rtol, atol=atol)
    diagnostics, labels = found.diagnostics, problem.labels
    effective = formulas.perplexity(rows)
    np.testing.assert_allclose(diagnostics.perplexity, effective, rtol=rtol)
    np.testing.assert_allclose(diagnostics.largest_weight, rows.max(axis=1), rtol=rtol)
    set_by = effective if calibrated is None else formulas.perplexity(calibrated)
    error = np.abs(np.log(set_by / problem.perplexity))
    clear = (error < 1e-6) | (error > 1e-4)
    np.testing.assert_array_equal(diagnostics.reached[clear], (error < 1e-5)[clear])
    if not diagnostics.column_shares:  # without labels
        return
    columns = [formulas.are_different(column) for column in labels.codes.T]
    shares = [diagnostics.other_share, *diagnostics.column_shares.values()]
    for share, differs in zip(shares, [np.any(columns, axis=0), *columns], strict=True):
        expected = (rows * differs).sum(axis=1)
        np.testing.assert_allclose(share, expected, rtol=rtol, atol=max(atol, 1e-12))
    matched = [*diagnostics.column_matched.values()]
    np.testing.assert_array_equal(diagnostics.matched, np.min(matched, axis=0))


def check_matrix(found: Affinities) -> None:
    matrix = found.matrix
    assert matrix.dtype == np.float32 and (matrix.data > 0).all() and matrix.has_sorted_indices
    assert matrix.sum(dtype=np.float64) == pytest.approx(1, abs=1e-6)
    assert (matrix != matrix.T).nnz == 0 and not matrix.diagonal().any()


@settings(max_examples=50)
@given(problems(), st.data())
def test_tsne_and_revised_p_are_the_reference(problem: Problem, data: st.DataObject) -> None:
    X, labels, u = problem
    neighbors = lists_for("tsne", X, labels, u)
    rows = reference_rows("tsne", neighbors, labels, u, 1)
    check(similarities("tsne", neighbors, labels, u), rows, problem)
    beta = knobs(data.draw, labels, BETAS)  # type: ignore[arg-type]
    neighbors = lists_for("revised p", X, labels, u)
    plain = reference_rows("tsne", neighbors, labels, u, 1)
    rows = reference_rows("revised p", neighbors, labels, u, beta)
    check(similarities("revised p", neighbors, labels, u, beta), rows, problem, calibrated=plain)


@settings(max_examples=50)
@given(problems(), st.data())
def test_revised_r_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    X, labels, u = problem
    beta = knobs(data.draw, labels, BETAS)  # type: ignore[arg-type]
    neighbors = lists_for("revised r", X, labels, u)
    (D2, lists), weights = (
        as_reference(neighbors),
        formulas.revised_weights(labels.codes, per_label(labels, beta)),
    )
    rows = reference_rows("revised r", neighbors, labels, u, beta)
    found = similarities("revised r", neighbors, labels, u, beta)
    # Out of reach, or just within, perplexity must be as near as can be; its flat top fixes few
    # digits of a row.
    for i in np.flatnonzero(~found.diagnostics.reached | (u >= lists.indices.shape[1])):
        near, tau = lists.indices[i], 0.5 / found.diagnostics.sigma[i] ** 2
        row = formulas.row_at(tau, D2[i, near], weights[i, near])
        misses = [abs(np.log(formulas.perplexity(r) / u)) for r in (row, rows[i])]
        assert misses[0] == pytest.approx(misses[1], abs=1e-6)
        rows[i, near] = row
    check(found, rows, problem)


@settings(max_examples=50)
@given(problems(), st.data())
def test_balanced_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    X, labels, u = problem
    strength = knobs(data.draw, labels, st.floats(0, 1))  # type: ignore[arg-type]
    neighbors = lists_for("balanced", X, labels, u, strength)
    rows = reference_rows("balanced", neighbors, labels, u, strength)
    check(similarities("balanced", neighbors, labels, u, strength), rows, problem)


@settings(max_examples=30)
@given(problems(decades=False), st.data())
def test_joint_is_the_reference(problem: Problem, data: st.DataObject) -> None:
    X, labels, u = problem
    strength = knobs(data.draw, labels, st.floats(0, 1))  # type: ignore[arg-type]
    neighbors = lists_for("joint", X, labels, u)
    rows = reference_rows("joint", neighbors, labels, u, strength)
    found = similarities("joint", neighbors, labels, u, strength)
    # Two solutions follow each other: the natural shares, then the bandwidths that go with them.
    check(found, rows, problem, rtol=1e-3, atol=1e-6)
    matched = formulas.matched_shares(*as_reference(neighbors), labels.codes)
    of_columns = np.stack([*found.diagnostics.column_matched.values()], axis=1)
    np.testing.assert_allclose(of_columns, matched, rtol=1e-12)


def sample(
    n: int = 90, n_labels: int = 3, *, gap: float = 2.0, missing: int = 0, n_columns: int = 1
) -> tuple[Any, Labels]:
    rng = np.random.default_rng(0)
    codes = np.stack([rng.permutation(np.arange(n) % n_labels) for _ in range(n_columns)], axis=1)
    X = rng.normal(size=(n, 5))
    X[:, :n_columns] += gap * codes
    codes[:missing] = -1
    return X, as_columns(codes)


def calibrated(method: Method, X: Any, labels: Any, u: float, knob: Any, **more: Any) -> Affinities:
    """Return the similarities over the lists of a fit."""
    return similarities(method, lists_for(method, X, labels, u, knob), labels, u, knob, **more)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("missing", [0, 10])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_from_features_on(
    metric: Literal["euclidean", "cosine"], missing: int, n_columns: int
) -> None:
    X, labels = sample(45, missing=missing, n_columns=n_columns)
    for method in METHODS:
        knob = [[1e-4, 0.1, 1e-10] if "revised" in method else [0.4, 0.6, 1.0]] * n_columns
        neighbors = lists_for(method, X, labels, 5.0, knob, metric=metric)
        matrix = similarities(method, neighbors, labels, 5.0, knob).matrix.toarray()
        name, _, bandwidth = method.partition(" ")
        expected = formulas.affinities(
            name, X, labels.codes, 5.0, knob, bandwidth=bandwidth or "r", metric=metric
        )
        # Distances have single precision, which shows where those of a list are nearly the same.
        counts = (expected > 1e-9) | (matrix > 1e-9)
        np.testing.assert_allclose(matrix[counts], expected[counts], rtol=1e-4, atol=1e-12)


def test_threads_do_not_matter() -> None:
    X, labels = sample(500, missing=50, n_columns=2)
    for method in METHODS:
        knob = 1e-300 if method == "revised r" else 0.7
        neighbors = lists_for(method, X, labels, 10.0, knob)
        one, two = (similarities(method, neighbors, labels, 10.0, knob, jobs) for jobs in (1, 3))
        for attribute in ("indptr", "indices", "data"):
            a, b = (getattr(found.matrix, attribute) for found in (one, two))
            np.testing.assert_array_equal(a, b, err_msg=method)
        np.testing.assert_equal(vars(one.diagnostics), vars(two.diagnostics))


BASELINE = """
import sys
import numpy as np
from ctsne import _native
from ctsne.affinity import balanced_affinities, joint_affinities, revised_affinities
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors

data = np.load(sys.argv[1])
X, labels = data["X"], encode_labels(data["labels"])
neighbors = find_neighbors(X, labels, lengths=(16, 14))
results = {"isa": _native.instruction_set(), "indices": neighbors.indices}
results["distances"] = neighbors.distances
results["single"] = find_neighbors(X.astype(np.float32), labels, lengths=(16, 14)).indices
tiny, small, half = ([np.full(4, value)] for value in (1e-300, 1e-4, 0.5))
for name, found in {
    "r": revised_affinities(neighbors, labels, perplexity=10, beta=small),
    "tiny": revised_affinities(neighbors, labels, perplexity=10, beta=tiny),
    "p": revised_affinities(neighbors, labels, perplexity=10, beta=small, bandwidth="p"),
    "balanced": balanced_affinities(neighbors, labels, perplexity=10, strength=half),
    "joint": joint_affinities(neighbors, labels, perplexity=10, strength=half),
}.items():
    results[name] = found.matrix.toarray()
np.savez(sys.argv[2], **results)
"""


def test_every_instruction_set_gives_the_same(tmp_path: Path) -> None:
    X, labels = sample(400, 4)
    np.savez(tmp_path / "data.npz", X=X, labels=labels.combined.codes)
    results = []
    for name in _native.instruction_sets():
        output = tmp_path / f"{name}.npz"
        subprocess.run(
            [sys.executable, "-P", "-c", BASELINE, str(tmp_path / "data.npz"), str(output)],
            env={**os.environ, "CTSNE_ISA": name},
            check=True,
            timeout=600,
        )
        results.append(np.load(output))
    assert [str(result["isa"]) for result in results] == _native.instruction_sets()
    for other in results[1:]:
        for key in ("indices", "single"):
            np.testing.assert_array_equal(results[0][key], other[key])
        for key in set(other.files) - {"isa", "indices", "single"}:
            np.testing.assert_allclose(results[0][key], other[key], rtol=1e-6, atol=1e-15)


# ---- edges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_labels", [[1], [2], [30], [2, 3]])
def test_identical_points(method: Method, n_labels: list[int]) -> None:
    X = np.full((30, 2), 0.1)
    labels = as_columns(np.stack([np.arange(30) % k for k in n_labels], axis=1))
    for knob in (1e-4, 1e-300):
        found = calibrated(method, X, labels, 5.0, knob)
        check_matrix(found)
        assert np.isinf(found.diagnostics.sigma).all()
        assert np.isfinite(found.diagnostics.perplexity).all()
        if method == "tsne":  # 15 points alike: their perplexity is 15, whatever the bandwidth
            np.testing.assert_allclose(found.diagnostics.perplexity, 15)
            assert not found.diagnostics.reached.any()


@pytest.mark.parametrize("method", METHODS)
def test_two_points(method: Method) -> None:
    neighbors = find_neighbors([[0.0], [1.0]], ["a", "b"], lengths=(1, 1))
    found = similarities(method, neighbors, ["a", "b"], 1.0, 0.1)
    assert found.matrix.toarray().tolist() == [[0, 0.5], [0.5, 0]]
    assert found.diagnostics.reached.all()


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("code", [0, -1])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_without_labels_that_differ_it_is_tsne(method: Method, code: int, n_columns: int) -> None:
    X, _ = sample()
    found = calibrated(method, X, as_columns(np.full((90, n_columns), code)), 6.0, 0.01)
    k = 10 if method == "joint" else 18  # joint uses half of its row
    plain = similarities("tsne", find_neighbors(X, lengths=k), None, 6.0)
    np.testing.assert_allclose(found.matrix.toarray(), plain.matrix.toarray(), rtol=1e-6)


@pytest.mark.parametrize("method", ["revised p", "revised r"])
def test_beta_1_is_tsne(method: Method) -> None:
    X, labels = sample(missing=9, n_columns=2)
    neighbors = lists_for(method, X, labels, 6.0)
    expected = similarities("tsne", neighbors, labels, 6.0).matrix.toarray()
    found = similarities(method, neighbors, labels, 6.0, 1.0)
    np.testing.assert_allclose(found.matrix.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("beta", [1e-4, 1e-300])
def test_unreachable_perplexity_is_as_near_as_can_be(beta: float) -> None:
    X, labels = sample(60, 2, gap=10.0)
    neighbors = find_neighbors(X, labels, lengths=(4, 4))
    found = similarities("revised r", neighbors, labels, 7.999, beta).diagnostics
    assert not found.reached.any()
    (D2, lists), weights = as_reference(neighbors), formulas.revised_weights(labels.codes, [beta])
    for i, near in enumerate(lists.indices[:10]):
        tau = np.append(0, np.geomspace(1e-3, 1e3, 100_000))[:, None]
        most = formulas.entropy(weights[i, near] - tau * (D2[i, near] - D2[i, near].min())).max()
        assert found.perplexity[i] == pytest.approx(np.exp(most), rel=1e-6)
    found = similarities("tsne", neighbors, labels, 8.5).diagnostics
    assert not found.reached.any() and np.isinf(found.sigma).all()


# ---- several columns -----------------------------------------------------------------------------


def test_two_equal_columns_condition_as_one() -> None:
    X, one = sample()
    both = as_columns(np.tile(one.codes, 2))
    assert occurring_patterns(both) == (0, 3)
    for method in ("revised r", "joint"):
        lists = [lists_for(method, X, labels, 7.0) for labels in (one, both)]
        np.testing.assert_array_equal(lists[0].indices, lists[1].indices)
    # Each of two columns moves the odds of a pair by alpha / beta, so both together by its square.
    rho, beta = formulas.rho(one.codes[:, 0]), 0.2
    ratio = np.exp(np.ptp(formulas.revised_weights(one.codes, [beta])))
    of_one = 1 / (rho + (1 - rho) * ratio**2)
    for method in METHODS[1:3]:
        neighbors = lists_for(method, X, both, 7.0)
        results = [
            similarities(method, neighbors, both, 7.0, beta),
            similarities(method, lists_for(method, X, one, 7.0), one, 7.0, of_one),
        ]
        a, b = (result.matrix.toarray() for result in results)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-12)
    # In joint, both columns together bring the mean share to where one would.
    shares = [
        calibrated("joint", X, labels, 7.0, 0.6).diagnostics.other_share for labels in (one, both)
    ]
    assert shares[1].mean() == pytest.approx(shares[0].mean(), rel=1e-6)


def test_the_other_list_makes_up_for_a_small_label() -> None:
    X, _ = sample(60)
    labels = as_columns(np.repeat([0, 1], [58, 2]))
    found = calibrated("balanced", X, labels, 6.0, 1.0).diagnostics
    assert found.reached.all()
    np.testing.assert_allclose(found.other_share[58:], 58 / 59)


# ---- joint ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strengths", [[0.0], [0.3], [1.0], [0.3, 0.9], [0.9, 0.3]])
def test_every_column_of_joint_reaches_its_mean_share(strengths: list[float]) -> None:
    X, labels = sample(300, missing=30, n_columns=len(strengths), gap=3.0)
    neighbors = lists_for("joint", X, labels, 10.0)
    found = similarities("joint", neighbors, labels, 10.0, strengths).diagnostics
    (D2, lists), known = as_reference(neighbors), labels.combined.codes >= 0
    natural = formulas.natural_shares(D2, lists, 17)
    before = formulas.column_shares(natural, lists.patterns, len(strengths))[known].mean(axis=0)
    for share, column, w0, s in zip(
        found.column_shares.values(), labels.columns, before, strengths, strict=True
    ):
        w1 = random_share(column)[known].mean()
        assert share[known].mean() == pytest.approx(w0 + s * (w1 - w0), rel=1e-5)
    assert found.reached.all()


def test_an_alignment_does_not_change_the_natural_share() -> None:
    X, labels = sample(150, 2, gap=6.0)
    moved = X - 6.0 * labels.codes * np.eye(5)[0]
    lists = [lists_for("joint", X, labels, 8.0, aligned=aligned) for aligned in (None, moved)]
    plain, aligned, strong = (
        similarities("joint", lists[which], labels, 8.0, strength).diagnostics.other_share.mean()
        for which, strength in ((0, 0.0), (1, 0.0), (1, 1.0))
    )
    assert aligned == pytest.approx(plain, rel=1e-6) and strong > 10 * aligned


def test_points_without_counterparts_keep_to_their_own() -> None:
    X, labels = sample(200, 2, gap=0.0)
    X[:40] += 5.0  # a group of its own, with labels of one kind
    alone = as_columns(np.where(np.arange(200) < 40, 0, labels.combined.codes))
    found = calibrated("joint", X, alone, 6.0, 1.0).diagnostics
    assert found.matched is not None and found.matched[:40].max() < 0.05
    assert found.other_share[:40].max() < 0.3 < found.other_share[40:].mean()


def test_a_share_that_no_weight_reaches() -> None:
    X, labels = sample(30, 2, gap=1e5)
    check_matrix(calibrated("joint", X, labels, 2.0, 1.0))


def test_odds() -> None:
    strength = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(joint_odds(strength), formulas.joint_odds(strength))
    labels = as_columns(np.array([[0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 0, 1]]).T)
    odds = [np.array([1.0, 3.0, 50.0]), np.array([2.0, 7.0])]
    betas = beta_from_odds(labels, odds)
    for column, beta, wanted, factor in zip(
        labels.columns, betas, odds, pair_weights(labels, betas).columns, strict=True
    ):
        np.testing.assert_allclose(beta, formulas.beta_from_odds(column.codes, wanted))
        np.testing.assert_allclose(factor.alpha / factor.beta, wanted)
