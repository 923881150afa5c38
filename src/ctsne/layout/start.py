"""Positions to start a map from, and maps of the same points turned onto each other."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from ctsne._core.components import IS_SEEDED, leading_eigenvectors, principal_components
from ctsne._core.jobs import one_blas_thread

_Floats = NDArray[np.float64]
# In a small start, attraction can sort the points before repulsion separates them.
START_SCALE = 1e-4
# An axis with less than this share of the first one's spread holds only rounding errors.
_FLAT = 1e-12
_SHIFT = 1e-6  # far below the tolerance of the eigenvectors, and far above rounding errors


def start_positions(
    init: str | ArrayLike,
    n_components: int,
    *,
    X: NDArray[np.floating] | None,
    matrix: sp.csr_array | None,
    rng: np.random.Generator,
    n_jobs: int = 1,
) -> _Floats:
    """Return an array as it is, or a start with standard deviation 1e-4 for any ``n_jobs``."""
    # "pca" needs features, the others similarities.
    if not isinstance(init, str):
        return np.array(init, np.float64)
    if init == "pca":
        assert X is not None
        if (X[-1] == X[0]).all() and (X[0] == X).all():  # all points are identical
            return _scaled(np.zeros((len(X), 0)), n_components, rng)
        k = min(n_components, *X.shape)
        scores, _ = principal_components(X, k, n_jobs=n_jobs)
        return _scaled(scores, n_components, rng)
    assert matrix is not None
    if init == "random":
        return rng.normal(scale=START_SCALE, size=(matrix.shape[0], n_components))
    with one_blas_thread():
        positions = _scaled(_spectral(matrix, n_components, rng), n_components, rng)
    # Each connected component of the graph collapses to one place: noise spreads its points.
    return positions + rng.normal(scale=0.01 * START_SCALE, size=positions.shape)


def _spectral(matrix: sp.csr_array, n_components: int, rng: np.random.Generator) -> _Floats:
    """Return the leading non-trivial eigenvectors of the normalised similarities."""
    n = matrix.shape[0]
    root = np.sqrt(np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1e-300))
    scaling = sp.diags_array(1 / root)
    normalised = (scaling @ matrix.astype(np.float64) @ scaling).tocsr()
    if not IS_SEEDED:  # the result is the same every time only if eigenvalues differ
        shift = _SHIFT * np.random.default_rng(0).random(n)
        normalised = (normalised + sp.diags_array(shift)).tocsr()
    trivial = root / np.linalg.norm(root)
    k = min(n_components, n - 1)
    # The trivial eigenvector is known. It is moved to the bottom of the spectrum (eigenvalue -1)
    # instead of skipped: with several components, it shares the top eigenvalue with others.
    if k + 1 >= n:
        _, vectors = np.linalg.eigh(normalised.toarray() - 2 * np.outer(trivial, trivial))
        vectors = vectors[:, : -k - 1 : -1]
    else:
        deflated = LinearOperator(
            (n, n), matvec=lambda v: normalised @ v - 2 * trivial * (trivial @ v), dtype=np.float64
        )
        vectors = leading_eigenvectors(deflated, k, rng.normal(size=n), tol=1e-4)
    leading = vectors / root[:, None]
    # The sign of an eigenvector is arbitrary: make its largest entry positive.
    signs = np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])])
    return np.asarray(leading * np.where(signs == 0, 1, signs))


def _scaled(positions: _Floats, n_components: int, rng: np.random.Generator) -> _Floats:
    """Scale positions to the size of a start; axes without spread get noise, to not stay flat."""
    out = np.zeros((len(positions), n_components))
    out[:, : positions.shape[1]] = positions
    spread = out.std(axis=0)
    if spread[0] > 0:
        out *= START_SCALE / spread[0]
    flat = np.flatnonzero(spread <= _FLAT * spread[0])
    out[:, flat] = rng.normal(scale=START_SCALE, size=(len(out), len(flat)))
    return out


def align(embedding: NDArray[np.floating], reference: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rotate, mirror and shift a map to match another of the same points; distances stay."""
    positions, target = embedding.astype(np.float64), reference.astype(np.float64)
    centre, goal = positions.mean(axis=0), target.mean(axis=0)
    with one_blas_thread():
        left, _, right = np.linalg.svd((positions - centre).T @ (target - goal))
        turned = (positions - centre) @ (left @ right) + goal
    return np.asarray(turned, np.float32)
