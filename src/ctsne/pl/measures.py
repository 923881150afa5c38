"""Charts of measures: over the strength of the conditioning, and against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_finite, check_number
from ctsne._core.messages import value_text
from ctsne._core.vocabulary import measure_title, split_measure
from ctsne.labels import encode_column
from ctsne.pl import figures
from ctsne.pl.legends import Entry, add_legend
from ctsne.pl.names import add_notes
from ctsne.pl.palette import METHOD_COLORS, palette
from ctsne.pl.points import MARKERS
from ctsne.pl.sweeps import mean_of_seeds, over_parameter, swept_curves, swept_mixing
from ctsne.sweep import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Strengths in (0, 1] that span more than this factor are drawn on a logarithmic axis.
_LINEAR_SPAN = 100
# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0
# Lines of the same method.
_DASHES = ("-", "--", ":", "-.")
# Inches of a panel for a measure where there are several; an axis spans at least this much, so that
# small differences look small.
_PANEL, _LEAST_RANGE = (3.6, 2.6), 0.1
# Smaller settings are written with an exponent.
_SCIENTIFIC = 0.01

_Arrays = dict[Any, NDArray[np.float64]]


def measures(
    strength: ArrayLike | Mapping[Any, ArrayLike] | SweepResult,
    values: Mapping[Any, Any] | str | Sequence[str] = "mixing",
    *,
    over: str | None = None,
    expected: float | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a measure over the strength of the conditioning, one line per method.

    Strengths in (0, 1] that span more than two decades, such as beta, are drawn on a logarithmic
    axis with 1 (no conditioning) at the left; others on a linear one. A method has the same colour
    in every figure and on the page of a report.

    Parameters
    ----------
    strength : array-like of shape (s,), mapping of name to array-like, or SweepResult
        The settings, common to all names or one array per name. All lines of a sweep are drawn.
    values : mapping of name to array-like of shape (s,) or (seeds, s), str or list of str
        The measure at each setting. With several seeds the line is their mean and the band spans
        lowest to highest. NaN leaves a gap. For a sweep, the name of a measure, a column of its
        table; several names, or a mapping from them to titles, have a panel each, one legend, and
        a column of panels for every parameter that sets a strength.
    over : {"beta", "strength", "beta_low"}, optional
        For a sweep whose methods have different parameters: draw those with this one.
    expected : float, optional
        The value for random labels, drawn as a dotted line; 1 for the mixing of a sweep.
    xlabel, ylabel : str, optional
    width : {"single", "double"} or float, optional
        As in :func:`ctsne.pl.embedding`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes, or ndarray of shape (measures, parameters) for several measures

    Examples
    --------
    >>> from ctsne import pl
    >>> beta = [1.0, 1e-2, 1e-4]
    >>> ax = pl.measures(beta, {"revised": [0.0, 0.3, 0.9]}, expected=1, ylabel="mixing")
    >>> ax.get_xscale()
    'log'
    """
    wide, methods = figures.check_width(width, ax), {}
    if isinstance(strength, SweepResult):
        if isinstance(values, Sequence | Mapping) and not isinstance(values, str):
            if ax is not None or expected is not None or ylabel is not None:
                raise ValueError(
                    "several measures need axes of their own; leave out ax, expected and ylabel"
                )
            titles = [measure_title(str(name)) for name in values]
            titles = list(values.values()) if isinstance(values, Mapping) else titles
            return _several(strength, dict(zip(values, titles, strict=True)), over, xlabel, wide)
        measure, drawn = values, over_parameter(swept_curves(strength, values), over)
        strength = {name: curve.settings for name, curve in drawn.items()}
        values = {name: curve.values for name, curve in drawn.items()}
        methods = {name: curve.method for name, curve in drawn.items()}
        xlabel = next(iter(drawn.values())).steering if xlabel is None else xlabel
        ylabel = measure_title(str(measure)) if ylabel is None else ylabel
        if expected is None and split_measure(str(measure))[0] in ("mixing", "other_mixing"):
            expected = 1.0
    curves = _check_curves(values, argument="values")
    settings = _check_strengths(strength, curves)
    if expected is not None:
        expected = check_number(expected, "expected", low=-np.inf)
    own, ax = ax is None, figures.chart_axes(ax, fixed=width)
    styles = _curve_styles(list(curves), methods)
    xlabel = "beta" if xlabel is None else xlabel
    _draw_curves(ax, settings, curves, styles, expected)
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="y")
    room = add_legend(ax, [*styles.values(), *_random_entry(expected)])
    if own:
        figures.widen(ax, room)
    return ax


