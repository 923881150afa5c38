"""Measures of an embedding: what it keeps of the data, and how well it mixes a label."""

from ctsne.evaluate.laplacian import expected_laplacian, laplacian
from ctsne.evaluate.rnx import adjusted_rnx

__all__ = ["adjusted_rnx", "expected_laplacian", "laplacian"]
