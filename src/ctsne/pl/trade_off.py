"""One measure against another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne.pl._curves import check_curves, curve_styles
from ctsne.pl._legend import add_legend, make_room
from ctsne.pl._look import MARKERS
from ctsne.pl._matplotlib import RULE, chart_axes, dress_chart
from ctsne.pl._sweeps import measure_text, swept_curves
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["trade_off"]

# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0


def trade_off(
    x: Mapping[Any, ArrayLike] | SweepResult,
    y: Mapping[Any, ArrayLike] | str = "adjusted_rnx",
    *,
    xlabel: str | None = None,
    ylabel: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one measure against another, a line for each method through its settings.

    Colours and markers are those of :func:`ctsne.pl.measures` for the same names. The markers
    grow from the first setting to the last, so that a line's direction can be seen.

    Parameters
    ----------
    x, y : mapping of name to array-like of shape (s,)
        The two measures at each setting, in order of strength, the weakest first. Or ``x`` is a
        SweepResult, whose mixing is drawn, and ``y`` the name of a measure in its table; where
        there are several seeds, their mean.
    xlabel, ylabel : str, optional
        What the axes show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from ctsne import pl
    >>> mixing, kept = {"joint": [0.0, 0.2, 0.4]}, {"joint": [0.6, 0.5, 0.4]}
    >>> ax = pl.trade_off(mixing, kept, xlabel="Laplacian", ylabel="$R_{NX}$")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['joint']
    """
    if isinstance(x, SweepResult):
        xlabel = measure_text("mixing") if xlabel is None else xlabel
        ylabel = measure_text(str(y)) if ylabel is None else ylabel
        mixing, kept = swept_curves(x, "mixing"), swept_curves(x, y)
        x = {name: curve.mean() for name, curve in mixing.items()}
        y = {name: curve.mean() for name, curve in kept.items()}
    across, along = check_curves(x, argument="x"), check_curves(y, argument="y")
    if set(across) != set(along):
        lonely = sorted(map(repr, set(across) ^ set(along)))
        raise ValueError(f"x and y must have the same names, but only one has {lonely[0]}")
    for name in across:
        if across[name].ndim != 1 or across[name].shape != along[name].shape:
            raise ValueError(
                f"x and y must have one value a setting for {name!r}, "
                f"got shapes {across[name].shape} and {along[name].shape}"
            )
    own = ax is None
    ax = chart_axes(ax, width=4.8, height=4.2)
    styles = curve_styles(list(across))
    for name, style in styles.items():
        ax.plot(across[name], along[name], color=style.color, linewidth=1.4, alpha=0.7)
        ax.scatter(
            across[name],
            along[name],
            # From the largest back, so that a lone setting has the largest.
            s=np.linspace(_LARGEST, _SMALLEST, len(across[name]))[::-1] * MARKERS[style.marker],
            color=style.color,
            marker=style.marker,
            linewidths=0,
            zorder=2.5,
        )
    ax.grid(color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    dress_chart(ax, xlabel=xlabel or "", ylabel=ylabel or "")
    legend = add_legend(ax, list(styles.values()))
    if own:
        make_room(legend)
    return ax
