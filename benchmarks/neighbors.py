"""Search the nearest points of the same and of other labels, next to neighbour libraries.

Libraries do not support labels. Each solves the easier plain problem (as many nearest points as
both lists have together, regardless of labels), and some also the two lists, as a user would build
them (see neighbor_programs.py). Recall is measured on 1,000 sampled points against NumPy. For each
library, the cheapest setting that reaches the target recall counts.

Example: python benchmarks/neighbors.py --n 33500 --labels 10 --more-labels 2 1000
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from child import measure
from common import (
    arguments_of,
    finish,
    load_problem,
    outcome,
    problem_files,
    save,
    say,
    show,
    table,
    times_slower,
)
from neighbor_libraries import LIBRARIES
from neighbor_truth import find_truth

HEADER = ("program", "problem", "labels", "seconds", "of ctsne", "recall", "peak MiB", "setting")
# --stop-at does not end a library before this many seconds.
_LEAST = 60.0


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    results: list[dict[str, Any]] = []

    def run(name: str, problem: str, n_labels: int, task: str, given: dict[str, Any]) -> None:
        say(f"{name}, {problem}, {n_labels} labels ...")
        limit = arguments.timeout
        if arguments.stop_at and not name.startswith("ctsne"):
            limit = min(limit, max(_LEAST, arguments.stop_at * ours(results, problem)))
        given = given | {"target": arguments.recall, "jobs": arguments.jobs}
        found = measure(f"neighbor_programs:{task}", given, jobs=arguments.jobs, limit=limit)
        results.append({"name": name, "problem": problem, "labels": n_labels} | found)
        say(f"{name}: {outcome(results[-1])}")
        save(arguments, complete=False, results=results)

    lengths = {"k_same": arguments.k_same, "k_other": arguments.k_other}
    for n_labels in dict.fromkeys([arguments.labels, *arguments.more_labels]):
        with problem_files(arguments.n, d=arguments.d, n_labels=n_labels) as folder:
            prepare(folder, **lengths)
            place = {"folder": str(folder)}
            run("ctsne", "two lists", n_labels, "ctsne", place | lengths | {"labelled": True})
            if n_labels != arguments.labels:
                continue
            run("ctsne", "plain", n_labels, "ctsne", place | lengths | {"labelled": False})
            for library in arguments.libraries:
                run(library, "plain", n_labels, "plain", place | {"library": library})
            for library in arguments.labelled:
                given = place | lengths | {"library": library}
                run(library, "two lists", n_labels, "labelled", given)
    return finish(arguments, results, format_table(results))


def parse(argv: Sequence[str] | None) -> Any:
    parser = arguments_of(
        __doc__,
        n=(33_500, "points"),
        d=(50, "columns"),
        labels=(10, "labels"),
        k_same=(75, "nearest points of the same label"),
        k_other=(75, "nearest points of other labels"),
        recall=(0.99, "target recall"),
        jobs=(2, "threads"),
        timeout=(300.0, "time limit per program, in seconds"),
    )
    parser.add_argument(
        "--more-labels",
        type=int,
        nargs="*",
        default=[],
        metavar="L",
        help="also time ctsne with these numbers of labels",
    )
    parser.add_argument(
        "--libraries",
        nargs="*",
        choices=list(LIBRARIES),
        default=list(LIBRARIES),
        metavar="NAME",
        help=f"for the plain problem, any of {', '.join(LIBRARIES)} (default: all)",
    )
    lists = [name for name, library in LIBRARIES.items() if not library().own_points_only]
    parser.add_argument(
        "--labelled",
        nargs="*",
        choices=lists,
        default=["faiss-flat", "faiss-ivf-few"],
        metavar="NAME",
        help=f"for the two lists, any of {', '.join(lists)} (default: faiss-flat faiss-ivf-few)",
    )
    parser.add_argument(
        "--stop-at",
        type=float,
        metavar="RATIO",
        help="stop a library that takes X times as long as ctsne, but not within a minute",
    )
    return parser.parse_args(argv)


def prepare(folder: Path, *, k_same: int, k_other: int) -> None:
    """Save the true neighbours of a sample next to the data."""
    X, labels = load_problem(folder)
    find_truth(X, labels, k_same=k_same, k_other=k_other).save(folder / "truth.npz")


def ours(results: Sequence[dict[str, Any]], problem: str) -> float:
    """Return the seconds of ctsne on the same problem, or infinity."""
    return next(
        (
            result["seconds"]
            for result in results
            if result["name"] == "ctsne" and result["problem"] == problem and "seconds" in result
        ),
        float("inf"),
    )


def format_table(results: Sequence[dict[str, Any]]) -> str:
    """Format the table of a run, with ratios to ctsne on the same problem."""
    rows = []
    for result in results:
        ratio = times_slower(result, ours(results, result["problem"]))
        over = "> " if result["status"] == "too slow" else ""
        peak, recall = result.get("memory_peak"), show(result.get("recall"), 4)
        if result.get("reached") is False:
            recall += " (missed)"
        rows.append(
            [
                result["name"],
                result["problem"],
                str(result["labels"]),
                outcome(result),
                over + show(ratio, 2) if ratio else "",
                recall,
                "" if peak is None else f"{peak:.0f}",
                describe(result),
            ]
        )
    return table(HEADER, rows)


def describe(result: dict[str, Any]) -> str:
    """Describe the setting that counted, and how many were tried."""
    if "setting" not in result:
        return ""
    parts = [words(value) for value in result["setting"].values()]
    way = [result["way"]] if "way" in result else []
    return ", ".join([*way, *(part for part in parts if part), f"{len(result['tried'])} tried"])


def words(setting: Any) -> str:
    """Describe a setting in a few words."""
    if not isinstance(setting, dict):
        return str(setting)
    return ", ".join(
        words(value) if isinstance(value, dict) else f"{name} {value}"
        for name, value in setting.items()
    )


if __name__ == "__main__":
    sys.exit(main())
