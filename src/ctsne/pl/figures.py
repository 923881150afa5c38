"""Shared parts of all figures: sizes, label texts, charts and grids of panels."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import as_numbers, check_number
from ctsne._core.messages import label_text, shown
from ctsne.pl.fonts import written
from ctsne.pl.loading import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY, RULE = "#222222", "#5f5f5f", "#d0d0d0"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.0
# Inches: the space around and between panels, and above each for its title.
GAP, HEADER = 0.14, 0.34

# Widths of a page's columns in mm, as most journals print them, and the share of the usual sizes
# of texts and lines at which they are printed: texts of 6 to 8 points.
COLUMNS = {"single": 89.0, "double": 183.0}
_PRINTED, _PRINTED_DPI, _MM_PER_INCH = 0.7, 300, 25.4
# Figures of a fixed width, in inches.
_WIDTHS: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

# Text properties that keep matplotlib from reading a label as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
# Long names lose their middle, because names mostly differ at their ends.
_START, _END, _LINE = 28, 17, 26


def check_axes(ax: Any, *, argument: str = "ax") -> None:
    """Refuse anything but Axes."""
    if not isinstance(ax, load("axes").Axes):
        kind = type(ax).__name__
        raise TypeError(f"{argument} must be a matplotlib Axes or None (new figure), got {kind}")


def check_list(values: Any, *, argument: str, entry: str) -> NDArray[np.float64]:
    """Return numbers in one dimension, at least one of them."""
    numbers = np.asarray(as_numbers(values, argument=argument), np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError(
            f"{argument} must be a list with one entry per {entry}, got shape {numbers.shape}"
        )
    return numbers


def check_width(width: object, given: object = None) -> float | None:
    """Return a width in inches of a new figure: a column's, or a number of millimetres."""
    if width is None:
        return None
    if given is not None:
        raise ValueError("width is that of a new figure; leave it out where axes are given")
    names = ", ".join(map(repr, COLUMNS))
    wanted = f"width must be {names} or a number of millimetres from 40 to 1000"
    if isinstance(width, str):
        if width not in COLUMNS:
            raise ValueError(f"{wanted}, got {shown(width)}")
        return COLUMNS[width] / _MM_PER_INCH
    try:
        return check_number(width, "width", low=40, high=1000) / _MM_PER_INCH
    except (TypeError, ValueError) as error:
        raise type(error)(f"{wanted}, got {shown(width)}") from None


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
    ax.tick_params(
        colors=INK,
        labelsize=SMALL_SIZE * scale,
        length=3.5 * scale,
        width=0.8 * scale,
        pad=3.5 * scale,
    )
    look: dict[str, Any] = {"fontsize": TEXT_SIZE * scale, "color": INK}
    ax.xaxis.label.set(**written(xlabel or ""), **look)
    ax.yaxis.label.set(**written(ylabel or ""), **look)
    ax.xaxis.labelpad = ax.yaxis.labelpad = 4.0 * scale


def widen(ax: Axes, room: tuple[float, float]) -> None:
    """Make room for a legend to the right of a chart, which keeps its own width if it can."""
    figure: Any = ax.get_figure(root=True)
    width, height = figure.get_size_inches()
    wide, high = room
    # The legend begins at the top of the Axes, below the title.
    width = _WIDTHS.get(figure, width + wide)
    figure.set_size_inches(width, max(height, high + 0.9 * scale_of(ax)))


def set_title(ax: Axes, title: str, *, pad: float = 6.0, **properties: Any) -> None:
    """Write a title above the left end of a panel."""
    scale, text = scale_of(ax), written(title)
    look: dict[str, Any] = {"fontsize": TITLE_SIZE * scale, "fontweight": "bold", "color": INK}
    look |= {"pad": pad * scale, **properties}
    ax.set_title(text.pop("text"), loc="left", **text, **look)


def set_ticks(axis: Any, texts: list[str], **properties: Any) -> None:
    """Write texts as they are at 0, 1, 2, ... of an axis."""
    ready = [written(text) for text in texts]
    families = list(dict.fromkeys(name for each in ready for name in each.get("fontfamily", ())))
    look = {**LITERAL, **properties, **({"fontfamily": families} if families else {})}
    axis.set_ticks(range(len(texts)), [each["text"] for each in ready], **look)


def shown_text(label: object) -> str:
    """Return a label's text on one or more lines, shortened if it is very long."""
    text = " ".join(label_text(label).split())
    if len(text) > _START + _END + 1:
        text = f"{text[:_START].rstrip()}…{text[-_END:].lstrip()}"
    # A break inside a word would look like part of it: CD31(-) must not become CD31(- and ).
    lines = textwrap.wrap(text, _LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) or "(empty)"


class PanelGrid:
    """A new figure of panels of equal size; ``side``, their width, and ``header`` are in inches.

    ``shape`` is their height in units of their width. With a fixed ``width``, the panels get what
    the legends leave of it.
    """

    def __init__(
        self,
        n: int,
        most_columns: int,
        side: float,
        header: float = HEADER,
        width: float | None = None,
        shape: float = 1.0,
    ) -> None:
        self.figure, self.width, self.shape = new_figure(width), width, shape
        scale = 1.0 if width is None else _PRINTED
        self.side, self.header, self.gap = side, header * scale, GAP * scale
        self.ncols = min(most_columns, n)
        self.nrows = math.ceil(n / self.ncols)
        self.panels: list[Axes] = [self.figure.add_axes((0, 0, 1, 1)) for _ in range(n)]
        self.place({})

    def stack(self) -> None:
        """Put all panels below each other."""
        self.ncols, self.nrows = 1, len(self.panels)
        self.place({})

    @property
    def rise(self) -> float:
        """The height of a panel in inches."""
        return self.side * self.shape

    @property
    def height(self) -> float:
        """Inches from the top of the first row of panels to the bottom of the last."""
        return self.nrows * (self.rise + self.header + self.gap) - self.header - self.gap

    def place(
        self,
        right: Mapping[int, float],
        below: Mapping[int, float] | None = None,
        whole: float = 0.0,
    ) -> None:
        """Set the figure's size, with inches to the right of some panels and below some.

        ``whole`` is the height of a legend that may reach over all rows.
        """
        below = below or {}
        rooms = [0.0] * self.ncols
        for panel, room in right.items():
            rooms[panel % self.ncols] = max(rooms[panel % self.ncols], room)
        gaps = (self.ncols + 1) * self.gap
        if self.width is not None:
            self.side = max((self.width - gaps - sum(rooms)) / self.ncols, 0.3)
        width = self.ncols * self.side + gaps + sum(rooms)
        under = [0.0] * self.nrows
        for panel, room in below.items():
            under[panel // self.ncols] = max(under[panel // self.ncols], room)
        height = max(self.height + sum(under), whole) + self.header + self.gap
        self.figure.set_size_inches(width, height)
        for panel, ax in enumerate(self.panels):
            row, column = divmod(panel, self.ncols)
            left = self.gap + column * (self.side + self.gap) + sum(rooms[:column])
            top = self.header + row * (self.rise + self.header + self.gap) + sum(under[:row])
            bottom = 1 - (top + self.rise) / height
            ax.set_position((left / width, bottom, self.side / width, self.rise / height))
