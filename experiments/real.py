"""Measure the maps of all settings and of the methods without a strength, on all datasets.

``python experiments/run.py real`` computes all datasets, ``python experiments/real.py kang_muscat``
one of them. `real_tables.py` makes tables and figures of the measures, without computing maps.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from common import N_ITER, PAIRS, PERPLEXITY, STRENGTHS, Data, K, load, start, write
from curves import rnx_curve
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray
from yardsticks import bbknn_tsne, harmony_tsne, means_removed_tsne

from ctsne import ConditionalTSNE
from ctsne.evaluate import DataNeighbors, data_neighbors, laplacian, map_neighbors
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy
from ctsne.labels import encode_labels
from ctsne.neighbors.alignment import choose_alignment

SEEDS = range(3)
TSNE = "t-SNE"
PAPER = ("original", "revised p", "revised r")
JOINT = {"none": "joint", "mutual": "joint, mutual", "local": "joint, local", "mean": "joint, mean"}

ORIGINAL_BETAS = (0.6, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4)
REVISED_BETAS = (0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-12, 1e-20)
FEW_STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

# Each line: fixed parameters, the one that changes, and its values from weak to strong.
Line = tuple[dict[str, Any], str, Sequence[float]]
LINES: dict[str, Line] = {
    "original": ({"method": "original"}, "beta", ORIGINAL_BETAS),
    "revised p": ({"method": "revised", "bandwidth": "p"}, "beta", REVISED_BETAS),
    "revised r": ({"method": "revised", "bandwidth": "r"}, "beta", REVISED_BETAS),
    **{
        line: (
            {"method": "joint", "align": how},
            "strength",
            STRENGTHS if how == "none" else FEW_STRENGTHS,
        )
        for how, line in JOINT.items()
    },
}

# Methods without a strength: each is a point, not a line.
POINTS: dict[str, Callable[..., NDArray[np.float32]]] = {
    "Harmony": harmony_tsne,
    "bbknn graph, calibrated": partial(bbknn_tsne, weights="calibrated"),
    "bbknn graph, equal weights": partial(bbknn_tsne, weights="equal"),
    "label means removed": means_removed_tsne,
}

# To save time, the largest sets use all seeds only for these, and skip the smallest betas, which
# change nothing there.
LARGE = ("hapt", "ifnb")
ALL_SEEDS = (TSNE, *PAPER, JOINT["none"], "Harmony")
SMALLEST_BETA = 1e-8

# Largest number of points measured, and largest neighbourhood of the R_NX curve.
MEASURED = 1500
LARGEST = 400
MEASURES = ("mixing", "rnx", "area", "other_laplacian", "other_accuracy")

Setting = tuple[str, float | None]


def run(output: Path) -> None:
    """Compute all datasets in turn."""
    for name in PAIRS:
        compute(name, output)


def csv_path(output: Path, name: str) -> Path:
    """Return the file of a dataset's raw measures."""
    return output / f"real_{name}.csv"


def settings_of(name: str, seed: int, lines: Mapping[str, Line] = LINES) -> list[Setting]:
    """Return line and setting of all maps of a dataset from one start."""
    settings: list[Setting] = [(TSNE, None)]
    settings += [(line, float(value)) for line, each in lines.items() for value in each[2]]
    settings += [(point, None) for point in POINTS]
    if name not in LARGE:
        return settings
    return [
        (line, value)
        for line, value in settings
        if (seed == 0 or line in ALL_SEEDS)
        and not (line.startswith("revised") and value is not None and value < SMALLEST_BETA)
    ]


