"""Measures of a map: which neighbours of the data it keeps, and how well it mixes a label.

:func:`evaluate` puts all of them in one table, :func:`measure_map` returns the standard ones by
name. Each measure takes a map and the data or, to search only once, the neighbours that
:func:`map_neighbors` and :func:`data_neighbors` find.
"""

from ctsne.evaluate.measures import evaluate, measure_map, summarize_diagnostics
from ctsne.evaluate.mixing import (
    PrivatePopulation,
    expected_laplacian,
    expected_lisi,
    knn_accuracy,
    laplacian,
    lisi,
    mixing,
    mixing_by_label,
    private_populations,
)
from ctsne.evaluate.neighbors import DataNeighbors, MapNeighbors, data_neighbors, map_neighbors
from ctsne.evaluate.rnx import Curve, adjusted_jaccard, adjusted_rnx, rnx_curve
from ctsne.evaluate.sampling import sample_points

__all__ = [
    "Curve",
    "DataNeighbors",
    "MapNeighbors",
    "PrivatePopulation",
    "adjusted_jaccard",
    "adjusted_rnx",
    "data_neighbors",
    "evaluate",
    "expected_laplacian",
    "expected_lisi",
    "knn_accuracy",
    "laplacian",
    "lisi",
    "map_neighbors",
    "measure_map",
    "mixing",
    "mixing_by_label",
    "private_populations",
    "rnx_curve",
    "sample_points",
    "summarize_diagnostics",
]
