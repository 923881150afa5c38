"""Peak memory and seconds by stage of one map.

Example: python benchmarks/memory.py --n 100000 --perplexity 50
"""

from __future__ import annotations

import argparse
import resource
import sys

from simulate import simulate

from ctsne import ConditionalTSNE


def peak_mebibytes() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)  # kilobytes, but bytes on macOS


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=100_000, help="points (default: %(default)s)")
    parser.add_argument("--perplexity", type=float, default=50, help="(default: %(default)s)")
    parser.add_argument("--method", default="revised", help="(default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=60, help="(default: %(default)s)")
    arguments = parser.parse_args()
    X, labels, _ = simulate(arguments.n, d=50, n_labels=5, random_state=0)
    before = peak_mebibytes()
    ConditionalTSNE(
        method=arguments.method,
        perplexity=arguments.perplexity,
        n_iter=arguments.iterations,
        early_exaggeration_iter=arguments.iterations // 3,
        verbose=1,
    ).fit(X, labels=labels)
    print(
        f"{arguments.n} points: {before:.0f} MiB with the data, {peak_mebibytes():.0f} at the peak"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
