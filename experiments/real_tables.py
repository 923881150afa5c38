"""Tables and figures of the comparison at equal mixing, from the measures of `real.py`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import strength_chart
from common import (
    N_ITER,
    PAIRS,
    PERPLEXITY,
    difference,
    load,
    number,
    picture,
    table,
    write_section,
)
from equal_mixing import SHARES, at_mixing
from real import (
    JOINT,
    LARGE,
    LINES,
    MEASURED,
    MEASURES,
    PAPER,
    POINTS,
    SMALLEST_BETA,
    TSNE,
    csv_path,
)

VALUES = MEASURES[1:]
SHORT = {"rnx": "R_NX", "area": "area", "other_laplacian": "Laplacian"}
BEST, NONE, MUTUAL = "best of the paper", JOINT["none"], JOINT["mutual"]
# Aims: least mean gain over the best of the paper, and most that a cell may be behind.
AIMS = {"rnx": 0.008, "area": 0.005}
BEHIND = 0.005
LOWER_IS_BETTER = ("other_laplacian",)

LEVELS = [number(share, 2) for share in SHARES]

Means = Mapping[str, pd.DataFrame]
Reading = dict[str, float | None]


def run(output: Path) -> None:
    """Write the section from the available files of measures."""
    files = {name: csv_path(output, name) for name in PAIRS}
    measured = {name: pd.read_csv(file) for name, file in files.items() if file.exists()}
    if not measured:
        raise FileNotFoundError(
            f"there are no measures in {output}: compute them with run.py real first"
        )
    lines = {name: lines_of(each) for name, each in measured.items()}
    missing = [name for name in PAIRS if name not in measured]
    write_section(
        output,
        "real_tables",
        "## All methods at equal mixing",
        introduction(measured),
        *([f"**Not computed yet: {', '.join(missing)}.**"] if missing else []),
        "### `joint` against the best of the paper's three",
        *summary({name: differences(each) for name, each in lines.items()}),
        reach(lines),
        "### Methods without a strength",
        *points_section(lines),
        *(part for name, each in lines.items() for part in dataset_section(output, name, each)),
    )


def introduction(measured: Mapping[str, pd.DataFrame]) -> str:
    """Describe what was computed and how to read it."""
    maps = sum(map(len, measured.values()))
    sets = ", ".join(
        f"[{name}]({csv_path(Path(), name).name}) ({len(load(name).X)} points, without "
        f"{PAIRS[name][1]}, looking for {PAIRS[name][2]})"
        for name in measured
    )
    return (
        f"{sets}. {maps} maps, three seeds: the first "
        f"starts from PCA, the others from PCA with noise. Perplexity {PERPLEXITY}, {N_ITER} "
        "iterations and the default learning rate for every method. "
        f"{' and '.join(LARGE)} have three seeds only for t-SNE, the paper's lines, `{NONE}` and "
        f"Harmony, and no beta of revised below {SMALLEST_BETA:g}.\n\n"
        "*Mixing* is the share of random mixing of the label factored out. The other measures, "
        "always in this order: adjusted *R_NX* at 30 and the *area* under its curve over log k, "
        "k = 2 to 400 (neighbours kept, higher is better); the *Laplacian* of the label looked for "
        "at 30 (lower is purer) and the *accuracy* of its 15 nearest neighbours. At most "
        f"{MEASURED:,} points are measured. Lines are interpolated linearly between settings, as "
        "means of the seeds; t-SNE is the weak end of the paper's lines; – marks a mixing outside "
        "the range of a line. *Best of the paper* is the best of original, revised p and revised r "
        "for each measure separately."
    )


def lines_of(measured: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Average each line over its seeds; t-SNE comes before the settings of the paper's lines."""
    rows = measured.assign(setting=measured["setting"].fillna(-1.0))
    means = rows.groupby(["line", "setting"], sort=False)[list(MEASURES)].mean()
    there = set(rows["line"])
    lines = {line: means.loc[line] for line in (TSNE, *LINES, *POINTS) if line in there}
    for line in PAPER:
        if line in lines and TSNE in lines:
            lines[line] = pd.concat([lines[TSNE], lines[line]])
    return lines


def read(line: pd.DataFrame, mixing: float) -> Reading:
    """Read all measures of a line at a mixing."""
    return {value: at_mixing(line["mixing"], line[value], mixing) for value in VALUES}


