"""Every line of settings and the outside yardsticks on the real datasets: raw measures.

``python experiments/run.py real`` computes all of it, ``python experiments/real.py kang_muscat``
one dataset; `real_tables.py` makes tables and figures of what is there, without computing maps.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import (
    LINES,
    N_ITER,
    PERPLEXITY,
    Data,
    K,
    load_real,
    paper_rate,
    start,
    table,
    write,
)
from numpy.typing import NDArray
from real_figures import draw_maps
from yardsticks import bbknn_tsne, harmony_tsne

from ctsne import ConditionalTSNE
from ctsne.evaluate import (
    adjusted_jaccard,
    adjusted_rnx,
    data_neighbors,
    expected_laplacian,
    knn_accuracy,
    laplacian,
    lisi,
    map_neighbors,
)
from ctsne.sweep import sweep

__all__ = [
    "MAPPED",
    "PAIRS",
    "SEEDS",
    "TSNE",
    "YARDSTICKS",
    "Pair",
    "compute",
    "csv_path",
    "run",
    "what_was_computed",
]

SEEDS = range(3)
TSNE = "t-SNE"


class Pair(NamedTuple):
    """A dataset with the label to factor out and the one to look for."""

    dataset: str
    known: str
    hidden: str


# The small ones first.
PAIRS = {
    "sc_mixology": Pair("sc_mixology", "batch", "cell_line"),
    "kang_muscat": Pair("kang_muscat", "stim", "cell_type"),
    "isolet_letter": Pair("isolet", "letter", "speaker"),
    "isolet_speaker": Pair("isolet", "speaker", "letter"),
    "pancreas3": Pair("pancreas3", "study", "cell_type"),
    "hapt": Pair("hapt", "subject", "activity"),
    "ifnb_stim": Pair("ifnb", "stim", "cell_type_partial"),
}
# Of these the maps themselves are shown.
MAPPED = ("pancreas3", "kang_muscat")

# They have no strength: each is one point, not a line.
YARDSTICKS: dict[str, Callable[..., NDArray[np.float32]]] = {
    "Harmony": harmony_tsne,
    "bbknn graph, calibrated": partial(bbknn_tsne, weights="calibrated"),
    "bbknn graph, equal weights": partial(bbknn_tsne, weights="equal"),
}


def run(output: Path) -> None:
    """Compute all datasets, one after the other."""
    failed = []
    for name in PAIRS:
        try:
            compute(name, output)
        except Exception as problem:  # hours of the others must not be lost with it
            failed.append(name)
            _log(f"{name}: {type(problem).__name__}: {problem}")
    if failed:
        raise RuntimeError(f"could not compute {', '.join(failed)}")


def csv_path(output: Path, name: str) -> Path:
    """Return the file of a dataset's raw measures."""
    return output / f"real_{name}.csv"


def load_pair(name: str) -> Data:
    """Load a dataset with two of its label columns."""
    if name not in PAIRS:
        raise ValueError(f"there is no dataset {name!r}: there are {', '.join(PAIRS)}")
    return replace(load_real(*PAIRS[name]), name=name)


def compute(
    name: str,
    output: Path,
    *,
    lines: Mapping[str, Mapping[str, Any]] = LINES,
    seeds: Iterable[int] = SEEDS,
    n_iter: int = N_ITER,
    scratch: Path | None = None,
) -> pd.DataFrame:
    """Map a dataset with every setting and yardstick, and measure the maps.

    The file of measures is written anew after each seed. Finished maps are kept in the scratch
    folder, so that an interrupted run goes on where it stopped.

    Parameters
    ----------
    name : str
        One of PAIRS.
    output : Path
        Folder of the file of measures.
    lines : mapping of name to grid, default=LINES
    seeds : iterable of int, default=SEEDS
    n_iter : int, default=N_ITER
    scratch : Path, optional
        The folder CTSNE_SCRATCH names, or one in the system's folder of temporary files.

    Returns
    -------
    pandas.DataFrame
        A row a map: ``line``, ``setting`` (the number that changes along the line), ``seed``, the
        measures, ``seconds`` and ``error``.
    """
    data = load_pair(name)
    folder = (_scratch() if scratch is None else scratch) / name
    rows: list[dict[str, Any]] = []
    for count, seed in enumerate(seeds):
        begun = time.perf_counter()
        swept, maps = _sweep_seed(data, lines, seed, n_iter, folder)
        found = swept + _measure_yardsticks(data, seed, n_iter)
        rows += found
        measured = _in_order(pd.DataFrame(rows))
        write(csv_path(output, name), measured.to_csv(index=False, float_format="%.6g"))
        failed = [f"{row['line']}: {row['error']}" for row in found if row["error"]]
        took = time.perf_counter() - begun
        _log(f"{name}, seed {seed}: {len(found)} maps, {len(failed)} failed, {took:.0f} s")
        for message in failed:
            _log(f"  {message}")
        if count == 0 and name in MAPPED:
            draw_maps(output, data, swept, maps)
    return measured


def _in_order(measured: pd.DataFrame) -> pd.DataFrame:
    """Put last what is no measure."""
    last = ["seconds", "error"]
    return measured[[*measured.columns.difference(last, sort=False), *last]]