def _several(
    result: SweepResult,
    titles: dict[str, str],
    over: str | None,
    xlabel: str | None,
    wide: float | None,
) -> NDArray[np.object_]:
    """Draw a row for each measure, a column for each parameter that sets the strength."""
    names = list(titles)
    curves = [swept_curves(result, name) for name in names]
    lines = curves[0] if curves else {}
    varied = list(dict.fromkeys(each.steering for each in lines.values() if each.steering))
    chosen = [over] if over is not None or not varied else varied
    drawn = [[over_parameter(each, parameter) for parameter in chosen] for each in curves]
    styles = _curve_styles(list(lines), {name: each.method for name, each in lines.items()})
    figure = figures.new_figure(wide)
    rows, columns = len(names), len(chosen)
    size = np.array(_PANEL) * (columns, rows)
    figure.set_size_inches(size if wide is None else (wide, wide * size[1] / (size[0] + 1)))
    figure.set_layout_engine("constrained")
    axes: NDArray[np.object_] = figure.subplots(rows, columns, squeeze=False, sharex="col")
    used = {name: style for name, style in styles.items() if any(name in each for each in drawn[0])}
    some = False
    for row, (name, parts) in enumerate(zip(names, drawn, strict=True)):
        expected = 1.0 if split_measure(name)[0] in ("mixing", "other_mixing") else None
        some = some or expected is not None
        for column, part in enumerate(parts):
            ax = axes[row, column]
            settings = {each: np.array(curve.settings) for each, curve in part.items()}
            values = {each: curve.values for each, curve in part.items()}
            _draw_curves(ax, settings, values, styles, expected)
            label = (chosen[column] if xlabel is None else xlabel) if row == rows - 1 else ""
            title = titles[name] if column == 0 else ""
            figures.finish_chart(ax, xlabel=label, ylabel=title, grid="y")
            ax.tick_params(labelbottom=row == rows - 1)
        _share_range(list(axes[row]))
    room = add_legend(axes[0, -1], [*used.values(), *_random_entry(1.0 if some else None)])
    figures.widen(axes[0, -1], room)
    return axes


def _share_range(row: list[Axes]) -> None:
    """Let all panels of a measure span the same values, from 0 on."""
    low = min(0.0, *(ax.get_ylim()[0] for ax in row if np.isfinite(ax.dataLim.y0)))
    low = low if min(ax.dataLim.y0 for ax in row) < 0 else 0.0
    high = max(_LEAST_RANGE, *(1.03 * ax.get_ylim()[1] for ax in row))  # with room for a dot
    for ax in row:
        ax.set_ylim(low, high)


def _random_entry(expected: float | None) -> list[Entry]:
    return [] if expected is None else [Entry("random labels", figures.GREY, "", ":")]


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
    figures.check_width(width, ax)
    methods, numbers = {}, []
    if isinstance(x, SweepResult):
        title, mixing = swept_mixing(x, column)
        xlabel = title if xlabel is None else xlabel
        ylabel = measure_title(str(y)) if ylabel is None else ylabel
        kept = swept_curves(x, y)
        methods = {name: curve.method for name, curve in kept.items()}
        steered = {name: curve for name, curve in kept.items() if curve.steering is not None}
        if settings is None:
            settings = {name: curve.settings for name, curve in steered.items()}
            parameters = dict.fromkeys(str(curve.steering) for curve in steered.values())
            numbers = [Entry(f"numbers: {', '.join(parameters)}", marker="")] * bool(parameters)
        x = {name: mean_of_seeds(values) for name, values in mixing.items()}
        y = {name: mean_of_seeds(curve.values) for name, curve in kept.items()}
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
    styles, scale = _curve_styles(list(across), methods), figures.scale_of(ax)
    for name, style in styles.items():
        line, color, marker = (across[name], along[name]), style.color, style.marker
        # Counted from the largest, so that a single setting has the largest marker.
        sizes = np.linspace(_LARGEST, _SMALLEST, len(line[0]))[::-1] * MARKERS[marker] * scale**2
        ax.plot(*line, color=color, linestyle=style.line, linewidth=1.4 * scale, alpha=0.7)
        ax.scatter(*line, s=sizes, color=color, marker=marker, linewidths=0, zorder=2.5)
    places = {name: np.column_stack([across[name], along[name]]) for name in notes}
    add_notes(ax, places, notes, {name: styles[name].color for name in notes})
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="both")
    room = add_legend(ax, [*styles.values(), *numbers])
    if own:
        figures.widen(ax, room)
    return ax


