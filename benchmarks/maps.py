"""Time from the matrix to the finished map, next to other programs, on the same data in one run.

Reports time by stage and iteration, peak memory, and the loss and R_NX of every map, computed by
the same code.

Example: python benchmarks/maps.py --n 15000 --methods revised-r tsne --peers openTSNE-FFT
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
    outcome,
    problem_files,
    save,
    say,
    show,
    table,
    times_slower,
)
from map_programs import EARLY_ITERATIONS, METHODS, PEERS

HEADER = (
    "program",
    "seconds",
    "of ctsne",
    "neighbours",
    "similarities",
    "layout",
    "early ms",
    "late ms",
    "peak MiB",
    "KL",
    "R_NX",
    "adjusted",
)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    plan = programs(arguments)
    results: list[dict[str, Any]] = []
    with problem_files(arguments.n, d=arguments.d, n_labels=arguments.labels) as folder:
        for number, (name, task, options) in enumerate(plan):
            say(f"{name} ...")
            shared = {
                "folder": str(folder),
                "output": str(folder / f"{number}.npy"),
                "perplexity": arguments.perplexity,
                "iterations": arguments.iterations,
                "jobs": arguments.jobs,
            }
            given = shared | options
            found = measure(task, given, jobs=given["jobs"], limit=arguments.timeout)
            results.append({"name": name} | found)
            say(f"{name}: {outcome(results[-1])}")
            save(arguments, complete=False, results=results)
        add_quality(results, folder, arguments)
    return finish(arguments, results, format_table(results))


def parse(argv: Sequence[str] | None) -> Any:
    parser = arguments_of(
        __doc__,
        n=(15_000, "points"),
        d=(50, "columns"),
        labels=(5, "batches"),
        perplexity=(50.0, "perplexity"),
        iterations=(1000, f"all iterations, the {EARLY_ITERATIONS} early ones included"),
        jobs=(2, "threads"),
        timeout=(3600.0, "time limit per program, in seconds"),
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        default=["revised-r", "tsne"],
        metavar="METHOD",
        help=f"of ctsne; ratios are to the first: {', '.join(METHODS)}",
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=list(PEERS),
        default=["openTSNE-FFT"],
        metavar="PEER",
        help=f"any of {', '.join(PEERS)}; no name runs none",
    )
    parser.add_argument(
        "--one-thread", action="store_true", help="also run the first method on one thread"
    )
    parser.add_argument(
        "--opentsne-iterations",
        type=int,
        metavar="N",
        help="stop openTSNE after N iterations and extrapolate; marked in the results",
    )
    arguments = parser.parse_args(argv)
    for name in ("iterations", "opentsne_iterations"):
        value = getattr(arguments, name)
        if value is not None and value <= EARLY_ITERATIONS:
            parser.error(f"--{name.replace('_', '-')} must be more than {EARLY_ITERATIONS}")
    return arguments


def programs(arguments: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """List the programs to run: name, function and arguments."""
    ours = [(f"ctsne {name}", "map_programs:ctsne", {"method": name}) for name in arguments.methods]
    if arguments.one_thread:
        first = arguments.methods[0]
        one = {"method": first, "jobs": 1}
        ours.append((f"ctsne {first}, one thread", "map_programs:ctsne", one))
    theirs = []
    for name in arguments.peers:
        function, options = PEERS[name]
        if function == "opentsne":
            options = options | {"stop_after": arguments.opentsne_iterations}
        theirs.append((name, f"map_programs:{function}", options))
    return ours + theirs


def add_quality(results: list[dict[str, Any]], folder: Path, arguments: Any) -> None:
    """Judge all finished maps; t-SNE's loss is computed only for maps that minimise it."""
    maps = {
        result["name"]: str(folder / f"{number}.npy")
        for number, result in enumerate(results)
        if result["status"] == "done" and not result.get("extrapolated_from")
    }
    plain = [name for name in maps if not name.startswith("ctsne") and name != "UMAP"]
    plain += [name for name in maps if name == "ctsne tsne"]
    say("quality of the maps ...")
    given = {
        "folder": str(folder),
        "maps": maps,
        "plain": plain,
        "perplexity": arguments.perplexity,
        "jobs": arguments.jobs,
    }
    judged = measure("map_quality:judge", given, jobs=arguments.jobs)
    if judged["status"] != "done":
        say(f"judging the maps: {judged['status']}: {judged.get('error', '')}")
    for result in results:
        result.update(judged.get("quality", {}).get(result["name"], {}))


def format_table(results: Sequence[dict[str, Any]]) -> str:
    """Format the table of a run, with ratios to the first method of ctsne."""
    ours = results[0].get("seconds")
    rows = []
    for result in results:
        stages = result.get("stages", {})
        ratio = times_slower(result, ours) if ours else None
        over = "> " if result["status"] == "too slow" else ""
        peak = result.get("memory_peak")
        rows.append(
            [
                result["name"],
                outcome(result),
                over + show(ratio, 1) if ratio else "",
                *(show(stages.get(name)) for name in ("neighbours", "similarities", "layout")),
                show(result.get("early_ms"), 1),
                show(result.get("late_ms"), 1),
                "" if peak is None else f"{peak:.0f}",
                *(show(result.get(name), 4) for name in ("kl", "rnx", "adjusted_rnx")),
            ]
        )
    return table(HEADER, rows)


if __name__ == "__main__":
    sys.exit(main())
