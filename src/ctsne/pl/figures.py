"""Shared parts of all figures: matplotlib, sizes in inches, label texts, panels and legends."""

from __future__ import annotations

import importlib
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import as_numbers
from ctsne._core.messages import label_text
from ctsne.labels import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY, RULE = "#222222", "#5f5f5f", "#d0d0d0"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.0
# Inches: the space around and between panels, above each for its title, and per line of a legend.
GAP, HEADER, _LINE_HEIGHT = 0.14, 0.34, 0.19

# Text properties that keep matplotlib from reading a label as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
MISSING_TEXT = "missing"
# Long names lose their middle, because names mostly differ at their ends.
_START, _END, _LINE = 28, 17, 26
# A legend lists no more labels than this: there are no more distinct colours.
_MOST_ENTRIES = 60


def load(name: str) -> Any:
    """Import a module of matplotlib when something is drawn."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "ctsne[plot]"') from error


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


def chart_axes(ax: Axes | None, *, width: float = 4.6, height: float = 3.8) -> Axes:
    """Return the given Axes, or those of a new figure that makes room for its texts."""
    if ax is None:
        figure = load("pyplot").figure(facecolor="white", figsize=(width, height))
        figure.set_layout_engine("constrained", w_pad=GAP, h_pad=GAP)
        ax = figure.subplots()
    check_axes(ax)
    return ax


def finish_chart(
    ax: Axes,
    *,
    xlabel: str | None = None,
    ylabel: str | None = None,
    grid: Any = None,
    entries: list[Entry] | None = None,
    widen: bool = False,
) -> None:
    """Add axis labels, a light frame, grid lines behind the data, and a legend at the right."""
    if grid is not None:
        ax.grid(axis=grid, color=RULE, linewidth=0.6)
        ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    ax.tick_params(colors=INK, labelsize=SMALL_SIZE)
    ax.set_xlabel(xlabel or "", fontsize=TEXT_SIZE, color=INK)
    ax.set_ylabel(ylabel or "", fontsize=TEXT_SIZE, color=INK)
    if entries:
        wide, high = add_legend(ax, entries)
        if widen:  # the chart keeps its own width
            figure: Any = ax.get_figure(root=True)
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


class PanelGrid:
    """A new figure of square panels of equal size, ``side`` and ``header`` in inches."""

    def __init__(self, n: int, most_columns: int, side: float, header: float = HEADER) -> None:
        self.side, self.header = side, header
        self.ncols = min(most_columns, n)
        self.nrows = math.ceil(n / self.ncols)
        self.height = self.nrows * (side + header + GAP)
        self.figure = load("pyplot").figure(facecolor="white")
        axes = self.figure.subplots(self.nrows, self.ncols, squeeze=False).ravel()
        for ax in axes[n:]:
            ax.set_axis_off()
        self.panels: list[Axes] = axes[:n].tolist()
        self.place()

    def place(self, legend_width: float = 0.0, legend_height: float = 0.0) -> None:
        """Set the figure's size, with room for a legend to the right of the panels."""
        width = self.ncols * (self.side + GAP) + GAP + legend_width
        height = max(self.height, legend_height + self.header)
        self.figure.set_size_inches(width, height)
        self.figure.subplots_adjust(
            left=GAP / width, right=1 - (GAP + legend_width) / width,
            bottom=1 - (self.height - GAP) / height, top=1 - self.header / height,
            wspace=GAP / self.side, hspace=(GAP + self.header) / self.side,
        )  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One line of a legend: its text and how its symbol is drawn."""

    text: str
    color: str = INK
    marker: str = "o"
    line: str = "none"
    heading: bool = False


def label_entries(
    labels: Labels, colors: list[str] | None = None, markers: list[str] | None = None
) -> list[Entry]:
    """Return an entry per label, and one for missing labels, which come last in both lists."""
    colors = [GREY] * (labels.n_labels + 1) if colors is None else colors
    markers = ["o"] * (labels.n_labels + 1) if markers is None else markers
    shown = zip(map(shown_text, labels.names[:_MOST_ENTRIES]), colors, markers, strict=False)
    entries = [Entry(text, color, marker) for text, color, marker in shown]
    if labels.n_labels > _MOST_ENTRIES:
        entries.append(Entry(f"... and {labels.n_labels - _MOST_ENTRIES} more", marker=""))
    return entries + [Entry(MISSING_TEXT, colors[-1], markers[-1])] * bool(labels.n_missing)


def add_legend(
    ax: Axes, entries: list[Entry], *, height: float | None = None, **placing: Any
) -> tuple[float, float]:
    """Put a legend to the right of the Axes, or as ``placing`` says; return its size in inches."""
    figure: Any = ax.get_figure(root=True)
    # More lines than fit into the height, by default that of the Axes, need several columns.
    lines = sum(entry.text.count("\n") + 1 for entry in entries)
    room = max(1, height or ax.bbox.height / figure.dpi)
    line_class = load("lines").Line2D
    handles = [
        line_class(
            [], [], color=entry.color, marker=entry.marker, linestyle=entry.line, linewidth=1.6,
            markersize=6.5, markeredgewidth=0,
        )
        for entry in entries
    ]  # fmt: skip
    options = {
        "loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.4,
        "fontsize": SMALL_SIZE, "frameon": False, "handletextpad": 0.5, "columnspacing": 1.2,
        "alignment": "left", "labelcolor": INK,
        "ncols": min(4, math.ceil(lines * _LINE_HEIGHT / room)),
        "handlelength": 2.0 if any(entry.line != "none" for entry in entries) else 1.0,
        **placing,
    }  # fmt: skip
    # The texts are set afterwards, because matplotlib drops entries that begin with "_".
    legend = ax.legend(handles, ["" for _ in handles], **options)
    for text, entry in zip(legend.get_texts(), entries, strict=True):
        text.set(text=entry.text, fontweight="bold" if entry.heading else "normal", **LITERAL)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi
