"""Alignments against plain NumPy, and what they must leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne._core.vocabulary import ALIGNMENTS
from ctsne.labels import Column, encode_column
from ctsne.neighbors import alignment
from ctsne.neighbors.alignment import (
    LOCAL_NEIGHBORS,
    PAIR_NEIGHBORS,
    ROUNDS,
    SCORE_NEIGHBORS,
    alignment_sample,
    choose_alignment,
    commuting_share,
)

from ..aligned_points import align_points
from ..random_columns import as_columns
from ..reference import neighbors

Floats = NDArray[np.float64]
HOW = ("mutual", "local", "mean")


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Column]:
    """Points of some labels in few dimensions, some without a label."""
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_labels = draw(st.integers(1, 4))
    codes = rng.integers(-1 if draw(st.booleans()) else 0, n_labels, n)
    shifts = draw(st.sampled_from([0.0, 1.0, 10.0])) * rng.normal(size=(n_labels + 1, d))
    X = rng.normal(size=(n, d)) + shifts[codes]
    names: list[object] = [None if code < 0 else f"label {code}" for code in codes]
    return X, encode_column(names)


def blobs(n: int = 300, d: int = 3, gap: float = 6.0, missing: int = 0) -> tuple[Floats, Column]:
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d)) + gap * rng.normal(size=(3, d))[codes]
    names: list[object] = list(codes)
    for place in range(missing):
        names[7 * place] = None
    return X, encode_column(names)


# ---- plain NumPy ---------------------------------------------------------------------------------


def squares(A: Floats, B: Floats) -> Floats:
    return np.asarray(((A[:, None] - B[None]) ** 2).sum(axis=2))


def pairs_of(points: Floats, codes: Any) -> NDArray[np.bool_]:
    """Which points are among each other's nearest points of other labels."""
    D2 = squares(points, points)
    different = (codes[:, None] != codes) & (codes[:, None] >= 0) & (codes >= 0)
    listed = np.zeros(D2.shape, bool)
    for i in range(len(points)):
        other = np.flatnonzero(different[i])
        nearest = other[np.argsort(D2[i, other], kind="stable")[:PAIR_NEIGHBORS]]
        listed[i, nearest] = True
    return np.asarray(listed & listed.T)


def plain_mean(X: Floats, codes: Any) -> Floats:
    moved, common = X.copy(), X[codes >= 0].mean(axis=0) if (codes >= 0).any() else 0
    for code in np.unique(codes[codes >= 0]):
        moved[codes == code] += common - X[codes == code].mean(axis=0)
    return moved


def plain_mutual(X: Floats, codes: Any) -> Floats:
    """Move groups of labels, which are single labels first; then nearest groups become one."""
    moved, groups = X.copy(), codes.copy()
    _, first, place = np.unique(codes[codes >= 0], return_index=True, return_inverse=True)
    groups[codes >= 0] = np.argsort(np.argsort(first))[place]  # of equals, the first in the rows
    while True:
        for _ in range(ROUNDS):
            pairs = pairs_of(moved, groups)
            steps = {}
            for group in np.unique(groups[groups >= 0]):
                i, j = np.nonzero(pairs & (groups == group)[:, None])
                steps[group] = 0.5 * (moved[j] - moved[i]).mean(axis=0) if len(i) else 0.0
            for group, step in steps.items():
                moved[groups == group] += step
        near = nearness(moved, groups)
        best = {a: max(near[a], key=lambda b: near[a][b]) for a in near if near[a]}
        together = {a: b for a, b in best.items() if best[b] == a and a < b and near[a][b] > 0}
        if len(near) <= 2 or not together:
            return moved
        for a, b in together.items():
            groups = np.where(groups == b, a, groups)


def nearness(points: Floats, groups: Any) -> dict[Any, dict[Any, float]]:
    """How often groups are among each other's 25 nearest points, relative to chance."""
    D2, labelled, names = squares(points, points), groups >= 0, np.unique(groups[groups >= 0])
    shares: dict[Any, dict[Any, float]] = {}
    for a in names:
        other = np.flatnonzero(labelled & (groups != a))
        nearest = [
            other[np.argsort(D2[i, other], kind="stable")[:SCORE_NEIGHBORS]]
            for i in np.flatnonzero(groups == a)
        ]
        found = groups[np.concatenate(nearest)]
        shares[a] = {
            b: (found == b).mean() / (groups[other] == b).mean() if len(found) else 0.0
            for b in names
            if b != a
        }
    return {a: {b: shares[a][b] * shares[b][a] for b in shares[a]} for a in names}


