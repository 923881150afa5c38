"""Charts of measures: over the strength of the conditioning, and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne._core.wording import measure_title
from ctsne.labels import encode_labels
from ctsne.pl import figures
from ctsne.pl.palette import palette
from ctsne.pl.points import MARKERS
from ctsne.pl.sweeps import SweptCurve, mean_of_seeds, swept_curves
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["measures", "trade_off"]

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100
# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0

_Curves = dict[Any, NDArray[np.float64]]


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
    """Draw a measure over the strength of the conditioning, one line per method.

    Strengths in (0, 1] that span more than two decades, such as beta, are drawn on a logarithmic
    axis with 1 (no conditioning) at the left; others on a linear one.

    Parameters
    ----------
    strength : array-like of shape (s,), mapping of name to array-like, or SweepResult
        The settings, common to all names or one array per name. All lines of a sweep are drawn.
    values : mapping of name to array-like of shape (s,) or (seeds, s), or str
        The measure at each setting. With several seeds the line is their mean and the band spans
        lowest to highest. NaN leaves a gap. For a sweep, the name of a measure, a column of its
        table.
    over : {"beta", "strength", "beta_low"}, optional
        For a sweep whose methods have different parameters: draw those with this one.
    expected : float, optional
        The value for random labels, drawn as a dotted line; 1 for the mixing of a sweep.
    xlabel, ylabel : str, optional
        Axis labels.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> beta = [1.0, 1e-2, 1e-4]
    >>> ax = pl.measures(beta, {"revised": [0.0, 0.3, 0.9]}, expected=1, ylabel="mixing")
    >>> ax.get_xscale()
    'log'
    """
    if isinstance(strength, SweepResult):
        measure, drawn = values, _over(swept_curves(strength, values), over)
        strength = {name: curve.settings for name, curve in drawn.items()}
        values = {name: curve.values for name, curve in drawn.items()}
        xlabel = next(iter(drawn.values())).steering if xlabel is None else xlabel
        ylabel = measure_title(str(measure)) if ylabel is None else ylabel
        if expected is None and measure in ("mixing", "other_mixing"):
            expected = 1.0
    curves = _check_curves(values, argument="values")
    settings = _check_strengths(strength, curves)
    if expected is not None:
        expected = check_number(expected, "expected", low=-np.inf)
    own = ax is None
    ax = figures.chart_axes(ax)
    _set_scale(ax, np.concatenate(list(settings.values())))
    entries = []
    if expected is not None:
        ax.axhline(expected, color=figures.GREY, linestyle=":", linewidth=1.6, zorder=1.5)
        entries.append(figures.Entry("random labels", figures.GREY, "", ":"))
    styles = _curve_styles(list(curves))
    for name, curve in curves.items():
        _draw_curve(ax, settings[name], np.atleast_2d(curve), styles[name])
    figures.finish_chart(
        ax, xlabel="beta" if xlabel is None else xlabel, ylabel=ylabel or "", grid="y",
        entries=[*styles.values(), *entries], widen=own,
    )  # fmt: skip
    return ax


def trade_off(
    x: Mapping[Any, ArrayLike] | SweepResult,
    y: Mapping[Any, ArrayLike] | str = "adjusted_rnx",
    *,
    xlabel: str | None = None,
    ylabel: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one measure against another, one line per method through its settings.

    Colours and markers are those of :func:`ctsne.pl.measures` for the same names. The markers
    grow from the first setting to the last to show the direction of a line.

    Parameters
    ----------
    x, y : mapping of name to array-like of shape (s,)
        The two measures at each setting, the weakest first. Or ``x`` is a SweepResult, whose mixing
        is drawn, and ``y`` the name of a measure in its table; several seeds give their mean.
    xlabel, ylabel : str, optional
        Axis labels.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> mixing, kept = {"joint": [0.0, 0.4, 0.8]}, {"joint": [0.6, 0.5, 0.4]}
    >>> ax = pl.trade_off(mixing, kept, xlabel="mixing", ylabel="neighbours kept")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['joint']
    """
    if isinstance(x, SweepResult):
        xlabel = measure_title("mixing") if xlabel is None else xlabel
        ylabel = measure_title(str(y)) if ylabel is None else ylabel
        mixing, kept = swept_curves(x, "mixing"), swept_curves(x, y)
        x = {name: mean_of_seeds(curve.values) for name, curve in mixing.items()}
        y = {name: mean_of_seeds(curve.values) for name, curve in kept.items()}
    across, along = _check_curves(x, argument="x"), _check_curves(y, argument="y")
    if set(across) != set(along):
        lonely = sorted(map(repr, set(across) ^ set(along)))
        raise ValueError(f"x and y must have the same names, but only one has {lonely[0]}")
    for name in across:
        if across[name].ndim != 1 or across[name].shape != along[name].shape:
            raise ValueError(
                f"x and y must have one value per setting for {name!r}, "
                f"got shapes {across[name].shape} and {along[name].shape}"
            )
    own = ax is None
    ax = figures.chart_axes(ax, width=4.8, height=4.2)
    styles = _curve_styles(list(across))
    for name, style in styles.items():
        # Counted from the largest, so that a single setting has the largest marker.
        sizes = np.linspace(_LARGEST, _SMALLEST, len(across[name]))[::-1] * MARKERS[style.marker]
        ax.plot(across[name], along[name], color=style.color, linewidth=1.4, alpha=0.7)
        ax.scatter(
            across[name], along[name], s=sizes, color=style.color, marker=style.marker,
            linewidths=0, zorder=2.5,
        )  # fmt: skip
    figures.finish_chart(
        ax, xlabel=xlabel or "", ylabel=ylabel or "", grid="both", entries=list(styles.values()),
        widen=own,
    )  # fmt: skip
    return ax


