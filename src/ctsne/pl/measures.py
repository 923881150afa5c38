"""Measures of a map over the strength of the conditioning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne.pl._curves import check_curves, curve_styles
from ctsne.pl._legend import Entry, add_legend, make_room
from ctsne.pl._matplotlib import GREY, RULE, chart_axes, dress_chart
from ctsne.pl._sweeps import SweptCurve, measure_text, swept_curves
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["measures"]

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100


def measures(
    strength: ArrayLike | Mapping[Any, ArrayLike] | SweepResult,
    values: Mapping[Any, ArrayLike] | str = "mixing",
    *,
    over: str | None = None,
    expected: float | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure over the strength of the conditioning, a line for each method.

    Strengths in (0, 1] that span more than two decades, as those of beta do, are drawn on a
    logarithmic axis with 1 (no conditioning) at the left; others on a linear one.

    Parameters
    ----------
    strength : array-like of shape (s,), mapping of name to array-like, or SweepResult
        The settings, for all names or for each. Of a sweep, all its lines are drawn.
    values : mapping of name to array-like of shape (s,) or (seeds, s), or str
        The measure at each setting. With several seeds the line is their mean and the band around
        it goes from the lowest to the highest. NaN leaves a gap. Of a sweep, the name of a measure,
        a column of its table.
    over : {"beta", "strength", "beta_low"}, optional
        For a sweep whose methods have different parameters: draw those with this one.
    expected : float, optional
        The value for random labels, drawn as a dotted line; for the mixing of a sweep that is 1.
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
    >>> beta = [1.0, 1e-2, 1e-4]
    >>> ax = pl.measures(beta, {"revised": [0.0, 0.3, 0.5]}, expected=0.5, ylabel="Laplacian")
    >>> ax.get_xscale()
    'log'
    """
    if isinstance(strength, SweepResult):
        measure, drawn = values, _over(swept_curves(strength, values), over)
        strength = {name: curve.settings for name, curve in drawn.items()}
        values = {name: curve.values for name, curve in drawn.items()}
        xlabel = next(iter(drawn.values())).steering if xlabel is None else xlabel
        ylabel = measure_text(str(measure)) if ylabel is None else ylabel
        expected = 1.0 if measure == "mixing" and expected is None else expected
    curves = check_curves(values, argument="values")
    settings = _check_strengths(strength, curves)
    if expected is not None:
        expected = check_number(expected, "expected", low=-np.inf)
    own = ax is None
    ax = chart_axes(ax)
    everywhere = np.concatenate(list(settings.values()))
    _set_scale(ax, everywhere)
    entries = []
    if expected is not None:
        ax.axhline(expected, color=GREY, linestyle=":", linewidth=1.6, zorder=1.5)
        entries.append(Entry("random labels", GREY, "", ":"))
    styles = curve_styles(list(curves))
    for name, curve in curves.items():
        _draw_curve(ax, settings[name], np.atleast_2d(curve), styles[name])
    ax.grid(axis="y", color=RULE, linewidth=0.6)
    dress_chart(ax, xlabel="beta" if xlabel is None else xlabel, ylabel=ylabel or "")
    legend = add_legend(ax, [*styles.values(), *entries])
    if own:
        make_room(legend)
    return ax


def _over(curves: dict[str, SweptCurve], over: object) -> dict[str, SweptCurve]:
    """Return the curves that have one parameter in common, as numbers."""
    varied: dict[str, dict[str, SweptCurve]] = {}
    for name, curve in curves.items():
        if curve.steering is not None:
            varied.setdefault(curve.steering, {})[name] = curve
    if not varied:
        raise ValueError("no line of the sweep varies a strength: there is nothing to draw over")
    choices = " or ".join(f"over={name!r}" for name in varied)
    if over is None and len(varied) > 1:
        raise ValueError(
            f"the methods of this sweep vary {' and '.join(varied)}, which do not fit on one axis; "
            f"choose with {choices}"
        )
    chosen = next(iter(varied)) if over is None else over
    if chosen not in varied:
        raise ValueError(f"no line of the sweep varies {over!r:.60}; choose with {choices}")
    for name, curve in varied[str(chosen)].items():
        if any(isinstance(setting, str) for setting in curve.settings):
            raise ValueError(
                f"{name} has a {chosen} for each label, which does not fit on an axis; "
                "draw pl.trade_off instead"
            )
    return varied[str(chosen)]


def _check_strengths(
    strength: Any, curves: dict[Any, NDArray[np.float64]]
) -> dict[Any, NDArray[np.float64]]:
    if isinstance(strength, Mapping):
        absent = [name for name in curves if name not in strength]
        if absent:
            raise ValueError(
                f"strength must have an array for each name in values, but has none for "
                f"{absent[0]!r}"
            )
        given = {name: (strength[name], f"strength[{name!r}]") for name in curves}
    else:
        given = dict.fromkeys(curves, (strength, "strength"))
    settings = {}
    for name, (array, argument) in given.items():
        numbers = np.asarray(as_numbers(array, argument=argument), np.float64)
        if numbers.ndim != 1 or not len(numbers):
            raise ValueError(
                f"{argument} must be a list of settings, got an array of shape {numbers.shape}"
            )
        check_finite(numbers, argument=argument)
        shape = curves[name].shape
        if len(shape) not in (1, 2) or shape[-1] != len(numbers) or not shape[0]:
            raise ValueError(
                f"values[{name!r}] must have the shape ({len(numbers)},) or (seeds, "
                f"{len(numbers)}), one value a setting; got {shape}"
            )
        settings[name] = numbers
    return settings


def _set_scale(ax: Axes, strengths: NDArray[np.float64]) -> None:
    low, high = strengths.min(), strengths.max()
    if low > 0 and high <= 1 and high / low > _LINEAR_SPAN:
        ax.set_xscale("log")
        # 1 means no conditioning: to the right it grows stronger, as on a linear axis.
        first, last = np.floor(np.log10(high)), np.log10(low)
        ax.set_xticks(10.0 ** np.arange(first, last - 0.5, -np.ceil((first - last) / 7)))
        ax.minorticks_off()
        margin = 10 ** (0.03 * (first - last))
        ax.set_xlim(high * margin, low / margin)


def _draw_curve(
    ax: Axes, strength: NDArray[np.float64], seeds: NDArray[np.float64], style: Entry
) -> None:
    order = np.argsort(strength, kind="stable")
    strength, seeds = strength[order], seeds[:, order]
    # Settings that no seed has a value for stay NaN, without NumPy's warnings about them.
    present = ~np.isnan(seeds)
    counts = present.sum(axis=0)
    mean = np.full(len(strength), np.nan)
    np.divide(np.where(present, seeds, 0).sum(axis=0), counts, out=mean, where=counts > 0)
    low = np.where(counts > 0, np.where(present, seeds, np.inf).min(axis=0), np.nan)
    high = np.where(counts > 0, np.where(present, seeds, -np.inf).max(axis=0), np.nan)
    if len(seeds) > 1:
        ax.fill_between(strength, low, high, color=style.color, alpha=0.18, linewidth=0)
        if len(strength) == 1:  # a band without width cannot be seen
            ax.vlines(strength, low, high, color=style.color, linewidth=1.6)
    ax.plot(
        strength,
        mean,
        color=style.color,
        marker=style.marker,
        linewidth=1.6,
        markersize=5.5,
        markeredgewidth=0,
    )