def best_of_paper(lines: Means, mixing: float) -> Reading:
    """Read the best of the paper's lines, for each measure separately."""
    found = [read(lines[line], mixing) for line in PAPER if line in lines]
    best: Reading = {}
    for value in VALUES:
        values = [each[value] for each in found if each[value] is not None]
        choose = min if value in LOWER_IS_BETTER else max
        best[value] = choose(values) if values else None
    return best


def differences(lines: Means) -> pd.DataFrame:
    """Return joint minus the best of the paper at every level; NaN if either cannot be read."""
    rows = {}
    for share in SHARES:
        ours, paper = read(lines[NONE], share), best_of_paper(lines, share)
        rows[share] = {
            value: np.nan
            if ours[value] is None or paper[value] is None
            else ours[value] - paper[value]
            for value in SHORT
        }
    return pd.DataFrame(rows).T


def summary(found: Mapping[str, pd.DataFrame]) -> list[str]:
    """Tabulate the differences of all datasets, and compare them with the aims."""
    rows = [[name, *(_signed(each.loc[share]) for share in SHARES)] for name, each in found.items()]
    every = pd.concat(found)
    judged = []
    for value, short in SHORT.items():
        values = every[value].dropna()
        lower = value in LOWER_IS_BETTER
        behind = values if lower else -values
        missed = [
            f"{name} {number(share, 2)} ({difference(values[name, share], 0)})"
            for name, share in behind.index[behind.round(6) > BEHIND]
        ]
        aim = AIMS.get(value)
        mean = difference(values.mean(), 0, 4)
        if aim is not None:
            verdict = "reached" if values.mean() >= aim else "**missed**"
            mean += f" (aim {difference(aim, 0)}: {verdict})"
        worst = values.max() if lower else values.min()
        judged.append([short, len(values), mean, difference(worst, 0), "; ".join(missed) or "none"])
    return [
        f"`{NONE}` (align none) minus the best of the paper's three, R_NX / area / Laplacian:",
        table(["dataset", *LEVELS], rows),
        f"Aims: on average ahead by {number(AIMS['rnx'])} in R_NX and {number(AIMS['area'])} in "
        f"area, nowhere behind by more than {number(BEHIND)}, Laplacian nowhere above by more than "
        f"{number(BEHIND)}.",
        table(["measure", "cells", "mean", "worst", "cells that miss"], judged),
    ]


def reach(lines: Mapping[str, Means]) -> str:
    """Describe at which levels only one side can be read."""
    only: dict[str, list[str]] = {NONE: [], "the paper": []}
    for name, each in lines.items():
        for share, level in zip(SHARES, LEVELS, strict=True):
            ours = read(each[NONE], share)["rnx"] is not None
            paper = best_of_paper(each, share)["rnx"] is not None
            if ours != paper:
                only[NONE if ours else "the paper"].append(f"{name} {level}")
    said = "; ".join(
        f"only {side} can be read at: {', '.join(cells) or 'none'}" for side, cells in only.items()
    )
    return f"{said[0].upper()}{said[1:]}. Levels that t-SNE exceeds need nothing factored out."


def points_section(lines: Mapping[str, Means]) -> list[str]:
    """Compare each method without a strength with joint at the same mixing."""
    rows = []
    for name, each in lines.items():
        for point in (TSNE, *POINTS):
            if point in each:
                own = each[point].iloc[0]
                cells = [nearest(each[line], own["mixing"]) for line in (NONE, MUTUAL)]
                rows.append([name, point, number(own["mixing"], 2), _cell(own), *cells])
    return [
        "Each of these is one point. R_NX / area / Laplacian / accuracy, next to the two joint "
        "lines at the same mixing; * marks the nearest end of a line, with its mixing, if that "
        "mixing is outside its range. R_NX and area count neighbours in the data as they are, not "
        "as corrected by a method.",
        table(["dataset", "method", "mixing", "its own", NONE, MUTUAL], rows),
        "Laplacian at Harmony's own mixing; the aim is at most Harmony's value on all datasets "
        f"except one. {_purer(lines, NONE)} {_purer(lines, MUTUAL)}",
    ]


