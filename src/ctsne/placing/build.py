"""From a fit to the reference for new points, calibrated on points of the map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.components import Projection
from ctsne.affinity import Diagnostics
from ctsne.affinity.new_rows import FittedColumn
from ctsne.fit.fit import Fit
from ctsne.fit.pipeline import weights_of
from ctsne.labels import Labels
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
from ctsne.settings import PerLabel

# A new point is far if its nearest point of the map is farther than FAR_FACTOR times the distance
# within which all but FAR_SHARE of the points of the map have a neighbour.
FAR_SHARE, FAR_FACTOR = 0.01, 1.2


@dataclass(frozen=True, eq=False)
class ReferenceSource:
    """What a reference is built from: the parts of a fit, not copied."""

    method: str
    splits_neighbors: bool
    metric: str
    recall: float
    dof: float
    exaggeration: float
    perplexity: float  # the default for new points
    knob: PerLabel
    labels: Labels | None  # the columns that have an effect
    used: tuple[int, ...]  # which columns of the labels given these are
    weights: PairWeights | None
    features: Any  # in which neighbours were searched, or distances
    projection: Projection | None
    alignment: Alignment

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return int(self.features.shape[0])


@dataclass
class LazyReference:
    """The reference of a fitted model, built when the first points are placed.

    An object of its own, because the attributes of a fitted model must not change.
    """

    source: ReferenceSource | None
    reference: Reference | None = None

    @property
    def known(self) -> ReferenceSource | Reference:
        """What is there already."""
        known = self.reference or self.source
        assert known is not None
        return known

    def get(
        self, embedding: NDArray[np.float32], diagnostics: Diagnostics, n_jobs: int
    ) -> Reference:
        """Return the reference of a map."""
        if self.reference is None:
            assert self.source is not None
            self.reference = build_reference(self.source, embedding, diagnostics, n_jobs)
        return self.reference

    def forget(self) -> None:
        """Build the reference again when the next points are placed."""
        assert self.source is not None
        self.reference = None


def source_of(fit: Fit, given: Labels | None) -> ReferenceSource:
    """Return what new points need of a fit, with the labels as they were given."""
    settings, effective = fit.settings, fit.settings.effective
    columns = () if effective.labels is None else effective.labels.columns
    places = () if given is None else given.columns
    return ReferenceSource(
        method=effective.method.name,
        splits_neighbors=effective.method.splits_neighbors,
        metric=settings.metric,
        recall=settings.recall,
        dof=settings.dof,
        exaggeration=settings.schedule.exaggeration,
        perplexity=new_perplexity(settings.perplexity, fit.points.shape[0]),
        knob=effective.knob,
        labels=effective.labels,
        used=tuple(places.index(column) for column in columns),  # columns are equal if identical
        weights=weights_of(settings),
        features=fit.points,
        projection=fit.projection,
        alignment=fit.alignment,
    )


def build_reference(
    source: ReferenceSource, embedding: NDArray[np.float32], diagnostics: Diagnostics, n_jobs: int
) -> Reference:
    """Compute all that new points need."""
    n = len(embedding)
    columns = _columns(source, diagnostics)
    combined = np.full(n, -1, np.int32) if source.labels is None else source.labels.combined.codes
    features = index = None
    if source.metric != "precomputed":
        features = source.features
        index = SearchIndex(
            features,
            stacked(columns if source.splits_neighbors else (), n),
            metric=source.metric,
            aligned=aligned_points(features, combined, source.alignment, source.metric),
            recall=source.recall,
            n_jobs=n_jobs,
        )
    reference = Reference(
        embedding=embedding,
        features=features,
        columns=columns,
        used=source.used,
        combined=combined,
        splits_neighbors=source.splits_neighbors and bool(columns),
        projection=source.projection,
        alignment=source.alignment,
        fields=make_fields(embedding, source.weights, dof=source.dof, n_jobs=n_jobs),
        index=index,
        method=source.method,
        metric=source.metric,
        exaggeration=source.exaggeration,
        scale=1.0,
        perplexity=source.perplexity,
        far_distance=np.inf,
        calibrated={},
    )
    return _calibrated(reference, source.features, n_jobs)


def _columns(source: ReferenceSource, diagnostics: Diagnostics) -> tuple[FittedColumn, ...]:
    """Return the label columns, as the method conditions on them."""
    if source.labels is None:
        return ()
    n, columns = source.n_points, []
    for c, (name, column) in enumerate(source.labels.by_name.items()):
        ones = np.ones(column.n_labels)
        factor = None if source.weights is None else source.weights.columns[c]
        columns.append(
            FittedColumn(
                codes=column.codes,
                counts=column.counts,
                knob=source.knob[c] if source.knob else ones,
                share=diagnostics.column_shares.get(name, np.zeros(n)),
                matched=diagnostics.column_matched.get(name, np.ones(n)),
                alpha=ones if factor is None else factor.alpha,
                beta=ones if factor is None else factor.beta,
            )
        )
    return tuple(columns)


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
    nearest = np.concatenate([found.distances.min(axis=1) for _, found in groups])
    usual = float(np.quantile(nearest, 1 - FAR_SHARE))
    calibrated = {}
    if maker.calibrated:
        # Rows of a sparse graph differ in length: take those of the most usual one.
        rows, neighbors = max(groups, key=lambda group: len(group[0]))
        calibrated[perplexity] = maker.weights(neighbors, codes[rows], points[rows])
    scale = max(float(found.distances.max()) for _, found in groups) or 1.0
    return replace(reference, far_distance=FAR_FACTOR * usual, calibrated=calibrated, scale=scale)
