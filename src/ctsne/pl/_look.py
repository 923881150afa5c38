"""What the colours and shapes of a map's points stand for, and the key that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import as_numbers
from ctsne.labels import Labels, encode_labels
from ctsne.pl._legend import (
    Entry,
    add_legend,
    color_entries,
    columns_that_fit,
    marker_entries,
    size_in_inches,
)
from ctsne.pl._matplotlib import INK, RULE, SMALL_SIZE, load
from ctsne.pl._text import MISSING_TEXT, shown_text
from ctsne.pl.palette import MISSING, label_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = "#0072B2"
# Each marker with the factor that makes it look as large as a circle.
MARKERS = {
    "o": 1.0,
    "s": 0.85,
    "^": 1.08,
    "D": 0.7,
    "v": 1.08,
    "P": 1.15,
    "X": 1.15,
    "*": 1.6,
    "<": 1.08,
    ">": 1.08,
}
MISSING_MARKER = "."
# Inches beside a panel for a colour bar and its numbers.
_COLORBAR_ROOM = 0.75


@dataclass(frozen=True, eq=False)
class Look:
    """How the points of one or more maps look.

    ``colors`` and ``markers`` have an entry for each code of their labels and a last one for
    missing labels, whose code is -1.
    """

    n: int
    labels: Labels | None
    colors: list[str]
    values: NDArray[np.float64] | None
    shapes: Labels | None
    markers: list[str]
    headings: tuple[str, str] | None = None  # of colours and of shapes

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Points without a colour of their own."""
        if self.values is not None:
            return np.isnan(self.values)
        if self.labels is not None:
            return self.labels.codes < 0
        return np.zeros(self.n, bool)

    def mappable(self) -> Any:
        """Return the scale from numbers to colours."""
        assert self.values is not None
        present = self.values[~np.isnan(self.values)]
        low, high = (present.min(), present.max()) if len(present) else (0.0, 1.0)
        if low == high:  # matplotlib would widen the bar, but not the scale
            pad = 0.1 * abs(low) or 1.0
            low, high = low - pad, high + pad
        return load("cm").ScalarMappable(load("colors").Normalize(low, high), "viridis")

    def point_colors(self) -> NDArray[np.float64]:
        """Return red, green and blue of every point."""
        colors = load("colors")
        if self.values is not None:
            rgb = self.mappable().to_rgba(self.values)[:, :3]
            rgb[self.missing] = colors.to_rgb(MISSING)
            return np.asarray(rgb, np.float64)
        table = np.array([colors.to_rgb(color) for color in self.colors])
        codes = np.zeros(self.n, int) if self.labels is None else self.labels.codes
        return np.asarray(table[codes])

    def entries(self) -> list[Entry]:
        """Return the lines of the legend: colours, then shapes, under headings if they have any."""
        colors = [] if self.labels is None else color_entries(self.labels, self.colors)
        if self.values is not None and self.missing.any():
            colors.append(Entry(MISSING_TEXT, MISSING))
        shapes = [] if self.shapes is None else marker_entries(self.shapes, self.markers)
        if self.headings is None:
            return colors + shapes
        above, below = (Entry(text, INK, "", heading=True) for text in self.headings)
        return [above, *colors, below, *shapes]


def make_look(color: object, shape: object, palette: Mapping[Any, Any] | None, *, n: int) -> Look:
    """Read the columns for colour and shape of ``n`` points."""
    values = _numbers(color, n) if _is_continuous(color) else None
    labels = None
    colors = [PLAIN]
    if color is not None and values is None:
        labels = encode_labels(color, n=n, argument="color")
        colors = label_colors(labels, palette)
    shapes = None if shape is None else encode_labels(shape, n=n, argument="shape")
    if shapes is not None and shapes.n_labels > len(MARKERS):
        raise ValueError(
            f"shape can show at most {len(MARKERS)} labels apart, got {shapes.describe()}; "
            "show this column by color instead"
        )
    markers = [*list(MARKERS)[: shapes.n_labels if shapes else 1], MISSING_MARKER]
    headings = _headings(color, shape) if labels and shapes else None
    return Look(n, labels, colors, values, shapes, markers, headings)


def _headings(color: object, shape: object) -> tuple[str, str] | None:
    """Return the names of two columns where a legend must tell them apart, and they have some."""
    names = [getattr(column, "name", None) for column in (color, shape)]
    if None in names or "" in names or names[0] == names[1]:
        return None
    return shown_text(names[0]), shown_text(names[1])


def _is_continuous(color: Any) -> bool:
    """Whether a column holds floats; whole numbers are labels."""
    if color is None or isinstance(color, Labels | str | Mapping):
        return False
    kind = getattr(getattr(color, "dtype", None), "kind", None)
    if kind is None:
        try:
            kind = np.asarray(color).dtype.kind
        except ValueError:  # rows of different lengths: refused as labels
            return False
    return bool(kind == "f")


def _numbers(color: Any, n: int) -> NDArray[np.float64]:
    values: NDArray[Any] = as_numbers(color, argument="color")
    if values.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"color must have one entry for each of the {n} points, in the same order, "
            f"got an array of shape {values.shape}"
        )
    values = values.reshape(-1).astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"color holds {int(np.isinf(values).sum())} infinite values, which no colour bar can "
            "show; make them NaN to have them drawn as missing"
        )
    return values


def add_key(ax: Axes, look: Look, *, height: float | None = None) -> tuple[float, float]:
    """Put the legend and the colour bar to the right of a panel.

    Returns the room they take, in inches. ``height`` is what the legend may take; the panel's
    height if not given.
    """
    bar = 0.0
    if look.values is not None:
        bar = _COLORBAR_ROOM
        side = ax.bbox.width / ax.figure.dpi
        place = ax.inset_axes((1 + 0.12 / side, 0.0, 0.16 / side, 1.0))
        scale = ax.figure.colorbar(look.mappable(), cax=place)
        scale.outline.set_edgecolor(RULE)
        scale.ax.tick_params(labelsize=SMALL_SIZE, colors=INK)
    entries = look.entries()
    if not entries:
        return bar, 0.0
    room = ax.bbox.height / ax.figure.dpi if height is None else height
    shift = bar * ax.figure.dpi / ax.bbox.width
    legend = add_legend(
        ax, entries, ncols=columns_that_fit(entries, room), bbox_to_anchor=(1 + shift, 1.0)
    )
    wide, high = size_in_inches(legend)
    return bar + wide + 0.1, high
