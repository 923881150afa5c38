"""Colours: one per label, per method and per measure, the same in every picture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features
from ctsne._core.messages import quoted, shown
from ctsne._core.vocabulary import split_measure
from ctsne.labels import Column, encode_column
from ctsne.methods import METHODS
from ctsne.pl.figures import load

# Points without a label, and those of a map in which others were placed, which are lighter.
MISSING, REFERENCE = "#B8B8B8", "#DADADA"

# Methods and measures, in figures and on the page. Both sets keep a contrast of 3 to 1 with white
# and with a dark page, and their colours differ for red-green blind readers too (OKLab).
METHOD_COLORS = {name: method.color for name, method in METHODS.items()}
# One colour per label column; a fourth column begins again.
MEASURE_COLORS = {
    "mixing": ("#4499DD", "#8844FF", "#BB8877"),
    "adjusted_rnx": ("#667700",),
    "other_mixing": ("#CC2288",),
}
_OTHER_MEASURE = "#777777"

# Okabe and Ito's, which differ for every common kind of colour blindness; black and yellow, hard to
# see among others, come last.
_OKABE_ITO = "#0072B2 #E69F00 #009E73 #D55E00 #CC79A7 #56B4E9 #000000 #F0E442"
COLORS = tuple(_OKABE_ITO.split())
# For more labels: neither near black nor near white, so that all are seen on any page. After the
# first six, each is the one farthest from all before it, from grey, white and black (OKLab), for
# normal vision and, with less weight, for red-green blindness.
_FURTHER = """
    #881166 #445511 #88EE55 #9955FF #5522BB #22EEDD #CC1199 #885555 #88BB66 #FF3377 #AA0000 #7788EE
    #FF9988 #FF88FF #BBDD99 #DD55DD #0044DD #888844 #DDBBFF #444488 #CC0055 #CCCC00 #5566DD #0099CC
    #885599 #226677 #EEBB77 #AA44BB #886622 #FF7799 #990099 #DD99CC #997799 #FFBBBB #AA9900 #CC8855
    #AA3377 #558800 #8899BB #00CC33 #FF55BB #883344 #CC6666 #6644AA #558877 #88CCDD #6644EE #BB88FF
    #DD3322 #7722CC #44DDAA #AA6655 #664433 #CCBB55