def _purer(lines: Mapping[str, Means], line: str) -> str:
    """Describe on how many datasets a line is as pure as Harmony at Harmony's mixing."""
    above, count = [], 0
    for name, each in lines.items():
        if "Harmony" in each:
            count += 1
            own = each["Harmony"].iloc[0]
            at = _clipped(each[line], own["mixing"])
            ours, theirs = read(each[line], at)["other_laplacian"], own["other_laplacian"]
            if ours is None or round(ours, 3) > round(theirs, 3):
                above.append(f"{name} ({number(ours)} : {number(theirs)})")
    verdict = "reached" if len(above) <= 1 else "**missed**"
    said = f"`{line}`: on {count - len(above)} of {count} ({verdict})"
    return f"{said}; above on {', '.join(above)}." if above else f"{said}."


def nearest(line: pd.DataFrame, mixing: float) -> str:
    """Format a line at a mixing, or at its nearest end."""
    at = _clipped(line, mixing)
    text = _cell(read(line, at))
    return text if at == mixing else f"{text} * ({number(at, 2)})"


def _clipped(line: pd.DataFrame, mixing: float) -> float:
    return float(np.clip(mixing, line["mixing"].min(), line["mixing"].max()))


def dataset_section(output: Path, name: str, lines: Means) -> list[str]:
    """Write one dataset: its figure, and all lines at each level."""
    rows = [[BEST, *(_cell(best_of_paper(lines, share)) for share in SHARES), ""]]
    for line in LINES:
        if line in lines:
            cells = [_cell(read(lines[line], share)) for share in SHARES]
            rows.append([line, *cells, number(lines[line]["mixing"].max(), 2)])
    _, known, hidden = PAIRS[name]
    return [
        f"### {name}: without {known}, looking for {hidden}",
        draw_trade_off(output, name, lines),
        table(["", *LEVELS, "most mixing"], rows),
    ]


def draw_trade_off(output: Path, name: str, lines: Means) -> str:
    """Draw neighbours kept and impurity against mixing."""
    from matplotlib import pyplot as plt

    from ctsne.pl.palette import METHOD_COLORS

    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), facecolor="white")
    drawn = {line: lines[line] for line in LINES if line in lines}
    points = {line: lines[line] for line in (TSNE, *POINTS) if line in lines}
    texts = ("adjusted $R_{NX}$ (higher is better)", "other-label Laplacian (lower is better)")
    # Hollow markers for methods without a strength, filled ones for lines.
    hollow: dict[str, Any] = {
        "markerfacecolor": "white",
        "markeredgewidth": 1.5,
        "markersize": 7,
        "linestyle": "none",
        "zorder": 3,
    }
    inks = {line: {"color": "#222222"} for line in points}
    inks[TSNE] = {"color": METHOD_COLORS["tsne"]}
    for ax, value, text in zip(axes, ("rnx", "other_laplacian"), texts, strict=True):
        strength_chart.draw_trade_off(
            {line: path["mixing"] for line, path in drawn.items()},
            {line: path[value] for line, path in drawn.items()},
            ax,
            xlabel="mixing of the known label (1: random)",
            ylabel=text,
        )
        for share in SHARES:
            ax.axvline(share, color="#b0b0b0", linewidth=0.8, linestyle=":", zorder=0)
        singles = [
            ax.plot(point["mixing"], point[value], marker=marker, **hollow, **inks[line])[0]
            for (line, point), marker in zip(points.items(), "os^Dv", strict=False)
        ]
    # One legend for both panels.
    legend = axes[1].get_legend()
    handles = [*legend.legend_handles, *singles]
    names = [*(text.get_text() for text in legend.get_texts()), *points]
    for ax in axes:
        ax.get_legend().remove()
    figure.tight_layout(w_pad=2)
    axes[1].legend(
        handles, names, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=9
    )
    alt = f"{name}: neighbours kept and impurity against mixing"
    return picture(output, f"real_trade_off_{name}", figure, alt)


def _cell(values: Mapping[str, float | None] | pd.Series) -> str:
    found = [values[value] for value in VALUES]
    return "–" if any(each is None for each in found) else " / ".join(map(number, found))


def _signed(values: pd.Series) -> str:
    return "–" if values.isna().any() else " / ".join(difference(values[each], 0) for each in SHORT)
