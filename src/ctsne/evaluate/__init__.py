"""Measures of a map: which neighbours of the data it keeps, and how well it mixes a label.

:func:`evaluate` puts all of them in one table, :func:`measure_map` returns most of them by name,
and :func:`standard_measures` those of scib-metrics. Each measure takes a map and the data or, to
search only once, the neighbours that :func:`map_neighbors` and :func:`data_neighbors` find.
"""

from ctsne.evaluate.measures import evaluate, measure_map, summarize_diagnostics
from ctsne.evaluate.mixing import laplacian, mixing, mixing_by_label
from ctsne.evaluate.neighbors import DataNeighbors, MapNeighbors, data_neighbors, map_neighbors
from ctsne.evaluate.rnx import adjusted_rnx
from ctsne.evaluate.standard import standard_measures

__all__ = [
    "DataNeighbors",
    "MapNeighbors",
    "adjusted_rnx",
    "data_neighbors",
    "evaluate",
    "laplacian",
    "map_neighbors",
    "measure_map",
    "mixing",
    "mixing_by_label",
    "standard_measures",
    "summarize_diagnostics",
]
