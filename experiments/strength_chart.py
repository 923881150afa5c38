"""Draw a measure over the strength of the conditioning, or over another, one line per method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne.pl import figures
from ctsne.pl.trade_off import Curve, curve_styles, draw_curves, mean_of_seeds

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100
_RANDOM = figures.Entry("random labels", figures.GREY, "", ":")


def draw_measure(
    strength: Mapping[str, ArrayLike],
    values: Mapping[str, ArrayLike],
    ax: Any,
    *,
    expected: float | None = None,
    xlabel: str,
    ylabel: str,
) -> None:
    """Draw the mean of each line and the band of its seeds, over a dotted line for random labels.

    ``values`` have the shape (settings,) or (seeds, settings); NaN leaves a gap. Betas that span
    more than two decades are drawn on a logarithmic axis, with 1 (no conditioning) at the left.
    """
    styles = curve_styles({name: _method_of(name) for name in values})
    _set_scale(ax, np.concatenate([np.asarray(strength[name], float) for name in values]))
    look: dict[str, Any] = {"linewidth": 1.6}
    if expected is not None:
        ax.axhline(expected, color=figures.GREY, linestyle=":", zorder=1.5, **look)
    look |= {"markersize": 5.5, "markeredgewidth": 0}
    for name, style in styles.items():
        settings, seeds = np.asarray(strength[name]), np.atleast_2d(np.asarray(values[name], float))
        order = np.argsort(settings, kind="stable")
        settings, seeds = settings[order], seeds[:, order]
        if len(seeds) > 1:
            # fmin and fmax skip NaN, without NumPy's warnings about settings with nothing else.
            low, high = np.fmin.reduce(seeds), np.fmax.reduce(seeds)
            ax.fill_between(settings, low, high, color=style.color, alpha=0.18, linewidth=0)
            if len(settings) == 1:  # a band without width is not visible
                ax.vlines(settings, low, high, color=style.color, linewidth=1.6)
        mean, color, marker = mean_of_seeds(seeds), style.color, style.marker
        ax.plot(settings, mean, color=color, linestyle=style.line, marker=marker, **look)
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="y")
    figures.add_legend(ax, [*styles.values(), *[_RANDOM] * (expected is not None)])


def draw_trade_off(
    x: Mapping[str, ArrayLike], y: Mapping[str, ArrayLike], ax: Any, *, xlabel: str, ylabel: str
) -> None:
    """Draw one measure against another, the weakest setting of each name first."""
    curves = {
        name: Curve(_method_of(name), np.asarray(x[name], float), np.asarray(y[name], float))
        for name in x
    }
    draw_curves(curves, xlabel, ylabel, ax=ax)


def _method_of(name: str) -> str:
    """Return the method that a name begins with, as ``revised p`` does, if any."""
    return name.replace(",", " ").split(" ")[0].lower().replace("-", "")


def _set_scale(ax: Any, strengths: Any) -> None:
    """Draw from 1, no conditioning, on the left to the strongest on the right, if it needs logs."""
    low, high = strengths.min(), strengths.max()
    if low > 0 and high <= 1 and high / low > _LINEAR_SPAN:
        ax.set_xscale("log")
        first, last = np.floor(np.log10(high)), np.log10(low)
        ax.set_xticks(10.0 ** np.arange(first, last - 0.5, -np.ceil((first - last) / 7)))
        ax.minorticks_off()
        margin = 10 ** (0.03 * (first - last))
        ax.set_xlim(high * margin, low / margin)
