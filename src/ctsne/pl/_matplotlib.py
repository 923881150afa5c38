"""The only door to matplotlib, the look of all figures, and their layout in inches."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, RULE = "#222222", "#5f5f5f", "#d0d0d0"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 11.0, 10.0, 9.0
# Inches: the space around and between panels, and above each for its title.
GAP, HEADER = 0.14, 0.34


def load(name: str) -> Any:
    """Import a module of matplotlib, only when something is drawn."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ctsne[plot]"'
        ) from error


def check_axes(ax: Any, *, argument: str = "ax") -> None:
    """Refuse what cannot be drawn into."""
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


def dress_chart(ax: Axes, *, xlabel: str, ylabel: str, title: str | None = None) -> None:
    """Give a chart its axis labels and a quiet frame."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    ax.tick_params(colors=INK, labelsize=SMALL_SIZE)
    ax.set_xlabel(xlabel, fontsize=TEXT_SIZE, color=INK)
    ax.set_ylabel(ylabel, fontsize=TEXT_SIZE, color=INK)
    if title is not None:
        set_title(ax, title)


def set_title(ax: Axes, title: str, **properties: Any) -> None:
    """Write a title above the left end of a panel."""
    look: dict[str, Any] = {"fontsize": TITLE_SIZE, "fontweight": "bold", "color": INK}
    ax.set_title(title, loc="left", **look, **properties)


@dataclass(frozen=True)
class PanelGrid:
    """Square panels of equal size; all lengths in inches.

    Placed by hand, as they need no layout engine, and placed again when it is known how much room
    the legend takes.
    """

    n_panels: int
    most_columns: int
    side: float
    header: float = HEADER
    footer: float = 0.0

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
        height = max(self.height + self.footer, least_height)
        figure.set_size_inches(width, height)
        figure.subplots_adjust(
            left=GAP / width,
            right=1 - (GAP + right) / width,
            bottom=1 - (self.height - GAP) / height,
            top=1 - self.header / height,
            wspace=GAP / self.side,
            hspace=(GAP + self.header) / self.side,
        )
