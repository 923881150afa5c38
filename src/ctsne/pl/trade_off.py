"""One measure against another: what more conditioning costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers
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

_Arrays = dict[Any, NDArray[np.float64]]


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

    A method has the same colour in every figure and on the page of a report. The markers grow
    from the first setting to the last to show the direction of a line, and the settings are written
    next to them as far as there is room.

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
    xlabel, ylabel : str, optional
    width, ax
        As in :func:`ctsne.pl.embedding`.

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
            knobs = ", ".join(dict.fromkeys(curve.knob for curve in kept.values() if curve.knob))
            numbers = [Entry(f"numbers: {knobs}", marker="")] * bool(knobs)
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
    styles = curve_styles({name: methods.get(name) or method_of(name) for name in across})
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


def method_of(name: object) -> str:
    """Return the method that a name begins with, as ``revised p`` does, if any."""
    return str(name).replace(",", " ").split(" ")[0].lower().replace("-", "")


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


def mean_of_seeds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    mean: NDArray[np.float64] = np.ma.masked_where(np.isnan(values), values).mean(axis=0)
    return np.ma.filled(mean, np.nan)
