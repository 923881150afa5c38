"""How to make one map of a sweep in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ctsne._fit.settings import DEFAULTS
from ctsne.methods import is_used
from ctsne.sweep import SweepResult
from ctsne.sweep.grid import IRRELEVANT, plain_value

__all__ = ["constructor_calls"]


def constructor_calls(result: SweepResult) -> list[str]:
    """Write the estimator of each map as it would be typed, without what has its default.

    Parameters that have no effect on the map are left out.
    """
    calls = []
    for swept in result.maps:
        whole = {**result.estimator, **swept.parameters}
        rest = {
            name: value
            for name, value in result.estimator.items()
            if name not in swept.parameters
            and name not in IRRELEVANT
            and is_used(name, whole)
            and plain_value(value) != plain_value(DEFAULTS[name])
        }
        named = {**swept.parameters, **rest}
        arguments = ", ".join(f"{name}={_typed(value)}" for name, value in named.items())
        calls.append(f"ConditionalTSNE({arguments})")
    return calls


def _typed(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = (f"{_typed(label)}: {_typed(number)}" for label, number in value.items())
        return f"{{{', '.join(pairs)}}}"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return f"<array of shape {np.shape(value)}>"  # a start or an alignment, too long to be typed
