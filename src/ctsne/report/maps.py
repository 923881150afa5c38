"""The maps of a sweep, in the form the page stores them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctsne.affinity.result import DOMINATED
from ctsne.methods import is_used
from ctsne.pl.palette import METHOD_COLORS
from ctsne.settings import DEFAULTS
from ctsne.sweep import Line, SweepResult, SweptMap
from ctsne.sweep.grid import IRRELEVANT, plain_value

# Maximum number of dominated points listed per map.
_LISTED = 50


class Diagnostic(NamedTuple):
    """A number of each point of a map that the page can show and colour by."""

    name: str
    digits: int  # decimals to show
    about: str  # how to read it


# ``matched`` is the same in all maps, so it is a column to colour by.
DIAGNOSTICS = {
    "perplexity": Diagnostic(
        "perplexity", 1, "Effective number of neighbours of the point in the similarities."
    ),
    "other_share": Diagnostic(
        "weight on other labels", 2, "Share of the point's weight on neighbours with other labels."
    ),
    "largest_weight": Diagnostic(
        "largest weight", 2, "Near 1: the place of the point depends on a single neighbour."
    ),
}


class PackedMap(NamedTuple):
    """A map as the page stores it."""

    highest: dict[str, float]  # the top of the scale of each diagnostic, which begins at 0
    constant: dict[str, float]  # diagnostics that are the same for all points
    arrays: dict[str, NDArray[Any]]


def packed_map(swept: SweptMap, rows: NDArray[np.int64]) -> PackedMap:
    """Pack the rows of a map: four bytes for each position, one for each diagnostic.

    In the file, base64 takes a third more: 5.3 bytes per point for the positions, 1.3 for each
    diagnostic that differs between points, at most 9.3 per point and map.
    """
    packed = PackedMap({}, {}, {"positions": _drawn_positions(swept, rows).ravel()})
    for name, about in DIAGNOSTICS.items():
        if name not in swept.diagnostics:
            continue
        values = np.nan_to_num(swept.diagnostics[name].astype(np.float64))
        low, high = float(values.min()), float(values.max())
        if high - low < 0.5 * 10**-about.digits:
            packed.constant[name] = round(high, about.digits + 1)
            continue
        highest = packed.highest[name] = high if name == "perplexity" else 1.0
        packed.arrays[name] = np.rint((values[rows] / highest).clip(0, 1) * 255).astype(np.uint8)
    return packed


def _drawn_positions(swept: SweptMap, rows: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return positions in the smallest square, in steps of 1/65535; a line gets random heights."""
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


def dominated_points(swept: SweptMap) -> dict[str, Any]:
    """Count the points dominated by one neighbour, and list the worst with their weights."""
    weights = swept.diagnostics.get("largest_weight", np.empty(0))
    found = np.flatnonzero(weights > DOMINATED)
    worst = found[np.argsort(-weights[found], kind="stable")[:_LISTED]].tolist()
    return {"count": len(found), "worst": [[row, round(float(weights[row]), 3)] for row in worst]}


def sweep_facts(result: SweepResult) -> dict[str, Any]:
    """Return facts about maps and lines; choices are nested by line, strength and seed."""
    place = {id(swept): index for index, swept in enumerate(result.maps)}
    all_lines = result.lines()
    maps = [_map_facts(swept, all_lines) for swept in result.maps]

    def indices(chosen: Iterable[SweptMap]) -> list[int]:
        return [place[id(swept)] for swept in chosen]

    lines = [
        {
            "title": line.title,
            "steering": line.steering,
            "maps": indices(line.maps),
            "method": line.parameters["method"],
            "color": METHOD_COLORS[line.parameters["method"]],
        }
        for line in all_lines
    ]
    try:
        choices = [[indices(group) for group in line] for line in result.candidates()]
    except ValueError:  # mixing cannot be measured: a single label
        choices = []
    tsne = [line for line in all_lines if line.parameters["method"] == "tsne"]
    reference = place[id((tsne or all_lines)[0].maps[0])]
    return {"maps": maps, "lines": lines, "choices": choices, "reference": reference}


def _map_facts(swept: SweptMap, lines: Iterable[Line]) -> dict[str, Any]:
    line = next((line for line in lines if any(each is swept for each in line.maps)), None)
    title, setting, value = swept.title, "", None
    if line is not None:
        if line.steering in swept.parameters:
            value = swept.parameters[line.steering]
            setting = Line({line.steering: value}, line.steering, (swept,)).title
        title = ", ".join(filter(None, [line.title, setting]))
    return {
        "plain": swept.parameters.get("method") == "tsne",
        "title": title,
        "setting": setting,
        "value": float(value) if isinstance(value, Real) else None,
        "measures": {name: float(x) for name, x in swept.measures.items() if math.isfinite(x)},
        "seconds": swept.seconds if math.isfinite(swept.seconds) else None,
        "error": swept.error,
    }


def constructor_calls(result: SweepResult) -> list[str]:
    """Write the estimator of each map in Python, without defaults and unused parameters."""
    changed = {
        name: value
        for name, value in result.estimator.items()
        if name not in IRRELEVANT and plain_value(value) != plain_value(DEFAULTS[name])
    }
    calls = []
    for swept in result.maps:
        whole = {**result.estimator, **swept.parameters}
        rest = [key for key in changed if key not in swept.parameters and is_used(key, whole)]
        named = {**swept.parameters, **{key: changed[key] for key in rest}}
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
    return f"<array of shape {np.shape(value)}>"  # a start or an alignment, too long to show