"""
MANY_COLORS = (*COLORS[:6], *_FURTHER.split())

# More labels than this are not arranged: no reader tells so many colours apart.
_MOST_ARRANGED = 120
# Points of a label that are looked at, neighbours of each, and of labels by their centres.
_SAMPLE, _NEIGHBORS, _CENTRES = 300, 15, 6
# Labels that touch count in full, those that only lie near this much.
_NEAR = 0.5
# Distance (in OKLab) below which the cost of a pair of colours stops growing fast.
_SOFT = 0.04
# How much the size of labels counts: that of the largest is one.
_SIZE_POWER = 0.25

# Linear RGB as normal, red-blind and green-blind eyes see it (Machado et al. 2009, severity 1).
_RED_BLIND = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
_GREEN_BLIND = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]
_VISIONS = np.array([np.eye(3), _RED_BLIND, _GREEN_BLIND])
# From linear RGB to OKLab (Ottosson 2020), with a cube root between the two.
_TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
_TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
# Distances are shorter without red or green, so they count this many times.
_BLIND_WEIGHT = 2.2


def palette(labels: object, embedding: ArrayLike | None = None) -> dict[Hashable, str]:
    """Choose a colour for each label.

    Up to eight labels get the colours of Okabe and Ito, safe for colour-blind readers; more get
    colours that differ as much as possible and are seen on white and on black. More than sixty
    labels share colours. Without a map, the same set of labels always gets the same colours,
    whatever its order and counts.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column.
    embedding : array-like of shape (n, d), optional
        A map. More than eight labels are then given their colours such that neighbours in the map
        look different, large labels first. Pass the result to all pictures of these labels.

    Returns
    -------
    dict of label to str
        Hexadecimal colours in the order of the labels; grey under None if labels are missing.

    Examples
    --------
    >>> from ctsne import pl
    >>> pl.palette(["orange", "blue", None, "blue"])
    {'blue': '#0072B2', 'orange': '#E69F00', None: '#B8B8B8'}
    """
    column = encode_column(labels)
    # Encoded again as a plain list, which is sorted: the order of categories has no effect.
    in_order = encode_column(list(column.names)).names
    colors = COLORS if column.n_labels <= len(COLORS) else MANY_COLORS
    color_of = {name: colors[rank % len(colors)] for rank, name in enumerate(in_order)}
    if embedding is not None:
        n = len(column.codes)
        positions = check_features(embedding, argument="embedding", least=1)
        if len(positions) != n:
            raise ValueError(f"embedding must have {n} rows, one per label, got {len(positions)}")
        if len(COLORS) < column.n_labels <= _MOST_ARRANGED:
            chosen = _arrange(_sorted(column, in_order), positions, list(color_of.values()))
            color_of = dict(zip(in_order, chosen, strict=True))
    found: dict[Any, str] = {name: color_of[name] for name in column.names}
    if column.n_missing:
        found[None] = MISSING
    return found


def _sorted(column: Column, in_order: Sequence[Any]) -> Column:
    """Return labels whose codes follow the order of their names."""
    rank = {name: place for place, name in enumerate(in_order)}
    places = np.array([rank[name] for name in column.names] + [-1], np.int32)
    codes = places[column.codes]
    return Column(codes, tuple(in_order), np.bincount(codes[codes >= 0], minlength=len(in_order)))


def label_colors(
    labels: Column, palette_: Mapping[Any, Any] | None, embedding: ArrayLike | None = None
) -> list[str]:
    """Return the colour of each code, and last that of missing labels, whose code is -1."""
    chosen = palette(labels, embedding) if palette_ is None else palette_
    if not isinstance(chosen, Mapping):
        kind = type(chosen).__name__
        raise TypeError(f"palette must be a mapping from labels to colours, got {kind}")
    absent = [name for name in labels.names if name not in chosen]
    if absent:
        raise ValueError(
            f"palette has no colour for {quoted(absent, most=3)}; make it from all labels"
        )
    colors, hexes = load("colors"), []
    for name in (*labels.names, None):
        color = chosen.get(name, MISSING)
        if not colors.is_color_like(color):
            raise ValueError(
                f"palette must hold matplotlib colours, got {shown(color)} for {shown(name)}"
            )
        hexes.append(colors.to_hex(color))
    return hexes


def measure_colors(names: Iterable[str]) -> dict[str, str]:
    """Choose a colour for each measure; the mixing of several columns differs by column."""
    chosen: dict[str, str] = {}
    used: dict[str, int] = {}
    for name in names:
        base, _ = split_measure(name)
        colors = MEASURE_COLORS.get(base, (_OTHER_MEASURE,))
        chosen[name] = colors[used.get(base, 0) % len(colors)]
        used[base] = used.get(base, 0) + 1
    return chosen


def oklab(colors: Sequence[str]) -> NDArray[np.float64]:
    """Return hexadecimal colours in OKLab, as normal, red-blind and green-blind eyes see them."""
    rgb = np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors])
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(light @ _VISIONS.transpose(0, 2, 1), 0, 1)
    lab: NDArray[np.float64] = np.cbrt(seen @ np.transpose(_TO_CONES)) @ np.transpose(_TO_LAB)
    return lab


def color_distances(colors: Sequence[str]) -> NDArray[np.float64]:
    """Return the distance of each pair of hexadecimal colours: for the eyes that see least."""
    lab = oklab(colors)
    apart = np.linalg.norm(lab[:, :, None] - lab[:, None], axis=-1)
    least: NDArray[np.float64] = np.minimum(apart[0], _BLIND_WEIGHT * apart[1:].min(axis=0))
    return least


def _arrange(labels: Column, positions: NDArray[np.floating], colors: Sequence[str]) -> list[str]:
    """Give labels the colours, as many as there are, such that neighbours look different."""
    near = _nearness(labels, positions)
    cost = 1 / (color_distances(colors) + _SOFT) ** 2
    chosen = _greedy(near, cost, np.argsort(-labels.counts, kind="stable"))
    _improve(near, cost, chosen)
    return [colors[place] for place in chosen]


def _nearness(labels: Column, positions: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return how much each pair of labels touches in the map, with more weight on large ones."""
    from scipy.spatial import cKDTree

    n = labels.n_labels
    rows, codes = sample_labels(labels, _SAMPLE)
    points = np.asarray(positions[rows], np.float64)
    found = np.atleast_2d(cKDTree(points).query(points, min(_NEIGHBORS + 1, len(points)))[1])
    pairs = codes[:, None] * n + codes[found]
    counts = np.bincount(pairs.ravel(), minlength=n * n).reshape(n, n).astype(np.float64)
    np.fill_diagonal(counts, 0)  # only neighbours with other labels
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    touching = np.maximum(shares, shares.T)
    ends = np.flatnonzero(np.diff(codes, append=n)) + 1
    centres = np.array([np.median(own, axis=0) for own in np.split(points, ends[:-1])])
    near = np.asarray(cKDTree(centres).query(centres, min(_CENTRES + 1, n))[1])
    beside = np.zeros((n, n))
    np.put_along_axis(beside, near, _NEAR / (1 + np.arange(near.shape[1])), axis=1)
    size = (labels.counts / labels.counts.max()) ** _SIZE_POWER
    weight: NDArray[np.float64] = (touching + np.maximum(beside, beside.T)) * size[:, None] * size
    np.fill_diagonal(weight, 0)
    return weight


def sample_labels(labels: Column, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return at most so many points per label, in the order of the labels, and their codes."""
    order = np.random.default_rng(0).permutation(len(labels.codes))
    order = order[np.argsort(labels.codes[order], kind="stable")][labels.n_missing :]
    starts = np.cumsum(labels.counts) - labels.counts
    rank = np.arange(len(order)) - np.repeat(starts, labels.counts)
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
        # Break ties in palette order: the first labels take the first colours.
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
        # The two labels themselves change too: their pair costs as much as before.
        change = there + there.T - here - here.T
        change += near * (2 * cost[np.ix_(chosen, chosen)] - own[chosen][:, None] - own[chosen])
        first, second = np.unravel_index(change.argmin(), change.shape)
        if change[first, second] >= -1e-9:
            return
        chosen[[first, second]] = chosen[[second, first]]
