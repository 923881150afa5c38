"""Shared parts of the experiments: data, starts, compared settings, and writing of sections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ctsne import ConditionalTSNE
from ctsne.layout import start_positions
from ctsne.sweep import SweptMap, sweep

# The same for every dataset and method: nothing is tuned.
PERPLEXITY = 30
N_ITER = 750
K = 30
SEEDS = range(5)
# Standard deviation of a start, as in the package.
START_SCALE = 1e-4

# The authors' values of beta; 1 conditions nothing.
BETAS = (1, 0.8, 0.6, 0.4, 0.2, 0.1, *(10.0**-e for e in (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)))
STRENGTHS = tuple(round(0.1 * step, 1) for step in range(11))

# The lines of Figure 5: each is a grid for `sweep`, from no conditioning to the strongest.
LINES: dict[str, dict[str, Any]] = {
    "original": {"method": "original", "beta": list(BETAS)},
    "revised p": {"method": "revised", "bandwidth": "p", "beta": list(BETAS)},
    "revised r": {"method": "revised", "bandwidth": "r", "beta": list(BETAS)},
    "balanced": {"method": "balanced", "strength": list(STRENGTHS)},
    "joint": {"method": "joint", "strength": list(STRENGTHS)},
}

# Datasets with the label to factor out and the one to look for, small ones first.
PAIRS = {
    "synthetic": ("synthetic", "color", "shape"),
    "sc_mixology": ("sc_mixology", "batch", "cell_line"),
    "kang_muscat": ("kang_muscat", "stim", "cell_type"),
    "isolet": ("isolet", "letter", "speaker"),
    "pancreas3": ("pancreas3", "study", "cell_type"),
    "hapt": ("hapt", "subject", "activity"),
    "ifnb": ("ifnb", "stim", "cell_type_partial"),
}
# Marks a missing label.
UNLABELLED = "unlabelled"

# Names for the codes of the authors' synthetic data. The sizes show that blue is 0. In Figure 2,
# circle and square lie close together, as 0 and 1 do.
COLORS = ("blue", "orange")
SHAPES = ("circle", "square", "triangle")


@dataclass(frozen=True, eq=False)
class Data:
    """Points with a label to factor out and one to look for."""

    name: str
    X: NDArray[np.floating]
    known: NDArray[Any]
    hidden: NDArray[Any]
    known_name: str
    hidden_name: str


def data_folder() -> Path:
    """Return the folder of the real datasets."""
    return _folder(os.environ.get("CTSNE_DATA"), "CTSNE_DATA", "the real datasets (.npz files)")


def reference_folder() -> Path:
    """Return the folder of the authors' data and tables."""
    folder = os.environ.get("CTSNE_REFERENCE")
    if not folder and os.environ.get("CTSNE_DATA"):
        folder = str(Path(os.environ["CTSNE_DATA"]).parent / "reference")
    return _folder(folder, "CTSNE_REFERENCE", "the paper's data and tables (.csv files)")


def _folder(name: str | None, variable: str, content: str) -> Path:
    if not name:
        raise FileNotFoundError(f"set {variable} to the folder of {content}")
    if not Path(name).is_dir():
        raise FileNotFoundError(
            f"there is no folder {name}: set {variable} to the folder of {content}"
        )
    return Path(name)


def load_paper() -> Data:
    """Load the paper's synthetic data, as the authors drew them."""
    table = pd.read_csv(reference_folder() / "synthetic_dataset.csv")
    features = [name for name in table.columns if name.startswith("d_")]
    known, hidden = table["batch"].to_numpy(), table["celltype"].to_numpy()
    return Data(
        "synthetic",
        table[features].to_numpy(np.float64),
        np.array(COLORS)[known],
        np.array(SHAPES)[hidden],
        "color",
        "shape",
    )


def load_authors(file: str, dataset: str = "synthetic") -> pd.DataFrame:
    """Load the rows of one dataset in the authors' tables, with the names of LINES."""
    exact = {"beta": float}  # compared with, so to the last bit
    table = pd.read_csv(reference_folder() / file, keep_default_na=False, converters=exact)
    table = table[table["dataset"] == dataset]
    line = (table["method"] + " " + table["bandwidth"]).str.strip()
    return table.assign(line=line).reset_index(drop=True)


def load_real(dataset: str, known_name: str, hidden_name: str) -> Data:
    """Load a real dataset with two of its label columns; missing labels are None."""
    with np.load(data_folder() / f"{dataset}.npz", allow_pickle=False) as stored:
        X, known, hidden = stored["X"], stored[known_name], stored[hidden_name]
    if (hidden == UNLABELLED).any():
        hidden = np.where(hidden == UNLABELLED, None, hidden.astype(object))
    return Data(dataset, X, known, hidden, known_name, hidden_name)


@lru_cache
def load(name: str) -> Data:
    """Load one of PAIRS."""
    if name not in PAIRS:
        raise ValueError(f"there is no dataset {name!r}: there are {', '.join(PAIRS)}")
    return load_paper() if name == "synthetic" else load_real(*PAIRS[name])