def plain_local(X: Floats, codes: Any) -> Floats:
    moved = plain_mutual(X, codes)
    D2, aligned = squares(X, X), squares(moved, moved)
    differs = neighbors.are_different(codes)
    far = np.where(differs, aligned, D2)
    far[:, codes < 0] = np.inf
    np.fill_diagonal(far, np.inf)
    near = [np.argsort(row, kind="stable")[: np.isfinite(row).sum()] for row in far]
    part = np.maximum(0, 2 * neighbors.matched_in_column(near, codes) - 1)
    for _ in range(ROUNDS):
        pairs = pairs_of(moved, codes)
        steps = np.zeros_like(moved)
        for i in np.flatnonzero(codes >= 0):
            paired = np.flatnonzero(pairs.any(axis=1) & (codes == codes[i]))
            if len(paired):
                D2 = squares(moved[i : i + 1], moved[paired])[0]
                nearest = paired[np.argsort(D2, kind="stable")[:LOCAL_NEIGHBORS]]
                means = [moved[pairs[j]].mean(axis=0) - moved[j] for j in nearest]
                steps[i] = 0.5 * part[i] * np.mean(means, axis=0)
        moved = moved + steps
    return moved


PLAIN = {"mean": plain_mean, "mutual": plain_mutual, "local": plain_local}


@pytest.mark.parametrize("how", HOW)
@settings(max_examples=40)
@example(problem=blobs(missing=20))  # more points of a label than any list has
@given(problem=problems())
def test_same_as_plain_numpy(how: str, problem: tuple[Floats, Column]) -> None:
    X, labels = problem
    found = align_points(X, labels, how)
    if labels.n_labels < 2:
        assert found is X
        return
    np.testing.assert_allclose(found, PLAIN[how](X, labels.codes), rtol=1e-9, atol=1e-9)


# ---- what an alignment is ------------------------------------------------------------------------


def test_a_move_of_whole_labels_is_undone() -> None:
    rng = np.random.default_rng(0)
    base, codes = rng.normal(size=(600, 2)), np.arange(600) % 2
    # Far apart: mutual pairs bring two clouds to where they touch, not one on the other.
    X = base + np.array([[0.0, 0.0], [20.0, 10.0]])[codes]
    labels = encode_column(codes)
    before = X[codes == 1].mean(axis=0) - X[codes == 0].mean(axis=0)
    for how in HOW:
        moved = align_points(X, labels, how)
        gap = moved[codes == 1].mean(axis=0) - moved[codes == 0].mean(axis=0)
        assert np.linalg.norm(gap) < 0.25 * np.linalg.norm(before)
    for how in ("mutual", "mean"):  # labels move as a whole
        moved = align_points(X, labels, how)
        for code in (0, 1):
            move = (moved - X)[codes == code]
            np.testing.assert_allclose(move, move[:1].repeat(len(move), axis=0), atol=1e-12)


def types_with_own_effects(private: bool) -> tuple[Floats, Any, Any]:
    """Two types, on which the label has opposite effects, and perhaps one that only it has."""
    rng = np.random.default_rng(0)
    kind, codes = np.arange(1200) % 3, np.arange(1200) // 3 % 2
    keep = (kind < 2) | (private & (codes == 0))
    kind, codes = kind[keep], codes[keep]
    X = 0.4 * rng.normal(size=(len(kind), 20))
    X[:, :2] += np.array([[0, 0], [8, 0], [0, 4]])[kind]
    X[codes == 1, 1] += np.array([1.0, -1.0])[kind[codes == 1]]
    return X, kind, codes


def gap(moved: Floats, one: Any, two: Any) -> float:
    return float(np.linalg.norm(moved[one].mean(axis=0) - moved[two].mean(axis=0)))


@pytest.mark.parametrize("private", [False, True])
def test_data_far_from_the_origin_are_aligned_alike(private: bool) -> None:
    X, _, codes = types_with_own_effects(private)
    for how in HOW:
        near, far = (align_points(X + away, encode_column(codes), how) - away for away in (0, 1e6))
        np.testing.assert_allclose(far, near, atol=1e-6)


