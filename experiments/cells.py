"""The paper's two datasets of cells: what identifies their files, and reading and checking them.

Only facts from the paper and the authors' published scripts and tables are checked. The paper gives
the number of cells and genes of both datasets, and the cells of each technology of the pancreas. It
gives the cells of no batch and of no cell type, only their number; the authors' tables give the
Laplacian expected for random labels, which those sizes determine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import number
from numpy.typing import NDArray

from ctsne.evaluate.mixing import expected_laplacian

# The largest log-normalised value of counts per 10,000, log(1 + 10,000), is 9.2.
LARGEST_LOG = 9.3
# The tables give the expected Laplacian to three digits.
ROUNDING = 0.0006


class WrongFileError(ValueError):
    """The file cannot be read, or is not the one that the paper used."""


@dataclass(frozen=True)
class Paper:
    """What the paper says about a dataset, and what it shows of it."""

    name: str
    title: str
    n_cells: int
    n_genes: int
    known_name: str
    hidden_name: str
    # The labels to factor out, with their cells as far as the paper gives them.
    known: Mapping[str, int | None]
    n_types: int
    # Expected Laplacian of random labels: the label factored out, and the cell type.
    random: tuple[float, float]
    # Whether the file holds counts or log-normalised values.
    counts: bool
    # The beta of the paper's maps, and the seconds it reports per line.
    beta: float
    seconds: Mapping[str, float]


PANCREAS = Paper(
    name="pancreas",
    title="Pancreas",
    n_cells=14_890,
    n_genes=34_363,
    known_name="tech",
    hidden_name="celltype",
    known={"celseq": 1004, "celseq2": 2285, "fluidigmc1": 638, "indrop": 8569, "smartseq2": 2394},
    n_types=13,
    random=(0.613, 0.802),
    counts=True,
    beta=1e-30,
    seconds={"original": 168, "revised": 28},
)
# The names of the batches are those that the authors' script lists.
IMMUNE = Paper(
    name="immune",
    title="Human immune cells",
    n_cells=33_506,
    n_genes=12_303,
    known_name="batch",
    hidden_name="final_annotation",
    known=dict.fromkeys(
        (
            "10X",
            "Freytag",
            "Oetjen_A",
            "Oetjen_P",
            "Oetjen_U",
            "Sun_sample1_CS",
            "Sun_sample2_KC",
            "Sun_sample3_TB",
            "Sun_sample4_TC",
            "Villani",
        )
    ),
    n_types=16,
    random=(0.841, 0.827),
    counts=False,
    beta=1e-8,
    seconds={"original": 470, "revised": 80},
)


@dataclass(frozen=True)
class Source:
    """Where the cells come from: a file, with its label columns if they are not the paper's."""

    file: Path | None = None
    labels: tuple[str, str] | None = None

    @property
    def is_stand_in(self) -> bool:
        """Whether the cells are made up."""
        return self.file is None

    @property
    def is_paper(self) -> bool:
        """Whether the cells must be the paper's."""
        return self.file is not None and self.labels is None

    def section(self, name: str) -> str:
        """Return the name of the section of an experiment."""
        if self.is_stand_in:
            return f"{name}_stand_in"
        if self.is_paper:
            return name
        stem = self._stem
        return stem if stem.startswith(name) and stem != name else f"{name}_{stem}"

    def command(self, name: str) -> str:
        """Return the options of the command line; of the file, the name only."""
        if self.file is None:
            return f"{name} --stand-in"
        labels = "" if self.labels is None else f" --labels {' '.join(self.labels)}"
        return f"{name} --file {self.file.name}{labels}"

    @property
    def _stem(self) -> str:
        name = "" if self.file is None else self.file.name.removesuffix(".h5ad")
        return name.removesuffix(".npz")


@dataclass(frozen=True, eq=False)
class Cells:
    """The values of cells by gene, or principal components, and the columns of the cells."""

    values: Any
    obs: pd.DataFrame
    reduced: bool = False


def read_cells(source: Source, paper: Paper) -> Cells:
    """Read a file, find its labels and, unless they were named, check that it is the paper's."""
    path = source.file
    if path is None:
        raise ValueError("a stand-in is made, not read")
    if not path.exists():
        raise WrongFileError(f"there is no file {path}")
    if path.is_dir():
        cells = _read_folder(path)
    elif path.suffix == ".npz":
        cells = _read_arrays(path)
    elif path.suffix == ".h5ad":
        cells = _read_h5ad(path)
    else:
        raise WrongFileError(
            f"{path.name}: expected .h5ad, .npz or a folder with matrix.mtx and cells.csv"
        )
    for column in source.labels or (paper.known_name, paper.hidden_name):
        if column not in cells.obs:
            names = ", ".join(map(str, cells.obs.columns)) or "none"
            raise WrongFileError(
                f"{path.name} has no column {column!r} (columns: {names}); name the columns of "
                "other data with --labels"
            )
    if source.is_paper:
        found = differences(cells, paper)
        if found:
            raise WrongFileError(
                f"{path.name} is not the file of the paper ({paper.name}): {'; '.join(found)}. "
                "For other data, name the label columns with --labels"
            )
    return cells


