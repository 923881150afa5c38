"""The content of a page as JSON and packed arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import chosen_by, measure_about, measure_title
from ctsne.pl.palette import MISSING
from ctsne.report.columns import MOST_LABELS, read_column, short_text
from ctsne.report.maps import dominated_points, packed_map, sweep_facts
from ctsne.sweep import SweepResult
from ctsne.sweep.choice import SEED_NOISE

# As many as browsers move smoothly.
MOST_POINTS = 50_000
_FURTHER_MEASURES = ("perplexity_median", "other_share_mean")
# Longer names of columns are cut in those of measures, which share a line.
_LONGEST_NAME = 40


def build_payload(
    result: SweepResult, columns: Mapping[str, Any], known: list[str], other: str | None,
    names: Any, *, above: NDArray[np.bool_] | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:  # fmt: skip
    """Return facts about columns and maps, and packed arrays of the points to show.

    Points ``above`` the others are drawn last, and kept if not all points can be shown.
    """
    shapes = [swept.embedding.shape for swept in result.maps if swept.embedding is not None]
    if not shapes:
        raise ValueError("result has no finished map to show")
    n, dimensions = shapes[0]
    if dimensions > 2:
        raise ValueError(f"result has maps of {dimensions} dimensions; a page needs n_components=2")
    read = [
        read_column(name, values, n=n, as_labels=name in (*known, other))
        for name, values in columns.items()
    ]
    if isinstance(names, str | bytes) or not (names is None or hasattr(names, "__len__")):
        raise TypeError(f"names must be a list with one name per point, got {type(names).__name__}")
    if names is not None and len(names) != n:
        raise ValueError(f"names has {len(names)} entries but the maps have {n} points")
    dominated = [dominated_points(swept) for swept in result.maps]
    first = sorted(read, key=lambda column: column.name not in known)
    codes = (column.labels.codes for column in first if column.kind == "labels")
    wanted = np.array([row for each in dominated for row, _ in each["worst"]], np.int64)
    rows = choose_points(n, codes, wanted if above is None else np.flatnonzero(above))
    if above is not None:
        rows = rows[np.argsort(above[rows], kind="stable")]
    arrays: dict[str, NDArray[Any]] = {"rows": rows.astype(np.uint32)}
    column_facts = []
    for number, column in enumerate(read):
        facts, arrays[f"column-{number}"] = column.content(rows)
        column_facts.append(facts)
    about = sweep_facts(result)
    for number, swept in enumerate(result.maps):
        if swept.error is None:
            highest, packed = packed_map(swept, rows)
            arrays.update((f"map-{number}-{name}", values) for name, values in packed.items())
            about["maps"][number] |= {"highest": highest, "dominated": dominated[number]}
    present = dict.fromkeys(name for each in about["maps"] for name in each["measures"])
    order, named = list(columns), None if names is None else list(names)
    facts = {
        "n": n, "sampledFrom": result.sampled_from, "dimensions": dimensions,
        "known": list(map(order.index, known)),
        "other": None if other is None else order.index(other),
        "missingColor": MISSING, "missingText": "missing", "seedNoise": SEED_NOISE,
        "columns": column_facts, **about,
        "measures": _measures(present, known, other),
        "names": None if named is None else [short_text(named[row]) for row in rows],
    }  # fmt: skip
    return facts, arrays


def choose_points(
    n: int, codes: Iterable[NDArray[Any]], wanted: NDArray[Any], *, most: int = MOST_POINTS
) -> NDArray[np.int64]:
    """Return the rows to show, in random order so that no label lies above all others.

    A sample of ``most`` has the rows ``wanted`` and a point of every label of the columns in
    ``codes`` (with at most 1,000 labels), as far as half of it can hold them.
    """
    order = np.random.default_rng(0).permutation(n)
    if n <= most:
        return order
    required = np.unique(wanted)[: most // 2]
    for column in codes:
        labels, first = np.unique(column[order], return_index=True)
        together = np.union1d(required, order[first])
        if len(labels) <= MOST_LABELS and len(together) <= most // 2:
            required = together
    rest = ~np.isin(order, required)
    taken = np.cumsum(rest) <= most - len(required)
    return order[~rest | taken]


def _measures(present: Iterable[str], known: list[str], other: str | None) -> list[dict[str, Any]]:
    """Describe the measures that some map has, those to choose by first."""
    labels = [short_text(name, _LONGEST_NAME) for name in (known[0], other or "the other label")]
    there = list(present)
    chosen = chosen_by(there)
    described = []
    for key in (*chosen, *(name for name in _FURTHER_MEASURES if name in there)):
        about, name = (
            measure_about(key),
            short_text(measure_title(key, *labels), _LONGEST_NAME + 20),
        )
        described.append({
            "key": key, "name": name, "digits": about.digits, "meaning": about.meaning,
            "chosen": key in chosen,
        })  # fmt: skip
    return described
