"""Shared parts of all figures: matplotlib, sizes in inches, label texts, panels and legends."""

from __future__ import annotations

import importlib
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import label_text
from ctsne.labels import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

INK, GREY, RULE = "#222222", "#5f5f5f", "#d0d0d0"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.0
# Inches: the space around and between panels, and above each for its title.
GAP, HEADER = 0.14, 0.34

# Text properties that keep matplotlib from reading a label as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
MISSING_TEXT = "missing"
# Long names lose their middle, because names mostly differ at their ends.
_START, _END = 28, 17
_LINE = 26

# A legend lists no more labels than this: there are no more distinct colours.
MOST_ENTRIES = 60
# Inches per line of text in a legend.
_LINE_HEIGHT = 0.19


def load(name: str) -> Any:
    """Import a module of matplotlib when something is drawn."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ctsne[plot]"'
        ) from error


def check_axes(ax: Any, *, argument: str = "ax") -> None:
    """Refuse anything but Axes."""
    if not isinstance(ax, load("axes").Axes):
        raise TypeError(
            f"{argument} must be a matplotlib Axes, or None for a new figure, "
            f"got {type(ax).__name__}"
        )


def new_figure() -> Figure:
    """Make a figure that pyplot shows and closes."""
    figure: Figure = load("pyplot").figure(facecolor="white")
    return figure


def chart_axes(ax: Axes | None, *, width: float = 4.6, height: float = 3.8) -> Axes:
    """Return the given Axes, or those of a new figure that makes room for its texts."""
    if ax is not None:
        check_axes(ax)
        return ax
    figure = new_figure()
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained", w_pad=GAP, h_pad=GAP)
    axes: Axes = figure.subplots()
    return axes


def finish_chart(
    ax: Axes,
    *,
    xlabel: str = "",
    ylabel: str = "",
    title: str | None = None,
    grid: Any = None,
    entries: list[Entry] | None = None,
    widen: bool = False,
) -> None:
    """Add axis labels, a light frame, grid lines behind the data, and a legend at the right.

    ``widen`` makes the figure larger by its legend, so that the chart keeps its own width.
    """
    if grid is not None:
        ax.grid(axis=grid, color=RULE, linewidth=0.6)
        ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    ax.tick_params(colors=INK, labelsize=SMALL_SIZE)
    ax.set_xlabel(xlabel, fontsize=TEXT_SIZE, color=INK)
    ax.set_ylabel(ylabel, fontsize=TEXT_SIZE, color=INK)
    if title is not None:
        set_title(ax, title)
    if entries:
        legend = add_legend(ax, entries)
        if widen:
            figure: Any = legend.get_figure(root=True)
            wide, high = size_in_inches(legend)
            width, height = figure.get_size_inches()
            # The legend begins at the top of the Axes, below the title.
            figure.set_size_inches(width + wide, max(height, high + 0.9))


def set_title(ax: Axes, title: str, **properties: Any) -> None:
    """Write a title above the left end of a panel."""
    look: dict[str, Any] = {"fontsize": TITLE_SIZE, "fontweight": "bold", "color": INK}
    ax.set_title(title, loc="left", **look, **properties)


def shown_text(label: object) -> str:
    """Return a label's text on one or more lines, shortened if it is very long."""
    text = " ".join(label_text(label).split())
    if len(text) > _START + _END + 1:
        text = f"{text[:_START].rstrip()}…{text[-_END:].lstrip()}"
    return "\n".join(textwrap.wrap(text, _LINE)) or "(empty)"


@dataclass(frozen=True)
class PanelGrid:
    """Square panels of equal size; all lengths in inches.

    Placed without a layout engine, and placed again once the size of the legend is known.
    """

    n_panels: int
    most_columns: int
    side: float
    header: float = HEADER

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return max(1, min(self.most_columns, self.n_panels))

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return max(1, -(-self.n_panels // self.ncols))

    @property
    def height(self) -> float:
        """Height of all rows."""
        return self.nrows * (self.side + self.header + GAP)

    def make(self, figure: Figure) -> list[Axes]:
        """Fill a figure with the panels."""
        axes: list[Axes] = list(figure.subplots(self.nrows, self.ncols, squeeze=False).ravel())
        for ax in axes[self.n_panels :]:
            ax.set_axis_off()
        self.place(figure)
        return axes[: self.n_panels]

    def place(self, figure: Figure, *, right: float = 0.0, least_height: float = 0.0) -> None:
        """Set the figure's size, with room to the right of the panels."""
        width = self.ncols * (self.side + GAP) + GAP + right
        height = max(self.height, least_height)
        figure.set_size_inches(width, height)
        figure.subplots_adjust(
            left=GAP / width,
            right=1 - (GAP + right) / width,
            bottom=1 - (self.height - GAP) / height,
            top=1 - self.header / height,
            wspace=GAP / self.side,
            hspace=(GAP + self.header) / self.side,
        )


@dataclass(frozen=True)
class Entry:
    """One line of a legend: its text and how its symbol is drawn."""

    text: str
    color: str = INK
    marker: str = "o"
    line: str = "none"
    heading: bool = False


def color_entries(labels: Labels, colors: list[str]) -> list[Entry]:
    """Return an entry per label in its colour, and one for missing labels."""
    shown = labels.names[:MOST_ENTRIES]
    entries = [Entry(shown_text(name), color) for name, color in zip(shown, colors, strict=False)]
    if labels.n_labels > MOST_ENTRIES:
        entries.append(Entry(f"... and {labels.n_labels - MOST_ENTRIES} more", marker=""))
    return entries + [Entry(MISSING_TEXT, colors[-1])] * bool(labels.n_missing)


def add_legend(
    target: Axes | Figure, entries: list[Entry], *, ncols: int | None = None, **placing: Any
) -> Legend:
    """Put a legend to the right of the Axes, or where ``placing`` says."""
    line_class = load("lines").Line2D
    handles = [
        line_class(
            [], [], color=entry.color, marker=entry.marker, linestyle=entry.line, linewidth=1.6,
            markersize=6.5, markeredgewidth=1.6 if entry.marker == "|" else 0,
        )
        for entry in entries
    ]  # fmt: skip
    if ncols is None:
        root: Any = target.get_figure(root=True)
        ncols = columns_that_fit(entries, target.bbox.height / root.dpi)
    options = {
        "loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.4,
        "fontsize": SMALL_SIZE, "frameon": False, "handletextpad": 0.5, "columnspacing": 1.2,
        "alignment": "left", "labelcolor": INK, "ncols": ncols,
        "handlelength": 2.0 if any(entry.line != "none" for entry in entries) else 1.0,
        **placing,
    }  # fmt: skip
    # The texts are set afterwards, because matplotlib drops entries that begin with "_".
    legend: Legend = target.legend(handles, ["" for _ in handles], **options)
    for text, entry in zip(legend.get_texts(), entries, strict=True):
        text.set(text=entry.text, fontweight="bold" if entry.heading else "normal", **LITERAL)
    return legend


def columns_that_fit(entries: list[Entry], height: float) -> int:
    """Return how many columns keep the legend within a height in inches."""
    lines = sum(entry.text.count("\n") + 1 for entry in entries)
    return max(1, min(4, -(-int(lines * _LINE_HEIGHT * 100) // int(max(height, 1) * 100))))


def size_in_inches(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend."""
    figure: Any = legend.get_figure(root=True)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi
