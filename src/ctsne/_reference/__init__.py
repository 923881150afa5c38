"""Every formula as plain, slow, exact NumPy: what the tests compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` are integer labels from 0, with -1
where the label is missing. Two points are *different* when both are labelled and the labels
differ; everything else goes to the list called *same*. Nothing here imports the rest of the
package.
"""

from ctsne._reference._shared import Floats, Integers, Metric
from ctsne._reference.bandwidths import (
    continue_precision,
    perplexity,
    search_precision,
    solve_precision,
)
from ctsne._reference.evaluation import (
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
from ctsne._reference.joint import (
    MAX_LOG_WEIGHT,
    beta_from_odds,
    joint_affinities,
    joint_odds,
    joint_rows,
    joint_shares,
    matched_shares,
)
from ctsne._reference.layout import (
    gradient,
    kernel,
    kl_divergence,
    normalizer,
)
from ctsne._reference.neighbors import (
    list_lengths,
    list_lengths_balanced,
    list_lengths_joint,
    neighbor_lists,
    squared_distances,
)
from ctsne._reference.similarities import (
    balanced_affinities,
    balanced_rows,
    natural_log_odds,
    revised_affinities,
    revised_rows,
    split_rows,
    symmetrize,
    tsne_affinities,
    tsne_rows,
)
from ctsne._reference.weights import (
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
    "beta_from_odds",
    "continue_precision",
    "expected_laplacian",
    "gradient",
    "high_weights",
    "joint_affinities",
    "joint_odds",
    "joint_rows",
    "joint_shares",
    "kernel",
    "kl_divergence",
    "knn_hits",
    "laplacian",
    "laplacian_values",
    "lisi_values",
    "list_lengths",
    "list_lengths_balanced",
    "list_lengths_joint",
    "low_weights",
    "matched_shares",
    "natural_log_odds",
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
    "split_rows",
    "squared_distances",
    "symmetrize",
    "trustworthiness",
    "tsne_affinities",
    "tsne_rows",
]
