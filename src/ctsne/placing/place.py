"""Place checked points in a finished map, some at a time, aligned with it if it was aligned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne._core.checks import is_sparse
from ctsne._core.messages import FarPointsWarning, warn
from ctsne._core.progress import Report
from ctsne.affinity.new_rows import Codes
from ctsne.neighbors.alignment import LOCAL_NEIGHBORS, SAMPLE, moved, shift_to, with_directions
from ctsne.neighbors.points import unit_rows
from ctsne.placing.reference import Reference
from ctsne.placing.request import Request

NEW_SAMPLE = 5000  # points of a new label that its shift is estimated on
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose multiples spread over all 64 bits

_Floats = NDArray[np.floating]
# Up to this share of far points is expected of any data, and not worth a warning.
EXPECTED_FAR = 0.02
# New points that are worked on at a time: bounds the memory, and changes nothing else.
POINTS_AT_ONCE = 2**14
VALUES_AT_ONCE = 2**26  # of their features, in double precision


class Aligner:
    """Moves new points as the points of the map were moved.

    The shift of a label that is not in the map is estimated from all points given with it, so these
    must be collected first. With several columns, a label is a combination of theirs.
    """

    def __init__(
        self,
        reference: Reference,
        aligned: _Floats | None,
        shifts: Mapping[int, NDArray[np.float64]],
        n_jobs: int,
    ) -> None:
        self._reference, self._aligned, self._n_jobs = reference, aligned, n_jobs
        self._how = reference.alignment.name
        self._n_labels = len(reference.table) if reference.columns else 0
        self._new: dict[int, tuple[NDArray[np.float64], NDArray[np.uint64]]] = {}
        self._shifts = dict(shifts)

    def new_labels(self, codes: Codes) -> set[int]:
        """Return the new labels whose points must be collected before any are moved."""
        if self._how in ("none", "array"):
            return set()
        return set(np.unique(codes[codes >= self._n_labels]).tolist()) - set(self._shifts)

    def collect(self, features: _Floats, codes: Codes) -> None:
        """Keep some points of every new label, chosen by their values alone."""
        for code in self.new_labels(codes):
            points = self._in_unit(features[codes == code]).astype(np.float64)
            keys = _keys(points, self._n_jobs)
            if code in self._new:
                before, their_keys = self._new[code]
                points, keys = np.concatenate([before, points]), np.append(their_keys, keys)
            order = np.argsort(keys, kind="stable")[:NEW_SAMPLE]
            self._new[code] = points[order], keys[order]

    def moved(self, features: Any, labels: Codes, codes: Codes, part: slice) -> _Floats | None:
        """Return new points, of combinations ``codes``, among the aligned points of the map."""
        if self._how in ("none", "array"):
            return None if self._aligned is None else self._aligned[part]
        points = self._in_unit(features)
        known = np.where(codes < self._n_labels, codes, -1)
        shifts = self._reference.alignment.shifts
        out = points if shifts is None else moved(points, known, shifts)
        if shifts is None:
            out = (points + self._local_moves(features, labels, known)).astype(points.dtype)
        for code in np.unique(codes[codes >= self._n_labels]).tolist():
            new = codes == code
            out[new] = (points[new] + self.shift(code)).astype(points.dtype)
        return with_directions(out, points) if self._reference.metric == "cosine" else out

    def _in_unit(self, features: _Floats) -> _Floats:
        return unit_rows(features) if self._reference.metric == "cosine" else features

    def _local_moves(self, features: _Floats, labels: Codes, codes: Codes) -> NDArray[np.float64]:
        """Return the mean move of the nearest points of the map with the same label."""
        reference = self._reference
        assert reference.index is not None
        total = min(LOCAL_NEIGHBORS, reference.n_points)
        found = reference.index.find(
            features,
            labels,
            lengths=(total, 0),
            patterns=(0, (1 << labels.shape[1]) - 1),
            aligned=self._in_unit(features),
            n_jobs=self._n_jobs,
        )
        same = (reference.combined[found.indices] == codes[:, None]) & (codes[:, None] >= 0)
        count = same.sum(axis=1)
        ends = np.concatenate([[0], np.cumsum(count)])
        shape = (len(codes), reference.n_points)
        near = sp.csr_array((np.ones(ends[-1]), found.indices[same], ends), shape=shape)
        return np.asarray((near @ self._moves) / np.maximum(count, 1)[:, None])

    @cached_property
    def _moves(self) -> NDArray[np.float64]:
        aligned, features = self._reference.aligned, self._reference.features
        assert aligned is not None and features is not None
        return np.asarray(aligned.astype(np.float64) - self._in_unit(features))

    def shift(self, code: int) -> NDArray[np.float64]:
        """Return the shift of a new label."""
        if code not in self._shifts:
            known = self._reference.aligned
            assert known is not None
            labelled = np.flatnonzero(self._reference.combined >= 0)
            chosen = np.random.default_rng(0).permutation(labelled)[:SAMPLE]
            rows = known[np.sort(chosen)].astype(np.float64)
            points = self._new[code][0]
            self._shifts[code] = shift_to(points, rows, self._how, n_jobs=self._n_jobs)
        return self._shifts[code]


def _keys(points: NDArray[np.float64], n_jobs: int) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its values alone, as if drawn at random."""
    direction = np.random.default_rng(0).normal(size=(points.shape[1], 1))
    values = _native.project(np.ascontiguousarray(points), direction, n_jobs)[:, 0]
    keys = np.asarray(values.view(np.uint64) * _SPREAD)
    return np.asarray((keys ^ (keys >> np.uint64(29))) * _SPREAD)


