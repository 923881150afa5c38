"""Colours: one per label, per method and per measure, the same in every picture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne._core.checks import check_features
from ctsne._core.messages import listed, shown
from ctsne._core.vocabulary import split_measure
from ctsne.labels import Column, encode_column
from ctsne.methods import METHODS
from ctsne.pl.arranging import arrange
from ctsne.pl.loading import load

MISSING = "#B8B8B8"

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
COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#F0E442",
)
# For more labels: neither near black nor near white, so that all are seen on any page. After the
# first six, each is the one farthest from all before it, from grey, white and black (OKLab), for
# normal vision and, with less weight, for red-green blindness.
# fmt: off
MANY_COLORS = (
    *COLORS[:6],
    "#881166", "#445511", "#88EE55", "#9955FF", "#5522BB", "#22EEDD", "#CC1199", "#885555",
    "#88BB66", "#FF3377", "#AA0000", "#7788EE", "#FF9988", "#FF88FF", "#BBDD99", "#DD55DD",
    "#0044DD", "#888844", "#DDBBFF", "#444488", "#CC0055", "#CCCC00", "#5566DD", "#0099CC",
    "#885599", "#226677", "#EEBB77", "#AA44BB", "#886622", "#FF7799", "#990099", "#DD99CC",
    "#997799", "#FFBBBB", "#AA9900", "#CC8855", "#AA3377", "#558800", "#8899BB", "#00CC33",
    "#FF55BB", "#883344", "#CC6666", "#6644AA", "#558877", "#88CCDD", "#6644EE", "#BB88FF",
    "#DD3322", "#7722CC", "#44DDAA", "#AA6655", "#664433", "#CCBB55",
)
# fmt: on
# More labels than this are not arranged: no reader tells so many colours apart.
_MOST_ARRANGED = 120


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
            chosen = arrange(_sorted(column, in_order), positions, list(color_of.values()))
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


def measure_colors(names: Iterable[str]) -> dict[str, str]:
    """Choose a colour for each measure; the mixing of several columns differs by column.

    Examples
    --------
    >>> from ctsne.pl.palette import measure_colors
    >>> measure_colors(["mixing (donor)", "mixing (stim)", "adjusted_rnx"])
    {'mixing (donor)': '#4499DD', 'mixing (stim)': '#8844FF', 'adjusted_rnx': '#667700'}
    """
    chosen: dict[str, str] = {}
    used: dict[str, int] = {}
    for name in names:
        base, _ = split_measure(name)
        colors = MEASURE_COLORS.get(base, (_OTHER_MEASURE,))
        chosen[name] = colors[used.get(base, 0) % len(colors)]
        used[base] = used.get(base, 0) + 1
    return chosen


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
            f"palette has no colour for {listed(absent, most=3)}; make it from all labels"
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
