"""Two known columns at once: each alone, both, and every combination as one label."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import (
    N_ITER,
    PERPLEXITY,
    UNLABELLED,
    K,
    data_folder,
    number,
    table,
    write,
    write_section,
)
from numpy.typing import NDArray
from real import parallel
from yardsticks import harmony_tsne

from ctsne import ConditionalTSNE
from ctsne.evaluate import adjusted_rnx, laplacian, map_neighbors
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy

DATASET, KNOWN, HIDDEN = "ifnb", ("stim", "donor"), "cell_type_partial"
TARGET = 0.7
# Points measured.
MEASURED = 3000

Columns = dict[str, NDArray[Any]]


def _fitted(data: Columns, labels: object, **parameters: Any) -> NDArray[np.float32]:
    model = ConditionalTSNE(
        **parameters, perplexity=PERPLEXITY, n_iter=N_ITER, random_state=0, n_jobs=1
    )
    return model.fit_transform(data["X"], labels=labels)


def _joint(*names: str, **parameters: Any) -> Callable[[Columns], NDArray[np.float32]]:
    def make(data: Columns) -> NDArray[np.float32]:
        columns = {name: data[name] for name in names}
        labels = columns if len(names) > 1 else columns[names[0]]
        return _fitted(data, labels, **parameters)

    return make


def _harmony(*names: str) -> Callable[[Columns], NDArray[np.float32]]:
    def make(data: Columns) -> NDArray[np.float32]:
        return harmony_tsne(
            data["X"], {name: data[name] for name in names}, perplexity=PERPLEXITY, n_iter=N_ITER
        )

    return make


def _product(data: Columns) -> NDArray[np.float32]:
    return _fitted(data, product(data))


MAPS: Mapping[str, Callable[[Columns], NDArray[np.float32]]] = {
    "t-SNE": lambda data: _fitted(data, None, method="tsne"),
    "joint: stim": _joint("stim"),
    "joint: donor": _joint("donor"),
    "joint: both": _joint(*KNOWN),
    "joint: their combinations": _product,
    "joint: both, mutual": _joint(*KNOWN, align="mutual"),
    "joint: both, strength 1": _joint(*KNOWN, strength=1.0),
    f"joint: both, mixing {number(TARGET, 1)} each": _joint(*KNOWN, mixing=TARGET),
    "Harmony: stim": _harmony("stim"),
    "Harmony: donor": _harmony("donor"),
    "Harmony: both": _harmony(*KNOWN),
}


def run(output: Path) -> None:
    """Map the cells in every way."""
    measured = pd.DataFrame(parallel(_row, [(name,) for name in MAPS]))
    write(output / "columns.csv", measured.to_csv(index=False, float_format="%.6g"))
    report(measured, output)


@lru_cache(maxsize=1)
def load_columns() -> Columns:
    """Load the cells with both known columns; missing types are None."""
    with np.load(data_folder() / f"{DATASET}.npz", allow_pickle=False) as stored:
        data = {name: stored[name] for name in ("X", *KNOWN, HIDDEN)}
    hidden = data[HIDDEN]
    data[HIDDEN] = np.where(hidden == UNLABELLED, None, hidden.astype(object))
    return data


def product(data: Columns) -> NDArray[Any]:
    """Return each combination of the known columns as a label."""
    return np.array([" ".join(pair) for pair in zip(*(data[name] for name in KNOWN), strict=True)])


def _row(name: str) -> dict[str, Any]:
    data = load_columns()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unmatched points, and of a target out of reach
        return {"map": name, **measure(MAPS[name](data), data)}


def measure(embedding: NDArray[np.floating], data: Columns) -> dict[str, float]:
    """Measure the mixing of each column, neighbours kept, and the hidden types."""
    found = map_neighbors(embedding, k=K, sample=MEASURED, n_jobs=1)
    mixing = {
        name: laplacian(found, labels, k=K) / expected_laplacian(labels)
        for name, labels in {**{name: data[name] for name in KNOWN}, "both": product(data)}.items()
    }
    kept = adjusted_rnx(found, data["X"], product(data), k=K, n_jobs=1)
    return {
        **{f"mixing_{name}": value for name, value in mixing.items()},
        "rnx": float(kept),
        "other_laplacian": laplacian(found, data[HIDDEN], k=K),
        "other_accuracy": knn_accuracy(found, data[HIDDEN], k=15),
    }


def report(measured: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    header = ["map", *(f"mixing of {each}" for each in KNOWN), "of their combinations", "R_NX"]
    header += ["other Laplacian", "accuracy"]
    columns = [name for name in measured.columns if name != "map"]
    rows = [
        [row["map"], *(number(row[each]) for each in columns)] for _, row in measured.iterrows()
    ]
    write_section(
        output,
        "columns",
        "## Several columns at once",
        f"{DATASET}: {KNOWN[0]} (2 values) and {KNOWN[1]} (9) factored out, alone and together. "
        '`joint: both` is `ConditionalTSNE().fit(X, labels={"stim": ..., "donor": ...})`, with the '
        "default strength for each column; *their combinations* makes one label of every pair of "
        f"values. R_NX (k = {K}) is adjusted for the combinations in all rows, so that no way of "
        f"mixing counts against a map. {MEASURED:,} points are measured. Raw values: "
        "[columns.csv](columns.csv).",
        table(header, rows),
    )
