"""Cost of a requested mixing, in maps, and how far the finished map is from it.

One row per dataset and target: the CPU time of ``mixing=`` divided by that of a map with a given
strength, and the mixing reached less the target. Where a target is out of reach, the strength is 0
or 1. ``--before`` compares with the results of another version.

Example: CTSNE_DATA=data python benchmarks/mixing_search.py --json after.json --before before.json
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ctsne import ConditionalTSNE
from ctsne.settings import DEFAULTS

# The columns to factor out; several are found together.
SETS = {
    "kang_muscat": ["stim"],
    "sc_mixology": ["batch"],
    "isolet": ["letter"],
    "pancreas3": ["study"],
    "fsdd": ["speaker"],
    "vowels": ["group"],
    "coil20": ["quadrants"],
    "cell_lines": ["dataset"],
    "isolet, two columns": ["letter", "speaker"],
    "fsdd, two columns": ["speaker", "digit"],
}
MISSED = 0.02


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get("CTSNE_DATA", "data")
    parser.add_argument("--data", type=Path, default=Path(folder), help="folder (or CTSNE_DATA)")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET")
    parser.add_argument("--targets", nargs="+", type=float, default=[0.5, 0.7, 0.8, 0.9])
    parser.add_argument("--align", default=DEFAULTS["align"], help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--before", type=Path, help="results of another version, to compare with")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # a mixing that is out of reach is reported below
    earlier = {} if given.before is None else json.loads(given.before.read_text())
    rows = {}
    for name in given.sets:
        with np.load(given.data / f"{name.split(',')[0]}.npz", allow_pickle=False) as stored:
            X, labels = stored["X"], {column: stored[column] for column in SETS[name]}
        base = ConditionalTSNE(align=given.align, random_state=given.seed, n_jobs=1)
        single = np.mean(
            [seconds(base, X, labels, strength=value) for value in (0.6, 0.4, 0.8)][1:]
        )
        for target in given.targets:
            maps = seconds(base, X, labels, strength=None, mixing=target) / single
            base.set_params(mixing=None)
            reached = base.mixing_ if isinstance(base.mixing_, dict) else {name: base.mixing_}
            miss = max((value - target for value in reached.values()), key=abs)
            row = rows[f"{name} {target:g}"] = {"maps": maps, "miss": miss}
            text = f"{name:<20} {target:.1f}   {maps:4.1f} maps   miss {miss:+.3f}"
            if before := earlier.get(f"{name} {target:g}"):
                text += f"   before {before['maps']:4.1f} maps   miss {before['miss']:+.3f}"
                text += f"   cost x {maps / before['maps']:.2f}"
                row["ratio"] = maps / before["maps"]
            print(text, flush=True)
    for title, table in {"now": rows, "before": earlier}.items():
        summary(title, [table[key] for key in rows if key in table])
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    return 0


def seconds(model: ConditionalTSNE, X: Any, labels: Any, **parameters: Any) -> float:
    """Fit, and return the CPU time: it changes less than time on the clock on a busy machine."""
    begin = time.process_time()
    model.set_params(**parameters).fit(X, labels=labels)
    return time.process_time() - begin


def summary(title: str, rows: list[dict[str, float]]) -> None:
    if rows:
        maps = np.array([row["maps"] for row in rows])
        met = sum(abs(row["miss"]) <= MISSED for row in rows)
        print(f"{title}: {maps.mean():.1f} maps on average, at most {maps.max():.1f}; ", end="")
        print(f"{met} of {len(rows)} within {MISSED} of the target")


if __name__ == "__main__":
    raise SystemExit(main())
