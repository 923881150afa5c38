"""Where new points are compared with other labels, if the map was aligned."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne.neighbors.alignment import LOCAL_NEIGHBORS, SAMPLE, moved, shift_to
from ctsne.neighbors.points import unit_rows
from ctsne.placing.reference import Reference

# Points of a new label that its shift is estimated on.
NEW_SAMPLE = 5000
# An odd number whose multiples spread over all 64 bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

_Codes = NDArray[np.int32]
_Floats = NDArray[np.floating]


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

    def new_labels(self, codes: _Codes) -> set[int]:
        """Return the new labels whose points must be collected before any are moved."""
        if self._how in ("none", "array"):
            return set()
        return set(np.unique(codes[codes >= self._n_labels]).tolist()) - set(self._shifts)

    def collect(self, features: _Floats, codes: _Codes) -> None:
        """Keep some points of every new label, chosen by their values alone."""
        for code in self.new_labels(codes):
            points = self._in_unit(features[codes == code]).astype(np.float64)
            keys = _keys(points, self._n_jobs)
            if code in self._new:
                before, their_keys = self._new[code]
                points, keys = np.concatenate([before, points]), np.append(their_keys, keys)
            order = np.argsort(keys, kind="stable")[:NEW_SAMPLE]
            self._new[code] = points[order], keys[order]

    def moved(self, features: Any, labels: _Codes, codes: _Codes, part: slice) -> _Floats | None:
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
        return out

    def _in_unit(self, features: _Floats) -> _Floats:
        return unit_rows(features) if self._reference.metric == "cosine" else features

    def _local_moves(self, features: _Floats, labels: _Codes, codes: _Codes) -> NDArray[np.float64]:
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
        """The move of every point of the map."""
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
