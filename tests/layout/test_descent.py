"""The run itself: gradient and loss against the reference, continuation, callbacks, stopping."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne.affinity import tsne_affinities
from ctsne.layout import Layout, Schedule, descent, pair_weights
from ctsne.neighbors import find_neighbors

from .. import reference as formulas
from ..random_columns import as_columns


def similarities(n: int, seed: int = 0) -> sp.csr_array:
    X = np.random.default_rng(seed).normal(size=(n, 5))
    k = min(15, n - 1)
    return tsne_affinities(find_neighbors(X, lengths=k), perplexity=min(5, k)).matrix


def start(n: int, dims: int = 2, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(scale=1e-4, size=(n, dims))


def test_one_step_is_the_gradient_rule() -> None:
    """First step: no momentum yet, and gains of 1 become 1.2 or 0.8."""
    matrix, y = similarities(40), start(40)
    layout = Layout(matrix, y, Schedule(learning_rate=10, early_exaggeration=1))
    gradient = layout.gradient() / 4
    layout.run(1)
    # The last update was zero, which counts as not positive.
    gains = np.where(gradient > 0, 1.2, 0.8)
    expected = y - 10 * gains * gradient
    np.testing.assert_allclose(layout.embedding, expected - expected.mean(axis=0), atol=1e-6)


def test_long_steps_are_shortened() -> None:
    layout = Layout(similarities(30), 5 * start(30) / 1e-4, Schedule(learning_rate=1e6))
    before = layout.embedding
    layout.run(1)
    moved = layout.embedding - before
    moved -= moved.mean(axis=0)
    assert np.linalg.norm(moved, axis=1).max() < 2 * 5.0 + 1e-3
    layout.run(50)
    assert np.isfinite(layout.embedding).all()


def test_descent_lowers_the_loss_and_loss_excludes_exaggeration() -> None:
    matrix = similarities(300)
    layout = Layout(matrix, start(300))
    first = layout.loss()
    layout.run(400)
    assert layout.loss() < 0.6 * first
    P = matrix.toarray().astype(float)
    assert layout.loss() == pytest.approx(
        formulas.kl_divergence(P, layout.embedding.astype(float)), abs=1e-4
    )


def test_callback_sees_the_run_and_stops_it() -> None:
    calls: list[tuple[int, float, tuple[int, ...]]] = []

    def callback(iteration: int, loss: float, embedding: NDArray[np.float32]) -> bool:
        calls.append((iteration, loss, embedding.shape))
        embedding[:] = np.nan  # a copy: what the callback does to it changes nothing
        return iteration >= 30

    layout = Layout(similarities(50), start(50))
    assert layout.run(100, callback=callback, callback_every=10) is True
    assert [iteration for iteration, _, _ in calls] == [10, 20, 30]
    assert layout.iteration == 30
    assert np.isfinite(layout.embedding).all()
    assert all(np.isfinite(loss) and shape == (50, 2) for _, loss, shape in calls)


def test_after_step_is_called_for_every_step() -> None:
    layout = Layout(similarities(50), start(50))
    calls: list[tuple[str, int]] = []
    stopped = layout.run(
        20,
        callback=lambda iteration, *_: calls.append(("callback", iteration)) or iteration == 10,
        callback_every=5,
        after_step=lambda: calls.append(("step", layout.iteration)),
    )
    steps = [iteration for name, iteration in calls if name == "step"]
    assert stopped and steps == list(range(1, 11))
    # It is called before the callback of the same step.
    assert calls[4:6] == [("step", 5), ("callback", 5)]
    silent = Layout(similarities(50), start(50))
    silent.run(10)
    assert np.array_equal(layout.embedding, silent.embedding)


def test_interrupt_keeps_what_was_reached() -> None:
    def callback(iteration: int, loss: float, embedding: NDArray[np.float32]) -> None:
        raise KeyboardInterrupt

    layout = Layout(similarities(50), start(50))
    with pytest.warns(UserWarning, match="interrupted after iteration 20"):
        stopped = layout.run(100, callback=callback, callback_every=20)
    assert stopped and layout.iteration == 20
    layout.run(5)
    assert layout.iteration == 25


@pytest.mark.parametrize("conditioned", [False, True])
def test_packed_similarities_give_the_same_map(
    conditioned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large matrices are packed and reordered: seen from outside, only rounding differs."""
    n = 400
    weights = None
    if conditioned:
        codes = np.where(np.arange(n) % 11 == 0, -1, np.arange(n) % 3)
        weights = pair_weights(as_columns(codes), [0.01])
    matrix, schedule = similarities(n), Schedule(early_exaggeration_iter=20)
    plain = Layout(matrix, start(n), schedule, weights=weights)
    monkeypatch.setattr(descent, "PACKED_FROM", 1)
    packed = Layout(matrix, start(n), schedule, weights=weights)
    assert np.array_equal(packed.embedding, plain.embedding)
    assert packed.loss() == pytest.approx(plain.loss(), abs=1e-4)
    spread = Layout(matrix, 1e5 * start(n), schedule, weights=weights)
    monkeypatch.setattr(descent, "PACKED_FROM", matrix.nnz + 1)
    expected = Layout(matrix, 1e5 * start(n), schedule, weights=weights).gradient()
    error = np.linalg.norm(spread.gradient() - expected) / np.linalg.norm(expected)
    assert error < 1e-3
    plain.run(200)
    for iterations in (12, 8, 180):  # across the end of early exaggeration
        packed.run(iterations)
        same = Layout(matrix, packed.embedding, weights=weights)
        assert packed.loss() == pytest.approx(same.loss(), abs=1e-4)
        error = np.linalg.norm(packed.gradient() - same.gradient())
        parts = np.linalg.norm(packed.embedding) * 8 / n  # forces cancel: compare with their parts
        assert error < 1e-3 * parts
    assert packed.loss() == pytest.approx(plain.loss(), rel=0.1)  # as good, if not the same


