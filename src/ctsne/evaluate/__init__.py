"""Measures of an embedding: what it keeps of the data, and how well it mixes a label.

:func:`evaluate` puts them all in one table. Each one takes a map (and the data) or, to search only
once, the neighbours that :func:`map_neighbors` and :func:`data_neighbors` find.
"""

from ctsne.evaluate._inputs import sample_points
from ctsne.evaluate.accuracy import knn_accuracy
from ctsne.evaluate.curve import Curve
from ctsne.evaluate.diagnostics import summarize_diagnostics
from ctsne.evaluate.jaccard import adjusted_jaccard
from ctsne.evaluate.laplacian import expected_laplacian, laplacian, laplacian_curve
from ctsne.evaluate.lisi import expected_lisi, lisi
from ctsne.evaluate.mixing import mixing, mixing_by_label
from ctsne.evaluate.neighborhoods import (
    DataNeighbors,
    MapNeighbors,
    data_neighbors,
    map_neighbors,
)
from ctsne.evaluate.private import PrivatePopulation, private_populations
from ctsne.evaluate.rnx import adjusted_qnx, adjusted_rnx, rnx_curve
from ctsne.evaluate.table import evaluate
from ctsne.evaluate.trust import trustworthiness

__all__ = [
    "Curve",
    "DataNeighbors",
    "MapNeighbors",
    "PrivatePopulation",
    "adjusted_jaccard",
    "adjusted_qnx",
    "adjusted_rnx",
    "data_neighbors",
    "evaluate",
    "expected_laplacian",
    "expected_lisi",
    "knn_accuracy",
    "laplacian",
    "laplacian_curve",
    "lisi",
    "map_neighbors",
    "mixing",
    "mixing_by_label",
    "private_populations",
    "rnx_curve",
    "sample_points",
    "summarize_diagnostics",
    "trustworthiness",
]
