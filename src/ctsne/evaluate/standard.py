"""The measures of scib-metrics, which the single-cell field compares maps by."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_features, check_jobs, check_matrix, is_sparse
from ctsne._core.jobs import one_blas_thread
from ctsne._core.messages import load
from ctsne.affinity import tsne_affinities
from ctsne.evaluate.neighbors import DataNeighbors, MapNeighbors, map_neighbors
from ctsne.evaluate.sampling import mean, sample_points
from ctsne.labels import Column, encode_column
from ctsne.layout import Layout, Schedule, start_positions
from ctsne.neighbors import find_neighbors, read_neighbors

if TYPE_CHECKING:
    import pandas as pd

# At most this many points are measured. The time grows with the square of the points.
STANDARD_POINTS = 20_000
# Neighbours per point, the point itself included, of LISI, kBET and graph connectivity.
_LISI, _KBET, _CONNECTIVITY = 90, 50, 15
# Of the t-SNE map that others are compared with, as by default.
_ITERATIONS = 750
_BIOLOGY = ("isolated_labels", "kmeans_nmi", "kmeans_ari", "silhouette_label", "clisi")
_BATCH = ("bras", "ilisi", "kbet", "graph_connectivity")


def standard_measures(
    embedding: Any,
    labels: object,
    other: object,
    *,
    sample: float | None = STANDARD_POINTS,
    random_state: object = 0,
    n_jobs: int = -1,
) -> dict[str, float]:
    """Measure a map, a representation or a neighbour graph with scib-metrics.

    All figures are computed by scib-metrics, from one exact neighbour search. They are what its
    ``Benchmarker`` reports, not rescaled, without the comparison of principal components, which
    a map does not have. kBET differs by about .01 between calls, because its solver starts at
    random. Needs the extra: ``pip install "ctsne[scib]"``.

    Parameters
    ----------
    embedding : array-like of shape (n, d), sparse matrix of shape (n, n) or MapNeighbors
        Positions in a map, a representation, or the distances of a neighbour graph. A graph has
        no positions, so only cLISI, iLISI, kBET and graph connectivity are measured.
    labels, other : array-like of shape (n,) or (n, c)
        The label that was factored out (the batch), and the label to look for (the biology).
        Points that lack one of them are left out.
    sample : int or float, default=20000
        Measure a map of at most this many points (int), or this share of them (float); None for
        all. A graph is always measured whole.
    random_state : int, RandomState or None, default=0
        Chooses the sample.
    n_jobs : int, default=-1
        Number of threads of the neighbour search; -1 uses all cores.

    Returns
    -------
    dict of str to float
        ``isolated_labels``, ``kmeans_nmi``, ``kmeans_ari``, ``silhouette_label``, ``clisi`` and
        their mean, ``bio_conservation``; ``bras``, ``ilisi``, ``kbet``, ``graph_connectivity`` and
        their mean, ``batch_correction``; ``total``, which is .6 of the first mean and .4 of the
        second; ``points``, how many were measured. Larger is better. nan if a measure cannot be
        taken; the means leave it out.

    Examples
    --------
    >>> from ctsne.evaluate import standard_measures
    >>> measures = standard_measures(data.X, data.known, data.hidden)
    >>> sorted(measures)[:4], measures["points"]
    (['batch_correction', 'bio_conservation', 'bras', 'clisi'], 300.0)
    """
    if isinstance(embedding, MapNeighbors):
        positions, n = None, embedding.n
        if len(embedding.points) < n:
            raise ValueError("embedding must hold the neighbours of all points, not of a sample")
    elif is_sparse(embedding):
        positions, n = None, embedding.shape[0]
        graph = read_neighbors(embedding, lengths=min(_LISI, n) - 1)
        embedding = MapNeighbors(np.arange(n), n, graph.indices, graph.distances)
    else:
        positions = check_features(embedding, argument="embedding")
        n = len(positions)
    columns = [encode_column(labels, n=n), encode_column(other, n=n, argument="other")]
    points = np.flatnonzero((columns[0].codes >= 0) & (columns[1].codes >= 0))
    if not len(points):
        raise ValueError("no point has both labels and other")
    if positions is not None:
        points = points[sample_points(len(points), sample, random_state)]
    batch, kind = (column.take(points).without_unused() for column in columns)
    for name, column in (("labels", batch), ("other", kind)):
        if column.n_labels < 2:
            what = f"{name} must have at least two values among the {len(points)} points that have"
            raise ValueError(f"{what} both labels, got {column.n_labels}")
    if positions is None:
        lists = _of_points(embedding, points)
    else:
        # A copy: k-means of scib-metrics moves the positions that it is given.
        positions = np.array(positions[points], order="C")
        found = map_neighbors(positions, k=min(_LISI - 1, len(points) - 2), n_jobs=n_jobs)
        lists = found.indices, found.distances
    with _quiet(), one_blas_thread():  # which is also faster for the small problems of kBET
        measures = _measure(positions, lists, batch.codes, kind.codes)
    for score, names in (("bio_conservation", _BIOLOGY), ("batch_correction", _BATCH)):
        values = np.array([measures[name] for name in names])
        measures[score] = mean(values) if positions is not None else float("nan")
    measures["total"] = 0.6 * measures["bio_conservation"] + 0.4 * measures["batch_correction"]
    measures["points"] = len(points)
    return {name: float(value) for name, value in measures.items()}


def standard_table(
    maps: Mapping[str, Any], labels: Column, other: Column, n_jobs: int
) -> pd.DataFrame:
    """Return the measures of several maps in columns; ``points`` is of the first."""
    pandas = load("pandas")
    found = {name: standard_measures(x, labels, other, n_jobs=n_jobs) for name, x in maps.items()}
    table = pandas.DataFrame(found)
    points = int(table.loc["points"].iloc[0])
    table = table.drop("points").rename_axis("measure").reset_index()
    about = dict.fromkeys((*_BIOLOGY, "bio_conservation"), "other")
    about |= dict.fromkeys((*_BATCH, "batch_correction"), "labels")
    table["label"], table["points"] = table["measure"].map(about), points
    table["measure"] = "scib_" + table["measure"]
    return table


def representation(X: Any, data: DataNeighbors) -> Any:
    """Return data as the measures take them: the features, or neighbours if distances are given."""
    if data.metric == "precomputed":
        near = read_neighbors(check_matrix(X), lengths=min(_LISI, data.n) - 1)
        return MapNeighbors(np.arange(data.n), data.n, near.indices, near.distances)
    features: Any = data.features
    if data.metric == "cosine":  # on the sphere, Euclidean distances give the same order
        return features / np.linalg.norm(features, axis=1, keepdims=True)
    return features


def tsne_map(X: Any, data: DataNeighbors, n_jobs: int) -> NDArray[np.float32]:
    """Make the t-SNE map of the data, with default settings."""
    n, jobs, features = data.n, check_jobs(n_jobs), data.features
    perplexity = min(30.0, (n - 1) / 3)
    length = ceil(3 * perplexity)
    if features is None or data.metric == "precomputed":
        near, init = read_neighbors(check_matrix(X), lengths=length), "spectral"
        perplexity = min(perplexity, near.indices.shape[1] / 3)
    else:
        near = find_neighbors(features, lengths=length, metric=data.metric, n_jobs=jobs)
        init = "pca"
    matrix = tsne_affinities(near, perplexity=perplexity, n_jobs=jobs).matrix
    rng = np.random.default_rng(0)
    start = start_positions(init, 2, X=features, matrix=matrix, rng=rng, n_jobs=jobs)
    schedule = Schedule(learning_rate=max(200.0, n), early_learning_rate=max(200.0, n / 12))
    layout = Layout(matrix, start, schedule, n_jobs=jobs)
    layout.advance(_ITERATIONS)
    return layout.embedding


def _of_points(found: MapNeighbors, points: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the neighbours of some points among each other; the point itself fills the lists."""
    place = np.full(found.n, -1, np.int32)
    place[points] = np.arange(len(points))
    indices, distances = place[found.indices[points]], found.distances[points]
    order = np.argsort(indices < 0, axis=1, kind="stable")
    indices, distances = (np.take_along_axis(array, order, 1) for array in (indices, distances))
    return np.where(indices < 0, np.arange(len(points))[:, None], indices), distances