def compute(
    name: str,
    output: Path,
    *,
    lines: Mapping[str, Line] = LINES,
    seeds: Iterable[int] = SEEDS,
    n_iter: int = N_ITER,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Map a dataset with every setting, measure the maps, and write one row per map.

    If CTSNE_SCRATCH is set, finished maps are kept in that folder, and an interrupted run continues
    from there. Empty it after a change of the package.
    """
    begun = time.perf_counter()
    tasks = [(*each, seed) for seed in seeds for each in settings_of(name, seed, lines)]
    rows = parallel(_row, [(name, *task, n_iter) for task in tasks], n_jobs=n_jobs)
    measured = pd.DataFrame(rows)
    write(csv_path(output, name), measured.to_csv(index=False, float_format="%.6g"))
    took = time.perf_counter() - begun
    print(f"{name}: {len(measured)} maps, {took:.0f} s", flush=True)
    return measured


def parallel(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int = -1
) -> list[Any]:
    """Call a function for many tasks, one thread each; cache results in CTSNE_SCRATCH."""
    memory = joblib.Memory(os.environ.get("CTSNE_SCRATCH"), verbose=0)
    remembered = memory.cache(function)
    try:
        return list(joblib.Parallel(n_jobs)(joblib.delayed(remembered)(*task) for task in tasks))
    finally:  # the processor time of workers counts only after they have ended
        get_reusable_executor().shutdown(wait=True)


def _row(
    name: str, line: str, setting: float | None, seed: int, n_iter: int
) -> dict[str, float | str | None]:
    data = load(name)
    begun = time.perf_counter()
    embedding = make_map(data, line, setting, seed, n_iter)
    seconds = round(time.perf_counter() - begun, 2)
    measures = measure(embedding, data)
    return {"line": line, "setting": setting, "seed": seed, **measures, "seconds": seconds}


def make_map(
    data: Data, line: str, setting: float | None, seed: int = 0, n_iter: int = N_ITER
) -> NDArray[np.float32]:
    """Map data with one setting; seed 0 starts from PCA, the others from PCA with noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about unmatched points are expected here
        if line in POINTS:
            return POINTS[line](
                data.X,
                data.known,
                perplexity=PERPLEXITY,
                n_iter=n_iter,
                start=partial(start, seed=seed) if seed else None,
                random_state=seed,
            )
        parameters: dict[str, Any] = {"method": "tsne"}
        if line != TSNE:
            fixed, knob, _ = LINES[line]
            parameters = {**fixed, knob: setting}
        if parameters.get("align", "none") != "none":
            parameters["align"] = aligned(data, parameters["align"])
        model = ConditionalTSNE(
            **parameters,
            perplexity=PERPLEXITY,
            n_iter=n_iter,
            random_state=seed,
            n_jobs=1,
            init=start(data.X, seed) if seed else "pca",
        )
        return model.fit_transform(data.X, labels=data.known)


@lru_cache(maxsize=8)
def aligned(data: Data, how: str) -> NDArray[np.floating]:
    """Align the points once for all settings of a line."""
    known = encode_labels(data.known)
    found = choose_alignment(data.X, known, how, metric="euclidean", n_jobs=1)
    return data.X if found.points is None else found.points


@lru_cache(maxsize=1)
def _lists(data: Data) -> DataNeighbors:
    n = len(data.X)
    return data_neighbors(
        data.X, data.known, k=min(LARGEST, n - 2), sample=min(n, MEASURED), n_jobs=1
    )


def measure(embedding: NDArray[np.floating], data: Data) -> dict[str, float]:
    """Measure a map on all points, or on a sample that all maps share."""
    n = len(data.X)
    lists = _lists(data)
    found = map_neighbors(embedding, k=lists.k, sample=min(n, MEASURED), n_jobs=1)
    sizes = np.arange(2, lists.k + 1)
    kept = rnx_curve(found, lists, k=sizes, n_jobs=1)
    return {
        "mixing": laplacian(found, data.known, k=K) / expected_laplacian(data.known),
        "rnx": float(kept[K - 2]),
        "area": float((kept / sizes).sum() / (1 / sizes).sum()),
        "other_laplacian": laplacian(found, data.hidden, k=K),
        "other_accuracy": knn_accuracy(found, data.hidden, k=15),
    }


def main(arguments: Sequence[str]) -> None:
    """Compute the datasets named on the command line."""
    unknown = [name for name in arguments if name not in PAIRS]
    if unknown or not arguments:
        sys.exit(f"usage: real.py NAME ..., with names from {', '.join(PAIRS)}")
    output = Path(__file__).resolve().parent / "results"
    for name in arguments:
        compute(name, output)


if __name__ == "__main__":
    import real  # workers must find the functions by a name other than __main__

    real.main(sys.argv[1:])
