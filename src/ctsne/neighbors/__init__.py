"""Stage 1: the nearest points of every point, with the same label and with other labels.

:func:`find_neighbors` searches features; :func:`neighbors_from_distances` and
:func:`neighbors_from_graph` read precomputed ones. All return :class:`Neighbors`.
"""

from ctsne.neighbors.lists import (
    Neighbors,
    balanced_lengths,
    half_lengths,
    merge_neighbors,
    paper_lengths,
    select_neighbors,
)
from ctsne.neighbors.matching import matched_share
from ctsne.neighbors.precomputed import neighbors_from_distances, neighbors_from_graph
from ctsne.neighbors.search import find_neighbors

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