def differences(cells: Cells, paper: Paper) -> list[str]:
    """Return in what the cells differ from what the paper says."""
    found = []
    n_cells, n_genes = cells.values.shape
    if n_cells != paper.n_cells:
        found.append(f"{n_cells:,} cells instead of {paper.n_cells:,}")
    if cells.reduced:
        found.append(f"{n_genes} components instead of the values of {paper.n_genes:,} genes")
    elif n_genes != paper.n_genes:
        found.append(f"{n_genes:,} genes instead of {paper.n_genes:,}")
    else:
        found += _wrong_values(cells.values, paper)
    known, hidden = cells.obs[paper.known_name], cells.obs[paper.hidden_name]
    found += _wrong_labels(known, paper)
    types = hidden.dropna().nunique()
    if types != paper.n_types:
        found.append(f"{types} values of {paper.hidden_name} instead of {paper.n_types}")
    for name, column, random in zip(
        (paper.known_name, paper.hidden_name), (known, hidden), paper.random, strict=True
    ):
        missing = int(column.isna().sum())
        if missing:
            found.append(f"{missing:,} cells without {name}")
        here = expected_laplacian(column.astype(str).to_numpy())
        if not abs(here - random) < ROUNDING:
            found.append(
                f"sizes of {name} that give random labels a Laplacian of {number(here)} instead of "
                f"{number(random)}"
            )
    return found


def _wrong_labels(known: pd.Series, paper: Paper) -> list[str]:
    sizes = known.dropna().astype(str).value_counts()
    absent = [name for name in paper.known if name not in sizes.index]
    extra = [name for name in sizes.index if name not in paper.known]
    found = []
    if absent:
        found.append(f"no cells with {paper.known_name} {', '.join(absent)}")
    if extra:
        found.append(f"unknown {paper.known_name} {', '.join(extra[:5])}")
    found += [
        f"{sizes[name]:,} cells with {paper.known_name} {name} instead of {size:,}"
        for name, size in paper.known.items()
        if size is not None and name in sizes.index and sizes[name] != size
    ]
    return found


def _wrong_values(values: Any, paper: Paper) -> list[str]:
    """Return whether counts and log-normalised values were taken for each other."""
    stored = values.data if hasattr(values, "nnz") else np.asarray(values).ravel()
    if not len(stored) or not np.isfinite(stored).all() or stored.min() < 0:
        return ["values that are negative, missing or all zero"]
    whole = bool((stored[:100_000] == np.round(stored[:100_000])).all())
    if paper.counts and not whole and stored.max() < LARGEST_LOG:
        return [f"log-normalised values (largest {stored.max():.1f}) instead of counts"]
    if not paper.counts and whole:
        return ["counts instead of log-normalised values"]
    return []


def _read_h5ad(path: Path) -> Cells:
    import anndata

    try:
        adata = anndata.read_h5ad(path)
    except Exception as error:
        raise WrongFileError(f"{path.name} is not a valid .h5ad file: {error}") from error
    if adata.X is None:
        raise WrongFileError(f"{path.name} has no matrix X")
    return Cells(adata.X, adata.obs)


def _read_arrays(path: Path) -> Cells:
    """Read components ``X`` and columns; ``columns``, if there, names these."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        X = arrays.pop("X")
    except Exception as error:
        raise WrongFileError(f"{path.name} is not an .npz file with an array X") from error
    obs = {name: values for name, values in arrays.items() if values.shape == (len(X),)}
    return Cells(X, pd.DataFrame(obs), reduced=True)


def _read_folder(path: Path) -> Cells:
    """Read matrix.mtx, genes by cells or the reverse, and cells.csv; either may be gzipped."""
    from scipy.io import mmread

    matrix, table = (_one_of(path, name) for name in ("matrix.mtx", "cells.csv"))
    try:
        obs = pd.read_csv(table, index_col=0)
        values = mmread(str(matrix))  # gzipped or not
    except Exception as error:
        raise WrongFileError(f"{path.name} holds a damaged file: {error}") from error
    if len(obs) not in values.shape:
        rows, columns = values.shape
        raise WrongFileError(
            f"{path.name}: cells.csv has {len(obs):,} rows, but matrix.mtx is {rows:,} by "
            f"{columns:,}"
        )
    # Seurat stores genes by cells.
    turned = values.T if values.shape[0] != len(obs) else values
    return Cells(turned.tocsr() if hasattr(turned, "tocsr") else turned, obs)


def _one_of(folder: Path, name: str) -> Path:
    for file in (folder / name, folder / f"{name}.gz"):
        if file.exists():
            return file
    raise WrongFileError(f"{folder.name} has no {name} or {name}.gz")


def as_labels(column: pd.Series) -> NDArray[Any]:
    """Return a column as texts; missing labels are None."""
    texts = column.astype(str).to_numpy(object)
    texts[column.isna().to_numpy()] = None
    return np.asarray(texts if column.isna().any() else texts.astype(str))
