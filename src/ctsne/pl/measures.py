"""Charts of measures: over the strength of the conditioning, and against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne._core.messages import shown, unknown, value_text
from ctsne._core.vocabulary import measure_title, mixings_of, of_column, split_measure
from ctsne.labels import encode_column
from ctsne.pl import figures
from ctsne.pl.figures import Entry, add_legend
from ctsne.pl.names import add_notes
from ctsne.pl.palette import METHOD_COLORS, palette
from ctsne.pl.points import MARKERS
from ctsne.sweep import Line, SweepResult, SweptMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100
# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0
# Lines of the same method.
_DASHES = ("-", "--", ":", "-.")
# Smaller settings are written with an exponent.
_SCIENTIFIC = 0.01
_RANDOM = Entry("random labels", figures.GREY, "", ":")

_Arrays = dict[Any, NDArray[np.float64]]


def measures(
    strength: ArrayLike | Mapping[Any, ArrayLike] | SweepResult,
    values: Mapping[Any, Any] | str = "mixing",
    *,
    over: str | None = None,
    expected: float | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure over the strength of the conditioning, one line per method.

    Strengths in (0, 1] that span more than two decades, such as beta, are drawn on a logarithmic
    axis with 1 (no conditioning) at the left; others on a linear one. A method has the same colour
    in every figure and on the page of a report.

    Parameters
    ----------
    strength : array-like of shape (s,), mapping of name to array-like, or SweepResult
        The settings, common to all names or one array per name. All lines of a sweep are drawn.
    values : mapping of name to array-like of shape (s,) or (seeds, s), or str
        The measure at each setting. With several seeds the line is their mean and the band spans
        lowest to highest. NaN leaves a gap. For a sweep, the name of a measure in its table.
    over : {"beta", "strength", "beta_low"}, optional
        For a sweep whose methods have different parameters: draw those with this one.
    expected : float, optional
        The value for random labels, drawn as a dotted line; 1 for the mixing of a sweep.
    xlabel, ylabel : str, optional
    width, ax
        As in :func:`ctsne.pl.embedding`.

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
    figures.check_width(width, ax)
    if isinstance(strength, SweepResult):
        curves = _over_knob(_swept_curves(strength, values), over)
        xlabel = next(iter(curves.values())).knob if xlabel is None else xlabel
        ylabel = measure_title(str(values)) if ylabel is None else ylabel
        if expected is None and split_measure(str(values))[0] in ("mixing", "other_mixing"):
            expected = 1.0
    else:
        curves = _given_curves(strength, values)
    if expected is not None:
        expected = check_number(expected, "expected", low=-np.inf)
    own, ax = ax is None, figures.chart_axes(ax, fixed=width)
    styles = _curve_styles({name: curve.method for name, curve in curves.items()})
    _draw_curves(ax, curves, styles, expected)
    figures.finish_chart(ax, xlabel="beta" if xlabel is None else xlabel, ylabel=ylabel, grid="y")
    room = add_legend(ax, [*styles.values(), *[_RANDOM] * (expected is not None)])
    if own:
        figures.widen(ax, room)
    return ax


def trade_off(
    x: Mapping[Any, ArrayLike] | SweepResult,
    y: Mapping[Any, ArrayLike] | str = "adjusted_rnx",
    *,
    column: str | None = None,
    settings: Mapping[Any, Sequence[Any]] | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one measure against another, one line per method through its settings.

    Colours and markers are those of :func:`ctsne.pl.measures` for the same names. The markers
    grow from the first setting to the last to show the direction of a line, and the settings are
    written next to them as far as there is room.

    Parameters
    ----------
    x, y : mapping of name to array-like of shape (s,)
        The two measures at each setting, the weakest first. Or ``x`` is a SweepResult, whose mixing
        is drawn, and ``y`` the name of a measure in its table; several seeds give their mean.
    column : str, optional
        For a sweep with several label columns: the one whose mixing is drawn; by default that of
        the least mixed column of every map.
    settings : mapping of name to sequence of length s, optional
        What to write at the markers; by default the strengths or betas of a sweep.
    xlabel, ylabel, width, ax
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
    methods: Mapping[Any, str] = {}
    numbers: list[Entry] = []
    if isinstance(x, SweepResult):
        title, mixing = _swept_mixing(x, column)
        xlabel = title if xlabel is None else xlabel
        ylabel = measure_title(str(y)) if ylabel is None else ylabel
        kept = _swept_curves(x, y)
        methods = {name: curve.method for name, curve in kept.items()}
        if settings is None:
            settings = {name: curve.settings for name, curve in kept.items() if curve.knob}
            knobs = ", ".join(_knobs(kept))
            numbers = [Entry(f"numbers: {knobs}", marker="")] * bool(knobs)
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
    notes = _check_settings(settings or {}, across)
    own, ax = ax is None, figures.chart_axes(ax, width=4.8, height=4.2, fixed=width)
    styles = _curve_styles({name: methods.get(name) or _method_of(name) for name in across})
    scale, beside = figures.scale_of(ax), []
    for name, style in styles.items():
        line, color, marker = (across[name], along[name]), style.color, style.marker
        # Counted from the largest, so that a single setting has the largest marker.
        sizes = np.linspace(_LARGEST, _SMALLEST, len(line[0]))[::-1] * MARKERS[marker] * scale**2
        ax.plot(*line, color=color, linestyle=style.line, linewidth=1.4 * scale, alpha=0.7)
        ax.scatter(*line, s=sizes, color=color, marker=marker, linewidths=0, zorder=2.5)
        if name in notes:
            beside.append((notes[name], np.column_stack(line), color))
    add_notes(ax, beside)
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="both")
    room = add_legend(ax, [*styles.values(), *numbers])
    if own:
        figures.widen(ax, room)
    return ax


def _check_settings(settings: Any, curves: _Arrays) -> dict[Any, list[str]]:
    """Return a short text for each setting of each name: 0.1, 1e-4."""
    if not isinstance(settings, Mapping):
        kind = type(settings).__name__
        raise TypeError(f"settings must be a mapping from names to settings, got {kind}")
    notes = {}
    for name, values in settings.items():
        if name not in curves or len(values) != len(curves[name]):
            raise ValueError(
                f"settings[{name!r}] must have one entry per value of x, got {len(values)}"
            )
        notes[name] = [
            np.format_float_scientific(float(value), precision=2, trim="-", exp_digits=1)
            if isinstance(value, Real) and 0 < float(value) < _SCIENTIFIC
            else value_text(value)
            for value in values
        ]
    return notes


def _check_curves(curves: Any, *, argument: str) -> _Arrays:
    """Return the arrays of a mapping from names, or refuse it."""
    if not isinstance(curves, Mapping) or not curves:
        kind = type(curves).__name__
        raise TypeError(f"{argument} must be a mapping from names to arrays, got {kind}")
    return {
        name: np.asarray(as_numbers(values, argument=f"{argument}[{name!r}]"), np.float64)
        for name, values in curves.items()
    }


def _curve_styles(methods: Mapping[Any, str]) -> dict[Any, Entry]:
    """Return a look per name, the same for the same names: lines of a method differ in dashes."""
    texts = {name: str(name) for name in methods}
    others = palette([texts[name] for name in methods if methods[name] not in METHOD_COLORS])
    ranks = dict(zip(texts, encode_column(list(texts.values())).codes.tolist(), strict=True))
    styles, used = {}, dict.fromkeys(methods.values(), 0)
    for name in sorted(methods, key=lambda name: ranks[name]):
        own = METHOD_COLORS.get(methods[name])
        dash = _DASHES[used[methods[name]] % len(_DASHES)] if own else "-"
        used[methods[name]] += 1
        marker = list(MARKERS)[ranks[name] % len(MARKERS)]
        color = own or others[texts[name]]
        styles[name] = Entry(figures.shown_text(texts[name]), color, marker, dash)
    return {name: styles[name] for name in methods}


def _method_of(name: object) -> str:
    """Return the method that a name begins with, as ``revised p`` does, if any."""
    return str(name).replace(",", " ").split(" ")[0].lower().replace("-", "")


def _given_curves(strength: Any, values: Any) -> dict[Any, _Curve]:
    """Check curves that are given as arrays, and their settings."""
    curves = {}
    for name, curve in _check_curves(values, argument="values").items():
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
        curves[name] = _Curve(_method_of(name), None, numbers, curve)
    return curves


def _draw_curves(
    ax: Axes, curves: Mapping[Any, _Curve], styles: Mapping[Any, Entry], expected: float | None
) -> None:
    """Draw the mean of each curve and the band of its seeds, over a line for random labels."""
    scale = figures.scale_of(ax)
    strengths = np.concatenate([curve.settings for curve in curves.values()])
    low, high = strengths.min(), strengths.max()
    if low > 0 and high <= 1 and high / low > _LINEAR_SPAN:
        ax.set_xscale("log")
        # From 1, no conditioning, on the left to the strongest on the right, as on a linear axis.
        first, last = np.floor(np.log10(high)), np.log10(low)
        ax.set_xticks(10.0 ** np.arange(first, last - 0.5, -np.ceil((first - last) / 7)))
        ax.minorticks_off()
        margin = 10 ** (0.03 * (first - last))
        ax.set_xlim(high * margin, low / margin)
    look: dict[str, Any] = {"linewidth": 1.6 * scale}
    if expected is not None:
        ax.axhline(expected, color=figures.GREY, linestyle=":", zorder=1.5, **look)
    look |= {"markersize": 5.5 * scale, "markeredgewidth": 0}
    for name, curve in curves.items():
        order, style = np.argsort(curve.settings, kind="stable"), styles[name]
        strength, seeds = np.asarray(curve.settings)[order], np.atleast_2d(curve.values)[:, order]
        if len(seeds) > 1:
            # fmin and fmax skip NaN, without NumPy's warnings about settings with nothing else.
            low, high = np.fmin.reduce(seeds), np.fmax.reduce(seeds)
            ax.fill_between(strength, low, high, color=style.color, alpha=0.18, linewidth=0)
            if len(strength) == 1:  # a band without width is not visible
                ax.vlines(strength, low, high, color=style.color, linewidth=1.6 * scale)
        mean, color, marker = _mean_of_seeds(seeds), style.color, style.marker
        ax.plot(strength, mean, color=color, linestyle=style.line, marker=marker, **look)


# Curves of a sweep


class _Curve(NamedTuple):
    """A measure of settings that differ only in strength and seed."""

    method: str
    knob: str | None  # the parameter that sets the strength
    settings: Any  # its values, the weakest first
    values: NDArray[np.float64]  # (seeds, settings) or (settings,), NaN where there is no map


def _swept_mixing(result: SweepResult, column: object) -> tuple[str, _Arrays]:
    """Return the mixing along each line of a sweep: of the label, one column or the least mixed."""
    present = dict.fromkeys(name for swept in result.maps for name in swept.measures)
    names = mixings_of(present) or ["mixing"]
    columns = [name for _, name in map(split_measure, names) if name is not None]
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


def _swept_curves(result: SweepResult, measure: object) -> dict[str, _Curve]:
    """Return a measure along each line of a sweep; lines that differ in their seed are one."""
    known = list(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(unknown(measure, known, what="measure", where="the sweep"))
    groups: dict[tuple[str, str | None], list[Line]] = {}
    for line in result.lines():
        common = {name: line.parameters[name] for name in line.parameters if name != "random_state"}
        groups.setdefault((replace(line, parameters=common).title, line.knob), []).append(line)
    curves: dict[str, _Curve] = {}
    for (title, knob), lines in groups.items():
        # The same method may appear again with another parameter for its strength.
        name = f"{title}, by {knob}" if title in curves else title
        method = str(lines[0].parameters.get("method", result.estimator.get("method")))
        curves[name] = _curve_of(lines, knob, measure, method)
    return curves


def _curve_of(lines: list[Line], knob: str | None, measure: str, method: str) -> _Curve:
    def setting(swept: SweptMap) -> Any:
        value = swept.parameters[knob] if knob else None
        return float(value) if isinstance(value, Real) else str(value)  # text: one per label

    seeds = [{setting(made): made.measures.get(measure) for made in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for seed in seeds for key in seed))
    if all(isinstance(key, float) for key in settings):
        settings.sort(reverse=knob != "strength")
    values = np.array([[seed.get(key) for key in settings] for seed in seeds], np.float64)
    return _Curve(method, knob, settings, values)


def _knobs(curves: dict[str, _Curve]) -> list[str]:
    """Return the parameters that set the strength of some curve."""
    return list(dict.fromkeys(curve.knob for curve in curves.values() if curve.knob))


def _mean_of_seeds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    mean: NDArray[np.float64] = np.ma.masked_where(np.isnan(values), values).mean(axis=0)
    return np.ma.filled(mean, np.nan)


def _over_knob(curves: dict[str, _Curve], over: object) -> dict[str, _Curve]:
    """Return the curves over one knob, whose settings must be numbers."""
    varied = _knobs(curves)
    if not varied:
        raise ValueError("no line of the sweep varies a strength: there is nothing to draw over")
    choices = " or ".join(f"over={name!r}" for name in varied)
    if over is None and len(varied) > 1:
        names = " and ".join(varied)
        raise ValueError(f"the methods vary {names}, which need separate axes: choose {choices}")
    chosen = varied[0] if over is None else over
    if chosen not in varied:
        raise ValueError(f"no line of the sweep varies {shown(over)}; choose {choices}")
    drawn = {name: curve for name, curve in curves.items() if curve.knob == chosen}
    for name, curve in drawn.items():
        if any(isinstance(setting, str) for setting in curve.settings):
            raise ValueError(
                f"{name} has one {chosen} per label or column; draw pl.trade_off instead"
            )
    return drawn
