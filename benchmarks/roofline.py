"""Compare one iteration with the minimum time that this machine needs for it.

The floor of an iteration is the time to stream the similarities once from memory, at the bandwidth
NumPy reaches with as many threads, plus the two FFTs of the mesh in use, at the speed of SciPy.
Early is the start of a map, late its end, on one thread and on several. Similarities count as 8
bytes each, as the matrix stores them; the iterations themselves stream 4.5.

A model counts bytes and flops. Memory: 8 bytes per stored similarity and per row, 64 per point
(positions, forces, steps and gains, read and written), 40 per node of the mesh (its spectrum read
and written along both axes, forward and back, and the kernel). Flops: 12 per stored similarity,
8 s² + 40 per point for splines of order s, and 5 log2(N) for each of the N nodes.

Example: python benchmarks/roofline.py --n 300000 --labels 10
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from child import Clock, measure
from common import arguments_of, load_problem, problem_files, save, say, show, table
from machine_speed import bandwidth, fastest, transforms
from map_programs import EARLY_ITERATIONS, METHODS

HEADER = (
    "moment",
    "threads",
    "ms",
    "matrix ms",
    "FFTs ms",
    "floor ms",
    "times floor",
    "mesh",
    "GB/s",
    "of read",
    "GFLOP/s",
)
_STEPS = 10


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments_of(
        __doc__,
        n=(100_000, "points"),
        d=(50, "columns"),
        labels=(10, "labels"),
        method=("revised-r", f"one of {', '.join(METHODS)}"),
        perplexity=(50.0, "perplexity"),
        iterations=(1000, "iterations before the late ones"),
        jobs=(2, "threads"),
    )
    arguments = parser.parse_args(argv)
    with problem_files(arguments.n, d=arguments.d, n_labels=arguments.labels) as folder:
        say(f"map of {arguments.n} points, then iterations and the machine ...")
        given = {
            "folder": str(folder),
            "method": arguments.method,
            "perplexity": arguments.perplexity,
            "iterations": arguments.iterations,
            "jobs": arguments.jobs,
        }
        found = measure("roofline:profile", given, jobs=arguments.jobs)
    save(arguments, complete=found["status"] == "done", **found)
    if found["status"] != "done":
        say(f"{found['status']}: {found['error']}")
        return 1
    print(format_words(found))
    print(format_table(found))
    return 0


def profile(
    clock: Clock, *, folder: str, method: str, perplexity: float, iterations: int, jobs: int
) -> dict[str, Any]:
    """Time iterations at the start and the end of a map, and measure the machine."""
    from ctsne import ConditionalTSNE
    from ctsne.layout import Schedule

    X, labels = load_problem(folder)
    clock.begin()
    model = ConditionalTSNE(
        perplexity=perplexity,
        n_iter=iterations,
        early_exaggeration_iter=EARLY_ITERATIONS,
        n_jobs=jobs,
        random_state=0,
        **METHODS[method],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small labels
        model.fit(X, labels=labels)
    matrix = model.affinities_
    rate = max(200.0, len(X) / 12)
    # The columns are already principal components.
    start = 1e-4 * X[:, :2] / X[:, 0].std()
    moments = {
        "early": (start, Schedule(learning_rate=rate)),
        "late": (model.embedding_, Schedule(learning_rate=rate, early_exaggeration_iter=0)),
    }
    threads = sorted({1, jobs})
    speed = {number: bandwidth(number) for number in threads}
    rows: list[dict[str, Any]] = []
    for moment, (positions, schedule) in moments.items():
        mesh = _mesh(positions)
        for number in threads:
            seconds = _iteration(matrix, positions, schedule, number)
            # Small transforms are faster on one thread.
            tried = [transforms(mesh, workers) for workers in sorted({1, number})]
            ffts = {way: min(each[way] for each in tried) for way in tried[0]}
            rows.append(_row(moment, number, seconds, matrix, mesh, speed[number], ffts))
            clock.report(rows=rows)
    return {"rows": rows, "bandwidth": speed, "stored": int(matrix.nnz), "points": len(X)}


def _iteration(matrix: Any, positions: Any, schedule: Any, jobs: int) -> float:
    """Return the seconds of one iteration, from the fastest of a few consecutive short runs."""
    from ctsne.layout import Layout

    layout = Layout(matrix, positions, schedule, n_jobs=jobs)
    return fastest(lambda: layout.advance(_STEPS)) / _STEPS


def _mesh(positions: Any) -> tuple[int, ...]:
    """Return the shape of the mesh that is transformed."""
    from ctsne.layout.mesh import plan_mesh

    plan, _ = plan_mesh(positions.min(axis=0), positions.max(axis=0), 1.0)
    return tuple(2 * n for n in plan.nodes)


def _row(
    moment: str,
    jobs: int,
    seconds: float,
    matrix: Any,
    mesh: tuple[int, ...],
    speed: dict[str, float],
    ffts: dict[str, float],
) -> dict[str, Any]:
    from ctsne import _native

    n, stored, nodes = matrix.shape[0], matrix.nnz, math.prod(mesh)
    matrix_bytes = 8 * (stored + n)
    order = getattr(_native, "SPLINE_ORDER", 6)
    flops = 12 * stored + (8 * order**2 + 40) * n + 5 * nodes * math.log2(nodes)
    # The faster of both measurements, for each of the two terms.
    stream = matrix_bytes / (max(speed.values()) * 1e9)
    floor = stream + min(ffts.values())
    return {
        "moment": moment,
        "jobs": jobs,
        "seconds": seconds,
        "stream_seconds": stream,
        "fft_seconds": min(ffts.values()),
        "ffts": ffts,
        "floor_seconds": floor,
        "ratio": seconds / floor,
        "mesh": list(mesh),
        "bytes": matrix_bytes + 64 * n + 40 * nodes,
        "flops": flops,
        "best_bandwidth": max(speed.values()),
    }


def format_words(found: dict[str, Any]) -> str:
    """Describe the machine's speed and the size of the problem."""
    speeds = "; ".join(
        f"{number} thread{'s' if int(number) > 1 else ''}: triad {speed['triad']:.1f},"
        f" read {speed['read']:.1f} GB/s"
        for number, speed in found["bandwidth"].items()
    )
    return f"{found['points']} points, {found['stored']} similarities stored. Memory, {speeds}.\n"


def format_table(found: dict[str, Any]) -> str:
    rows = []
    for row in found["rows"]:
        achieved = row["bytes"] / row["seconds"] / 1e9
        times = (row["seconds"], row["stream_seconds"], row["fft_seconds"], row["floor_seconds"])
        rows.append(
            [
                row["moment"],
                str(row["jobs"]),
                *(show(1e3 * seconds) for seconds in times),
                show(row["ratio"]),
                " x ".join(map(str, row["mesh"])),
                show(achieved, 1),
                f"{achieved / row['best_bandwidth']:.0%}",
                show(row["flops"] / row["seconds"] / 1e9, 1),
            ]
        )
    return table(HEADER, rows)


if __name__ == "__main__":
    sys.exit(main())
