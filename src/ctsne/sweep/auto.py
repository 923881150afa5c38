"""The strength chosen by a sweep, for ``beta="auto"`` and ``strength="auto"``."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctsne._parameters import METHODS, altered
from ctsne._validation import check_choice
from ctsne._warnings import warn
from ctsne.labels import Labels
from ctsne.sweep.grid import STEERED_BY, GridPoint, default_grid, expand_grid, is_used
from ctsne.sweep.result import SweepResult
from ctsne.sweep.run import check_points, run_sweep

__all__ = ["Choice", "choose_strength", "steering_on_auto"]

# Where no strength mixes the labels far enough, the weakest that reaches this share of the most.
_NEAR_MOST = 0.95


def steering_on_auto(estimator: Any) -> str | None:
    """Return which parameter of the estimator is to be chosen, if any; refuse what cannot be."""
    own = STEERED_BY.get(check_choice(estimator.method, "method", METHODS))
    found = None
    for name in ("beta", "strength"):
        value = getattr(estimator, name)
        if not isinstance(value, str) or value != "auto":
            continue  # other values are checked with all parameters
        if name != own:
            advice = f'use {own}="auto"' if own else "it conditions nothing"
            raise ValueError(
                f'{name}="auto" is of no use with method={estimator.method!r:.60}: {advice}'
            )
        if not is_used(name, estimator.get_params(deep=False)):
            raise ValueError(
                f'{name}="auto" is of no use with method={estimator.method!r} and a beta_low, '
                "which takes its place; leave beta_low out"
            )
        found = name
    return found


@dataclass(frozen=True, eq=False)
class Choice:
    """A strength, how far the map made with it mixes the labels, and what was tried."""

    value: float
    mixing: float
    tried: SweepResult


def choose_strength(estimator: Any, name: str, matrix: Any, known: Labels) -> Choice:
    """Choose the weakest strength that mixes the labels as far as the estimator's ``mixing``.

    Strengths are tried from the weakest on, each from the map of the one before. Maps on such a
    path differ from those made by themselves, so the choice is checked on one of these, and the
    next stronger ones are, until one mixes far enough.
    """
    points = expand_grid(default_grid(estimator.method), estimator)
    strengths = [float(point.parameters[name]) for point in points]
    path = _sweep(estimator, points, matrix, known)
    if not any(np.isfinite(swept.measures.get("mixing", np.nan)) for swept in path.maps):
        warn(
            f"the mixing of the labels cannot be measured, as hardly any point has one: {name}="
            f"{strengths[0]:g} is taken, which conditions nothing"
        )
        return Choice(strengths[0], float("nan"), path)
    most = path.most_mixed().measures["mixing"]
    reachable = most >= estimator.mixing
    share = estimator.mixing if reachable else _NEAR_MOST * most
    first = strengths.index(float(path.best(share).parameters[name]))
    checked: dict[float, float] = {}
    for point, value in zip(points[first:], strengths[first:], strict=True):
        (made,) = _sweep(estimator, [point], matrix, known).maps
        checked[value] = float(np.nan_to_num(made.measures.get("mixing", 0.0)))
        if checked[value] >= share or not reachable:
            break
    else:
        share = _NEAR_MOST * max(checked.values())
    value, mixing = next(each for each in checked.items() if each[1] >= share or not reachable)
    if mixing < estimator.mixing:
        warn(
            f"no {name} was found that mixes the labels to mixing={estimator.mixing:g} of what "
            f"random labels would give: {name}={value:g} is taken, with {mixing:.2f}"
        )
    return Choice(value, mixing, path)


def _sweep(estimator: Any, points: list[GridPoint], matrix: Any, known: Labels) -> SweepResult:
    # Every trial draws from the same random state, and the user's own is left as it is.
    trial = altered(estimator, random_state=copy.deepcopy(estimator.random_state))
    settings = check_points(points, trial, matrix, known)
    return run_sweep(
        matrix,
        known,
        points,
        settings,
        trial,
        path=True,
        progress=bool(estimator.verbose),
        until=estimator.mixing,
    )
