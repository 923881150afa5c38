"""Sweeps made by hand, to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ctsne.settings import DEFAULTS
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import expand_grid

BASE = {**DEFAULTS, "random_state": 0}


def made_up(
    grid: Any, measures: Mapping[str, Sequence[float] | None], base: Mapping[str, Any] = BASE
) -> SweepResult:
    """Return a sweep with these measures of every map; None for one that there is not."""
    points = expand_grid(grid, base)
    given = {name: values for name, values in measures.items() if values is not None}
    assert {len(values) for values in given.values()} == {len(points)}
    maps = [
        SweptMap(
            point.parameters,
            np.zeros((3, 2), np.float32),
            dict(zip(given, own, strict=True)),
            1.0,
            None,
        )
        for point, own in zip(points, zip(*given.values(), strict=True), strict=True)
    ]
    return SweepResult(tuple(maps), tuple(points), base)
