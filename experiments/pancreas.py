"""The pancreas cells of the paper: figures 4, 6 and 7, S4 to S7 of the supplement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cell_section as section
import common
import numpy as np
from anndata import AnnData
from cell_claims import (
    RULES,
    neighbor_claims,
    outlier_claims,
    placing_claims,
    score_claims,
    speed_claim,
    vanish_claim,
)
from cell_scores import PERPLEXITY
from cells import PANCREAS, Cells, Source
from numpy.typing import NDArray
from preprocessing import N_COMPS, N_TOP_GENES, pancreas_components

from ctsne.evaluate.mixing import expected_laplacian

STEPS = (
    "**Preprocessing** (paper, section 4.1; `preprocessing.R` of the authors, which calls Seurat "
    f"with its defaults): {N_TOP_GENES:,} variable genes by the variance of counts around its "
    "trend (`FindVariableFeatures`), counts per 10,000 and log(1 + x) (`NormalizeData`), each gene "
    "to mean 0 and variance 1, cut off at 10 (`ScaleData`), "
    f"{N_COMPS} principal components (`RunPCA`)."
)


def run(output: Path, source: Source, **how: Any) -> None:
    """Make the section of the paper's file, of other cells, or of the stand-in."""
    made = section.make(PANCREAS, source, output, _components, **how)
    counts = section.other_neighbors(made.data)
    beta, means = made.paper.beta, made.scored.means
    claims = [
        *score_claims(means, expected_laplacian(made.data.known), beta),
        *neighbor_claims(made.data, counts, section.NEAREST),
        *placing_claims(made.data, made.shown),
        *outlier_claims(made.data, made.rows, made.shown, section.counts_of_rows(made), PERPLEXITY),
        vanish_claim(made.scored.swept("revised r", beta).diagnostics["other_share"], beta),
        speed_claim(made.seconds, made.paper.seconds),
    ]
    reduced = source.file is not None and source.file.suffix == ".npz"
    common.write_section(
        output,
        made.name,
        *section.heading(made, "figures 4, 6 and 7 of the paper, S4 to S7 of its supplement"),
        "The file holds principal components, so nothing is preprocessed." if reduced else STEPS,
        *section.maps_part(made),
        *section.scores_part(made),
        *section.curves_part(made),
        *section.neighbors_part(made, counts),
        *section.outliers_part(made),
        *section.roots_part(made),
        *section.seconds_part(made),
        "### The paper's statements, checked",
        RULES,
        common.checked(claims),
    )


def _components(cells: Cells, known: str) -> NDArray[np.float32]:
    return pancreas_components(AnnData(cells.values))
