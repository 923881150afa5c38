"""The three stages, called with the settings of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.components import Projection, projected_features, reduced_features
from ctsne._core.messages import shown
from ctsne._fit.settings import Settings
from ctsne.affinity import Affinities
from ctsne.labels import Labels
from ctsne.layout import Layout, PairWeights, pair_weights, start_positions
from ctsne.neighbors import (
    Neighbors,
    find_neighbors,
    matched_share,
    neighbors_from_distances,
    neighbors_from_graph,
)
from ctsne.neighbors.alignment import Alignment, choose_alignment
from ctsne.neighbors.matching import UNMATCHED

# Points without counterparts are worth a warning from this number, and this share of their label.
MANY_POINTS = 20
MANY_SHARE = 0.02


def features_of(matrix: Any, settings: Settings) -> NDArray[np.floating] | None:
    """Return the features in which neighbours are searched; None if only distances are given."""
    if settings.metric == "precomputed":
        return None
    n_jobs = settings.n_jobs
    return reduced_features(matrix, metric=settings.metric, pca=settings.pca, n_jobs=n_jobs)


def projection_of(
    matrix: Any, settings: Settings
) -> tuple[NDArray[np.floating] | None, Projection | None]:
    """Return the features in which neighbours are searched, and how new ones get there."""
    if settings.metric == "precomputed":
        return None, None
    n_jobs = settings.n_jobs
    return projected_features(matrix, metric=settings.metric, pca=settings.pca, n_jobs=n_jobs)


def listed_labels(settings: Settings) -> Labels | None:
    """Return the labels that split neighbours into two lists; None if the method uses one list."""
    return settings.labels if settings.method.two_lists else None


def alignment_of(features: Any, settings: Settings) -> Alignment:
    """Align the points as requested."""
    labels, metric = listed_labels(settings), settings.metric
    return choose_alignment(features, labels, settings.align, metric=metric, n_jobs=settings.n_jobs)


def neighbors_of(features: Any, settings: Settings, aligned: Any = None) -> Neighbors:
    """Run the neighbour search with the list lengths of the method."""
    same, other = settings.method.lengths(settings, features.shape[0])
    return search_neighbors(features, listed_labels(settings), same, other, settings, aligned)


def search_neighbors(
    features: Any, labels: Labels | None, same: ArrayLike, other: ArrayLike, settings: Settings,
    aligned: Any = None,
) -> Neighbors:  # fmt: skip
    """Run the neighbour search on features, distances or a graph, with given list lengths."""
    if settings.metric == "precomputed":
        from_pairs = neighbors_from_graph if is_sparse(features) else neighbors_from_distances
        return from_pairs(features, labels, same, other)
    return find_neighbors(
        features, labels, k_same=same, k_other=other, metric=settings.metric, aligned=aligned,
        n_jobs=settings.n_jobs, recall=settings.recall,
    )  # fmt: skip


def affinities_of(neighbors: Neighbors, settings: Settings) -> Affinities:
    """Compute the similarities of the method, and how well points are matched."""
    affinities = settings.method.affinities(neighbors, settings)
    labels = listed_labels(settings)
    if labels is None or affinities.diagnostics.matched is not None:
        return affinities
    matched = matched_share(neighbors, labels)
    return replace(affinities, diagnostics=replace(affinities.diagnostics, matched=matched))


def without_counterparts(affinities: Affinities, settings: Settings) -> str | None:
    """Return a warning if many points have no counterpart in other labels."""
    matched, labels = affinities.diagnostics.matched, settings.labels
    if matched is None or labels is None:
        return None
    unmatched = labels.codes[(matched < UNMATCHED) & (labels.codes >= 0)]
    alone = np.bincount(unmatched, minlength=labels.n_labels)
    many = np.flatnonzero(alone >= np.maximum(MANY_POINTS, MANY_SHARE * labels.counts))
    if len(many) == 0:
        return None
    order = many[np.argsort(-alone[many], kind="stable")]
    some = [f"{alone[i]} points of {shown(labels.names[i], 40)}" for i in order[:3]]
    advice = ""
    if np.array_equal(settings.align, "none") and settings.metric != "precomputed":
        advice = ' If labels differ by a shift, align="mutual" finds more counterparts.'
    more = f" and of {len(order) - 3} more labels" if len(order) > 3 else ""
    return (
        f"{', '.join(some)}{more} have no counterpart under other labels; their position among "
        f"points of other labels means little (see the diagnostic 'matched').{advice}"
    )


def layout_of(
    matrix: sp.csr_array, features: NDArray[np.floating] | None, settings: Settings
) -> Layout:
    """Return the layout at its start: positions, schedule and conditioning of the map."""
    start = start_positions(
        settings.init, settings.n_components, X=features, matrix=matrix, rng=settings.rng,
        n_jobs=settings.n_jobs,
    )  # fmt: skip
    weights, dof, n_jobs = weights_of(settings), settings.dof, settings.n_jobs
    return Layout(matrix, start, settings.schedule, weights=weights, dof=dof, n_jobs=n_jobs)


def weights_of(settings: Settings) -> PairWeights | None:
    """Return the low-dimensional conditioning: requested, or part of the method."""
    beta = settings.beta_low
    if beta is None and settings.method.beta_low is not None:
        beta = settings.method.beta_low(settings)
    if settings.labels is None or beta is None or (beta == 1).all():
        return None
    return pair_weights(settings.labels, beta)
