"""Stage 1: who is near, with the same label and with another.

:func:`find_neighbors` searches features; :func:`neighbors_from_distances` and
:func:`neighbors_from_graph` take what somebody has computed already. All return :class:`Neighbors`.
"""

from ctsne.neighbors.lists import Neighbors, balanced_lengths, half_lengths, paper_lengths
from ctsne.neighbors.matching import matched_share
from ctsne.neighbors.precomputed import neighbors_from_distances, neighbors_from_graph
from ctsne.neighbors.search import find_neighbors
from ctsne.neighbors.select import merge_neighbors, select_neighbors

__all__ = [
    "Neighbors",
    "balanced_lengths",
    "find_neighbors",
    "half_lengths",
    "matched_share",
    "merge_neighbors",
    "neighbors_from_distances",
    "neighbors_from_graph",
    "paper_lengths",
    "select_neighbors",
]
