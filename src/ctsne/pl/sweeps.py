"""Curves of a sweep: a measure over the settings of each line."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import shown, unknown
from ctsne._core.vocabulary import measure_title, mixings_of, of_column, split_measure
from ctsne.sweep import Line, SweepResult, SweptMap


class SweptCurve(NamedTuple):
    """A measure of settings that differ only in strength and seed."""

    method: str
    steering: str | None  # the parameter that sets the strength
    settings: list[Any]  # its values, the weakest first
    values: NDArray[np.float64]  # of shape (seeds, settings), NaN where there is no map


def swept_mixing(result: SweepResult, column: object) -> tuple[str, dict[str, NDArray[np.float64]]]:
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
    first, *more = (swept_curves(result, name) for name in names)
    mixing = {line: curve.values for line, curve in first.items()}
    for curves in more:
        mixing = {line: np.fmin(values, curves[line].values) for line, values in mixing.items()}
    return title, mixing


def swept_curves(result: SweepResult, measure: object) -> dict[str, SweptCurve]:
    """Return a measure along each line of a sweep; lines that differ in their seed are one."""
    known = list(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(unknown(measure, known, what="measure", where="the sweep"))
    groups: dict[tuple[str, str | None], list[Line]] = {}
    for line in result.lines():
        common = {name: line.parameters[name] for name in line.parameters if name != "random_state"}
        groups.setdefault((replace(line, parameters=common).title, line.steering), []).append(line)
    curves: dict[str, SweptCurve] = {}
    for (title, steering), lines in groups.items():
        # The same method may appear again with another parameter for its strength.
        name = f"{title}, by {steering}" if title in curves else title
        method = str(lines[0].parameters.get("method", result.estimator.get("method")))
        curves[name] = _swept_curve(lines, steering, measure, method)
    return curves


def _swept_curve(lines: list[Line], steering: str | None, measure: str, method: str) -> SweptCurve:
    def setting(swept: SweptMap) -> Any:
        value = swept.parameters[steering] if steering else None
        return float(value) if isinstance(value, Real) else str(value)  # text: one per label

    seeds = [{setting(each): each.measures.get(measure) for each in line.maps} for line in lines]
    settings: list[Any] = list(dict.fromkeys(key for seed in seeds for key in seed))
    if all(isinstance(key, float) for key in settings):
        settings.sort(reverse=steering != "strength")
    values = np.array([[seed.get(key) for key in settings] for seed in seeds], np.float64)
    return SweptCurve(method, steering, settings, values)


def mean_of_seeds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the rows without NaN; a column of NaN stays NaN."""
    mean: NDArray[np.float64] = np.ma.masked_where(np.isnan(values), values).mean(axis=0)
    return np.ma.filled(mean, np.nan)


def over_parameter(curves: dict[str, SweptCurve], over: object) -> dict[str, SweptCurve]:
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
