"""Every formula as plain, slow, exact NumPy: what the tests compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` are integer labels from 0, with -1
where the label is missing. Two points are *different* when both are labelled and the labels
differ; everything else goes to the list called *same*. Nothing here imports the rest of the
package.
"""

from ctsne.oracle._shared import Floats, Integers, Metric
from ctsne.oracle.bandwidths import (
    continue_precision,
    perplexity,
    search_precision,
    solve_precision,
)
from ctsne.oracle.evaluation import (
    adjusted_jaccard,
    adjusted_rnx,
    adjusted_rnx_values,
    adjusted_sets,
    expected_laplacian,
    knn_hits,
    laplacian,
    laplacian_values,
    lisi_values,
    rnx_area,
    trustworthiness,
)
from ctsne.oracle.layout import (
    gradient,
    kernel,
    kl_divergence,
    normalizer,
)
from ctsne.oracle.neighbors import (
    list_lengths,
    list_lengths_balanced,
    neighbor_lists,
    squared_distances,
)
from ctsne.oracle.similarities import (
    MAX_LOG_WEIGHT,
    balanced_affinities,
    balanced_rows,
    joint_affinities,
    joint_beta_low,
    joint_rows,
    revised_affinities,
    revised_rows,
    symmetrize,
    tsne_affinities,
    tsne_rows,
)
from ctsne.oracle.weights import (
    high_weights,
    low_weights,
    other_shares,
    rho,
)

__all__ = [
    "MAX_LOG_WEIGHT",
    "Floats",
    "Integers",
    "Metric",
    "adjusted_jaccard",
    "adjusted_rnx",
    "adjusted_rnx_values",
    "adjusted_sets",
    "balanced_affinities",
    "balanced_rows",
    "continue_precision",
    "expected_laplacian",
    "gradient",
    "high_weights",
    "joint_affinities",
    "joint_beta_low",
    "joint_rows",
    "kernel",
    "kl_divergence",
    "knn_hits",
    "laplacian",
    "laplacian_values",
    "lisi_values",
    "list_lengths",
    "list_lengths_balanced",
    "low_weights",
    "neighbor_lists",
    "normalizer",
    "other_shares",
    "perplexity",
    "revised_affinities",
    "revised_rows",
    "rho",
    "rnx_area",
    "search_precision",
    "solve_precision",
    "squared_distances",
    "symmetrize",
    "trustworthiness",
    "tsne_affinities",
    "tsne_rows",
]
