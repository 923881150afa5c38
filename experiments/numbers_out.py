"""Numbers factored out: how far, and what is left, next to regression and groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import load_real, number, start, table, write, write_section
from equal_mixing import at_mixing
from numpy.typing import NDArray
from real import parallel
from scipy.ndimage import rotate
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from ctsne import ConditionalTSNE
from ctsne.evaluate import data_neighbors, measure_map
from ctsne.evaluate.mixing import knn_accuracy
from ctsne.labels import Column, encode_number
from ctsne.neighbors.alignment import without_trend

SEEDS = range(3)
STRENGTHS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
TSNE, LINEAR, SMOOTH = "t-SNE", "linear regression + t-SNE", "trend removed + t-SNE"
GROUPS, NUMBERS = "ten groups as labels", "`numbers=`"
POINTS, LINES = (TSNE, LINEAR, SMOOTH), (GROUPS, NUMBERS)
# Neighbours that predict the hidden label, and gaps at which the lines are read.
VOTES, LEVELS = 15, (0.5, 0.7, 0.9)


class Numbered(NamedTuple):
    """Points, a number to factor out, and the label that should appear."""

    X: NDArray[np.floating]
    number: Column
    hidden: NDArray[Any]


def turned_digits() -> Numbered:
    """Return handwritten digits, each turned by up to 90 degrees to either side."""
    digits = load_digits()
    angle = np.random.default_rng(0).uniform(-90, 90, len(digits.images))
    large = np.kron(digits.images, np.ones((1, 2, 2)))
    turned = [
        rotate(image, by, reshape=False, order=1) for image, by in zip(large, angle, strict=True)
    ]
    pixels = np.reshape(turned, (len(angle), -1))
    return Numbered(
        PCA(40, random_state=0).fit_transform(pixels), encode_number(angle), digits.target
    )


def drift() -> Numbered:
    """Return eight types that move along a curved path as a number grows."""
    rng, n = np.random.default_rng(0), 2000
    types, number = rng.integers(8, size=n), rng.uniform(size=n)
    X = rng.normal(scale=3, size=(8, 20))[types] + rng.normal(size=(n, 20))
    angle = np.pi * number
    X[:, :3] += np.column_stack([12 * np.cos(angle), 12 * np.sin(angle), 8 * np.sin(2 * angle)])
    return Numbered(X, encode_number(number), types)


def gas(column: str) -> Numbered:
    """Return chemical sensors, with the dose or the month (the batch) as a number."""
    data = load_real("gas_drift", column, "gas")
    return Numbered(data.X, encode_number(data.known.astype(float)), data.hidden)


def blood(column: str) -> Numbered:
    """Return the blood cells that come with scanpy, with a number of each cell."""
    import scanpy as sc

    cells = sc.datasets.pbmc68k_reduced()
    types = cells.obs["bulk_labels"].astype(str).to_numpy()
    return Numbered(cells.obsm["X_pca"], encode_number(cells.obs[column].to_numpy()), types)


SETS: dict[str, Callable[[], Numbered]] = {
    "drift: eight types on a curved path": drift,
    "digits turned by up to ±90°": turned_digits,
    "gas sensors, dose": lambda: gas("dose"),
    "gas sensors, batch as time": lambda: gas("batch"),
    "blood cells, counts per cell": lambda: blood("n_counts"),
    "blood cells, S score (cell cycle)": lambda: blood("S_score"),
}


@lru_cache(maxsize=2)
def load(name: str) -> Numbered:
    """Return a dataset by its title."""
    return SETS[name]()


def run(output: Path) -> None:
    """Map all datasets with every method."""
    tasks = [
        (name, line, strength, seed)
        for name in SETS
        for seed in SEEDS
        for line, values in (*((p, (0.0,)) for p in POINTS), *((own, STRENGTHS) for own in LINES))
        for strength in values
    ]
    made = pd.DataFrame(parallel(_row, tasks))
    write(output / "numbers_out.csv", made.to_csv(index=False, float_format="%.6g"))
    report(made, output)


def _row(name: str, line: str, strength: float, seed: int) -> dict[str, Any]:
    data = load(name)
    X, ranks = data.X, data.number.ranks
    if line == LINEAR:
        design = np.column_stack([np.ones(len(X)), ranks])
        X = X - design @ np.linalg.lstsq(design, X, rcond=None)[0]
    elif line == SMOOTH:
        X = without_trend(X, data.number)
    options: dict[str, Any] = {"method": "tsne"}
    if line in LINES:
        options = {"strength": strength, "align": "none" if line == GROUPS else None}
    init = start(X, seed) if seed else "pca"
    model = ConditionalTSNE(**options, init=init, random_state=seed, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unmatched points and small groups
        known = {"number": data.number} if line in LINES else None
        embedding = model.fit_transform(X, labels=known)
        measures = measure_map(embedding, data_neighbors(data.X, data.number), n_jobs=1)
    kept = {key: measures[key] for key in ("mixing", "r2", "adjusted_rnx")}
    accuracy = knn_accuracy(embedding, data.hidden, k=VOTES)
    return {
        "dataset": name,
        "line": line,
        "strength": strength,
        "seed": seed,
        **kept,
        "accuracy": accuracy,
    }


def at_gap(made: pd.DataFrame, level: float) -> pd.DataFrame:
    """Read the lines at a gap, mean of the seeds; t-SNE is the weak end of both."""
    rows = []
    for (name, seed), part in made.groupby(["dataset", "seed"], sort=False):
        plain = part[part["line"] == TSNE]
        for line in LINES:
            along = pd.concat([plain, part[part["line"] == line].sort_values("strength")])
            read = {
                key: at_mixing(along["mixing"], along[key], level)
                for key in ("r2", "adjusted_rnx", "accuracy")
            }
            rows.append({"dataset": name, "seed": seed, "line": line, **read})
    read = pd.DataFrame(rows).astype({"r2": float, "adjusted_rnx": float, "accuracy": float})
    # A line that does not reach the level with every seed is not read.
    return read.groupby(["dataset", "line"], sort=False)[["r2", "adjusted_rnx", "accuracy"]].agg(
        lambda values: values.mean(skipna=False)
    )


def report(made: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    means = made.groupby(["dataset", "line", "strength"], sort=False).mean(numeric_only=True)
    columns = ["mixing", "r2", "adjusted_rnx", "accuracy"]
    header = ["gap", "R²", "adjusted R_NX", "accuracy"]
    points, levels = [], []
    for name in dict.fromkeys(made["dataset"]):
        ends = [(line, 0.0) for line in POINTS] + [(line, STRENGTHS[-1]) for line in LINES]
        for line, strength in ends:
            said = f"{line}, strength {strength:g}" if line in LINES else line
            points.append(
                [name, said, *(number(means.loc[(name, line, strength), c], 2) for c in columns)]
            )
    for level in LEVELS:
        read = at_gap(made, level)
        for name in dict.fromkeys(made["dataset"]):
            for line in LINES:
                cells = read.loc[(name, line)]
                levels.append(
                    [
                        number(level, 1),
                        name,
                        line,
                        *("–" if np.isnan(x) else number(x, 2) for x in cells),
                    ]
                )
    write_section(
        output,
        "numbers_out",
        "## Numbers factored out",
        "*Gap* is the mean difference in ranks to the 30 nearest map neighbours, relative to "
        f"random points: 1 is removed. *R²* is how well {VOTES} map neighbours predict the rank. "
        f"Adjusted R_NX (30 neighbours) and the accuracy of the hidden label ({VOTES} neighbours) "
        f"say what is left. Mean of {len(SEEDS)} seeds, other settings as by default. Raw values: "
        "[numbers_out.csv](numbers_out.csv).",
        "The ends of every line:",
        table(["dataset", "method", *header], points),
        "At equal gap, between t-SNE and the strengths "
        f"{', '.join(f'{value:g}' for value in STRENGTHS)}; – if a line does not reach it:",
        table(["gap", "dataset", "method", *header[1:]], levels),
    )
