"""Write the tables of the page on speed from the results of the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

METHODS = ("revised-r", "tsne", "balanced", "joint", "original")
PEER = "openTSNE-FFT"
# The run with every method.
COMPARED = "maps-15000"


def write(results: Path, folder: Path) -> None:
    """Write the tables to a folder, from the folder of benchmark results."""
    runs = {file.stem: json.loads(file.read_text()) for file in results.glob("maps-*.json")}
    sizes = sorted(runs.values(), key=lambda run: run["settings"]["n"])
    (folder / "speed-sizes.txt").write_text(_sizes(sizes), encoding="utf-8")
    (folder / "speed-methods.txt").write_text(_methods(runs[COMPARED]), encoding="utf-8")


def _sizes(runs: list[dict[str, Any]]) -> str:
    lines = [
        "| points × columns | labels | perplexity, iterations | ctsne `revised` | peak memory | "
        "openTSNE (FFT) | ratio |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for run in runs:
        own, peer = _result(run, "ctsne revised-r"), _result(run, PEER)
        at = run["settings"]
        cells = [
            f"{at['n']:,} × {at['d']}",
            f"{at['labels']}",
            f"{at['perplexity']:g}, {at['iterations']:,}",
            _seconds(own["seconds"]),
            f"{own['memory_peak'] / 1024:.1f} GiB",
            "not run" if peer is None else _peer_seconds(peer),
            "" if peer is None else f"{peer['seconds'] / own['seconds']:.0f}",
        ]
        unbroken = [cell.replace(" ", "\N{NO-BREAK SPACE}") for cell in cells]
        lines.append(f"| {' | '.join(unbroken)} |")
    commands = "\n".join(run["command"] for run in runs)
    return "\n".join(lines) + f"\n\n{_machine(runs[-1])}\n\n```\n{commands}\n```\n"


def _methods(run: dict[str, Any]) -> str:
    lines = [
        "| `method` | seconds | neighbours | similarities | layout |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for method in METHODS:
        result = _result(run, f"ctsne {method}")
        stages = result["stages"]
        cells = [f"{stages[name]:.1f}" for name in ("neighbours", "similarities", "layout")]
        name = method.removesuffix("-r")
        lines.append(f"| `{name}` | {result['seconds']:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\n```\n{run['command']}\n```\n"


def _result(run: dict[str, Any], name: str) -> Any:
    return next((each for each in run["results"] if each["name"] == name), None)


def _seconds(value: float) -> str:
    return f"{value / 60:.1f} min" if value >= 100 else f"{value:.2g} s"


def _peer_seconds(peer: dict[str, Any]) -> str:
    about = "about " if peer.get("extrapolated_from") else ""
    return about + _seconds(peer["seconds"])


def _machine(run: dict[str, Any]) -> str:
    machine = run["machine"]
    return (
        f"Measured on {run['date']} with {machine['cores']} cores of an {machine['processor']} "
        f"server, ctsne {machine['packages']['ctsne']} and openTSNE "
        f"{machine['packages']['openTSNE']}. “About”: extrapolated from some of the iterations."
    )
