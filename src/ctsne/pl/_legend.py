"""Legends that stand beside the data and show every label's text as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctsne.labels import Labels
from ctsne.pl._matplotlib import GREY, INK, SMALL_SIZE, load
from ctsne.pl._text import LITERAL, MISSING_TEXT, shown_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# More labels than this are no longer told apart by their colours.
MOST_ENTRIES = 60
# Inches that a line of text takes in a legend.
_LINE_HEIGHT = 0.19


@dataclass(frozen=True)
class Entry:
    """One line of a legend: its text and how its sign is drawn."""

    text: str
    color: str = INK
    marker: str = "o"
    line: str = "none"
    heading: bool = False


def color_entries(labels: Labels, colors: list[str]) -> list[Entry]:
    """One entry a label in its colour, and one for missing labels."""
    shown = labels.names[:MOST_ENTRIES]
    entries = [Entry(shown_text(name), color) for name, color in zip(shown, colors, strict=False)]
    if labels.n_labels > MOST_ENTRIES:
        entries.append(Entry(f"... and {labels.n_labels - MOST_ENTRIES} more", marker=""))
    if labels.n_missing:
        entries.append(Entry(MISSING_TEXT, colors[-1]))
    return entries


def marker_entries(labels: Labels, markers: list[str]) -> list[Entry]:
    """One entry a label in its marker, and one for missing labels."""
    entries = [
        Entry(shown_text(name), GREY, marker)
        for name, marker in zip(labels.names, markers, strict=False)
    ]
    if labels.n_missing:
        entries.append(Entry(MISSING_TEXT, GREY, markers[-1]))
    return entries


def add_legend(
    target: Axes | Figure, entries: list[Entry], *, ncols: int | None = None, **placing: Any
) -> Legend:
    """Put a legend to the right of the Axes, or where ``placing`` says."""
    placing = {
        "loc": "upper left",
        "bbox_to_anchor": (1.0, 1.0),
        "borderaxespad": 0.4,
        "fontsize": SMALL_SIZE,
        **placing,
    }
    line_class = load("lines").Line2D
    handles = [
        line_class(
            [],
            [],
            color=entry.color,
            marker=entry.marker,
            linestyle=entry.line,
            linewidth=1.6,
            markersize=6.5,
            markeredgewidth=1.6 if entry.marker == "|" else 0,
        )
        for entry in entries
    ]
    if ncols is None:
        root: Any = target.get_figure(root=True)
        ncols = columns_that_fit(entries, target.bbox.height / root.dpi)
    # The texts are set afterwards: matplotlib leaves out entries that begin with "_".
    legend: Legend = target.legend(
        handles,
        ["" for _ in handles],
        ncols=ncols,
        frameon=False,
        handletextpad=0.5,
        handlelength=2.0 if any(entry.line != "none" for entry in entries) else 1.0,
        columnspacing=1.2,
        alignment="left",
        labelcolor=INK,
        **placing,
    )
    for text, entry in zip(legend.get_texts(), entries, strict=True):
        text.set(text=entry.text, fontweight="bold" if entry.heading else "normal", **LITERAL)
    return legend


def columns_that_fit(entries: list[Entry], height: float) -> int:
    """Return how many columns keep the legend within a height in inches."""
    lines = sum(entry.text.count("\n") + 1 for entry in entries)
    return max(1, min(4, -(-int(lines * _LINE_HEIGHT * 100) // int(max(height, 1) * 100))))


def make_room(legend: Legend) -> None:
    """Widen a chart's figure by its legend, so that the chart keeps its own width.

    The legend begins at the top of the Axes, with a title and more above it.
    """
    figure: Any = legend.get_figure(root=True)
    wide, high = size_in_inches(legend)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width + wide, max(height, high + 0.9))


def size_in_inches(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend."""
    figure: Any = legend.get_figure(root=True)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi
