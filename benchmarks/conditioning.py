"""Cost of conditioning the layout: iterations with and without it, in one run.

Three maps of the same data advance in turns, a few iterations each, so that other work on the
machine slows all of them: one without conditioning of the layout, one with it and the same
similarities, and one with it and shorter lists of neighbours. Ratios compare medians over a part
of the run, and sums for the whole map; neighbours and similarities are not counted.

Example: python benchmarks/conditioning.py --n 15000 --labels 10
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments_of, save, say, show, table
from map_programs import EARLY_ITERATIONS
from numpy.typing import NDArray
from simulate import simulate

from ctsne.affinity import Affinities, revised_affinities
from ctsne.labels import Labels, encode_labels
from ctsne.layout import Layout, Schedule, pair_weights
from ctsne.neighbors import find_neighbors

HEADER = ("iterations", "plain ms", "conditioned ms", "short lists ms", "ratio", "ratio, short")
_TURN = 5
_BETA_ABOVE = 1e-4


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments_of(
        __doc__,
        n=(15_000, "points"),
        d=(50, "columns"),
        labels=(5, "labels"),
        beta=(0.1, "weight of pairs with different labels in the map"),
        perplexity=(30.0, "perplexity"),
        short=(25, "neighbours in each of the shorter lists"),
        iterations=(750, "iterations of each map"),
        jobs=(2, "threads"),
    )
    arguments = parser.parse_args(argv)
    rows = compare(arguments)
    save(arguments, complete=True, rows=rows)
    print(table(HEADER, [_cells(row) for row in rows]))
    return 0


def compare(arguments: Any) -> list[dict[str, Any]]:
    """Advance the three maps in turns and time them."""
    X, names, _ = simulate(arguments.n, d=arguments.d, n_labels=arguments.labels, random_state=0)
    labels = encode_labels(names)
    say(f"similarities of {arguments.n} points ...")
    jobs, perplexity = arguments.jobs, arguments.perplexity
    usual = _similarities(X, labels, round(1.5 * perplexity), perplexity, jobs)
    short = _similarities(X, labels, arguments.short, min(perplexity, 0.8 * arguments.short), jobs)
    weights = pair_weights(labels, [arguments.beta])
    start = 1e-4 * X[:, :2] / X[:, 0].std()  # the columns are already principal components
    schedule = Schedule(
        early_exaggeration_iter=EARLY_ITERATIONS,
        early_learning_rate=max(200.0, len(X) / 12),
        learning_rate=max(200.0, float(len(X))),
    )
    maps = [
        Layout(usual.matrix, start, schedule, n_jobs=jobs),
        Layout(usual.matrix, start, schedule, weights=weights, n_jobs=jobs),
        Layout(short.matrix, start, schedule, weights=weights, n_jobs=jobs),
    ]
    say("three maps in turns ...")
    seconds = np.array(
        [[_seconds(layout) for layout in maps] for _ in range(arguments.iterations // _TURN)]
    )
    ends = [0, *range(EARLY_ITERATIONS, arguments.iterations + 1, EARLY_ITERATIONS)]
    rows = []
    for begin, end in itertools.pairwise(ends):
        middle = np.median(seconds[begin // _TURN : end // _TURN], axis=0)
        rows.append(_row(f"{begin} to {end}", middle / _TURN))
    return [*rows, _row("whole map", seconds.sum(axis=0) / arguments.iterations)]


def _similarities(
    X: NDArray[np.float32], labels: Labels, length: int, perplexity: float, jobs: int
) -> Affinities:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small labels
        neighbors = find_neighbors(X, labels, lengths=(length, length), n_jobs=jobs)
        beta = np.full(labels.columns[0].n_labels, _BETA_ABOVE)
        return revised_affinities(
            neighbors, labels, perplexity=perplexity, beta=[beta], bandwidth="p", n_jobs=jobs
        )


def _seconds(layout: Layout) -> float:
    begin = time.perf_counter()
    layout.advance(_TURN)
    return time.perf_counter() - begin


def _row(name: str, seconds: NDArray[np.float64]) -> dict[str, Any]:
    plain, conditioned, short = seconds.tolist()
    return {
        "iterations": name,
        "seconds": [plain, conditioned, short],
        "ratio": conditioned / plain,
        "ratio_short": short / plain,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    milliseconds = [show(1e3 * seconds) for seconds in row["seconds"]]
    return [row["iterations"], *milliseconds, show(row["ratio"]), show(row["ratio_short"])]


if __name__ == "__main__":
    sys.exit(main())
