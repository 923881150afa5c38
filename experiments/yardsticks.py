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
from ctsne.labels import encode_column
from ctsne.layout import Layout, Schedule, start_positions
from ctsne.neighbors import Neighbors, find_neighbors, neighbors_from_graph
from ctsne.neighbors.alignment import align_points

__all__ = [
    "balanced_neighbors",
    "bbknn_tsne",
    "harmony_correct",
    "harmony_tsne",
    "means_removed_tsne",
]

Start = Callable[[NDArray[np.floating]], NDArray[np.float64]]


def harmony_correct(X: ArrayLike, labels: object, *, random_state: int = 0) -> NDArray[np.float64]:
    """Correct principal components for a label with Harmony (Korsunsky et al. 2019).

    Parameters
    ----------
    X : array-like, shape (n, d)
        Principal components.
    labels : array-like of length n, or mapping of name to such columns
        Points without a label form their own category, because Harmony has no missing labels.
    random_state : int, default=0
        Seed of Harmony's clusters.

    Returns
    -------
    ndarray, shape (n, d)
        The corrected components.

    Examples
    --------
    >>> import numpy as np
    >>> from yardsticks import harmony_correct
    >>> batch = np.repeat([0, 1], 100)
    >>> X = np.random.default_rng(0).normal(size=(200, 5)) + 9.0 * batch[:, None]
    >>> corrected = harmony_correct(X, batch)
    >>> before, after = (Z[batch == 1].mean() - Z[batch == 0].mean() for Z in (X, corrected))
    >>> bool(abs(after) < 0.8 * before)
    True
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

    Parameters
    ----------
    X : array-like, shape (n, d)
        Principal components.
    labels : array-like of length n, or mapping of name to such columns
        What to factor out; points without a label form their own category.
    perplexity : float, default=30
    n_iter : int, default=750
    start : callable, optional
        Maps the corrected components to start positions; PCA by default.
    random_state : int, default=0

    Returns
    -------
    ndarray of float32, shape (n, 2)

    Examples
    --------
    >>> from ctsne.datasets import make_synthetic
    >>> from yardsticks import harmony_tsne
    >>> data = make_synthetic(300, random_state=0)
    >>> harmony_tsne(data.X, data.known, perplexity=20, n_iter=300).shape
    (300, 2)
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

    Examples
    --------
    >>> from ctsne.datasets import make_synthetic
    >>> from yardsticks import means_removed_tsne
    >>> data = make_synthetic(300, random_state=0)
    >>> means_removed_tsne(data.X, data.known, perplexity=20, n_iter=300).shape
    (300, 2)
    """
    features = np.asarray(X)
    centred = align_points(features, encode_column(labels, n=len(features)), "mean")
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

    Parameters
    ----------
    X : array-like, shape (n, d)
    labels : array-like of length n
        Points without a label form their own category.
    k : int
        Neighbours from each label; a smaller label contributes all its points.

    Returns
    -------
    Neighbors
        One list per point, by distance. All rows have the same length. If some labels are smaller
        than ``k``, their points have one neighbour fewer there than other points, which lose their
        farthest one.

    Examples
    --------
    >>> from yardsticks import balanced_neighbors
    >>> balanced_neighbors([[0.0], [1.0], [5.0], [6.0]], list("aabb"), k=1).indices.tolist()
    [[1, 2], [0, 2], [3, 1], [2, 1]]
    """
    features = np.asarray(X)
    n = len(features)
    categories = _categories(labels, n)
    rows, columns, distances = [], [], []
    for category in range(int(categories.max()) + 1):
        inside = categories == category
        # With the labels "inside" and "outside", points of the category have the same label as
        # each other and another label than the rest.
        found = find_neighbors(
            features, inside, k_same=np.where(inside, k, 0), k_other=np.where(inside, 0, k)
        )
        # A short list is filled up from the other side; leave that part out.
        slots = np.arange(found.indices.shape[1])
        wanted = (slots < found.n_same[:, None]) == inside[:, None]
        rows.append(np.nonzero(wanted)[0])
        columns.append(found.indices[wanted])
        distances.append(found.distances[wanted])
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = sp.coo_array((np.concatenate(distances), (row, column)), shape=(n, n))
    return neighbors_from_graph(graph, None, int(np.bincount(row, minlength=n).max()), 0)


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

    Parameters
    ----------
    X : array-like, shape (n, d)
        Principal components.
    labels : array-like of length n
        What to factor out; points without a label form their own category.
    weights : {"calibrated", "equal"}, default="calibrated"
        ``"calibrated"``: three times as many neighbours as the perplexity, with the similarities of
        t-SNE over that list. They fall with distance, so points of a distant label are in the list
        but have little weight. ``"equal"``: as many neighbours as the perplexity, all with equal
        weight.
    perplexity : float, default=30
        Refused if small labels leave too few neighbours for ``"calibrated"`` weights.
    n_iter : int, default=750
    start : callable, optional
        Maps ``X`` to start positions; PCA by default.
    random_state : int, default=0

    Returns
    -------
    ndarray of float32, shape (n, 2)

    Examples
    --------
    >>> from ctsne.datasets import make_synthetic
    >>> from yardsticks import bbknn_tsne
    >>> data = make_synthetic(300, random_state=0)
    >>> bbknn_tsne(data.X, data.known, perplexity=20, n_iter=300).shape
    (300, 2)
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
    similar = tsne_affinities(neighbors, perplexity=target, n_jobs=-1).matrix
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
