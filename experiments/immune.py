"""The human immune cells of the supplement: figures S1 to S3 and its table of batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cell_section as section
import common
import numpy as np
from anndata import AnnData
from cell_claims import RULES, batch_rows, immune_claims, outlier_claims, speed_claim
from cell_scores import PERPLEXITY
from cells import IMMUNE, Cells, Source
from numpy.typing import NDArray
from preprocessing import N_COMPS, N_TOP_GENES, immune_components

STEPS = (
    "**Preprocessing** (supplement, section 1; `immune_preprocessing.py` of the authors, which "
    f"calls scib): {N_TOP_GENES:,} genes that are variable in most batches (`hvg_batch`), each "
    "gene to mean 0 and variance 1 within each batch, without a cut-off (`scale_batch`), "
    f"{N_COMPS} principal components."
)
# The supplement's table: technology and tissue of each batch, by the names of the file.
TABLE = {
    "10X": ("v3_10X", "PBMC"),
    "Freytag": ("v2_10X", "PBMC"),
    "Oetjen_A": ("v2_10X", "bone marrow"),
    "Oetjen_P": ("v2_10X", "bone marrow"),
    "Oetjen_U": ("v2_10X", "bone marrow"),
    "Sun_sample1_CS": ("10X", "PBMC"),
    "Sun_sample2_KC": ("10X", "PBMC"),
    "Sun_sample3_TB": ("10X", "PBMC"),
    "Sun_sample4_TC": ("10X", "PBMC"),
    "Villani": ("smart-seq2", "PBMC"),
}


def run(output: Path, source: Source, **how: Any) -> None:
    """Make the section of the public file, of other cells, or of the stand-in."""
    made = section.make(IMMUNE, source, output, _components, **how)
    patterns = outlier_claims(
        made.data, made.rows, made.shown, section.counts_of_rows(made), PERPLEXITY
    )
    found, why = int((made.rows.by >= 0).sum()), patterns[1][2]
    share = found / len(made.data.X)
    claims = [
        *immune_claims(made.data, made.scored.means, made.shown, made.paper.beta),
        ("No circular patterns with the bandwidth on p", share < 0.01, why),
        patterns[-1],
        speed_claim(made.seconds, made.paper.seconds),
    ]
    reduced = source.file is not None and source.file.suffix == ".npz"
    common.write_section(
        output,
        made.name,
        *section.heading(made, "figures S1 to S3 of the supplement and its table"),
        "The file holds principal components, so nothing is preprocessed." if reduced else STEPS,
        *_batches(made),
        *section.maps_part(made),
        *section.scores_part(made),
        *section.curves_part(made),
        *section.outliers_part(made, drawn=False),
        *section.seconds_part(made),
        "### The paper's statements, checked",
        RULES,
        common.checked(claims),
    )


def _batches(made: section.Made) -> list[str]:
    """Return the supplement's table of batches, next to what the file says."""
    if made.source.labels is not None:
        return []
    header = ["batch", "the paper: technology", "tissue", "file: chemistry", "tissue", "agree"]
    return [
        "### Batches (the supplement's table)",
        "The table of the supplement next to the columns `chemistry` and `tissue` of the file. Its "
        "caption says three technologies, the text four; the table has four names.",
        common.table(header, batch_rows(made.obs, made.paper.known_name, TABLE)),
    ]


def _components(cells: Cells, known: str) -> NDArray[np.float32]:
    return immune_components(AnnData(cells.values, obs=cells.obs[[known]]), known)
