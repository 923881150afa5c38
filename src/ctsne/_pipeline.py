"""The three stages put together, for one estimator's settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._components import principal_components
from ctsne._parameters import CONDITIONED_ABOVE, Settings, all_identical
from ctsne._validation import is_sparse
from ctsne.affinity import (
    Affinities,
    balanced_affinities,
    balanced_share,
    joint_affinities,
    joint_beta_low,
    revised_affinities,
    tsne_affinities,
)
from ctsne.labels import Labels
from ctsne.layout import Layout, PairWeights, pair_weights, start_positions
from ctsne.neighbors import (
    Neighbors,
    balanced_lengths,
    find_neighbors,
    neighbors_from_distances,
    neighbors_from_graph,
    paper_lengths,
)

# Sparse features are reduced to so many principal components before anything else.
SPARSE_COMPONENTS = 50


def features_of(matrix: Any, settings: Settings) -> NDArray[np.floating] | None:
    """Dense features: as they are, or the principal components of many sparse ones."""
    if settings.metric == "precomputed":
        return None
    if not is_sparse(matrix):
        return np.asarray(matrix)
    if min(matrix.shape) <= SPARSE_COMPONENTS:
        return np.ascontiguousarray(matrix.toarray())
    if settings.metric == "euclidean" and all_identical(matrix, settings.metric):
        return np.zeros((matrix.shape[0], 1))  # no component to be found
    # Angles are measured from the origin, so for them the data must not be centred.
    return principal_components(
        matrix, SPARSE_COMPONENTS, centred=settings.metric != "cosine", n_jobs=settings.n_jobs
    )


def listed_labels(settings: Settings) -> Labels | None:
    """Labels that part the neighbours of a point in two lists; None where the method wants one."""
    return settings.labels if settings.method in CONDITIONED_ABOVE else None


def list_lengths(settings: Settings, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lengths of both lists of every point that the method wants."""
    labels = listed_labels(settings)
    if settings.method == "balanced" and labels is not None:
        share = balanced_share(labels, settings.strength)
        return balanced_lengths(labels, settings.perplexity, share)
    return paper_lengths(labels, n, settings.perplexity)


def neighbors_of(features: Any, settings: Settings) -> Neighbors:
    """Stage 1 on features, distances or a graph of them, with the lists the method wants."""
    labels = listed_labels(settings)
    same, other = list_lengths(settings, features.shape[0])
    return search_neighbors(features, labels, same, other, settings)


def search_neighbors(
    features: Any, labels: Labels | None, same: ArrayLike, other: ArrayLike, settings: Settings
) -> Neighbors:
    """Stage 1 on features, distances or a graph of them, with lists of given lengths."""
    if settings.metric == "precomputed":
        from_pairs = neighbors_from_graph if is_sparse(features) else neighbors_from_distances
        return from_pairs(features, labels, same, other)
    return find_neighbors(
        features, labels, k_same=same, k_other=other, metric=settings.metric,
        n_jobs=settings.n_jobs, recall=settings.recall,
    )  # fmt: skip


def affinities_of(neighbors: Neighbors, settings: Settings) -> Affinities:
    """Stage 2: the similarities of the method."""
    perplexity, n_jobs, labels = settings.perplexity, settings.n_jobs, settings.labels
    if labels is None or settings.method in ("tsne", "original"):
        return tsne_affinities(neighbors, perplexity=perplexity, n_jobs=n_jobs)
    if settings.method == "balanced":
        return balanced_affinities(
            neighbors, labels, perplexity=perplexity, strength=settings.strength, n_jobs=n_jobs
        )
    if settings.method == "joint":
        return joint_affinities(
            neighbors, labels, perplexity=perplexity, strength=settings.strength, n_jobs=n_jobs
        )
    return revised_affinities(
        neighbors, labels, perplexity=perplexity, beta=settings.beta,
        bandwidth=settings.bandwidth, n_jobs=n_jobs,
    )  # fmt: skip


def layout_of(
    matrix: sp.csr_array, features: NDArray[np.floating] | None, settings: Settings
) -> Layout:
    """Stage 3 at its start: positions, schedule and conditioning of the map."""
    start = start_positions(
        settings.init, settings.n_components, X=features, matrix=matrix, rng=settings.rng,
        n_jobs=settings.n_jobs,
    )  # fmt: skip
    return Layout(
        matrix,
        start,
        settings.schedule,
        weights=weights_of(settings),
        dof=settings.dof,
        n_jobs=settings.n_jobs,
    )


def weights_of(settings: Settings) -> PairWeights | None:
    """Low-dimensional conditioning: asked for, or part of the method."""
    beta = settings.beta_low
    if beta is None and settings.method == "original":
        beta = settings.beta
    if beta is None and settings.method == "joint":
        beta = joint_beta_low(settings.strength)
    if settings.labels is None or beta is None or (beta == 1).all():
        return None
    return pair_weights(settings.labels, beta)