@pytest.mark.parametrize("private", [False, True])
def test_local_moves_differ_between_types(private: bool) -> None:
    X, kind, codes = types_with_own_effects(private)
    local, rigid = (align_points(X, encode_column(codes), how) for how in ("local", "mutual"))
    for shared in (0, 1):
        of = [(kind == shared) & (codes == code) for code in (0, 1)]
        assert gap(local, *of) < 0.4
        assert gap(rigid, *of) > 0.7
    if private:  # stays as far away from the others as it was
        nearest = (kind == 0) & (codes == 1)
        assert gap(local, kind == 2, nearest) > 0.9 * gap(X, kind == 2, nearest)


@pytest.mark.parametrize("how", ALIGNMENTS)
def test_unlabelled_points_stay(how: str) -> None:
    X, labels = blobs(missing=20)
    before = X.copy()
    moved = align_points(X, labels, how)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(moved[labels.codes < 0], X[labels.codes < 0])
    # And they say nothing about where others go.
    if how != "none":
        far = X.copy()
        far[labels.codes < 0] += 100
        again = align_points(far, labels, how)
        labelled = labels.codes >= 0
        np.testing.assert_allclose(again[labelled], moved[labelled], rtol=1e-9, atol=1e-9)
        assert not np.array_equal(moved[labelled], X[labelled])


@pytest.mark.parametrize("names", [["a"] * 20, [None] * 20])
@pytest.mark.parametrize("how", ALIGNMENTS)
def test_nothing_to_align(how: str, names: list[object]) -> None:
    X, labels = np.random.default_rng(0).normal(size=(20, 3)), encode_column(names)
    assert align_points(X, labels, how) is X
    assert commuting_share(X, X, labels) == 0


