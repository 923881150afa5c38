"""Points per second and memory of workers that place many points, with one of them killed.

The points are made by the workers, block by block, around centres of cell types with a shift for
every batch, so that no file and no process ever holds them all. A model of a sample
(``fit_sample``) is placed in; ``place`` writes one Parquet file per block. A worker process is
killed after a quarter of the blocks. Some blocks are compared, bit by bit, with ``transform`` in
this process.

Example: python benchmarks/cluster.py --n 1000000 --reference 20000
Example: python benchmarks/cluster.py --n 10000000
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments_of, save, say, show, table

TYPES, BATCHES = 12, 8
HEADER = (
    "points",
    "blocks",
    "workers",
    "seconds",
    "points/s per worker",
    "CPU µs/point",
    "peak MiB per worker",
    "MB written",
    "equal bits",
)
# Blocks that are also placed in this process.
COMPARED = 3


def block_of(number: int, rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Make a block of points and their batches; the same number gives the same block."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng([1, number])
    spectrum = ((1.0 + np.arange(d)) ** -0.5).astype(np.float32)
    centres = 2 * spectrum * fixed.standard_normal((TYPES, d), np.float32)
    shifts = spectrum * fixed.standard_normal((BATCHES, d), np.float32)
    widths = spectrum * fixed.uniform(0.4, 1.2, (TYPES, d)).astype(np.float32)
    shares = fixed.dirichlet(np.ones(BATCHES))
    types = rng.integers(TYPES, size=rows)
    batches = rng.choice(BATCHES, rows, p=shares).astype(np.int16)
    X = rng.standard_normal((rows, d), np.float32)
    X *= widths[types]
    X += centres[types]
    X += shifts[batches]
    return X, batches


def made(arguments: Any) -> tuple[Any, Any]:
    """Return the points and their labels as Dask arrays that are made when they are needed."""
    import dask.array as da

    rows, d = arguments.block, arguments.d

    def points(block_info: Any = None) -> np.ndarray:
        return block_of(block_info[None]["chunk-location"][0], rows, d)[0]

    def labels(block_info: Any = None) -> np.ndarray:
        return block_of(block_info[None]["chunk-location"][0], rows, d)[1]

    blocks = -(-arguments.n // rows)
    X = da.map_blocks(
        points, chunks=((rows,) * blocks, (d,)), dtype=np.float32, meta=np.empty((0, 0), np.float32)
    )
    batch = da.map_blocks(
        labels, chunks=((rows,) * blocks,), dtype=np.int16, meta=np.empty(0, np.int16)
    )
    return X, batch


def watch(peaks: dict[int, float], seconds: dict[int, float], stop: threading.Event) -> None:
    """Note the largest memory and the processor time of every worker process."""
    import psutil

    while not stop.wait(0.2):
        for process in psutil.Process().children(recursive=True):
            try:
                if "spawn_main" in " ".join(process.cmdline()):
                    pid, used = process.pid, process.cpu_times()
                    peaks[pid] = max(peaks.get(pid, 0.0), process.memory_info().rss / 2**20)
                    seconds[pid] = used.user + used.system
            except psutil.Error:
                continue


def kill_later(client: Any, out: Path, after: int, killed: list[int]) -> None:
    """End a worker process without warning as soon as some blocks are finished."""
    while len(list(out.glob("part-*"))) < after:
        time.sleep(0.1)
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    killed.append(pid)
    say(f"killed worker process {pid}")


def main(argv: Sequence[str] | None = None) -> int:
    import distributed

    from ctsne import ConditionalTSNE
    from ctsne.distributed import fit_sample, place

    arguments = arguments_of(
        __doc__,
        n=(10_000_000, "points"),
        d=(50, "columns"),
        block=(100_000, "points per block"),
        reference=(100_000, "points of the sample that the model is fitted to"),
        iterations=(750, "iterations of the map"),
        workers=(2, "worker processes, of one thread each"),
    ).parse_args(argv)
    result: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as name,
        distributed.LocalCluster(
            n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        X, batch = made(arguments)
        begin = time.perf_counter()
        model = fit_sample(
            X,
            arguments.reference,
            labels=batch,
            estimator=ConditionalTSNE(n_iter=arguments.iterations, random_state=0),
        )
        result["fit_seconds"] = time.perf_counter() - begin
        say(f"sample and map: {result['fit_seconds']:.0f} s")
        file, out = Path(name) / "model.ctsne", Path(name) / "maps"
        model.save(file)
        result["model_megabytes"] = file.stat().st_size / 1e6
        peaks: dict[int, float] = {}
        used: dict[int, float] = {}
        killed: list[int] = []
        stop = threading.Event()
        threads = [
            threading.Thread(target=watch, args=(peaks, used, stop)),
            threading.Thread(
                target=kill_later,
                args=(client, out, max(1, X.numblocks[0] // 4), killed),
                daemon=True,
            ),
        ]
        for thread in threads:
            thread.start()
        time.sleep(1)
        before = sum(used.values())
        begin = time.perf_counter()
        placed = place(file, X, out, labels=batch)
        seconds = time.perf_counter() - begin
        stop.set()
        threads[0].join()
        equal = 0
        for number in np.linspace(0, len(placed.files) - 1, COMPARED).astype(int).tolist():
            points, labels = block_of(number, arguments.block, arguments.d)
            equal += same_bits(placed.files[number], model.transform(points, labels))
        result |= {
            "points": placed.n_points,
            "blocks": len(placed.files),
            "workers": arguments.workers,
            "seconds": seconds,
            "far": placed.n_far,
            "killed": len(killed),
            "per_second_per_worker": placed.n_points / seconds / arguments.workers,
            "cpu_microseconds": 1e6 * (sum(used.values()) - before) / placed.n_points,
            "peak_mebibytes": max(peaks.values()),
            "written_megabytes": sum(path.stat().st_size for path in placed.files) / 1e6,
            "compared": COMPARED,
            "equal": equal,
        }
    save(arguments, complete=True, results=[result])
    print(format_table([result]))
    return 0 if equal == COMPARED and killed else 1


def same_bits(path: Path, expected: np.ndarray) -> bool:
    import pandas as pd

    found = pd.read_parquet(path)[["ctsne_1", "ctsne_2"]].to_numpy()
    return bool(np.array_equal(found, expected))


def format_table(results: Sequence[dict[str, Any]]) -> str:
    """Format one row per run."""
    rows = [
        [
            f"{r['points']:,}",
            str(r["blocks"]),
            str(r["workers"]),
            show(r["seconds"], 0),
            f"{r['per_second_per_worker']:,.0f}",
            show(r["cpu_microseconds"], 1),
            show(r["peak_mebibytes"], 0),
            show(r["written_megabytes"], 0),
            f"{r['equal']} of {r['compared']}",
        ]
        for r in results
    ]
    return table(HEADER, rows)


if __name__ == "__main__":
    sys.exit(main())
