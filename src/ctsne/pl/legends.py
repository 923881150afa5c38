"""Legends: one entry per label or line, in columns that fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctsne.labels import Column
from ctsne.pl.figures import GREY, INK, LITERAL, SMALL_SIZE, scale_of, shown_text
from ctsne.pl.fonts import written
from ctsne.pl.loading import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING_TEXT = "missing"
# A legend lists no more labels than this; far more than there are distinct colours.
_MOST_ENTRIES = 100
# Inches per line of a legend, and its maximum number of columns beside a panel.
_LINE_HEIGHT, _MOST_COLUMNS = 0.19, 4


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
    scale = scale_of(ax)
    # More lines than fit into the height, by default that of the Axes, need several columns.
    lines = sum(entry.text.count("\n") + 1 for entry in entries)
    room = max(1, height or ax.bbox.height / figure.dpi)
    line_class = load("lines").Line2D
    handles = [
        line_class(
            [],
            [],
            color=entry.color,
            marker=entry.marker,
            linestyle=entry.line,
            linewidth=1.6 * scale,
            markersize=6.5 * scale,
            markeredgewidth=0,
        )
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
        text.set(**written(entry.text), fontweight=weight, **LITERAL)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def add_legend_below(ax: Axes, entries: list[Entry], width: float) -> float:
    """Put a legend below the Axes in as many columns as fit; return its height in inches."""
    for ncols in range(min(len(entries), 12), 0, -1):
        wide, high = add_legend(
            ax, entries, bbox_to_anchor=(0.0, 0.0), borderaxespad=0.2, ncols=ncols
        )
        if wide <= width:
            break
    return high
