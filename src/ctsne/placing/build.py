"""From a fit to the reference for new points."""

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
from ctsne.placing.reference import LARGEST_SHARE, Reference, aligned_points, stacked
from ctsne.settings import Settings

# A new point is far if its nearest point of the map is farther than FAR_FACTOR times the distance
# within which all but FAR_SHARE of the points of the map have a neighbour.
FAR_SHARE, FAR_FACTOR = 0.01, 1.2
# The perplexity of a new point's row is half of that of the fit, at most this.
NEW_PERPLEXITY = 15.0


@dataclass(frozen=True, eq=False)
class ReferenceSource:
    """What a reference is built from: the parts of a fit, not copied."""

    settings: Settings
    used: tuple[int, ...]  # which of the labels given have an effect
    features: Any  # in which neighbours were searched, or distances
    projection: Projection | None
    alignment: Alignment

    @property
    def metric(self) -> str:
        """The metric of the fit."""
        return self.settings.metric

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return int(self.features.shape[0])

    @property
    def perplexity(self) -> float:
        """The default for new points."""
        usual = min(NEW_PERPLEXITY, self.settings.perplexity / 2)
        return max(1.0, min(usual, LARGEST_SHARE * self.n_points))

    def aligned(self) -> NDArray[np.floating] | None:
        """Return the points among which other labels are searched; None: the features."""
        labels = self.settings.effective.labels
        codes = np.full(self.n_points, -1, np.int32) if labels is None else labels.combined.codes
        return aligned_points(self.features, codes, self.alignment, self.metric)


@dataclass
class LazyReference:
    """The reference of a model, built when needed: attributes of a model itself must not change."""

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
    labels, places = fit.settings.effective.labels, () if given is None else given.columns
    columns = () if labels is None else labels.columns
    used = tuple(places.index(column) for column in columns)  # columns are equal if identical
    return ReferenceSource(fit.settings, used, fit.points, fit.projection, fit.alignment)


def build_reference(
    source: ReferenceSource, embedding: NDArray[np.float32], diagnostics: Diagnostics, n_jobs: int
) -> Reference:
    """Compute all that new points need, on points of the map that are treated as new."""
    n, settings = len(embedding), source.settings
    effective, weights = settings.effective, weights_of(settings)
    columns = _columns(effective, weights, diagnostics, n)
    splits = effective.method.splits_neighbors and bool(columns)
    labels, features, index = effective.labels, None, None
    combined = np.full(n, -1, np.int32) if labels is None else labels.combined.codes
    if settings.metric != "precomputed":
        features = source.features
        index = SearchIndex(
            features,
            stacked(columns if splits else (), n),
            metric=settings.metric,
            aligned=source.aligned(),
            recall=settings.recall,
            n_jobs=n_jobs,
        )
    reference = Reference(
        embedding=embedding,
        features=features,
        columns=columns,
        used=source.used,
        combined=combined,
        splits_neighbors=splits,
        projection=source.projection,
        alignment=source.alignment,
        fields=make_fields(embedding, weights, dof=settings.dof, n_jobs=n_jobs),
        index=index,
        method=effective.method.name,
        metric=settings.metric,
        exaggeration=settings.schedule.exaggeration,
        scale=1.0,
        perplexity=source.perplexity,
        far_distance=np.inf,
        calibrated={},
    )
    groups = reference.calibrate(source.features, source.perplexity, n_jobs)
    nearest = np.concatenate([found.distances.min(axis=1) for found in groups])
    far = FAR_FACTOR * float(np.quantile(nearest, 1 - FAR_SHARE))
    scale = max(float(found.distances.max()) for found in groups) or 1.0
    return replace(reference, far_distance=far, scale=scale)


def _columns(
    settings: Settings, weights: PairWeights | None, diagnostics: Diagnostics, n: int
) -> tuple[FittedColumn, ...]:
    """Return the label columns, as the method conditions on them."""
    labels = {} if settings.labels is None else settings.labels.by_name
    columns = []
    for c, (name, column) in enumerate(labels.items()):
        ones = np.ones(column.n_labels)
        factor = None if weights is None else weights.columns[c]
        columns.append(
            FittedColumn(
                codes=column.codes,
                counts=column.counts,
                knob=settings.knob[c] if settings.knob else ones,
                share=diagnostics.column_shares.get(name, np.zeros(n)),
                matched=diagnostics.column_matched.get(name, np.ones(n)),
                alpha=ones if factor is None else factor.alpha,
                beta=ones if factor is None else factor.beta,
            )
        )
    return tuple(columns)