@dataclass(frozen=True, eq=False, repr=False)
class Placement:
    """New points in a finished map, with diagnostics; each array has one entry per point.

    Attributes
    ----------
    embedding : ndarray of float32, shape (m, n_components)
        Their positions.
    distance : ndarray of float32
        Distance to the nearest point of the map, in the data; to points of other labels among
        aligned points, if the map was aligned.
    far : ndarray of bool
        Whether the point has no neighbour closer than ``far_distance``. A map places even such
        points somewhere, but their position means little.
    far_distance : float
        1.2 times the distance within which 99 % of the points of the map have a neighbour.
    perplexity : ndarray of float32
        Effective perplexity of the point's similarities.
    other_share : ndarray of float32 or None
        Share of their weight on points of other labels; None if they do not use labels.
    matched : ndarray of float32 or None
        How well the points near it that have its label are matched by points of other labels; NaN
        for labels that are not in the map.
    largest_weight : ndarray of float32
        The largest similarity. If it is near one, one neighbour decides the position.
    """

    embedding: NDArray[np.float32]
    distance: NDArray[np.float32]
    far: NDArray[np.bool_]
    far_distance: float
    perplexity: NDArray[np.float32]
    other_share: NDArray[np.float32] | None
    matched: NDArray[np.float32] | None
    largest_weight: NDArray[np.float32]

    def __repr__(self) -> str:
        far = f"{int(self.far.sum())} farther than {self.far_distance:.3g}"
        return f"<Placement of {len(self.embedding)} points, {far}>"

    def diagnostics(self) -> dict[str, NDArray[Any]]:
        """Return the arrays other than ``embedding``, without those that are None."""
        names = ("distance", "far", *_PER_POINT)
        values = {name: getattr(self, name) for name in names}
        return {name: array for name, array in values.items() if array is not None}


_PER_POINT = ("perplexity", "other_share", "matched", "largest_weight")


def place(
    reference: Reference,
    request: Request,
    *,
    shifts: Mapping[Any, Any],
    n_jobs: int,
    after_part: Report | None = None,
) -> Placement:
    """Place checked points, some at a time; report the share that is done after each part."""
    matrix, codes, m = request.matrix, request.codes, request.matrix.shape[0]
    embedding = np.empty((m, reference.embedding.shape[1]), np.float32)
    distance = np.empty(m, np.float32)
    kept: dict[str, NDArray[np.float32]] = {}
    combined = reference.combinations(codes)
    aligner = collected_shifts(reference, request, combined, shifts, n_jobs)
    for part in _blocks(matrix):
        features = new_features(reference, matrix[part], n_jobs)
        moved = aligner.moved(features, codes[part], combined[part], part)
        given = features, codes[part], moved, request.perplexity, n_jobs
        for some, found, made in reference.rows(*given):
            points = some + part.start
            labels = codes[points], combined[points]
            embedding[points] = reference.place(found, made.rows, *labels, n_jobs)
            distance[points] = found.distances.min(axis=1)
            for name in _PER_POINT:
                values = getattr(made, name)
                if values is not None:
                    kept.setdefault(name, np.empty(m, np.float32))[points] = values
        if after_part is not None:
            after_part(part.stop / m)
    far = distance > reference.far_distance
    count = int(far.sum())
    if count > EXPECTED_FAR * m:
        has = "has" if count == 1 else "have"
        warn(
            f"{count} of {m} new points {has} no neighbour in the map closer than "
            f"{reference.far_distance:.3g}; their positions mean little (see 'far' of place)"
            f"{far_hint(count, m)}",
            FarPointsWarning,
        )
    per_point: dict[str, Any] = {name: kept.get(name) for name in _PER_POINT}
    return Placement(embedding, distance, far, reference.far_distance, **per_point)


def far_hint(far: int, m: int) -> str:
    """Return what to check if most of the new points are far; else nothing."""
    if far <= m / 2:
        return ""
    return ". Are the features the same as in the fit, with the same scaling and components?"


def _blocks(matrix: Any) -> list[slice]:
    m, d = matrix.shape
    step = max(1, min(POINTS_AT_ONCE, VALUES_AT_ONCE // d))
    return [slice(begin, min(m, begin + step)) for begin in range(0, m, step)]


def collected_shifts(
    reference: Reference, request: Request, combined: Codes, shifts: Mapping[Any, Any], n_jobs: int
) -> Aligner:
    """Return what moves new points, after a look at all points of new labels."""
    first = len(reference.columns[0].counts) if reference.columns else 0
    known = {
        first + number: np.asarray(shifts[name], np.float64)
        for number, name in enumerate(request.names)
        if name in shifts
    }
    aligner = Aligner(reference, request.aligned, known, n_jobs)
    if aligner.new_labels(combined):
        for part in _blocks(request.matrix):
            aligner.collect(new_features(reference, request.matrix[part], n_jobs), combined[part])
    return aligner


def new_features(reference: Reference, matrix: Any, n_jobs: int) -> Any:
    """Return new points in the space in which neighbours are searched."""
    if reference.features is None:
        return matrix
    if reference.projection is not None:
        return reference.projection(matrix, n_jobs=n_jobs)
    dense = matrix.toarray() if is_sparse(matrix) else matrix
    return np.ascontiguousarray(dense, reference.features.dtype)


def new_label_shifts(
    reference: Reference, request: Request, n_jobs: int
) -> dict[Any, NDArray[np.float64]]:
    """Estimate the shift of every label that is not in the map, if that is aligned."""
    # Points that are placed in several parts, with these shifts given, land as in one part.
    if len(reference.columns) != 1 or reference.alignment.name in ("none", "array"):
        return {}
    aligner = collected_shifts(reference, request, request.codes[:, 0], {}, n_jobs)
    first = len(reference.columns[0].counts)
    return {name: aligner.shift(first + number) for number, name in enumerate(request.names)}
