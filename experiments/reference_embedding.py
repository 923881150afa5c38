"""A t-SNE map of the largest batch with the others placed on it, beside the methods.

Poličar et al. (2021) avoid batch effects in this way: a new batch cannot form clusters of its own,
because its points see only the reference.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import (
    N_ITER,
    PAIRS,
    PERPLEXITY,
    Data,
    difference,
    load,
    load_real,
    number,
    table,
    write_section,
)
from common import write as write_file
from equal_mixing import at_mixing
from numpy.typing import NDArray
from real import JOINT, LINES, MEASURES, PAPER, TSNE, csv_path, make_map, measure, parallel

from ctsne import ConditionalTSNE

# The other way round: the speaker is factored out of the letters.
TURNED = "isolet, without speaker"
COMPARED = (*PAPER, JOINT["none"], JOINT["mutual"])
REFERENCE = "reference"
# Settings of the lines of a dataset that `real` does not compute.
EVERY = 2


def run(output: Path) -> None:
    """Place the smaller batches of all datasets on a map of the largest."""
    placed = parallel(_reference_row, [(name,) for name in (*PAIRS, TURNED)])
    lines = {name: _lines_of(name, output) for name in (*PAIRS, TURNED)}
    rows = [row for each in placed for row in [each, *_at_equal_mixing(each, lines)]]
    found = pd.DataFrame(rows)
    write_file(output / "reference_embedding.csv", found.to_csv(index=False, float_format="%.6g"))
    report(found, output)


def load_pair(name: str) -> Data:
    """Load one of PAIRS, or isolet with its labels exchanged."""
    return load_real("isolet", "speaker", "letter") if name == TURNED else load(name)


def largest_label(data: Data) -> NDArray[np.bool_]:
    """Return which points have the most frequent label."""
    names, counts = np.unique(data.known, return_counts=True)
    return np.asarray(data.known == names[counts.argmax()])


def reference_map(data: Data, *, n_jobs: int = 1) -> NDArray[np.float32]:
    """Map the largest label with t-SNE, and place all other points on that map."""
    inside = largest_label(data)
    perplexity = min(PERPLEXITY, (int(inside.sum()) - 1) / 3)  # isolet has labels of 52 points
    model = ConditionalTSNE(
        method="tsne", perplexity=perplexity, n_iter=N_ITER, random_state=0, n_jobs=n_jobs
    ).fit(data.X[inside])
    positions = np.empty((len(data.X), 2), np.float32)
    positions[inside] = model.embedding_
    positions[~inside] = model.transform(data.X[~inside])
    return positions


def _reference_row(name: str) -> dict[str, Any]:
    data = load_pair(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of far points
        positions = reference_map(data)
    fitted = int(largest_label(data).sum())
    return {"dataset": name, "line": REFERENCE, "fitted": fitted, **measure(positions, data)}


def _lines_of(name: str, output: Path) -> pd.DataFrame:
    """Read the measures of all settings of a dataset, or compute them."""
    if name != TURNED:
        file = csv_path(output, name)
        if not file.exists():
            raise FileNotFoundError(f"{file} is missing: compute it with run.py real first")
        return pd.read_csv(file)
    settings = [(TSNE, None)]
    settings += [(line, each) for line in COMPARED for each in LINES[line][2][::EVERY]]
    return pd.DataFrame(parallel(_setting_row, [(name, *each) for each in settings]))


def _setting_row(name: str, line: str, setting: float | None) -> dict[str, Any]:
    data = load_pair(name)
    return {"line": line, "setting": setting, **measure(make_map(data, line, setting), data)}


def _at_equal_mixing(
    reference: dict[str, Any], lines: dict[str, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Read every line at the mixing of the reference map, or at its end nearest to it."""
    measured = lines[reference["dataset"]]
    rows = []
    for line in COMPARED:
        # All lines start at plain t-SNE; seeds are averaged.
        settings = [TSNE, *LINES[line][2]]
        own = measured[measured["line"].isin([TSNE, line])]
        key = own["setting"].where(own["line"] == line, -1.0)
        means = own.groupby(key)[list(MEASURES)].mean()
        order = [-1.0 if each == TSNE else each for each in settings]
        means = means.reindex([each for each in order if each in means.index])
        share = reference["mixing"]
        nearest = means.iloc[(means["mixing"] - share).abs().argmin()]
        read = {each: at_mixing(means["mixing"], means[each], share) for each in MEASURES[1:]}
        reached = all(value is not None for value in read.values())
        row = {**read, "mixing": share} if reached else nearest.to_dict()
        rows.append({"dataset": reference["dataset"], "line": line, "reached": reached, **row})
    return rows


def report(found: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    header = ["dataset", "method", "mixing", "R_NX", "area", "other Laplacian", "accuracy"]
    rows, better = [], {"rnx": 0, "other_laplacian": 0, "other_accuracy": 0}
    n_sets = 0
    for name, part in found.groupby("dataset", sort=False):
        own = part[part["line"] == REFERENCE].iloc[0]
        joint = part[part["line"] == JOINT["none"]].iloc[0]
        n_sets += 1
        better["rnx"] += joint["rnx"] > own["rnx"]
        better["other_laplacian"] += joint["other_laplacian"] < own["other_laplacian"]
        better["other_accuracy"] += joint["other_accuracy"] > own["other_accuracy"]
        for _, row in part.iterrows():
            first = row["line"] == REFERENCE
            line = f"{REFERENCE} ({int(row['fitted']):,} fitted)" if first else row["line"]
            mixing = number(row["mixing"], 2)
            if not first and not row["reached"]:
                mixing = f"[{mixing}]"
            values = [number(row[each]) for each in MEASURES[1:]]
            rows.append([name if first else "", line, mixing, *values])
    apart = found[found["line"].isin([REFERENCE, JOINT["none"]])].pivot(
        index="dataset", columns="line", values="rnx"
    )
    gain = difference(float(apart[JOINT["none"]].mean()), float(apart[REFERENCE].mean()))
    write_section(
        output,
        "reference_embedding",
        "## Reference embedding as a yardstick",
        "Poličar et al. (2021): t-SNE of the largest batch, the other batches placed on it "
        '(`ConditionalTSNE(method="tsne").fit(largest)`, then `transform(others)`). Beside it, '
        "the methods at its own mixing, interpolated between their settings as in the section on "
        "equal mixing. If no setting of a method mixes that far, its nearest map is taken (mixing "
        "in brackets). R_NX (k = 30) and its area are adjusted for the factored-out label; a lower "
        "Laplacian of the other label is better. One seed for the reference, which does not depend "
        "on it. Raw values: [reference_embedding.csv](reference_embedding.csv).",
        table(header, rows),
        f"At the mixing of the reference embedding, `joint` keeps more neighbours on "
        f"{better['rnx']} of {n_sets} datasets (mean difference in R_NX {gain}), has the lower "
        f"Laplacian of the other label on {better['other_laplacian']} and the higher accuracy on "
        f"{better['other_accuracy']}.",
    )
