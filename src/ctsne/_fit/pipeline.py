"""The three stages put together, for one estimator's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.components import reduced_features
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
from ctsne.neighbors.alignment import (
    TRIED_ALIGNMENTS,
    align_points,
    commuting_share,
    rescaled_points,
)
from ctsne.neighbors.matching import UNMATCHED

# Points without counterparts that are worth a warning: so many, and such a share of their label.
MANY_POINTS = 20
MANY_SHARE = 0.02


def features_of(matrix: Any, settings: Settings) -> NDArray[np.floating] | None:
    """Return the features that neighbours are searched in; None where there are only distances."""
    if settings.metric == "precomputed":
        return None
    return reduced_features(
        matrix, metric=settings.metric, pca=settings.pca, n_jobs=settings.n_jobs
    )


def listed_labels(settings: Settings) -> Labels | None:
    """Labels that part the neighbours of a point in two lists; None where the method wants one."""
    return settings.labels if settings.method.two_lists else None


@dataclass(frozen=True, eq=False)
class Alignment:
    """Where points of other labels are searched.

    Attributes
    ----------
    name : str
        One of :data:`ctsne.neighbors.alignment.ALIGNMENTS`, or ``"array"``.
    points : ndarray or None
        The aligned points; None where they are the data.
    scores : dict of str to float
        How well each alignment tried commutes, where one had to be chosen.
    """

    name: str
    points: NDArray[np.floating] | None
    scores: dict[str, float] = field(default_factory=dict)


def alignment_of(features: Any, settings: Settings) -> Alignment:
    """Align the points as the settings say, or as commutes best."""
    how, labels = settings.align, listed_labels(settings)
    if labels is None or (isinstance(how, str) and how == "none"):
        return Alignment("none", None)
    if not isinstance(how, str):
        return Alignment("array", rescaled_points(how, features, labels, metric=settings.metric))
    given: dict[str, Any] = {"metric": settings.metric, "n_jobs": settings.n_jobs}
    if how != "auto":
        return Alignment(how, align_points(features, labels, how, **given))
    best, scores = Alignment("none", None), {}
    for name in TRIED_ALIGNMENTS:
        points = align_points(features, labels, name, **given)
        scores[name] = commuting_share(features, points, labels, **given)
        if scores[name] >= max(scores.values()):
            best = Alignment(name, None if name == "none" else points)
    return replace(best, scores=scores)


def neighbors_of(features: Any, settings: Settings, aligned: Any = None) -> Neighbors:
    """Stage 1 on features, distances or a graph of them, with the lists the method wants."""
    same, other = settings.method.lengths(settings, features.shape[0])
    return search_neighbors(features, listed_labels(settings), same, other, settings, aligned)


def search_neighbors(
    features: Any,
    labels: Labels | None,
    same: ArrayLike,
    other: ArrayLike,
    settings: Settings,
    aligned: Any = None,
) -> Neighbors:
    """Stage 1 on features, distances or a graph of them, with lists of given lengths."""
    if settings.metric == "precomputed":
        from_pairs = neighbors_from_graph if is_sparse(features) else neighbors_from_distances
        return from_pairs(features, labels, same, other)
    return find_neighbors(
        features, labels, k_same=same, k_other=other, metric=settings.metric, aligned=aligned,
        n_jobs=settings.n_jobs, recall=settings.recall,
    )  # fmt: skip


def affinities_of(neighbors: Neighbors, settings: Settings) -> Affinities:
    """Stage 2: the similarities of the method, and how well points are matched."""
    affinities = settings.method.affinities(neighbors, settings)
    labels = listed_labels(settings)
    if labels is None or affinities.diagnostics.matched is not None:
        return affinities
    matched = matched_share(neighbors, labels)
    return replace(affinities, diagnostics=replace(affinities.diagnostics, matched=matched))


def without_counterparts(affinities: Affinities, settings: Settings) -> str | None:
    """Say which labels have points without counterparts, where it is more than a few."""
    matched, labels = affinities.diagnostics.matched, settings.labels
    if matched is None or labels is None:
        return None
    alone = np.bincount(
        labels.codes[(matched < UNMATCHED) & (labels.codes >= 0)], minlength=labels.n_labels
    )
    many = np.flatnonzero(alone >= np.maximum(MANY_POINTS, MANY_SHARE * labels.counts))
    if len(many) == 0:
        return None
    order = many[np.argsort(-alone[many], kind="stable")]
    shown = [f"{alone[i]} points of {labels.names[i]!r:.40}" for i in order[:3]]
    more = f" and of {len(order) - 3} more labels" if len(order) > 3 else ""
    return (
        f"{', '.join(shown)}{more} have no counterpart under other labels; where they lie among "
        f"others means little (diagnostics_.matched tells which points).{_advice(settings)}"
    )


def _advice(settings: Settings) -> str:
    if not isinstance(settings.align, str) or settings.align != "none":
        return ""
    if settings.metric == "precomputed":
        return ""
    return ' If labels differ by a shift, align="mutual" finds more counterparts.'


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
    if beta is None and settings.method.beta_low is not None:
        beta = settings.method.beta_low(settings)
    if settings.labels is None or beta is None or (beta == 1).all():
        return None
    return pair_weights(settings.labels, beta)
