"""Fit thousands of times in one process: memory, threads and open files must stay flat.

``python fuzz/soak.py [--small 2000] [--large 60]`` prints the averages of an early and a late part
of the fits, and exits with 1 if one of them grew: memory by more than ``NOISE``, the threads or
open files by more than one. Both parts hold the same kinds of fits, equally often.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import resource
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ctsne import ConditionalTSNE, load

METHODS = ("joint", "revised", "balanced", "original", "tsne")
COLUMNS = ("memory (KiB)", "threads", "open files")
#: KiB per fit that count as noise of the allocator. A leaked input of a small fit has 20 KiB, a
#: leaked map of a large one 160 KiB.
NOISE = {"small": 4.0, "large": 80.0}
#: After this many fits their kinds repeat.
PERIODS = {"small": 30, "large": 10}


def small_fit(number: int) -> None:
    """Fit 250 points: each method, dense and sparse; two of ten are refused or fail.

    Others are used: new points are placed and taken in, trust is computed, the model is saved and
    loaded. A third of the fits has several label columns, a third numbers.
    """
    rng = np.random.default_rng(number)
    X = rng.normal(size=(250, 10))
    given: dict[str, Any] = {"labels": rng.integers(3, size=250)}
    if number % 3 == 1:
        given["labels"] = {"batch": given["labels"], "donor": rng.integers(2, size=250)}
    if number % 3 == 2:
        given["numbers"] = {"depth": rng.normal(size=250)}
    parameters: dict[str, Any] = {"method": METHODS[number % 5], "perplexity": 10, "n_iter": 10}
    kind = number % 10
    if kind == 1:
        X = sp.csr_array(np.where(X > 0, X, 0))
    elif kind == 3:
        parameters["perplexity"] = 250
    elif kind == 6:
        parameters |= {
            "callback": lambda iteration, loss, embedding: {}[iteration],
            "callback_every": 5,
        }
    try:
        model = ConditionalTSNE(**parameters, random_state=number).fit(X, **given)
    except (ValueError, KeyError):
        if kind not in (3, 6):
            raise
        return
    use(model, X, given, 2 if kind in (4, 9) else 0)


def use(model: ConditionalTSNE, X: Any, given: dict[str, Any], n_iter: int) -> None:
    """Place points, compute trust, save and load; extend the map if there are iterations for it."""
    model.transform(X, **given)
    model.trust()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.ctsne")
        model.save(path)
        load(path).transform(X, **given)
    if n_iter:
        model.extend(X, **given, n_iter=n_iter)


def large_fit(number: int) -> None:
    """Fit 20,000 points; every tenth time more, whose neighbours are searched approximately."""
    rng = np.random.default_rng(number)
    kind = number % 10
    n = 31_000 if kind == 5 else 20_000
    X = rng.normal(size=(n, 20)).astype(np.float32)
    given: dict[str, Any] = {"labels": rng.integers(4, size=n)}
    if kind in (1, 6, 7):
        given["labels"] = {"batch": given["labels"], "donor": rng.integers(2, size=n)}
    method = METHODS[kind % 5]
    model = ConditionalTSNE(method=method, n_iter=10, recall=0.9, random_state=number)
    model.fit(X, **given)
    if kind in (0, 2, 8):
        use(model, X[:1000], {"labels": given["labels"][:1000]}, 2)
    elif kind == 7:
        use(model, X[:1000], {}, 2)


def usage() -> tuple[float, int, int]:
    """Return the memory in use in KiB, the threads and the open files of this process."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # only glibc gives back what it keeps for later
        ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        memory, threads = (int(fields[name].split()[0]) for name in ("VmRSS", "Threads"))
    else:  # only the highest memory is known: flat if nothing leaks
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        threads = threading.active_count()
    return memory, threads, len(os.listdir("/dev/fd"))


def soak(name: str, fit: Callable[[int], None], count: int) -> bool:
    """Fit ``count`` times, print what was used, and return whether it stayed flat."""
    start = time.perf_counter()
    used = np.empty((count, len(COLUMNS)))
    for number in range(count):
        fit(number)
        used[number] = usage()
    seconds = time.perf_counter() - start
    # The first fits fill caches and the allocator's pools.
    period = min(PERIODS[name], max(1, count // 3))
    part = max(1, count // 4 // period) * period
    skipped = part // 2
    first, last = used[skipped : skipped + part].mean(axis=0), used[-part:].mean(axis=0)
    fits = count - part - skipped
    limits = (fits * NOISE[name], 1.0, 1.0)  # a thread of a pool may start late
    print(f"{name}: {count} fits in {seconds:.0f} s")
    flat = True
    for column, a, b, limit in zip(COLUMNS, first, last, limits, strict=True):
        good = b - a <= limit
        flat &= bool(good)
        verdict = "flat" if good else f"GROWS by more than {limit:g}"
        slope = (b - a) / fits
        print(
            f"  {column:13} {a:12,.1f} -> {b:12,.1f}  {slope:+8.3f} per fit  {verdict}", flush=True
        )
    return flat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=2000)
    parser.add_argument("--large", type=int, default=60)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    flat = soak("small", small_fit, options.small)
    flat &= soak("large", large_fit, options.large)
    return int(not flat)


if __name__ == "__main__":
    sys.exit(main())
