"""Colours: one per label, per method and per measure, the same in every picture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

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


def palette(labels: object) -> dict[Hashable, str]:
    """Choose a colour for each label, by its place among the sorted labels.

    Up to eight labels get the colours of Okabe and Ito, safe for colour-blind readers; more get
    colours that differ as much as possible and are seen on white and on black. More than sixty
    labels share colours. The same set of labels always gets the same colours, whatever its order
    and counts.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Any label column. For a subset of points, pass the palette of all of them to the pictures.

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
    found: dict[Any, str] = {name: color_of[name] for name in column.names}
    return found | ({None: MISSING} if column.n_missing else {})


def label_colors(labels: Column, palette_: Mapping[Any, Any] | None) -> list[str]:
    """Return the colour of each code, and last that of missing labels, whose code is -1."""
    chosen = palette(labels) if palette_ is None else palette_
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
