"""Made-up cells in place of the paper's, which cannot be part of this project.

They share with the paper what it says: the number of cells, the technologies with their cells, and
the names of the cell types. The paper does not give the sizes of the immune batches; those here are
rough, unchecked sizes of the public file that add up to the paper's total. All else is made up: the
sizes of the types, and counts with a strong effect of the technology that differs between
technologies and types, and a few cells that look like another technology, which dominate the rows
of their neighbours as the paper's outliers do. So scores of these cells test the program, and say
nothing about the paper's data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scanpy as sc
from anndata import AnnData
from cells import IMMUNE, Paper
from numpy.typing import NDArray
from scipy import sparse

N_GENES = 3000
# Genes that mark a type, and by how much (in logarithms) they are raised.
N_MARKERS, RAISED = 70, 1.7
# Programs of genes that vary within a type.
N_PROGRAMS = 4
# Cells of the first label below that look like cells of the second.
OUTLIERS = {"pancreas": ("smartseq2", "indrop"), "immune": None}
N_OUTLIERS = 12

# Names from the authors' scripts. The share of each is DECAY times the share of the one before.
TYPES = {
    "pancreas": (
        *("alpha", "beta", "ductal", "acinar", "delta", "gamma", "activated_stellate"),
        *("endothelial", "quiescent_stellate", "macrophage", "mast", "epsilon", "schwann"),
    ),
    "immune": (
        *("CD4+ T cells", "CD14+ Monocytes", "CD20+ B cells", "NKT cells", "NK cells"),
        *("CD8+ T cells", "Erythrocytes", "Monocyte-derived dendritic cells", "CD16+ Monocytes"),
        *("HSPCs", "Erythroid progenitors", "Plasmacytoid dendritic cells"),
        *("Monocyte progenitors", "Megakaryocyte progenitors", "CD10+ B cells", "Plasma cells"),
    ),
}
DECAY = 0.7
# Related types share part of their markers.
FAMILIES = {"pancreas": ("alpha", "beta", "delta", "gamma"), "immune": TYPES["immune"][3:6]}
# Only bone marrow has these.
MARROW = TYPES["immune"][6:7] + TYPES["immune"][9:11] + TYPES["immune"][12:15]
# Strength of the effect of each label, and counts per cell. Batches of one study share theirs.
EFFECTS = {
    "celseq": (0.2, 4500),
    "celseq2": (0.25, 5500),
    "fluidigmc1": (0.75, 9000),
    "indrop": (0.45, 2500),
    "smartseq2": (0.4, 9000),
    "10X": (0.4, 3000),
    "Freytag": (0.2, 2500),
    "Oetjen": (0.3, 2500),
    "Sun": (0.2, 2200),
    "Villani": (0.7, 7000),
}
# How much the effect differs between types, as a part of its strength. Where genes are scaled
# within each batch, only this part is left.
BY_TYPE = {"pancreas": 0.3, "immune": 1.0}
# The effect of a batch itself, beside the one of its study.
WITHIN_STUDY = 0.12
BATCHES = {
    "10X": 10_700,
    "Freytag": 3_350,
    "Oetjen_A": 2_600,
    "Oetjen_P": 3_250,
    "Oetjen_U": 3_750,
    "Sun_sample1_CS": 1_750,
    "Sun_sample2_KC": 2_250,
    "Sun_sample3_TB": 2_400,
    "Sun_sample4_TC": 2_406,
    "Villani": 1_050,
}


def make_stand_in(paper: Paper, *, n_cells: int | None = None, random_state: int = 0) -> AnnData:
    """Make cells with the paper's labels; all of them, or about ``n_cells`` in proportion."""
    rng = np.random.default_rng(random_state)
    sizes = BATCHES if paper is IMMUNE else {k: v or 0 for k, v in paper.known.items()}
    part = 1.0 if n_cells is None else n_cells / paper.n_cells
    names = {name: max(20, round(part * size)) for name, size in sizes.items()}
    known = np.repeat(list(names), list(names.values()))
    hidden = _draw_types(paper, known, rng)
    counts = _draw_counts(paper, known, hidden, rng)
    index = [f"cell{at}" for at in range(len(known))]
    columns = {paper.known_name: known, paper.hidden_name: hidden}
    if paper is IMMUNE:
        columns |= {"chemistry": _chemistry(known), "tissue": _tissue(known)}
    adata = AnnData(counts, obs=pd.DataFrame(columns, index=index))
    if not paper.counts:
        sc.pp.normalize_total(adata, target_sum=1e4)
        sc.pp.log1p(adata)
    return adata


