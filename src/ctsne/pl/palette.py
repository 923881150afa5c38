"""Colours: one per label, per method and per measure, the same in every picture."""

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ctsne._core.messages import label_text, quoted, shown, unknown
from ctsne._core.vocabulary import split_measure
from ctsne.io.anndata import STORED_COLORS
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

# The first six are Okabe and Ito's, which differ for every common kind of colour blindness. Each of
# the others is the one farthest from those before it, from grey, white and black (OKLab), for
# normal vision and, with less weight, for red-green blindness. All are seen on white and on black.
_COLORS = """
    #0072B2 #E69F00 #009E73 #D55E00 #CC79A7 #56B4E9 #AA0066 #5522AA #8877FF #335500 #00CC66 #995544
    #BBDD11 #00EECC #7744DD #774488 #88DDFF #AA0000 #FF9999 #664444 #BB33AA #EECC99 #FF77DD #225566
    #FF3377 #1122CC #DD44DD #770088 #AA9944 #778833 #3355FF #33CCAA #BB4477 #4488DD #9977BB #7799BB
    #8899FF #AABBFF #887755 #77DD66 #EE1199 #DDAACC #BB4400 #BB9999 #4444BB #DDBB00 #008888 #FF44CC
    #DDAA77 #5522DD #007744 #00EE99 #665533 #CC8800 #9955CC #AA0099 #AA6699 #557766 #776611 #666688
"""
COLORS = tuple(_COLORS.split())
# The most frequent labels share the first of these, those that follow the next, and so on. A label
# has one of so many first colours by its name or, if that is taken, one of the others.
_TIERS = ((COLORS[:10], 6), (COLORS[10:24], 8), (COLORS[24:], 20))
# From a colour that is taken to the next; it has no factor in common with the size of a tier.
_STEP = 17
# With this, usual names of few labels, such as ctrl and stim, have six different first colours.
_SALT = (65172).to_bytes(2, "big")


def palette(labels: object) -> dict[Hashable, str]:
    """Choose a colour for each label, by its name.

    A label keeps its colour in a subset of the data, and in other data unless another label there
    has taken it. The ten most frequent labels differ most, for colour-blind readers too; up to
    sixty have colours of their own, seen on white and on black. A column of an .h5ad file to which
    scanpy has given colours keeps those.

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
    >>> pl.palette(["sky", "sea", None, "sea"])
    {'sea': '#CC79A7', 'sky': '#D55E00', None: '#B8B8B8'}
    """
    column = encode_column(labels)
    found: dict[Any, str] = stored_colors(labels, column) or _by_name(column)
    return found | ({None: MISSING} if column.n_missing else {})


def _by_name(column: Column) -> dict[Any, str]:
    texts = (label_text(name).encode("utf-8", "replace") for name in column.names)
    hashes = [int(blake2b(text, digest_size=8, salt=_SALT).hexdigest(), 16) for text in texts]
    # Counts by their powers of two, because those of a sample are not in the same order; without
    # them where all labels fit into the first tier, so that a sample never swaps two colours.
    codes, many = range(column.n_labels), column.n_labels > len(_TIERS[0][0])
    sizes = [int(count).bit_length() * many for count in column.counts]
    order = sorted(codes, key=lambda code: (sizes[code], hashes[code]), reverse=True)
    color_of: dict[int, str] = {}
    for tier, first in itertools.cycle(_TIERS):
        own, order, taken = order[: len(tier)], order[len(tier) :], set[int]()
        for code in own:
            further, place = divmod(hashes[code], first)
            if place in taken:
                place = first + further % (len(tier) - first)
            while place in taken:
                place = (place + _STEP) % len(tier)
            taken.add(place)
            color_of[code] = tier[place]
        if not order:
            break
    return {name: color_of[code] for code, name in enumerate(column.names)}


def stored_colors(labels: Any, column: Column) -> dict[Any, str] | None:
    """Return the colours that a column of an .h5ad file has brought along, if for all labels."""
    stored = getattr(labels, "attrs", {}).get(STORED_COLORS, {})
    found = {name: stored.get(label_text(name)) for name in column.names}
    return found if found and None not in found.values() else None


def label_colors(labels: Column, chosen: Any, given: Any = None) -> list[str]:
    """Return the colour of each code, and last that of missing labels, whose code is -1."""
    # The column as ``given`` may have brought its colours along.
    colors, hexes = load("colors"), []
    if chosen is None:
        chosen = stored_colors(given, labels) or _by_name(labels)
    if isinstance(chosen, str):
        chosen = _of_colormap(chosen, labels.n_labels)
    if isinstance(chosen, Sequence):
        if not chosen:
            raise ValueError("palette must hold at least one colour, got an empty list")
        chosen = dict(zip(labels.names, itertools.cycle(chosen), strict=False))
    if not isinstance(chosen, Mapping):
        wanted = "a mapping from labels to colours, a list of colours or the name of a colour map"
        raise TypeError(f"palette must be {wanted}, got {type(chosen).__name__}")
    by_text = {label_text(name): color for name, color in chosen.items() if name is not None}
    given = {name: chosen.get(name, by_text.get(label_text(name))) for name in labels.names}
    if absent := [name for name, color in given.items() if color is None]:
        what = quoted(absent, most=3)
        raise ValueError(f"palette has no colour for {what}; make it from all labels")
    for name, color in (*given.items(), (None, chosen.get(None, MISSING))):
        if not colors.is_color_like(color):
            what = f"{shown(color)} for {shown(name)}"
            raise ValueError(f"palette must hold matplotlib colours, got {what}")
        hexes.append(colors.to_hex(color))
    return hexes


def _of_colormap(name: str, count: int) -> list[Any]:
    """Return colours of a colour map: those that it lists, or some evenly spaced ones."""
    known = load().colormaps
    if name not in known:
        text = unknown(name, list(known), what="colour map", where="matplotlib")
        raise ValueError(f"palette: {text}")
    scale = known[name]
    listed = getattr(scale, "colors", ())
    if 0 < len(listed) < 100:  # longer lists are scales of numbers, such as that of viridis
        return list(listed)
    return [scale(place / max(1, count - 1)) for place in range(count)]


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
