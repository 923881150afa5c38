"""The lines and scores of Figure 5."""

from __future__ import annotations

RANDOM, COMMON = "original, random start", "original, common start"
# Our lines, and the authors' line each is compared with. Their program for the original starts at
# random.
AUTHORS = {
    RANDOM: "original",
    COMMON: "original",
    "revised p": "revised p",
    "revised r": "revised r",
}
# Those with a start of the same kind as the authors'.
ALIKE = {line: theirs for line, theirs in AUTHORS.items() if line != COMMON}
LINES = (*AUTHORS, "balanced", "joint")
# Beyond a cluster (200 or 300 points of one colour and shape), scores describe how clusters lie
# relative to each other.
CLUSTER = 200
# Our columns, the authors' columns, and their names in the text.
MEASURES = {
    "adjusted_rnx": ("r_nx", "R_NX"),
    "laplacian": ("laplacian_prior", "Laplacian known"),
    "other_laplacian": ("laplacian_other", "Laplacian hidden"),
}
# Range of the authors' own runs over three seeds, by method.
SPREAD = {
    "original": {"adjusted_rnx": 0.12, "laplacian": 0.19, "other_laplacian": 0.19},
    "revised": {"adjusted_rnx": 0.014, "laplacian": 0.019, "other_laplacian": 0.019},
}
# For the picture of the curves: the beta of the paper's Figure 1c.
CURVE_BETA = 1e-20
