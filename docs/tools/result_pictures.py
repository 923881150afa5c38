"""Draw the pictures of the pages of results from the tables that the experiments wrote.

Example: python docs/tools/result_pictures.py some-folder
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from pictures import DPI, GRID, style_chart

from ctsne.pl.palette import METHOD_COLORS

matplotlib.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
# Colour, marker and whether it is filled. Methods have their colours of all figures; others have
# greys and their own markers.
STYLES: dict[str, tuple[str, str, bool]] = {
    "t-SNE": (METHOD_COLORS["tsne"], "o", False),
    "original": (METHOD_COLORS["original"], "v", True),
    "revised r": (METHOD_COLORS["revised"], "X", True),
    "joint": (METHOD_COLORS["joint"], "o", True),
    "joint, mutual": (METHOD_COLORS["joint"], "D", False),
    "ctsne": (METHOD_COLORS["joint"], "o", True),
    "ctsne, mutual": (METHOD_COLORS["joint"], "D", False),
    "scanpy": ("#777777", "s", False),
    "bbknn": ("#111111", "^", False),
    "Harmony": ("#111111", "s", True),
    "default": (METHOD_COLORS["joint"], "o", True),
    "auto": (METHOD_COLORS["joint"], "D", False),
    "Harmony 2 + t-SNE": ("#111111", "s", True),
    "Harmony 2 + UMAP": ("#111111", "^", False),
    "none": (METHOD_COLORS["joint"], "o", True),
    "mutual": (METHOD_COLORS["joint"], "D", False),
    "local": ("#0072B2", "s", False),
    "mean": ("#008844", "^", False),
    "linear regression": ("#777777", "s", False),
    "trend removed": ("#111111", "^", False),
    "ten groups": (METHOD_COLORS["revised"], "X", True),
    "numbers=": (METHOD_COLORS["joint"], "o", True),
    "joint, local": ("#0072B2", "s", False),
    ".30": ("#f3b8a8", "o", True),
    ".50": ("#e2735c", "o", True),
    ".70": ("#b8301d", "o", True),
    ".85": ("#5e120a", "o", True),
}
# One line style per dataset.
DATASETS = {
    "synthetic": "#888888",
    "sc_mixology": "#0072B2",
    "kang_muscat": "#D55E00",
    "isolet": "#009E73",
    "pancreas3": "#CC79A7",
    "hapt": "#E69F00",
    "ifnb": "#5500BB",
}

Table = list[dict[str, str]]


def write(experiments: Path, benchmarks: Path, folder: Path) -> None:
    """Draw every picture and save it to a folder."""
    for name, draw in PICTURES.items():
        figure = draw(benchmarks if name == "speed" else experiments)
        figure.savefig(folder / f"{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def read_tables(file: Path) -> list[Table]:
    """Return the tables of a page, each as a list of rows by heading."""
    tables: list[Table] = []
    head: list[str] | None = None
    for line in file.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
            tables.append([])
        elif not set(line) <= set("|-: "):
            tables[-1].append(dict(zip(head, cells, strict=True)))
    return tables


def number(text: str) -> float:
    """Return the first number of a cell; NaN if it has none."""
    found = re.match(r"\[?([+-]?\d*\.?\d+)", text)
    return float(found[1]) if found else float("nan")


def equal_mixing(results: Path) -> Any:
    """Draw the differences between joint and the best of the paper's methods."""
    table = read_tables(results / "real_tables.md")[0]
    names = ("neighbours kept\n(R_NX at 30)", "neighbours kept\n(area)", "impurity\n(Laplacian)")
    figure, axes = _panels(3, height=3.6)
    levels = [name for name in table[0] if name != "dataset"]
    for place, (ax, name) in enumerate(zip(axes, names, strict=True)):
        _dots(
            ax,
            [row["dataset"] for row in table],
            {level: [_part(row[level], place) for row in table] for level in levels},
        )
        ax.axvline(0, color="#444444", linewidth=1, zorder=1)
        better = (-1, "lower is better") if place == 2 else (1, "higher is better")
        limit = 1.15 * max(abs(np.array(ax.get_xlim())))
        ax.axvspan(0, better[0] * limit, color="#e9f3e6", zorder=0)
        ax.set_xlim(-limit, limit)
        ax.locator_params(axis="x", nbins=5)
        ax.set_title(name, loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlabel(f"joint minus best of the paper\n({better[1]})", fontsize="small")
    _legend(figure, axes[0], title="mixing")
    return figure


def alignment(results: Path) -> Any:
    """Draw how many counterparts are of the right type, by alignment."""
    table = read_tables(results / "alignment.md")[0]
    kinds = ("none", "mutual", "local", "mean")
    figure, axes = _panels(2, height=3.6)
    titles = ("counterparts of the same hidden type", "commutes (needs no second label)")
    for ax, title, place in zip(axes, titles, (1, 0), strict=True):
        values = {kind: [_part(row[kind], place) for row in table] for kind in kinds}
        _dots(ax, [row["dataset"] for row in table], values)
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlim(0, 1.03)
        ax.set_xlabel("share (higher is better)", fontsize="small")
    _legend(figure, axes[0], title="align")
    return figure


def standard(results: Path) -> Any:
    """Draw the totals of scib-metrics, by dataset."""
    table = read_tables(results / "standard.md")[0]
    lines = [name for name in table[0] if name not in ("dataset", "lead")]
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    values = {line: [number(row[line]) for row in table] for line in lines}
    _dots(ax, [row["dataset"] for row in table], values)
    ax.set_xlabel("total of scib-metrics (higher is better)", fontsize="small")
    _legend(figure, ax)
    return figure


def numbers(results: Path) -> Any:
    """Draw how far numbers are removed, and what is left of the hidden label."""
    table = read_tables(results / "numbers_out.md")[0]
    datasets = list(dict.fromkeys(row["dataset"] for row in table))
    shown = {
        "t-SNE": "t-SNE",
        "linear regression + t-SNE": "linear regression",
        "trend removed + t-SNE": "trend removed",
        "ten groups as labels, strength 1": "ten groups",
        "`numbers=`, strength 1": "numbers=",
    }
    figure, axes = _panels(2, height=3.6)
    for ax, (name, title) in zip(
        axes,
        {"gap": "gap in ranks", "accuracy": "accuracy of the hidden label"}.items(),
        strict=True,
    ):
        values = {
            short: [number(row[name]) for row in table if row["method"] == method]
            for method, short in shown.items()
        }
        _dots(ax, datasets, values)
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlabel("higher is better", fontsize="small")
    _legend(figure, axes[0])
    return figure


def private(results: Path) -> Any:
    """Draw how many neighbours of a private type are of another type, at equal mixing."""
    table = read_tables(results / "private.md")[0]
    lines = {
        "t-SNE (unmixed)": "t-SNE",
        "revised r": "revised r",
        "joint": "joint",
        "joint, mutual": "joint, mutual",
        "joint, local": "joint, local",
    }
    levels = list(dict.fromkeys(row["mixing"] for row in table))
    figure, axes = _panels(len(levels), height=3.4, share=False)
    for ax, level in zip(axes, levels, strict=True):
        rows = [row for row in table if row["mixing"] == level]
        names = [f"{row['dataset']} ({row['types']})" for row in rows]
        _dots(ax, names, {to: [number(row[line]) for row in rows] for line, to in lines.items()})
        ax.set_title(f"at a mixing of {level}", loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlim(-0.02, 0.52)
        ax.set_xlabel("neighbours of another type\n(lower is better)", fontsize="small")
    _legend(figure, axes[0])
    return figure


def mixing(results: Path) -> Any:
    """Draw what mixing costs, and how near a map comes to the mixing asked for."""
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.6), layout="constrained")
    texts = ("neighbours kept (R_NX)", "impurity, change from strength 0")
    for name, color in DATASETS.items():
        with (results / f"real_{name}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["line"] == "joint"]
        settings = sorted({float(row["setting"]) for row in rows})
        for ax, measure in zip(axes, ("rnx", "other_laplacian"), strict=False):
            points = [
                [
                    np.mean([float(row[each]) for row in rows if float(row["setting"]) == setting])
                    for each in ("mixing", measure)
                ]
                for setting in settings
            ]
            if measure == "other_laplacian":
                points = [(across, value - points[0][1]) for across, value in points]
            ax.plot(*np.transpose(points), color=color, marker="o", markersize=3, label=name)
    for ax, text in zip(axes, texts, strict=False):
        style_chart(ax, text)
        ax.set_xlabel("mixing (joint, strength 0 to 1)", fontsize="small")
    with (results / "targets.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    axes[2].plot([0.25, 0.95], [0.25, 0.95], color="#444444", linewidth=1, zorder=1)
    for name, color in DATASETS.items():
        own = [row for row in found if row["dataset"] == name]
        ends = [float(row["reached"]) for row in own if not row["target"]]
        for row in own:
            if row["target"]:
                target = float(row["target"])
                filled = min(ends) <= target <= max(ends)
                _dot(axes[2], target, float(row["reached"]), (color, "o", filled))
    style_chart(axes[2], "mixing reached")
    axes[2].set_xlabel("mixing asked for (hollow: out of reach)", fontsize="small")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=7, frameon=False, fontsize="small"
    )
    return figure


def clustering(results: Path) -> Any:
    """Draw how well clusters of each graph agree with the hidden types."""
    by_type, by_batch = read_tables(results / "clustering.md")[:2]
    graphs = ("scanpy", "bbknn", "Harmony", "ctsne", "ctsne, mutual")
    figure, axes = _panels(2, height=3.8)
    titles = ("agreement with the hidden type", "agreement with the known label")
    better = ("higher is better", "lower is better")
    for ax, table, title, end in zip(axes, (by_type, by_batch), titles, better, strict=True):
        rows = {row["graph"]: row for row in table}
        names = [name for name in table[0] if name != "graph"]
        _dots(ax, names, {graph: [number(rows[graph][n]) for n in names] for graph in graphs})
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlim(-0.03, 1.03)
        ax.set_xlabel(f"adjusted Rand index ({end})", fontsize="small")
    _legend(figure, axes[0])
    return figure


def columns(results: Path) -> Any:
    """Draw the mixing of two columns and the neighbours kept, by map."""
    table = read_tables(results / "columns.md")[0]
    wanted = {
        "mixing of stim": "mixing of stim",
        "mixing of donor": "mixing of donor",
        "R_NX": "neighbours kept (R_NX)",
    }
    figure, axes = _panels(len(wanted), height=3.8)
    for ax, (column, title) in zip(axes, wanted.items(), strict=True):
        styles = [_style_of_map(row["map"]) for row in table]
        values = [number(row[column]) for row in table]
        for place, (value, style) in enumerate(zip(values, styles, strict=True)):
            _dot(ax, value, place, style)
        _rows(ax, [row["map"] for row in table])
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        ax.set_xlim(0, 1.05 if "mixing" in title else 1.1 * max(values))
        end = "share of random" if "mixing" in title else "higher is better"
        ax.set_xlabel(end, fontsize="small")
    return figure


def speed(results: Path) -> Any:
    """Draw the time of a map by the number of points, next to openTSNE."""
    figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in results.glob("maps-*.json")]
    runs.sort(key=lambda run: run["settings"]["n"])
    drawn = {
        "ctsne revised-r": ("ctsne, revised", STYLES["revised r"]),
        "openTSNE-FFT": ("openTSNE (FFT), t-SNE", STYLES["bbknn"]),
    }
    for name, (title, (color, marker, _)) in drawn.items():
        found = [
            (run["settings"]["n"], each["seconds"])
            for run in runs
            for each in run["results"]
            if each["name"] == name
        ]
        ax.plot(*np.transpose(found), marker=marker, color=color, label=title)
    ax.set(xscale="log", yscale="log")
    style_chart(ax, "seconds")
    ax.set_xlabel("points", fontsize="small")
    ax.legend(frameon=False, fontsize="small")
    return figure


