"""The three stages, called with the settings of a fit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.components import Projection, projected_features
from ctsne._core.messages import shown
from ctsne._core.progress import Report
from ctsne.affinity import (
    Affinities,
    balanced_affinities,
    joint_affinities,
    revised_affinities,
    tsne_affinities,
)
from ctsne.layout import Layout, PairWeights, pair_weights, start_positions
from ctsne.neighbors import (
    Neighbors,
    balanced_lengths,
    find_neighbors,
    joint_lengths,
    occurring_patterns,
    paper_lengths,
    read_neighbors,
)
from ctsne.neighbors.alignment import Alignment, choose_alignment
from ctsne.neighbors.matching import UNMATCHED
from ctsne.settings import Settings

_Features = NDArray[np.floating] | None  # None if only distances are given
# Points without counterparts are worth a warning from this number, and this share of their label.
MANY_UNMATCHED = 20
MANY_SHARE = 0.02


def features_of(matrix: Any, settings: Settings) -> tuple[_Features, Projection | None]:
    """Return the features to search in, None for distances, and how new ones get there."""
    if settings.metric == "precomputed":
        return None, None
    metric, pca, n_jobs = settings.metric, settings.pca, settings.n_jobs
    return projected_features(matrix, metric=metric, pca=pca, n_jobs=n_jobs)


def alignment_of(features: Any, settings: Settings) -> Alignment:
    """Align the points as requested."""
    labels, metric, n_jobs = settings.list_labels, settings.metric, settings.n_jobs
    return choose_alignment(features, labels, settings.align, metric=metric, n_jobs=n_jobs)


def wanted_lists(settings: Settings) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """Return the patterns of the lists that a fit searches, and their wanted lengths."""
    used, patterns = settings.effective, occurring_patterns(settings.list_labels)
    if used.method.name == "balanced" and used.labels is not None:
        return patterns, balanced_lengths(used.labels, patterns, used.perplexity, used.knob)
    make = joint_lengths if used.method.name == "joint" else paper_lengths
    return patterns, make(patterns, used.perplexity)


def neighbors_of(
    features: Any,
    settings: Settings,
    aligned: Any = None,
    after_part: Report | None = None,
    *,
    lengths: NDArray[np.int64] | None = None,
) -> Neighbors:
    """Search the lists in features, distances or a graph, as long as wanted or as given."""
    patterns, wanted = wanted_lists(settings)
    labels, lengths = settings.list_labels, wanted if lengths is None else lengths
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


class Lists:
    """Neighbours of some points, aligned and searched again only for settings that need it."""

    def __init__(self, points: Any) -> None:
        self._points = points
        self._columns: Any = None  # that the points are aligned by
        self._searched: Any = None  # columns and lengths of the lists
        self._alignment = Alignment("none", None)
        self._neighbors: Neighbors | None = None

    def align(self, settings: Settings) -> Alignment:
        """Return the points aligned by the columns that count."""
        labels = settings.list_labels
        columns = () if labels is None else labels.columns
        if columns != self._columns:
            self._alignment = alignment_of(self._points, settings)
            self._columns = columns
        return self._alignment

    def search(self, settings: Settings, after_part: Report | None = None) -> Neighbors:
        """Return the lists that settings want."""
        aligned, lengths = self.align(settings).points, tuple(wanted_lists(settings)[1].tolist())
        if self._neighbors is None or self._searched != (self._columns, lengths):
            self._neighbors = neighbors_of(self._points, settings, aligned, after_part)
            self._searched = self._columns, lengths
        return self._neighbors


def affinities_of(neighbors: Neighbors, settings: Settings) -> Affinities:
    """Compute the similarities of the method."""
    used = settings.effective
    how: dict[str, Any] = {"perplexity": used.perplexity, "n_jobs": used.n_jobs}
    if used.labels is None or not used.method.splits_neighbors:
        return tsne_affinities(neighbors, **how)
    if used.method.name == "revised":
        how |= {"beta": used.knob, "bandwidth": used.bandwidth}
        return revised_affinities(neighbors, used.labels, **how)
    make = joint_affinities if used.method.name == "joint" else balanced_affinities
    return make(neighbors, used.labels, strength=used.knob, **how)


def layout_of(matrix: sp.csr_array, features: _Features, settings: Settings) -> Layout:
    """Return the layout at its start: positions, schedule and conditioning of the map."""
    init, size, rng, n_jobs = settings.init, settings.n_components, settings.rng, settings.n_jobs
    start = start_positions(init, size, X=features, matrix=matrix, rng=rng, n_jobs=n_jobs)
    weights, dof = weights_of(settings), settings.dof
    return Layout(matrix, start, settings.schedule, weights=weights, dof=dof, n_jobs=n_jobs)


def weights_of(settings: Settings) -> PairWeights | None:
    """Return the conditioning of the map: requested, or part of the method."""
    beta, labels = settings.map_beta, settings.effective.labels
    return None if beta is None or labels is None else pair_weights(labels, beta)


def without_counterparts(
    matched_by: Mapping[str, NDArray[np.floating]], settings: Settings, *, hint: bool = True
) -> str | None:
    """Return a warning if many points have no counterpart, by how well they are matched."""
    labels = settings.list_labels
    if labels is None:
        return None
    found: list[tuple[int, str]] = []
    for name, column in labels.by_name.items():
        matched = matched_by[name]
        unmatched = column.codes[(matched < UNMATCHED) & (column.codes >= 0)]
        alone = np.bincount(unmatched, minlength=column.n_labels)
        many = np.flatnonzero(alone >= np.maximum(MANY_UNMATCHED, MANY_SHARE * column.counts))
        of_column = f"{name} " if labels.n_columns > 1 else ""
        found += [(int(alone[i]), f"{of_column}{shown(column.names[i], 40)}") for i in many]
    if not found:
        return None
    order = sorted(found, key=lambda count_and_label: -count_and_label[0])  # stable
    some = [f"{count} points of {name}" for count, name in order[:3]]
    advice = ""
    if hint and np.array_equal(settings.align, "none") and settings.metric != "precomputed":
        advice = ' If labels differ by a shift, align="mutual" finds more counterparts.'
    more = f" and of {len(order) - 3} more labels" if len(order) > 3 else ""
    return (
        f"{', '.join(some)}{more} have no counterpart under other labels; their position among "
        f"points of other labels means little (see the diagnostic 'matched').{advice}"
    )