def _sweep_seed(
    data: Data, lines: Mapping[str, Mapping[str, Any]], seed: int, n_iter: int, folder: Path
) -> tuple[list[dict[str, Any]], list[NDArray[np.float32] | None]]:
    """Map with every setting from one start; return rows and maps."""
    grids = {TSNE: {"method": "tsne"}, **lines}
    owners = [(line, setting) for line, grid in grids.items() for setting in _settings_along(grid)]
    estimator = ConditionalTSNE(
        perplexity=PERPLEXITY,
        n_iter=n_iter,
        learning_rate=paper_rate(len(data.X)),
        init=start(data.X, seed),
        random_state=seed,
    )
    result = sweep(
        data.X,
        data.known,
        list(grids.values()),
        other=data.hidden,
        estimator=estimator,
        k=K,
        sample=None,
        folder=folder,
        progress=sys.stderr.isatty(),
    )
    if len(result.maps) < len(owners):  # Ctrl-C ends a sweep with what is finished
        raise KeyboardInterrupt
    rows = [
        {
            "line": line,
            "setting": setting,
            "seed": seed,
            **swept.measures,
            "seconds": round(swept.seconds, 2),
            "error": swept.error or "",
        }
        for (line, setting), swept in zip(owners, result.maps, strict=True)
    ]
    return rows, [swept.embedding for swept in result.maps]


def _settings_along(grid: Mapping[str, Any]) -> list[float | str]:
    """Return the values that change along a line; a method without any has one empty setting."""
    return next((list(value) for value in grid.values() if isinstance(value, list)), [""])


def _measure_yardsticks(data: Data, seed: int, n_iter: int) -> list[dict[str, Any]]:
    """Map and measure with each yardstick; one that fails leaves a row that says so."""
    rows = []
    for name, mapped in YARDSTICKS.items():
        begun = time.perf_counter()
        measures: dict[str, float] = {}
        error = ""
        try:
            embedding = mapped(
                data.X,
                data.known,
                perplexity=PERPLEXITY,
                n_iter=n_iter,
                start=partial(start, seed=seed),
                random_state=seed,
            )
            measures = measure(embedding, data)
        except Exception as problem:  # another's program: the rest must not be lost with it
            error = f"{type(problem).__name__}: {problem}"
        seconds = round(time.perf_counter() - begun, 2)
        rows.append(
            {
                "line": name,
                "setting": "",
                "seed": seed,
                **measures,
                "seconds": seconds,
                "error": error,
            }
        )
    return rows


def measure(embedding: NDArray[np.floating], data: Data) -> dict[str, float]:
    """Measure a map as `sweep` does."""
    found = map_neighbors(embedding, k=3 * K)  # so many for LISI
    neighbors = data_neighbors(data.X, data.known, k=K)
    mixed = laplacian(found, data.known, k=K)
    return {
        "mixing": mixed / expected_laplacian(data.known),
        "laplacian": mixed,
        "adjusted_rnx": adjusted_rnx(found, neighbors, k=K),
        "rnx": adjusted_rnx(found, neighbors.without_labels(), k=K),
        "adjusted_jaccard": adjusted_jaccard(found, neighbors, k=K),
        "ilisi": lisi(found, data.known, perplexity=K),
        "other_laplacian": laplacian(found, data.hidden, k=K),
        "other_clisi": lisi(found, data.hidden, perplexity=K),
        "other_knn_accuracy": knn_accuracy(found, data.hidden, k=K),
    }


def what_was_computed(output: Path) -> list[str]:
    """Say what the files of measures hold, in paragraphs of a section."""
    rows, total = [], 0
    for name, pair in PAIRS.items():
        if not csv_path(output, name).exists():
            continue
        measured = pd.read_csv(csv_path(output, name))
        total += len(measured)
        data = load_pair(name)
        without = sum(each is None for each in data.hidden)
        note = f" ({without} cells without)" if without else ""
        rows.append(
            [
                f"[{name}]({csv_path(output, name).name})",
                len(data.X),
                f"{pair.known} ({len(np.unique(data.known))})",
                f"{pair.hidden} ({len(set(data.hidden.tolist()) - {None})}){note}",
                len(measured),
                int(measured["error"].notna().sum()),
                f"{measured['seconds'].sum():.0f}",
            ]
        )
    header = ["dataset", "points", "factored out", "looked for", "maps", "failed", "seconds"]
    lines = ", ".join(LINES)
    return [
        "### What was computed",
        f"{total} maps: t-SNE and the lines {lines}, each over its whole range, and the yardsticks "
        f"{', '.join(YARDSTICKS)}; {len(SEEDS)} seeds each. Perplexity {PERPLEXITY}, {N_ITER} "
        f"iterations, neighbourhoods of {K}, the same start for all methods (Harmony's is made "
        "from the corrected components) and the same settings for all datasets. The raw measures "
        "of every map are in the linked files; seconds are those of the maps, of which "
        "several ran at once.",
        table(header, rows),
        "Maps of seed 0: of each method the setting whose mixing is nearest to half that of random "
        "labels, or the most it reaches.",
        *(
            f"![{name}: maps coloured by both labels](real_maps_{name}.png)"
            for name in MAPPED
            if (output / f"real_maps_{name}.png").exists()
        ),
    ]


def _scratch() -> Path:
    named = os.environ.get("CTSNE_SCRATCH")
    return Path(named) if named else Path(tempfile.gettempdir()) / "ctsne-experiments"


def _log(message: str) -> None:
    print(message, flush=True)


def main(arguments: Sequence[str]) -> None:
    """Compute the datasets that the command line names."""
    unknown = [name for name in arguments if name not in PAIRS]
    if unknown or not arguments:
        sys.exit(f"usage: real.py NAME..., of {', '.join(PAIRS)}")
    output = Path(__file__).resolve().parent / "results"
    output.mkdir(exist_ok=True)
    for name in arguments:
        compute(name, output)


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("Agg")
    main(sys.argv[1:])