def _part(cell: str, place: int) -> float:
    """Return one of several numbers in a cell."""
    parts = cell.split("/")
    return number(parts[place].strip()) if place < len(parts) else float("nan")


def _panels(count: int, *, height: float, share: bool = True) -> tuple[Any, Any]:
    return plt.subplots(1, count, figsize=(8.4, height), layout="constrained", sharey=share)


def _style_of_map(name: str) -> tuple[str, str, bool]:
    first = name.split(":")[0]
    return STYLES["joint, mutual" if "mutual" in name else first]


def _dots(ax: Any, names: Sequence[str], values: Mapping[str, Sequence[float]]) -> None:
    """Draw one row per name and one marker per series, side by side within the row."""
    offsets = np.linspace(-0.25, 0.25, len(values))
    for (series, found), offset in zip(values.items(), offsets, strict=True):
        for place, value in enumerate(found):
            _dot(ax, value, place + offset, STYLES[series])
        color, marker, filled = STYLES[series]
        ax.plot(
            [], [], marker, color=color, markerfacecolor=color if filled else "white", label=series
        )
    _rows(ax, names)


def _dot(ax: Any, value: float, place: float, style: tuple[str, str, bool]) -> None:
    color, marker, filled = style
    ax.plot(
        value,
        place,
        marker,
        color=color,
        markerfacecolor=color if filled else "white",
        markersize=6.5,
        markeredgewidth=1.3,
        zorder=3,
    )


def _rows(ax: Any, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)


def _legend(figure: Any, ax: Any, title: str = "") -> None:
    handles, names = ax.get_legend_handles_labels()
    figure.legend(
        handles,
        [f"{title} {name}".strip() for name in names],
        loc="outside lower center",
        ncols=len(names),
        frameon=False,
        fontsize="small",
    )


PICTURES: dict[str, Callable[[Path], Any]] = {
    "equal-mixing": equal_mixing,
    "alignment": alignment,
    "standard": standard,
    "private": private,
    "mixing": mixing,
    "clustering": clustering,
    "several-columns": columns,
    "numbers": numbers,
    "speed": speed,
}

if __name__ == "__main__":
    write(ROOT / "experiments" / "results", ROOT / "benchmarks" / "results", Path(sys.argv[1]))
