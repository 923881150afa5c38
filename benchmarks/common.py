"""Shared parts of the benchmark programs: data files, machine, tables, options and results."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from child import write_json
from numpy.typing import NDArray
from simulate import simulate

PACKAGES = (
    "ctsne",
    "openTSNE",
    "scikit-learn",
    "scikit-learn-intelex",
    "scranpy",
    "umap-learn",
    "annoy",
    "pynndescent",
    "usearch",
    "faiss-cpu",
    "numpy",
    "scipy",
)


@contextlib.contextmanager
def problem_files(n: int, *, d: int, n_labels: int, seed: int = 0) -> Iterator[Path]:
    """Write simulated data to a temporary folder for the measured programs to read."""
    with tempfile.TemporaryDirectory() as folder:
        X, labels, _ = simulate(n, d=d, n_labels=n_labels, random_state=seed)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "labels.npy", np.unique(labels, return_inverse=True)[1])
        del X, labels
        yield Path(folder)


def load_problem(folder: str | Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load the points and their labels."""
    return np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "labels.npy")


def machine() -> dict[str, Any]:
    """Describe the machine, without its host name."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return found | {"packages": {name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def arguments_of(program: str | None, **defaults: tuple[Any, str]) -> argparse.ArgumentParser:
    """Make a parser with ``--json`` and one option per given default and help text."""
    parser = argparse.ArgumentParser(
        description=program, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, (default, text) in defaults.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(default),
            default=default,
            help=f"{text} (default: %(default)s)",
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    return parser


def save(arguments: argparse.Namespace, *, complete: bool, **results: Any) -> None:
    """Write the results, and what is needed to understand and repeat them, to ``--json``.

    Long programs save after every step, so that an interruption loses nothing already measured.
    """
    if arguments.json is None:
        return
    settings = {name: value for name, value in vars(arguments).items() if name != "json"}
    content = {
        "program": Path(sys.argv[0]).stem,
        "command": command_line(sys.argv[1:]),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "settings": settings,
        "complete": complete,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    write_json(arguments.json, content | results)


def finish(arguments: argparse.Namespace, results: Sequence[Any], shown: str) -> int:
    """Save the results of a complete run and print its table; the exit code is 0."""
    save(arguments, complete=True, results=results)
    print(shown)
    return 0


def command_line(options: Sequence[str]) -> str:
    """Return the command that was run, without ``--json``."""
    kept = list(options)
    if "--json" in kept:
        at = kept.index("--json")
        del kept[at : at + 2]
    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *kept])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table; all columns except the first are right-aligned."""
    cells = [list(header), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *rest = zip(row, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        return "| " + " | ".join(padded) + " |"

    rule = "| " + " | ".join(["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]) + " |"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])])


def show(value: float | None, digits: int = 2) -> str:
    """Format a number; None gives an empty string."""
    return "" if value is None else f"{value:.{digits}f}"


def outcome(result: dict[str, Any]) -> str:
    """Format the seconds of a measured program, or why there are none."""
    if result["status"] == "done":
        sign = "~ " if result.get("extrapolated_from") else ""
        return f"{sign}{result['seconds']:.2f}"
    if result["status"] == "too slow":
        return f"> {result['limit']:.0f}"
    return str(result["status"])


def times_slower(result: dict[str, Any], ours: float) -> float | None:
    """Return the ratio of a program's time to ours; a lower bound if it was stopped."""
    seconds = result.get("seconds") if result["status"] == "done" else result.get("limit")
    return None if seconds is None else seconds / ours


def say(message: str) -> None:
    """Print a progress message."""
    print(message, file=sys.stderr, flush=True)
