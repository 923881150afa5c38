"""Gradient descent: a map that can be run, stopped, read and continued."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import check_jobs
from ctsne._core.messages import InterruptedWarning, shown, warn
from ctsne.layout.repulsion import REMEDY, Extent, Repulsion
from ctsne.layout.weights import PairWeights

Callback = Callable[[int, float, NDArray[np.float32]], object]

# Matrices with more entries do not fit in caches. They are packed, within 0.2 % of their values,
# and points are sorted by their place in the map, at the start and again after early exaggeration.
PACKED_FROM = 2**20

_ENTRIES_AT_ONCE = 2**17  # similarities whose logarithms are computed at a time


@dataclass(frozen=True)
class Schedule:
    """Settings of the descent, by iteration.

    Attraction is multiplied by the exaggeration of a phase. A momentum is the share of the last
    step to keep. The gradient is a quarter of the mathematical one, as in most t-SNE programs.
    """

    early_exaggeration: float = 12.0
    early_exaggeration_iter: int = 250
    exaggeration: float = 1.0
    learning_rate: float = 200.0
    early_learning_rate: float | None = None  # as the other
    early_momentum: float = 0.5
    momentum: float = 0.8
    longest_step: float = 5.0  # others are shortened

    def at(self, iteration: int) -> tuple[float, float, float]:
        """Return exaggeration, learning rate and momentum of an iteration."""
        if iteration >= self.early_exaggeration_iter:
            return self.exaggeration, self.learning_rate, self.momentum
        early_rate = self.early_learning_rate
        rate = self.learning_rate if early_rate is None else early_rate
        return self.early_exaggeration, rate, self.early_momentum


class Layout:
    """A map of points, from their similarities.

    These are symmetric and sum to one; ``weights`` condition the map. The result does not depend on
    ``n_jobs``.
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        start: NDArray[np.floating],
        schedule: Schedule | None = None,
        *,
        weights: PairWeights | None = None,
        dof: float = 1.0,
        n_jobs: int = 1,
    ) -> None:
        n = len(start)
        self.schedule = Schedule() if schedule is None else schedule
        self.iteration = 0
        self._n_jobs = check_jobs(n_jobs)
        self._constant = _negative_entropy(matrix)
        self._order = np.arange(n)
        self._groups: NDArray[np.integer] | None = None
        if weights is not None:
            self._constant -= weights.mean_log_weight(matrix)
            self._order = weights.order
            sizes = np.diff(weights.main.bounds, append=n)
            self._groups = np.repeat(np.arange(len(sizes)), sizes)
        self._repulsion = Repulsion(n, dof=dof, weights=weights, n_jobs=self._n_jobs)
        self._extent: Extent | None = None
        y = np.array(start[self._order], np.float32, order="C")
        # A large matrix is kept as given until it is packed for the last time.
        self._source: sp.csr_array | None = matrix if matrix.nnz >= PACKED_FROM else None
        if self._source is not None:
            similarities, self._order, order = self._packed(y)
            y = y[order]
        else:
            in_order = matrix if weights is None else matrix[self._order][:, self._order]
            similarities = _similarities(in_order, self._n_jobs, copy=True)
        self._descent = _native.Descent(similarities, y, dof, self._n_jobs)

    @property
    def embedding(self) -> NDArray[np.float32]:
        """Positions of all points, in the order of the matrix (a copy)."""
        return self._as_given(self._descent.y)

    def loss(self) -> float:
        """Return the Kullback-Leibler divergence of the map, without exaggeration."""
        _, normaliser = self._repulsion(self._descent.y, self._extent)
        return self._loss(normaliser)

    def gradient(self) -> NDArray[np.float32]:
        """Return the gradient of the loss, in the order of the matrix."""
        repulsion, normaliser = self._repulsion(self._descent.y, self._extent)
        attraction = self._descent.attraction()
        return self._as_given(4 * (attraction - repulsion / np.float32(normaliser)))

    def advance(self, n_iter: int) -> None:
        """Take ``n_iter`` more steps; unlike :meth:`run`, this does not catch Ctrl-C."""
        for _ in range(n_iter):
            self._step()

    def run(
        self,
        n_iter: int,
        *,
        callback: Callback | None = None,
        callback_every: int = 50,
        after_step: Callable[[], object] | None = None,
    ) -> bool:
        """Take up to ``n_iter`` more steps.

        Ctrl-C ends the run with a warning and keeps the map. The callback gets the iteration, the
        loss before the last step and the embedding, and returns True to stop. ``after_step`` only
        counts steps: it needs no loss or embedding, so it is cheap.
        """
        try:
            for _ in range(n_iter):
                normaliser = self._step()
                if after_step is not None:
                    after_step()
                if callback is not None and self.iteration % callback_every == 0:
                    answer = callback(self.iteration, self._loss(normaliser), self.embedding)
                    if isinstance(answer, bool | np.bool_) and answer:
                        return True
        except KeyboardInterrupt:
            text = f"interrupted after iteration {self.iteration}; the map up to there is kept"
            warn(text, InterruptedWarning)
            return True
        return False

    def _as_given(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        given = np.empty_like(values)
        given[self._order] = values
        return given

    def _packed(
        self, y: NDArray[np.float32]
    ) -> tuple[_native.Similarities, NDArray[np.int64], NDArray[np.int64]]:
        """Pack the similarities in the order of the map; return it as a whole and as a change."""
        assert self._source is not None
        order = spatial_order(y, self._groups)
        whole = self._order[order]
        given = _similarities(self._source, self._n_jobs, copy=False)
        return given.packed(whole.astype(np.int32)), whole, order

    def _loss(self, normaliser: float) -> float:
        # Packed similarities are rounded, so their sum is not exactly one.
        mean_log_kernel = self._descent.log_kernel_sum() / self._descent.total
        loss = self._constant - mean_log_kernel + float(np.log(normaliser))
        if not math.isfinite(loss):
            raise ValueError(f"the loss of the map is {loss}; {REMEDY}")
        return loss

    def _step(self) -> float:
        if self._source is not None and self.iteration >= self.schedule.early_exaggeration_iter:
            if self.iteration > 0:
                similarities, whole, order = self._packed(self._descent.y)
                # Both at once: Ctrl-C is heard before the assignments or after them.
                self._descent, self._order = self._descent.reordered(order, similarities), whole
            self._source = None
        extent, self._extent = self._extent, None  # so that Ctrl-C leaves none that is outdated
        repulsion, normaliser = self._repulsion(self._descent.y, extent)
        exaggeration, rate, momentum = self.schedule.at(self.iteration)
        self._extent = self._descent.step(
            repulsion,
            pull=exaggeration,
            push=1.0 / normaliser,
            learning_rate=rate,
            momentum=momentum,
            longest=self.schedule.longest_step,
        )
        self.iteration += 1
        return normaliser


def check_callback(callback: Any) -> None:
    """Refuse what cannot be called with an iteration, its loss and the map."""
    if callback is None:
        return
    try:
        fits = callable(callback) and inspect.signature(callback).bind(0, 0.0, None) is not None
    except TypeError:
        fits = False
    except ValueError:  # some functions written in C do not list their arguments
        fits = True
    if not fits:
        wanted = "a function of (iteration, loss, embedding) or None"
        raise TypeError(f"callback must be {wanted}, got {shown(callback)}")


def _similarities(matrix: sp.csr_array, n_jobs: int, *, copy: bool) -> _native.Similarities:
    """Return similarities with arrays of their own, or for use before the matrix can change."""
    starts = matrix.indptr.astype(np.int64, copy=copy).view()
    columns = matrix.indices.astype(np.int32, copy=copy).view()
    values = matrix.data.astype(np.float32, copy=copy).view()
    for array in (starts, columns, values):
        array.flags.writeable = False  # what can be written would be copied once more
    return _native.Similarities(starts, columns, values, n_jobs)


def spatial_order(y: NDArray[np.float32], groups: NDArray[np.integer] | None) -> NDArray[np.int64]:
    """Order points along Morton's space-filling curve, inside groups that keep their order."""
    dims = y.shape[1]
    bits = 30 // dims
    inside = y.astype(np.float64) - y.min(axis=0)
    cells = (inside * ((2**bits - 1) / max(inside.max(), 1e-30))).astype(np.int64)
    key = np.zeros(len(y), np.int64) if groups is None else groups.astype(np.int64) << 30
    for axis in range(dims):
        for bit in range(bits):
            key |= (cells[:, axis] >> bit & 1) << (bit * dims + axis)
    return np.argsort(key, kind="stable")


def _negative_entropy(matrix: sp.csr_array) -> float:
    total = 0.0
    for begin in range(0, len(matrix.data), _ENTRIES_AT_ONCE):
        values = matrix.data[begin : begin + _ENTRIES_AT_ONCE]
        values = values[values > 0].astype(np.float64)
        total += float((values * np.log(values)).sum())  # BLAS sums depend on threads
    return total
