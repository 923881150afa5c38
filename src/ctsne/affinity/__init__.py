"""Stage 2: how strongly neighbours attract each other.

Each method turns :class:`~ctsne.neighbors.Neighbors` into :class:`Affinities`: a symmetric sparse
matrix that sums to one, and diagnostics of every point.
"""

from ctsne.affinity.balanced import balanced_affinities
from ctsne.affinity.joint import beta_from_odds, joint_affinities, joint_odds
from ctsne.affinity.paper import revised_affinities, tsne_affinities
from ctsne.affinity.result import Affinities, Diagnostics
from ctsne.affinity.weights import random_share

__all__ = [
    "Affinities",
    "Diagnostics",
    "balanced_affinities",
    "beta_from_odds",
    "joint_affinities",
    "joint_odds",
    "random_share",
    "revised_affinities",
    "tsne_affinities",
]
