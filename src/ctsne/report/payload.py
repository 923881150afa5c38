"""The content of a page as JSON and packed arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import chosen_by, measure_about, measure_title
from ctsne.affinity.result import DOMINATED
from ctsne.evaluate.trust import DOUBTFUL
from ctsne.pl.palette import METHOD_COLORS, MISSING, measure_colors
from ctsne.report.columns import MOST_LABELS, short_text
from ctsne.report.data import PageData, PageMap
from ctsne.report.features import MOST_POINTS

_Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # facts and arrays
_NOT_SHOWN = np.uint32(0xFFFFFFFF)
_FURTHER_MEASURES = ("perplexity_median", "other_share_mean")
# Longer names of columns are cut in those of measures, which share a line.
_LONGEST_NAME = 40
# Maximum number of dominated points listed per map.
_MOST_DOMINATED = 50
# Numbers of each point of a map to show and to colour by: name, decimals, and how to read them.
# ``matched`` is the same in all maps, so it is a column to colour by.
_DIAGNOSTICS = {
    "perplexity": (
        "perplexity",
        1,
        "Effective number of neighbours of the point in the similarities.",
    ),
    "other_share": (
        "weight on other labels",
        2,
        "Share of the point's weight on neighbours with other labels.",
    ),
    "trust": (
        "trust",
        2,
        f"Below {DOUBTFUL:g}, the point would have mostly other neighbours in another map.",
    ),
    "largest_weight": (
        "largest weight",
        2,
        "Near 1: the place of the point depends on a single neighbour.",
    ),
}


def build_payload(page: PageData, most: int = MOST_POINTS) -> _Packed:
    """Return facts about columns and maps, and packed arrays of the points to show."""
    # A point takes 5 bytes of the file for its row, 5 to 10 in a map, 1 to 3 with a column.
    n, dimensions = page.shape
    dominated = [_dominated_points(made) for made in page.maps]
    worst = [row for points in dominated for row, _ in points["worst"]]
    rows = choose_rows(page, np.array(worst, np.int64), most)
    arrays: dict[str, NDArray[Any]] = {"rows": rows.astype(np.uint32)}
    reference = min(page.lines, key=lambda line: line.method != "tsne").maps[0]
    columns, maps = [], []
    for number, column in enumerate(page.columns):
        facts, values = column.pack(rows)
        columns.append(facts)
        arrays[f"column-{number}"] = values
    for number, made in enumerate(page.maps):
        facts, packed = _pack_map(made, rows)
        maps.append(facts | ({"dominated": dominated[number]} if packed else {}))
        arrays.update((f"map-{number}-{name}", values) for name, values in packed.items())
    if page.neighbors is not None:
        place = np.full(n, _NOT_SHOWN)
        place[rows] = np.arange(len(rows), dtype=np.uint32)
        arrays["neighbors"] = place[page.neighbors[rows]].ravel()
    order = [column.name for column in page.columns]
    diagnosed = {name for made in page.maps for name in made.diagnostics}
    names = None if page.names is None else list(page.names)
    facts = {
        "title": page.title,
        "n": n,
        "notShown": n - len(rows),
        "sampledFrom": page.sampled_from,
        "dimensions": dimensions,
        "neighbors": 0 if page.neighbors is None else page.neighbors.shape[1],
        "single": page.single,
        "targets": list(page.targets.items()),
        "known": [order.index(name) for name in page.known],
        "other": [order.index(name) for name in page.other],
        "missingColor": MISSING,
        "columns": columns,
        "diagnostics": [
            {"key": key, "name": name, "digits": digits, "about": about}
            for key, (name, digits, about) in _DIAGNOSTICS.items()
            if key in diagnosed
        ],
        "maps": maps,
        "lines": [{**vars(line), "color": METHOD_COLORS[line.method]} for line in page.lines],
        "suggestions": _pack_suggestions(page),
        "reference": reference,
        "measures": _describe_measures(page),
        "names": None if names is None else [short_text(names[row]) for row in rows.tolist()],
    }
    return facts, arrays


def _pack_suggestions(page: PageData) -> dict[str, Any] | None:
    if page.suggestions is None:
        return None
    axes, chosen = page.suggestions
    answers = list(dict.fromkeys(chosen))
    return {"axes": axes, "chosen": [answers.index(own) for own in chosen], "answers": answers}


def _pack_map(made: PageMap, rows: NDArray[np.int64]) -> _Packed:
    """Pack the rows of a map: positions, and diagnostics from 0 to their highest value."""
    shown = ("title", "setting", "value", "measures", "seconds", "error", "advice")
    facts = {name: getattr(made, name) for name in shown} | {"plain": made.method == "tsne"}
    if made.embedding is None:
        return facts, {}
    steps, square = _drawn_positions(made.embedding[rows])
    packed: dict[str, NDArray[Any]] = {"positions": steps.ravel()}
    facts |= {"highest": {}, "constant": {}, "square": square}
    for name, (_, digits, _) in _DIAGNOSTICS.items():
        if name not in made.diagnostics:
            continue
        values = np.nan_to_num(made.diagnostics[name].astype(np.float64))
        low, high = float(values.min()), float(values.max())
        if high - low < 0.5 * 10**-digits:
            facts["constant"][name] = round(high, digits + 1)
            continue
        highest = facts["highest"][name] = high if name == "perplexity" else 1.0
        packed[name] = np.rint((values[rows] / highest).clip(0, 1) * 255).astype(np.uint8)
    return facts, packed


def _drawn_positions(embedding: NDArray[np.floating]) -> tuple[NDArray[np.uint16], list[float]]:
    """Return positions in the smallest square, in steps of 1/65535, and its corner and side.

    A line gets random heights.
    """
    positions = embedding.astype(np.float64)
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    share = (positions - (low + high) / 2) / side + 0.5
    square = [float(f"{value:.7g}") for value in (*((low + high - side) / 2), side)]
    if share.shape[1] == 1:
        across = np.random.default_rng(0).uniform(0.45, 0.55, len(share))
        share = np.column_stack([share[:, 0], across])
    return np.rint(share * 65535).astype(np.uint16), square


def _dominated_points(made: PageMap) -> dict[str, Any]:
    """Count the points dominated by one neighbour, and list the worst with their weights."""
    weights = made.diagnostics.get("largest_weight", np.empty(0))
    found = np.flatnonzero(weights > DOMINATED)
    worst = found[np.argsort(-weights[found], kind="stable")[:_MOST_DOMINATED]].tolist()
    return {"count": len(found), "worst": [[row, round(float(weights[row]), 3)] for row in worst]}


def choose_rows(page: PageData, wanted: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the points to show, in random order so that no label lies above all others."""
    # Up to half of a sample are the points ``wanted``, and one of every label.
    n, _ = page.shape
    rows = np.random.default_rng(0).permutation(n)
    if n > most:
        required = np.unique(wanted)[: most // 2]
        for column in sorted(page.columns, key=lambda column: column.name not in page.known):
            if column.labels is None:
                continue
            labels, first = np.unique(column.labels.codes[rows], return_index=True)
            together = np.union1d(required, rows[first])
            if len(labels) <= MOST_LABELS and len(together) <= most // 2:
                required = together
        rest = ~np.isin(rows, required)
        taken = np.cumsum(rest) <= most - len(required)
        rows = rows[~rest | taken]
    return rows


def _describe_measures(page: PageData) -> list[dict[str, Any]]:
    """Describe the measures that some map has, those to choose by first."""
    names = (*page.known[:1], "the label")[0], (*page.other[:1], "the other label")[0]
    labels = [short_text(name, _LONGEST_NAME) for name in names]
    there = list(dict.fromkeys(name for made in page.maps for name in made.measures))
    chosen = chosen_by(there)
    keys = [*chosen, *(name for name in _FURTHER_MEASURES if name in there)]
    colors = measure_colors(keys)
    return [
        {
            "key": key,
            "name": short_text(measure_title(key, *labels), _LONGEST_NAME + 20),
            "digits": measure_about(key).digits,
            "meaning": measure_about(key).meaning,
            "chosen": key in chosen,
            "color": colors[key],
        }
        for key in keys
    ]
