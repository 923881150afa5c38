"""Shared by all figures: sizes, fonts and texts, charts, legends and grids of panels."""

from __future__ import annotations

import functools
import importlib
import logging
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ctsne._core.checks import check_number
from ctsne._core.messages import label_text, shown
from ctsne.labels import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY, RULE = "#222222", "#5f5f5f", "#d0d0d0"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.0
# Inches: the space around and between panels, above each for its title, and for a further line.
GAP, HEADER, TITLE_LINE = 0.14, 0.34, 0.18

# Widths of a page's columns in mm, as most journals print them, and the share of the usual sizes
# of texts and lines at which they are printed: texts of 6 to 8 points.
_COLUMN_WIDTHS = {"single": 89.0, "double": 183.0}
_PRINTED, _PRINTED_DPI, _MM_PER_INCH = 0.7, 300, 25.4
# Figures of a fixed width, in inches.
_WIDTHS: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

# Text properties that keep matplotlib from reading a label as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
# Long names lose their middle, because names mostly differ at their ends.
_START, _END, _LINE = 28, 17, 26
# Fonts that cover most of the world's scripts are tried before others.
_PREFERRED = ("noto sans cjk", "noto sans", "source han sans", "arial unicode", "unifont")
# Fonts that draw a framed sign instead of any character; matplotlib brings one along.
_STAND_INS = ("last resort", "lastresort")
# Families used besides the usual ones.
_further_families: set[str] = set()

# Inches beside or under panels, by their number.
Rooms = Mapping[int, float]
MISSING_TEXT = "missing"
# A legend lists no more labels than this; far more than there are distinct colours.
_MOST_ENTRIES = 100
# Inches per line of a legend, and its maximum number of columns beside a panel.
_LINE_HEIGHT, _MOST_COLUMNS = 0.19, 4


def load(name: str = "") -> Any:
    """Import a module of matplotlib, or the package itself, when something is drawn."""
    try:
        return importlib.import_module(f"matplotlib.{name}" if name else "matplotlib")
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "ctsne[plot]"') from error


# Checks


def check_axes(ax: Any) -> None:
    """Refuse anything but Axes."""
    if not isinstance(ax, load("axes").Axes):
        kind = type(ax).__name__
        raise TypeError(f"ax must be a matplotlib Axes or None (new figure), got {kind}")


def check_width(width: object, given: object = None) -> float | None:
    """Return a width in inches of a new figure: a column's, or a number of millimetres."""
    if width is None:
        return None
    if given is not None:
        raise ValueError("width is that of a new figure; leave it out where axes are given")
    number = _COLUMN_WIDTHS.get(width, width) if isinstance(width, str) else width
    try:
        return check_number(number, "width", low=40, high=1000) / _MM_PER_INCH
    except (TypeError, ValueError) as error:
        wanted = "'single', 'double' or a number of millimetres from 40 to 1000"
        kind = ValueError if isinstance(width, str) else type(error)
        raise kind(f"width must be {wanted}, got {shown(width)}") from None


# Texts and their fonts


def shown_text(label: object) -> str:
    """Return a label's text on one or more lines, shortened if it is very long."""
    text = " ".join(label_text(label).split())
    if len(text) > _START + _END + 1:
        text = f"{text[:_START].rstrip()}…{text[-_END:].lstrip()}"
    # A break inside a word would look like part of it: CD31(-) must not become CD31(- and ).
    lines = textwrap.wrap(text, _LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) or "(empty)"


def text_properties(text: str) -> dict[str, Any]:
    """Return a text as properties of a matplotlib text, with further fonts if it needs any."""
    needed = {ord(char) for char in text if ord(char) > 127 and not char.isspace()}
    manager, families = load("font_manager"), list(load().rcParams["font.family"])
    for name in families if needed else ():
        needed -= _characters(manager.findfont(manager.FontProperties(family=[name])))
    further = []
    for font in sorted(manager.fontManager.ttflist, key=_rank) if needed else ():
        found = _characters(font.fname) & needed
        if found and not any(name in font.name.lower() for name in _STAND_INS):
            further.append(str(font.name))
            needed -= found
    if not further:
        return {"text": text}
    _further_families.update(further)
    # A family may lack the weight of the other texts; matplotlib would log that each time.
    logging.getLogger("matplotlib.font_manager").addFilter(_concerns_usual_fonts)
    return {"text": text, "fontfamily": [*families, *further]}


def _concerns_usual_fonts(record: logging.LogRecord) -> bool:
    return not any(family in record.getMessage() for family in _further_families)


