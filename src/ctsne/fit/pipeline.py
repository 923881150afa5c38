"""The three stages, called with the settings of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.components import Projection, projected_features, reduced_features
from ctsne._core.messages import shown
from ctsne._core.progress import Report
from ctsne.affinity import Affinities
from ctsne.labels import Column, Labels
from ctsne.labels.columns import join_columns
from ctsne.layout import (
    Layout,
    PairWeights,
    pair_weights,
    start_positions,
)
from ctsne.neighbors import (
    Neighbors,
    fill_lengths,
    find_neighbors,
    matched_shares,
    occurring_patterns,
    read_neighbors,
)
from ctsne.neighbors.alignment import Alignment, choose_alignment
from ctsne.neighbors.matching import UNMATCHED
from ctsne.neighbors.patterns import pattern_of, read_labels
from ctsne.settings import Settings

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


def listed_labels(settings: Settings) -> Column | Labels | None:
    """Return the labels that split neighbours into lists; None if the method uses one list.

    Label columns that are not conditioned on are left out.
    """
    settings = settings.conditioned()
    return settings.labels if settings.method.two_lists else None


def alignment_of(features: Any, settings: Settings) -> Alignment:
    """Align the points as requested."""
    labels, metric = read_labels(listed_labels(settings), features.shape[0]), settings.metric
    return choose_alignment(features, labels, settings.align, metric=metric, n_jobs=settings.n_jobs)


def neighbors_of(
    features: Any, settings: Settings, aligned: Any = None, after_part: Report | None = None
) -> Neighbors:
    """Run the neighbour search with the list lengths of the method."""
    settings = settings.conditioned()
    labels = read_labels(listed_labels(settings), features.shape[0])
    patterns = occurring_patterns(labels)
    lengths = settings.method.lengths(settings, patterns)
    return search_neighbors(
        features, labels, lengths, settings, aligned, after_part, patterns=patterns
    )


def list_lengths(settings: Settings, n: int) -> NDArray[np.int32]:
    """Return the lengths of the lists that a search with these settings finds."""
    settings = settings.conditioned()
    labels = read_labels(listed_labels(settings), n)
    patterns = occurring_patterns(labels)
    return fill_lengths(settings.method.lengths(settings, patterns), labels, patterns, n)


def fits(neighbors: Neighbors, settings: Settings) -> bool:
    """Return whether lists of neighbours that were found for other settings serve these."""
    settings = settings.conditioned()
    labels = read_labels(listed_labels(settings), len(neighbors.indices))
    if occurring_patterns(labels) != neighbors.patterns:
        return False
    if labels is None or labels.n_columns == 1:
        return np.array_equal(list_lengths(settings, len(neighbors.indices)), neighbors.lengths)
    if settings.method.name == "balanced":
        return False
    # Two columns can have the same patterns as two others: look where each row's last point is.
    last = neighbors.patterns[::-1]
    pattern = np.array(last)[(neighbors.lengths[:, ::-1] > 0).argmax(axis=1)]
    return np.array_equal(pattern, pattern_of(labels.codes, labels.codes[neighbors.indices[:, -1]]))


def search_neighbors(
    features: Any,
    labels: Labels | None,
    lengths: ArrayLike,
    settings: Settings,
    aligned: Any = None,
    after_part: Report | None = None,
    *,
    patterns: tuple[int, ...] | None = None,
) -> Neighbors:
    """Run the neighbour search on features, distances or a graph, with given list lengths."""
    if settings.metric == "precomputed":
        return read_neighbors(features, labels, lengths=lengths, patterns=patterns)
    return find_neighbors(
        features,
        labels,
        lengths=lengths,
        patterns=patterns,
        metric=settings.metric,
        aligned=aligned,
        n_jobs=settings.n_jobs,
        recall=settings.recall,
        after_part=after_part,
    )


def affinities_of(neighbors: Neighbors, settings: Settings) -> Affinities:
    """Compute the similarities of the method, and how well points are matched."""
    settings = settings.conditioned()
    affinities = settings.method.affinities(neighbors, settings)
    labels = listed_labels(settings)
    if not isinstance(labels, Column) or affinities.diagnostics.matched is not None:
        return affinities
    one = read_labels(labels, labels.n_points)
    assert one is not None
    matched = matched_shares(neighbors, one)[:, 0]
    return replace(affinities, diagnostics=replace(affinities.diagnostics, matched=matched))


def without_counterparts(affinities: Affinities, settings: Settings) -> str | None:
    """Return a warning if many points have no counterpart in other labels."""
    diagnostics, labels = affinities.diagnostics, listed_labels(settings)
    if diagnostics.matched is None or labels is None:
        return None
    found: list[tuple[int, str]] = []
    if isinstance(labels, Labels):
        for name, column in zip(labels.names, labels.columns, strict=True):
            found += _unmatched(column, diagnostics.column_matched[name], f"{name} ")
    else:
        found = _unmatched(labels, diagnostics.matched)
    if not found:
        return None
    order = sorted(found, key=lambda each: -each[0])  # stable
    some = [f"{count} points of {name}" for count, name in order[:3]]
    advice = ""
    if np.array_equal(settings.align, "none") and settings.metric != "precomputed":
        advice = ' If labels differ by a shift, align="mutual" finds more counterparts.'
    more = f" and of {len(order) - 3} more labels" if len(order) > 3 else ""
    return (
        f"{', '.join(some)}{more} have no counterpart under other labels; their position among "
        f"points of other labels means little (see the diagnostic 'matched').{advice}"
    )


def _unmatched(
    labels: Column, matched: NDArray[np.float64], column: str = ""
) -> list[tuple[int, str]]:
    """Return the labels with many points without counterparts, and how many."""
    unmatched = labels.codes[(matched < UNMATCHED) & (labels.codes >= 0)]
    alone = np.bincount(unmatched, minlength=labels.n_labels)
    many = np.flatnonzero(alone >= np.maximum(MANY_POINTS, MANY_SHARE * labels.counts))
    return [(int(alone[i]), f"{column}{shown(labels.names[i], 40)}") for i in many]


def layout_of(
    matrix: sp.csr_array, features: NDArray[np.floating] | None, settings: Settings
) -> Layout:
    """Return the layout at its start: positions, schedule and conditioning of the map."""
    start = start_positions(
        settings.init,
        settings.n_components,
        X=features,
        matrix=matrix,
        rng=settings.rng,
        n_jobs=settings.n_jobs,
    )
    weights, dof, n_jobs = weights_of(settings), settings.dof, settings.n_jobs
    return Layout(matrix, start, settings.schedule, weights=weights, dof=dof, n_jobs=n_jobs)


def weights_of(settings: Settings) -> PairWeights | None:
    """Return the low-dimensional conditioning: requested, or part of the method."""
    settings = settings.conditioned()
    beta = settings.beta_low
    if beta is None and settings.method.beta_low is not None:
        beta = settings.method.beta_low(settings)
    if settings.labels is None or beta is None or (beta == 1).all():
        return None
    labels = settings.labels
    if isinstance(labels, Labels):
        return pair_weights(labels, list(beta))
    return pair_weights(join_columns(("label",), [labels]), [beta])