def start(X: ArrayLike, seed: int) -> NDArray[np.float64]:
    """Return the common start of all methods: ``init="pca"`` with a tenth of its size as noise.

    Without noise, the principal components would be the same for every seed.
    """
    features = np.asarray(X)
    positions = start_positions("pca", 2, X=features, matrix=None, rng=np.random.default_rng(0))
    return positions + 0.1 * random_start(features, seed)


def random_start(X: ArrayLike, seed: int) -> NDArray[np.float64]:
    """Return a random start, as in the authors' program for the original ct-SNE."""
    n = np.asarray(X).shape[0]
    return np.random.default_rng(seed).normal(scale=START_SCALE, size=(n, 2))


def paper_rate(n: int) -> float:
    """Return the learning rate of the figures: the larger of the paper's 200 and n / 12."""
    return max(200.0, n / 12)


def sweep_lines(
    data: Data,
    lines: Mapping[str, Any],
    *,
    make_start: Callable[[ArrayLike, int], NDArray[np.float64]] = start,
    seeds: Iterable[int] = SEEDS,
    perplexity: float = PERPLEXITY,
    n_iter: int = N_ITER,
    k: int = K,
    sample: int | None = None,
    folder: Path | None = None,
) -> tuple[pd.DataFrame, list[SweptMap]]:
    """Map the data with every setting of some lines, for all seeds; settings share starts.

    The table has one row per map: ``line``, ``seed``, ``setting`` (the number that changes along
    the line, NaN if none does), then the columns of `sweep`, measured on all points or a sample.
    The maps are in its order. Finished maps are kept in ``folder``.
    """
    parts: list[pd.DataFrame] = []
    maps: list[SweptMap] = []
    for seed in seeds:
        estimator = ConditionalTSNE(
            perplexity=perplexity,
            n_iter=n_iter,
            learning_rate=paper_rate(len(data.X)),
            init=make_start(data.X, seed),
            random_state=seed,
        )
        for name, grid in lines.items():
            result = sweep(
                data.X,
                data.known,
                grid,
                other=data.hidden,
                estimator=estimator,
                k=k,
                sample=sample,
                folder=folder,
                progress=False,
            )
            failed = [swept.error for swept in result.maps if swept.error]
            if failed:
                raise RuntimeError(f"{name}, seed {seed}: {failed[0]}")
            changing = next((key for key, value in grid.items() if isinstance(value, list)), None)
            settings = [
                np.nan if changing is None else swept.parameters[changing] for swept in result.maps
            ]
            parts.append(result.table.assign(line=name, seed=seed, setting=settings))
            maps += result.maps
    table = pd.concat(parts, ignore_index=True)
    first = ["line", "seed", "setting"]
    return table[[*first, *table.columns.difference(first, sort=False)]], maps


def number(value: float, digits: int = 3) -> str:
    """Format a number as in the tables, without the leading zero: .512, -.003."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def difference(ours: float, theirs: float, digits: int = 3) -> str:
    """Format the difference between ours and theirs, with its sign."""
    text = number(ours - theirs, digits)
    return text if text.startswith(("-", "–")) or float(text) == 0 else "+" + text


def mean_and_spread(values: ArrayLike, digits: int = 3) -> str:
    """Format the mean over seeds and half their range."""
    array = np.asarray(values, np.float64)
    return f"{number(array.mean(), digits)} ± {number(np.ptp(array) / 2, digits)}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table with padded columns; numbers are right-aligned."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    uneven = next((row for row in cells if len(row) != len(header)), None)
    if uneven is not None:
        raise ValueError(f"the header has {len(header)} cells, but a row has {len(uneven)}")
    columns = list(zip(*cells, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    right = [all(map(_is_numeric, column[1:])) for column in columns]
    rule = [
        "-" * (width - 1) + ":" if to_right else "-" * width
        for width, to_right in zip(widths, right, strict=True)
    ]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        return "| " + " | ".join(padded) + " |"

    return "\n".join([line(cells[0]), line(rule), *map(line, cells[1:])])


def checked(claims: Iterable[tuple[str, bool | None, str]]) -> str:
    """Format the paper's statements, whether each holds here, and why."""
    said = {True: "yes", False: "**no**", None: "unclear"}
    rows = [[text, said[holds], why] for text, holds, why in claims]
    return table(["the paper", "here", "because"], rows)


def _is_numeric(cell: str) -> bool:
    """Return whether a cell starts like a number, or marks a missing one."""
    return cell.strip("*").lstrip("+-.–")[:1].isdigit() or cell in ("", "–")


def picture(output: Path, name: str, figure: Any, alt: str, *, dpi: int = 110) -> str:
    """Save a matplotlib figure as ``<output>/<name>.png``, close it, and return its Markdown."""
    from matplotlib import pyplot as plt

    figure.savefig(output / f"{name}.png", dpi=dpi, bbox_inches="tight")
    plt.close(figure)
    return f"![{alt}]({name}.png)"


def write(path: Path, text: str) -> None:
    """Write a file next to its target and move it into place."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def write_section(output: Path, name: str, *parts: str) -> None:
    """Write ``<output>/<name>.md`` from its paragraphs, tables and pictures.

    Links to files in the same folder are plain names; `run.py` adapts them to RESULTS.md.
    """
    write(output / f"{name}.md", "\n\n".join(part.strip() for part in parts) + "\n")