@functools.cache
def _characters(file: str) -> frozenset[int]:
    try:
        return frozenset(load("ft2font").FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def _rank(font: Any) -> tuple[int, bool, str]:
    """Order fonts by how well they suit any text: upright ones of large families first."""
    name = font.name.lower()
    place = next((i for i, part in enumerate(_PREFERRED) if part in name), len(_PREFERRED))
    return place, font.style != "normal" or font.weight not in (400, "normal"), font.name


def set_title(ax: Axes, title: str, *, pad: float = 6.0, **properties: Any) -> None:
    """Write a title above the left end of a panel."""
    scale, text = scale_of(ax), text_properties(title)
    look: dict[str, Any] = {"fontsize": TITLE_SIZE * scale, "fontweight": "bold", "color": INK}
    look |= {"pad": pad * scale, **properties}
    ax.set_title(text.pop("text"), loc="left", **text, **look)


def set_ticks(axis: Any, texts: list[str], **properties: Any) -> None:
    """Write texts as they are at 0, 1, 2, ... of an axis."""
    ready = [text_properties(text) for text in texts]
    families = list(dict.fromkeys(name for text in ready for name in text.get("fontfamily", ())))
    look = {**LITERAL, **properties, **({"fontfamily": families} if families else {})}
    axis.set_ticks(range(len(texts)), [text["text"] for text in ready], **look)


def write_below(ax: Axes, text: str, down: float = 0.0, **look: Any) -> None:
    """Write small text under a panel, some inches below its usual place."""
    scale, shown_as = scale_of(ax), text_properties(text)
    usual = {"color": GREY, "va": "top", "fontsize": SMALL_SIZE * scale, "linespacing": 1.33}
    places = {"xycoords": "axes fraction", "textcoords": "offset points", **LITERAL}
    offset = (0, -72 * down - 5 * scale)
    ax.annotate(shown_as.pop("text"), (0, 0), offset, **{**usual, **places, **shown_as, **look})


# Charts


def scale_of(ax: Axes) -> float:
    """Return the share of the usual size at which texts and lines of a figure are drawn."""
    return _PRINTED if ax.get_figure(root=True) in _WIDTHS else 1.0


def new_figure(width: float | None) -> Any:
    """Return an empty figure, of a fixed width in inches if one is given."""
    dpi = None if width is None else _PRINTED_DPI
    figure = load("pyplot").figure(facecolor="white", dpi=dpi)
    if width is not None:
        _WIDTHS[figure] = width
    return figure


def chart_axes(
    ax: Axes | None, *, width: float = 4.6, height: float = 3.8, fixed: object = None
) -> Axes:
    """Return the given Axes, or those of a new figure that makes room for its texts."""
    wide = check_width(fixed, ax)
    if ax is None:
        figure = new_figure(wide)
        scale = 1.0 if wide is None else _PRINTED
        figure.set_size_inches(wide or width, height * scale)
        figure.set_layout_engine("constrained", w_pad=GAP * scale, h_pad=GAP * scale)
        ax = figure.subplots()
    check_axes(ax)
    return ax


def set_tick_look(ax: Axes) -> None:
    """Give ticks and their texts the colour and the sizes of the figure."""
    scale = scale_of(ax)
    sizes: dict[str, Any] = {"length": 3.5 * scale, "width": 0.8 * scale, "pad": 3.5 * scale}
    ax.tick_params(colors=INK, labelsize=SMALL_SIZE * scale, **sizes)


def finish_chart(
    ax: Axes, *, xlabel: str | None = None, ylabel: str | None = None, grid: Any = None
) -> None:
    """Add axis labels, a light frame, and grid lines behind the data."""
    scale = scale_of(ax)
    if grid is not None:
        ax.grid(axis=grid, color=RULE, linewidth=0.6 * scale)
        ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=GREY, linewidth=0.8 * scale)
    set_tick_look(ax)
    for axis, text in ((ax.xaxis, xlabel), (ax.yaxis, ylabel)):
        axis.label.set(**text_properties(text or ""), fontsize=TEXT_SIZE * scale, color=INK)
        axis.labelpad = 4.0 * scale


def widen(ax: Axes, room: tuple[float, float]) -> None:
    """Make room for a legend to the right of a chart, which keeps its own width if it can."""
    figure: Any = ax.get_figure(root=True)
    width, height = figure.get_size_inches()
    wide, high = room
    # The legend begins at the top of the Axes, below the title.
    width = _WIDTHS.get(figure, width + wide)
    figure.set_size_inches(width, max(height, high + 0.9 * scale_of(ax)))


# Legends


@dataclass(frozen=True)
class Entry:
    """One line of a legend: its text and how its symbol is drawn."""

    text: str
    color: str = INK
    marker: str = "o"
    line: str = "none"
    heading: bool = False


def label_entries(
    labels: Column, colors: list[str] | None = None, markers: list[str] | None = None
) -> list[Entry]:
    """Return an entry per label, and one for missing labels, which come last in both lists."""
    colors = [GREY] * (labels.n_labels + 1) if colors is None else colors
    markers = ["o"] * (labels.n_labels + 1) if markers is None else markers
    texts = map(shown_text, labels.names[:_MOST_ENTRIES])
    entries = [Entry(*look) for look in zip(texts, colors, markers, strict=False)]
    if labels.n_labels > _MOST_ENTRIES:
        entries.append(Entry(f"... and {labels.n_labels - _MOST_ENTRIES} more", marker=""))
    return entries + [Entry(MISSING_TEXT, colors[-1], markers[-1])] * bool(labels.n_missing)


