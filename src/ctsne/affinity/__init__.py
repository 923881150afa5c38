"""Stage 2: how strongly neighbours attract each other.

Each method turns :class:`~ctsne.neighbors.Neighbors` into :class:`Affinities`: a symmetric sparse
matrix that sums to one, and diagnostics of every point.
"""

from ctsne.affinity.result import Affinities, Diagnostics
from ctsne.affinity.similarities import (
    balanced_affinities,
    joint_affinities,
    revised_affinities,
    tsne_affinities,
)
from ctsne.affinity.weights import beta_from_odds, joint_odds

__all__ = [
    "Affinities",
    "Diagnostics",
    "balanced_affinities",
    "beta_from_odds",
    "joint_affinities",
    "joint_odds",
    "revised_affinities",
    "tsne_affinities",
]
