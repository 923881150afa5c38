"""Targets for mixing: how close the map comes, and what it costs."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from common import PAIRS, load, number, table, write, write_section
from real import parallel

from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing

TARGETS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WITHIN = 0.02


def run(output: Path) -> None:
    """Request every target on all datasets."""
    cases = [{"strength": 0.0}, {"strength": 1.0}, {}, *({"mixing": each} for each in TARGETS)]
    measured = pd.DataFrame(parallel(_row, [(name, case) for name in PAIRS for case in cases]))
    write(output / "targets.csv", measured.to_csv(index=False, float_format="%.6g"))
    report(measured, output)


def _row(name: str, parameters: dict[str, float]) -> dict[str, float | str | None]:
    data = load(name)
    begun = time.process_time()  # one thread, so that other programs do not matter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some targets are out of reach
        model = ConditionalTSNE(**parameters, random_state=0, n_jobs=1)
        model.fit(data.X, labels=data.known)
    seconds = time.process_time() - begun
    return {
        "dataset": name,
        "target": parameters.get("mixing"),
        "strength": model.strength_,
        "reached": mixing(model.embedding_, data.known, n_jobs=1),
        "seconds": seconds,
    }


def judge(measured: pd.DataFrame) -> pd.DataFrame:
    """Add the reachable range, hits and relative time to the rows with a target."""
    asked = measured[measured["target"].notna()].copy()
    given = measured[measured["target"].isna()]
    for column, strength in (("least", 0.0), ("most", 1.0)):
        ends = given[given["strength"] == strength].set_index("dataset")["reached"]
        asked[column] = asked["dataset"].map(ends)
    single = given[~given["strength"].isin([0.0, 1.0])].set_index("dataset")["seconds"]
    asked["maps"] = asked["seconds"] / asked["dataset"].map(single)
    asked["reachable"] = asked["target"].between(asked["least"], asked["most"])
    asked["hit"] = (asked["reached"] - asked["target"]).abs() <= WITHIN
    return asked


def report(measured: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    asked = judge(measured)
    reachable = asked[asked["reachable"]]
    share = float(reachable["hit"].mean()) if len(reachable) else np.nan
    rows = []
    for name, part in asked.groupby("dataset", sort=False):
        cells = [_cell(row) for _, row in part.iterrows()]
        ends = f"{number(part['least'].iloc[0], 2)} to {number(part['most'].iloc[0], 2)}"
        cost = f"{part['maps'].mean():.1f} ({part['maps'].max():.1f})"
        rows.append([name, ends, *cells, cost])
    header = ["dataset", "reachable", *(number(each, 1) for each in TARGETS), "time (most)"]
    largest = list(asked["dataset"])[-1]
    most = float(asked[asked["dataset"] == largest]["maps"].max())
    missed = reachable[~reachable["hit"]]
    misses = ", ".join(
        f"{row['dataset']} {number(row['target'], 1)} ({number(row['reached'])})"
        for _, row in missed.iterrows()
    )
    write_section(
        output,
        "targets",
        "## Targets for mixing",
        "`ConditionalTSNE(mixing=t, random_state=0)`: mixing reached (strength found) for each "
        "target. The reachable range is that from strength 0 to 1; targets outside it are in "
        "brackets and get the nearest map. Time is processor time in units of one map of the same "
        "data: the mean over targets, and the most. Raw values: [targets.csv](targets.csv).",
        table(header, rows),
        f"Within {number(WITHIN, 2)} of the target: {int(reachable['hit'].sum())} of "
        f"{len(reachable)} reachable cases ({share:.0%}; the aim is 95 %"
        f"{', reached' if share >= 0.95 else ', **missed**'})."
        + (f" Not within: {misses}." if misses else ""),
        "Each map is identical to a separate run with its strength. Where mixing jumps between two "
        "strengths, the nearer one is taken.",
        f"The aim for the time is at most 4 maps at 15,000 points; {largest}, the largest dataset "
        f"here, takes at most {most:.1f} ({'reached' if most <= 4 else '**missed**'}). Smaller "
        "datasets take more.",
    )


def _cell(row: pd.Series) -> str:
    text = f"{number(row['reached'])} ({number(row['strength'], 2)})"
    return text if row["reachable"] else f"[{text}]"
