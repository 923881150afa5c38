"""Alternatives to conditioning, for comparison: correct the data or their graph first.

All take principal components and one label column, and return a two-dimensional map with the same
start and schedule as :class:`ctsne.ConditionalTSNE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne import ConditionalTSNE
from ctsne.affinity import tsne_affinities
from ctsne.labels import encode_column, encode_labels
from ctsne.layout import Layout, Schedule, start_positions
from ctsne.neighbors import Neighbors, find_neighbors, read_neighbors
from ctsne.neighbors.alignment import choose_alignment

__all__ = [
    "balanced_neighbors",
    "bbknn_tsne",
    "harmony_correct",
    "harmony_tsne",
    "means_removed_tsne",
]

Start = Callable[[NDArray[np.floating]], NDArray[np.float64]]


def harmony_correct(X: ArrayLike, labels: object, *, random_state: int = 0) -> NDArray[np.float64]:
    """Correct principal components for a label, or several by name, with Harmony.

    See Korsunsky et al. 2019. Points without a label form their own category.
    """
    import harmonypy

    features = np.asarray(X, np.float64)
    given = labels if isinstance(labels, Mapping) else {"label": labels}
    columns = {name: _categories(each, len(features)) for name, each in given.items()}
    # Passed as d by n, because Harmony takes the rows of a square matrix for components.
    found = harmonypy.run_harmony(
        features.T, columns, list(columns), verbose=False, random_state=random_state
    )
    corrected = np.asarray(found.Z_corr)
    if corrected.shape != features.shape:  # d by n before harmonypy 2
        raise RuntimeError(f"Harmony returned {corrected.shape}, not {features.shape}")
    return corrected


def harmony_tsne(
    X: ArrayLike,
    labels: object,
    *,
    perplexity: float = 30,
    n_iter: int = 750,
    start: Start | None = None,
    random_state: int = 0,
) -> NDArray[np.float32]:
    """Correct the principal components with Harmony, then map them with plain t-SNE.

    ``start`` maps the corrected components to start positions; PCA by default.
    """
    corrected = harmony_correct(X, labels, random_state=random_state)
    return _tsne(corrected, perplexity, n_iter, start, random_state)


def means_removed_tsne(
    X: ArrayLike,
    labels: object,
    *,
    perplexity: float = 30,
    n_iter: int = 750,
    start: Start | None = None,
    random_state: int = 0,
) -> NDArray[np.float32]:
    """Remove the mean of each label, then map the data with plain t-SNE.

    Parameters are those of :func:`harmony_tsne`.
    """
    features = np.asarray(X)
    known = encode_labels(labels, n=len(features))
    found = choose_alignment(features, known, "mean", metric="euclidean", n_jobs=1)
    centred = features if found.points is None else found.points
    return _tsne(centred, perplexity, n_iter, start, random_state)


def _tsne(
    X: NDArray[np.floating], perplexity: float, n_iter: int, start: Start | None, random_state: int
) -> NDArray[np.float32]:
    model = ConditionalTSNE(
        method="tsne",
        perplexity=perplexity,
        n_iter=n_iter,
        init="pca" if start is None else start(X),
        random_state=random_state,
    )
    return model.fit_transform(X)


def balanced_neighbors(X: ArrayLike, labels: object, *, k: int) -> Neighbors:
    """Find the k nearest points within each label, as bbknn does (Polański et al. 2020).

    All rows have the same length, and a smaller label contributes all its points: so where labels
    are smaller than k, rows of other points lose their farthest neighbour.
    """
    features = np.asarray(X)
    n = len(features)
    categories = _categories(labels, n)
    rows, columns, distances = [], [], []
    for category in range(int(categories.max()) + 1):
        inside = categories == category
        # With the labels "inside" and "outside", points of the category have the same label as
        # each other and another label than the rest.
        found = find_neighbors(features, inside, lengths=np.where(inside[:, None], (k, 0), (0, k)))
        # A short list is filled up from the other side; leave that part out.
        slots = np.arange(found.indices.shape[1])
        wanted = (slots < found.lengths[:, :1]) == inside[:, None]
        rows.append(np.nonzero(wanted)[0])
        columns.append(found.indices[wanted])
        distances.append(found.distances[wanted])
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = sp.coo_array((np.concatenate(distances), (row, column)), shape=(n, n))
    return read_neighbors(graph, lengths=int(np.bincount(row, minlength=n).max()))


def bbknn_tsne(
    X: ArrayLike,
    labels: object,
    *,
    weights: Literal["calibrated", "equal"] = "calibrated",
    perplexity: float = 30,
    n_iter: int = 750,
    start: Start | None = None,
    random_state: int = 0,
) -> NDArray[np.float32]:
    """Map a batch-balanced neighbour graph with t-SNE.

    Every label contributes equally to the neighbours of each point, however far away it is.
    """
    if weights not in ("calibrated", "equal"):
        raise ValueError(f"weights must be 'calibrated' or 'equal', got {weights!r}")
    features = np.asarray(X)
    n = len(features)
    n_categories = int(_categories(labels, n).max()) + 1
    wanted = 3 * perplexity if weights == "calibrated" else perplexity
    neighbors = balanced_neighbors(features, labels, k=ceil(wanted / n_categories))
    length = neighbors.indices.shape[1]
    if weights == "calibrated" and perplexity > length:
        raise ValueError(
            f"perplexity={perplexity:g} is too large: small labels leave only {length} balanced "
            f"neighbours per point, which is the largest perplexity that works"
        )
    # A perplexity equal to the number of neighbours means equal weights.
    target = perplexity if weights == "calibrated" else length
    similar = tsne_affinities(neighbors, perplexity=target).matrix
    rng = np.random.default_rng(random_state)
    init = "pca" if start is None else start(features)
    positions = start_positions(init, 2, X=features, matrix=similar, rng=rng)
    # The learning rates of the estimator.
    schedule = Schedule(learning_rate=max(200.0, n), early_learning_rate=max(200.0, n / 12))
    layout = Layout(similar, positions, schedule, n_jobs=-1)
    layout.run(n_iter)
    return layout.embedding


def _categories(labels: object, n: int) -> NDArray[np.int32]:
    """Return the label of each point as a number from 0; missing labels get the last one."""
    known = encode_column(labels, n=n)
    return np.where(known.codes < 0, known.n_labels, known.codes).astype(np.int32)
