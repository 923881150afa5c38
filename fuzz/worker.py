"""A worker: runs the cases of one attacker, one after another, until its time is over."""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
from harness import FINISHED, Board, finding_of, load

#: Bytes a worker may allocate unless its attacker says otherwise (None: no limit). An absurd
#: allocation is then a MemoryError, not the end of the machine.
MEMORY = 4 << 30


def prepare(attacker: ModuleType, folder: Path) -> None:
    """Limit the memory, and let the attacker prepare its folder."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = getattr(attacker, "MEMORY", MEMORY)
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    warnings.simplefilter("ignore")
    if hasattr(attacker, "start"):
        attacker.start(folder)


def run_case(attacker: ModuleType, seed: int, number: int, folder: Path) -> str | None:
    """Run one case, which depends on nothing but the seed and its number."""
    name: str | None = attacker.attack(np.random.default_rng([seed, number]), folder)
    return name


def work(attacker: ModuleType, folder: Path, seed: int, numbers: range, until: float) -> None:
    """Run cases until the time is over; findings go to a file at once, counts to the board."""
    board = Board(folder / "board")
    scratch = folder / "scratch"
    scratch.mkdir()
    begun = time.monotonic()
    prepare(attacker, scratch)
    until += time.monotonic() - begun  # the time is for cases
    ok = typed = 0
    with (folder / "findings").open("a", buffering=1) as findings:
        for number in numbers:
            board.write(number, attacker.LIMIT, ok, typed)
            if time.monotonic() > until:
                break
            try:
                good = run_case(attacker, seed, number, scratch) == "ok"
            except Exception as error:
                findings.write(json.dumps(finding_of(error, number)) + "\n")
            else:
                ok, typed = ok + good, typed + (not good)
    board.write(FINISHED, attacker.LIMIT, ok, typed)


if __name__ == "__main__":
    path, place, seed, first, stop, step, end = sys.argv[1:]
    numbers = range(int(first), int(stop), int(step))
    work(load(Path(path)), Path(place), int(seed), numbers, float(end))
