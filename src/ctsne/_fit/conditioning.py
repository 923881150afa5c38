"""What says how much to factor out, and in which space: checked before any work starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_number
from ctsne.affinity import beta_from_odds
from ctsne.labels import Labels
from ctsne.methods import KNOBS, METHODS, Method, is_used

__all__ = ["check_below", "check_knobs", "check_mixing", "knob_value"]

# More would leave next to nothing of the repulsion between labels.
LARGEST_ODDS = 1e6


def knob_value(given: Mapping[str, Any]) -> Any:
    """Return what steers the method: the value given, or the method's default."""
    method = METHODS[given["method"]]
    if method.knob is None:
        return None
    return method.default if given[method.knob] is None else given[method.knob]


def check_mixing(given: Mapping[str, Any], method: Method) -> float | None:
    """Return the mixing to aim at; refuse what would contradict it."""
    if given["mixing"] is None:
        return None
    mixing = check_number(given["mixing"], "mixing", low=0, high=1)
    if method.knob is None:
        raise ValueError(
            f"mixing={mixing:g} needs a method that conditions, but "
            f'method="{method.name}" does not use labels; leave one of them out'
        )
    for name in KNOBS:
        if given[name] is not None:
            raise ValueError(
                f"mixing={mixing:g} finds the value of {method.knob} by itself, but "
                f"{name}={given[name]!r:.60} was given too; leave one of them out"
            )
    if not is_used(method.knob, given):
        raise ValueError(
            f'mixing={mixing:g} cannot be reached with method="{method.name}" and a given odds or '
            f"beta_low, which takes the place of {method.knob}; leave that out"
        )
    return mixing


def check_knobs(given: Mapping[str, Any], labels: Labels | None) -> dict[str, NDArray[np.float64]]:
    """Check what is given for any knob, and return that of the method for each label."""
    values = {name: given[name] for name in KNOBS if given[name] is not None}
    knob = METHODS[given["method"]].knob
    if knob is not None:
        values[knob] = knob_value(given)
    return {
        name: _check_per_label(value, name, labels, high=1.0, open_low=name == "beta")
        for name, value in values.items()
    }


def check_below(given: Mapping[str, Any], labels: Labels | None) -> NDArray[np.float64] | None:
    """Return the conditioning of the map that was asked for, as the paper's beta."""
    odds, beta_low = given["odds"], given["beta_low"]
    if odds is not None and beta_low is not None:
        raise ValueError(
            f"odds={odds!r:.60} and beta_low={beta_low!r:.60} are two ways to say the same; leave "
            "one of them out"
        )
    if beta_low is not None:
        return _check_per_label(beta_low, "beta_low", labels, high=1.0, open_low=True)
    if odds is None:
        return None
    values = _check_per_label(odds, "odds", labels, low=1.0, high=LARGEST_ODDS)
    return values if labels is None else beta_from_odds(labels, values)


def _check_per_label(
    value: Any,
    argument: str,
    labels: Labels | None,
    *,
    low: float = 0.0,
    high: float,
    open_low: bool = False,
) -> NDArray[np.float64]:
    """One number for each label; without labels none, but checked alike."""
    hint = "or a mapping from each label to such a number"
    numbers = (
        {f"{argument}[{key!r:.40}]": number for key, number in value.items()}
        if isinstance(value, Mapping)
        else {argument: value}
    )
    for name, number in numbers.items():
        check_number(number, name, low=low, high=high, open_low=open_low, hint=hint)
    return np.empty(0) if labels is None else labels.per_label(value, argument=argument)
