"""Checksums of files and of their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.messages import label_text

# Numbers converted to double precision at a time, so that a checksum needs little memory.
_BLOCK = 2**20


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_checksum(*parts: Any) -> str:
    """Return the SHA-256 of arrays, sparse matrices, columns and single values, in this order.

    Numbers count by value, whatever their type. Everything else counts as text.
    """
    digest = hashlib.sha256()
    for part in parts:
        if hasattr(part, "tocsr"):  # sparse; SciPy is not imported here, to keep the help fast
            matrix = part.tocsr()
            if not matrix.has_canonical_format or not np.all(matrix.data):
                matrix = matrix.copy()
                matrix.sum_duplicates()
                matrix.eliminate_zeros()
            digest.update(f"sparse {matrix.shape}".encode())
            arrays = [matrix.indptr, matrix.indices, matrix.data]
        else:
            arrays = [np.asarray(part)]
        for array in arrays:
            number = array.dtype.kind in "biuf"
            digest.update(f"{'number' if number else 'text'} {array.shape}".encode())
            rows = np.atleast_1d(array)
            step = max(1, _BLOCK // max(1, rows[:1].size))
            for start in range(0, len(rows), step):
                digest.update(_bytes_of(rows[start : start + step], number=number))
    return digest.hexdigest()


def _bytes_of(block: Any, *, number: bool) -> bytes | memoryview:
    if number:
        return (np.ascontiguousarray(block, np.float64) + 0.0).data  # -0 becomes 0
    texts = "\0".join(map(label_text, block.ravel().tolist()))
    return f"{texts}\0".encode("utf-8", "surrogatepass")
