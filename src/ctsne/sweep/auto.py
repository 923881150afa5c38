"""The strength chosen by a sweep, for ``beta="auto"`` and ``strength="auto"``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ctsne._parameters import METHODS
from ctsne._validation import check_choice
from ctsne.labels import Labels
from ctsne.sweep.grid import STEERED_BY, default_grid, expand_grid, is_used
from ctsne.sweep.result import SweepResult
from ctsne.sweep.run import check_points, run_sweep

__all__ = ["choose_strength", "steering_on_auto"]

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


def choose_strength(
    estimator: Any, name: str, matrix: Any, known: Labels
) -> tuple[float, SweepResult]:
    """Choose the weakest strength that mixes the labels as far as the estimator's ``mixing``.

    Strengths are tried from the weakest on, each from the map of the one before.
    """
    points = expand_grid(default_grid(estimator.method), estimator)
    result = run_sweep(
        matrix,
        known,
        points,
        check_points(points, estimator, matrix, known),
        estimator,
        path=True,
        progress=bool(estimator.verbose),
        until=estimator.mixing,
    )
    if not any(np.isfinite(swept.measures.get("mixing", np.nan)) for swept in result.maps):
        value = float(points[0].parameters[name])
        warnings.warn(
            f"the mixing of the labels cannot be measured, as hardly any point has one: {name}="
            f"{value:g} is taken, which conditions nothing",
            UserWarning,
            stacklevel=4,
        )
        return value, result
    most = result.most_mixed().measures["mixing"]
    reached = most >= estimator.mixing
    chosen = result.best(estimator.mixing if reached else _NEAR_MOST * most)
    value = float(chosen.parameters[name])
    if not reached:
        warnings.warn(
            f"no {name} mixes the labels to mixing={estimator.mixing:g} of what random labels "
            f"would give: the most is {most:.2f}; {name}={value:g} is taken, the weakest that "
            f"comes near it with {chosen.measures['mixing']:.2f}",
            UserWarning,
            stacklevel=4,
        )
    return value, result
