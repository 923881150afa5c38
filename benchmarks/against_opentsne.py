"""Time ctsne against openTSNE, end to end, on the same data in the same run.

From the matrix to the finished map: neighbours, similarities and all iterations. openTSNE uses
its FFT gradient and, as it does by default, approximate neighbours; ctsne's neighbours are exact.

Example: python benchmarks/against_opentsne.py --n 15000 --jobs 2 --json result.json
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from simulate import simulate

from ctsne import ConditionalTSNE

EARLY_ITERATIONS = 250
# openTSNE, the yardstick, always runs first; then these, as asked for.
METHODS: dict[str, dict[str, Any]] = {
    "tsne": {"method": "tsne"},
    "original": {"method": "original", "beta": 0.1},
    "revised-p": {"method": "revised", "bandwidth": "p", "beta": 1e-4},
    "revised-r": {"method": "revised", "bandwidth": "r", "beta": 1e-4},
    "balanced": {"method": "balanced", "strength": 1.0},
    "joint": {"method": "joint", "strength": 1.0},
}


@dataclass(frozen=True)
class Result:
    """One program on one method: the fastest of its runs."""

    name: str
    seconds: float
    kl: float


@dataclass(frozen=True)
class Problem:
    """What both programs are given."""

    X: npt.NDArray[np.float32]
    labels: npt.NDArray[np.str_]
    perplexity: float
    iterations: int
    jobs: int
    seed: int


def run_ctsne(problem: Problem, params: dict[str, Any]) -> float:
    model = ConditionalTSNE(
        perplexity=problem.perplexity,
        n_iter=problem.iterations,
        early_exaggeration_iter=EARLY_ITERATIONS,
        n_jobs=problem.jobs,
        random_state=problem.seed,
        **params,
    )
    model.fit_transform(problem.X, labels=problem.labels)
    return float(model.kl_divergence_)


def run_opentsne(problem: Problem) -> float:
    from openTSNE import TSNE

    model = TSNE(
        perplexity=problem.perplexity,
        early_exaggeration_iter=EARLY_ITERATIONS,
        # openTSNE counts the iterations after the early ones, ctsne all of them.
        n_iter=problem.iterations - EARLY_ITERATIONS,
        negative_gradient_method="fft",
        n_jobs=problem.jobs,
        random_state=problem.seed,
    )
    return float(model.fit(problem.X).kl_divergence)


def timed(name: str, run: Callable[[], float], repeats: int) -> Result:
    best, kl = float("inf"), float("nan")
    for number in range(repeats):
        print(f"{name}, run {number + 1} of {repeats} ...", file=sys.stderr, flush=True)
        start = time.perf_counter()
        kl = run()
        best = min(best, time.perf_counter() - start)
    return Result(name, best, kl)


def warm_up(problem: Problem, methods: Sequence[str]) -> None:
    """Let both programs load their libraries and start their threads before the clock runs."""
    few = slice(0, min(2000, len(problem.X)))
    small = Problem(
        problem.X[few], problem.labels[few], 10, EARLY_ITERATIONS + 1, problem.jobs, problem.seed
    )
    run_opentsne(small)
    for name in methods:
        run_ctsne(small, METHODS[name])


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("ctsne", "openTSNE", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found


def format_table(results: Sequence[Result]) -> str:
    peer = results[0].seconds
    lines = [f"{'program':<18} {'seconds':>9} {'times faster':>13} {'final KL':>10}"]
    for result in results:
        # A conditioned map minimises another loss: only t-SNE's can be compared.
        comparable = result.name in ("openTSNE", "ctsne tsne")
        kl = f"{result.kl:.4f}" if comparable else ""
        lines.append(
            f"{result.name:<18} {result.seconds:>9.2f} {peer / result.seconds:>13.1f} {kl:>10}"
        )
    return "\n".join(line.rstrip() for line in lines)


def write_json(path: Path, content: dict[str, Any]) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=15000, help="points (default: %(default)s)")
    parser.add_argument("--d", type=int, default=50, help="columns (default: %(default)s)")
    parser.add_argument("--labels", type=int, default=5, help="batches (default: %(default)s)")
    parser.add_argument("--perplexity", type=float, default=50, help="(default: %(default)s)")
    parser.add_argument(
        "--iterations",
        type=int,
        default=1000,
        help=f"all iterations, the {EARLY_ITERATIONS} early ones included (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="threads (default: %(default)s)")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        default=["revised-r", "tsne"],
        metavar="METHOD",
        help=f"any of {', '.join(METHODS)} (default: revised-r tsne)",
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="runs of each, the fastest counts (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    arguments = parser.parse_args(argv)
    if arguments.iterations <= EARLY_ITERATIONS:
        parser.error(f"--iterations must be more than {EARLY_ITERATIONS}")
    if arguments.repeats < 1:
        parser.error("--repeats must be 1 or more")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    X, labels, _ = simulate(
        arguments.n, d=arguments.d, n_labels=arguments.labels, random_state=arguments.seed
    )
    problem = Problem(
        X, labels, arguments.perplexity, arguments.iterations, arguments.jobs, arguments.seed
    )
    with warnings.catch_warnings():
        # The small warm-up may be too small for its labels; nobody looks at its map.
        warnings.simplefilter("ignore")
        warm_up(problem, arguments.methods)

    results = [timed("openTSNE", functools.partial(run_opentsne, problem), arguments.repeats)]
    for name in arguments.methods:
        run = functools.partial(run_ctsne, problem, METHODS[name])
        results.append(timed(f"ctsne {name}", run, arguments.repeats))

    print(
        f"{arguments.n} points, {arguments.d} columns, {arguments.labels} labels,"
        f" perplexity {arguments.perplexity:g}, {arguments.iterations} iterations,"
        f" {arguments.jobs} threads"
    )
    print(", ".join(f"{name} {number}" for name, number in versions().items()))
    print()
    print(format_table(results))
    if arguments.json is not None:
        settings = {name: value for name, value in vars(arguments).items() if name != "json"}
        content = {"settings": settings, "versions": versions()}
        write_json(arguments.json, content | {"results": [asdict(result) for result in results]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
