"""Seconds to draw and save the picture of a large map.

Example: python benchmarks/drawing.py --n 1000000
"""

from __future__ import annotations

import argparse
import io
import time

import matplotlib as mpl
import numpy as np

from ctsne import pl


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1_000_000, help="points (default: %(default)s)")
    n = parser.parse_args().n
    mpl.use("Agg")
    rng = np.random.default_rng(0)
    codes = rng.integers(20, size=n)
    positions = 40 * rng.normal(size=(20, 2))[codes] + 5 * rng.normal(size=(n, 2))
    labels = np.char.add("type ", codes.astype(str))
    pl.embedding(positions[:1000], labels[:1000])  # warm up
    begin = time.perf_counter()
    ax = pl.embedding(positions, labels)
    drawn = time.perf_counter()
    ax.figure.savefig(io.BytesIO(), dpi=150)
    print(
        f"{n} points: drawn in {drawn - begin:.2f} s, saved in {time.perf_counter() - drawn:.2f} s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
