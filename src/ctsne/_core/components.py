"""Principal components whose bits do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from threadpoolctl import threadpool_limits

import ctsne._native as _native
from ctsne._core.checks import all_identical, check_choice, check_count, is_sparse
from ctsne._core.jobs import one_blas_thread
from ctsne._core.messages import shown

# By default, features with more columns than this are reduced to this many components.
AUTO_COMPONENTS = 50

# Up to this many columns (or rows), the matrix of their products is formed and solved directly.
_MOST_SOLVED = 1000
# Entries per block of rows: large enough for BLAS, small enough for the cache.
_BLOCK_ENTRIES, _FEWEST_ROWS = 2**20, 16
# Block Krylov search for a few directions among many columns: vectors per block, most blocks, and
# the relative error at which it ends.
_BLOCK_WIDTH, _MOST_BLOCKS, _STANDSTILL = 16, 12, 1e-9
_ROUNDING = 1e-7  # lengths below this share of the longest are rounding errors

# From version 1.17 on, SciPy seeds the vectors from which ARPACK continues if eigenvalues coincide.
IS_SEEDED = "rng" in signature(eigsh).parameters
_SEED: dict[str, Any] = {"rng": 0} if IS_SEEDED else {}

_Array = NDArray[np.float64]


def check_components(pca: Any, shape: tuple[int, ...], metric: str) -> int | str | None:
    """Return a number of components that the data have, "auto" or None; refuse anything else."""
    if isinstance(pca, str):
        check_choice(pca, "pca", ("auto",))
    if pca is None or isinstance(pca, str):
        return pca
    if metric == "precomputed":
        raise ValueError(f'pca={shown(pca)} needs features; leave it out with metric="precomputed"')
    return check_count(pca, "pca", low=1, high=min(shape), or_else=', "auto" or None')


def n_reduced(shape: tuple[int, ...], pca: int | str | None) -> int | None:
    """Return how many components features of this shape are reduced to; None if they are kept."""
    if pca == "auto":
        return AUTO_COMPONENTS if min(shape) > AUTO_COMPONENTS else None
    return None if pca is None else int(pca)


@dataclass(frozen=True, eq=False)
class Projection:
    """Principal axes, and the point that is subtracted first, as a row and a small rest."""

    origin: _Array
    mean: _Array
    axes: _Array

    def __call__(self, matrix: Any, *, n_jobs: int) -> _Array:
        """Return the features of new points; the bits of a row do not depend on the others."""
        if not is_sparse(matrix):
            centred: _Array = matrix - self.origin
            centred -= self.mean
            return _native.project(centred, self.axes, n_jobs)
        offset = _native.project((self.origin + self.mean)[None], self.axes, n_jobs)
        # SciPy adds up the entries of each row in their order.
        return np.asarray(matrix @ self.axes - offset)


def projected_features(
    matrix: Any, *, metric: str, pca: int | str | None, n_jobs: int
) -> tuple[NDArray[np.floating], Projection | None]:
    """Return dense features, and how they were reduced; None if they are as given."""
    k, d = n_reduced(matrix.shape, pca), matrix.shape[1]
    if k is None:
        dense = np.ascontiguousarray(matrix.toarray()) if is_sparse(matrix) else np.asarray(matrix)
        return dense, None
    if metric != "cosine" and all_identical(matrix):  # there are no components
        nothing = Projection(np.zeros(d), np.zeros(d), np.zeros((d, 1)))
        return np.zeros((matrix.shape[0], 1)), nothing
    # Angles are measured from the origin, so for them the data must not be centred.
    return principal_components(matrix, k, centred=metric != "cosine", n_jobs=n_jobs)


def principal_components(
    X: Any, k: int, *, centred: bool = True, n_jobs: int
) -> tuple[_Array, Projection]:
    """Return the scores on the leading k components, as in ``sklearn.decomposition.PCA``."""
    # Sums run over fixed blocks of rows, added in order, so ``n_jobs`` does not change them.
    limit = partial(threadpool_limits, 1, user_api="blas")  # some builds keep it per thread
    with one_blas_thread(), ThreadPoolExecutor(n_jobs, initializer=limit) as pool:
        rows = _Rows(X, pool, n_jobs, centred=centred)
        axes = _leading_axes(rows, k)
        largest = np.abs(axes).argmax(axis=0)
        axes = np.ascontiguousarray(axes * np.sign(axes[largest, np.arange(k)]))
        return rows.times(axes), Projection(rows.origin, rows.mean, axes)


def _leading_axes(rows: _Rows, k: int) -> _Array:
    """Return orthonormal directions of the largest variance, by the cheapest of three ways."""
    n, d = rows.shape
    if d <= _MOST_SOLVED:
        return _leading_vectors(rows.squared(), k)
    if n <= _MOST_SOLVED:
        whole = rows.dense(0, n)
        return _unit(whole.T @ _leading_vectors(whole @ whole.T, k))
    # Sparse data need many components, and a pass over them is cheap: one vector at a time, to full
    # precision. Dense data need a few, in as few passes as possible.
    solve = _by_vectors if rows.sparse else _by_blocks
    if d <= n:
        return solve(lambda v: rows.transposed_times(rows.times(v)), d, k)
    vectors = solve(lambda v: rows.times(rows.transposed_times(v)), n, k)
    return _unit(rows.transposed_times(vectors))


def _leading_vectors(matrix: _Array, k: int) -> _Array:
    size = len(matrix)
    _, vectors = scipy.linalg.eigh(matrix, subset_by_index=(size - k, size - 1))
    return np.asarray(vectors[:, ::-1])


def _by_vectors(product: Callable[[_Array], _Array], size: int, k: int) -> _Array:
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)  # arbitrary, but always the same
    vectors = leading_eigenvectors(operator, k, start)
    return vectors if vectors.shape[1] == k else _by_blocks(product, size, k)


def leading_eigenvectors(operator: Any, k: int, start: _Array, *, tol: float = 0.0) -> _Array:
    """Return the eigenvectors of up to k largest eigenvalues, as many as converge."""
    try:
        _, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=tol, **_SEED)
    except ArpackNoConvergence as error:
        vectors = error.eigenvectors
    return np.asarray(vectors[:, ::-1])


def _by_blocks(product: Callable[[_Array], _Array], size: int, k: int) -> _Array:
    """Return the best directions of a block Krylov space, which grows until they converge."""
    start = np.random.default_rng(0).normal(size=(size, min(size, _BLOCK_WIDTH)))
    block = np.linalg.qr(start)[0]
    basis, image = block, product(block)
    while True:
        vectors = _leading_vectors(basis.T @ image, k)
        axes, moved = basis @ vectors, image @ vectors
        lengths = (axes * moved).sum(axis=0)
        error = np.abs(moved - axes * lengths).max()
        width = basis.shape[1] + block.shape[1]
        if error <= _STANDSTILL * lengths[0] or width > min(size, _MOST_BLOCKS * _BLOCK_WIDTH):
            return axes
        block = image[:, -block.shape[1] :]
        for _ in range(2):  # once leaves rounding errors behind
            block = block - basis @ (basis.T @ block)
        block = np.linalg.qr(block)[0]
        basis, image = np.hstack([basis, block]), np.hstack([image, product(block)])


def _unit(axes: _Array) -> _Array:
    """Scale axes to length one, or to zero where they are only rounding errors."""
    length = np.sqrt((axes**2).sum(axis=0))
    real = length > _ROUNDING * length.max()
    return np.where(real, axes, 0.0) / np.where(real, length, 1.0)


class _Rows:
    """Rows of a matrix, centred if requested, in blocks that threads process in turn."""

    def __init__(self, X: Any, pool: ThreadPoolExecutor, n_jobs: int, *, centred: bool) -> None:
        self.shape: tuple[int, int] = X.shape
        n, d = X.shape
        self.sparse = is_sparse(X)
        self._X, self._pool, self._n_jobs = X, pool, n_jobs
        entries = X.nnz if self.sparse and d > _MOST_SOLVED else n * d
        self._step = max(_FEWEST_ROWS, _BLOCK_ENTRIES * n // max(1, entries))
        self.origin = self.mean = np.zeros(d)
        if centred and self.sparse:
            self.mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(d)
        elif centred:  # relative to one row: far from the origin a mean would lose digits
            self.origin = X[0].astype(np.float64)
            self.mean = sum(self._in_order(lambda a, b: self.dense(a, b).sum(axis=0))) / n

    def times(self, right: _Array) -> _Array:
        """Return the product with a matrix that has one row per column."""
        if not self.sparse:
            return np.concatenate(list(self._in_order(lambda a, b: self.dense(a, b) @ right)))
        offset = self.mean @ right
        blocks = self._in_order(lambda a, b: self._sparse(a, b) @ right - offset)
        return np.concatenate(list(blocks))

    def transposed_times(self, left: _Array) -> _Array:
        """Return the product of the transpose with a matrix that has as many rows."""
        rows = self._sparse if self.sparse else self.dense
        total = sum(self._in_order(lambda a, b: rows(a, b).T @ left[a:b]))
        if self.sparse:
            total -= np.multiply.outer(self.mean, left.sum(axis=0))
        return np.asarray(total)

    def squared(self) -> _Array:
        """Return the product of the transpose with the rows."""
        blocks = self._in_order(lambda a, b: (rows := self.dense(a, b)).T @ rows)
        return np.asarray(sum(blocks))

    def _in_order(self, work: Callable[[int, int], Any]) -> Iterator[Any]:
        """Process all blocks, one per thread at a time, and yield the results in order."""
        n, step = self.shape[0], self._step
        for first in range(0, n, step * self._n_jobs):
            begins = range(first, min(n, first + step * self._n_jobs), step)
            yield from self._pool.map(lambda begin: work(begin, min(n, begin + step)), begins)

    def _sparse(self, begin: int, end: int) -> Any:
        X = self._X
        part = slice(int(X.indptr[begin]), int(X.indptr[end]))
        indptr = X.indptr[begin : end + 1] - X.indptr[begin]
        return sp.csr_array((X.data[part], X.indices[part], indptr), (end - begin, X.shape[1]))

    def dense(self, begin: int, end: int) -> _Array:
        """Return dense, centred rows."""
        rows = self._sparse(begin, end).toarray() if self.sparse else self._X[begin:end]
        centred: _Array = rows - self.origin
        centred -= self.mean
        return centred
