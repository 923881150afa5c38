"""New points per second in a finished map, next to openTSNE, and how well they are placed.

One map of the reference is made with ctsne's t-SNE. Both programs then place the same new points
in it: ctsne with ``transform``, openTSNE with the ``transform`` of an embedding made of these
positions and its own similarities. ctsne also places points, with their labels, in a conditioned
map of its own. Indices and fields are made before the clock starts; their seconds are reported.

Accuracy of the hidden cell type, by a vote of the 10 nearest reference points in the map.
R_NX compares the 30 reference points nearest to a new point in the map with those in the data.

Example: python benchmarks/placing.py --n 100000 --sizes 10000 100000 1000000
Example: python benchmarks/placing.py --n 20000 --sizes 10000 --iterations 300
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from child import measure
from common import arguments_of, finish, save, say, show, table
from simulate import simulate

HEADER = (
    "program",
    "new points",
    "seconds",
    "points/s",
    "CPU µs/point",
    "of openTSNE",
    "prepared s",
    "accuracy",
    "R_NX",
)
# New points that are made; more are placed by going through these again.
MOST_MADE = 1_000_000
# New points whose places are judged.
JUDGED = 10_000


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    plan = [
        ("ctsne tsne", "ctsne", arguments.sizes, {"method": "tsne"}),
        ("openTSNE", "opentsne", arguments.opentsne_sizes, {}),
        ("ctsne joint", "ctsne", arguments.sizes, {"method": "joint"}),
    ]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_problem(folder, arguments)
        for name, task, sizes, options in plan:
            say(f"{name} ...")
            given = {
                "folder": str(folder),
                "sizes": sizes,
                "chunk": arguments.chunk,
                "perplexity": arguments.perplexity,
                "new_perplexity": arguments.new_perplexity,
                "jobs": arguments.jobs,
                **options,
            }
            if task == "ctsne":
                given["iterations"] = arguments.iterations
            found = measure(f"placing_programs:{task}", given, jobs=arguments.jobs)
            results.append({"name": name} | found)
            say(f"{name}: {found.get('error', found['status'])}")
            save(arguments, complete=False, results=results)
    return finish(arguments, results, format_table(results))


def parse(argv: Sequence[str] | None) -> Any:
    parser = arguments_of(
        __doc__,
        n=(100_000, "points of the reference"),
        d=(50, "columns"),
        labels=(8, "batches"),
        perplexity=(30.0, "perplexity of the map"),
        new_perplexity=(15.0, "perplexity of new points, in both programs"),
        iterations=(750, "iterations of the map"),
        chunk=(100_000, "new points per call of transform"),
        jobs=(2, "threads"),
    )
    for program, sizes in (("", [10_000, 100_000, 1_000_000]), ("opentsne-", [10_000])):
        parser.add_argument(
            f"--{program}sizes",
            nargs="+",
            type=int,
            default=sizes,
            metavar="M",
            help="numbers of new points (default: %(default)s)",
        )
    return parser.parse_args(argv)


def write_problem(folder: Path, arguments: Any) -> None:
    """Write the reference and the new points, which come from the same simulation."""
    made = min(MOST_MADE, max(arguments.sizes + arguments.opentsne_sizes))
    X, labels, types = simulate(
        arguments.n + made, d=arguments.d, n_labels=arguments.labels, random_state=0
    )
    for name, values in (("labels", labels), ("types", types)):
        codes = np.unique(values, return_inverse=True)[1].astype(np.int32)
        np.save(folder / f"{name}.npy", codes[: arguments.n])
        np.save(folder / f"new_{name}.npy", codes[arguments.n :])
    np.save(folder / "X.npy", X[: arguments.n])
    np.save(folder / "new_X.npy", X[arguments.n :])


def format_table(results: Sequence[dict[str, Any]]) -> str:
    """Format one row per program and number of points."""
    peer = next((r for r in results if r["name"] == "openTSNE"), {}).get("placed") or []
    slow = max((row["per_second"] for row in peer), default=None)
    rows = []
    for result in results:
        if result["status"] != "done":
            rows.append([result["name"], result["status"], *[""] * (len(HEADER) - 2)])
            continue
        for row in result["placed"]:
            rows.append(
                [
                    result["name"],
                    f"{row['points']:,}",
                    show(row["seconds"]),
                    f"{row['per_second']:,.0f}",
                    show(row["cpu_microseconds"], 1),
                    "" if slow is None else show(row["per_second"] / slow, 1),
                    show(result["prepared"]),
                    show(result["accuracy"], 4),
                    show(result["rnx"], 4),
                ]
            )
    return table(HEADER, rows)


if __name__ == "__main__":
    sys.exit(main())
