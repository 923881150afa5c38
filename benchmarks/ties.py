"""Search and alignment of points at equal distances, next to points that all differ.

Constant, rounded and binary data have ties at nearly every distance, so that an exact search cannot
stop early. Every kind of data is timed in turns with the same number of normal points, and the
best of several turns counts; ratios are those to the normal points.

Example: python benchmarks/ties.py --n 20000 --labels 100
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from common import arguments_of, finish, say, show, table
from numpy.typing import NDArray

from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors
from ctsne.neighbors.alignment import choose_alignment

HEADER = ("data", "two lists s", "ratio", "mutual s", "ratio", "local s", "ratio")
_KINDS: dict[str, Callable[[NDArray[np.float32]], Any]] = {
    "normal": lambda X: X,
    "constant": np.zeros_like,
    "seven different points": lambda X: X[np.arange(len(X)) % 7],
    "half of the points equal": lambda X: np.where(np.arange(len(X))[:, None] % 2 == 0, X, X[0]),
    "rounded to whole numbers": np.round,
    "binary": lambda X: X > 0,
    "binary, one in twenty": lambda X: X > 1.645,
}


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    results = [{"data": kind, "seconds": [np.inf] * 3} for kind in _KINDS]
    for turn in range(arguments.turns):
        say(f"turn {turn + 1} of {arguments.turns} ...")
        for kind, result in zip(_KINDS, results, strict=True):
            taken = _seconds(kind, arguments)
            result["seconds"] = np.minimum(result["seconds"], taken).tolist()
            say(f"{kind}: {', '.join(map(show, taken))} s")
    for result in results:
        result["ratios"] = np.divide(result["seconds"], results[0]["seconds"]).tolist()
    return finish(arguments, results, format_table(results))


def parse(argv: Sequence[str] | None) -> Any:
    parser = arguments_of(
        __doc__,
        n=(20_000, "points"),
        d=(50, "columns"),
        labels=(100, "labels"),
        k=(45, "neighbours in each of the two lists"),
        turns=(3, "times that everything is timed"),
        jobs=(2, "threads"),
    )
    return parser.parse_args(argv)


def format_table(results: Sequence[dict[str, Any]]) -> str:
    """Format the seconds of each kind of data, and their ratios to normal points."""
    return table(HEADER, map(_cells, results))


def _seconds(kind: str, arguments: Any) -> list[float]:
    """Return the seconds of a search of two lists, and of two alignments."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.n, arguments.d)).astype(np.float32)
    X = np.asarray(_KINDS[kind](X), np.float32)
    labels = encode_labels(rng.integers(arguments.labels, size=arguments.n))
    seconds = []
    for how in ("none", "mutual", "local"):
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small labels
            if how == "none":
                lengths = (arguments.k, arguments.k)
                find_neighbors(X, labels, lengths=lengths, n_jobs=arguments.jobs)
            else:
                choose_alignment(X, labels, how, metric="euclidean", n_jobs=arguments.jobs)
        seconds.append(time.perf_counter() - begin)
    return seconds


def _cells(result: dict[str, Any]) -> list[str]:
    pairs = zip(result["seconds"], result["ratios"], strict=True)
    return [result["data"], *(show(value) for pair in pairs for value in pair)]


if __name__ == "__main__":
    sys.exit(main())
