"""Colours for many labels: those that lie next to each other in a map look different."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Column
from ctsne.pl.perception import color_distances

# Points of a label that are looked at, neighbours of each, and of labels by their centres.
_SAMPLE, _NEIGHBORS, _CENTRES = 300, 15, 6
# Labels that touch count in full, those that only lie near this much.
_NEAR = 0.5
# Distance (in OKLab) below which the cost of a pair of colours stops growing fast.
_SOFT = 0.04
# How much the size of labels counts: that of the largest is one.
_SIZE_POWER = 0.25


def arrange(labels: Column, positions: NDArray[np.floating], colors: Sequence[str]) -> list[str]:
    """Give each label one of the colours, as many as there are labels."""
    near = _nearness(labels, positions)
    cost = 1 / (color_distances(colors) + _SOFT) ** 2
    chosen = _greedy(near, cost, np.argsort(-labels.counts, kind="stable"))
    _improve(near, cost, chosen)
    return [colors[place] for place in chosen]


def _nearness(labels: Column, positions: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return how much each pair of labels touches in the map, with more weight on large ones."""
    from scipy.spatial import cKDTree

    n = labels.n_labels
    rows, codes = sampled(labels, _SAMPLE)
    points = np.asarray(positions[rows], np.float64)
    found = np.atleast_2d(cKDTree(points).query(points, min(_NEIGHBORS + 1, len(points)))[1])
    pairs = codes[:, None] * n + codes[found]
    counts = np.bincount(pairs.ravel(), minlength=n * n).reshape(n, n).astype(np.float64)
    np.fill_diagonal(counts, 0)  # only neighbours with other labels
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    touching = np.maximum(shares, shares.T)
    ends = np.flatnonzero(np.diff(codes, append=n)) + 1
    centres = np.array([np.median(part, axis=0) for part in np.split(points, ends[:-1])])
    near = np.asarray(cKDTree(centres).query(centres, min(_CENTRES + 1, n))[1])
    beside = np.zeros((n, n))
    np.put_along_axis(beside, near, _NEAR / (1 + np.arange(near.shape[1])), axis=1)
    size = (labels.counts / labels.counts.max()) ** _SIZE_POWER
    weight: NDArray[np.float64] = (touching + np.maximum(beside, beside.T)) * size[:, None] * size
    np.fill_diagonal(weight, 0)
    return weight


def sampled(labels: Column, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a limited number of points per label, in the order of the labels, and their codes."""
    order = np.random.default_rng(0).permutation(len(labels.codes))
    codes = labels.codes[order]
    order = order[np.argsort(codes, kind="stable")][labels.n_missing :]
    rank = np.arange(len(order)) - np.repeat(
        np.cumsum(labels.counts) - labels.counts, labels.counts
    )
    rows = order[rank < most]
    return rows, labels.codes[rows].astype(np.int64)


def _greedy(
    near: NDArray[np.float64], cost: NDArray[np.float64], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Choose for each label, the largest first, the colour that differs most from those around."""
    chosen = np.full(len(order), -1)
    free = np.ones(len(order), bool)
    for label in order:
        done = chosen >= 0
        # The nearness to none is added, so that the first labels take the first colours.
        paid = cost[:, chosen[done]] @ near[label, done] + 1e-9 * np.arange(len(order))
        chosen[label] = np.where(free, paid, np.inf).argmin()
        free[chosen[label]] = False
    return chosen


def _improve(
    near: NDArray[np.float64], cost: NDArray[np.float64], chosen: NDArray[np.int64]
) -> None:
    """Swap the colours of the two labels that gain most, until no swap gains."""
    own = np.diag(cost)
    for _ in range(20 * len(chosen)):
        paid = near @ cost[chosen]  # of a label with a colour, the others as they are
        here = np.take_along_axis(paid, chosen[:, None], axis=1)
        there = paid[:, chosen]
        each = cost[np.ix_(chosen, chosen)]
        # The two labels themselves change too: their pair costs as much as before.
        change = there + there.T - here - here.T
        change += near * (2 * each - own[chosen][:, None] - own[chosen])
        first, second = np.unravel_index(change.argmin(), change.shape)
        if change[first, second] >= -1e-9:
            return
        chosen[[first, second]] = chosen[[second, first]]
