"""From a fit to a reference for new points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.components import Projection
from ctsne.affinity import Diagnostics
from ctsne.affinity.new_rows import FittedColumn
from ctsne.affinity.weights import Floats
from ctsne.fit.pipeline import weights_of
from ctsne.labels import Column, Labels
from ctsne.layout import PairWeights
from ctsne.layout.fields import make_fields
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.index import SearchIndex
from ctsne.placing.reference import (
    Reference,
    aligned_points,
    new_perplexity,
    sampled,
    stacked,
)
from ctsne.settings import Settings

# A new point is far if its nearest neighbour is this many times farther than all but this share of
# the points of the map have theirs.
FAR_FACTOR = 1.2
FAR_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind for new points, before anything is computed from it."""

    method: str
    listed: bool
    metric: str
    recall: float
    dof: float
    exaggeration: float
    perplexity: float  # the usual one of new points
    knob: Floats
    labels: Column | Labels | None  # those that have an effect
    used: tuple[int, ...]  # which columns of the labels given these are
    weights: PairWeights | None
    features: Any  # in which neighbours were searched, or distances
    projection: Projection | None
    alignment: Alignment

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return int(self.features.shape[0])


def keep_fitted(
    settings: Settings,
    given: Column | Labels | None,
    features: Any,
    projection: Projection | None,
    alignment: Alignment,
) -> Fitted:
    """Keep what new points need of a fit; features are not copied."""
    effective = settings.conditioned()
    kept = _columns_of(effective.labels)
    used = tuple(_columns_of(given).index(each) for each in kept)  # columns are equal if identical
    return Fitted(
        method=effective.method.name,
        listed=effective.method.two_lists,
        metric=settings.metric,
        recall=settings.recall,
        dof=settings.dof,
        exaggeration=settings.schedule.exaggeration,
        perplexity=new_perplexity(settings.perplexity, features.shape[0]),
        knob=effective.knob,
        labels=effective.labels,
        used=used,
        weights=weights_of(settings),
        features=features,
        projection=projection,
        alignment=alignment,
    )


def _columns_of(labels: Column | Labels | None) -> tuple[Column, ...]:
    if labels is None:
        return ()
    return labels.columns if isinstance(labels, Labels) else (labels,)


def keep_alignment(alignment: Alignment) -> Alignment:
    """Keep what new points need of an alignment: if labels have shifts, these are enough."""
    return alignment if alignment.shifts is None else replace(alignment, points=None)


def make_reference(
    fitted: Fitted, embedding: NDArray[np.float32], diagnostics: Diagnostics, n_jobs: int
) -> Reference:
    """Compute all that new points need."""
    n, labels = len(embedding), fitted.labels
    columns = _columns(fitted, diagnostics)
    combined = np.full(n, -1, np.int32)
    alpha = beta = np.empty(0)
    if labels is not None:
        one = labels.combined if isinstance(labels, Labels) else labels
        combined = one.codes
    if fitted.weights is not None and len(fitted.weights.columns) > 1:
        alpha = np.array([each.alpha[0] for each in fitted.weights.columns])
        beta = np.array([each.beta[0] for each in fitted.weights.columns])
    features = index = None
    if fitted.metric != "precomputed":
        features = fitted.features
        index = SearchIndex(
            features,
            stacked(columns if fitted.listed else (), n),
            metric=fitted.metric,
            aligned=aligned_points(features, combined, fitted.alignment, fitted.metric),
            recall=fitted.recall,
            n_jobs=n_jobs,
        )
    reference = Reference(
        embedding=embedding,
        features=features,
        columns=columns,
        used=fitted.used,
        combined=combined,
        listed=fitted.listed and bool(columns),
        alpha=alpha,
        beta=beta,
        projection=fitted.projection,
        alignment=fitted.alignment,
        fields=make_fields(embedding, fitted.weights, dof=fitted.dof, n_jobs=n_jobs),
        index=index,
        method=fitted.method,
        metric=fitted.metric,
        exaggeration=fitted.exaggeration,
        scale=1.0,
        perplexity=fitted.perplexity,
        far_distance=np.inf,
        calibrated={},
    )
    return _calibrated(reference, fitted.features, n_jobs)


def _columns(fitted: Fitted, diagnostics: Diagnostics) -> tuple[FittedColumn, ...]:
    labels = fitted.labels
    if labels is None:
        return ()
    if isinstance(labels, Labels):
        each = [
            (
                column,
                np.full(column.n_labels, knob),
                diagnostics.column_shares.get(name),
                diagnostics.column_matched.get(name),
            )
            for column, name, knob in zip(
                labels.columns,
                labels.names,
                fitted.knob if len(fitted.knob) else np.ones(labels.n_columns),
                strict=True,
            )
        ]
    else:
        each = [(labels, fitted.knob, diagnostics.other_share, diagnostics.matched)]
    ones = np.ones(fitted.n_points)
    return tuple(
        FittedColumn(
            column.codes,
            column.counts,
            knob if len(knob) else np.ones(column.n_labels),
            0 * ones if share is None else share,
            ones if matched is None else matched,
        )
        for column, knob, share, matched in each
    )


def _calibrated(reference: Reference, features: Any, n_jobs: int) -> Reference:
    """Treat some points of the map as new: how far their neighbours are, and their weights."""
    points = sampled(reference.n_points)
    perplexity = reference.perplexity
    maker = reference.maker(n_jobs)
    codes, known = reference.codes[points], reference.aligned
    aligned = None if known is None else known[points]
    groups = list(
        reference.find(
            maker, features[points], codes, aligned, perplexity, own=points, n_jobs=n_jobs
        )
    )
    nearest = np.concatenate([each.distances.min(axis=1) for _, each in groups])
    usual = float(np.quantile(nearest, 1 - FAR_SHARE))
    calibrated = {}
    if maker.calibrated:
        # Rows of a sparse graph differ in length: take those of the most usual one.
        rows, neighbors = max(groups, key=lambda group: len(group[0]))
        calibrated[perplexity] = maker.weights(neighbors, codes[rows], points[rows])
    scale = max(float(each.distances.max()) for _, each in groups) or 1.0
    return replace(reference, far_distance=FAR_FACTOR * usual, calibrated=calibrated, scale=scale)
