"""All that a fitted model keeps to place new points in its map, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.components import Projection
from ctsne._fit.pipeline import weights_of
from ctsne._fit.settings import Settings
from ctsne.affinity import Diagnostics
from ctsne.affinity.new_rows import Codes, Column, NewRows, RowMaker
from ctsne.affinity.weights import Floats
from ctsne.labels import Labels
from ctsne.layout.fields import Fields, make_fields
from ctsne.layout.pairs import PairWeights
from ctsne.layout.place import Places
from ctsne.neighbors import Neighbors
from ctsne.neighbors.alignment import Alignment, moved
from ctsne.neighbors.crossed import crossed_neighbors
from ctsne.neighbors.exact import unit_rows
from ctsne.neighbors.queries import SearchIndex

# Perplexity of a new point's row.
NEW_PERPLEXITY = 5.0
# Points of the map that are treated as new ones, to calibrate weights and to know usual distances.
SAMPLE = 2000
# A new point is far if its nearest neighbour is this many times farther than all but this share of
# the points of the map have theirs.
FAR_FACTOR = 1.5
FAR_SHARE = 0.01

_OF_COLUMN = ("codes", "counts", "knob", "share", "matched")
_OF_PCA = ("origin", "mean", "axes")
_SETTINGS = ("method", "bandwidth", "metric", "exaggeration", "scale", "far_distance")


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind for new points, before anything is computed from it."""

    method: str
    two_lists: bool
    bandwidth: str
    metric: str
    recall: float
    dof: float
    exaggeration: float
    knob: Floats
    labels: Labels | None
    weights: PairWeights | None
    features: Any  # as neighbours were searched in them, or distances
    projection: Projection | None
    alignment: Alignment

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return int(self.features.shape[0])

    @property
    def uses_labels(self) -> bool:
        """Whether labels have an effect."""
        return self.labels is not None


def keep_fitted(
    settings: Settings, features: Any, projection: Projection | None, alignment: Alignment
) -> Fitted:
    """Keep what new points need of a fit; features are not copied."""
    return Fitted(
        method=settings.method.name, two_lists=settings.method.two_lists,
        bandwidth=settings.bandwidth, metric=settings.metric, recall=settings.recall,
        dof=settings.dof, exaggeration=settings.schedule.exaggeration, knob=settings.knob,
        labels=settings.labels, weights=weights_of(settings), features=features,
        projection=projection, alignment=alignment,
    )  # fmt: skip


def keep_alignment(alignment: Alignment) -> Alignment:
    """Keep what new points need of an alignment: if labels have shifts, these are enough."""
    return alignment if alignment.shifts is None else replace(alignment, points=None)


@dataclass(frozen=True, eq=False)
class Found:
    """New points with rows of equal length: their numbers, lists and rows."""

    points: NDArray[np.int64]
    neighbors: Neighbors
    rows: NewRows


