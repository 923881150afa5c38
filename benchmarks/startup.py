"""Seconds of `import ctsne` in fresh processes, next to other programs.

Also lists the heavy packages that each import loads.

Example: python benchmarks/startup.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from common import arguments_of, save, show, table

STATEMENTS = {
    "ctsne": "import ctsne",
    "ctsne, estimator": "from ctsne import ConditionalTSNE",
    "scikit-learn": "from sklearn.manifold import TSNE",
    "openTSNE": "from openTSNE import TSNE",
    "UMAP": "from umap import UMAP",
}
HEAVY = (
    "anndata",
    "dask",
    "distributed",
    "harmonypy",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "scanpy",
    "torch",
)
HEADER = ("import", "seconds", "of ctsne", "heavy packages loaded")

_PROBE = """
import json, sys, time
begin = time.perf_counter()
{statement}
seconds = time.perf_counter() - begin
print(json.dumps([seconds, [name for name in {heavy} if name in sys.modules]]))
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments_of(__doc__, repeats=(5, "processes per import; the fastest counts"))
    arguments = parser.parse_args(argv)
    results = [probe(name, arguments.repeats) for name in STATEMENTS]
    save(arguments, complete=True, results=results)
    print(format_table(results))
    return 0


def probe(name: str, repeats: int) -> dict[str, Any]:
    """Time one statement in separate processes."""
    code = _PROBE.format(statement=STATEMENTS[name], heavy=HEAVY)
    times, heavy = [], []
    for _ in range(repeats):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if ended.returncode:
            return {"name": name, "status": "failed", "error": ended.stderr.strip()[-200:]}
        seconds, heavy = json.loads(ended.stdout.splitlines()[-1])
        times.append(seconds)
    return {"name": name, "status": "done", "seconds": min(times), "heavy": heavy}


def format_table(results: Sequence[dict[str, Any]]) -> str:
    ours = results[0].get("seconds")
    rows = []
    for result in results:
        seconds = result.get("seconds")
        ratio = seconds / ours if seconds and ours else None
        heavy = ", ".join(result.get("heavy", [])) or "none"
        shown = show(seconds) if seconds else result["status"]
        rows.append([f"`{STATEMENTS[result['name']]}`", shown, show(ratio, 1), heavy])
    return table(HEADER, rows)


if __name__ == "__main__":
    sys.exit(main())
