"""The maps of a sweep, as the page holds them."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.affinity.result import DOMINATED
from ctsne.sweep import Line, SweepResult, SweptMap

__all__ = [
    "choices",
    "dominated_points",
    "listed_lines",
    "map_facts",
    "packed_map",
    "reference_map",
]

# How many dominated points a page lists for each map.
_LISTED = 50


def drawn_positions(swept: SweptMap, rows: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return where the rows lie in the smallest square around them, in steps of 1/65535.

    Maps differ in their spread, which means nothing and would make some of them tiny beside
    others. A map on a line is spread at random across it.
    """
    assert swept.embedding is not None
    positions = swept.embedding[rows].astype(np.float64)
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    share = (positions - (low + high) / 2) / side + 0.5
    if share.shape[1] == 1:
        across = np.random.default_rng(0).uniform(0.45, 0.55, len(share))
        share = np.column_stack([share[:, 0], across])
    steps: NDArray[np.uint16] = np.rint(share * 65535).astype(np.uint16)
    return steps


def packed_map(
    swept: SweptMap, rows: NDArray[np.int64]
) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """Return the top of each diagnostic's scale, and the arrays of the rows, as small as can be.

    Shares have steps of 1/255, perplexities of 1/65535 of the highest.
    """
    arrays: dict[str, NDArray[Any]] = {"positions": drawn_positions(swept, rows).ravel()}
    highest = {}
    for name, values in swept.diagnostics.items():
        if name == "matched":  # of the data, not of the map: it is a column to colour by
            continue
        shown = np.nan_to_num(values[rows].astype(np.float64))
        if name == "perplexity":
            highest[name] = float(shown.max()) or 1.0
            arrays[name] = np.rint(shown / highest[name] * 65535).astype(np.uint16)
        else:
            highest[name] = 1.0
            arrays[name] = np.rint(shown.clip(0, 1) * 255).astype(np.uint8)
    return highest, arrays


def dominated_points(swept: SweptMap) -> tuple[int, NDArray[np.int64]]:
    """Count the points dominated by one neighbour, and return the worst of them first."""
    weights = swept.diagnostics.get("largest_weight")
    if weights is None:
        return 0, np.empty(0, np.int64)
    found = np.flatnonzero(weights > DOMINATED)
    worst = found[np.argsort(-weights[found], kind="stable")[:_LISTED]]
    return len(found), worst.astype(np.int64)


def listed_lines(result: SweepResult) -> list[dict[str, Any]]:
    """Return the lines of the sweep, each with the places of its maps, the weakest first."""
    place = {id(swept): index for index, swept in enumerate(result.maps)}
    return [
        {
            "title": line.title,
            "steering": line.steering,
            "maps": [place[id(swept)] for swept in line.maps],
        }
        for line in result.lines()
    ]


def choices(result: SweepResult) -> list[list[list[int]]]:
    """Return what :meth:`SweepResult.suggest` chooses from: lines, strengths on them, seeds."""
    place = {id(swept): index for index, swept in enumerate(result.maps)}
    try:
        lines = result.candidates()
    except ValueError:  # nothing to choose by: a single label
        return []
    return [[[place[id(swept)] for swept in group] for group in line] for line in lines]


def map_facts(result: SweepResult) -> list[dict[str, Any]]:
    """Return title, setting, strength as a number, measures and error of every map."""
    line_of = {id(swept): line for line in result.lines() for swept in line.maps}
    facts = []
    for swept in result.maps:
        line = line_of.get(id(swept))
        setting = _setting(swept, line)
        value = swept.parameters.get(line.steering or "") if line is not None else None
        facts.append(
            {
                "plain": swept.parameters.get("method") == "tsne",
                "title": ", ".join(filter(None, [line.title, setting])) if line else swept.title,
                "setting": setting,
                "value": float(value) if isinstance(value, Real) else None,
                "measures": {
                    name: float(number)
                    for name, number in swept.measures.items()
                    if math.isfinite(number)
                },
                "seconds": swept.seconds if math.isfinite(swept.seconds) else None,
                "error": swept.error,
            }
        )
    return facts


def reference_map(result: SweepResult) -> int:
    """Return the place of the t-SNE map, or else of the weakest setting."""
    lines = result.lines()
    tsne = [line for line in lines if line.parameters["method"] == "tsne"]
    first = (tsne or lines)[0].maps[0]
    return next(index for index, swept in enumerate(result.maps) if swept is first)


def _setting(swept: SweptMap, line: Line | None) -> str:
    """Return the strength of a map in words."""
    if line is None or line.steering not in swept.parameters:
        return ""
    value = swept.parameters[line.steering]
    return Line({line.steering: value}, line.steering, (swept,)).title
