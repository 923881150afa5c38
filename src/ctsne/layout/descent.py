"""Gradient descent: a map in the making that can be run, stopped, looked at and continued."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne import _native
from ctsne._core.checks import check_finite, check_jobs
from ctsne._core.messages import warn
from ctsne.layout.order import spatial_order
from ctsne.layout.pairs import PairWeights
from ctsne.layout.repulsion import Extent, Repulsion

# Row starts, columns and values of the similarities, as a sparse matrix or packed.
_Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | NDArray[np.uint16]]
Callback = Callable[[int, float, NDArray[np.float32]], object]

# Similarities of so many entries are more than caches hold: they are packed, within 0.2 % of their
# values, and points are brought in the order of the map, at the start and after early exaggeration.
PACKED_FROM = 2**20

# How often the loss is looked at for early stopping, and the relative gain that counts as progress.
_STALL_CHECK = 25
_STALL_GAIN = 1e-4
# Similarities whose logarithms are held at a time.
_ENTRIES_AT_ONCE = 2**17


@dataclass(frozen=True)
class Schedule:
    """How a map is run, by iteration number.

    Attributes
    ----------
    early_exaggeration : float
        Factor on the attraction in the first phase.
    early_exaggeration_iter : int
        Length of that phase.
    exaggeration : float
        Factor on the attraction after it.
    learning_rate : float
        Step length; the gradient is a quarter of the mathematical one, as in most t-SNE programs.
    early_learning_rate : float or None
        Step length in the first phase, if it is another one.
    early_momentum, momentum : float
        Share of the last step kept, in both phases.
    longest_step : float
        Longer steps are shortened to this.
    """

    early_exaggeration: float = 12.0
    early_exaggeration_iter: int = 250
    exaggeration: float = 1.0
    learning_rate: float = 200.0
    early_learning_rate: float | None = None
    early_momentum: float = 0.5
    momentum: float = 0.8
    longest_step: float = 5.0

    def at(self, iteration: int) -> tuple[float, float, float]:
        """Exaggeration, learning rate and momentum of an iteration."""
        if iteration >= self.early_exaggeration_iter:
            return self.exaggeration, self.learning_rate, self.momentum
        early_rate = self.early_learning_rate
        rate = self.learning_rate if early_rate is None else early_rate
        return self.early_exaggeration, rate, self.early_momentum


class Layout:
    """A map of points under their similarities.

    Parameters
    ----------
    matrix : csr_array, shape (n, n)
        Symmetric similarities that sum to one.
    start : array, shape (n, dims)
        Positions to start from; one to three dimensions.
    schedule : Schedule
    weights : PairWeights, optional
        Low-dimensional conditioning.
    dof : float
        Degrees of freedom of the map's kernel; 1 is t-SNE's.
    n_jobs : int
        Threads. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.layout import Layout
    >>> from ctsne.neighbors import find_neighbors
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> similar = tsne_affinities(find_neighbors(X, k_same=15), perplexity=5)
    >>> layout = Layout(similar.matrix, 1e-4 * X[:, :2])
    >>> layout.run(20)
    False
    >>> layout.run(10)  # goes on where it stopped, momentum and all
    False
    >>> layout.iteration, layout.embedding.shape
    (30, (60, 2))
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
        n = _check_input(matrix, start)
        n_jobs = check_jobs(n_jobs)
        self.schedule = schedule or Schedule()
        self.iteration = 0
        self._dof = float(dof)
        self._n_jobs = n_jobs
        self._constant = _negative_entropy(matrix)
        self._order = np.arange(n)
        self._groups: NDArray[np.integer] | None = None
        if weights is not None:
            self._constant -= weights.mean_log_weight(matrix)
            self._order = weights.order
            self._groups = np.repeat(
                np.arange(len(weights.bounds)), np.diff(weights.bounds, append=n)
            )
        self._repulsion = Repulsion(n, dof=self._dof, weights=weights, n_jobs=n_jobs)
        self._y = np.array(start[self._order], np.float32, order="C")
        self._update = np.zeros_like(self._y)
        self._gains = np.ones_like(self._y)
        self._moved = np.empty_like(self._y)
        self._extent: Extent | None = None
        # As given, for as long as it will be packed again.
        self._source: sp.csr_array | None = matrix if matrix.nnz >= PACKED_FROM else None
        if self._source is not None:
            self._sort_points()
        else:
            if weights is not None:
                matrix = matrix[self._order][:, self._order]
            self._rows: _Rows = _arrays(matrix)
            self._total = 1.0

    @property
    def embedding(self) -> NDArray[np.float32]:
        """Positions of all points, in the order of the matrix (a copy)."""
        return self._as_given(self._y)

    def loss(self) -> float:
        """Kullback-Leibler divergence of the map, exaggeration left out."""
        _, normaliser = self._repulsion(self._y, self._extent)
        return self._loss(normaliser)

    def gradient(self) -> NDArray[np.float32]:
        """Gradient of the loss, in the order of the matrix."""
        repulsion, normaliser = self._repulsion(self._y, self._extent)
        attraction = np.empty_like(self._y)
        _native.attract(*self._rows, self._y, self._dof, self._n_jobs, attraction)
        return self._as_given(4 * (attraction - repulsion / np.float32(normaliser)))

    def advance(self, n_iter: int) -> None:
        """Take ``n_iter`` more steps; unlike in :meth:`run`, Ctrl-C is left to the caller.

        Parameters
        ----------
        n_iter : int
        """
        for _ in range(n_iter):
            self._step()

    def run(
        self,
        n_iter: int,
        *,
        callback: Callback | None = None,
        callback_every: int = 50,
        patience: int | None = None,
        after_step: Callable[[], object] | None = None,
    ) -> bool:
        """Take up to ``n_iter`` more steps.

        Ctrl-C ends the run with a warning and keeps what was reached.

        Parameters
        ----------
        n_iter : int
        callback : callable, optional
            Called as ``callback(iteration, loss, embedding)`` every ``callback_every`` iterations;
            the loss is that of the map as it stood before the last step. Returning True stops.
        callback_every : int
        patience : int, optional
            Stop when the loss has not improved for so many iterations after early exaggeration.
        after_step : callable, optional
            Called without arguments after every step, to count them; unlike ``callback`` it costs
            nothing.

        Returns
        -------
        bool
            Whether the run was stopped before ``n_iter`` steps.
        """
        best, best_at = np.inf, self.iteration
        try:
            for _ in range(n_iter):
                normaliser = self._step()
                if after_step is not None:
                    after_step()
                if (
                    callback is not None
                    and self.iteration % callback_every == 0
                    and _says_stop(callback(self.iteration, self._loss(normaliser), self.embedding))
                ):
                    return True
                if patience is not None and self.iteration % _STALL_CHECK == 0:
                    loss = self._loss(normaliser)
                    early = self.iteration <= self.schedule.early_exaggeration_iter
                    if early or loss < best * (1 - _STALL_GAIN):
                        best, best_at = (np.inf if early else loss), self.iteration
                    elif self.iteration - best_at >= patience:
                        return True
        except KeyboardInterrupt:
            warn(f"interrupted after iteration {self.iteration}: the map reached so far is kept")
            return True
        return False

    def _as_given(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a copy in the order of the matrix."""
        given = np.empty_like(values)
        given[self._order] = values
        return given

    def _sort_points(self) -> None:
        """Pack the similarities with points that are near in the map near in memory."""
        assert self._source is not None
        order = spatial_order(self._y, self._groups)
        whole = self._order[order]
        indptr, columns, values, total = _native.pack_rows(
            *_arrays(self._source), whole.astype(np.int32), self._n_jobs
        )
        rows = indptr, columns, values
        state = self._y[order], self._update[order], self._gains[order]
        # At once, so that Ctrl-C finds the old order or the new.
        (self._rows, self._total), self._order, (self._y, self._update, self._gains) = (
            (rows, total), whole, state,
        )  # fmt: skip

    def _loss(self, normaliser: float) -> float:
        log_kernel = _native.log_kernel_sum(*self._rows, self._y, self._dof, self._n_jobs)
        # Packed similarities are rounded, and so is their sum.
        return self._constant - log_kernel / self._total + float(np.log(normaliser))

    def _step(self) -> float:
        if self._source is not None and self.iteration >= self.schedule.early_exaggeration_iter:
            if self.iteration > 0:
                self._sort_points()
            self._source = None
        extent, self._extent = self._extent, None  # Ctrl-C may come between the step and its extent
        repulsion, normaliser = self._repulsion(self._y, extent)
        exaggeration, rate, momentum = self.schedule.at(self.iteration)
        self._extent = _native.descend(
            *self._rows, self._dof, repulsion, exaggeration, 1.0 / normaliser, rate, momentum,
            self.schedule.longest_step, self._n_jobs, self._y, self._moved, self._update,
            self._gains,
        )  # fmt: skip
        self.iteration += 1
        return normaliser


def _check_input(matrix: sp.csr_array, start: NDArray[np.floating]) -> int:
    """Refuse what the kernels cannot read; they follow the matrix's indices without looking."""
    if not sp.issparse(matrix) or matrix.format != "csr" or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("matrix must be a square sparse matrix in CSR format")
    matrix.check_format(full_check=True)
    n = int(matrix.shape[0])
    if np.ndim(start) != 2 or len(start) != n or not 1 <= np.shape(start)[1] <= 3:
        raise ValueError(
            f"start must have a row for each of the {n} points and one to three columns, got "
            f"shape {np.shape(start)}"
        )
    check_finite(np.asarray(start), argument="start")
    if matrix.nnz and matrix.data.min() < 0:
        raise ValueError(f"matrix must not hold negative similarities, got {matrix.data.min():g}")
    return n


def _says_stop(answer: object) -> bool:
    return isinstance(answer, bool | np.bool_) and bool(answer)


def _arrays(
    matrix: sp.csr_array,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
    )


def _negative_entropy(matrix: sp.csr_array) -> float:
    total = 0.0
    for begin in range(0, len(matrix.data), _ENTRIES_AT_ONCE):
        values = matrix.data[begin : begin + _ENTRIES_AT_ONCE]
        values = values[values > 0].astype(np.float64)
        total += float((values * np.log(values)).sum())  # not by BLAS: its sums depend on threads
    return total
