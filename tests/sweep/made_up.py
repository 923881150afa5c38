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
    grid: Any,
    measures: Mapping[str, Sequence[float] | None],
    base: Mapping[str, Any] = BASE,
    *,
    noise: float = 0.0,
) -> SweepResult:
    """Return a sweep with these measures of every map; None for one that there is not.

    ``noise`` is the standard error of the difference between two maps.
    """
    points = expand_grid(grid, base)
    given = {name: values for name, values in measures.items() if values is not None}
    assert {len(values) for values in given.values()} == {len(points)}
    rng = np.random.default_rng(0)
    # Orthogonal deviations: the difference of any two maps has exactly this standard error.
    drawn = np.column_stack([np.ones(40), rng.normal(size=(40, len(points)))])
    rows = np.linalg.qr(drawn)[0].T[1:] * noise * np.sqrt(40 * 39 / 2)
    maps = [
        SweptMap(
            point.parameters,
            np.zeros((3, 2), np.float32),
            dict(zip(given, own, strict=True)),
            1.0,
            None,
            parts={name: value + row for name, value in zip(given, own, strict=True)},
        )
        for point, own, row in zip(points, zip(*given.values(), strict=True), rows, strict=True)
    ]
    return SweepResult(tuple(maps), tuple(points), base)
