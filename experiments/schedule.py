"""Fewer iterations of early exaggeration: whether a shorter run is as good, for all methods."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from common import difference, load_real, number, table, write, write_section
from real import measure, parallel
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from suggestion import SETS

from ctsne import ConditionalTSNE

# Iterations of early exaggeration, and in all; the first is the default.
SCHEDULES = ((250, 750), (100, 750), (100, 600))
METHODS = ("joint", "balanced", "tsne")
SEEDS = range(2)
# The arrangement is compared by the distances between this many points.
ARRANGED = 1000
# What a shorter run may cost on any dataset. The loss: as a share.
LOSS, ARRANGEMENT = 0.005, 0.05
SHOWN = {
    "loss": "loss",
    "mixing": "mixing",
    "rnx": "R_NX",
    "other_laplacian": "hidden Laplacian",
    "arranged": "arrangement",
    "seconds": "time",
}


def run(output: Path) -> None:
    """Make all maps with every schedule."""
    cases = [
        (name, method, schedule, seed)
        for name in SETS
        for method in METHODS
        for schedule in SCHEDULES
        for seed in SEEDS
    ]
    made = pd.DataFrame(parallel(_row, cases))
    write(output / "schedule.csv", made.to_csv(index=False, float_format="%.6g"))
    report(made, output)


def _row(name: str, method: str, schedule: tuple[int, int], seed: int) -> dict[str, float | str]:
    data = load_real(name, *SETS[name])
    early, total = schedule
    begun = time.process_time()  # one thread, so that other programs do not matter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about unmatched points are expected here
        model = ConditionalTSNE(
            method=method,
            early_exaggeration_iter=early,
            n_iter=total,
            random_state=seed,
            n_jobs=1,
        ).fit(data.X, labels=data.known)
    seconds = time.process_time() - begun
    rows = np.random.default_rng(0).permutation(len(data.X))[:ARRANGED]
    arranged = spearmanr(pdist(data.X[rows]), pdist(model.embedding_[rows]))[0]
    row = {"dataset": name, "method": method, "early": early, "total": total, "seed": seed}
    found = {"loss": model.kl_divergence_, "arranged": float(arranged), "seconds": seconds}
    return row | found | measure(model.embedding_, data)


def changes(made: pd.DataFrame) -> pd.DataFrame:
    """Return what each schedule changes against the first, the mean of the seeds."""
    keys = ["method", "early", "total", "dataset"]
    means = made.groupby(keys, sort=False)[list(SHOWN)].mean().reset_index()
    first = means[(means["early"] == SCHEDULES[0][0]) & (means["total"] == SCHEDULES[0][1])]
    joined = means.merge(first, on=["method", "dataset"], suffixes=("", " before"))
    for name in SHOWN:
        before = joined[f"{name} before"]
        joined[name] -= before
        if name in ("loss", "seconds"):
            joined[name] /= before
    return joined[joined["early"] < SCHEDULES[0][0]]


def report(made: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    found = changes(made)
    rows, worse = [], []
    for (method, early, total), part in found.groupby(["method", "early", "total"], sort=False):
        cells = [difference(float(part[name].mean()), 0.0) for name in SHOWN]
        bad = part[(part["loss"] > LOSS) | (part["arranged"] < -ARRANGEMENT)]
        rows.append([method, early, total, *cells, len(bad)])
        worse += [
            f"{row['dataset']} ({method} {early}/{total}: loss {difference(row['loss'], 0.0)}, "
            f"arrangement {difference(row['arranged'], 0.0)})"
            for _, row in bad.iterrows()
        ]
    early, total = SCHEDULES[0]
    write_section(
        output,
        "schedule",
        "## Iterations of early exaggeration",
        f"{made['dataset'].nunique()} datasets, {made['seed'].nunique()} seeds: change of the mean "
        f"against {early} iterations of early exaggeration and {total} in all. *Loss* and *time* "
        "are shares. *Arrangement* is the rank correlation between distances in the data and in "
        "the map. Datasets count as worse if the loss rises by more than "
        f"{number(LOSS)} of it or the arrangement falls by more than {number(ARRANGEMENT, 2)}. Raw "
        "values: [schedule.csv](schedule.csv).",
        table(["method", "early", "in all", *SHOWN.values(), "worse"], rows),
        f"Worse: {'; '.join(worse)}. The default stays."
        if worse
        else "No dataset is worse with a shorter run.",
    )