def _check_settings(settings: Any, curves: _Arrays) -> dict[Any, list[str]]:
    """Return a text for each setting of each name."""
    if not isinstance(settings, Mapping):
        kind = type(settings).__name__
        raise TypeError(f"settings must be a mapping from names to settings, got {kind}")
    notes = {}
    for name, values in settings.items():
        if name not in curves or len(values) != len(curves[name]):
            raise ValueError(
                f"settings[{name!r}] must have one entry per value of x, got {len(values)}"
            )
        notes[name] = [_short(value) for value in values]
    return notes


def _short(value: Any) -> str:
    """Write a setting in a few characters: 0.1, 1e-4."""
    if isinstance(value, Real) and 0 < float(value) < _SCIENTIFIC:
        return np.format_float_scientific(float(value), precision=2, trim="-", exp_digits=1)
    return value_text(value)


def _check_curves(curves: Any, *, argument: str) -> _Arrays:
    """Return the arrays of a mapping from names, or refuse it."""
    if not isinstance(curves, Mapping) or not curves:
        kind = type(curves).__name__
        raise TypeError(f"{argument} must be a mapping from names to arrays, got {kind}")
    return {
        name: np.asarray(as_numbers(values, argument=f"{argument}[{name!r}]"), np.float64)
        for name, values in curves.items()
    }


def _curve_styles(names: list[Any], methods: Mapping[Any, str]) -> dict[Any, Entry]:
    """Return a colour, marker and line per name; the same set of names always has the same.

    A method has its own colour, so its lines differ in their dashes.
    """
    texts = {name: str(name) for name in names}
    method = {name: methods.get(name, _method_of(text)) for name, text in texts.items()}
    others = palette([text for name, text in texts.items() if method[name] not in METHOD_COLORS])
    ranks = dict(zip(names, encode_column(list(texts.values())).codes.tolist(), strict=True))
    styles, used = {}, dict.fromkeys(method.values(), 0)
    for name in sorted(names, key=lambda name: ranks[name]):
        own = METHOD_COLORS.get(method[name])
        dash = _DASHES[used[method[name]] % len(_DASHES)] if own else "-"
        used[method[name]] += 1
        marker = list(MARKERS)[ranks[name] % len(MARKERS)]
        color = own or others[texts[name]]
        styles[name] = Entry(figures.shown_text(texts[name]), color, marker, dash)
    return {name: styles[name] for name in names}


def _method_of(text: str) -> str:
    """Return the method that a name begins with, as ``revised p`` does, if any."""
    return text.replace(",", " ").split(" ")[0].lower().replace("-", "")


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


def _draw_curves(
    ax: Axes,
    settings: _Arrays,
    curves: Mapping[Any, NDArray[np.float64]],
    styles: Mapping[Any, Entry],
    expected: float | None,
) -> None:
    """Draw each curve, over a line for random labels."""
    width = 1.6 * figures.scale_of(ax)
    _set_scale(ax, np.concatenate(list(settings.values())))
    if expected is not None:
        ax.axhline(expected, color=figures.GREY, linestyle=":", linewidth=width, zorder=1.5)
    for name, curve in curves.items():
        _draw_curve(ax, settings[name], np.atleast_2d(curve), styles[name])


def _draw_curve(ax: Axes, strength: NDArray[Any], seeds: NDArray[Any], style: Entry) -> None:
    order = np.argsort(strength, kind="stable")
    strength, seeds, color = strength[order], seeds[:, order], style.color
    scale = figures.scale_of(ax)
    if len(seeds) > 1:
        # fmin and fmax skip NaN, without NumPy's warnings about settings that have nothing else.
        low, high = np.fmin.reduce(seeds), np.fmax.reduce(seeds)
        ax.fill_between(strength, low, high, color=color, alpha=0.18, linewidth=0)
        if len(strength) == 1:  # a band without width is not visible
            ax.vlines(strength, low, high, color=color, linewidth=1.6 * scale)
    (line,) = ax.plot(strength, mean_of_seeds(seeds), color=color, linestyle=style.line)
    line.set(linewidth=1.6 * scale, marker=style.marker, markersize=5.5 * scale)
    line.set_markeredgewidth(0)
