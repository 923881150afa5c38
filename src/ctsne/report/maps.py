"""The maps of a sweep, in the form the page stores them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._fit.settings import DEFAULTS
from ctsne.affinity.result import DOMINATED
from ctsne.methods import is_used
from ctsne.sweep import Line, SweepResult, SweptMap
from ctsne.sweep.grid import IRRELEVANT, plain_value

# Maximum number of dominated points listed per map.
_LISTED = 50


def packed_map(
    swept: SweptMap, rows: NDArray[np.int64]
) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """Return the top of each diagnostic's scale, and the arrays of the rows in few bytes."""
    arrays: dict[str, NDArray[Any]] = {"positions": _drawn_positions(swept, rows).ravel()}
    highest = {}
    for name, values in swept.diagnostics.items():
        shown = np.nan_to_num(values[rows].astype(np.float64))
        if name == "perplexity":
            highest[name] = float(shown.max()) or 1.0
            arrays[name] = np.rint(shown / highest[name] * 65535).astype(np.uint16)
        elif name != "matched":  # the same in all maps, so it is a column to colour by
            highest[name] = 1.0
            arrays[name] = np.rint(shown.clip(0, 1) * 255).astype(np.uint8)
    return highest, arrays


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
        {"title": line.title, "steering": line.steering, "maps": indices(line.maps)}
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
