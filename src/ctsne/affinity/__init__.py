"""Stage 2: how much neighbours pull.

Each method turns :class:`~ctsne.neighbors.Neighbors` into :class:`Affinities`: a symmetric sparse
matrix that sums to one, and a diagnosis of every point.
"""

from ctsne.affinity.conditioning import (
    balanced_affinities,
    balanced_share,
    joint_affinities,
    joint_beta_low,
    revised_affinities,
    tsne_affinities,
)
from ctsne.affinity.result import Affinities, Diagnostics

__all__ = [
    "Affinities",
    "Diagnostics",
    "balanced_affinities",
    "balanced_share",
    "joint_affinities",
    "joint_beta_low",
    "revised_affinities",
    "tsne_affinities",
]
