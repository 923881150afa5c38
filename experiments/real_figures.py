"""Figures of the comparison on real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import Data, number, picture
from equal_mixing import SHARES, Line
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from ctsne import pl

__all__ = ["draw_maps", "draw_trade_off", "nearest_setting"]

# Methods without a strength are single hollow markers, apart from the filled ones of the lines.
_MARKERS = ("o", "s", "^", "D")
_HOLLOW: dict[str, Any] = {
    "color": "#222222",
    "markerfacecolor": "white",
    "markeredgewidth": 1.5,
    "linestyle": "none",
}
# The maps shown, and the share of random mixing they are chosen by.
_SHOWN = ("t-SNE", "original", "revised r", "joint")
_WANTED = 0.5


def draw_trade_off(
    output: Path, name: str, lines: Mapping[str, Line], points: Mapping[str, Line]
) -> str:
    """Draw neighbours kept and impurity against mixing, averaged over the seeds.

    Parameters
    ----------
    output : Path
    name : str
        Of the dataset.
    lines : mapping of method to Line
    points : mapping of method to Line
        Methods with a single setting.

    Returns
    -------
    str
        Markdown of the picture.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), facecolor="white")
    measures = ("adjusted $R_{NX}$ (higher is better)", "other-label Laplacian (lower is better)")
    for ax, measure, ylabel in zip(axes, ("kept", "impure"), measures, strict=True):
        averaged = {each: _averaged(line, measure) for each, line in lines.items()}
        averaged = {each: path for each, path in averaged.items() if path[0].size}
        pl.trade_off(
            {each: path[0] for each, path in averaged.items()},
            {each: path[1] for each, path in averaged.items()},
            xlabel="mixing of the known label (1: random)",
            ylabel=ylabel,
            ax=ax,
        )
        for share in SHARES:
            ax.axvline(share, color="#b0b0b0", linewidth=0.8, linestyle=":", zorder=0)
        singles = [
            ax.plot(*_averaged(point, measure), marker=marker, markersize=7, zorder=3, **_HOLLOW)[0]
            for point, marker in zip(points.values(), _MARKERS, strict=False)
        ]
    # One legend for both panels: that of the lines, and the single points.
    legend = axes[1].get_legend()
    handles = [*legend.legend_handles, *singles]
    texts = [*(text.get_text() for text in legend.get_texts()), *points]
    for ax in axes:
        ax.get_legend().remove()
    figure.tight_layout(w_pad=2)
    axes[1].legend(
        handles, texts, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=9
    )
    return picture(
        output,
        f"real_trade_off_{name}",
        figure,
        f"{name}: neighbours kept and impurity against mixing",
    )


def nearest_setting(rows: Sequence[Mapping[str, Any]], line: str, mixing: float) -> int | None:
    """Return the place of a line's row whose mixing is nearest to the one wanted."""
    own = [
        (abs(row["mixing"] - mixing), place)
        for place, row in enumerate(rows)
        if row["line"] == line and np.isfinite(row.get("mixing", np.nan))
    ]
    return min(own)[1] if own else None


def draw_maps(
    output: Path,
    data: Data,
    rows: Sequence[Mapping[str, Any]],
    maps: Sequence[NDArray[np.float32] | None],
) -> None:
    """Draw a map of each method, near half of random mixing, in the colours of both labels."""
    shown: dict[str, NDArray[np.float32]] = {}
    for line in _SHOWN:
        place = nearest_setting(rows, line, _WANTED)
        embedding = None if place is None else maps[place]
        if place is None or embedding is None:
            continue
        row = rows[place]
        setting = f" {row['setting']:g}" if row["setting"] != "" else ""
        shown[f"{line}{setting}: mixing {number(row['mixing'], 2)}"] = embedding
    if not shown:
        return
    figure, axes = plt.subplots(
        2, len(shown), figsize=(3.1 * len(shown), 6.7), facecolor="white", squeeze=False
    )
    pl.maps(shown, data.known, axes=axes[0])
    for ax in pl.maps(shown, data.hidden, axes=axes[1]):
        ax.set_title("", loc="left")  # as in the panel above it
    figure.tight_layout()
    picture(output, f"real_maps_{data.name}", figure, f"{data.name}: maps", dpi=80)


def _averaged(line: Line, measure: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means over the seeds of mixing and another measure, without settings that failed."""
    mixing, values = (
        pd.DataFrame(each).mean().to_numpy() for each in (line.mixing, getattr(line, measure))
    )
    there = np.isfinite(mixing) & np.isfinite(values)
    return mixing[there], values[there]