@pytest.mark.parametrize("how", ALIGNMENTS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_type_and_order_of_the_data(how: str, kind: Any) -> None:
    X, labels = blobs()
    moved = align_points(X.astype(kind), labels, how)
    assert moved.dtype == kind and moved.shape == X.shape
    np.testing.assert_allclose(moved, align_points(X, labels, how), rtol=1e-3, atol=1e-3)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = align_points(X[order], labels.take(order), how)
    np.testing.assert_allclose(shuffled, align_points(X, labels, how)[order], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("how", HOW)
def test_directions_are_aligned_for_cosine_distances(how: str) -> None:
    X, labels = blobs(gap=2.0)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = align_points(unit, labels, how)
    lengths = np.random.default_rng(0).uniform(0.5, 5, (len(X), 1))
    found = align_points(lengths * X, labels, how, metric="cosine")
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_opposite_directions_are_not_shifted_to_zero() -> None:
    """Rows of zeros have no direction: such an alignment is refused, and "auto" skips it."""
    one = np.array([[3.0, -1.0, 2.0]])
    X = np.repeat(np.concatenate([one, -one]), 40, axis=0)
    labels = as_columns(np.repeat([[0], [1]], 40, axis=0))
    for how in ("mean", "mutual"):
        says = rf'align="{how}" shifts 80 rows of X to zero \(the first is row 0\).* another align'
        with pytest.raises(ValueError, match=says):
            choose_alignment(X, labels, how, metric="cosine", n_jobs=1)
        assert choose_alignment(X, labels, how, metric="euclidean", n_jobs=1).name == how
    best = choose_alignment(X, labels, "auto", metric="cosine", n_jobs=1)
    assert best.name == "local" and best.scores.keys() == {"local"}


# ---- many points ---------------------------------------------------------------------------------


def test_many_points_are_estimated_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = blobs(900)
    whole = {how: align_points(X, labels, how) for how in HOW}
    monkeypatch.setattr(alignment, "SAMPLE", 400)
    monkeypatch.setattr(alignment, "SHIFT_SAMPLE", 400)
    rows = alignment_sample(labels)
    assert 400 <= len(rows) < 500 and (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(alignment_sample(labels), rows)
    known = labels.take(rows)
    # Means need no sample.
    np.testing.assert_array_equal(align_points(X, labels, "mean"), whole["mean"])
    # A label moves as it does in the sample, and near to where all points would take it.
    mutual = align_points(X, labels, "mutual")
    alone = align_points(X[rows], known, "mutual")
    np.testing.assert_allclose(mutual[rows], alone, rtol=1e-9, atol=1e-9)
    for code in range(3):
        move = (mutual - X)[labels.codes == code]
        np.testing.assert_allclose(move, move[:1].repeat(len(move), axis=0), atol=1e-9)
    # A point beyond the sample moves as sampled points of its label near it do.
    local = align_points(X, labels, "local")
    moves = align_points(X[rows], known, "local") - X[rows]
    np.testing.assert_allclose(local[rows], X[rows] + moves, rtol=1e-9, atol=1e-9)
    rest = np.setdiff1d(np.arange(900), rows)
    for i in rest[::50]:
        own = np.flatnonzero(known.codes == labels.codes[i])
        near = own[np.argsort(squares(X[i : i + 1], X[rows[own]])[0])[:LOCAL_NEIGHBORS]]
        np.testing.assert_allclose(local[i], X[i] + moves[near].mean(axis=0), atol=1e-9)


def test_the_sample_has_points_of_every_label(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = blobs(900)
    monkeypatch.setattr(alignment, "SAMPLE", 400)
    names = labels.codes.astype(object)
    names[:5] = 9
    names[5:10] = None
    rare = encode_column(names)
    assert set(range(5)) <= set(alignment_sample(rare))
    for how in HOW:
        moved = align_points(X, rare, how)
        assert np.isfinite(moved).all() and (moved[:5] != X[:5]).all()
        np.testing.assert_array_equal(moved[5:10], X[5:10])
    # With very many labels, the sample stays bounded.
    assert len(alignment_sample(encode_column(np.arange(5000) // 2))) <= 800


def test_labels_with_close_relatives_come_near_to_all_others() -> None:
    """Three replicates are each other's nearest, so that pairs alone never reach the other two."""
    rng = np.random.default_rng(0)
    kind, codes = np.arange(1500) % 3, rng.integers(0, 5, 1500)
    X = 0.3 * rng.normal(size=(1500, 5)) + 6.0 * np.eye(3, 5)[kind]
    X[:, 3] += 3.0 * (codes >= 3)
    X[:, 4] += 0.2 * codes
    for how in ("mutual", "local"):
        moved = align_points(X, encode_column(codes), how)
        far = moved[codes >= 3].mean(axis=0) - moved[codes < 3].mean(axis=0)
        assert np.linalg.norm(far) < 0.5


@pytest.mark.parametrize("sample", [20_000, 300])
@pytest.mark.parametrize("how", HOW)
def test_same_bits_for_any_number_of_threads(
    how: str, sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "SAMPLE", sample)
    X, labels = blobs(700, d=5, missing=30)
    one, two = (align_points(X, labels, how, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    scores = {commuting_share(X, one, labels, n_jobs=jobs) for jobs in (1, 2)}
    assert len(scores) == 1


# ---- scores --------------------------------------------------------------------------------------


def test_a_right_alignment_commutes_better() -> None:
    rng = np.random.default_rng(0)
    base, codes = rng.normal(size=(600, 3)), np.arange(600) % 2
    X = base + 5.0 * codes[:, None]
    labels = encode_column(codes)
    shares = [commuting_share(X, points, labels) for points in (X, base, rng.permutation(base))]
    assert min(shares) >= 0 and max(shares) <= 1
    assert shares[1] > 0.1 + max(shares[0], shares[2])


@pytest.mark.parametrize(("factor", "alike"), [(1.0, True), (1.5, True), (1e-3, False)])
def test_a_representation_in_another_unit_is_rescaled(factor: float, alike: bool) -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(80, 4)), as_columns(np.arange(80) % 3)
    found = choose_alignment(X, labels, factor * X, metric="euclidean", n_jobs=1)
    np.testing.assert_allclose(found.points, factor * X if alike else X, rtol=1e-6)
    assert found.factor == pytest.approx(1 if alike else 1 / factor, rel=1e-6)
    angles = choose_alignment(X, labels, factor * X, metric="cosine", n_jobs=1)
    np.testing.assert_array_equal(angles.points, factor * X)


def test_several_columns_are_aligned_by_their_combinations() -> None:
    rng = np.random.default_rng(0)
    labels = as_columns(rng.integers(0, 2, size=(200, 2)))
    X = rng.normal(size=(200, 3)) + 5.0 * labels.codes @ np.eye(2, 3)
    found = choose_alignment(X, labels, "mean", metric="euclidean", n_jobs=1)
    expected = align_points(X, labels.combined, "mean")
    np.testing.assert_array_equal(found.points, expected)
    assert found.shifts is not None and found.shifts.shape == (4, 3)
    assert choose_alignment(X, None, "mean", metric="euclidean", n_jobs=1).points is None
