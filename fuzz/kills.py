"""Kill and interrupt every command that writes: ``python fuzz/kills.py [--kills 200] [--seed 0]``.

Each command runs as a process of its own on small data, and is ended at a random moment, or right
before one of its changes of files (``dying.py``). After a kill, the output must be the one from
before or the new one, to the last byte; a table and its settings must fit each other; a sweep that
is run again must end like one that was never disturbed. After an interrupt (half as many), there
must also be one line, exit code 130, and nothing left behind. The exit code is 1 if anything is
broken.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from harness import FOLDER, worker_environment
from make_files import MAPS, SWEPT, frame, run_command, write_files

Rng = np.random.Generator
Files = dict[str, bytes]

MAP = ["--perplexity", "5", "--n-iter", "30", "--early-exaggeration-iter", "10", "--jobs", "1"]
SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}
#: In turn; with 200 kills, there are 100 interrupts.
KINDS = ("kill", "interrupt", "kill", "kill", "interrupt", "terminate")
RESULTS = ("old intact", "new complete", "settings missing", "resumed", "broken")
#: Seconds that a process may take to end after an interrupt.
_PATIENCE = 30.0


class Broken(Exception):
    """What a command has left is neither old nor new."""


@dataclass(frozen=True)
class Job:
    """A command, the folder it starts in, and the folder it leaves if undisturbed."""

    name: str
    words: Sequence[str]
    file: str | None  # that it writes, perhaps with settings in another file next to it
    sweep: str | None  # the folder of a sweep, to which it adds files one by one
    before: Files
    after: Files
    seconds: float
    steps: int  # changes of files in its folder


def main() -> int:
    """Prepare the commands, end them, and print what was left."""
    options = parse()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ctsne-kills-") as folder:
        jobs = make_jobs(Path(folder) / "valid", options.commands, options.workers)
        numbers = range(options.kills + options.kills // 2)
        if options.case is not None:
            numbers = range(options.case, options.case + 1)

        def one(number: int) -> tuple[str, str, str, str]:
            rng = np.random.default_rng([options.seed, number])
            job, kind = jobs[number % len(jobs)], KINDS[number // len(jobs) % len(KINDS)]
            return job.name, kind, *disturb(job, kind, rng, Path(folder) / f"case{number}")

        with ThreadPoolExecutor(options.workers) as pool:
            for number, found in zip(numbers, pool.map(one, numbers), strict=True):
                name, kind, result, fault = found
                counts[name].update([kind, result])
                if fault:
                    again = f"python fuzz/kills.py --seed {options.seed} --case {number}"
                    again += f" --commands '{options.commands}'" if options.commands else ""
                    faults.append(f"{name}, {kind}: {fault}\n  {again}")
                    print(faults[-1], flush=True)
    print(table(counts))
    return int(bool(faults))


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Kill and interrupt every command that writes.")
    parser.add_argument("--kills", type=int, default=200, help="and half as many interrupts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes at the same time")
    parser.add_argument("--commands", default="", help="only those whose name contains this")
    parser.add_argument("--case", type=int, help="repeat one of them")
    return parser.parse_args()


def table(counts: dict[str, Counter[str]]) -> str:
    """Return what was done to each command, and what it left."""
    head = ("kill", "terminate", "interrupt", *RESULTS)
    rows = [(name, *(found[each] for each in head)) for name, found in counts.items()]
    rows.append(("all", *(sum(found[each] for found in counts.values()) for each in head)))
    width = max(len(name) for name, *_ in rows)
    lines = [[f"{'command':{width}}", *head], *([f"{row[0]:{width}}", *row[1:]] for row in rows)]
    sizes = [width, *(max(len(each), 4) for each in head)]
    return "\n".join(
        "  ".join(f"{cell:>{size}}" for cell, size in zip(line, sizes, strict=True))
        for line in lines
    )


def make_jobs(folder: Path, only: str = "", workers: int = 2) -> list[Job]:
    """Run every command undisturbed, with an older output in its place."""
    folder.mkdir()
    chosen = [each for each in COMMANDS if only in each]
    _make_inputs(folder / "inputs", chosen)
    inputs = read_files(folder / "inputs")
    with ThreadPoolExecutor(workers) as pool:
        places = [folder / f"job{number}" for number in range(len(chosen))]
        return list(pool.map(partial(_make_job, inputs), places, chosen))


_EMBED = ["embed", "cells.csv", "--labels", "batch", *MAP, "-o"]
_SWEEP = ["sweep", "cells.csv", "--labels", "batch", *SWEPT, "--strengths", "0.3", "0.6"]
#: By name: the arguments, the file and the folder that are written.
COMMANDS: dict[str, tuple[list[str], str | None, str | None]] = {
    **{f"embed to {suffix}": ([*_EMBED, f"map{suffix}"], f"map{suffix}", None) for suffix in MAPS},
    "embed in place": (["embed", "cells.h5ad", *_EMBED[2:], "cells.h5ad"], "cells.h5ad", None),
    "embed and plot": ([*_EMBED, "map.csv", "--plot", "map.pdf"], "map.csv", None),
    "embed and model": ([*_EMBED, "map.csv", "--model", "map.ctsne"], "map.csv", None),
    "transform": (["transform", "made.ctsne", "cells.csv", "-o", "map.csv"], "map.csv", None),
    "transform and plot": (
        ["transform", "made.ctsne", "cells.csv", "-o", "map.csv", "--plot", "map.pdf"],
        "map.csv",
        None,
    ),
    "embed and page": ([*_EMBED, "map.csv", "--page", "map.html"], "map.csv", None),
    "sweep": ([*_SWEEP, "-o", "fresh"], None, "fresh"),
    "sweep resumed": ([*_SWEEP, "-o", "begun"], None, "begun"),
    "sweep extended": ([*_SWEEP, "-o", "finished"], None, "finished"),
    "report of a sweep": (["report", "finished", "-o", "page.html"], "page.html", None),
    "report of data": (
        ["report", *_SWEEP[1:], "--keep", "kept", "-o", "page.html"],
        "page.html",
        "kept",
    ),
    "plot of a map": (["plot", "made.csv", "-o", "map.png"], "map.png", None),
    "evaluate": (["evaluate", "made.csv", "-k", "5", "-o", "table.csv"], "table.csv", None),
    "rerun of a map": (["rerun", "made.csv", "-o", "map.csv"], "map.csv", None),
    "demo": (["demo", "--jobs", "1", "-o", "demo.png"], "demo.png", None),
}
for _words, *_ in COMMANDS.values():
    if _words[0] != "sweep":  # which has a folder of its own
        _words.append("--force")  # older files of other programs are in the way


def _make_inputs(folder: Path, chosen: list[str]) -> None:
    """Make the data, older outputs, a map, a finished sweep and one that has only begun."""
    folder.mkdir()
    frame().to_csv(folder / "cells.csv", index=False)
    older = ["embed", folder / "cells.csv", "--labels", "batch", *MAP, "--perplexity", "6", "-o"]
    wanted = {COMMANDS[name][1] for name in chosen}
    for name in {f"map{suffix}" for suffix in MAPS} & wanted | {"made.csv", "cells.h5ad"}:
        run_command(*older, folder / name, *(["--key", "older"] if name == "cells.h5ad" else []))
    made = ["embed", folder / "cells.csv", "--labels", "batch", *MAP, "-o", folder / "made.csv"]
    run_command(*made, "--model", folder / "made.ctsne")
    run_command(*older, folder / "made.csv")
    for name in (
        "page.html",
        "map.html",
        "map.ctsne",
        "map.png",
        "map.pdf",
        "maps.svg",
        "table.csv",
        "demo.png",
    ):
        (folder / name).write_bytes(b"an older file")
    for name, strengths in {"finished": ["0.3"], "begun": ["0.3", "0.6"]}.items():
        words = ["sweep", folder / "cells.csv", *_SWEEP[2:-3], "--strengths", *strengths]
        run_command(*words, "-o", folder / name)
    for path in sorted((folder / "begun").iterdir()):
        if not path.name.startswith(("map-", "settings")):
            path.unlink()
    next((folder / "begun").glob("map-*")).unlink()


def _make_job(inputs: Files, folder: Path, name: str) -> Job:
    words, file, sweep = COMMANDS[name]
    write_files(folder / "here", inputs)
    begin = time.perf_counter()
    with _started(words, folder / "here") as process:
        _, errors = process.communicate(timeout=600)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError(f"{name} fails undisturbed: {errors}")
    after = read_files(folder / "here")
    steps = int(_count_of(folder / "here").read_text())
    return Job(name, words, file, sweep, inputs, after, seconds, steps)


@contextlib.contextmanager
def _started(
    words: Sequence[str], folder: Path, number: int = 0, step: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """Start a command that gets a signal at a step, if these are given; end it if it still runs."""
    count = _count_of(folder)
    count.unlink(missing_ok=True)
    dying = [FOLDER / "dying.py", count, int(number), step]
    with subprocess.Popen(
        [sys.executable, *map(str, dying), *words, "-q"],
        cwd=folder,
        env=worker_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _count_of(folder: Path) -> Path:
    """Return the file that a command gets as soon as Python runs, and its steps at its end."""
    return folder.with_name(f"{folder.name}-steps")


def disturb(job: Job, kind: str, rng: Rng, folder: Path) -> tuple[str, str]:
    """End a command at a random moment; return the result, and what is wrong if it is broken."""
    write_files(folder, job.before)
    number, step = SIGNALS[kind], int(rng.integers(1, job.steps + 1))
    at_step = rng.random() < 0.5
    with _started(job.words, folder, number, step if at_step else 0) as process:
        try:
            if not at_step:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(rng.uniform(0, 1.05 * job.seconds))
                process.send_signal(number)
            _, errors = process.communicate(timeout=_PATIENCE + job.seconds)
        except subprocess.TimeoutExpired:
            return "broken", f"it does not end within {_PATIENCE:g} s"
    try:
        if kind != "kill":
            files = read_files(folder)
            running = _count_of(folder).exists() and not _is_complete(job, files)
            _check_end(kind, process.returncode, errors, files, running=running)
        return _check_output(job, folder), ""
    except Broken as error:
        return "broken", str(error)
    finally:
        shutil.rmtree(folder)


def _is_complete(job: Job, files: Files) -> bool:
    """Tell whether a command has done all its work, so that Python ends or is about to."""
    found, expected = (
        {name: comparable(name, each) for name, each in some.items()} for some in (files, job.after)
    )
    return found == expected


def _check_end(kind: str, code: int, errors: str, files: Files, *, running: bool = True) -> None:
    """Refuse a signal that ends in a traceback, with another exit code, or with parts of files.

    An interrupt may end the process without a word only while ctsne is not ``running``: before
    Python listens to signals, and after the command has ended.
    """
    number = SIGNALS[kind]
    silent = {0, -signal.SIGTERM} | (set() if running else {-signal.SIGINT})
    if code not in silent and not _is_early(errors):
        if code != 128 + number:
            raise Broken(f"exit code {code} after {number.name}\n{errors}")
        lines = 1 if kind == "interrupt" else 0
        if len(errors.splitlines()) != lines or (lines and "ctsne: interrupted" not in errors):
            raise Broken(f"not in one line:\n{errors}")
    elif "Traceback" in errors and not _is_early(errors):
        raise Broken(f"a traceback:\n{errors}")
    hidden = [name for name in files if _is_hidden(name)]
    if hidden and code != -signal.SIGTERM:
        raise Broken(f"{number.name} leaves {hidden[0]}")


def _is_early(errors: str) -> bool:
    """Tell whether Python itself, or the import of the package, was interrupted."""
    frames = re.findall(r'File ".*/ctsne/(.*)", line .* in (.*)', errors)
    modules = {
        ("__init__.py", "<module>"),
        ("cli/__init__.py", "<module>"),
        ("cli/__main__.py", "<module>"),
    }
    return "ctsne: " not in errors and "KeyboardInterrupt" in errors and {*frames} <= modules


def _check_output(job: Job, folder: Path) -> str:
    """Return what a command has left; refuse what is neither old nor new."""
    files = {name: each for name, each in read_files(folder).items() if not _is_hidden(name)}
    written = {job.file, f"{job.file}.json", "map.pdf", "map.ctsne", "map.html"}
    # Without its settings, a table has lost them, and a sweep is one that can be continued.
    may_miss = {f"{job.file}.json", f"{job.sweep}/settings.json"}
    for name in sorted({*files, *job.before, *job.after}):
        known = [job.before.get(name), job.after.get(name)]
        in_sweep = job.sweep is not None and name.startswith(f"{job.sweep}/")
        if in_sweep:
            known = [None if each is None else comparable(name, each) for each in known]
        elif name not in written:
            known = known[:1]
        found = files.get(name)
        found = comparable(name, found) if in_sweep and found is not None else found
        if found not in known and not (found is None and name in may_miss):
            state = "is gone" if found is None else "is neither old nor new"
            raise Broken(f"{name} {state}")
    result = "old intact"
    if job.file is not None:
        result = _check_pair(job, files)
    if job.sweep is not None:
        _check_sweep(job, folder, files)
        result = "resumed"
    return result


def _check_pair(job: Job, files: Files) -> str:
    """Refuse a table with the settings of another one; settings may be missing."""
    file, settings = str(job.file), f"{job.file}.json"
    states = {"old intact": job.before, "new complete": job.after}
    for state, known in states.items():
        if files.get(file) == known.get(file):
            if files.get(settings) == known.get(settings):
                return state
            if settings not in files:
                return "settings missing"
    raise Broken(f"{settings} does not belong to {file}")


def _check_sweep(job: Job, folder: Path, files: Files) -> None:
    """Refuse a folder that cannot be read or continued."""
    from ctsne.cli.sweep import read_folder

    with contextlib.suppress(ValueError):  # a sweep that is not finished
        read_folder(folder / str(job.sweep))
    with _started(job.words, folder) as process:
        _, errors = process.communicate(timeout=600)
    if process.returncode:
        raise Broken(f"cannot be continued: {errors}")
    again = {
        name: comparable(name, each)
        for name, each in read_files(folder).items()
        if not _is_hidden(name)
    }
    for name, each in job.after.items():
        if again.get(name) != comparable(name, each):
            raise Broken(f"{name} differs from that of an undisturbed run")


def comparable(name: str, content: bytes) -> object:
    """Return the bytes of a file, or of a sweep's maps and index all but the time they took."""
    if not re.search(r"/(map-[\w.-]+|sweep)\.npz$", name):
        return content
    text = "sweep.json" if name.endswith("/sweep.npz") else "map.json"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found: dict[str, object] = {key: archive.read(key) for key in archive.namelist()}
        facts = json.loads(archive.read(text))
    for entry in facts.get("maps", [facts]):
        del entry["seconds"]
    return {**found, text: facts}


def _is_hidden(name: str) -> bool:
    """Tell whether a file is one that a killed process may leave: on its way to its place."""
    return any(part.startswith(".") for part in Path(name).parts)


def read_files(folder: Path) -> Files:
    """Return all files of a folder by their path in it."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


if __name__ == "__main__":
    sys.exit(main())
