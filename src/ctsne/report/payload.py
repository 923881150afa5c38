"""All that a page knows, as JSON and packed arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.pl.palette import MISSING
from ctsne.report.columns import read_column, short_text
from ctsne.report.maps import (
    choices,
    dominated_points,
    listed_lines,
    map_facts,
    packed_map,
    reference_map,
)
from ctsne.report.points import choose_points
from ctsne.report.words import measures_shown
from ctsne.sweep import SweepResult

__all__ = ["Payload", "build_payload"]


@dataclass(frozen=True, eq=False)
class Payload:
    """What the page's scripts read: facts for JSON, and arrays of the shown points by name.

    Commands are not among the facts, because they depend on where the page is.
    """

    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    commands: list[str]
    provenance: dict[str, Any]


def build_payload(
    result: SweepResult,
    columns: Mapping[str, Any],
    known: str,
    other: str | None,
    *,
    mixing: float,
    names: Any,
    title: str,
    commands: Sequence[str],
    provenance: dict[str, Any],
) -> Payload:
    """Check the input, choose the points to show, and pack all that is shown of them."""
    n, dimensions = _shape(result)
    read = [
        read_column(name, values, n=n, as_labels=name in (known, other))
        for name, values in columns.items()
    ]
    named = _names(names, n)
    dominated = [dominated_points(swept) for swept in result.maps]
    rows = choose_points(
        n,
        (column.labels.codes for column in sorted(read, key=lambda c: c.name != known)
         if column.kind == "labels"),
        np.concatenate([worst for _, worst in dominated]),
    )  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {"rows": rows.astype(np.uint32)}
    column_facts = []
    for number, column in enumerate(read):
        facts, arrays[f"column-{number}"] = column.content(rows)
        column_facts.append(facts)
    maps = map_facts(result)
    for number, (swept, (count, worst)) in enumerate(zip(result.maps, dominated, strict=True)):
        if swept.error is not None:
            continue
        highest, packed = packed_map(swept, rows)
        arrays.update((f"map-{number}-{name}", values) for name, values in packed.items())
        weights = swept.diagnostics.get("largest_weight", np.empty(0))[worst]
        maps[number]["highest"] = highest
        maps[number]["dominated"] = {
            "count": count,
            "worst": [
                [int(row), round(float(w), 3)] for row, w in zip(worst, weights, strict=True)
            ],
        }
    present = {name for facts in maps for name in facts["measures"]}
    order = list(columns)
    facts = {
        "title": title,
        "n": n,
        "sampledFrom": result.sampled_from,
        "dimensions": dimensions,
        "known": order.index(known),
        "other": None if other is None else order.index(other),
        "mixing": mixing,
        "missingColor": MISSING,
        "columns": column_facts,
        "maps": maps,
        "lines": listed_lines(result),
        "choices": choices(result),
        "reference": reference_map(result),
        "measures": measures_shown(present, known, other),
        "names": None if named is None else [short_text(named[row]) for row in rows],
    }
    return Payload(facts, arrays, list(commands), provenance)


def _shape(result: SweepResult) -> tuple[int, int]:
    shapes = [swept.embedding.shape for swept in result.maps if swept.embedding is not None]
    if not shapes:
        raise ValueError("result holds no finished map, so there is nothing to show")
    n, dimensions = shapes[0]
    if dimensions > 2:
        raise ValueError(
            f"result holds maps of {dimensions} dimensions, and a page can show flat ones only: "
            "make the sweep with n_components=2"
        )
    return n, dimensions


def _names(names: Any, n: int) -> list[Any] | None:
    if names is None:
        return None
    if isinstance(names, str | bytes) or not hasattr(names, "__len__"):
        raise TypeError(
            f"names must hold one name for each of the {n} points, got {type(names).__name__}"
        )
    if len(names) != n:
        raise ValueError(
            f"names must hold one name for each of the {n} points, got {len(names)} of them"
        )
    return list(names)
