"""The content of a page as JSON and packed arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import chosen_by, measure_about, measure_title
from ctsne.labels import Column
from ctsne.pl.palette import MISSING, measure_colors
from ctsne.report.columns import (
    MATCHED,
    MOST_LABELS,
    PageColumn,
    check_point_names,
    matched_column,
    read_column,
    read_feature,
    short_text,
    short_texts,
)
from ctsne.report.maps import DIAGNOSTICS, dominated_points, packed_map, sweep_facts
from ctsne.sweep import SweepResult
from ctsne.sweep.choice import SEED_NOISE

# As many as browsers draw at once.
MOST_POINTS = 500_000
_FURTHER_MEASURES = ("perplexity_median", "other_share_mean")
# Longer names of columns are cut in those of measures, which share a line.
_LONGEST_NAME = 40


def build_payload(
    result: SweepResult,
    columns: Mapping[str, Any],
    known: list[str],
    other: str | None,
    names: Any,
    *,
    features: Mapping[str, Any] | None = None,
    above: NDArray[np.bool_] | None = None,
    most: int = MOST_POINTS,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return facts about columns and maps, and packed arrays of the points to show.

    Points ``above`` the others are drawn last, and kept if not all points can be shown. In bytes
    of the file, a point takes 5 for its row, 5 to 10 in each map, and with each column 1 to 3.
    """
    shapes = [swept.embedding.shape for swept in result.maps if swept.embedding is not None]
    if not shapes:
        raise ValueError("result has no finished map to show")
    n, dimensions = shapes[0]
    if dimensions > 2:
        raise ValueError(f"result has maps of {dimensions} dimensions; a page needs n_components=2")
    check_point_names(names, n, f"the maps have {n} points")
    read = _read_columns(result, columns, features or {}, n=n, as_labels=(*known, other))
    dominated = [dominated_points(swept) for swept in result.maps]
    first = sorted(read, key=lambda column: column.name not in known)
    codes = (column.values.codes for column in first if isinstance(column.values, Column))
    wanted = np.array([row for each in dominated for row, _ in each["worst"]], np.int64)
    rows = choose_points(n, codes, wanted if above is None else np.flatnonzero(above), most=most)
    if above is not None:
        rows = rows[np.argsort(above[rows], kind="stable")]
    arrays: dict[str, NDArray[Any]] = {"rows": rows.astype(np.uint32)}
    about = sweep_facts(result)
    reference = result.maps[about["reference"]].embedding
    column_facts = []
    for number, column in enumerate(read):
        facts, arrays[f"column-{number}"] = column.content(rows, reference)
        column_facts.append(facts)
    for number, swept in enumerate(result.maps):
        if swept.error is None:
            packed = packed_map(swept, rows)
            arrays.update((f"map-{number}-{name}", each) for name, each in packed.arrays.items())
            about["maps"][number] |= {
                "highest": packed.highest,
                "constant": packed.constant,
                "dominated": dominated[number],
            }
    present = dict.fromkeys(name for each in about["maps"] for name in each["measures"])
    order = list(columns)
    facts = {
        "n": n,
        "notShown": n - len(rows),
        "sampledFrom": result.sampled_from,
        "dimensions": dimensions,
        "single": False,
        "known": list(map(order.index, known)),
        "other": None if other is None else order.index(other),
        "missingColor": MISSING,
        "missingText": "missing",
        "seedNoise": SEED_NOISE,
        "columns": column_facts,
        "diagnostics": _diagnostics(about["maps"]),
        **about,
        "measures": _measures(present, known, other),
        "names": None if names is None else short_texts(names, rows),
    }
    return facts, arrays


def _read_columns(
    result: SweepResult,
    columns: Mapping[str, Any],
    features: Mapping[str, Any],
    *,
    n: int,
    as_labels: Collection[str | None],
) -> list[PageColumn]:
    """Read the columns, then features and what the maps say about all points."""
    read = [
        read_column(name, values, n=n, as_labels=name in as_labels)
        for name, values in columns.items()
    ]
    read += [read_feature(name, values, n=n) for name, values in features.items()]
    matched = [each.diagnostics["matched"] for each in result.maps if "matched" in each.diagnostics]
    if matched and MATCHED not in columns:  # the same in all maps
        read.append(matched_column(matched[0]))
    return read


def _diagnostics(maps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Describe the diagnostics that some map has."""
    there = {
        name for each in maps for kind in ("highest", "constant") for name in each.get(kind, ())
    }
    return [{"key": key, **DIAGNOSTICS[key]._asdict()} for key in DIAGNOSTICS if key in there]


def scale_size(n: int) -> int:
    """Return the bytes that numbers of n points to colour by take in the file."""
    return 4 * -(-2 * min(n, MOST_POINTS) // 3)


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
    names = (known[0] if known else "the label", other or "the other label")
    labels = [short_text(name, _LONGEST_NAME) for name in names]
    there = list(present)
    chosen = chosen_by(there)
    keys = [*chosen, *(name for name in _FURTHER_MEASURES if name in there)]
    colors = measure_colors(keys)
    described = []
    for key in keys:
        about, name = (
            measure_about(key),
            short_text(measure_title(key, *labels), _LONGEST_NAME + 20),
        )
        described.append(
            {
                "key": key,
                "name": name,
                "digits": about.digits,
                "meaning": about.meaning,
                "chosen": key in chosen,
                "color": colors[key],
            }
        )
    return described