def test_a_damaged_state_is_refused() -> None:
    matrix = similarities(40)
    given = _native.Similarities(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, 1
    )
    for state in (given, given.packed(np.arange(40, dtype=np.int32))):
        packed, starts, columns, *rest = state.__getstate__()
        outside = np.array(columns)
        outside[-1] = 40
        empty = _native.Similarities.__new__(_native.Similarities)
        with pytest.raises(ValueError, match="outside the matrix"):
            empty.__setstate__((packed, starts, outside, *rest))
        empty = _native.Similarities.__new__(_native.Similarities)
        with pytest.raises(ValueError, match="as the row starts say"):
            empty.__setstate__((packed, starts, columns[:-1], *rest))


def test_a_map_that_is_lost_is_an_error() -> None:
    layout = Layout(similarities(30), 1e25 * start(30))
    for call in (layout.loss, layout.gradient, lambda: layout.run(5)):
        with pytest.raises(ValueError, match="use a smaller dof, learning_rate"):
            call()
    assert layout.iteration == 0


@pytest.mark.parametrize("rate", [1e20, 1e300])
def test_any_learning_rate_takes_steps(rate: float) -> None:
    """Products beyond the largest float are steps of the greatest length, not none at all."""
    layout = Layout(similarities(30), start(30), Schedule(learning_rate=rate, exaggeration=1e300))
    layout.run(3)
    assert np.isfinite(layout.embedding).all()
    assert np.ptp(layout.embedding) > 1


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize(
    ("n", "dims", "packed_from"),
    [(200, 2, descent.PACKED_FROM), (3000, 1, 1), (3000, 2, 1), (3000, 3, 1)],
)
def test_a_run_continued_stored_and_threaded_is_the_same_run(
    n: int, dims: int, packed_from: int, conditioned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descent, "PACKED_FROM", packed_from)
    weights = pair_weights(as_columns(np.arange(n) % 3), [0.01]) if conditioned else None
    matrix, schedule = similarities(n), Schedule(early_exaggeration_iter=15)
    whole = Layout(matrix, start(n, dims), schedule, weights=weights, n_jobs=1)
    whole.run(40)
    parts = Layout(matrix, start(n, dims), schedule, weights=weights, n_jobs=3)
    for iterations in (15, 1, 24):
        parts.run(iterations)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.iteration == 40
    assert np.array_equal(whole.embedding, parts.embedding)
    assert whole.loss() == parts.loss()


def test_arrays_of_other_libraries_are_copied() -> None:
    arrays = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    views: list[Any] = [memoryview(array) for array in arrays]  # type: ignore[arg-type]
    y = np.array([[0, 0], [1, 2]], np.float32)
    one, other = (
        _native.Descent(_native.Similarities(*each, 1), y, 1.0, 1).attraction()
        for each in (arrays, views)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_matrices_may_be_read_only_or_change_later(kind: Any) -> None:
    matrix = similarities(30)
    expected = Layout(matrix, start(30)).gradient()
    arrays = matrix.data.copy(), matrix.indices.astype(kind), matrix.indptr.astype(kind)
    for array in arrays:
        array.flags.writeable = False
    layout = Layout(sp.csr_array(arrays), start(30))
    np.testing.assert_array_equal(layout.gradient(), expected)
    for array in arrays:
        array.flags.writeable = True
        array[:] = 0
    np.testing.assert_array_equal(layout.gradient(), expected)


def test_arrays_that_change_later_are_not_followed() -> None:
    arrays = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    given = _native.Similarities(*arrays, 1)
    packed = given.packed(np.array([1, 0], np.int32))
    y = np.array([[0, 0], [1, 2]], np.float32)
    descents = [_native.Descent(each, y, 1.0, 1) for each in (given, packed)]
    expected = [(each.attraction(), each.log_kernel_sum()) for each in descents]
    for each in (given, packed):
        for array in (*arrays, *each.__getstate__()[1:4]):  # type: ignore[misc]
            array[...] = 2**13  # type: ignore[index]
    for each, (attraction, total) in zip(descents, expected, strict=True):
        np.testing.assert_array_equal(each.attraction(), attraction)
        assert each.log_kernel_sum() == total


@pytest.mark.parametrize("kind", ["Similarities", "Descent"])
@pytest.mark.parametrize(
    "state", [(), (1, 2, 3, 4, 5, 6), (None,) * 6, (True, "a", None, 3, 2.0, 1)], ids=str
)
def test_state_of_other_types_is_refused(kind: str, state: tuple[object, ...]) -> None:
    cls = getattr(_native, kind)
    with pytest.raises((TypeError, ValueError), match="state"):
        cls.__new__(cls).__setstate__(state)
