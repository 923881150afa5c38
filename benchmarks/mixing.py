"""Targets for mixing: how close the map comes, and the cost in single maps, in one run.

Example: python benchmarks/mixing.py --n 15000 --labels 5
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence

from simulate import simulate

from ctsne import ConditionalTSNE


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=15_000, help="points (default: %(default)s)")
    parser.add_argument("--labels", type=int, default=5, help="labels (default: %(default)s)")
    parser.add_argument(
        "--targets",
        type=float,
        nargs="+",
        default=[0.3, 0.5, 0.7, 0.9],
        metavar="SHARE",
        help="mixing to ask for (default: .3 .5 .7 .9)",
    )
    arguments = parser.parse_args(argv)
    warnings.simplefilter("ignore")  # the table shows targets out of reach
    X, labels, _ = simulate(arguments.n, d=50, n_labels=arguments.labels, random_state=0)
    ConditionalTSNE(n_iter=20, random_state=0).fit(X[:2000], labels=labels[:2000])  # warm up
    print("target  mixing  strength  seconds  single maps")
    for target in arguments.targets:
        model, seconds = timed(ConditionalTSNE(mixing=target, random_state=0), X, labels)
        # The same map alone, right afterwards, so that the machine is equally busy.
        _, single = timed(ConditionalTSNE(strength=model.strength_, random_state=0), X, labels)
        print(
            f"{target:6.2f}  {model.mixing_:6.3f}  {model.strength_:8.3f}  {seconds:7.1f}  "
            f"{seconds / single:11.2f}",
            flush=True,
        )
    return 0


def timed(model: ConditionalTSNE, X: object, labels: object) -> tuple[ConditionalTSNE, float]:
    begin = time.perf_counter()
    model.fit(X, labels=labels)  # type: ignore[arg-type]
    return model, time.perf_counter() - begin


if __name__ == "__main__":
    raise SystemExit(main())