def _check_curves(curves: Any, *, argument: str) -> _Curves:
    """Return the arrays of a mapping from names, or refuse it."""
    if not isinstance(curves, Mapping) or not curves:
        raise TypeError(
            f"{argument} must be a mapping from names to arrays, such as "
            f"{{'joint': [0.1, 0.2]}}, with at least one; got {type(curves).__name__}"
        )
    return {
        name: np.asarray(as_numbers(values, argument=f"{argument}[{name!r}]"), np.float64)
        for name, values in curves.items()
    }


def _curve_styles(names: list[Any]) -> dict[Any, figures.Entry]:
    """Return a colour and a marker per name; the same set of names always has the same."""
    texts = [str(name) for name in names]
    colors, markers = palette(texts), list(MARKERS)
    ranks = encode_labels(texts).codes.tolist()
    return {
        name: figures.Entry(
            figures.shown_text(text), colors[text], markers[rank % len(markers)], "-"
        )
        for name, text, rank in zip(names, texts, ranks, strict=True)
    }


def _over(curves: dict[str, SweptCurve], over: object) -> dict[str, SweptCurve]:
    """Return the curves over one parameter, whose settings must be numbers."""
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
                f"{name} has one {chosen} per label, which does not fit on an axis; "
                "draw pl.trade_off instead"
            )
    return varied[str(chosen)]


def _check_strengths(strength: Any, curves: _Curves) -> _Curves:
    settings = {}
    for name, curve in curves.items():
        array, argument = strength, "strength"
        if isinstance(strength, Mapping):
            if name not in strength:
                raise ValueError(f"strength must have an array for each name, but lacks {name!r}")
            array, argument = strength[name], f"strength[{name!r}]"
        numbers = np.asarray(as_numbers(array, argument=argument), np.float64)
        if numbers.ndim != 1 or not len(numbers):
            raise ValueError(
                f"{argument} must be a list of settings, got an array of shape {numbers.shape}"
            )
        check_finite(numbers, argument=argument)
        if curve.ndim not in (1, 2) or curve.shape[-1] != len(numbers) or not len(curve):
            raise ValueError(
                f"values[{name!r}] must have the shape ({len(numbers)},) or (seeds, "
                f"{len(numbers)}), one value per setting; got {curve.shape}"
            )
        settings[name] = numbers
    return settings


def _set_scale(ax: Axes, strengths: NDArray[np.float64]) -> None:
    low, high = strengths.min(), strengths.max()
    if low > 0 and high <= 1 and high / low > _LINEAR_SPAN:
        ax.set_xscale("log")
        # From 1, no conditioning, on the left to the strongest on the right, as on a linear axis.
        first, last = np.floor(np.log10(high)), np.log10(low)
        ax.set_xticks(10.0 ** np.arange(first, last - 0.5, -np.ceil((first - last) / 7)))
        ax.minorticks_off()
        margin = 10 ** (0.03 * (first - last))
        ax.set_xlim(high * margin, low / margin)


def _draw_curve(
    ax: Axes, strength: NDArray[np.float64], seeds: NDArray[np.float64], style: figures.Entry
) -> None:
    order = np.argsort(strength, kind="stable")
    strength, seeds = strength[order], seeds[:, order]
    if len(seeds) > 1:
        # fmin and fmax skip NaN, without NumPy's warnings about settings that have nothing else.
        low, high = np.fmin.reduce(seeds), np.fmax.reduce(seeds)
        ax.fill_between(strength, low, high, color=style.color, alpha=0.18, linewidth=0)
        if len(strength) == 1:  # a band without width is not visible
            ax.vlines(strength, low, high, color=style.color, linewidth=1.6)
    ax.plot(
        strength, mean_of_seeds(seeds), color=style.color, marker=style.marker, linewidth=1.6,
        markersize=5.5, markeredgewidth=0,
    )  # fmt: skip