def add_legend(
    ax: Axes, entries: list[Entry], *, height: float | None = None, **placing: Any
) -> tuple[float, float]:
    """Put a legend to the right of the Axes, or as ``placing`` says; return its size in inches."""
    figure: Any = ax.get_figure(root=True)
    scale, line_class = scale_of(ax), load("lines").Line2D
    # More lines than fit into the height, by default that of the Axes, need several columns.
    lines = sum(entry.text.count("\n") + 1 for entry in entries)
    room = max(1, height or ax.bbox.height / figure.dpi)
    sizes = {"linewidth": 1.6 * scale, "markersize": 6.5 * scale, "markeredgewidth": 0}
    handles = [
        line_class([], [], color=entry.color, marker=entry.marker, linestyle=entry.line, **sizes)
        for entry in entries
    ]
    options = {
        "loc": "upper left",
        "bbox_to_anchor": (1.0, 1.0),
        "borderaxespad": 0.4,
        "fontsize": SMALL_SIZE * scale,
        "frameon": False,
        "handletextpad": 0.5,
        "columnspacing": 1.2,
        "alignment": "left",
        "labelcolor": INK,
        "ncols": min(_MOST_COLUMNS, math.ceil(lines * _LINE_HEIGHT * scale / room)),
        "handlelength": 2.0 if any(entry.line != "none" for entry in entries) else 1.0,
        **placing,
    }
    # The texts are set afterwards, because matplotlib drops entries that begin with "_".
    legend = ax.legend(handles, ["" for _ in handles], **options)
    for text, entry in zip(legend.get_texts(), entries, strict=True):
        weight = "bold" if entry.heading else "normal"
        text.set(**text_properties(entry.text), fontweight=weight, **LITERAL)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def add_legend_below(ax: Axes, entries: list[Entry], width: float) -> float:
    """Put a legend below the Axes in as many columns as fit; return its height in inches."""
    below: dict[str, Any] = {"bbox_to_anchor": (0.0, 0.0), "borderaxespad": 0.2}
    for ncols in range(min(len(entries), 12), 0, -1):
        wide, high = add_legend(ax, entries, ncols=ncols, **below)
        if wide <= width:
            break
    return high


# Panels


class PanelGrid:
    """A new figure of panels of equal size; ``side``, their width, and ``header`` are in inches.

    ``shape`` is their height in units of their width. With a fixed ``width``, the panels get what
    the legends leave of it. Rows after the first have a header of ``later`` inches, by default the
    same, and there are ``foot`` inches for text under the last row.
    """

    def __init__(
        self,
        n: int,
        most_columns: int,
        side: float,
        header: float = HEADER,
        width: float | None = None,
        shape: float = 1.0,
        later: float | None = None,
        foot: float = 0.0,
    ) -> None:
        self.figure, self.width, self.shape = new_figure(width), width, shape
        scale = 1.0 if width is None else _PRINTED
        self.side, self.header, self.gap = side, header * scale, GAP * scale
        self.later, self.foot = self.header if later is None else later * scale, foot * scale
        self.ncols = min(most_columns, n)
        self.nrows = math.ceil(n / self.ncols)
        self.panels: list[Axes] = [self.figure.add_axes((0, 0, 1, 1)) for _ in range(n)]
        self.place({})

    @property
    def panel_height(self) -> float:
        """The height of a panel in inches."""
        return self.side * self.shape

    @property
    def height(self) -> float:
        """Inches from the top of the first row of panels to the bottom of the last."""
        return self.nrows * (self.panel_height + self.later + self.gap) - self.later - self.gap

    def place(self, right: Rooms, under: Rooms | None = None, whole: float = 0.0) -> None:
        """Place panels with inches to the right or under some; ``whole`` is a legend's height."""
        beside, between = np.zeros(self.ncols), np.zeros(self.nrows)
        for panel, room in right.items():
            beside[panel % self.ncols] = max(beside[panel % self.ncols], room)
        for panel, room in (under or {}).items():
            between[panel // self.ncols] = max(between[panel // self.ncols], room)
        between[-1] += self.foot
        gaps = (self.ncols + 1) * self.gap
        if self.width is not None:
            self.side = max((self.width - gaps - sum(beside)) / self.ncols, 0.3)
        width = self.ncols * self.side + gaps + sum(beside)
        height = max(self.height + sum(between), whole) + self.header + self.gap
        self.figure.set_size_inches(width, height)
        for panel, ax in enumerate(self.panels):
            row, column = divmod(panel, self.ncols)
            left = self.gap + column * (self.side + self.gap) + sum(beside[:column])
            top = self.header + row * (self.panel_height + self.later + self.gap)
            bottom = 1 - (top + sum(between[:row]) + self.panel_height) / height
            ax.set_position((left / width, bottom, self.side / width, self.panel_height / height))

    def lower_legend(self, panel: int) -> None:
        """Move a legend below a panel of the last row under the text there."""
        legend = self.panels[panel].get_legend()
        if legend is not None and panel // self.ncols == self.nrows - 1:
            legend.set_bbox_to_anchor((0.0, -self.foot / self.panel_height))
