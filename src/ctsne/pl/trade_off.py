"""One measure against another: what more conditioning costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_kind
from ctsne._core.messages import unknown, value_text
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

# Areas of the markers at the weakest and at the strongest setting, in square points.
_SMALLEST, _LARGEST = 14.0, 64.0
# Lines of the same method.
_DASHES = ("-", "--", ":", "-.")
# Smaller settings are written with an exponent.
_SCIENTIFIC = 0.01


_Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """Two measures of settings that differ only in strength, the weakest first."""

    method: str
    x: _Floats
    y: _Floats
    notes: Sequence[str] = ()  # what to write at the markers


def trade_off(
    result: SweepResult,
    measure: str = "adjusted_rnx",
    *,
    column: str | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what mixing costs: a measure of a sweep over its mixing, one line per method.

    A method has the same colour in every figure and on the page of a report. The markers grow
    from the weakest setting to the strongest, and the settings are written next to them as far as
    there is room. Several seeds give their mean.

    Parameters
    ----------
    result : SweepResult
    measure : str, default="adjusted_rnx"
        The name of a measure in its table.
    column : str, optional
        With several label columns, the one whose mixing is drawn; by default that of the least
        mixed column of every map.
    width, ax
        As in :func:`ctsne.pl.embedding`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> pl.trade_off(result).get_ylabel()
    'neighbours kept'
    """
    check_kind(result, SweepResult, "result")
    title, mixing = _swept_mixing(result, column)
    kept = _swept_lines(result, measure)
    curves = {
        name: Curve(
            line.method,
            mean_of_seeds(mixing[name]),
            mean_of_seeds(line.values),
            [_setting_text(setting) for setting in line.settings] if line.knob else (),
        )
        for name, line in kept.items()
    }
    knobs = ", ".join(dict.fromkeys(line.knob for line in kept.values() if line.knob))
    numbers = [Entry(f"numbers: {knobs}", marker="")] * bool(knobs)
    return draw_curves(curves, title, measure_title(measure), numbers, width=width, ax=ax)


def draw_curves(
    curves: Mapping[Any, Curve],
    xlabel: str,
    ylabel: str,
    entries: Sequence[Entry] = (),
    *,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line per name with growing markers; further ``entries`` end the legend."""
    own, ax = ax is None, figures.chart_axes(ax, width=4.8, height=4.2, fixed=width)
    styles = curve_styles({name: curve.method for name, curve in curves.items()})
    scale, beside = figures.scale_of(ax), []
    for name, style in styles.items():
        line, color, marker = (curves[name].x, curves[name].y), style.color, style.marker
        # Counted from the largest, so that a single setting has the largest marker.
        sizes = np.linspace(_LARGEST, _SMALLEST, len(line[0]))[::-1] * MARKERS[marker] * scale**2
        ax.plot(*line, color=color, linestyle=style.line, linewidth=1.4 * scale, alpha=0.7)
        ax.scatter(*line, s=sizes, color=color, marker=marker, linewidths=0, zorder=2.5)
        if curves[name].notes:
            beside.append((curves[name].notes, np.column_stack(line), color))
    add_notes(ax, beside)
    figures.finish_chart(ax, xlabel=xlabel, ylabel=ylabel, grid="both")
    room = add_legend(ax, [*styles.values(), *entries])
    if own:
        figures.widen(ax, room)
    return ax


def _setting_text(value: Any) -> str:
    if isinstance(value, float) and 0 < value < _SCIENTIFIC:
        return np.format_float_scientific(value, precision=2, trim="-", exp_digits=1)
    return value_text(value)


def curve_styles(methods: Mapping[Any, str]) -> dict[Any, Entry]:
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


class _SweptLine(NamedTuple):
    """A measure of settings that differ only in strength and seed."""

    method: str
    knob: str | None  # the parameter that sets the strength
    settings: Any  # its values, the weakest first
    values: _Floats  # (seeds, settings), NaN where there is no map


def _swept_mixing(result: SweepResult, column: object) -> tuple[str, dict[str, _Floats]]:
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
    first, *more = (_swept_lines(result, name) for name in names)
    mixing = {name: line.values for name, line in first.items()}
    for lines in more:
        mixing = {name: np.fmin(values, lines[name].values) for name, values in mixing.items()}
    return title, mixing


def _swept_lines(result: SweepResult, measure: object) -> dict[str, _SweptLine]:
    """Return a measure along each line of a sweep; lines that differ in their seed are one."""
    known = list(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(unknown(measure, known, what="measure", where="the sweep"))
    groups: dict[tuple[str, str | None], list[Line]] = {}
    for line in result.lines():
        common = {name: line.parameters[name] for name in line.parameters if name != "random_state"}
        groups.setdefault((replace(line, parameters=common).title, line.knob), []).append(line)
    curves: dict[str, _SweptLine] = {}
    for (title, knob), lines in groups.items():
        # The same method may appear again with another parameter for its strength.
        name = f"{title}, by {knob}" if title in curves else title
        method = str(lines[0].parameters.get("method", result.estimator.get("method")))
        curves[name] = _line_of(lines, knob, measure, method)
    return curves


def _line_of(lines: list[Line], knob: str | None, measure: str, method: str) -> _SweptLine:
    def setting(swept: SweptMap) -> Any:
        value = swept.parameters[knob] if knob else None
        return float(value) if isinstance(value, Real) else str(value)  # text: one per label

    seeds = [{setting(made): made.measures.get(measure) for made in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for seed in seeds for key in seed))
    if all(isinstance(key, float) for key in settings):
        settings.sort(reverse=knob != "strength")
    values = np.array([[seed.get(key) for key in settings] for seed in seeds], np.float64)
    return _SweptLine(method, knob, settings, values)


def mean_of_seeds(values: _Floats) -> _Floats:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    mean: _Floats = np.ma.masked_where(np.isnan(values), values).mean(axis=0)
    return np.ma.filled(mean, np.nan)
