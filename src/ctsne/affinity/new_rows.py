"""Similarities of new points to the points of a finished map, by the method of the fit.

A new point has a row of its own, which is not symmetrised: nothing in the map changes for it. Its
lists are shorter than those of the fit, so weights on other labels are calibrated anew, on points
of the map that are treated as new.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from ctsne.affinity.rows import Rows
from ctsne.affinity.shares import LARGEST_LOG_WEIGHT, filled_shares, log_shares, solve_weight
from ctsne.affinity.weights import LEAST_MATCHED, Floats, PerLabel, list_log_weights
from ctsne.neighbors import Neighbors
from ctsne.neighbors.lists import product_shares
from ctsne.neighbors.matching import SMOOTHED
from ctsne.neighbors.patterns import differing_lists

Codes = NDArray[np.int32]
# Length of each list of ``joint`` in units of the perplexity, and of all lists of other methods.
_JOINT_LIST, _LISTS = 5 / 3, 3.0
# How far the shares of ``revised`` and ``balanced`` move a row from its natural shares, at most.
NAMING = 0.5
ALONE = 2.0  # the perplexity of points of new labels, relative to that of others
_ROUNDS = 50  # coordinates of a weight for each column are solved in turn, at most this often


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """One label column of the map, as the method conditions on it."""

    codes: Codes  # (n,)
    counts: NDArray[np.int64]  # (L,)
    knob: Floats  # strength or beta per label
    share: Floats  # of other labels in the rows of the fit, per point
    matched: Floats  # how well the points of the map are matched
    # Weights of pairs with the same label and with different labels in the map; ones if it is not
    # conditioned.
    alpha: Floats
    beta: Floats

    def known(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which codes are labels of the map: neither missing nor new."""
        return (codes >= 0) & (codes < len(self.counts))

    def of_label(self, values: Floats, codes: Codes) -> Floats:
        """Return the value of each label; zero for missing and new labels."""
        return np.append(values, 0.0)[np.where(self.known(codes), codes, -1)]


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows of new points, and their diagnostics; see :class:`ctsne.affinity.Diagnostics`."""

    rows: NDArray[np.float32]
    perplexity: Floats
    largest_weight: Floats
    other_share: Floats | None
    matched: Floats | None


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Makes the rows of new points."""

    method: str  # "tsne" for similarities without labels
    columns: Sequence[FittedColumn]  # none for "tsne"
    patterns: tuple[int, ...]  # the lists of the fit; see ctsne.neighbors.Neighbors
    n_jobs: int

    @property
    def calibrated(self) -> bool:
        """Whether rows need weights from :meth:`weights`."""
        return bool(self.columns) and self.method != "revised"

    def lengths(self, codes: Codes, perplexity: float, n: int) -> NDArray[np.int32]:
        """Return the wanted lengths of all lists of new points among ``n`` points."""
        lists = len(self.patterns)
        if self.method == "joint" or self.method == "revised":
            joint = _JOINT_LIST * perplexity / (1 if lists <= 4 else 2)
            each = ceil(joint if self.method == "joint" else _LISTS * perplexity / 2)
            return np.full((len(codes), lists), min(each, n), np.int32)
        total = min(ceil(_LISTS * perplexity), n)
        share = np.full((len(codes), lists), 1 / lists)
        if self.method == "balanced":
            random = product_shares(self._random_shares(codes), self.patterns)
            strength = self._knobs(codes).mean(axis=1, keepdims=True)
            share += strength * (random - share)
        ends = np.floor(total * np.cumsum(share, axis=1) + 1e-6).astype(np.int32)
        ends[:, -1] = total
        return np.diff(np.maximum(ends, 1), axis=1, prepend=0).astype(np.int32)

    def weights(self, found: Neighbors, codes: Codes, points: NDArray[np.integer]) -> list[Floats]:
        """Calibrate the log weights per label of each column, on lists of points of the map."""
        # Their mean share of other labels becomes that of the fit, for equal strengths together.
        natural = log_shares(found, found.indices.shape[1] / 2, self.n_jobs)
        weights = [np.zeros(len(column.counts)) for column in self.columns]
        matched = self._matched(found, codes)
        for _ in range(_ROUNDS if len(self.columns) > 1 else 1):
            before = [array.copy() for array in weights]
            for c, column in enumerate(self.columns):
                log_odds = self._log_odds(natural, codes, matched, weights, c)
                for level in np.unique(column.knob):
                    labels, share = column.knob == level, column.share[points]
                    if self.method != "joint" and level != 1:  # what it was before the strength
                        share = (share - level * self._random_shares(codes)[:, c]) / (1 - level)
                    of_level = column.known(codes[:, c]) & np.append(labels, False)[codes[:, c]]
                    if of_level.any():
                        wanted = float(share[of_level].mean())
                        weights[c][labels] = solve_weight(log_odds[of_level], wanted)
            change = max(np.abs(a - b).max() for a, b in zip(before, weights, strict=True))
            if change < 1e-6:
                break
        return weights

    def rows(self, found: Neighbors, codes: Codes, weights: PerLabel, perplexity: float) -> NewRows:
        """Return the rows of new points with these lists."""
        if not self.columns:  # t-SNE
            rows, target = Rows(found, n_jobs=self.n_jobs), min(perplexity, found.indices.shape[1])
            made, about, _ = rows.similarities(*rows.bandwidths(target, weighted=False))
            return NewRows(made, about.perplexity, about.largest_weight, None, None)
        natural = log_shares(found, found.indices.shape[1] / 2, self.n_jobs)
        matched = self._matched(found, codes)
        if self.method == "joint":
            shares = softmax(natural + self._weighed(codes, matched, weights), axis=1)
        else:
            plain = softmax(natural, axis=1)
            if self.method == "balanced":
                shares = self._balanced(natural, codes, weights)
            else:
                counts, betas = [x.counts for x in self.columns], [x.knob for x in self.columns]
                known = np.where(codes < [*map(len, counts)], codes, -1)
                given = list_log_weights(self.patterns, known, counts, betas)
                shares = softmax(natural + given, axis=1)
            # A fitted point gets half of its weight from points that list it as a neighbour. No
            # point lists a new one, so its unconditioned similarities replace that half, and more
            # than half if few points of other labels list its neighbours.
            trust = NAMING * np.nan_to_num(matched.min(axis=1, keepdims=True), nan=2.0)
            shares = plain + trust * (shares - plain)
        # The lists are calibrated separately, each to its share of the perplexity.
        shares = filled_shares(shares, found.lengths)
        # Without points of the own label, those of others are less reliable one by one.
        total = np.where(found.lengths[:, :1] > 0, perplexity, ALONE * perplexity)
        perplexities = np.clip(shares * total, 1.0, np.maximum(found.lengths, 1))
        rows = Rows(found, n_jobs=self.n_jobs)
        made, about, _ = rows.similarities(*rows.split_bandwidths(perplexities), shares=shares)
        parts = about.perplexity, about.largest_weight, about.other_share
        return NewRows(made, *parts, matched.min(axis=1))

    def _matched(self, found: Neighbors, codes: Codes) -> Floats:
        """Return how well the nearest points with the same labels are matched, per column."""
        near = found.indices[:, :SMOOTHED]
        first = np.arange(near.shape[1]) < found.lengths[:, :1]
        out = np.ones(codes.shape)
        for c, column in enumerate(self.columns):
            alike = first & (column.codes[near] == codes[:, c : c + 1])
            count = alike.sum(axis=1)
            total = np.where(alike, column.matched[near], 0.0).sum(axis=1)
            mean = total / np.maximum(count, 1)
            out[:, c] = np.where(codes[:, c] < 0, 1.0, np.where(count > 0, mean, np.nan))
        return out

    @cached_property
    def _differs(self) -> NDArray[np.bool_]:
        return differing_lists(self.patterns, len(self.columns))

    def _weighed(self, codes: Codes, matched: Floats, weights: PerLabel) -> Floats:
        """Return the log factor of ``joint`` on every list."""
        out = np.zeros((len(codes), len(self.patterns)))
        for c, column in enumerate(self.columns):
            known = column.known(codes[:, c])
            log_matched = np.log(np.maximum(np.nan_to_num(matched[:, c], nan=1.0), LEAST_MATCHED))
            factor = np.where(known, log_matched + column.of_label(weights[c], codes[:, c]), 0.0)
            out += np.where(self._differs[c], factor[:, None], 0.0)
        return out

    def _log_odds(
        self, natural: Floats, codes: Codes, matched: Floats, weights: PerLabel, c: int
    ) -> Floats:
        others = [np.zeros_like(each) if k == c else each for k, each in enumerate(weights)]
        total = natural
        if self.method == "joint":
            total = natural + self._weighed(codes, matched, others)
        differs = self._differs[c]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = logsumexp(total[:, differs], axis=1) - logsumexp(total[:, ~differs], axis=1)
        return np.clip(np.nan_to_num(odds), -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT)

    def _balanced(self, natural: Floats, codes: Codes, weights: PerLabel) -> Floats:
        shares, knobs = [], self._knobs(codes)
        for c, column in enumerate(self.columns):
            log_odds = self._log_odds(natural, codes, np.ones(codes.shape), weights, c)
            plain = expit(log_odds + column.of_label(weights[c], codes[:, c]))
            mixed = plain + knobs[:, c] * (self._random_shares(codes)[:, c] - plain)
            # A new label differs from all, whatever the strength.
            mixed = np.where(codes[:, c] >= len(column.counts), plain, mixed)
            shares.append(np.where(codes[:, c] < 0, 0.0, mixed))
        return product_shares(np.stack(shares, axis=1), self.patterns)

    def _random_shares(self, codes: Codes) -> Floats:
        """Return the share of other labels among random points of the map, per column."""
        shares = []
        for c, column in enumerate(self.columns):
            labelled, n = column.counts.sum(), len(column.codes)
            known = column.of_label((labelled - column.counts) / n, codes[:, c])
            shares.append(np.where(codes[:, c] >= len(column.counts), labelled / n, known))
        return np.stack(shares, axis=1)

    def _knobs(self, codes: Codes) -> Floats:
        each = [column.of_label(column.knob, codes[:, c]) for c, column in enumerate(self.columns)]
        return np.stack(each, axis=1)
