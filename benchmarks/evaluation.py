"""Seconds to measure one map: a sample, all points, the whole curve.

Example: python benchmarks/evaluation.py --n 33500
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from simulate import simulate

from ctsne import ConditionalTSNE
from ctsne.evaluate import evaluate, rnx_curve


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=33_500, help="points (default: %(default)s)")
    parser.add_argument("--sample", type=float, default=0.05, help="(default: %(default)s)")
    arguments = parser.parse_args()
    X, labels, types = simulate(arguments.n, d=50, n_labels=10, random_state=0)
    embedding = ConditionalTSNE(n_iter=300, random_state=0).fit_transform(X, labels=labels)
    for points, sample in (
        (f"{arguments.sample:.0%} of the points", arguments.sample),
        ("all", None),
    ):
        timed(f"table, {points}", evaluate, embedding, X, labels, other=types, sample=sample)
        timed(f"R_NX curve, {points}", rnx_curve, embedding, X, labels, sample=sample)
    return 0


def timed(name: str, function: Callable[..., object], *values: Any, **options: Any) -> None:
    begin = time.perf_counter()
    function(*values, **options)
    print(f"{name:<30} {time.perf_counter() - begin:6.1f} s", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