@dataclass(frozen=True, eq=False)
class Reference:
    """A finished map that takes new points.

    Attributes
    ----------
    embedding : ndarray of float32, shape (n, dims)
    features : ndarray, shape (n, d) or None
        The points of the map in the space of the search; None if only distances were given.
    columns : tuple of Column
        The label columns that divide neighbours into lists.
    codes : ndarray of int32, shape (n,)
        The label of each point that conditions the map; -1 if missing.
    projection : Projection or None
    alignment : Alignment
    fields : Fields
        Their entries per label follow ``codes``.
    method, bandwidth, metric : str
    exaggeration, scale : float
    far_distance : float
    calibrated : dict of float to list of ndarray
        Weights on other labels, by the perplexity of new points.
    """

    embedding: NDArray[np.float32]
    features: NDArray[np.floating] | None
    columns: tuple[Column, ...]
    projection: Projection | None
    alignment: Alignment
    fields: Fields
    index: SearchIndex | None
    method: str
    bandwidth: str
    metric: str
    exaggeration: float
    scale: float
    far_distance: float
    calibrated: dict[float, list[Floats]]

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # not what is cached

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return len(self.embedding)

    @property
    def uses_labels(self) -> bool:
        """Whether labels have an effect: on the similarities, or on the map."""
        return len(self.columns) > 0 or len(self.fields.grid_of) > 1

    @property
    def patterns(self) -> tuple[int, ...]:
        """The lists of every point; see :class:`ctsne.neighbors.Neighbors`."""
        return tuple(range(1 << len(self.columns)))

    @cached_property
    def codes(self) -> Codes:
        """Labels of the columns that divide neighbours into lists."""
        return _stacked(self.columns, self.n_points)

    @cached_property
    def _places(self) -> Places:
        return Places(self.embedding, self.fields, exaggeration=self.exaggeration)

    def maker(self, n_jobs: int) -> RowMaker:
        """Return what makes rows of new points."""
        return RowMaker(self.method, self.columns, self.patterns, self.bandwidth, n_jobs)

    def rows(
        self, features: Any, codes: Codes, aligned: Any, perplexity: float, n_jobs: int
    ) -> Iterator[Found]:
        """Find the neighbours of new points and weigh them."""
        maker = self.maker(n_jobs)
        weights = self.calibrated.get(perplexity, [])
        if maker.calibrated and not weights:
            weights = self._calibrate(maker, perplexity, n_jobs)
        for points, found in self._find(maker, features, codes, aligned, perplexity, None, n_jobs):
            made = maker.rows(found, codes[points], weights, perplexity)
            yield Found(points, found, made)

    def place(self, found: Found, labels: Codes, n_jobs: int) -> NDArray[np.float32]:
        """Return the places of new points; ``labels`` are those that condition the map."""
        known = (labels >= 0) & (labels < len(self.fields.grid_of) - 1)
        rows, numbers = found.rows.rows, np.where(known, labels, -1)
        return self._places.place(found.neighbors.indices, rows, numbers, n_jobs=n_jobs)

    def _find(
        self, maker: RowMaker, features: Any, codes: Codes, aligned: Any, perplexity: float,
        own: NDArray[np.int64] | None, n_jobs: int,
    ) -> Iterator[tuple[NDArray[np.int64], Neighbors]]:  # fmt: skip
        n = self.n_points if own is None else self.n_points - 1
        lengths = maker.lengths(codes, perplexity, n)
        if self.index is None:
            yield from crossed_neighbors(
                features, codes, self.codes, lengths=lengths, patterns=self.patterns,
                scale=self.scale, own=own,
            )  # fmt: skip
            return
        yield np.arange(len(codes)), self.index.find(
            features, codes, lengths=lengths, patterns=self.patterns, aligned=aligned, own=own,
            n_jobs=n_jobs,
        )  # fmt: skip

    def _calibrate(self, maker: RowMaker, perplexity: float, n_jobs: int) -> list[Floats]:
        """Calibrate weights for a perplexity, on points of the map."""
        if self.features is None:  # the distances between points of the map are not kept
            return self.calibrated[NEW_PERPLEXITY]
        moved_points = self.aligned
        points = _sample(self.n_points)
        aligned = None if moved_points is None else moved_points[points]
        found = self._find(
            maker, self.features[points], self.codes[points], aligned, perplexity, points, n_jobs
        )
        ((_, neighbors),) = found
        weights = maker.weights(neighbors, self.codes[points], points, perplexity)
        self.calibrated[perplexity] = weights
        return weights

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, for a model file."""
        made: dict[str, Any] = {
            "embedding": self.embedding, "features": self.features,
            "shifts": self.alignment.shifts, "aligned": self.alignment.points,
        }  # fmt: skip
        for number, column in enumerate(self.columns):
            made |= {f"column_{number}_{name}": getattr(column, name) for name in _OF_COLUMN}
        if self.projection is not None:
            made |= {f"projection_{name}": getattr(self.projection, name) for name in _OF_PCA}
        made |= {f"field_{name}": each for name, each in self.fields.arrays().items()}
        if self.index is not None:
            made |= {f"index_{name}": each for name, each in self.index.arrays().items()}
        for number, weights in enumerate(self.calibrated.values()):
            made |= {f"weights_{number}_{c}": each for c, each in enumerate(weights)}
        return {name: each for name, each in made.items() if each is not None}

    def settings(self) -> dict[str, Any]:
        """Return all that is not an array, as JSON can hold it."""
        return {
            **{name: getattr(self, name) for name in _SETTINGS},
            "n_columns": len(self.columns), "projected": self.projection is not None,
            "alignment": self.alignment.name, "factor": self.alignment.factor,
            "fields": self.fields.settings(), "perplexities": list(self.calibrated),
        }  # fmt: skip

    @classmethod
    def from_parts(
        cls, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any], *, n_jobs: int = -1
    ) -> Reference:
        """Return the reference that :meth:`arrays` and :meth:`settings` describe."""
        columns = tuple(
            Column(**{name: arrays[f"column_{number}_{name}"] for name in _OF_COLUMN})
            for number in range(settings["n_columns"])
        )
        projection = None
        if settings["projected"]:
            projection = Projection(*(arrays[f"projection_{name}"] for name in _OF_PCA))
        alignment = Alignment(
            settings["alignment"], arrays.get("aligned"), shifts=arrays.get("shifts"),
            factor=settings["factor"],
        )  # fmt: skip
        embedding, features = arrays["embedding"], arrays.get("features")
        index = None
        if features is not None:
            codes = _stacked(columns, len(embedding))
            aligned = aligned_points(features, codes, alignment, settings["metric"])
            index = SearchIndex.from_arrays(
                features, codes, _named(arrays, "index_"), aligned=aligned,
                metric=settings["metric"], n_jobs=n_jobs,
            )  # fmt: skip
        calibrated = {
            float(perplexity): [arrays[f"weights_{number}_{c}"] for c in range(len(columns))]
            for number, perplexity in enumerate(settings["perplexities"])
        }
        return cls(
            embedding=embedding, features=features, columns=columns, projection=projection,
            alignment=alignment, index=index, calibrated=calibrated,
            fields=Fields.from_parts(_named(arrays, "field_"), settings["fields"]),
            **{name: settings[name] for name in _SETTINGS},
        )  # fmt: skip

    @cached_property
    def aligned(self) -> NDArray[np.floating] | None:
        """The points of the map among which other labels are searched; None: the features."""
        return aligned_points(self.features, self.codes, self.alignment, self.metric)


def make_reference(
    fitted: Fitted, embedding: NDArray[np.float32], diagnostics: Diagnostics, n_jobs: int
) -> Reference:
    """Compute all that new points need."""
    n = len(embedding)
    columns: tuple[Column, ...] = ()
    if fitted.two_lists and fitted.labels is not None:
        matched = diagnostics.matched
        columns = (
            Column(
                fitted.labels.codes, fitted.labels.counts, fitted.knob, diagnostics.other_share,
                np.ones(n) if matched is None else matched,
            ),
        )  # fmt: skip
    fields = make_fields(embedding, fitted.weights, dof=fitted.dof, n_jobs=n_jobs)
    if fitted.weights is not None and fitted.labels is not None:
        fields = fields.renumbered(numbers_by_size(fitted.labels))
    index, features = None, None
    codes = _stacked(columns, n)
    if fitted.metric != "precomputed":
        features = fitted.features
        aligned = aligned_points(features, codes, fitted.alignment, fitted.metric)
        index = SearchIndex(
            features, codes, aligned=aligned, metric=fitted.metric, recall=fitted.recall,
            n_jobs=n_jobs,
        )  # fmt: skip
    unknown = Reference(
        embedding=embedding, features=features, columns=columns, projection=fitted.projection,
        alignment=fitted.alignment, fields=fields, index=index,
        method=fitted.method if columns else "tsne", bandwidth=fitted.bandwidth,
        metric=fitted.metric, exaggeration=fitted.exaggeration, scale=1.0, far_distance=np.inf,
        calibrated={},
    )  # fmt: skip
    return _calibrated(unknown, fitted.features, n_jobs)


def _calibrated(reference: Reference, features: Any, n_jobs: int) -> Reference:
    """Treat some points of the map as new: how far their neighbours are, and their weights."""
    points = _sample(reference.n_points)
    maker = reference.maker(n_jobs)
    codes, moved_points = reference.codes[points], reference.aligned
    aligned = None if moved_points is None else moved_points[points]
    found = reference._find(maker, features[points], codes, aligned, NEW_PERPLEXITY, points, n_jobs)
    groups = list(found)
    nearest = np.concatenate([each.distances.min(axis=1) for _, each in groups])
    usual = float(np.quantile(nearest, 1 - FAR_SHARE))
    calibrated = {}
    if maker.calibrated:
        # Rows of a sparse graph of distances differ in length; the longest ones are the most.
        rows, neighbors = max(groups, key=lambda group: len(group[0]))
        weights = maker.weights(neighbors, codes[rows], points[rows], NEW_PERPLEXITY)
        calibrated[NEW_PERPLEXITY] = weights
    scale = max(float(each.distances.max()) for _, each in groups) or 1.0
    return replace(reference, far_distance=FAR_FACTOR * usual, calibrated=calibrated, scale=scale)


def numbers_by_size(labels: Labels) -> NDArray[np.int64]:
    """Return the number of each label in pair weights, where the largest comes first."""
    numbers = np.empty(labels.n_labels, np.int64)
    numbers[np.argsort(-labels.counts, kind="stable")] = np.arange(labels.n_labels)
    return numbers


def aligned_points(
    features: Any, codes: Codes, alignment: Alignment, metric: str
) -> NDArray[np.floating] | None:
    """Return the points among which other labels are searched; None: the features."""
    if alignment.shifts is None:
        return alignment.points
    points = unit_rows(features) if metric == "cosine" else features
    return moved(points, codes[:, 0], alignment.shifts)


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): each for name, each in arrays.items() if name.startswith(prefix)
    }


def _stacked(columns: tuple[Column, ...], n: int) -> Codes:
    if not columns:
        return np.zeros((n, 0), np.int32)
    return np.ascontiguousarray(np.stack([each.codes for each in columns], axis=1), np.int32)


def _sample(n: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
