"""Kill Dask workers that place points: ``python fuzz/worker_kills.py [--kills 60] [--seed 0]``.

Two worker processes place the files of a collection again and again. In every run, one of them is
killed at a random moment, both in turn. Every run must end with the same files as an undisturbed
one and leave nothing else behind. The exit code is 1 if one does not.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pandas as pd
from make_files import frame

from ctsne import ConditionalTSNE
from ctsne.distributed import place

FILES = 12
#: Seconds that a run may take after a kill, in which another process starts.
_PATIENCE = 120.0


def main() -> int:
    """Place points undisturbed, then with kills, and print what became of the runs."""
    parser = argparse.ArgumentParser(description="Kill Dask workers while they place points.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    faults, late, slowest = 0, 0, 0.0
    with (
        tempfile.TemporaryDirectory(prefix="ctsne-kills-") as name,
        distributed.LocalCluster(
            n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        ExitStack() as stack,
    ):
        workers = [start(cluster.scheduler_address, stack) for _ in range(2)]
        client.wait_for_workers(2, timeout=_PATIENCE)
        folder = Path(name)
        make_inputs(folder)
        run(folder, folder / "warm", client)
        begin = time.perf_counter()
        expected = run(folder, folder / "undisturbed", client)
        seconds = time.perf_counter() - begin
        for number in range(options.kills):
            client.wait_for_workers(2, timeout=_PATIENCE)
            moment = rng.uniform(0, 1.05 * seconds)
            killer = threading.Thread(target=kill, args=(workers[number % 2], moment))
            begin = time.perf_counter()
            killer.start()
            try:
                found = run(folder, folder / f"run{number}", client)
                fault = "" if found == expected else "the files differ"
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            taken = time.perf_counter() - begin
            killer.join()
            workers[number % 2] = start(cluster.scheduler_address, stack)
            late, slowest = late + (taken < moment), max(slowest, taken)
            if taken > seconds + _PATIENCE:
                fault = fault or f"it took {taken:.0f} s"
            if fault:
                faults += 1
                print(f"kill {number} after {moment:.2f} s: {fault}", flush=True)
    print(f"An undisturbed run of {FILES} files takes {seconds:.2f} s, the slowest {slowest:.2f} s")
    print(f"{options.kills} kills, {late} of them after the end of the run; {faults} runs broken")
    return int(bool(faults))


def make_inputs(folder: Path) -> None:
    """Write a model, and files with its points."""
    cells = frame()
    numbers = cells.select_dtypes("number")
    model = ConditionalTSNE(n_iter=50, perplexity=5, random_state=0)
    model.fit(numbers, labels=cells["batch"]).save(folder / "model.ctsne")
    for number in range(FILES):
        parts = pd.concat([cells] * 20, ignore_index=True)
        parts.to_parquet(folder / f"cells{number:02d}.parquet")


def run(folder: Path, out: Path, client: Any) -> dict[str, bytes]:
    """Place all files; return what is in the folder."""
    files = str(folder / "cells*.parquet")
    place(folder / "model.ctsne", files, out, labels="batch", client=client, progress=False)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def start(address: str, stack: ExitStack) -> subprocess.Popen[bytes]:
    """Start a worker that nobody restarts: a nanny gives up if its worker dies as it starts."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    command += ["--nthreads", "1", "--no-dashboard"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def kill(worker: subprocess.Popen[bytes], moment: float) -> None:
    """Kill a worker after some time."""
    time.sleep(moment)
    worker.kill()
    worker.wait(timeout=60)


if __name__ == "__main__":
    sys.exit(main())
