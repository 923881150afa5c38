"""The map as new points see it, from a fit: finds their neighbours, weighs and places them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.components import Projection
from ctsne.affinity import Diagnostics
from ctsne.affinity.new_rows import Codes, FittedColumn, NewRows, RowMaker
from ctsne.affinity.weights import Floats
from ctsne.fit.fit import Fit
from ctsne.fit.pipeline import weights_of
from ctsne.labels import Labels
from ctsne.layout import PairWeights
from ctsne.layout.fields import MOST_NODES, Fields, Places, fields_for, make_fields
from ctsne.layout.weights import ColumnFactor
from ctsne.neighbors import Neighbors
from ctsne.neighbors.alignment import Alignment, moved
from ctsne.neighbors.index import SearchIndex
from ctsne.neighbors.points import unit_rows
from ctsne.neighbors.precomputed import read_new_points
from ctsne.settings import Settings

# The largest perplexity of a new point's row, as a share of the points of the map.
LARGEST_SHARE = 1 / 3
# Points of the map that are treated as new ones, to calibrate weights and to know usual distances.
CALIBRATION_POINTS = 2000
# Points of the map that are placed again at a time: bounds the memory, and changes nothing else.
_AGAIN_AT_ONCE = 2**14
# A new point is far if its nearest point of the map is farther than FAR_FACTOR times the distance
# within which all but FAR_SHARE of the points of the map have a neighbour.
FAR_SHARE, FAR_FACTOR = 0.01, 1.2
# The perplexity of a new point's row is half of that of the fit, at most this.
NEW_PERPLEXITY = 15.0


@dataclass(frozen=True, eq=False)
class Reference:
    """A finished map that takes new points."""

    embedding: NDArray[np.float32]
    features: NDArray[np.floating] | None  # in the space of the search; None: only distances
    columns: tuple[FittedColumn, ...]  # the label columns that have an effect
    used: tuple[int, ...]  # which columns of the model's labels these are
    combined: Codes  # the combination of labels of each point, -1 for points without any
    splits_neighbors: bool  # whether the columns divide neighbours into lists
    projection: Projection | None
    alignment: Alignment  # its shifts belong to combinations of labels
    fields: Fields  # their entries, too
    index: SearchIndex | None
    method: str
    metric: str
    exaggeration: float
    scale: float
    perplexity: float  # the default for new points
    far_distance: float  # farther than this from all points of the map, a new point is far
    calibrated: dict[float, list[Floats]]  # weights on other labels, by perplexity

    def __getstate__(self) -> dict[str, Any]:
        # Not what is cached.
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def n_points(self) -> int:
        """Number of points of the map."""
        return len(self.embedding)

    @cached_property
    def table(self) -> Codes:
        """Labels of every combination."""
        labelled = np.flatnonzero(self.combined >= 0)
        _, first = np.unique(self.combined[labelled], return_index=True)
        return stacked(self.columns, self.n_points)[labelled[first]]

    @cached_property
    def codes(self) -> Codes:
        """Labels that divide neighbours into lists, shape (n, C)."""
        return stacked(self.columns if self.splits_neighbors else (), self.n_points)

    @cached_property
    def aligned(self) -> NDArray[np.floating] | None:
        """The points of the map among which other labels are searched; None: the features."""
        return aligned_points(self.features, self.combined, self.alignment, self.metric)

    def maker(self, n_jobs: int) -> RowMaker:
        """Return what makes rows of new points."""
        columns = self.columns if self.splits_neighbors else ()
        return RowMaker(self.method, columns, tuple(range(1 << len(columns))), n_jobs)

    def combinations(self, codes: Codes) -> Codes:
        """Return the combination of each row of labels; new ones get further numbers."""
        if not self.columns:
            return np.full(len(codes), -1, np.int32)
        number = {tuple(row): k for k, row in enumerate(self.table.tolist())}
        number[(-1,) * len(self.columns)] = -1  # does not take a number from the new ones
        rows, place = np.unique(codes, axis=0, return_inverse=True)
        found = [number.setdefault(tuple(row), len(number) - 1) for row in rows.tolist()]
        return np.array(found, np.int32)[place.reshape(-1)]

    def rows(
        self,
        features: Any,
        codes: Codes,
        aligned: Any,
        perplexity: float,
        n_jobs: int,
        *,
        own: NDArray[np.int64] | None = None,
    ) -> Iterator[tuple[NDArray[np.int64], Neighbors, NewRows]]:
        """Yield numbers, lists and rows of new points, those with rows of equal length together.

        If the points are points of the map, ``own`` are their numbers there, left out of the lists.
        """
        maker = self.maker(n_jobs)
        codes = codes if self.splits_neighbors else codes[:, :0]
        if maker.calibrated and perplexity not in self.calibrated and self.features is not None:
            self.calibrate(self.features, perplexity, n_jobs)
        # The distances between points of a map of distances are not kept.
        usual = next(iter(self.calibrated.values()), [])
        weights = self.calibrated.get(perplexity, usual)
        given = maker, features, codes, aligned, perplexity
        for points, found in self.find(*given, own=own, n_jobs=n_jobs):
            yield points, found, maker.rows(found, codes[points], weights, perplexity)

    def place(
        self, found: Neighbors, rows: Any, codes: Codes, combined: Codes, n_jobs: int
    ) -> NDArray[np.float32]:
        """Return the places of new points with these lists, rows and labels."""
        indices = found.indices
        n_known = len(self.fields.grid_of) - 1
        numbers = np.where(combined < n_known, combined, -1)
        out = self._places.place(indices, rows, numbers, n_jobs=n_jobs)
        for number in np.unique(combined[combined >= n_known]) if n_known else ():
            new = np.flatnonzero(combined == number)
            # In a column where its label is new, a point feels all others alike.
            known = [len(column.counts) for column in self.columns]
            labels = np.where(codes[new[0]] < known, codes[new[0]], -1)
            if (labels >= 0).any():
                places = self._places_of(tuple(labels.tolist()), n_jobs)
                first = np.zeros(len(new), np.int64)
                out[new] = places.place(indices[new], rows[new], first, n_jobs=n_jobs)
        return out

    def place_again(self, features: Any, n_jobs: int) -> NDArray[np.float32]:
        """Return where each point of the map, of given features or distances, lands as a new one.

        It is not among its own neighbours. The repulsion is that of the whole map.
        """
        out, labels = np.empty_like(self.embedding), stacked(self.columns, self.n_points)
        for begin in range(0, self.n_points, _AGAIN_AT_ONCE):
            own = np.arange(begin, min(self.n_points, begin + _AGAIN_AT_ONCE))
            aligned = None if self.aligned is None else self.aligned[own]
            given = features[own], labels[own], aligned, self.perplexity, n_jobs
            for some, found, made in self.rows(*given, own=own):
                points = own[some]
                which = labels[points], self.combined[points]
                out[points] = self.place(found, made.rows, *which, n_jobs)
        return out

    @cached_property
    def _places(self) -> Places:
        return Places(self.embedding, self.fields, exaggeration=self.exaggeration)

    @cached_property
    def _new_places(self) -> dict[tuple[int, ...], Places]:
        return {}

    def _places_of(self, labels: tuple[int, ...], n_jobs: int) -> Places:
        """Return the map as a combination of labels feels it that does not occur in it."""
        places = self._new_places.get(labels)
        if places is None:
            factors = [ColumnFactor(own.codes, own.alpha, own.beta) for own in self.columns]
            table = np.array([labels], np.int32)
            made = fields_for(self.embedding, factors, table, dof=self.fields.dof, n_jobs=n_jobs)
            places = Places(self.embedding, made, exaggeration=self.exaggeration)
            if made.grids.size * len(self._new_places) > MOST_NODES:  # they can be made again
                self._new_places.clear()
            self._new_places[labels] = places
        return places

    def find(
        self,
        maker: RowMaker,
        features: Any,
        codes: Codes,
        aligned: Any,
        perplexity: float,
        *,
        own: NDArray[np.int64] | None = None,
        n_jobs: int,
    ) -> Iterator[tuple[NDArray[np.int64], Neighbors]]:
        """Yield the lists of new points, those of equal length together."""
        lengths = maker.lengths(codes, perplexity, self.n_points - (own is not None))
        wanted: dict[str, Any] = {"lengths": lengths, "patterns": maker.patterns, "own": own}
        if self.index is None:
            yield from read_new_points(features, codes, self.codes, scale=self.scale, **wanted)
        else:
            found = self.index.find(features, codes, aligned=aligned, n_jobs=n_jobs, **wanted)
            yield np.arange(len(codes)), found

    def calibrate(self, features: Any, perplexity: float, n_jobs: int) -> list[Neighbors]:
        """Find the neighbours of points of the map as of new ones, to calibrate weights on them."""
        points = np.sort(np.random.default_rng(0).permutation(self.n_points)[:CALIBRATION_POINTS])
        aligned = None if self.aligned is None else self.aligned[points]
        maker, codes = self.maker(n_jobs), self.codes[points]
        given = maker, features[points], codes, aligned, perplexity
        groups = list(self.find(*given, own=points, n_jobs=n_jobs))
        if maker.calibrated:
            # Rows of a sparse graph differ in length: take those of the most usual one.
            rows, found = max(groups, key=lambda group: len(group[0]))
            self.calibrated[perplexity] = maker.weights(found, codes[rows], points[rows])
        return [found for _, found in groups]


def aligned_points(
    features: Any, combined: Codes, alignment: Alignment, metric: str
) -> NDArray[np.floating] | None:
    """Return the points among which other labels are searched; None: the features."""
    if alignment.shifts is None:
        return alignment.points
    points = unit_rows(features) if metric == "cosine" else features
    return moved(points, combined, alignment.shifts)


def stacked(columns: tuple[FittedColumn, ...], n: int) -> Codes:
    """Return the codes of all columns, shape (n, C)."""
    if not columns:
        return np.zeros((n, 0), np.int32)
    return np.ascontiguousarray(np.stack([column.codes for column in columns], axis=1), np.int32)


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
