"""Colours: one per label, per method and per measure, the same in every picture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from ctsne._core.messages import listed, shown
from ctsne._core.vocabulary import split_measure
from ctsne.labels import Labels, encode_labels
from ctsne.pl.figures import load

MISSING = "#B8B8B8"

# Methods and measures, in figures and on the page. Both sets keep a contrast of 3 to 1 with white
# and with a dark page, and their colours differ for red-green blind readers too (OKLab).
METHOD_COLORS = {
    "tsne": "#888888", "original": "#BB44BB", "revised": "#2277EE", "balanced": "#008844",
    "joint": "#D9432F",
}  # fmt: skip
# One colour per label column; a fourth column begins again.
MEASURE_COLORS = {
    "mixing": ("#4499DD", "#8844FF", "#BB8877"),
    "adjusted_rnx": ("#667700",),
    "other_mixing": ("#CC2288",),
}
_OTHER_MEASURE = "#777777"

# The first eight are Okabe and Ito's, which differ for every common kind of colour blindness;
# black and yellow, hard to see among others or on white, come last. Each further colour (not near
# white, black or grey) is the one farthest from all before it in OKLab, for normal vision and, with
# less weight, for red-green blindness.
# fmt: off
COLORS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442",
    "#771144", "#5500BB", "#555500", "#9955FF", "#00EE99", "#BB1188", "#33EEFF", "#FF3366",
    "#334466", "#88BB66", "#994444", "#0044DD", "#FFBBDD", "#7788EE", "#FF88FF", "#880099",
    "#CC44CC", "#888844", "#006666", "#99DD00", "#FF55CC", "#663311", "#8877AA", "#665588",
    "#FFBB77", "#FF8899", "#6644BB", "#88DDBB", "#886633", "#BB5588", "#5599BB", "#22CC33",
    "#DD99CC", "#33BB99", "#AA9900", "#CC66FF", "#558811", "#BBCC55", "#BB0011", "#9944CC",
    "#006633", "#6644EE", "#CC6666", "#3344AA", "#CCBBEE", "#552288", "#AA88DD", "#991155",
    "#CC1155", "#BB8888", "#884477", "#EE9966",
)
# fmt: on


def palette(labels: object) -> dict[Hashable, str]:
    """Choose a colour for each label.

    The same set of labels always gets the same colours, whatever its order and counts. The first
    eight are Okabe and Ito's, safe for colour-blind readers; the others differ as much as possible.
    More than sixty labels share colours.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column.

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
    column = encode_labels(labels)
    # Encoded again as a plain list, which is sorted: the order of categories has no effect.
    in_order = encode_labels(list(column.names)).names
    color_of = {name: COLORS[rank % len(COLORS)] for rank, name in enumerate(in_order)}
    chosen: dict[Any, str] = {name: color_of[name] for name in column.names}
    if column.n_missing:
        chosen[None] = MISSING
    return chosen


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


def label_colors(labels: Labels, palette_: Mapping[Any, Any] | None) -> list[str]:
    """Return the colour of each code, and last that of missing labels, whose code is -1."""
    chosen = palette(labels) if palette_ is None else palette_
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
