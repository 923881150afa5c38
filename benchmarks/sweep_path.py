"""Compare a sweep in path mode with separate runs: cost and measures, in one run.

Example: python benchmarks/sweep_path.py --n 15000 --method revised
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from simulate import simulate

from ctsne import ConditionalTSNE
from ctsne.evaluate import adjusted_rnx, data_neighbors, laplacian, map_neighbors
from ctsne.methods import METHODS
from ctsne.sweep import sweep


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=15_000, help="points (default: %(default)s)")
    parser.add_argument("--data", type=Path, help=".npz file with X, instead of simulated data")
    parser.add_argument("--label", help="array in that file with the labels to factor out")
    parser.add_argument("--method", default="revised", help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    if arguments.data is None:
        X, labels, _ = simulate(arguments.n, d=50, n_labels=5, random_state=0)
    else:
        with np.load(arguments.data, allow_pickle=False) as stored:
            X, labels = stored["X"], stored[arguments.label]
    figures = compare(X, labels, arguments.method)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    return 0


def compare(X: Any, labels: Any, method: str) -> dict[str, Any]:
    base = ConditionalTSNE(method=method, random_state=0)
    name, values = METHODS[method].knob, METHODS[method].grid
    if name is None:
        raise SystemExit(f"{method} has nothing to sweep")
    data = data_neighbors(X, labels)
    base.set_params(n_iter=20).fit(X[:2000], labels=labels[:2000])  # warm up
    base.set_params(n_iter=750)
    begin = time.perf_counter()
    path = sweep(X, labels, {name: values}, estimator=base, path=True, progress=False)
    whole = time.perf_counter() - begin
    singles, rows = [], []
    for value, swept in zip(values, path.maps, strict=True):
        begin = time.perf_counter()
        single = base.set_params(**{name: value}).fit_transform(X, labels=labels)
        singles.append(time.perf_counter() - begin)
        row: dict[str, float] = {name: value, "seconds": singles[-1]}
        for ending, embedding in (("", single), ("_path", swept.embedding)):
            near = map_neighbors(embedding, k=30)
            row[f"rnx{ending}"] = adjusted_rnx(near, data, k=30)
            row[f"laplacian{ending}"] = laplacian(near, labels, k=30)
        rows.append(row)
        print(
            f"{name} {value:<8g} single {singles[-1]:5.1f} s"
            f"   R_NX {row['rnx']:.4f} path {row['rnx_path'] - row['rnx']:+.4f}"
            f"   Laplacian {row['laplacian']:.4f} path "
            f"{row['laplacian_path'] - row['laplacian']:+.4f}",
            flush=True,
        )
    single = float(np.mean(singles))
    differences = [
        max(abs(row[f"{measure}_path"] - row[measure]) for row in rows)
        for measure in ("rnx", "laplacian")
    ]
    print(
        f"path of {len(values)}: {whole:.1f} s with neighbours and measures = "
        f"{whole / single:.1f} single runs of {single:.1f} s; largest difference R_NX "
        f"{differences[0]:.4f}, Laplacian {differences[1]:.4f}"
    )
    return {"path_seconds": whole, "single_seconds": single, "ratio": whole / single, "rows": rows}


if __name__ == "__main__":
    raise SystemExit(main())