def _measure(
    positions: NDArray[Any] | None,
    lists: tuple[NDArray[Any], NDArray[Any]],
    batch: NDArray[np.int32],
    kind: NDArray[np.int32],
) -> dict[str, float]:
    """Compute every figure as ``scib_metrics.benchmark.Benchmarker`` does."""
    scib = load("scib_metrics", extra="scib")
    n = len(kind)
    near = scib.nearest_neighbors.NeighborsResults(
        indices=np.column_stack([np.arange(n), lists[0]]),
        distances=np.column_stack([np.zeros(n, np.float32), lists[1]]),
    )
    measures = dict.fromkeys((*_BIOLOGY, *_BATCH), float("nan"))
    if positions is not None:
        # What isolated_labels and silhouette_label compute, which would do it twice.
        widths = (scib.utils.silhouette_samples(positions, kind) + 1) / 2
        sizes = np.bincount(kind)
        by_kind = np.bincount(kind, widths) / sizes
        pairs = np.unique(np.column_stack([kind, batch]), axis=0)
        batches = np.bincount(pairs[:, 0])
        measures["isolated_labels"] = by_kind[batches == batches.min()].mean()
        measures["silhouette_label"] = widths.mean()
        if ((batches > 1) & (batches < sizes)).any():
            measures["bras"] = scib.bras(positions, kind, batch)
        clusters = scib.nmi_ari_cluster_labels_kmeans(positions, kind)
        measures["kmeans_nmi"], measures["kmeans_ari"] = clusters["nmi"], clusters["ari"]
    measures["clisi"], measures["ilisi"] = scib.clisi_knn(near, kind), scib.ilisi_knn(near, batch)

    def fewer(k: int) -> Any:
        return near.subset_neighbors(min(k, near.n_neighbors))

    measures["kbet"] = scib.kbet_per_label(fewer(_KBET), batch, kind)
    measures["graph_connectivity"] = scib.graph_connectivity(fewer(_CONNECTIVITY), kind)
    return measures


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep warnings and messages of the libraries from the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load("scib_metrics", extra="scib")  # sets the level
        log = logging.getLogger("scib_metrics")
        level = log.level
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)
