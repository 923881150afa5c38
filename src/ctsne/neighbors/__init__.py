"""Stage 1: the nearest points of every point, with the same label and with other labels.

:func:`find_neighbors` searches features; :func:`neighbors_from_distances` and
:func:`neighbors_from_graph` read precomputed ones. With several label columns, :func:`find_lists`
and :func:`read_lists` do so for one list per pattern of columns that differ. All return
:class:`Neighbors`.
"""

from ctsne.neighbors.column_lists import (
    find_lists,
    occurring_patterns,
    read_lists,
    select_lists,
)
from ctsne.neighbors.lists import (
    Neighbors,
    balanced_lengths,
    half_lengths,
    merge_neighbors,
    paper_lengths,
    select_neighbors,
)
from ctsne.neighbors.matching import matched_share, matched_shares
from ctsne.neighbors.precomputed import neighbors_from_distances, neighbors_from_graph
from ctsne.neighbors.search import find_neighbors

__all__ = [
    "Neighbors",
    "balanced_lengths",
    "find_lists",
    "find_neighbors",
    "half_lengths",
    "matched_share",
    "matched_shares",
    "merge_neighbors",
    "neighbors_from_distances",
    "neighbors_from_graph",
    "occurring_patterns",
    "paper_lengths",
    "read_lists",
    "select_lists",
    "select_neighbors",
]
