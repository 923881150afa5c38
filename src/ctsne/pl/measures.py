"""Charts of measures: over the strength of the conditioning, and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne._core.messages import shown, unknown
from ctsne._core.vocabulary import measure_title, mixings_of, of_column, split_measure
from ctsne.labels import encode_labels
from ctsne.pl import figures
from ctsne.pl.figures import Entry
from ctsne.pl.palette import palette
from ctsne.pl.points import MARKERS
from ctsne.sweep import Line, SweepResult, SweptMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100
# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0

_Arrays = dict[Any, NDArray[np.float64]]


class _SweptCurve(NamedTuple):
    """A measure of settings that differ only in strength and seed."""

    steering: str | None  # the parameter that sets the strength
    settings: list[Any]  # its values, the weakest first
    values: NDArray[np.float64]  # of shape (seeds, settings), NaN where there is no map


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
        measure, drawn = values, _over(_swept_curves(strength, values), over)
        strength = {name: curve.settings for name, curve in drawn.items()}
        values = {name: curve.values for name, curve in drawn.items()}
        xlabel = next(iter(drawn.values())).steering if xlabel is None else xlabel
        ylabel = measure_title(str(measure)) if ylabel is None else ylabel
        if expected is None and split_measure(str(measure))[0] in ("mixing", "other_mixing"):
            expected = 1.0
    curves = _check_curves(values, argument="values")
    settings = _check_strengths(strength, curves)
    if expected is not None:
        expected = check_number(expected, "expected", low=-np.inf)
    own, ax = ax is None, figures.chart_axes(ax)
    _set_scale(ax, np.concatenate(list(settings.values())))
    styles = _curve_styles(list(curves))
    entries = list(styles.values())
    if expected is not None:
        ax.axhline(expected, color=figures.GREY, linestyle=":", linewidth=1.6, zorder=1.5)
        entries.append(Entry("random labels", figures.GREY, "", ":"))
    for name, curve in curves.items():
        _draw_curve(ax, settings[name], np.atleast_2d(curve), styles[name])
    xlabel = "beta" if xlabel is None else xlabel
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="y", entries=entries, widen=own)
    return ax


def trade_off(
    x: Mapping[Any, ArrayLike] | SweepResult,
    y: Mapping[Any, ArrayLike] | str = "adjusted_rnx",
    *,
    column: str | None = None,
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
    column : str, optional
        For a sweep with several label columns: the one whose mixing is drawn; by default that of
        the least mixed column of every map.
    xlabel, ylabel, ax
        As in :func:`ctsne.pl.measures`.

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
        title, mixing = _swept_mixing(x, column)
        xlabel = title if xlabel is None else xlabel
        ylabel = measure_title(str(y)) if ylabel is None else ylabel
        kept = _swept_curves(x, y)
        x = {name: _mean_of_seeds(values) for name, values in mixing.items()}
        y = {name: _mean_of_seeds(curve.values) for name, curve in kept.items()}
    across, along = _check_curves(x, argument="x"), _check_curves(y, argument="y")
    if set(across) != set(along):
        lonely = sorted(map(repr, set(across) ^ set(along)))
        raise ValueError(f"x and y must have the same names, but only one has {lonely[0]}")
    for name in across:
        xs, ys = across[name].shape, along[name].shape
        if len(xs) != 1 or xs != ys:
            raise ValueError(
                f"x and y need one value per setting of {name!r}, got shapes {xs} and {ys}"
            )
    own, ax = ax is None, figures.chart_axes(ax, width=4.8, height=4.2)
    styles = _curve_styles(list(across))
    for name, style in styles.items():
        line, color, marker = (across[name], along[name]), style.color, style.marker
        # Counted from the largest, so that a single setting has the largest marker.
        sizes = np.linspace(_LARGEST, _SMALLEST, len(line[0]))[::-1] * MARKERS[marker]
        ax.plot(*line, color=color, linewidth=1.4, alpha=0.7)
        ax.scatter(*line, s=sizes, color=color, marker=marker, linewidths=0, zorder=2.5)
    entries = list(styles.values())
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="both", entries=entries, widen=own)
    return ax


def _swept_mixing(result: SweepResult, column: object) -> tuple[str, _Arrays]:
    """Return the mixing along each line of a sweep: of the label, one column or the least mixed."""
    present = dict.fromkeys(name for swept in result.maps for name in swept.measures)
    names = mixings_of(present) or ["mixing"]
    columns = [each for each in (split_measure(name)[1] for name in names) if each is not None]
    title = "mixing of the least mixed column" if columns else measure_title("mixing")
    if column is not None:
        if column not in columns:
            message = unknown(column, columns, what="label column", where="the sweep")
            raise ValueError(f"column: {message}")
        names = [of_column("mixing", str(column))]
        title = measure_title(names[0])
    first, *more = (_swept_curves(result, name) for name in names)
    mixing = {line: curve.values for line, curve in first.items()}
    for curves in more:
        mixing = {line: np.fmin(values, curves[line].values) for line, values in mixing.items()}
    return title, mixing


def _check_curves(curves: Any, *, argument: str) -> _Arrays:
    """Return the arrays of a mapping from names, or refuse it."""
    if not isinstance(curves, Mapping) or not curves:
        kind = type(curves).__name__
        raise TypeError(f"{argument} must be a mapping from names to arrays, got {kind}")
    return {
        name: np.asarray(as_numbers(values, argument=f"{argument}[{name!r}]"), np.float64)
        for name, values in curves.items()
    }


def _curve_styles(names: list[Any]) -> dict[Any, Entry]:
    """Return a colour and a marker per name; the same set of names always has the same."""
    texts = [str(name) for name in names]
    colors, ranks = palette(texts), encode_labels(texts).codes.tolist()
    markers = [list(MARKERS)[rank % len(MARKERS)] for rank in ranks]
    return {
        name: Entry(figures.shown_text(text), colors[text], marker, "-")
        for name, text, marker in zip(names, texts, markers, strict=True)
    }


def _swept_curves(result: SweepResult, measure: object) -> dict[str, _SweptCurve]:
    """Return a measure along each line of a sweep; lines that differ in their seed are one."""
    known = list(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(unknown(measure, known, what="measure", where="the sweep"))
    groups: dict[tuple[str, str | None], list[Line]] = {}
    for line in result.lines():
        common = {name: line.parameters[name] for name in line.parameters if name != "random_state"}
        groups.setdefault((replace(line, parameters=common).title, line.steering), []).append(line)
    curves: dict[str, _SweptCurve] = {}
    for (title, steering), lines in groups.items():
        # The same method may appear again with another parameter for its strength.
        name = f"{title}, by {steering}" if title in curves else title
        curves[name] = _swept_curve(lines, steering, measure)
    return curves


def _swept_curve(lines: list[Line], steering: str | None, measure: str) -> _SweptCurve:
    def setting(swept: SweptMap) -> Any:
        value = swept.parameters[steering] if steering else None
        return float(value) if isinstance(value, Real) else str(value)  # text: one per label

    seeds = [{setting(each): each.measures.get(measure) for each in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for seed in seeds for key in seed))
    if all(isinstance(key, float) for key in settings):
        settings.sort(reverse=steering != "strength")
    values = np.array([[seed.get(key) for key in settings] for seed in seeds], np.float64)
    return _SweptCurve(steering, settings, values)


def _mean_of_seeds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    mean: NDArray[np.float64] = np.ma.masked_where(np.isnan(values), values).mean(axis=0)
    return np.ma.filled(mean, np.nan)


def _over(curves: dict[str, _SweptCurve], over: object) -> dict[str, _SweptCurve]:
    """Return the curves over one parameter, whose settings must be numbers."""
    varied = list(dict.fromkeys(each.steering for each in curves.values() if each.steering))
    if not varied:
        raise ValueError("no line of the sweep varies a strength: there is nothing to draw over")
    choices = " or ".join(f"over={name!r}" for name in varied)
    if over is None and len(varied) > 1:
        names = " and ".join(varied)
        raise ValueError(f"the methods vary {names}, which need separate axes: choose {choices}")
    chosen = varied[0] if over is None else over
    if chosen not in varied:
        raise ValueError(f"no line of the sweep varies {shown(over)}; choose {choices}")
    drawn = {name: curve for name, curve in curves.items() if curve.steering == chosen}
    for name, curve in drawn.items():
        if any(isinstance(setting, str) for setting in curve.settings):
            raise ValueError(
                f"{name} has one {chosen} per label or column; draw pl.trade_off instead"
            )
    return drawn


def _check_strengths(strength: Any, curves: _Arrays) -> _Arrays:
    settings = {}
    for name, curve in curves.items():
        array, argument = strength, "strength"
        if isinstance(strength, Mapping):
            if name not in strength:
                raise ValueError(f"strength must have an array for each name, but lacks {name!r}")
            array, argument = strength[name], f"strength[{name!r}]"
        numbers = figures.check_list(array, argument=argument, entry="setting")
        check_finite(numbers, argument=argument)
        n = len(numbers)
        if curve.ndim not in (1, 2) or curve.shape[-1] != n or not len(curve):
            raise ValueError(
                f"values[{name!r}] must have the shape ({n},) or (seeds, {n}), got {curve.shape}"
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


def _draw_curve(ax: Axes, strength: NDArray[Any], seeds: NDArray[Any], style: Entry) -> None:
    order = np.argsort(strength, kind="stable")
    strength, seeds, color = strength[order], seeds[:, order], style.color
    if len(seeds) > 1:
        # fmin and fmax skip NaN, without NumPy's warnings about settings that have nothing else.
        low, high = np.fmin.reduce(seeds), np.fmax.reduce(seeds)
        ax.fill_between(strength, low, high, color=color, alpha=0.18, linewidth=0)
        if len(strength) == 1:  # a band without width is not visible
            ax.vlines(strength, low, high, color=color, linewidth=1.6)
    (line,) = ax.plot(strength, _mean_of_seeds(seeds), color=color, linewidth=1.6)
    line.set(marker=style.marker, markersize=5.5, markeredgewidth=0)