def _draw_types(paper: Paper, known: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Draw the types of each label from shares of its own, each type at least twice."""
    types = np.array(TYPES[paper.name])
    shares = DECAY ** np.arange(len(types))
    hidden = np.empty(len(known), types.dtype)
    for name in np.unique(known):
        own = shares * rng.lognormal(0, 0.5, len(types))
        if paper is IMMUNE and not name.startswith("Oetjen"):
            own[np.isin(types, MARROW)] = 0
        cells = np.flatnonzero(known == name)
        hidden[cells] = rng.choice(types, len(cells), p=own / own.sum())
    rare = [name for name in types if (hidden == name).sum() < 2]
    last = known == ("Oetjen_U" if paper is IMMUNE else "indrop")
    hidden[np.flatnonzero(last)[: 2 * len(rare)]] = np.repeat(rare, 2)
    return hidden


def _draw_counts(
    paper: Paper, known: NDArray[Any], hidden: NDArray[Any], rng: np.random.Generator
) -> sparse.csr_matrix:
    base = rng.normal(0, 1.3, N_GENES)
    family = rng.choice(N_GENES, N_MARKERS, replace=False)
    profiles = {}
    for name in TYPES[paper.name]:
        profiles[name] = base.copy()
        profiles[name][rng.choice(N_GENES, N_MARKERS, replace=False)] += RAISED
        if name in FAMILIES[paper.name]:
            profiles[name][family] += RAISED
    programs = rng.normal(0, 0.5, (N_PROGRAMS, N_GENES)) * (rng.random((N_PROGRAMS, 1)) < 0.9)
    effects: dict[str, NDArray[np.float64]] = {}
    for name in dict.fromkeys(known):
        study = name.split("_")[0]
        if study not in effects:
            effects[study] = rng.normal(0, EFFECTS[study][0], N_GENES)
        effects[name] = effects[study] + rng.normal(0, WITHIN_STUDY, N_GENES) * (study != name)
    looks = known.copy()
    pair = OUTLIERS[paper.name]
    if pair is not None:
        looks[rng.choice(np.flatnonzero(known == pair[0]), N_OUTLIERS, replace=False)] = pair[1]
    parts = []
    for label, cell_type, cell in _groups(looks, hidden):
        strength, depth = EFFECTS[label.split("_")[0]]
        # The same technology affects each type a little differently.
        own = effects[label] + rng.normal(0, BY_TYPE[paper.name] * strength, N_GENES)
        loads = rng.normal(0, 0.6, (len(cell), N_PROGRAMS))
        logits = profiles[cell_type] + own + loads @ programs
        rates = np.exp(logits)
        rates *= (depth * rng.lognormal(0, 0.35, len(cell)) / rates.sum(axis=1))[:, None]
        parts.append((cell, sparse.csr_matrix(rng.poisson(rates).astype(np.float32))))
    order = np.concatenate([cell for cell, _ in parts])
    stacked = sparse.vstack([values for _, values in parts], format="csr")
    return sparse.csr_matrix(stacked[np.argsort(order)])


def _groups(looks: NDArray[Any], hidden: NDArray[Any]) -> list[tuple[str, str, NDArray[np.int64]]]:
    """Return the cells of each look and type."""
    frame = pd.DataFrame({"look": looks, "type": hidden})
    return [
        (look, cell_type, np.asarray(cells))
        for (look, cell_type), cells in frame.groupby(["look", "type"]).indices.items()
    ]


def _chemistry(known: NDArray[Any]) -> NDArray[Any]:
    by_study = {"10X": "v3_10X", "Sun": "10X", "Villani": "smart-seq2"}
    return np.array([by_study.get(name.split("_")[0], "v2_10X") for name in known])


def _tissue(known: NDArray[Any]) -> NDArray[Any]:
    return np.array(["Bone_Marrow" if name.startswith("Oetjen") else "PBMCs" for name in known])
