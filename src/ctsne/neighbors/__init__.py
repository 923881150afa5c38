"""Stage 1: the nearest points of every point, in one list per pattern of label columns that differ.

:func:`find_neighbors` searches features, :func:`read_neighbors` reads distances or a graph; both
return :class:`Neighbors`. With one label column there are two lists: the nearest points with the
same label, and those with other labels. Without labels there is one.
"""

from ctsne.neighbors.lists import Neighbors, balanced_lengths, joint_lengths, paper_lengths
from ctsne.neighbors.patterns import occurring_patterns
from ctsne.neighbors.precomputed import read_neighbors
from ctsne.neighbors.search import find_neighbors

__all__ = [
    "Neighbors",
    "balanced_lengths",
    "find_neighbors",
    "joint_lengths",
    "occurring_patterns",
    "paper_lengths",
    "read_neighbors",
]
